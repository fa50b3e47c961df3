package io.helenus.agent.sources;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import io.helenus.agent.recording.Tables;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.lang.management.RuntimeMXBean;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * Source {@code pauses} if the JVM's log can't be read: GC notifications, with times to 1 ms and
 * without safepoints other than collections.
 *
 * <p>Concurrent collectors also report their cycles, whose time is no pause: those are left out. Up
 * to JDK 19 no bean reports the remark and cleanup pauses of G1, so they are missing.
 */
final class GcNotifications implements Source, NotificationListener {
  private final Feed feed;
  private final List<GarbageCollectorMXBean> beans = new ArrayList<>();
  private final Set<String> heapPools = new HashSet<>();
  private RuntimeMXBean runtime;

  private long latestVmStart = Long.MAX_VALUE;

  private GcNotifications(Feed feed) {
    this.feed = feed;
  }

  static Source started(Function<String, Feed> feed) throws IOException {
    GcNotifications source = new GcNotifications(feed.apply("agent-mxbean"));
    source.start();
    return source;
  }

  @Override
  public Feed feed() {
    return feed;
  }

  @Override
  public synchronized void start() throws IOException {
    runtime = Mbeans.ofJvm(RuntimeMXBean.class).get(0);
    for (MemoryPoolMXBean pool : Mbeans.ofJvm(MemoryPoolMXBean.class)) {
      if (pool.getType() == MemoryType.HEAP) {
        heapPools.add(pool.getName());
      }
    }
    for (GarbageCollectorMXBean bean : Mbeans.ofJvm(GarbageCollectorMXBean.class)) {
      if (bean instanceof NotificationEmitter) {
        ((NotificationEmitter) bean).addNotificationListener(this, null, null);
        beans.add(bean);
      }
    }
  }

  @Override
  public synchronized void stop(boolean drain) throws ListenerNotFoundException {
    for (GarbageCollectorMXBean bean : beans) {
      ((NotificationEmitter) bean).removeNotificationListener(this);
    }
    beans.clear();
    feed.flush();
  }

  /** Called on a thread of the JDK. */
  @Override
  public synchronized void handleNotification(Notification notification, Object handback) {
    long cpuNs = Feed.ownCpuNs();
    try {
      if (notification
          .getType()
          .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
        write(GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData()));
        feed.flush();
      }
    } catch (Throwable e) {
      feed.fail(e);
    }
    feed.spend(Feed.ownCpuNs() - cpuNs);
  }

  private void write(GarbageCollectionNotificationInfo collection) {
    if (!isPause(collection.getGcName(), collection.getGcCause())) {
      return;
    }
    GcInfo times = collection.getGcInfo();
    Tables.pause(
        feed.rows(),
        feed.at(vmStart(times.getEndTime()) + TimeUnit.MILLISECONDS.toNanos(times.getStartTime())),
        TimeUnit.MILLISECONDS.toNanos(times.getDuration()),
        feed.node(),
        "gc",
        // The row has no id, because the MBean counts the collections of its own collector, not
        // those of the JVM.
        null,
        collection.getGcName(),
        collection.getGcCause(),
        null,
        used(times.getMemoryUsageBeforeGc(), heapPools),
        used(times.getMemoryUsageAfterGc(), heapPools),
        null,
        "mxbean");
  }

  /** Whether a collection stops the application threads. */
  static boolean isPause(String collector, String cause) {
    boolean concurrent =
        collector.endsWith("Cycles")
            // A CMS collection in the background is no pause; a CMS collection with stopped threads
            // has a cause.
            || collector.equals("ConcurrentMarkSweep") && cause.equals("No GC");
    return !concurrent;
  }

  /**
   * The start of the JVM as System.nanoTime(), from which the times of collections count. No bean
   * has it on the monotonic clock: RuntimeMXBean.getStartTime() is wall time, and getUptime()
   * counts from up to some 100 ms earlier. The wall clock may have been set since. So the result
   * lies between that earlier moment and the latest start with which no collection would end after
   * its notification.
   *
   * @param endMs the end of the collection that was reported just now
   */
  private long vmStart(long endMs) {
    Duration sinceStart =
        Duration.between(Instant.ofEpochMilli(runtime.getStartTime()), Instant.now());
    long now = System.nanoTime();
    latestVmStart = Math.min(latestVmStart, now - TimeUnit.MILLISECONDS.toNanos(endMs));
    long earliest = now - TimeUnit.MILLISECONDS.toNanos(runtime.getUptime() + 1);
    return Math.min(Math.max(now - sinceStart.toNanos(), earliest), latestVmStart);
  }

  private static long used(Map<String, MemoryUsage> usage, Set<String> pools) {
    return pools.stream()
        .filter(usage::containsKey)
        .mapToLong(pool -> usage.get(pool).getUsed())
        .sum();
  }
}
