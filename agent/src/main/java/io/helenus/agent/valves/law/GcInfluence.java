package io.helenus.agent.valves.law;

/** Decides whether garbage collections take so much time that a limit may change their share. */
final class GcInfluence {
  /** Share of the time in collections from which on they are significant. */
  private static final double SIGNIFICANT_SHARE = 0.1;

  private static final double OVER_NS = 5e9;

  private double observedNs;
  private double share;
  private boolean isSignificant;

  void add(Window window) {
    observedNs = Math.min(OVER_NS, observedNs + window.lengthNs());
    share += window.lengthNs() / observedNs * (window.gcShare - share);
  }

  boolean isSignificant() {
    return isSignificant;
  }

  /** Whether collections are significant now and were not when the search began. */
  boolean becameSignificant() {
    return !isSignificant && observedNs > 1e9 && share > SIGNIFICANT_SHARE;
  }

  /** Decides again, at the start of a search. */
  void restart() {
    isSignificant = share > SIGNIFICANT_SHARE;
  }

  /**
   * Whether a rare collection falls into a window, so that the window says nothing about the limit.
   */
  boolean distorts(Window window) {
    return !isSignificant && window.gcShare > SIGNIFICANT_SHARE;
  }
}
