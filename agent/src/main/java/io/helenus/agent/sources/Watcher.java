package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Source {@code stalls}: the thread "helenus-agent-watcher" sleeps for {@value #SLEEP_MS} ms and
 * looks how much later it woke, as jHiccup does. Whatever kept it from running kept the server's
 * threads too: a pause of the JVM, the process stopped, no CPU, the machine swapping.
 *
 * <p>A stall counts from when the thread should have woken, so it is told up to {@value #SLEEP_MS}
 * ms shorter than it was.
 */
public final class Watcher implements Source {
  private static final long SLEEP_MS = 5;

  private final Feed feed;
  private final long boundNs;
  private final Thread thread = new Thread(this::run, "helenus-agent-watcher");
  private volatile boolean stopped;

  /**
   * @param boundMs how late is a stall
   */
  public Watcher(Feed feed, long boundMs) {
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
