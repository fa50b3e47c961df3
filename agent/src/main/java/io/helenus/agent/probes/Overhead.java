package io.helenus.agent.probes;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Chooses which probes to switch off, so that the overhead of all stays below a bound. The overhead
 * is calls per second times the cost of metering one call, as a share of all CPUs.
 *
 * <p>Probes whose inherent time per call is below a threshold go first, the most called ones before
 * others. If the overhead is then still above the bound, the others follow by their inherent time
 * per call, the shortest first.
 */
final class Overhead {
  /** The limit on the overhead of all probes. */
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
  static final class Activity {
    final int number;
    final double callsPerS;
    final double inherentNs;

    /**
     * @param inherentNs per call
     */
    Activity(int number, double callsPerS, double inherentNs) {
      this.number = number;
      this.callsPerS = callsPerS;
      this.inherentNs = inherentNs;
    }
  }

  private Overhead() {}

  /** The share of all CPUs that metering takes. */
  static double share(List<Activity> activities, double costNs, int cpus) {
    return activities.stream().mapToDouble(activity -> activity.callsPerS).sum()
        * costNs
        / 1e9
        / cpus;
  }

  /** The numbers of the probes to switch off, each with the reason. */
  static Map<Integer, String> tooMuch(List<Activity> activities, double costNs, Bound bound) {
    List<Activity> order = new ArrayList<>(activities);
    order.sort(
        Comparator.<Activity>comparingInt(
                activity -> activity.inherentNs < bound.thresholdNs ? 0 : 1)
            .thenComparingDouble(
                activity ->
                    activity.inherentNs < bound.thresholdNs
                        ? -activity.callsPerS
                        : activity.inherentNs));
    double share = share(activities, costNs, bound.cpus);
    Map<Integer, String> off = new LinkedHashMap<>();
    for (Activity activity : order) {
      if (share <= bound.share) {
        break;
      }
      if (activity.callsPerS > 0) {
        off.put(activity.number, reason(activity, share, bound));
        share -= share(List.of(activity), costNs, bound.cpus);
      }
    }
    return off;
  }

  private static String reason(Activity activity, double share, Bound bound) {
    return String.format(
        Locale.ROOT,
        "%.0f calls/s of %.0f ns inherent each, %s the threshold of %d ns, when all probes took"
            + " %.2f %% of the CPUs and %.2f %% are allowed",
        activity.callsPerS,
        activity.inherentNs,
        activity.inherentNs < bound.thresholdNs ? "below" : "above",
        bound.thresholdNs,
        share * 100,
        bound.share * 100);
  }
}
