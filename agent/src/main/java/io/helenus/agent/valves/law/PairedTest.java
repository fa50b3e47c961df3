package io.helenus.agent.valves.law;

/**
 * Sequential test of whether the mean of paired log ratios differs from 0.
 *
 * <pre>
 *   margin(n) = s / n * sqrt((n + 1) * ln((n + 1) / ALPHA²))
 * </pre>
 *
 * <p>The mean of n ratios stays within the margin of the true one for all n at once, with
 * probability 1 - {@link #ALPHA}: the test may be evaluated after each ratio, and stopped at any
 * time. It is the mixture sequential probability ratio test (Robbins, Statistical methods related
 * to the law of the iterated logarithm, Annals of Mathematical Statistics 41, 1970; Johari, Koomen,
 * Pekelis and Walsh, Always valid inference, Operations Research 70, 2022) with a normal mixture of
 * the ratios' own variance. That variance s² is estimated, with {@link #PRIOR_DEVIATION} as prior,
 * which makes the probability of an error half as large again.
 */
final class PairedTest {
  private static final double ALPHA = 0.1;

  /** Standard deviation expected of a ratio, and the number of ratios that this prior counts as. */
  private static final double PRIOR_DEVIATION = 0.08;

  private static final double PRIOR_WEIGHT = 3;

  private final RunningStatistics ratios = new RunningStatistics();

  /** Adds the logarithm of candidate / incumbent. */
  void add(double ratio) {
    ratios.add(ratio);
  }

  int count() {
    return ratios.count();
  }

  double mean() {
    return ratios.mean();
  }

  double error() {
    return deviation() / Math.sqrt(Math.max(1, count()));
  }

  double margin() {
    int n = count();
    return n == 0
        ? Double.POSITIVE_INFINITY
        : deviation() / n * Math.sqrt((n + 1) * Math.log((n + 1) / (ALPHA * ALPHA)));
  }

  private double deviation() {
    double prior = PRIOR_WEIGHT * PRIOR_DEVIATION * PRIOR_DEVIATION;
    int freedom = Math.max(0, count() - 1);
    return Math.sqrt((prior + freedom * ratios.variance()) / (PRIOR_WEIGHT + freedom));
  }
}
