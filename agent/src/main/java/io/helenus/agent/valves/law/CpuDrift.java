package io.helenus.agent.valves.law;

/**
 * How much of what a server does follows from how fast its CPUs are, so that a limit is not taken
 * for better or worse because another guest of the host came or went.
 *
 * <p>On a shared host a core does half as much again in one second as in another, without any time
 * that would count as stolen. Within stretches at one limit the completions per second of the time
 * that collections leave are laid over the speed, both as logarithms: {@code share = Σ xy / (Σ x² +
 * s)}, of deviations x and y from what they were in the seconds before, 0 to 1 (the analysis of
 * covariance: Fisher, Statistical Methods for Research Workers, 4th edition, 1932; with {@code s}
 * for what is not known, as in ridge regression: Hoerl and Kennard, Technometrics 12, 1970). A
 * server that does not keep its CPUs busy follows their speed little, and what is compared is then
 * what it did.
 */
final class CpuDrift {
  /** Deviations are from the mean of about so long. */
  private static final double MEAN_OF_NS = 4e9;

  /** Time over which observations decay, ns. */
  private static final double KEPT_NS = 60e9;

  /** As if so much had been seen that shows nothing: fifty windows that are 3 % apart. */
  private static final double UNKNOWN = 0.05;

  private static final double MOST_PAUSED = 0.9;

  private int limit;
  private double speedMean;
  private double rateMean;
  private double products;
  private double squares;

  /** The share in use; fixed until learned again, so that compared windows are corrected alike. */
  private double share;

  private double usual = Double.NaN;

  /** Takes note of a window in which a limit has settled. */
  void add(Window window) {
    if (window.cpuSpeed <= 0 || window.completed == 0) {
      return;
    }
    double speed = Math.log(window.cpuSpeed);
    double going = 1 - Math.min(MOST_PAUSED, window.gcShare);
    double rate = Math.log(window.completedPerS() / going);
    if (window.limit != limit) {
      limit = window.limit;
      speedMean = speed;
      rateMean = rate;
      return;
    }
    double kept = Math.exp(-window.lengthNs() / KEPT_NS);
    double faster = speed - speedMean;
    products = kept * products + faster * (rate - rateMean);
    squares = kept * squares + faster * faster;
    double weight = -Math.expm1(-window.lengthNs() / MEAN_OF_NS);
    speedMean += weight * faster;
    rateMean += weight * (rate - rateMean);
  }

  /** From now on what was seen until now is what windows are compared by. */
  void learn() {
    share = Math.max(0, Math.min(1, products / (squares + UNKNOWN)));
    usual = Double.isNaN(usual) ? speedMean : usual;
  }

  /** How much was to be expected of a window for the speed alone; 1 for as much as at first. */
  double pace(Window window) {
    return window.cpuSpeed <= 0 || Double.isNaN(usual)
        ? 1
        : Math.exp(share * (Math.log(window.cpuSpeed) - usual));
  }
}
