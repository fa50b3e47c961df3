package io.helenus.agent.valves.law;

import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which limit to try next.
 *
 * <p>A search goes its legs in order. First whether no limit is as good as the one that holds, as
 * what was won with a few there may cost half of what many could do; then far fewer at once, by the
 * geometric mean of the least and of those inside, since what there is to be won shows the most
 * there, also when fewer still were plainly worse, if collections take much now, as they were tried
 * on an emptier heap; upwards by doubling from what was won; downwards by halving, until it hurts,
 * through ties, since there may be a gain below a plateau, unless few at once were plainly worse;
 * again, and longer, what looked promising but was not sure; then a step of 2^½ to both sides of
 * the best, and of those what looked promising. At last no limit is tried once more, unless it was
 * plainly worse: a limit has to prove itself.
 *
 * <p>What is explored later, when all legs are done, goes far away too, so that no local optimum is
 * for good.
 */
final class Route {
  private enum Leg {
    OPEN,
    FEW,
    UP,
    DOWN,
    PROMISING,
    REFINE,
    POLISH,
    PROOF,
    DONE
  }

  /** A settled limit needs a larger gain to move than a search does, by this ratio. */
  private static final double HYSTERESIS = 1.5;

  /** A server that does half as well is not going to do better with fewer still. */
  private static final double HOPELESS = Math.log(0.5);

  /** Standard errors that are beyond doubt when several limits were compared. */
  private static final double SURE = 3;

  /** Standard errors that need no second trial at once: later exploration repeats it. */
  private static final double PLAIN = 2;

  /** With fewer inside, by that ratio to the least limit, halving is soon there. */
  private static final double MANY = 16;

  /** From one time that something is explored to the next a server drifts so far, a logarithm. */
  private static final double DRIFT = 0.02;

  /** Limits are next to each other below that ratio. */
  private static final double NEXT = 2.1;

  /** How a limit did against the one that holds, as a logarithm. */
  private static final class Known {
    double mean;

    /** Infinite as long as nothing is known. */
    double error = Double.POSITIVE_INFINITY;

    int promises;

    /** The weight of the last trial in it; 0 when what it was compared with is known for good. */
    double ofLast;

    Known() {}

    Known(double mean, double error) {
      this.mean = mean;
      this.error = error;
    }

    /** Whether it is below the one that holds by more than a standard error. */
    boolean hurts() {
      return mean < -error;
    }

    /** A server drifts, and what was known of it is worth less. */
    void age() {
      error = Math.hypot(error, DRIFT);
    }

    /** Weighs both by their errors. */
    void add(Difference other) {
      double before = 1 / (error * error);
      double now = 1 / (other.error * other.error);
      mean = (mean * before + other.mean * now) / (before + now);
      error = 1 / Math.sqrt(before + now);
      ofLast = now / (before + now);
    }
  }

  /** More than a step to the side gains hardly ever, as a logarithm. */
  private static final double SIDE = 0.2;

  /** Half as far as this from a peak less is lost than is worth moving for. */
  private static final double STEP = Math.sqrt(2);

  private final int min;
  private final int max;
  private final double worth;

  private final Map<Integer, Known> known = new TreeMap<>();
  private Leg leg = Leg.OPEN;
  private int below;
  private int lowest;
  private int piled;
  private double piledInside;
  private int sides;
  private boolean upwards;
  private int explored;
  private double inside;
  private double resolution;
  private boolean collects;
  private boolean fewAreAsGood;

  /** The limit that holds is better than none by what a full heap is yet to take. */
  private boolean foretold;

  Route(int min, int max, double worth) {
    this.min = min;
    this.max = max;
    this.lowest = min;
    this.worth = worth;
  }

  /** Forgets all, for another workload or for more of the same. */
  void restart() {
    known.clear();
    leg = Leg.OPEN;
    below = 0;
    lowest = min;
    sides = 0;
    fewAreAsGood = false;
    foretold = false;
  }

