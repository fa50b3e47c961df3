package io.helenus.agent.valves.law;

/**
 * A candidate limit measured against the incumbent, in blocks of four windows: candidate,
 * incumbent, incumbent, candidate.
 *
 * <p>A block gives one log ratio, {@code (c1 - i2 - i3 + c4) / 2} of the logarithms, from which a
 * server that becomes steadily faster or slower cancels out. A {@link PairedTest} judges them.
 */
final class Trial {
  enum Verdict {
    OPEN,
    BETTER,
    NO_BETTER
  }

  private static final int WINDOWS = 4;
  private static final int MOST_BLOCKS = 8;

  final int candidate;

  /**
   * The throughput that the candidate's windows have cost so far, in seconds of the incumbent's
   * throughput.
   */
  double costS;

  private final double gain;
  private final PairedTest scores = new PairedTest();
  private final PairedTest rates = new PairedTest();
  private int windows;
  private double score;
  private double rate;

  /**
   * @param gain the least mean log ratio of scores that is better
   */
  Trial(int candidate, double gain) {
    this.candidate = candidate;
    this.gain = gain;
  }

  /** Whether the next window runs at the candidate limit. */
  boolean isCandidateNext() {
    int place = windows % WINDOWS;
    return place == 0 || place == WINDOWS - 1;
  }

  /** Adds a window of the limit that was next: the logarithms of its score and completions/s. */
  void add(double logScore, double logRate) {
    int sign = isCandidateNext() ? 1 : -1;
    score += sign * logScore / 2;
    rate += sign * logRate / 2;
    windows++;
    if (windows % WINDOWS == 0) {
      scores.add(score);
      rates.add(rate);
      score = 0;
      rate = 0;
    }
  }

  /**
   * The verdict after a block; open within one.
   *
   * @param leastRate the least mean log ratio of completions/s
   */
  Verdict verdict(double leastRate) {
    if (windows == 0 || windows % WINDOWS != 0) {
      return Verdict.OPEN;
    }
    if (rates.mean() < leastRate) {
      return Verdict.NO_BETTER;
    }
    if (scores.mean() > Math.max(gain, scores.margin())) {
      return Verdict.BETTER;
    }
    boolean hopeless = scores.mean() + scores.error() < gain;
    if (!hopeless && scores.count() < MOST_BLOCKS) {
      return Verdict.OPEN;
    }
    return Verdict.NO_BETTER;
  }

  /** The mean log ratio of completions per second. */
  double rate() {
    return rates.mean();
  }

  /** The result as text. */
  @Override
  public String toString() {
    return String.format(
        "%+.0f %% ± %.0f in %d blocks",
        100 * Math.expm1(scores.mean()), 100 * scores.margin(), scores.count());
  }
}
