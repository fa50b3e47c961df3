package io.helenus.agent.sources;

import io.helenus.agent.recording.RowBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The thread "helenus-agent-sampler": at every interval it reads the samples, and then reports of
 * every source what it captured, lost and cost. A sample that takes more than a small part of a CPU
 * so, as the figures of thousands of tables may, is read less often ({@link Sample#isDue}).
 */
public final class Sampler {
  private final long intervalNs;
  private final List<Sample> samples;
  private final List<Feed> feeds;
  private final RowBuffer reports;
  private final Consumer<String> log;
  private final List<Sample> failed = new ArrayList<>();
  private final Thread thread = new Thread(this::run, "helenus-agent-sampler");
  private volatile boolean stopped;
  private long lastReport = System.nanoTime();

  /**
   * @param feeds of all sources, those of the samples included
   * @param reports where the rows of table sources go
   */
  public Sampler(
      long intervalMs,
      List<Sample> samples,
      List<Feed> feeds,
      RowBuffer.Sink reports,
      Consumer<String> log) {
    this.intervalNs = TimeUnit.MILLISECONDS.toNanos(intervalMs);
    this.samples = samples;
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

  /** Writes what the sources have to account for since the last time. */
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
    while (!stopped) {
      for (Sample sample : samples) {
        if (sample.isDue(System.nanoTime())) {
          read(sample);
        }
      }
      report();
      // An interval that was missed is left out, not made up for.
      due = Math.max(due + intervalNs, System.nanoTime());
      while (!stopped && System.nanoTime() < due) {
        LockSupport.parkNanos(due - System.nanoTime());
      }
    }
  }

  private void read(Sample sample) {
    Feed feed = sample.feed;
    long cpuNs = Feed.ownCpuNs();
    try {
      sample.read();
      feed.flush();
    } catch (Throwable e) {
      feed.fail(e);
      if (!failed.contains(sample)) {
        failed.add(sample);
        log.accept(feed.source() + " cannot be read: " + e);
      }
    }
    long tookNs = Feed.ownCpuNs() - cpuNs;
    feed.spend(tookNs);
    sample.took(tookNs, System.nanoTime());
  }
}
