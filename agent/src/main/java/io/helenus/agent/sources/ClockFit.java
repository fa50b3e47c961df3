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

  private final long[] jfrNs = new long[MOST];
  private final long[] offsetNs = new long[MOST];
  private int count;
  private boolean batchEnded;

  /** A clock event, in the order of their times: when JFR says it was, and when it was. */
  void add(long jfrNs, long nanoTime) {
    if (batchEnded) {
      batchEnded = false;
      count = 0;
    }
    if (count < MOST) {
      this.jfrNs[count] = jfrNs;
      this.offsetNs[count] = nanoTime - jfrNs;
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
