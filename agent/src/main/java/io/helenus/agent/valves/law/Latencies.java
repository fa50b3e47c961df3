package io.helenus.agent.valves.law;

/**
 * A histogram of times in log-linear buckets: {@value #PER_OCTAVE} of equal width from each power
 * of two to the next, so that a bucket is at most 3.2 % wide.
 *
 * <p>Not thread-safe. To count in many threads, let each keep its own counts by {@link #bucketOf},
 * and add the counts with {@link #add(int, long)} at the end of the window.
 */
public final class Latencies {
  /** Buckets from one power of two to the next. */
  public static final int PER_OCTAVE = 32;

  private static final int PER_OCTAVE_BITS = 5;

  /** The largest time with a bucket of its own, ns: 2^42, about 73 minutes. */
  public static final long LONGEST_NS = (1L << 42) - 1;

  /** How many buckets there are. */
  public static final int BUCKETS = bucketOf(LONGEST_NS) + 1;

  private final long[] counts = new long[BUCKETS];
  private long count;

  /**
   * The bucket of a time in ns, 0 to {@link #BUCKETS} - 1; times out of range go to the first or
   * last bucket.
   */
  public static int bucketOf(long ns) {
    long clamped = Math.max(0, Math.min(LONGEST_NS, ns));
    if (clamped < PER_OCTAVE) {
      return (int) clamped;
    }
    int shift = 63 - Long.numberOfLeadingZeros(clamped) - PER_OCTAVE_BITS;
    return shift * PER_OCTAVE + (int) (clamped >>> shift);
  }

  /** The shortest time of a bucket, ns. */
  public static long lowNs(int bucket) {
    if (bucket < PER_OCTAVE) {
      return bucket;
    }
    int shift = bucket / PER_OCTAVE - 1;
    return (long) (bucket - shift * PER_OCTAVE) << shift;
  }

  /** Counts one time, ns. */
  public void record(long ns) {
    add(bucketOf(ns), 1);
  }

  /** Adds to a bucket. */
  public void add(int bucket, long times) {
    counts[bucket] += times;
    count += times;
  }

  /** Adds all counts of another histogram. */
  public void add(Latencies other) {
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      counts[bucket] += other.counts[bucket];
    }
    count += other.count;
  }

  /** The number of times in the histogram. */
  public long count() {
    return count;
  }

  /** The number of times in a bucket. */
  public long count(int bucket) {
    return counts[bucket];
  }

  /**
   * A percentile, ns, interpolated within its bucket; 0 if the histogram is empty.
   *
   * @param p the percentile, 0 to 100
   */
  public long percentile(double p) {
    double rank = Math.max(0, Math.min(100, p)) / 100 * count;
    long below = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      if (counts[bucket] > 0 && below + counts[bucket] >= rank) {
        long lowNs = lowNs(bucket);
        double way = (rank - below) / counts[bucket];
        return lowNs + Math.round(way * (lowNs(bucket + 1) - lowNs));
      }
      below += counts[bucket];
    }
    return 0;
  }
}
