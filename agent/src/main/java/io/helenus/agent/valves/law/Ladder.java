package io.helenus.agent.valves.law;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The candidates of a search: first no limit, then limits far from the incumbent, then near ones.
 * All are powers of √2, so that a limit that was judged is known again.
 */
final class Ladder {
  private static final double NEXT = Math.sqrt(2);
  private static final double[] STEPS = {1.0 / 16, 1.0 / 4, 1.0 / 2, 4, 2, 1 / NEXT, NEXT};

  private final int min;
  private final int max;

  Ladder(int min, int max) {
    this.min = min;
    this.max = max;
  }

  /**
   * Candidates in the order in which they are tried.
   *
   * @param inside the mean number inside; a limit far above it does not bind
   */
  Set<Integer> around(int incumbent, double inside) {
    Set<Integer> candidates = new LinkedHashSet<>();
    candidates.add(max);
    int from = Math.min(incumbent, (int) Math.ceil(inside));
    for (double step : STEPS) {
      boolean binds = step < 1 || from == incumbent;
      if (binds) {
        candidates.add(Math.max(min, Math.min(max, power(from * step))));
      }
    }
    candidates.removeIf(candidate -> candidate == incumbent);
    return candidates;
  }

  /** The nearest power of √2, rounded. */
  private static int power(double limit) {
    return (int) Math.round(Math.pow(NEXT, Math.round(Math.log(limit) / Math.log(NEXT))));
  }
}
