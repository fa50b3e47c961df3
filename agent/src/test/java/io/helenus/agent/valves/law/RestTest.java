package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RestTest {
  private static final long S = 1_000_000_000;

  /** Of System.nanoTime(), which counts from anywhere. */
  private static final long NOW_NS = 1_000_000 * S;

  private final Rest rest = new Rest();

  @Test
  void whoHasNotBeenAwayRestsForTheFirstTimeAlone() {
    rest.comeBack(NOW_NS, true);
    lasts(8);
  }

  @Test
  void whatTakesLongIsTriedTheMoreRarely() {
    rest.leave(NOW_NS - 5 * S);
    rest.comeBack(NOW_NS - 2 * S, false);
    rest.comeBack(NOW_NS, true);
    lasts(60);
  }

  @Test
  void itGrowsWhileNothingLooksBetterAndBeginsAnewWithAnotherLimit() {
    rest.explored(false);
    lasts(16);
    rest.explored(true);
    lasts(16);
    rest.leave(NOW_NS);
    rest.moved(NOW_NS);
    lasts(8);
  }

  @Test
  void whatTookLongToBeFoundIsLeftTheMoreRarely() {
    rest.leave(NOW_NS - 5 * S);
    rest.moved(NOW_NS);
    lasts(60);
    rest.startOver();
    lasts(8);
  }

  private void lasts(long seconds) {
    rest.begin(NOW_NS);
    assertFalse(rest.isOver(NOW_NS + seconds * S - 1));
    assertTrue(rest.isOver(NOW_NS + seconds * S));
  }
}
