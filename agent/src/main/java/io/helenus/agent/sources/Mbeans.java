package io.helenus.agent.sources;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.PlatformManagedObject;
import java.util.List;
import javax.management.MBeanServerConnection;

/** Access to MBeans, of this JVM or over JMX. */
public final class Mbeans {
  private static volatile MBeanServerConnection connection =
      ManagementFactory.getPlatformMBeanServer();

  private static volatile boolean remote;

  private Mbeans() {}

  /** Reads MBeans over this connection from now on; must be called before any source is created. */
  public static void readFrom(MBeanServerConnection other) {
    connection = other;
    remote = true;
  }

  public static boolean areRemote() {
    return remote;
  }

  static MBeanServerConnection connection() {
    return connection;
  }

  /** The JVM's own beans of a kind. */
  static <T extends PlatformManagedObject> List<T> ofJvm(Class<T> kind) throws IOException {
    return remote
        ? ManagementFactory.getPlatformMXBeans(connection, kind)
        : ManagementFactory.getPlatformMXBeans(kind);
  }
}
