package io.helenus.agent.valves.law;

/** The results of a limit, window by window, in the figures by which limits are compared. */
final class Measured {
  /** By the objective: more is better. */
  final Sample scores = new Sample();

  /** Completions per second, for the speed that the CPUs had. */
  final Sample rates = new Sample();

  /** The shares of windows that went into collections. */
  final Sample pauses = new Sample();

  /** The shares of the old generation that were filled per second. */
  final Sample promoted = new Sample();

  /** Whether somebody waited all the time, 1 or 0. */
  final Sample queued = new Sample();

  void add(double score, double rate, Window window) {
    scores.add(score);
    rates.add(rate);
    pauses.add(window.gcShare);
    promoted.add(window.promotedPerS);
    queued.add(window.queued());
  }

  int windows() {
    return scores.count();
  }
}