  /** Looks again around the limit that holds, for something else. */
  void again() {
    known.clear();
    leg = Leg.DOWN;
    below = 0;
    sides = 0;
  }

  /**
   * The next trial of the search, or null when it is done.
   *
   * @param home the limit that holds
   * @param inside the mean number inside
   * @param resolution the least difference that a stretch of windows can show, as a logarithm
   * @param collects whether collections may be why a server does more with fewer
   */
  Trial next(int home, double inside, double resolution, boolean collects) {
    look(inside);
    this.resolution = resolution;
    this.collects = collects;
    Trial trial = null;
    while (trial == null && leg != Leg.DONE) {
      Leg gone = leg;
      trial = ofLeg(home);
      if (trial == null || gone == Leg.PROOF) {
        leg = Leg.values()[gone.ordinal() + 1];
      }
    }
    return trial;
  }

  private Trial ofLeg(int home) {
    switch (leg) {
      case OPEN:
        return home < max && !known.containsKey(max)
            ? trial(max, 2, worth, "whether no limit is as good")
            : null;
      case FEW:
        return inside > MANY * lowest && (collects || !fewerAreWorse(few(home)))
            ? fewAtOnce(home)
            : null;
      case UP:
        return home < max ? unknown(Math.min(max, home * 2), home, 1, "twice as many") : null;
      case DOWN:
        return down(home);
      case PROMISING:
      case POLISH:
        return promising();
      case REFINE:
        return refine(home);
      default:
        return home < max && !foretold && !isPlainlyWorse(max) ? proof() : null;
    }
  }

  /** Whether few at once were neither better nor worse. */
  boolean fewAreAsGood() {
    return fewAreAsGood;
  }

  /** Whether the trial that comes next may follow without going back first. */
  boolean goesOn() {
    return leg == Leg.DOWN;
  }

  /** A trial ended that did not move the limit. */
  void stayed(Trial.Verdict verdict) {
    if (leg == Leg.FEW) {
      leg = Leg.UP;
      fewAreAsGood = verdict == Trial.Verdict.EQUAL;
    } else if (leg == Leg.UP) {
      leg = Leg.DOWN;
    } else if (leg == Leg.DOWN && verdict == Trial.Verdict.WORSE) {
      leg = Leg.PROMISING;
    } else if (leg == Leg.REFINE) {
      upwards = !upwards;
      sides++;
    }
  }

  /**
   * Whether all trials of no limit together leave it open that it is as good, by half a standard
   * error: with less doubt a limit would stay for good, with more an uneven server loses one that
   * is better.
   */
  boolean asGoodWithout() {
    Known as = known.get(max);
    return as == null || as.mean + as.error / 2 > -worth / 2;
  }

  /** Whether all trials of a limit together show what none of them could show alone. */
  boolean proven(int limit) {
    Known as = known.get(limit);
    return as != null && as.mean > worth && as.mean > SURE * as.error;
  }

  /** A limit at which those who came piled up: it and what is below it is not tried again. */
  void piledUp(int limit) {
    piled = Math.max(piled, Math.min(max, limit + 1));
    piledInside = inside;
    lowest = Math.max(lowest, piled);
  }

  /** Takes note of how many are inside; with many more than when they piled up, all is open. */
  private void look(double inside) {
    this.inside = inside;
    lowest = inside < 2 * piledInside ? Math.max(lowest, piled) : lowest;
  }

  /**
   * Whether nothing is to be hoped for between a limit and one far below: it looks no better than
   * the one that holds, and fewer still are plainly worse.
   */
  private boolean isAboveWorse(int limit) {
    Known as = known.get(limit);
    return as != null && as.mean < worth && fewerAreWorse(limit);
  }

  private boolean fewerAreWorse(int limit) {
    return known.keySet().stream().anyMatch(fewer -> fewer < limit && isPlainlyWorse(fewer));
  }

