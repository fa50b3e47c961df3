package io.helenus.agent.sources;

/**
 * Estimates when safepoints ended, from the lines of the JVM's log.
 *
 * <p>A line has the time at which it was written: some microseconds after the end, or milliseconds
 * if the writing thread lost its CPU to the resumed threads. A line also has the time since the end
 * of the safepoint before it, so one well-known end gives all later ones to the nanosecond.
 */
final class SafepointEnds {
  /** A line is written at most this long after the end, unless its thread lost its CPU. */
  private static final long SOON_NS = 100_000;

  /** After this many late lines in a row, a line must be missing. */
  private static final int MOST_LATE = 8;

  private long endNs = Long.MAX_VALUE;
  private int late;

  /**
   * Returns the end of the next safepoint.
   *
   * @param writtenNs when its line was written
   * @param sinceLastNs the time from the end of the previous safepoint to the start of this one
   */
  long next(long writtenNs, long sinceLastNs, long durationNs) {
    boolean isFirst = endNs == Long.MAX_VALUE;
    long expectedNs = isFirst ? writtenNs : endNs + sinceLastNs + durationNs;
    late = writtenNs - expectedNs > SOON_NS ? late + 1 : 0;
    if (late == MOST_LATE) {
      expectedNs = writtenNs;
      late = 0;
    }
    endNs = Math.min(writtenNs, expectedNs);
    return endNs;
  }
}
