package io.helenus.agent.probes;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Optional measures of probes: CPU time and allocation. Each costs more than clock time. */
public final class Measures {
  private static final int CALLS = 200;

  public final boolean cpu;
  public final boolean allocation;

  public Measures(boolean cpu, boolean allocation) {
    this.cpu = cpu;
    this.allocation = allocation;
  }

  /** The cost of these measures per metered call, ns: each is read at entry and exit. */
  double costNs() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    long start = System.nanoTime();
    for (int i = 0; i < 2 * CALLS; i++) {
      if (cpu) {
        threads.getCurrentThreadCpuTime();
      }
      if (allocation) {
        threads.getThreadAllocatedBytes(id);
      }
    }
    return cpu || allocation ? (double) (System.nanoTime() - start) / CALLS : 0;
  }
}
