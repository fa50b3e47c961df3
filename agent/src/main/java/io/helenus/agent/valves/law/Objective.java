package io.helenus.agent.valves.law;

/** The figure that a search maximizes. */
interface Objective {
  /**
   * How good a window was: more is better, by ratio; above 0. Not a number if the window cannot
   * say.
   */
  double score(Window window);

  /**
   * Whether of two limits the one that completes more is the better one by it, as long as as many
   * are there: so it is for a mean, and not for a percentile.
   */
  boolean isMean();

  /** The least share of the best throughput seen that a limit must keep; 0 asks for none. */
  double floor();

  /** Whether the limit with the most throughput is to be found first, and this from there. */
  boolean throughputFirst();

  /** How long after a change of the limit a window still shows the time before, ns. */
  double lagNs(Window window);

  /** How many must have left in a window for it to say something. */
  double perWindow();

  /** A score for people, with its unit. */
  String say(double score);
}
