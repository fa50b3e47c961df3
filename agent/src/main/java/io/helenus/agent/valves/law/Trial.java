package io.helenus.agent.valves.law;

/**
 * One limit measured against the one that holds: stretches of windows at the one and at the other
 * in turn, until it is plain which is better or it does not pay to go on.
 */
final class Trial {
  /** How a trial ended, or that it has not. */
  enum Verdict {
    OPEN,
    BETTER,
    EQUAL,
    WORSE
  }

  /** Windows in a stretch. */
  static final int STRETCH = 8;

  /** A stretch at what looks better is that many times as long: it costs nothing. */
  private static final int LONGER = 3;

  /** With fewer windows than these nothing is called better. */
  private static final int FEWEST = 4;

  /**
   * A smaller difference needs more than one stretch: drift from one stretch to the next does not
   * show within a stretch.
   */
  private static final double PLAIN = 0.15;

  /**
   * Gain over a whole stretch, with {@link #LIKELY} standard errors, at which a search stays at the
   * tried limit without further proof: the way back would cost throughput.
   */
  private static final double LIKELY_GAIN = 0.1;

  private static final double LIKELY = 1.5;

  /** A share of the time by which collections take plainly less of it, and by how many errors. */
  private static final double PLAINLY = 1.5;

  private static final double LESS_PAUSED = 0.05;

  /** With so much of the old generation per second, and by so many errors, it begins to fill. */
  private static final double BEGINS_TO_FILL = 0.001;

  private static final double PLAINLY_FILLS = 2;

  /** Standard errors that count as more, if only a doubt depends on it. */
  private static final double MORE = 0.5;

  /** At least a third of the calls that are there is seen, as a logarithm. */
  private static final double SEEN = Math.log(3);

  final int challenger;

  /** The reason for the trial, for people. */
  final String why;

  /** The least ratio, as a logarithm, that is worth moving for. */
  private final double worth;

  private final int mostStretches;
  private final boolean searching;
  private final Measured tried = new Measured();
  private Measured home = new Measured();
  private boolean isMean;
  private int homeLimit;
  private int homeWindows;
  private int stretches;
  private int begun;
  private double inflation = 1;

  /** Why it was broken off; null while it goes on. */
  private String hurt;

  private int stretch = STRETCH;
  private double fills = Heap.FILLS;

  /**
   * @param searching whether a search waits for it, or it has time
   */
  Trial(int challenger, int mostStretches, double worth, boolean searching, String why) {
    this.challenger = challenger;
    this.searching = searching;
    this.mostStretches = mostStretches;
    this.worth = worth;
    this.why = why;
  }

  /**
   * Sets the recent results of the limit that holds, for comparison.
   *
   * @param limit what it is
   * @param isMean of the score, see {@link Objective#isMean}
   * @param inflation of the variance of scores, see {@link History#inflation}
   */
  void compareWith(int limit, Measured home, boolean isMean, double inflation) {
    this.homeLimit = limit;
    this.home = home;
    this.isMean = isMean;
    this.inflation = inflation;
  }

  /** The same, for as long as it is not yet what it will be: then only that it is worse counts. */
  Trial beforehand() {
    Trial beforehand = new Trial(challenger, 1, worth, searching, why);
    beforehand.compareWith(homeLimit, home, isMean, inflation);
    return beforehand;
  }

  /** A window at the limit that holds. */
  void addHome(double score, double rate, Window window) {
    home.add(score, rate, window);
    homeWindows++;
  }

  /** A window at the limit tried. */
  void add(double score, double rate, Window window) {
    tried.add(score, rate, window);
  }

  /** Lets a limit count that has only begun to fill the old generation. */
  void isEarly() {
    fills = BEGINS_TO_FILL;
  }

  /** It takes long to get there: then it pays to stay for twice as long. */
  void isFar() {
    stretch = 2 * STRETCH;
  }

  /** Whether no search waits for it. */
  boolean hasTime() {
    return !searching;
  }

  /** Something happened that is reason enough to stop. */
  void hurt(String why) {
    hurt = why;
  }

