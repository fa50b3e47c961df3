package io.helenus.agent.control;

/**
 * Reference count of this agent's class loader, held by the connection to a recorder and by the
 * control with its valves and probes, which may outlive that connection. The last release closes
 * the class loader.
 */
public final class LoaderReferences {
  private static int count;

  private LoaderReferences() {}

  public static synchronized void retain() {
    count++;
  }

  public static synchronized void release() throws Exception {
    count--;
    ClassLoader loader = LoaderReferences.class.getClassLoader();
    if (count == 0 && loader instanceof AutoCloseable) {
      ((AutoCloseable) loader).close();
    }
  }
}
