package io.helenus.agent.valves.law;

/** The figure that a search maximizes. */
interface Objective {
  /**
   * How good a window was: more is better, by ratio; above 0. Not a number if the window cannot
   * say.
   */
  double score(Window window);

  /** The least share of the best throughput seen that a limit must keep; 0 asks for none. */
  double floor();

  /** How long after a change of the limit a window still shows the time before, ns. */
  double lagNs(Window window);

  /** How many requests should have left in a measurement. */
  double perWindow();
}
