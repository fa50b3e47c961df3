package io.helenus.agent.valves;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;

/**
 * Measures the bytes that collections promote from the young to the old generation.
 *
 * <p>Promoted objects are held by calls that are inside, or live long. They fill the old generation
 * until it is collected, too.
 */
final class Promotion {
  private final MemoryPoolMXBean old;
  private long before;

  Promotion() {
    this(oldGeneration());
  }

  /**
   * @param old null where the collector has no old generation
   */
  Promotion(MemoryPoolMXBean old) {
    this.old = old;
    begin();
  }

  private static MemoryPoolMXBean oldGeneration() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getName().matches(".*(Old|Tenured) Gen(eration)?"))
        .findFirst()
        .orElse(null);
  }

  void begin() {
    before = old == null ? 0 : old.getUsage().getUsed();
  }

  /**
   * The share of its capacity by which the old generation has grown since; 0 where it was collected
   * meanwhile and has shrunk, NaN where there is none.
   */
  double share() {
    if (old == null) {
      return Double.NaN;
    }
    MemoryUsage usage = old.getUsage();
    long capacity = usage.getMax() > 0 ? usage.getMax() : usage.getCommitted();
    return Math.max(0, usage.getUsed() - before) / (double) Math.max(1, capacity);
  }
}
