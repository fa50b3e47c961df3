package io.helenus.agent;

import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * Where the JVM hands over to the agent: the one class of ours that the server's own class path
 * ever loads, and the one that stays when the agent is gone.
 *
 * <p>It starts the real agent in a class loader of its own over the jar. That loader's parent is
 * the JDK's platform loader, so the agent sees neither the server's classes nor its libraries, the
 * server sees none of the agent's, and the whole agent is garbage after a detach. Because this
 * class stays, a JVM that once had an older agent keeps the older Entry: what it does must stay as
 * small as it is, and {@code jar=PATH} in the options says which jar to take the agent from.
 * Without it the agent comes from the jar that this class came from.
 */
public final class Entry {
  private static final String AGENT = "io.helenus.agent.core.Agent";

  private Entry() {}

  /** Called by the JVM for {@code -javaagent:helenus-agent.jar=OPTIONS}. */
  public static void premain(String options, Instrumentation instrumentation) {
    start(options, instrumentation);
  }

  /** Called by the JVM when the jar is attached to a running server. */
  public static void agentmain(String options, Instrumentation instrumentation) {
    start(options, instrumentation);
  }

  private static void start(String options, Instrumentation instrumentation) {
    try {
      URL[] jar = {jar(options)};
      ClassLoader loader =
          new URLClassLoader("helenus-agent", jar, ClassLoader.getPlatformClassLoader());
      Class.forName(AGENT, true, loader)
          .getMethod("start", String.class, Instrumentation.class)
          .invoke(null, options, instrumentation);
    } catch (Throwable e) {
      // An exception that left premain would end the server.
      System.err.println("helenus agent: not started: " + e);
    }
  }

  private static URL jar(String options) throws Exception {
    for (String option : String.valueOf(options).split(",")) {
      if (option.startsWith("jar=")) {
        return Path.of(option.substring("jar=".length())).toUri().toURL();
      }
    }
    return Entry.class.getProtectionDomain().getCodeSource().getLocation();
  }
}
