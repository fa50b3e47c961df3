package io.helenus.agent.valves;

/** How a limit is made to hold: by a gate at methods, or by the size of a stage's pool. */
interface Enforcement {
  /** Makes this the limit; {@link Gate#OPEN} is none. */
  void limit(int limit);

  /** Sets the terms for calls that find no room from now on; no effect at a stage. */
  void terms(Settings settings);

  /** How many are inside now. */
  int inside();

  /** How many wait now. */
  int waiting();

  /** How many are in the stage besides, as far as is known: where they are does not show here. */
  int elsewhere();

  Reading read();

  /** Changes when a request leaves, for the watchdog; cheaper than a reading. */
  long passed();

  /** Leaves all as it was before the valve. */
  void remove();
}
