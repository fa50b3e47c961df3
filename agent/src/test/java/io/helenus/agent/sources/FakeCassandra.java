package io.helenus.agent.sources;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** MBeans by the names that Cassandra's metrics have, in this JVM. */
final class FakeCassandra implements AutoCloseable {
  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
  private final Map<String, Bean> beans = new HashMap<>();

  static final class Bean implements DynamicMBean {
    final Map<String, Object> values = new HashMap<>();
    final AtomicLong reads = new AtomicLong();

    @Override
    public Object getAttribute(String name) throws AttributeNotFoundException {
      reads.incrementAndGet();
      if (!values.containsKey(name)) {
        throw new AttributeNotFoundException(name);
      }
      return values.get(name);
    }

    @Override
    public void setAttribute(Attribute attribute) {
      throw new UnsupportedOperationException();
    }

    @Override
    public AttributeList getAttributes(String[] names) {
      throw new UnsupportedOperationException();
    }

    @Override
    public AttributeList setAttributes(AttributeList attributes) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Object invoke(String action, Object[] parameters, String[] signature) {
      throw new UnsupportedOperationException();
    }

    @Override
    public MBeanInfo getMBeanInfo() {
      return new MBeanInfo(Bean.class.getName(), "", new MBeanAttributeInfo[0], null, null, null);
    }
  }

  Bean set(String name, String attribute, Object value) throws JMException {
    Bean bean = beans.get(name);
    if (bean == null) {
      bean = new Bean();
      beans.put(name, bean);
      bean.values.put(attribute, value);
      server.registerMBean(bean, new ObjectName(name));
    }
    bean.values.put(attribute, value);
    return bean;
  }

  void pool(String path, String pool, String metric, String attribute, Object value)
      throws JMException {
    set(
        "org.apache.cassandra.metrics:type=ThreadPools,path="
            + path
            + ",scope="
            + pool
            + ",name="
            + metric,
        attribute,
        value);
  }

  Bean table(String keyspace, String table, String metric, String attribute, Object value)
      throws JMException {
    return set(
        "org.apache.cassandra.metrics:type=Table,keyspace="
            + keyspace
            + ",scope="
            + table
            + ",name="
            + metric,
        attribute,
        value);
  }

  Bean clientRequest(String scope, String metric, Object count) throws JMException {
    return set(
        "org.apache.cassandra.metrics:type=ClientRequest,scope=" + scope + ",name=" + metric,
        "Count",
        count);
  }

  void drop(String prefix) throws JMException {
    for (String name : Map.copyOf(beans).keySet()) {
      if (name.startsWith(prefix)) {
        server.unregisterMBean(new ObjectName(name));
        beans.remove(name);
      }
    }
  }

  @Override
  public void close() throws JMException {
    drop("");
  }
}
