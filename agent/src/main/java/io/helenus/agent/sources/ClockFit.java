package io.helenus.agent.sources;

/**
 * From the times of JFR's events to System.nanoTime(), by the clock events of the same batch.
 *
 * <p>Between two clock events the offset is interpolated, outside of them that of the nearest
 * holds. A batch is what one flush brings, which is part of one chunk; the next chunk may sit
 * elsewhere against the clock, so a batch uses its own clock events only, and those before it if it
 * has none.
 */
final class ClockFit {
  private static final int MOST = 256;

  /** A thread that was put aside within its clock event says little of when it read the clock. */
  private static final long SHARP_NS = 50_000;

  private final long[] jfrNs = new long[MOST];
  private final long[] offsetNs = new long[MOST];
  private int count;
  private boolean blurred;
  private boolean batchEnded;

  /**
   * A clock event, in the order of their times. One that took long counts only until a better
   * comes.
   *
   * @param startNs when JFR says that it began
   * @param durationNs within which the clock was read
   * @param nanoTime what the clock gave
   */
  void add(long startNs, long durationNs, long nanoTime) {
    if (batchEnded) {
      batchEnded = false;
      count = 0;
    }
    boolean sharp = durationNs <= SHARP_NS;
    if (count > 0 && blurred && sharp) {
      count = 0;
    }
    if (count == 0) {
      blurred = !sharp;
    }
    if (count < MOST && blurred != sharp) {
      jfrNs[count] = startNs + durationNs / 2;
      offsetNs[count] = nanoTime - jfrNs[count];
      count++;
    }
  }

  /** The next clock event belongs to another batch. */
  void endBatch() {
    batchEnded = true;
  }

  /** Whether there was any clock event yet. */
  boolean isSet() {
    return count > 0;
  }

  /** The System.nanoTime() of a time of JFR. */
  long nanoTime(long jfr) {
    int after = 0;
    while (after < count && jfrNs[after] < jfr) {
      after++;
    }
    if (after == 0 || after == count) {
      return jfr + offsetNs[Math.min(after, count - 1)];
    }
    double way = (jfr - jfrNs[after - 1]) / (double) (jfrNs[after] - jfrNs[after - 1]);
    long change = offsetNs[after] - offsetNs[after - 1];
    return jfr + offsetNs[after - 1] + Math.round(way * change);
  }
}
