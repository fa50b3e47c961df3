package io.helenus.agent.tuning;

import io.helenus.agent.points.Refusal;
import java.lang.management.ManagementFactory;
import javax.management.Attribute;
import javax.management.AttributeNotFoundException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/** Access to Cassandra's MBeans; errors carry the node's own message. */
public final class Beans {
  public static final String STORAGE = "org.apache.cassandra.db:type=StorageService";
  public static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

  private Beans() {}

  public static ObjectName name(String name) {
    try {
      return new ObjectName(name);
    } catch (MalformedObjectNameException e) {
      throw new Refusal(name + " names no MBean", "see agent/PROTOCOL.md");
    }
  }

  /**
   * @throws Refusal if the attribute does not exist or can't be read
   */
  public static Object get(ObjectName bean, String attribute) {
    try {
      return SERVER.getAttribute(bean, attribute);
    } catch (InstanceNotFoundException | AttributeNotFoundException e) {
      throw new Refusal(
          "there is no " + attribute + " of " + bean + " in this node",
          "Cassandra 4.0, 4.1 and 5.0 have it once they are up, a stage with its first task");
    } catch (JMException | RuntimeException e) {
      throw new Refusal(attribute + " can't be read: " + words(e), "see the log of the node");
    }
  }

  /** The attribute's value; null if it does not exist or can't be read. */
  public static Object getOrNull(ObjectName bean, String attribute) {
    try {
      return SERVER.getAttribute(bean, attribute);
    } catch (JMException | RuntimeException e) {
      return null;
    }
  }

  static void set(ObjectName bean, String attribute, Object value) {
    try {
      SERVER.setAttribute(bean, new Attribute(attribute, value));
    } catch (JMException | RuntimeException e) {
      throw new Refusal("the node refuses: " + words(e), "nothing has changed");
    }
  }

  /**
   * @param types types of the arguments, as the operation declares them
   * @return the operation's result
   * @throws Refusal in the node's own words
   */
  public static Object invoke(ObjectName bean, String operation, Object[] with, String... types) {
    try {
      return SERVER.invoke(bean, operation, with, types);
    } catch (JMException | RuntimeException e) {
      throw new Refusal(operation + " failed: " + words(e), "see the log of the node");
    }
  }

  /** The message of the innermost cause. */
  static String words(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause.getMessage() == null ? cause.toString() : cause.getMessage();
  }
}
