package io.helenus.agent.sources;

/** A source that is read at every interval, by the {@link Sampler}. */
public abstract class Sample {
  /** The share of one CPU that reading it takes at most, as soon as it is known what it takes. */
  private static final double MOST_SHARE = 0.007;

  /** Receives the rows of each reading. */
  final Feed feed;

  private long lastCpuNs;
  private long restsUntil = System.nanoTime();

  Sample(Feed feed) {
    this.feed = feed;
  }

  /** Reads it now and writes its rows, unflushed. */
  abstract void read() throws Exception;

  /** Whether it may be read again, as to what it takes. */
  boolean isDue(long nanoTime) {
    return nanoTime - restsUntil >= 0;
  }

  /**
   * Takes note of what a reading took that ended now, of the CPU. The cheaper of the last two
   * counts, so that the first, of code that was never run before, does not.
   */
  void took(long cpuNs, long nanoTime) {
    restsUntil = nanoTime + (long) (Math.min(cpuNs, lastCpuNs) / MOST_SHARE);
    lastCpuNs = cpuNs;
  }
}
