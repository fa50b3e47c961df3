package io.helenus.agent.attached;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;

/**
 * The load in the target: threads that make requests and check each answer. They pause now and
 * then, so that a tool that attaches finds a free CPU.
 */
public final class Work {
  private static final int THREADS = 8;
  private static final int REQUESTS_BETWEEN_PAUSES = 50;
  private static final long PAUSE_NS = 1_000_000;
  private static final AtomicLong DONE = new AtomicLong();
  private static final AtomicLong FAILED = new AtomicLong();
  private static volatile long sink;

  /** An MBean of an agent whose commands have another version. */
  public interface OtherMBean {
    String getVersion();
  }

  private Work() {}

  static void begin() {
    for (int i = 0; i < THREADS; i++) {
      Thread thread = new Thread(Work::serve, "Work-" + i);
      thread.setDaemon(true);
      thread.start();
    }
  }

  private static void serve() {
    for (int n = 0; ; n = (n + 1) % 1000) {
      try {
        if (request(n, "r") != n + 1) {
          FAILED.incrementAndGet();
        }
      } catch (Throwable e) {
        if (n % 7 != 0 || !"seventh".equals(e.getMessage())) {
          FAILED.incrementAndGet();
        }
      }
      DONE.incrementAndGet();
      if (n % REQUESTS_BETWEEN_PAUSES == 0) {
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  static long request(int n, String name) {
    long sum = 0;
    for (int i = 0; i < 50; i++) {
      sum += step(i);
    }
    sink = sum;
    if (n % 7 == 0) {
      throw new IllegalStateException("seventh");
    }
    return name == null ? 0 : n + 1L;
  }

  static int step(int i) {
    return i * 31;
  }

  static synchronized void locked() {}

  static long done() {
    return DONE.get();
  }

  static long failed() {
    return FAILED.get();
  }

  static Map<String, Object> attributes(ObjectName name) throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    Map<String, Object> values = new TreeMap<>();
    for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
      values.put(attribute.getName(), server.getAttribute(name, attribute.getName()));
    }
    return values;
  }

  static void registerResidentOfAnotherVersion() throws Exception {
    ManagementFactory.getPlatformMBeanServer()
        .registerMBean(
            new StandardMBean((OtherMBean) () -> "0", OtherMBean.class),
            new ObjectName("io.helenus:type=Control"));
  }
}
