package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Source {@code node_metrics}: figures of the node as a whole that its advice rests on, read every
 * {@value #EVERY_S} s, with a row for each that has changed.
 *
 * <p>Finding the MBeans goes through all of the server's, those of every table among them, so it is
 * done at the start and every {@value #FIND_EVERY_S} s: some are made when they first count.
 */
public final class NodeMetrics extends SampledSource {
  private static final long EVERY_S = 5;
  private static final long EVERY_NS = TimeUnit.SECONDS.toNanos(EVERY_S);
  private static final long FIND_EVERY_S = 300;
  private static final long FIND_EVERY_NS = TimeUnit.SECONDS.toNanos(FIND_EVERY_S);

  /** The metrics to read of one type. */
  private static final class Family {
    final String type;
    final Set<String> scopes;
    final Map<String, List<String>> attributes;
    final Metrics metrics;
    Map<String, Map<String, Metric>> found = Map.of();

    /**
     * @param scopes the wanted scopes; empty for all
     * @param attributes by metric
     */
    Family(String type, boolean scoped, Set<String> scopes, Map<String, List<String>> attributes) {
      this.type = type;
      this.scopes = scopes;
      this.attributes = attributes;
      this.metrics =
          new Metrics(
              "type=" + type + (scoped ? ",scope=*" : "") + ",name=*",
              attributes.keySet(),
              bean -> scoped ? bean.getKeyProperty("scope") : "");
    }
  }

  private static final List<String> COUNT = List.of("Count");
  private static final List<String> VALUE = List.of("Value");

  private final List<Family> families =
      List.of(
          new Family(
              "Cache",
              true,
              Set.of(),
              Map.of("Hits", COUNT, "Requests", COUNT, "Size", VALUE, "Capacity", VALUE)),
          new Family("DroppedMessage", true, Set.of(), Map.of("Dropped", COUNT)),
          new Family(
              "ClientRequest",
              true,
              Set.of("Read", "RangeSlice", "Write", "CASRead", "CASWrite"),
              Map.of(
                  "Latency", COUNT,
                  "Timeouts", COUNT,
                  "Unavailables", COUNT,
                  "LocalRequests", COUNT,
                  "RemoteRequests", COUNT,
                  "ContentionHistogram", List.of("Count", "95thPercentile"),
                  "ConditionNotMet", COUNT)),
          new Family(
              "Batch",
              false,
              Set.of(),
              Map.of(
                  "PartitionsPerUnloggedBatch",
                  List.of("Count", "95thPercentile"),
                  "PartitionsPerLoggedBatch",
                  List.of("Count", "95thPercentile"))),
          new Family(
              "Compaction",
              false,
              Set.of(),
              Map.of("PendingTasks", VALUE, "BytesCompacted", COUNT)),
          new Family("Storage", false, Set.of(), Map.of("TotalHints", COUNT)),
          new Family("MemtablePool", false, Set.of(), Map.of("BlockedOnAllocation", COUNT)));

  private final Map<String, Long> known = new HashMap<>();
  private boolean begun;
  private long readAt;
  private long foundAt;

  public NodeMetrics(Feed feed) {
    super(feed);
  }

  @Override
  void read() {
    long now = System.nanoTime();
    if (begun && now - readAt < EVERY_NS) {
      return;
    }
    if (!begun || now - foundAt >= FIND_EVERY_NS) {
      foundAt = now;
      families.forEach(family -> family.found = family.metrics.groups());
    }
    begun = true;
    readAt = now;
    families.forEach(this::read);
  }

  private void read(Family family) {
    family.found.forEach(
        (scope, beans) -> {
          if (family.scopes.isEmpty() || family.scopes.contains(scope)) {
            beans.forEach((metric, bean) -> read(family, scope, metric, bean));
          }
        });
  }

  private void read(Family family, String scope, String metric, Metric bean) {
    for (String attribute : family.attributes.get(metric)) {
      long now = System.nanoTime();
      Long value = family.metrics.readLong(bean, attribute);
      String name = String.join("\n", family.type, scope, metric, attribute);
      if (value != null && !value.equals(known.put(name, value))) {
        Tables.nodeMetric(
            feed.rows(), feed.at(now), feed.node(), family.type, scope, metric, attribute, value);
      }
    }
  }
}
