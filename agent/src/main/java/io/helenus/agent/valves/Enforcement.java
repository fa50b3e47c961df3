package io.helenus.agent.valves;

/** Enforces a limit: by a gate at methods, or by the size of a stage's pool. */
interface Enforcement {
  /** Sets the limit; {@link Gate#OPEN} for none. */
  void limit(int limit);

  /** Sets how long calls wait and whether they are then refused; no effect at a stage. */
  void policy(Settings settings);

  /** Number of requests inside now. */
  int inside();

  /** Number of requests waiting now. */
  int waiting();

  /**
   * Number of further requests of the same stage, neither inside nor waiting here; 0 if unknown.
   */
  int elsewhere();

  ValveTotals read();

  /** Requests that have left so far, for the watchdog; cheaper than {@link #read}. */
  long left();

  /** Undoes what the valve changed. */
  void remove();
}
