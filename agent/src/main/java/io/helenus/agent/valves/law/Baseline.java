package io.helenus.agent.valves.law;

/** Performance under the incumbent limit: exponentially weighted means over its last windows. */
final class Baseline {
  private static final double WEIGHT = 0.25;

  /** Completions per second. */
  double rate;

  /** Requests inside, waiting and elsewhere. */
  double there;

  double inside;

  /** Share of requests that failed or were refused. */
  double badShare;

  /** How long its windows were altogether, ns. */
  long lengthNs;

  void add(Window window) {
    double weight = lengthNs == 0 ? 1 : WEIGHT;
    lengthNs += window.lengthNs();
    rate += weight * (window.completedPerS() - rate);
    there += weight * (window.there() - there);
    inside += weight * (window.inFlight - inside);
    badShare += weight * (window.badShare() - badShare);
  }

  /** Whether many more requests are there than usual. */
  boolean isExceeded(Window window, double times) {
    return window.there() > times * there + 4;
  }
}
