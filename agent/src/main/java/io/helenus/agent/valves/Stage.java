package io.helenus.agent.valves;

import io.helenus.agent.points.Nearest;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.sources.Metric;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import javax.management.Attribute;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * A stage of Cassandra whose own setting can serve as a limit, so that no thread is blocked: the
 * largest number of its threads, or the compaction throughput in MiB/s. The settings are the same
 * in 4.0, 4.1 and 5.0.
 */
public enum Stage {
  NATIVE_TRANSPORT(
      "org.apache.cassandra.transport:type=Native-Transport-Requests",
      List.of("MaximumPoolSize"),
      "transport",
      "Native-Transport-Requests"),
  READ("org.apache.cassandra.request:type=ReadStage", "ReadStage"),
  MUTATION("org.apache.cassandra.request:type=MutationStage", "MutationStage"),
  COUNTER_MUTATION(
      "org.apache.cassandra.request:type=CounterMutationStage", "CounterMutationStage"),
  VIEW_MUTATION("org.apache.cassandra.request:type=ViewMutationStage", "ViewMutationStage"),
  COMPACTION(
      "org.apache.cassandra.db:type=CompactionManager",
      List.of("CoreCompactorThreads", "MaximumCompactorThreads"),
      "internal",
      "CompactionExecutor"),
  COMPACTION_THROUGHPUT(
      "org.apache.cassandra.db:type=StorageService",
      List.of("CompactionThroughputMbPerSec"),
      "internal",
      "CompactionExecutor");

  private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

  private final String bean;
  private final List<String> settings;
  private final String metrics;
  private final String pool;

  /** Metrics that were found before, because finding a metric takes longer than reading it. */
  private final Map<String, Metric> found = new ConcurrentHashMap<>();

  Stage(String bean, String pool) {
    this(bean, List.of("MaximumPoolSize"), "request", pool);
  }

  /**
   * @param settings attributes of the MBean; one that must not exceed another comes first
   */
  Stage(String bean, List<String> settings, String metricsPath, String pool) {
    this.bean = bean;
    this.settings = settings;
    this.metrics =
        "org.apache.cassandra.metrics:type=ThreadPools,path="
            + metricsPath
            + ",scope="
            + pool
            + ",name=";
    this.pool = pool;
  }

  public static Stage of(String name) {
    for (Stage stage : values()) {
      if (stage.toString().equals(name)) {
        return stage;
      }
    }
    List<String> names = Arrays.stream(values()).map(Stage::toString).collect(Collectors.toList());
    throw new Refusal(
        "there is no stage " + name,
        Nearest.hint(name, names, "there are " + String.join(", ", names)));
  }

  /** The stage that a thread belongs to by its name; null for none. */
  static Stage ofThread(String name) {
    for (Stage stage : values()) {
      if (name.startsWith(stage.pool + "-")) {
        return stage;
      }
    }
    return null;
  }

  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }

  /** The name of its pool in metrics and thread names. */
  public String pool() {
    return pool;
  }

  /** The current values of its settings. */
  int[] read() {
    int[] values = new int[settings.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = number(bean, settings.get(i)).intValue();
    }
    return values;
  }

  /** The stage's current setting, as a limit. */
  public int largest() {
    int[] values = read();
    return Math.max(1, values[values.length - 1]);
  }

  void write(int[] values) {
    // The core size must never exceed the maximum, so the maximum is raised first or lowered last.
    boolean grows = values[values.length - 1] > read()[values.length - 1];
    for (int i = 0; i < values.length; i++) {
      int at = grows ? values.length - 1 - i : i;
      try {
        SERVER.setAttribute(new ObjectName(bean), new Attribute(settings.get(at), values[at]));
      } catch (JMException | RuntimeException e) {
        throw new Refusal(settings.get(at) + " of " + bean + " can't be set: " + e, "see its log");
      }
    }
  }

  long active() {
    return metric("ActiveTasks");
  }

  long pending() {
    return metric("PendingTasks");
  }

  long completed() {
    return metric("CompletedTasks");
  }

  private long metric(String name) {
    try {
      Metric metric = found.get(name);
      if (metric == null) {
        metric = Metric.of(new ObjectName(metrics + name));
      }
      long value = ((Number) metric.read(SERVER, "Value")).longValue();
      found.putIfAbsent(name, metric);
      return value;
    } catch (JMException | IOException | RuntimeException e) {
      throw unreadable(e);
    }
  }

  private Number number(String bean, String attribute) {
    try {
      return (Number) SERVER.getAttribute(new ObjectName(bean), attribute);
    } catch (JMException | RuntimeException e) {
      throw unreadable(e);
    }
  }

  private Refusal unreadable(Exception e) {
    if (e instanceof InstanceNotFoundException && isCassandraUp()) {
      return new Refusal(
          "there is no stage " + this + " yet: Cassandra makes it with its first task",
          "add the valve after such a request");
    }
    return new Refusal(
        "the stage " + this + " can't be read: " + e, "is this a Cassandra, and is it up?");
  }

  private static boolean isCassandraUp() {
    try {
      return SERVER.isRegistered(new ObjectName(NATIVE_TRANSPORT.bean));
    } catch (JMException e) {
      return false;
    }
  }
}
