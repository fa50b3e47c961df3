package io.helenus.agent.valves.law;

/**
 * Count, mean and variance of values, updated one value at a time (Welford, Note on a method for
 * calculating corrected sums of squares and products, Technometrics 4, 1962).
 */
final class RunningStatistics {
  private int count;
  private double mean;
  private double squares;

  void add(double figure) {
    count++;
    double off = figure - mean;
    mean += off / count;
    squares += off * (figure - mean);
  }

  int count() {
    return count;
  }

  double mean() {
    return mean;
  }

  /** The variance of the figures; 0 with fewer than two. */
  double variance() {
    return count < 2 ? 0 : squares / (count - 1);
  }

  /** The variance divided by the square of the mean, which must be above 0. */
  double relativeVariance() {
    return variance() / Math.max(1e-24, mean * mean);
  }

  /** The square root of {@link #relativeVariance}. */
  double relativeDeviation() {
    return Math.sqrt(relativeVariance());
  }

  double deviation() {
    return Math.sqrt(variance());
  }
}
