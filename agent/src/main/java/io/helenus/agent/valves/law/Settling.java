package io.helenus.agent.valves.law;

/**
 * How long a change of the limit still shows: until no more are inside than may be, and those who
 * leave have entered since.
 */
final class Settling {
  /** Windows are short meanwhile, so that a queue is noticed before it is long. */
  static final long WINDOW_NS = 40_000_000;

  /** How long a heap takes to show a change, where collections matter. */
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
   * @param lagNs how long it shows after the last one left that was too many
   * @param backlog whether more wait than usual
   */
  boolean isOver(Window window, double lagNs, boolean backlog) {
    boolean drained = window.inFlight <= 1.05 * window.limit + 0.5;
    drainedNs = drained && drainedNs == 0 ? window.startNs : drainedNs;
    return window.endNs - changedNs > LONGEST_NS
        || drained && !backlog && window.endNs - drainedNs >= lagNs;
  }
}
