package io.helenus.agent;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * The entry point of the agent, and the class loader of its other classes. The server's class path
 * loads only this class and {@link Hook}, and both stay loaded after a detach.
 *
 * <p>Each start makes a loader of the jar whose parent is the JDK's platform loader. So the agent
 * sees neither the server's classes nor its libraries, the server sees none of the agent's, and the
 * whole agent is garbage after a detach. A JVM that once had an older agent keeps the older Entry,
 * so keep this class small. {@code jar=PATH} in the options names the agent's jar; by default it is
 * the jar of this class.
 */
public final class Entry extends ClassLoader implements AutoCloseable {
  private static final String AGENT = "io.helenus.agent.core.Agent";

  /** Options with which the agent starts nothing. */
  private static final String READY = "ready";

  private final JarFile jar;

  private Entry(File jar) throws IOException {
    super("helenus-agent", getPlatformClassLoader());
    this.jar = new JarFile(jar, false, JarFile.OPEN_READ, Runtime.version());
  }

  /**
   * Called by the JVM for {@code -javaagent:helenus-agent.jar=OPTIONS}. With {@value #READY}
   * nothing else has to be done: the JVM has loaded an agent that may retransform classes, so it
   * tracks which compiled code depends on which class, and weaving a class later deoptimizes only
   * that code.
   */
  public static void premain(String options, Instrumentation instrumentation) {
    if (!READY.equals(options)) {
      start(options, instrumentation);
    }
  }

  /** Called by the JVM when the jar is attached to a running server. */
  public static void agentmain(String options, Instrumentation instrumentation) {
    start(options, instrumentation);
  }

  private static void start(String options, Instrumentation instrumentation) {
    try {
      Class.forName(AGENT, true, new Entry(jar(options)))
          .getMethod("start", String.class, Instrumentation.class)
          .invoke(null, options, instrumentation);
    } catch (Throwable e) {
      // An exception that left premain would end the server.
      Throwable why = e.getCause() == null ? e : e.getCause();
      System.err.println("helenus agent: not started: " + why);
    }
  }

  private static File jar(String options) throws Exception {
    for (String option : String.valueOf(options).split(",")) {
      if (option.startsWith("jar=")) {
        return new File(option.substring("jar=".length()));
      }
    }
    return new File(Entry.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  /**
   * Defines a class of the agent in the protection domain of this class. Up to JDK 23 a thread
   * keeps the domains of all code that led to its start; so JFR's threads, which stay, would keep
   * the agent's loader through a domain of its own.
   */
  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    JarEntry entry = jar.getJarEntry(name.replace('.', '/') + ".class");
    if (entry == null) {
      throw new ClassNotFoundException(name);
    }
    try (InputStream in = jar.getInputStream(entry)) {
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length, Entry.class.getProtectionDomain());
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  /** Opens a file of the jar: the agent has no other resources. */
  @Override
  public InputStream getResourceAsStream(String name) {
    JarEntry entry = jar.getJarEntry(name);
    try {
      return entry == null ? null : jar.getInputStream(entry);
    } catch (IOException e) {
      return null;
    }
  }

  /** Closes the jar. Classes that are not loaded by now can't be loaded any more. */
  @Override
  public void close() throws IOException {
    jar.close();
  }
}
