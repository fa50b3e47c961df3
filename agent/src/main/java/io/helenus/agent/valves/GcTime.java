package io.helenus.agent.valves;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/** Time that garbage collections have stopped the JVM since it started. */
final class GcTime {
  private final List<GarbageCollectorMXBean> collectors =
      ManagementFactory.getGarbageCollectorMXBeans();

  /** Total time in ms. Concurrent collections do not count. */
  long ms() {
    long ms = 0;
    for (GarbageCollectorMXBean collector : collectors) {
      boolean isConcurrent =
          collector.getName().endsWith("Cycles") || collector.getName().contains("Concurrent");
      ms += isConcurrent ? 0 : Math.max(0, collector.getCollectionTime());
    }
    return ms;
  }
}
