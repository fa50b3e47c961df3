package io.helenus.agent.valves.law;

/**
 * How long a change of the limit still shows: until no more are inside than may be, and those who
 * leave have come since.
 *
 * <p>What is measured earlier misleads: while a server drains, what it had begun before completes
 * on top, which makes a lower limit look better than it is.
 */
final class Settling {
  private static final long MOST_LAG_NS = 2_000_000_000;
  private static final long LONGEST_NS = 4_000_000_000L;

  private long changedNs;
  private long leastNs;
  private long drainedNs;

  /**
   * The limit changed, System.nanoTime().
   *
   * @param leastNs how long it shows at least
   */
  void begin(long nowNs, long leastNs) {
    this.changedNs = nowNs;
    this.leastNs = leastNs;
    drainedNs = 0;
  }

  /** How long ago the limit changed, ns. */
  long sinceNs(Window window) {
    return window.endNs - changedNs;
  }

  /**
   * Whether it is over with this window; after {@value #LONGEST_NS} ns it is, come what may.
   *
   * @param lagNs how long after the last one left that was too many, by {@link Objective#lagNs}
   * @param backlog whether more wait than used to
   */
  boolean over(Window window, double lagNs, boolean backlog) {
    if (drainedNs == 0 && window.inFlight <= 1.05 * window.limit + 0.5) {
      drainedNs = window.startNs;
    }
    if (sinceNs(window) < leastNs) {
      return false;
    }
    boolean longest = sinceNs(window) >= LONGEST_NS;
    boolean drained = drainedNs != 0 && window.endNs - drainedNs >= Math.min(MOST_LAG_NS, lagNs);
    return longest || (drained && !backlog);
  }
}
