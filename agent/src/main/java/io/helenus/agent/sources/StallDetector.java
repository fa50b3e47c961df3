package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Source {@code stalls}: the thread "helenus-agent-watcher" sleeps for {@value #SLEEP_MS} ms and
 * measures how much later it woke, as jHiccup does. The cause of a late wake-up delayed the
 * server's threads too: a pause of the JVM, a stopped process, no free CPU, or swapping.
 *
 * <p>A stall is measured from the time at which the thread should have woken, so the row is up to
 * {@value #SLEEP_MS} ms shorter than the stall.
 */
public final class StallDetector implements Source {
  private static final long SLEEP_MS = 5;

  private final Feed feed;
  private final long boundNs;
  private final Thread thread = new Thread(this::run, "helenus-agent-watcher");
  private volatile boolean stopped;

  /**
   * @param boundMs the shortest stall that gets a row
   */
  public StallDetector(Feed feed, long boundMs) {
    this.feed = feed;
    this.boundNs = TimeUnit.MILLISECONDS.toNanos(boundMs);
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    feed.worker(thread);
  }

  @Override
  public Feed feed() {
    return feed;
  }

  @Override
  public void start() {
    thread.start();
  }

  @Override
  public void stop(boolean drain) throws InterruptedException {
    stopped = true;
    LockSupport.unpark(thread);
    thread.join();
  }

  private void run() {
    long sleepNs = TimeUnit.MILLISECONDS.toNanos(SLEEP_MS);
    long slept = System.nanoTime();
    while (!stopped) {
      LockSupport.parkNanos(sleepNs);
      long woke = System.nanoTime();
      long late = woke - slept - sleepNs;
      if (late > boundNs) {
        Tables.stall(
            feed.rows(),
            feed.at(woke - late),
            late,
            "server",
            feed.node(),
            "watcher",
            null,
            null,
            null);
        feed.flush();
      }
      slept = woke;
    }
  }
}
