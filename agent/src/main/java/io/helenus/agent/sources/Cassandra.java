package io.helenus.agent.sources;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** Facts that a Cassandra node reports of itself, in this JVM or over JMX. */
public final class Cassandra {
  static final String STORAGE_SERVICE = "org.apache.cassandra.db:type=StorageService";

  private Cassandra() {}

  /** The release, such as 5.0.5; null if no Cassandra has started in this JVM. */
  public static String version() {
    Object version = attribute(STORAGE_SERVICE, "ReleaseVersion");
    return version == null ? null : version.toString();
  }

  /** Whether the node has joined its ring and answers queries. */
  static boolean isUp() {
    return Boolean.TRUE.equals(attribute(STORAGE_SERVICE, "Initialized"));
  }

  /** The value of an attribute of an MBean, of any type; null if there is none. */
  static Object attribute(String bean, String attribute) {
    try {
      return Mbeans.connection().getAttribute(new ObjectName(bean), attribute);
    } catch (JMException | IOException | RuntimeException e) {
      return null;
    }
  }

  /** The class loader of the server's classes; null if this JVM runs no Cassandra. */
  public static ClassLoader loader() {
    if (Mbeans.areRemote()) {
      return null;
    }
    try {
      return ManagementFactory.getPlatformMBeanServer()
          .getClassLoaderFor(new ObjectName(STORAGE_SERVICE));
    } catch (JMException e) {
      return null;
    }
  }
}
