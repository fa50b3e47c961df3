package io.helenus.agent.executors;

import java.lang.reflect.Constructor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes threads of the same class as the server's own workers: Netty's FastThreadLocalThread if the
 * server has Netty.
 */
final class WorkerThreads implements ThreadFactory {
  private static final String NETTYS = "io.netty.util.concurrent.FastThreadLocalThread";

  private final String pool;
  private final ClassLoader server;
  private final AtomicInteger number = new AtomicInteger();

  WorkerThreads(String pool, ClassLoader server) {
    this.pool = pool;
    this.server = server;
  }

  @Override
  public Thread newThread(Runnable work) {
    String name = pool + "-helenus-" + number.incrementAndGet();
    Thread thread;
    try {
      Constructor<?> constructor =
          Class.forName(NETTYS, true, server).getConstructor(Runnable.class, String.class);
      thread = (Thread) constructor.newInstance(work, name);
    } catch (ReflectiveOperationException e) {
      thread = new Thread(work, name);
    }
    thread.setDaemon(true);
    thread.setContextClassLoader(server);
    return thread;
  }
}
