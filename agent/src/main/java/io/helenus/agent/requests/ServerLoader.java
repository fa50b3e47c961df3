package io.helenus.agent.requests;

import io.helenus.agent.Entry;
import java.io.IOException;
import java.io.InputStream;

/**
 * Loads the classes of the package {@code netty}, which extend classes of the server's libraries.
 * It finds those in the server's loader, and the agent's classes in the agent's. It is garbage
 * together with the agent.
 */
final class ServerLoader extends ClassLoader {
  private static final String AGENT = "io.helenus.agent.";
  private static final String OURS = ServerLoader.class.getPackageName() + ".netty.";

  ServerLoader(ClassLoader server) {
    super("helenus-agent-requests", server);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      if (name.startsWith(OURS)) {
        Class<?> known = findLoadedClass(name);
        return known == null ? findClass(name) : known;
      }
    }
    // The server's class path may have an Entry of another version.
    return name.startsWith(AGENT)
        ? ServerLoader.class.getClassLoader().loadClass(name)
        : super.loadClass(name, resolve);
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    String file = name.replace('.', '/') + ".class";
    try (InputStream in = ServerLoader.class.getClassLoader().getResourceAsStream(file)) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length, Entry.class.getProtectionDomain());
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
