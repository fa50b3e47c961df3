package io.helenus.agent.valves;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/** How long the JVM has stood for collections since it began. */
final class GcTime {
  private final List<GarbageCollectorMXBean> collectors =
      ManagementFactory.getGarbageCollectorMXBeans();

  /** To the ms; collections that run beside the threads do not count. */
  long ms() {
    long ms = 0;
    for (GarbageCollectorMXBean collector : collectors) {
      boolean beside =
          collector.getName().endsWith("Cycles") || collector.getName().contains("Concurrent");
      ms += beside ? 0 : Math.max(0, collector.getCollectionTime());
    }
    return ms;
  }
}