  private boolean isPlainlyWorse(int limit) {
    Known as = known.get(limit);
    return as != null && as.mean < -worth && as.mean < -PLAIN * as.error;
  }

  /** The limit that was tried is the one that holds now, and the other is known by that trial. */
  void moved(Trial trial, int left) {
    foretold = left == max ? trial.yetToCome() > 0 : foretold && trial.challenger < max;
    Known as = known.get(trial.challenger);
    double gain = as == null ? 0 : as.mean;
    double error = as == null ? 0 : as.error;
    for (Known other : known.values()) {
      other.mean -= gain;
      other.error = Math.hypot(other.error, error);
    }
    known.put(left, new Known(-gain, error));
    sides = 0;
    if (leg == Leg.OPEN) {
      leg = Leg.FEW;
    } else if (leg == Leg.FEW) {
      leg = Leg.UP;
    } else if (leg == Leg.PROMISING || leg == Leg.DONE) {
      leg = Leg.REFINE;
    }
  }

  /**
   * By how much the last trials did better than was known of them, since the limit that holds was
   * measured again; a logarithm.
   */
  void compareAnew(double better) {
    for (Known as : known.values()) {
      as.mean += as.ofLast * better;
      as.ofLast = 0;
    }
  }

  /** The likely loss of a trial of a limit, as a share: 0 to 1. */
  double likelyLoss(int limit) {
    return likelyLoss(limit, 0.3);
  }

  private double likelyLoss(int limit, double unknown) {
    Known as = known.get(limit);
    return as == null ? unknown : Math.max(0, -Math.expm1(as.mean));
  }

  /** The share by which the limit that holds is better than none, as far as is known; 0 to 1. */
  double gain() {
    return likelyLoss(max, 0);
  }

  /** Something to try when the search is done. */
  Trial explore(int home, double inside) {
    look(inside);
    explored++;
    known.values().forEach(Known::age);
    Trial first =
        home < max && explored % 4 == 0 ? proof() : explored % 2 == 1 ? hopeful() : far(home);
    return first != null ? first : explored % 2 == 1 ? far(home) : hopeful();
  }

  /** Whether some limit looks better than the one that holds, without being sure. */
  boolean promises() {
    return known.values().stream().anyMatch(as -> as.mean > worth);
  }

  private Trial proof() {
    return trial(max, 3, worth, "whether no limit is as good");
  }

  private Trial fewAtOnce(int home) {
    Trial trial = unknown(few(home), home, 2, "few at once");
    if (trial != null) {
      trial.isEarly();
    }
    return trial;
  }

  /** As many halvings below the limit that holds as come the nearest to the geometric mean. */
  private int few(int home) {
    double ratio = home / Math.sqrt(lowest * inside);
    long halvings = Math.round(Math.log(ratio) / Math.log(2));
    return clamp((int) Math.round(home / Math.pow(2, halvings)));
  }

  private Trial down(int home) {
    int from = below == 0 ? home : Math.min(home, below);
    if (below == 0 && inside < home / 1.5) {
      // A limit that does not bind makes no difference: the first to try is just below those
      // inside.
      from = (int) Math.ceil(1.6 * inside);
    }
    if (from < home && isAboveWorse(from)) {
      return null;
    }
    below = Math.max(lowest, from / 2);
    // It was tried as few at once, and did no worse.
    if (below > lowest && known.containsKey(below) && !known.get(below).hurts()) {
      below = Math.max(lowest, below / 2);
    }
    return below < home && from > lowest ? unknown(below, home, 1, "half as many") : null;
  }

  /** A limit that did better than it could be sure of. */
  private Trial promising() {
    int best = -1;
    for (Map.Entry<Integer, Known> entry : known.entrySet()) {
      Known as = entry.getValue();
      boolean hopes = as.mean > worth && as.promises == 0;
      if (hopes && (best < 0 || amongNeighbours(entry.getKey()) > amongNeighbours(best))) {
        best = entry.getKey();
      }
    }
    if (best < 0) {
      return null;
    }
    known.get(best).promises++;
    return trial(best, 4, worth, "it looked better");
  }