  /** Whether the stretch at the limit tried is over. */
  boolean stretchDone() {
    int windows = windows() - begun;
    return windows >= (mostStretches > 1 && looksBetter() ? LONGER : 1) * stretch;
  }

  boolean looksBetter() {
    if (windows() == 0) {
      return false;
    }
    Difference difference = difference();
    return difference.mean > worth && difference.mean > difference.error;
  }

  /** Whether the stretch at the limit that holds is over, too. */
  boolean homeStretchDone() {
    return homeWindows >= stretch * (stretches + 1);
  }

  void nextStretch() {
    stretches++;
    begun = windows();
  }

  /**
   * By how much the tried limit is better. Calls that wait at a lower limit are seen; calls that
   * waited elsewhere without the limit may not have been. Suppose that some call always waits at
   * the lower limit, and that fewer than three times as many calls seem to be there as at the other
   * limit. Then the load is taken for a closed loop with equally many clients at both limits, and
   * the mean response is shorter by the gain in throughput (Little's law, 1961). Otherwise, if the
   * lower limit completes more, its score does not make that limit worse.
   */
  Difference difference() {
    return seen().plus(yetToCome());
  }

  /** The same without what is yet to come. */
  private Difference seen() {
    Difference score = Difference.between(tried.scores, home.scores, inflation);
    Difference rate = Difference.between(tried.rates, home.rates, inflation);
    boolean lower = challenger < homeLimit;
    boolean sameClients = Math.abs(score.mean - rate.mean) < SEEN;
    if (isMean && sameClients && (lower ? tried : home).queued.mean() == 1) {
      return rate;
    }
    boolean lowerHasMore = (lower ? rate.mean : -rate.mean) > MORE * rate.error;
    return lowerHasMore && score.mean < rate.mean == lower ? rate : score;
  }

  private Difference rate() {
    return Difference.between(tried.rates, home.rates, inflation).plus(yetToCome());
  }

  /**
   * The time that collections of a full heap will take at the higher of the two limits and not at
   * the lower, as a logarithm. If the young generation has no room for the objects of the calls
   * inside, they are promoted to the old one, at almost no cost until the old one is full. Objects
   * that requests leave there for good, as writes do, are as many per request at any limit. A
   * search does not wait for a full heap; a trial with time does ({@link Heap#isFilling}).
   */
  double yetToCome() {
    boolean lower = challenger < homeLimit;
    Measured high = lower ? home : tried;
    Measured low = lower ? tried : home;
    double asMuchDone = high.rates.mean() / low.rates.mean();
    double more = high.promoted.mean() - asMuchDone * low.promoted.mean();
    double square = meanVariance(high.promoted, low.promoted);
    square += asMuchDone * asMuchDone * meanVariance(low.promoted, high.promoted);
    if (searching && more > fills && more > PLAINLY_FILLS * Math.sqrt(square)) {
      double left = Math.max(0, Heap.FULL - high.pauses.mean());
      return lower ? left : -left;
    }
    return 0;
  }

  int windows() {
    return tried.windows();
  }

  /**
   * @param least how far below those at the limit that holds the completions per second may be, as
   *     a logarithm of their ratio
   */
  Verdict verdict(double least) {
    if (hurt != null) {
      return Verdict.WORSE;
    }
    if (windows() == 0) {
      return Verdict.OPEN;
    }
    Difference difference = difference();
    if (farBelow(difference) || rateTooLow(least)) {
      return Verdict.WORSE;
    }
    if (windows() < FEWEST) {
      return Verdict.OPEN;
    }
    boolean plain = stretches > 0 || Math.abs(difference.mean) > PLAIN;
    if (plain && keeps(least) && difference.above() && difference.mean > worth) {
      return Verdict.BETTER;
    }
    if (plain && difference.below() && difference.mean < -worth / 2) {
      return Verdict.WORSE;
    }
    if (!stretchDone()) {
      return Verdict.OPEN;
    }
    if (isLikely(least)) {
      return Verdict.BETTER;
    }
    boolean over = stretches + 1 >= mostStretches;
    return over || (!awaitsHome() && isHopeless()) ? Verdict.EQUAL : Verdict.OPEN;
  }

