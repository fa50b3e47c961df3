package io.helenus.agent.valves.law;

/** The figure that a search maximizes. */
interface Objective {
  /**
   * The score of a window, above 0; a higher score is better, by its ratio. NaN if the window has
   * none.
   */
  double score(Window window);

  /** The least share of the best throughput seen that a limit must keep; 0 asks for none. */
  double floor();

  /** How long after a change of the limit windows still show the time before it, ns. */
  double lagNs(Window window);

  /** How many requests should leave in a measurement: with fewer its rate is mostly noise. */
  default double perWindow() {
    return 60;
  }
}
