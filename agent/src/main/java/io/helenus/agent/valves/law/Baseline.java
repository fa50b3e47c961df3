package io.helenus.agent.valves.law;

/** Performance under the incumbent limit: exponentially weighted means over its last windows. */
final class Baseline {
  private static final double WEIGHT = 0.25;

  /** Completions per second. */
  double rate;

  /** Requests in the system: inside, waiting and elsewhere in the stage. */
  double inSystem;

  double inside;

  /** Share of requests that failed or were refused. */
  double badShare;

  /** The total length of its windows, ns. */
  long lengthNs;

  void add(Window window) {
    double weight = lengthNs == 0 ? 1 : WEIGHT;
    lengthNs += window.lengthNs();
    rate += weight * (window.completedPerS() - rate);
    inSystem += weight * (window.inSystem() - inSystem);
    inside += weight * (window.inFlight - inside);
    badShare += weight * (window.badShare() - badShare);
  }

  /** Whether a window has more requests in the system than the given multiple of the mean. */
  boolean isExceeded(Window window, double times) {
    return window.inSystem() > times * inSystem + 4;
  }
}
