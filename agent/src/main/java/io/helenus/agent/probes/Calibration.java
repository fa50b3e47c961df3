package io.helenus.agent.probes;

import io.helenus.agent.dispatch.Dispatcher;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Measures the cost of metering one call on this machine. */
final class Calibration {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int CALLS = 20_000;
  private static final int ROUNDS = 10;

  private Calibration() {}

  /**
   * The cost of one metered call, in ns of CPU time: the fastest of several rounds, with compiled
   * code and without interruption. Takes about 10 ms of this thread.
   */
  static double costNs(Dispatcher dispatcher) {
    int number = dispatcher.timedNumber();
    dispatcher.register(
        number, new Probe("calibration", number, dispatcher.groups(), false, false), null);
    double bestNs = Double.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long start = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < CALLS; i++) {
        dispatcher.enter(number);
        dispatcher.exit(number);
      }
      bestNs = Math.min(bestNs, (double) (THREADS.getCurrentThreadCpuTime() - start) / CALLS);
    }
    dispatcher.unregister(number);
    return bestNs;
  }
}
