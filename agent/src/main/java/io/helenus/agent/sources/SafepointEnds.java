package io.helenus.agent.sources;

/**
 * When safepoints ended, from the lines of the JVM's log.
 *
 * <p>A line has the time at which it was written, some microseconds after the end; and milliseconds
 * where the thread that writes it lost its CPU in between, to the threads that it has just let go.
 * But it also says how long ago the safepoint before it had ended, so that an end once known well
 * gives those after it, to the nanosecond.
 */
final class SafepointEnds {
  /** A line is written within this of the end, unless its thread lost its CPU. */
  private static final long SOON_NS = 100_000;

  /** After this many late lines in a row, an earlier line must be missing. */
  private static final int MOST_LATE = 8;

  private long endNs = Long.MAX_VALUE;
  private int late;

  /**
   * The end of the next safepoint.
   *
   * @param writtenNs when its line was written
   * @param sinceLastNs from the end of the one before to its begin
   */
  long next(long writtenNs, long sinceLastNs, long durationNs) {
    boolean isFirst = endNs == Long.MAX_VALUE;
    long toldNs = isFirst ? writtenNs : endNs + sinceLastNs + durationNs;
    late = writtenNs - toldNs > SOON_NS ? late + 1 : 0;
    if (late == MOST_LATE) {
      toldNs = writtenNs;
      late = 0;
    }
    endNs = Math.min(writtenNs, toldNs);
    return endNs;
  }
}
