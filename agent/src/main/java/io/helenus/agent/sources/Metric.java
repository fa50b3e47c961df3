package io.helenus.agent.sources;

import java.io.IOException;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;

/** A metric of Cassandra: its MBean and, if accessible, the metric object itself. */
public final class Metric {
  private final ObjectName bean;

  /** The metric object; null if metrics are read only by their MBeans. */
  private final Registry registry;

  private final String name;
  private final Object object;

  Metric(ObjectName bean, Registry registry) {
    this.bean = bean;
    this.registry = registry;
    this.name = registry == null ? null : Registry.name(bean);
    this.object = registry == null ? null : registry.find(name);
  }

  /** The metric of an MBean in this JVM. */
  public static Metric of(ObjectName bean) {
    return new Metric(bean, Registry.find());
  }

  /** A key of the MBean's name. */
  String key(String key) {
    return bean.getKeyProperty(key);
  }

  /** Whether another metric has replaced this one. */
  boolean isReplaced() {
    return object != null && registry.find(name) != object;
  }

  public Object read(MBeanServerConnection server, String attribute)
      throws JMException, IOException {
    Object value = object == null ? null : registry.read(object, attribute);
    return value == null ? server.getAttribute(bean, attribute) : value;
  }
}
