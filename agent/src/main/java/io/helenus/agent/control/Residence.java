package io.helenus.agent.control;

/**
 * Counts the users of this agent's class loader: the connection to a recorder, and the valves and
 * probes that outlive that connection. The last user to leave closes the class loader.
 */
public final class Residence {
  private static int residents;

  private Residence() {}

  public static synchronized void enter() {
    residents++;
  }

  public static synchronized void leave() throws Exception {
    residents--;
    ClassLoader loader = Residence.class.getClassLoader();
    if (residents == 0 && loader instanceof AutoCloseable) {
      ((AutoCloseable) loader).close();
    }
  }
}
