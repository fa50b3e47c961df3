package io.helenus.agent.probes;

import io.helenus.agent.crossing.Crossings;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Measures the cost of metering one call on this machine. */
final class Calibration {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int CALLS = 20_000;
  private static final int ROUNDS = 10;

  private Calibration() {}

  /**
   * The cost of one metered call, ns of CPU time: that of the fastest round, when the code was
   * compiled and nothing came between. Takes about 10 ms of this thread.
   */
  static double costNs(Crossings crossings) {
    int number = crossings.timedNumber();
    crossings.site(
        number, new Probe("calibration", number, crossings.groups(), false, false), null);
    double bestNs = Double.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long start = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < CALLS; i++) {
        crossings.enter(number);
        crossings.exit(number);
      }
      bestNs = Math.min(bestNs, (double) (THREADS.getCurrentThreadCpuTime() - start) / CALLS);
    }
    crossings.site(number, null, null);
    return bestNs;
  }
}
