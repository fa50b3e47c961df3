package io.helenus.agent.sources;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * The MBeans of one type of Cassandra's metrics, grouped by pool or table: one MBean per metric of
 * each. Without a Cassandra in the JVM there are none.
 *
 * <p>A search goes through every MBean of the server, 100,000 and more on a node with 1,000 tables.
 * So the search is repeated only when the number of MBeans has changed (a table was created or
 * dropped), when a known one is gone or was replaced, and every few minutes.
 */
final class Metrics {
  private static final long REFRESH_NS = TimeUnit.MINUTES.toNanos(5);

  private final MBeanServerConnection server = Mbeans.connection();
  private final ObjectName pattern;
  private final Set<String> wanted;
  private final Function<ObjectName, String> groupOf;
  private Map<String, Map<String, Metric>> groups = Map.of();
  private Registry registry;
  private int count = -1;
  private boolean isStale;
  private long refreshed;

  /**
   * @param pattern such as {@code type=Table,keyspace=*,scope=*,name=*}
   * @param wanted the metrics to keep
   * @param groupOf the group of an MBean, such as its table
   */
  Metrics(String pattern, Set<String> wanted, Function<ObjectName, String> groupOf) {
    try {
      this.pattern = new ObjectName("org.apache.cassandra.metrics:" + pattern);
    } catch (MalformedObjectNameException e) {
      throw new IllegalArgumentException(e);
    }
    this.wanted = wanted;
    this.groupOf = groupOf;
  }

  /** The metrics, by group and name. */
  Map<String, Map<String, Metric>> groups() {
    try {
      return found();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Map<String, Map<String, Metric>> found() throws IOException {
    long now = System.nanoTime();
    int countNow = server.getMBeanCount();
    if (countNow != count || isStale || now - refreshed > REFRESH_NS || isReplaced()) {
      isStale = false;
      count = countNow;
      refreshed = now;
      Map<String, Map<String, Metric>> found = new LinkedHashMap<>();
      if (registry == null) {
        registry = Registry.find();
      }
      for (ObjectName bean : server.queryNames(pattern, null)) {
        String name = bean.getKeyProperty("name");
        if (wanted.contains(name)) {
          found
              .computeIfAbsent(groupOf.apply(bean), group -> new LinkedHashMap<>())
              .put(name, new Metric(bean, registry));
        }
      }
      groups = found;
    }
    return groups;
  }

  /**
   * Whether a table was dropped and created again: its metrics are then new objects of the same
   * names.
   */
  private boolean isReplaced() {
    return groups.values().stream()
        .anyMatch(group -> group.values().iterator().next().isReplaced());
  }

  /** An attribute as a number; null if the metric is missing, or gone, or gives no number. */
  private Number read(Metric metric, String attribute) {
    if (metric == null) {
      return null;
    }
    try {
      Object value = metric.read(server, attribute);
      return value instanceof Number ? (Number) value : null;
    } catch (InstanceNotFoundException e) {
      // The table was dropped; the next reading finds that its metrics no longer exist.
      isStale = true;
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (JMException | RuntimeException e) {
      return null;
    }
  }

  Long readLong(Metric metric, String attribute) {
    Number value = read(metric, attribute);
    return value == null ? null : value.longValue();
  }

  Double readDouble(Metric metric, String attribute) {
    Number value = read(metric, attribute);
    // An empty histogram gives NaN.
    return value == null || Double.isNaN(value.doubleValue()) ? null : value.doubleValue();
  }
}