  /** Whether it is good enough for a search after a whole stretch. */
  private boolean isLikely(double least) {
    Difference difference = difference();
    boolean likely =
        difference.mean > Math.max(LIKELY_GAIN, LIKELY * difference.error)
            || (pausesLess() && promises(difference))
            || (yetToCome() > 0 && difference.mean > 0);
    return searching && likely && keeps(least);
  }

  /**
   * Whether it is good enough when the limit that holds has been looked at again, after a whole
   * stretch of it.
   */
  boolean isLikelyAfter(double least) {
    return hurt == null && windows() >= stretch && isLikely(least);
  }

  /**
   * Where it takes long to get there, the server may drift meanwhile, and home is looked at again.
   */
  private boolean awaitsHome() {
    return stretches == 0 && stretch > STRETCH && challenger < homeLimit;
  }

  /** Whether it is not likely to be better by enough. */
  boolean isHopeless() {
    Difference difference = difference();
    return difference.mean + 1.5 * difference.error < worth;
  }

  /**
   * Whether collections take less of the time, by more than chance hardly ever makes. They are why
   * a server does more with fewer inside, who hold less of its heap, so that it takes less to
   * believe it. With more they are fewer for as long as it is being filled.
   */
  private boolean pausesLess() {
    double less = fewerPauses();
    double square = meanVariance(tried.pauses, home.pauses);
    square += home.pauses.variance() / home.pauses.count();
    boolean lower = challenger < homeLimit;
    return lower && less > LESS_PAUSED && less > PLAINLY * Math.sqrt(square);
  }

  /**
   * The square of a mean's error. A few figures may lie close together by chance; those of the
   * other sample tell how far they scatter as a rule.
   */
  private static double meanVariance(Sample of, Sample other) {
    return Math.max(of.variance(), other.variance() / 4) / of.count();
  }

  /**
   * Whether it is better by what was seen and by the time that collections leave to it together,
   * each weighed with how sure it is: the time may be worth as much as it is, or nothing, or twice
   * as much.
   */
  private boolean promises(Difference difference) {
    double seen = difference.mean / (difference.error * difference.error);
    return seen + 1 / fewerPauses() > 0;
  }

  /** The share of the time that collections take at the limit that holds, and not at this one. */
  private double fewerPauses() {
    return home.pauses.mean() - tried.pauses.mean();
  }

  /** How much better the limit tried did, or why it was broken off, for people. */
  String says() {
    if (hurt != null || windows() == 0) {
      return hurt;
    }
    String better = String.format("%+.0f %%", 100 * Math.expm1(seen().mean));
    if (yetToCome() != 0) {
      return String.format(
          "%s, filling %.1f %% of the old generation per second and not %.1f",
          better, 100 * tried.promoted.mean(), 100 * home.promoted.mean());
    }
    return pausesLess()
        ? String.format(
            "%s, collections took %.0f %% of the time and not %.0f",
            better, 100 * tried.pauses.mean(), 100 * home.pauses.mean())
        : better;
  }

  /** Whether the limit is so much worse that one window is enough, or two. */
  private boolean farBelow(Difference difference) {
    double scatter = Math.max(0.02, home.scores.relativeDeviation());
    double bound = windows() == 1 ? Math.max(0.35, 6 * scatter) : Math.max(PLAIN, 3 * scatter);
    return difference.mean < -bound && (windows() == 1 || difference.below());
  }

  /** Whether as many completed per second as there have to. */
  boolean keeps(double least) {
    return more() >= least;
  }

  private boolean rateTooLow(double least) {
    Difference rate = rate();
    return windows() >= FEWEST && rate.mean + 2.5 * rate.error < least;
  }

  /** How many more completed per second than at the limit that holds, as a logarithm. */
  double more() {
    return rate().mean;
  }

  /** The same by a standard error less, and nothing as long as a stretch is not over. */
  double surelyMore() {
    return windows() < STRETCH ? 0 : rate().mean - rate().error;
  }
}
