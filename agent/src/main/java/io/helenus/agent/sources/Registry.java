package io.helenus.agent.sources;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.ObjectName;

/**
 * Reads Cassandra's metrics from its registry instead of over JMX: a counter takes nanoseconds, not
 * microseconds. The registry is the same in 4.0, 4.1 and 5.0. If a release has another one, the
 * MBeans are read.
 */
final class Registry {
  private static final String CLASS = "org.apache.cassandra.metrics.CassandraMetricsRegistry";

  private final Map<?, ?> metrics;
  private final Class<?> counting;
  private final Class<?> gauge;
  private final MethodHandle count;
  private final MethodHandle value;

  private Registry(ClassLoader server) throws ReflectiveOperationException {
    Class<?> type = Class.forName(CLASS, true, server);
    Method all = type.getMethod("getMetrics");
    metrics = (Map<?, ?>) all.invoke(type.getField("Metrics").get(null));
    counting = Class.forName("com.codahale.metrics.Counting", true, server);
    gauge = Class.forName("com.codahale.metrics.Gauge", true, server);
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    count =
        lookup
            .unreflect(counting.getMethod("getCount"))
            .asType(MethodType.methodType(long.class, Object.class));
    value =
        lookup
            .unreflect(gauge.getMethod("getValue"))
            .asType(MethodType.methodType(Object.class, Object.class));
  }

  /** The registry of this JVM's Cassandra; null if it can't be read. */
  static Registry find() {
    ClassLoader server = Cassandra.loader();
    if (server == null) {
      return null;
    }
    try {
      return new Registry(server);
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  /** The registry's name for the metric behind an MBean. */
  static String name(ObjectName bean) {
    return Stream.of("type", "name", "keyspace", "path", "scope")
        .map(bean::getKeyProperty)
        .filter(part -> part != null)
        .collect(Collectors.joining(".", bean.getDomain() + ".", ""));
  }

  /** The metric with this name; null if there is none. */
  Object find(String name) {
    return metrics.get(name);
  }

  /** An attribute of a metric, with the value of its MBean; null if only the MBean has it. */
  Object read(Object metric, String attribute) {
    try {
      if (attribute.equals("Count") && counting.isInstance(metric)) {
        return (long) count.invokeExact(metric);
      }
      if (attribute.equals("Value") && gauge.isInstance(metric)) {
        return (Object) value.invokeExact(metric);
      }
    } catch (Throwable e) {
      // A gauge of a table that is being dropped; reading its MBean will fail, too.
      return null;
    }
    return null;
  }
}
