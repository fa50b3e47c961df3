package io.helenus.agent.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SafepointEndsTest {
  private static final long MS = 1_000_000;
  private static final long BETWEEN = 90 * MS;
  private static final long DURATION = 10 * MS;

  private final SafepointEnds ends = new SafepointEnds();

  private long written(long ns) {
    return ends.next(ns, BETWEEN, DURATION);
  }

  @Test
  void aLateLineIsPutRightByTheOneBefore() {
    assertEquals(100 * MS, written(100 * MS));
    assertEquals(200 * MS, written(203 * MS));
    assertEquals(300 * MS, written(300 * MS + 5_000));
  }

  @Test
  void aLateFirstLineIsForgottenWithTheNext() {
    assertEquals(104 * MS, written(104 * MS));
    assertEquals(200 * MS, written(200 * MS));
    assertEquals(300 * MS, written(304 * MS));
  }

  @Test
  void linesThatAreAllLateHaveOneMissingBeforeThem() {
    assertEquals(100 * MS, written(100 * MS));
    for (int line = 3; line < 10; line++) {
      assertEquals((line - 1) * 100 * MS, written(line * 100 * MS));
    }
    assertEquals(1_000 * MS, written(1_000 * MS));
    // Another late line follows at once.
    for (int line = 12; line < 19; line++) {
      assertEquals((line - 1) * 100 * MS, written(line * 100 * MS));
    }
    assertEquals(1_900 * MS, written(1_900 * MS));
    assertEquals(2_000 * MS, written(2_000 * MS));
  }
}
