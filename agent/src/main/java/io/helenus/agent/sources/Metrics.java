package io.helenus.agent.sources;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
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
 * The MBeans of one type of Cassandra's metrics, grouped by what they are about: one MBean per
 * metric of each pool or table. In a JVM that is no Cassandra there are none.
 *
 * <p>Finding them goes through every MBean of the server, of which a node with 1,000 tables has
 * 100,000 and more: so it is done when their number has changed (a table was made or dropped), when
 * one that was known is gone, and now and then.
 */
final class Metrics {
  private static final long REFRESH_NS = TimeUnit.MINUTES.toNanos(5);

  private final MBeanServerConnection server = Mbeans.connection();
  private final ObjectName pattern;
  private final Set<String> wanted;
  private final Function<ObjectName, String> groupOf;
  private Map<String, Map<String, ObjectName>> groups = Map.of();

  /** What the registry calls them. */
  private Map<ObjectName, String> names = Map.of();

  private Registry registry;
  private int count = -1;
  private boolean isStale;
  private long refreshed;

  /**
   * @param pattern such as {@code type=Table,keyspace=*,scope=*,name=*}
   * @param wanted the metrics to keep
   * @param groupOf what an MBean is about
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

  /** By group and metric. */
  Map<String, Map<String, ObjectName>> groups() {
    try {
      return found();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Map<String, Map<String, ObjectName>> found() throws IOException {
    long now = System.nanoTime();
    int countNow = server.getMBeanCount();
    if (countNow != count || isStale || now - refreshed > REFRESH_NS) {
      isStale = false;
      count = countNow;
      refreshed = now;
      Map<String, Map<String, ObjectName>> found = new LinkedHashMap<>();
      Map<ObjectName, String> named = new HashMap<>();
      if (registry == null) {
        registry = Registry.find();
      }
      for (ObjectName bean : server.queryNames(pattern, null)) {
        String metric = bean.getKeyProperty("name");
        if (wanted.contains(metric)) {
          found
              .computeIfAbsent(groupOf.apply(bean), group -> new LinkedHashMap<>())
              .put(metric, bean);
          named.put(bean, Registry.name(bean));
        }
      }
      groups = found;
      names = named;
    }
    return groups;
  }

  /** An attribute as a number; null if the MBean is missing, or gone, or gives no number. */
  Number read(ObjectName bean, String attribute) {
    if (bean == null) {
      return null;
    }
    try {
      String name = registry == null ? null : names.get(bean);
      Object value = name == null ? null : registry.read(name, attribute);
      if (value == null) {
        value = server.getAttribute(bean, attribute);
      }
      return value instanceof Number ? (Number) value : null;
    } catch (InstanceNotFoundException e) {
      // A table that was dropped; the next look finds it gone.
      isStale = true;
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (JMException | RuntimeException e) {
      return null;
    }
  }

  Long readLong(ObjectName bean, String attribute) {
    Number value = read(bean, attribute);
    return value == null ? null : value.longValue();
  }

  Double readDouble(ObjectName bean, String attribute) {
    Number value = read(bean, attribute);
    // Not a number is what a histogram of nothing gives.
    return value == null || Double.isNaN(value.doubleValue()) ? null : value.doubleValue();
  }
}
