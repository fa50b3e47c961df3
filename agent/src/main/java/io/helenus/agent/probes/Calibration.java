package io.helenus.agent.probes;

import io.helenus.agent.crossing.Crossings;

/** What it costs to meter one call on this machine. */
final class Calibration {
  private static final int CALLS = 20_000;
  private static final int ROUNDS = 10;

  private Calibration() {}

  /**
   * The cost of one metered call, ns: that of the fastest round, when the code was compiled and
   * nothing came between. Takes about 10 ms of this thread.
   */
  static double costNs(Crossings crossings) {
    int number = crossings.number();
    crossings.site(
        number, new Probe("calibration", number, crossings.groups(), false, false), null);
    double bestNs = Double.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      for (int i = 0; i < CALLS; i++) {
        crossings.enter(number);
        crossings.exit(number);
      }
      bestNs = Math.min(bestNs, (double) (System.nanoTime() - start) / CALLS);
    }
    crossings.site(number, null, null);
    return bestNs;
  }
}
