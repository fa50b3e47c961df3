package io.helenus.agent.valves.law;

/**
 * By how much the mean of one sample is above that of another, as the logarithm of their ratio, and
 * how sure that is.
 *
 * <p>With a variance v = (deviation / mean)² of the figures about their mean, which for small ones
 * is that of the logarithm of the mean, it is Welch's test for samples of unlike variance: {@code
 * se² = v1/n1 + v2/n2}, with {@code df = se⁴ / ((v1/n1)²/(n1-1) + (v2/n2)²/(n2-1))} degrees of
 * freedom (Welch, The generalization of Student's problem when several different population
 * variances are involved, Biometrika 34, 1947). Figures of neighbouring windows are alike, so that
 * n of them say less than n: se² grows by the inflation that a {@link History} finds.
 */
final class Difference {
  /**
   * A difference to one side that chance alone makes once in 400 times; a trial looks again at each
   * window, which makes it more.
   */
  static final double SURE = 2.807;

  /** No server is as even as a handful of windows may look. */
  private static final double LEAST_DEVIATION = 0.004;

  private static final double TINY = 1e-12;

  /** The logarithm of the ratio of the means. */
  final double mean;

  /** Its standard error. */
  final double error;

  /** How far the true one may be from it, to each side. */
  final double margin;

  private Difference(double mean, double error, double margin) {
    this.mean = mean;
    this.error = error;
    this.margin = margin;
  }

  /**
   * @param inflation of the variance, see {@link History#inflation}; at least 1
   */
  static Difference between(Sample one, Sample other, double inflation) {
    double least = LEAST_DEVIATION * LEAST_DEVIATION;
    double relative1 = one.relativeVariance();
    double relative2 = other.relativeVariance();
    // A few figures may lie close together by chance; those of the other sample tell how far they
    // scatter as a rule.
    double variance1 = Math.max(least, Math.max(relative1, relative2 / 4));
    double variance2 = Math.max(least, Math.max(relative2, relative1 / 4));
    double share1 = variance1 / Math.max(1, one.count());
    double share2 = variance2 / Math.max(1, other.count());
    double square = share1 + share2;
    double freedom =
        square
            * square
            / (share1 * share1 / Math.max(1, one.count() - 1)
                + share2 * share2 / Math.max(1, other.count() - 1));
    double ratio = Math.max(TINY, one.mean()) / Math.max(TINY, other.mean());
    double error = Math.sqrt(square * inflation);
    return new Difference(Math.log(ratio), error, error * quantile(SURE, freedom));
  }

  /** The same with so much more to be added to the one, a logarithm that is known. */
  Difference plus(double more) {
    return new Difference(mean + more, error, margin);
  }

  /** Whether the one is above the other by more than chance would have it. */
  boolean above() {
    return mean > margin;
  }

  /** Whether the one is below the other by more than chance would have it. */
  boolean below() {
    return mean < -margin;
  }

  /**
   * Student's quantile from the normal one, by the first terms of its expansion in 1/df (Fisher and
   * Cornish, Technometrics 2, 1960); good to 2 % from 3 degrees of freedom on.
   */
  private static double quantile(double normal, double freedom) {
    double df = Math.max(2, freedom);
    double cube = normal * normal * normal;
    double fifth = cube * normal * normal;
    return normal
        + (cube + normal) / (4 * df)
        + (5 * fifth + 16 * cube + 3 * normal) / (96 * df * df);
  }
}
