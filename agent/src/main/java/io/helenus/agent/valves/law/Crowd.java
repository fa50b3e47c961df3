package io.helenus.agent.valves.law;

/**
 * How many could be inside if there were no limit, and whether that is many more than when a search
 * began: then what it found was for others. Those who would wait even so make no difference to any
 * limit.
 */
final class Crowd {
  /** At least so many of the last windows are of the many that have come. */
  static final int NOTICED = Trial.STRETCH / 2;

  /** Growth that counts when it lasts for a stretch of windows, a ratio. */
  private static final double MANY_MORE = 1.5;

  /** Growth that counts when it lasts for half a stretch, a ratio. */
  private static final double VERY_MANY_MORE = 3 * MANY_MORE;

  /** Growth that never counts, however few there were, in calls. */
  private static final int FEW = 4;

  private final int max;

  /** How many there were when the search began; 0 until that is known. */
  private double then;

  Crowd(int max) {
    this.max = max;
  }

  /** A new search begins. */
  void clear() {
    then = 0;
  }

  /** It has learned what the limit that holds does, with those who were there meanwhile. */
  void learned(History history) {
    then = then == 0 ? mean(history) : then;
  }

  /**
   * The limit moved. Calls that wait at a limit are counted; calls that waited elsewhere without
   * the limit may not have been.
   */
  void moved(History history) {
    then = Math.max(then, mean(history));
  }

  /** Whether there have been many more for some time. */
  boolean hasMultiplied(History history) {
    return then > 0
        && (hasBeen(MANY_MORE, Trial.STRETCH, history)
            || hasBeen(VERY_MANY_MORE, NOTICED, history));
  }

  private boolean hasBeen(double times, int windows, History history) {
    double many = times * (then + FEW);
    Sample are = history.figures(windows, window -> couldBeInside(window) > many ? 1 : 0);
    return are.count() >= windows && are.mean() == 1;
  }

  private double mean(History history) {
    return history.figures(this::couldBeInside).mean();
  }

  private double couldBeInside(Window window) {
    return Math.min(max, window.there());
  }
}
