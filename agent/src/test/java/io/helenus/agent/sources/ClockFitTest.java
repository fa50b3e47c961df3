package io.helenus.agent.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;

class ClockFitTest {
  private final ClockFit fit = new ClockFit();

  @Test
  void offsetIsInterpolatedWithinAndHeldOutside() {
    assertFalse(fit.isSet());
    fit.add(1_000, 0, 500); // offset -500
    fit.add(2_000, 0, 1_600); // offset -400
    assertEquals(500, fit.nanoTime(1_000));
    assertEquals(1_050, fit.nanoTime(1_500));
    assertEquals(1_600, fit.nanoTime(2_000));
    assertEquals(0, fit.nanoTime(500));
    assertEquals(2_600, fit.nanoTime(3_000));
  }

  @Test
  void aBatchUsesItsOwnClockAndTheLastOneIfItHasNone() {
    fit.add(1_000, 0, 500);
    fit.endBatch();
    fit.endBatch();
    assertEquals(600, fit.nanoTime(1_100));
    // A new chunk, whose times sit a second elsewhere.
    fit.add(1_000_001_000L, 0, 700);
    assertEquals(750, fit.nanoTime(1_000_001_050L));
    assertEquals(650, fit.nanoTime(1_000_000_950L));
  }

  @Test
  void aClockEventThatTookLongCountsOnlyUntilABetterComes() {
    fit.add(1_000_000, 4_000_000, 9_000_000); // somewhere within 4 ms
    assertEquals(11_000_000, fit.nanoTime(5_000_000));
    fit.add(10_000_000, 2_000, 10_501_000);
    fit.add(20_000_000, 3_000_000, 22_000_000);
    assertEquals(5_500_000, fit.nanoTime(5_000_000));
    assertEquals(20_500_000, fit.nanoTime(20_000_000));
  }

  @Test
  void moreClockEventsThanFitDoNoHarm() {
    for (int i = 0; i < 10_000; i++) {
      fit.add(i, 0, i + 7);
    }
    assertEquals(9_007, fit.nanoTime(9_000));
  }
}
