package io.helenus.agent.sources;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** What a Cassandra in this JVM says of itself. */
public final class Cassandra {
  private Cassandra() {}

  /** Its release, such as 5.0.5; null where there is no Cassandra, or none yet. */
  public static String version() {
    try {
      ObjectName service = new ObjectName("org.apache.cassandra.db:type=StorageService");
      return String.valueOf(
          ManagementFactory.getPlatformMBeanServer().getAttribute(service, "ReleaseVersion"));
    } catch (JMException | RuntimeException e) {
      return null;
    }
  }
}
