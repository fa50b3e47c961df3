package io.helenus.agent.sources;

/** A source that is read at every interval, by the {@link Sampler}. */
public abstract class SampledSource {
  /** Readings take at most this share of one CPU. */
  private static final double MAX_SHARE = 0.007;

  /** Receives the rows of each reading. */
  final Feed feed;

  private long lastCpuNs;
  private long pausedUntilNs = System.nanoTime();

  SampledSource(Feed feed) {
    this.feed = feed;
  }

  /** Reads the source now and writes its rows, unflushed. */
  abstract void read() throws Exception;

  /** Reads what changes within milliseconds, ten times an interval; nothing by default. */
  void readBetween() throws Exception {}

  /** Whether the source may be read again within its share of the CPU. */
  boolean isDue(long nanoTime) {
    return nanoTime - pausedUntilNs >= 0;
  }

  /**
   * Sets the cost of the reading that ended now. The lower cost of the last two readings counts,
   * because the first reading runs code that is not compiled yet.
   */
  void setCost(long cpuNs, long nanoTime) {
    pausedUntilNs = nanoTime + (long) (Math.min(cpuNs, lastCpuNs) / MAX_SHARE);
    lastCpuNs = cpuNs;
  }
}
