package io.helenus.agent.valves.law;

import java.util.HashSet;
import java.util.Set;

/**
 * Searches for the limit at which an objective is best.
 *
 * <pre>
 *   for each candidate of the ladder around the incumbent:
 *     blocks of candidate, incumbent, incumbent, candidate                  until it is
 *       better     mean &gt; gain, mean &gt; margin(n), throughput &gt;= floor * best    the new incumbent
 *       no better  mean + s / sqrt(n) &lt; gain, or 8 blocks
 *       lost       it cost MOST_COST_S of the incumbent's throughput,
 *                  errors or a growing queue                               not tried again
 *   none better:   pause, twice as long each time, and search again
 *   another load:  forget all, and search again from no limit, which is max
 * </pre>
 *
 * <p>The mean is that of the n log ratios of the blocks, see {@link Trial}; margin(n) and s are
 * those of {@link PairedTest}. So a limit is taken only for a gain that is shown.
 */
final class Search implements Law {
  private static final double MOST_COST_S = 0.25;

  /** A trial ends if the share of errors is above the baseline's by this much. */
  private static final double MORE_ERRORS = 0.02;

  /** How long the incumbent is measured before the first trial, ns. */
  private static final long LEARN_NS = 500_000_000;

  private static final long WINDOW_NS = 125_000_000;

  /**
   * The longest measurement. While collections are significant, all measurements have this length.
   */
  private static final long MEASURES_NS = 1_000_000_000;

  private final Objective objective;
  private final int max;
  private final double gain;
  private final Ladder ladder;
  private final LoadChangeDetector load = new LoadChangeDetector();
  private final GcInfluence gc = new GcInfluence();
  private final Settling settling = new Settling();
  private final Backoff backoff = new Backoff();

  /** Candidates whose trial was aborted under this load. */
  private final Set<Integer> lost = new HashSet<>();

  /** Candidates that were found no better in this search. */
  private final Set<Integer> judged = new HashSet<>();

  private Baseline baseline = new Baseline();
  private int incumbent;
  private int limit;
  private boolean isSettling;

  /** The windows of the current measurement, merged into one; null before the first window. */
  private Window measured;

  /** The current trial; null between searches. */
  private Trial trial;

  /** The log ratio of the best throughput seen to the incumbent's. */
  private double rateLoss;

  private String reason = "measuring without a limit";

  /** Reads {@code gain}. */
  Search(Objective objective, Parameters given, int min, int max) {
    this.objective = objective;
    this.max = max;
    this.incumbent = max;
    this.limit = max;
    this.gain = Math.log1p(given.number("gain", 0.03, 0.005, 0.5));
    this.ladder = new Ladder(min, max);
  }

  @Override
  public long windowNs() {
    return isSettling ? Settling.WINDOW_NS : WINDOW_NS;
  }

  @Override
  public Decision next(Window window) {
    gc.add(window);
    if (gc.becameSignificant()) {
      restart(window, "collections have come to matter");
    } else if (window.limit == limit) {
      take(window);
    }
    return new Decision(limit, reason);
  }

  private void take(Window window) {
    if (holdsCandidate() && isLost(window)) {
      lost.add(trial.candidate);
      trial = null;
      change(window, incumbent);
    } else if (isSettling) {
      settle(window);
    } else if (!gc.distorts(window)) {
      measured = measured == null ? window : measured.and(window);
      if (isEnough(measured)) {
        Window whole = measured;
        measured = null;
        measure(whole);
      }
    }
  }

  private boolean isEnough(Window measured) {
    boolean enough = measured.left() >= objective.perWindow() && !gc.isSignificant();
    return enough || measured.lengthNs() >= MEASURES_NS;
  }

  /** Whether the current limit is the candidate's, and not the incumbent's. */
  private boolean holdsCandidate() {
    return trial != null && trial.isCandidateNext();
  }

  private boolean isLost(Window window) {
    trial.costS += window.lengthNs() / 1e9 - window.completed / baseline.rate;
    boolean queues = baseline.isExceeded(window, 2) && window.completedPerS() < baseline.rate;
    return queues
        || trial.costS > MOST_COST_S
        || window.badShare() > baseline.badShare + MORE_ERRORS;
  }

  private void settle(Window window) {
    boolean backlog = !holdsCandidate() && baseline.isExceeded(window, 1.5);
    if (!holdsCandidate() && !backlog) {
      limit = incumbent;
    }
    double heapNs = gc.isSignificant() ? Settling.HEAP_NS : 0;
    isSettling = !settling.isOver(window, Math.max(objective.lagNs(window), heapNs), backlog);
  }

  private void measure(Window window) {
    double score = Math.log(objective.score(window));
    if (!holdsCandidate()) {
      baseline.add(window);
      if (load.changed(window)) {
        incumbent = max;
        restart(window, "the load changed");
        return;
      }
    }
    if (!Double.isFinite(score)) {
      return;
    }
    if (trial == null) {
      if (backoff.isOver(window.endNs) && baseline.lengthNs >= LEARN_NS) {
        proceed(window);
      }
      return;
    }
    trial.add(score, Math.log(window.completedPerS()));
    judge(window);
  }

  private void judge(Window window) {
    double leastRate = Math.log(objective.floor()) + rateLoss;
    switch (trial.verdict(leastRate)) {
      case BETTER:
        move(window);
        break;
      case NO_BETTER:
        judged.add(trial.candidate);
        proceed(window);
        break;
      default:
        change(window, holdsCandidate() ? trial.candidate : incumbent);
    }
  }

  /** Begins the next trial, or a pause. */
  private void proceed(Window window) {
    trial = null;
    for (int candidate : ladder.around(incumbent, baseline.inside)) {
      if (!judged.contains(candidate) && !lost.contains(candidate)) {
        trial = new Trial(candidate, gain);
        reason = "trying " + candidate + " against " + incumbent;
        change(window, candidate);
        return;
      }
    }
    backoff.begin(window.endNs);
    judged.clear();
    if (backoff.isLongest()) {
      lost.clear();
    }
    reason = incumbent == max ? "no limit: no candidate was better" : "no candidate was better";
    change(window, incumbent);
  }

  private void move(Window window) {
    reason = "moved to " + trial.candidate + ": " + trial;
    judged.add(incumbent);
    incumbent = trial.candidate;
    rateLoss = Math.max(0, rateLoss - trial.rate());
    measureAgain(window);
  }

  private void restart(Window window, String why) {
    reason = why + ": searching again";
    gc.restart();
    backoff.restart();
    lost.clear();
    judged.clear();
    rateLoss = 0;
    measureAgain(window);
  }

  private void measureAgain(Window window) {
    trial = null;
    baseline = new Baseline();
    load.restart();
    change(window, incumbent);
  }

  /**
   * Sets the limit for the measurements to come. After a trial, requests that have queued up enter
   * with at most twice as many inside as under the incumbent before.
   */
  private void change(Window window, int target) {
    int most =
        target == incumbent && baseline.lengthNs > 0 ? (int) Math.ceil(2 * baseline.inside) : max;
    int next = Math.min(target, Math.max(limit, most));
    if (next != limit) {
      limit = next;
      isSettling = true;
      measured = null;
      settling.begin(window.endNs);
    }
  }
}