  /**
   * How a limit did, in the mean with half as much of what those next to it did: the best of
   * several uncertain figures is mostly chance, and what a server does changes little from one to
   * the next.
   */
  private double amongNeighbours(int limit) {
    double sum = 0;
    double weights = 0;
    for (Map.Entry<Integer, Known> entry : known.entrySet()) {
      double apart = Math.max(limit, entry.getKey()) / (double) Math.min(limit, entry.getKey());
      if (apart < NEXT) {
        Known as = entry.getValue();
        double weight = (apart == 1 ? 1 : 0.5) / (as.error * as.error);
        sum += weight * as.mean;
        weights += weight;
      }
    }
    return sum / weights;
  }

  /** The limit with the highest upper bound, if it is worth it (UCB: Auer and others, 2002). */
  private Trial hopeful() {
    int best = -1;
    double bestBound = worth;
    for (Map.Entry<Integer, Known> entry : known.entrySet()) {
      double bound = entry.getValue().mean + 2 * entry.getValue().error;
      // A limit whose trial needs the heap to fill is tried more rarely.
      boolean fills = foretold && entry.getKey() == max;
      if (bound > bestBound && !fills) {
        best = entry.getKey();
        bestBound = bound;
      }
    }
    return best < 0 ? null : trial(best, 2, HYSTERESIS * worth, "it may be better");
  }

  /** The middle of the widest gap between limits that something is known of, by their ratio. */
  private Trial far(int home) {
    TreeSet<Integer> marks = new TreeSet<>(known.keySet());
    marks.add(home);
    marks.add(max);
    double widest = 1.2;
    int limit = home;
    int lower = Math.max(1, lowest / 2);
    for (int mark : marks.tailSet(lowest)) {
      int middle = clamp((int) Math.round(Math.sqrt((double) lower * mark)));
      if (mark / (double) lower > widest && middle >= lowest && middle != mark) {
        widest = mark / (double) lower;
        limit = middle;
      }
      lower = mark;
    }
    return limit == home ? null : unknown(limit, home, 1, "far from what is known");
  }

  private Trial refine(int home) {
    if (resolution > SIDE) {
      return null;
    }
    while (sides < 2) {
      int limit = scaled(home, upwards ? STEP : 1 / STEP);
      Trial trial = limit == home ? null : unknown(limit, home, 1, "a step to the side");
      if (trial != null) {
        return trial;
      }
      upwards = !upwards;
      sides++;
    }
    return null;
  }

  /** A trial of a limit that nothing is known of yet, and that makes a difference. */
  private Trial unknown(int limit, int home, int stretches, String why) {
    return known.containsKey(limit) || Math.min(limit, home) > 1.5 * inside + 2
        ? null
        : trial(limit, stretches, worth, why);
  }

  private Trial trial(int limit, int stretches, double worth, String why) {
    return new Trial(limit, stretches, worth, leg != Leg.DONE, why);
  }

  /** A limit times a factor, different from it by one at least where there is room. */
  private int scaled(int limit, double factor) {
    int scaled = (int) Math.round(limit * factor);
    return clamp(scaled == limit ? limit + (factor > 1 ? 1 : -1) : scaled);
  }

  private int clamp(int limit) {
    return Math.max(lowest, Math.min(max, limit));
  }

  /** A trial ended; what it says is added to what is known. */
  void remember(Trial trial, int home) {
    if (trial.windows() == 0) {
      return;
    }
    Difference difference = trial.difference();
    known.computeIfAbsent(trial.challenger, limit -> new Known()).add(difference);
    if (difference.mean < HOPELESS && trial.challenger < home) {
      lowest = Math.max(lowest, trial.challenger + 1);
    }
  }
}
