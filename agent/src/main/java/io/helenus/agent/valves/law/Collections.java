package io.helenus.agent.valves.law;

/** Whether garbage collections take so much of the time that a limit may matter for them. */
final class Collections {
  /** Share of the time from which on they do. */
  private static final double MUCH = 0.1;

  private static final double OVER_NS = 5e9;

  private double observedNs;
  private double share;
  private boolean matter;

  void add(Window window) {
    observedNs = Math.min(OVER_NS, observedNs + window.lengthNs());
    share += window.lengthNs() / observedNs * (window.gcShare - share);
  }

  boolean matter() {
    return matter;
  }

  /** Whether they matter now and did not when the search began. */
  boolean haveComeToMatter() {
    return !matter && observedNs > 1e9 && share > MUCH;
  }

  /** A search begins. */
  void restart() {
    matter = share > MUCH;
  }

  /** Where collections are rare, one that falls into a window says nothing of the limit. */
  boolean spoil(Window window) {
    return !matter && window.gcShare > MUCH;
  }
}
