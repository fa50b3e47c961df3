package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.util.Map;
import java.util.Set;

/**
 * Source {@code pools}: Cassandra's thread pools, from the MBeans {@code
 * org.apache.cassandra.metrics:type=ThreadPools,path=KIND,scope=POOL,name=METRIC}, which are the
 * same in 4.0, 4.1 and 5.0.
 */
public final class Pools extends SampledSource {
  private final Metrics metrics =
      new Metrics(
          "type=ThreadPools,path=*,scope=*,name=*",
          Set.of(
              "ActiveTasks",
              "PendingTasks",
              "CompletedTasks",
              "CurrentlyBlockedTasks",
              "TotalBlockedTasks",
              "MaxPoolSize"),
          bean -> bean.getKeyProperty("path") + "." + bean.getKeyProperty("scope"));

  public Pools(Feed feed) {
    super(feed);
  }

  @Override
  void read() {
    metrics.groups().values().forEach(this::read);
  }

  /** The pools that requests go through: their queues come and go within milliseconds. */
  @Override
  void readBetween() {
    metrics.groups().values().stream().filter(beans -> !isInternal(beans)).forEach(this::read);
  }

  private static boolean isInternal(Map<String, Metric> beans) {
    return beans.values().iterator().next().key("path").equals("internal");
  }

  private void read(Map<String, Metric> beans) {
    Metric any = beans.values().iterator().next();
    long now = System.nanoTime();
    Long active = metrics.readLong(beans.get("ActiveTasks"), "Value");
    Long pending = metrics.readLong(beans.get("PendingTasks"), "Value");
    Long completed = metrics.readLong(beans.get("CompletedTasks"), "Value");
    Long blocked = metrics.readLong(beans.get("CurrentlyBlockedTasks"), "Count");
    Long totalBlocked = metrics.readLong(beans.get("TotalBlockedTasks"), "Count");
    if (active == null
        || pending == null
        || completed == null
        || blocked == null
        || totalBlocked == null) {
      return;
    }
    Tables.poolSample(
        feed.rows(),
        feed.at(now),
        feed.node(),
        any.key("scope"),
        any.key("path"),
        active,
        pending,
        completed,
        blocked,
        totalBlocked,
        metrics.readLong(beans.get("MaxPoolSize"), "Value"));
  }
}
