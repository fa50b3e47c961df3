package io.helenus.agent.valves.law;

/**
 * How long windows are: long enough for what leaves in one to say something. It follows what comes
 * at the limit that holds only, so that windows on trial are as long as those they are compared
 * with.
 */
final class Pace {
  private static final long SHORTEST_NS = 125_000_000;
  private static final long LONGEST_NS = 1_000_000_000;

  /** After so long with too few what was learned does not hold any more. */
  private static final long FORGET_NS = 20_000_000_000L;

  private static final int FEWEST_LEFT = 5;

  private long windowNs = SHORTEST_NS;
  private long idleNs;

  long windowNs() {
    return windowNs;
  }

  /**
   * Takes note of a window, and says whether enough left in it.
   *
   * @param perWindow how many there should be, by {@link Objective#perWindow}
   * @param holds whether it was at the limit that holds
   */
  boolean suffices(Window window, double perWindow, boolean holds) {
    boolean suffices = window.left() >= FEWEST_LEFT;
    idleNs = suffices ? 0 : idleNs + window.lengthNs();
    if (holds) {
      double neededNs = suffices ? 1e9 * perWindow / window.completedPerS() : 2.0 * windowNs;
      double most = suffices ? 1.5 * windowNs : 2.0 * windowNs;
      double near = Math.max(windowNs / 1.5, Math.min(most, neededNs));
      windowNs = (long) Math.max(SHORTEST_NS, Math.min(LONGEST_NS, near));
    }
    return suffices;
  }

  /** Whether too few have come for so long that nothing is known any more. */
  boolean forgotten() {
    return idleNs > FORGET_NS;
  }
}
