package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PileUpTest {
  private final PileUp pileUp = new PileUp();
  private final Windows windows = Windows.of(100);

  private Window there(int waiting) {
    return windows.there(10, waiting).build();
  }

  @Test
  void whoOnlyStaysHasCome() {
    for (int i = 0; i < 15; i++) {
      assertFalse(pileUp.stays(there(190), true), "after " + i + " windows");
    }
    assertTrue(pileUp.stays(there(190), true));
  }

  @Test
  void whoGoesHasPiledUp() {
    for (int i = 0; i < 30; i++) {
      assertFalse(pileUp.stays(there(190 - 2 * i), true));
    }
  }

  /** After a chance increase that is over, a later increase is judged from its own begin. */
  @Test
  void whatIsOverBeginsAnew() {
    for (int i = 0; i < 60; i++) {
      assertFalse(pileUp.stays(there(190), i % 10 > 0));
    }
  }

  @Test
  void whatALimitDidNotLetThroughPiledUpAtIt() {
    pileUp.begin();
    pileUp.pass(windows.completed(10).build(), 1000);
    assertTrue(pileUp.explains(90));
    assertFalse(pileUp.explains(500));
    pileUp.suspect(4, there(190));
    assertEquals(4, pileUp.suspected());
    assertFalse(pileUp.isOver(there(150)));
    assertTrue(pileUp.isOver(there(120)));
  }
}
