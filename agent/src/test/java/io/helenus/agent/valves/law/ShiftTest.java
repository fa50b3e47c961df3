package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class ShiftTest {
  private static final long WINDOW_NS = 100_000_000;

  private final Shift shift = new Shift();
  private long nowNs;
  private int count;
  private int waiting;
  private boolean limited = true;

  /** Windows with so many completed per second, a few more and a few less in turn. */
  private String give(double seconds, double perS) {
    String shifted = null;
    for (int i = 0; i < seconds * 1e9 / WINDOW_NS && shifted == null; i++) {
      double completed = perS * WINDOW_NS / 1e9 * (count++ % 2 == 0 ? 1.05 : 0.95);
      Window window =
          Window.between(nowNs, nowNs += WINDOW_NS, 8)
              .counts(Math.round(completed), 0, 0)
              .occupancy(8, waiting, limited)
              .times(8 * WINDOW_NS, 0, WINDOW_NS, new Latencies())
              .build();
      shifted = shift.add(window, 1, 1);
    }
    return shifted;
  }

  @Test
  void whatLastsIsAShift() {
    assertNull(give(5, 1000));
    String shifted = give(4, 500);
    assertTrue(shifted != null && shifted.startsWith("completions went -"), shifted);
  }

  @Test
  void aQuarterLessIsNone() {
    assertNull(give(5, 1000));
    assertNull(give(4, 760));
    assertNull(give(4, 1000));
  }

  @Test
  void whatIsOverInASecondIsNone() {
    assertNull(give(5, 1000));
    assertNull(give(1, 500));
    assertNull(give(4, 1000));
  }

  @Test
  void howManyWaitMakesNoDifferenceWhileTheLimitBinds() {
    waiting = 190;
    assertNull(give(5, 1000));
    waiting = 12;
    assertNull(give(4, 1000));
    waiting = 0;
    limited = false;
    String shifted = give(4, 1000);
    assertTrue(shifted != null && shifted.startsWith("the number there went -"), shifted);
  }

  @Test
  void whatWasBeforeIsForgottenWhenTheLimitChanges() {
    assertNull(give(5, 1000));
    shift.clear();
    assertNull(give(4, 500));
    String shifted = give(4, 1000);
    assertTrue(shifted != null && shifted.startsWith("completions went +"), shifted);
  }
}
