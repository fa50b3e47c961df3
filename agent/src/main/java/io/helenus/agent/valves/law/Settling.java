package io.helenus.agent.valves.law;

/**
 * Decides when a change of the limit has taken effect: the number inside is within the limit, and
 * the requests that leave have entered since the change.
 */
final class Settling {
  /** Length of the windows during that time, ns: short, to notice a growing queue early. */
  static final long WINDOW_NS = 40_000_000;

  /** The least time until a change shows in the heap, ns, while collections are significant. */
  static final long HEAP_NS = 1_500_000_000L;

  private static final long LONGEST_NS = 2_000_000_000L;

  private long changedNs;
  private long drainedNs;

  void begin(long nowNs) {
    changedNs = nowNs;
    drainedNs = 0;
  }

  /**
   * Whether the change has settled with this window.
   *
   * @param lagNs how long to wait once the number inside is within the limit
   * @param backlog whether more requests are waiting than usual
   */
  boolean isOver(Window window, double lagNs, boolean backlog) {
    boolean drained = window.inFlight <= 1.05 * window.limit + 0.5;
    drainedNs = drained && drainedNs == 0 ? window.startNs : drainedNs;
    return window.endNs - changedNs > LONGEST_NS
        || drained && !backlog && window.endNs - drainedNs >= lagNs;
  }
}
