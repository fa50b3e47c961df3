package io.helenus.agent.valves.law;

/** The pause after a search that found nothing better: twice as long each time. */
final class Backoff {
  private static final long FIRST_NS = 15_000_000_000L;
  private static final long LONGEST_NS = 300_000_000_000L;

  private long pauseNs = FIRST_NS;
  private long endNs = Long.MIN_VALUE;

  void restart() {
    pauseNs = FIRST_NS;
    endNs = Long.MIN_VALUE;
  }

  void begin(long nowNs) {
    endNs = nowNs + pauseNs;
    pauseNs = Math.min(LONGEST_NS, 2 * pauseNs);
  }

  boolean isOver(long nowNs) {
    return nowNs >= endNs;
  }

  /** Whether the pause has reached its maximum. */
  boolean isLongest() {
    return pauseNs == LONGEST_NS;
  }
}
