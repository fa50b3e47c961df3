package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TrustTest {
  private final Trust trust = new Trust();
  private final Windows windows = Windows.of(125);

  private boolean counts(double gcShare) {
    return trust.counts(windows.gcShare(gcShare).build());
  }

  @Test
  void aCollectionNowAndThenIsLeftOut() {
    for (int i = 0; i < 200; i++) {
      boolean collects = i % 20 == 19;
      assertEquals(!collects, counts(collects ? 0.15 : 0));
    }
  }

  @Test
  void aShortCollectionIsNot() {
    for (int i = 0; i < 200; i++) {
      assertTrue(counts(i % 20 == 19 ? 0.05 : 0));
    }
  }

  /** With a little in each window the long ones are no chance: without them it seems too little. */
  @Test
  void whereThereIsAlwaysALittleTheLongOnesCount() {
    for (int i = 0; i < 40; i++) {
      counts(0.05);
    }
    for (int i = 0; i < 200; i++) {
      assertTrue(counts(i % 20 == 19 ? 0.3 : 0.05));
    }
  }

  @Test
  void ofTheFirstWindowsNoneIsKnownToBeUsual() {
    assertFalse(counts(0.5));
    assertTrue(counts(0));
  }
}
