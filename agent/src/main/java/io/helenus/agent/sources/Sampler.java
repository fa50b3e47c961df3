package io.helenus.agent.sources;

import io.helenus.agent.recording.RowBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The thread "helenus-agent-sampler". At every interval it reads the sampled sources, and in
 * between what changes fast, then reports captured and lost rows and CPU time of all sources. A
 * source that would take more than a small share of a CPU, such as the figures of thousands of
 * tables, is read less often ({@link SampledSource#isDue}).
 */
public final class Sampler {
  /** Readings within an interval, of sources that have something to read more often. */
  private static final int READINGS = 10;

  private final long intervalNs;
  private final List<SampledSource> sources;
  private final List<Feed> feeds;
  private final RowBuffer reports;
  private final Consumer<String> log;
  private final List<SampledSource> failed = new ArrayList<>();
  private final Thread thread = new Thread(this::run, "helenus-agent-sampler");
  private volatile boolean stopped;
  private long lastReport = System.nanoTime();

  /**
   * @param feeds the feeds of all sources, also of those that are not sampled
   * @param reports receives the rows of the table {@code sources}
   */
  public Sampler(
      long intervalMs,
      List<SampledSource> sources,
      List<Feed> feeds,
      RowBuffer.Sink reports,
      Consumer<String> log) {
    this.intervalNs = TimeUnit.MILLISECONDS.toNanos(intervalMs);
    this.sources = sources;
    this.feeds = feeds;
    this.reports = new RowBuffer(reports);
    this.log = log;
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
  }

  public void start() {
    thread.start();
  }

  /** Ends the thread. A reading that is under way may finish. */
  public void stop(long timeoutMs) throws InterruptedException {
    stopped = true;
    LockSupport.unpark(thread);
    thread.join(timeoutMs);
  }

  /** Writes the report of every source since the last one. */
  public synchronized void report() {
    long now = System.nanoTime();
    for (Feed feed : feeds) {
      feed.report(reports, now, now - lastReport);
    }
    reports.flush();
    lastReport = now;
  }

  private void run() {
    long due = System.nanoTime();
    for (int reading = 0; !stopped; reading = (reading + 1) % READINGS) {
      for (SampledSource source : sources) {
        if (source.isDue(System.nanoTime())) {
          read(source, reading == 0);
        }
      }
      if (reading == 0) {
        report();
      }
      // Missed readings are skipped.
      due = Math.max(due + intervalNs / READINGS, System.nanoTime());
      while (!stopped && System.nanoTime() < due) {
        LockSupport.parkNanos(due - System.nanoTime());
      }
    }
  }

  private void read(SampledSource source, boolean isWhole) {
    Feed feed = source.feed;
    long cpuNs = Feed.ownCpuNs();
    try {
      if (isWhole) {
        source.read();
      } else {
        source.readBetween();
      }
      feed.flush();
    } catch (Throwable e) {
      feed.fail(e);
      if (!failed.contains(source)) {
        failed.add(source);
        log.accept(feed.source() + " cannot be read: " + e);
      }
    }
    long tookNs = Feed.ownCpuNs() - cpuNs;
    feed.spend(tookNs);
    if (isWhole) {
      source.setCost(tookNs, System.nanoTime());
    }
  }
}
