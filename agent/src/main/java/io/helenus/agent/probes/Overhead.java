package io.helenus.agent.probes;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Which probes are to be switched off, so that all of them together stay below a bound: calls per
 * second times what metering one call costs, as a share of all CPUs.
 *
 * <p>Those go first that tell least for what they cost: whose inherent time per call is below a
 * threshold, the most often called first. If that does not do, others follow in the order of their
 * inherent time per call.
 */
final class Overhead {
  /** The bound on the overhead, which the adaptation has to keep. */
  static final class Bound {
    /** All probes together at most, as a share of all CPUs, 0 to 1. */
    final double share;

    /** Below this inherent time per call a probe is no hotspot, ns. */
    final long thresholdNs;

    final int cpus;

    Bound(double share, long thresholdNs, int cpus) {
      this.share = share;
      this.thresholdNs = thresholdNs;
      this.cpus = cpus;
    }
  }

  /** The activity of a probe in the last second. */
  static final class Use {
    final int number;
    final double callsPerS;
    final double inherentNs;

    /**
     * @param inherentNs per call
     */
    Use(int number, double callsPerS, double inherentNs) {
      this.number = number;
      this.callsPerS = callsPerS;
      this.inherentNs = inherentNs;
    }
  }

  private Overhead() {}

  /** The share of all CPUs that metering takes. */
  static double share(List<Use> uses, double costNs, int cpus) {
    return uses.stream().mapToDouble(use -> use.callsPerS).sum() * costNs / 1e9 / cpus;
  }

  /** The numbers of those to switch off, each with the reason. */
  static Map<Integer, String> tooMuch(List<Use> uses, double costNs, Bound bound) {
    List<Use> order = new ArrayList<>(uses);
    order.sort(
        Comparator.<Use>comparingInt(use -> use.inherentNs < bound.thresholdNs ? 0 : 1)
            .thenComparingDouble(
                use -> use.inherentNs < bound.thresholdNs ? -use.callsPerS : use.inherentNs));
    double share = share(uses, costNs, bound.cpus);
    Map<Integer, String> off = new LinkedHashMap<>();
    for (Use use : order) {
      if (share <= bound.share) {
        break;
      }
      if (use.callsPerS > 0) {
        off.put(use.number, reason(use, share, bound));
        share -= share(List.of(use), costNs, bound.cpus);
      }
    }
    return off;
  }

  private static String reason(Use use, double share, Bound bound) {
    return String.format(
        Locale.ROOT,
        "%.0f calls/s of %.0f ns inherent each, %s the threshold of %d ns, when all probes took"
            + " %.2f %% of the CPUs and %.2f %% are allowed",
        use.callsPerS,
        use.inherentNs,
        use.inherentNs < bound.thresholdNs ? "below" : "above",
        bound.thresholdNs,
        share * 100,
        bound.share * 100);
  }
}
