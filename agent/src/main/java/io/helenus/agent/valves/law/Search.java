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
 *   another load:  forget all and search again
 * </pre>
 *
 * <p>The mean is that of the n log ratios of the blocks, see {@link Trial}; margin(n) and s are
 * those of {@link PairedTest}. So a limit is taken only for a gain that is shown. No limit, which
 * is max, is taken when no loss is shown.
 */
final class Search implements Law {
  private static final double MOST_COST_S = 0.25;

  /** More errors at a candidate than usual, a share, that end a trial. */
  private static final double MORE_ERRORS = 0.02;

  /** Before the first trial the incumbent is measured that long. */
  private static final long LEARN_NS = 500_000_000;

  private static final long WINDOW_NS = 125_000_000;

  /** A measurement is that long at most, and where collections matter. */
  private static final long MEASURES_NS = 1_000_000_000;

  /** A measurement with fewer requests says nothing. */
  private static final int FEWEST = 5;

  private final Objective objective;
  private final int max;
  private final double gain;
  private final Ladder ladder;
  private final LoadChangeDetector load = new LoadChangeDetector();
  private final Collections collections = new Collections();
  private final Settling settling = new Settling();
  private final Backoff backoff = new Backoff();

  /** Candidates that were lost under this load. */
  private final Set<Integer> lost = new HashSet<>();

  /** Candidates that were judged in this search. */
  private final Set<Integer> judged = new HashSet<>();

  private Baseline usual = new Baseline();
  private int incumbent;
  private int limit;
  private boolean settles;

  /** The windows of a measurement so far, as one; null before the first. */
  private Window measured;

  /** Null between searches. */
  private Trial trial;

  /** By how much the incumbent's throughput is below the best, a logarithm. */
  private double forgone;

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
    return settles ? Settling.WINDOW_NS : WINDOW_NS;
  }

  @Override
  public Decision next(Window window) {
    collections.add(window);
    if (collections.haveComeToMatter()) {
      restart(window, "collections have come to matter");
    } else if (window.limit == limit) {
      take(window);
    }
    return new Decision(limit, reason);
  }

  private void take(Window window) {
    if (tries() && isLost(window)) {
      lost.add(trial.candidate);
      trial = null;
      change(window, incumbent);
    } else if (settles) {
      settle(window);
    } else if (!collections.spoil(window)) {
      measured = measured == null ? window : measured.and(window);
      if (isEnough(measured)) {
        Window whole = measured;
        measured = null;
        measure(whole);
      }
    }
  }

  private boolean isEnough(Window measured) {
    boolean enough = measured.left() >= objective.perWindow() && !collections.matter();
    return enough || measured.lengthNs() >= MEASURES_NS;
  }

  /** Whether the candidate holds now, and not the incumbent. */
  private boolean tries() {
    return trial != null && trial.isCandidateNext();
  }

  private boolean isLost(Window window) {
    trial.costS += window.lengthNs() / 1e9 - window.completed / usual.rate;
    boolean queues = usual.isExceeded(window, 2) && window.completedPerS() < usual.rate;
    return queues || trial.costS > MOST_COST_S || window.badShare() > usual.badShare + MORE_ERRORS;
  }

  private void settle(Window window) {
    boolean backlog = !tries() && usual.isExceeded(window, 1.5);
    if (!tries() && !backlog) {
      limit = incumbent;
    }
    double heapNs = collections.matter() ? Settling.HEAP_NS : 0;
    settles = !settling.isOver(window, Math.max(objective.lagNs(window), heapNs), backlog);
  }

  private void measure(Window window) {
    double score = Math.log(objective.score(window));
    if (!tries()) {
      usual.add(window);
      if (load.changed(window)) {
        incumbent = window.left() < FEWEST ? max : incumbent;
        restart(window, "the load changed");
        return;
      }
    }
    if (window.left() < FEWEST || !Double.isFinite(score)) {
      return;
    }
    if (trial == null) {
      if (backoff.isOver(window.endNs) && usual.lengthNs >= LEARN_NS) {
        proceed(window);
      }
      return;
    }
    trial.add(score, Math.log(window.completedPerS()));
    judge(window);
  }

  private void judge(Window window) {
    double leastRate = Math.log(objective.floor()) + forgone;
    switch (trial.verdict(leastRate, trial.candidate == max)) {
      case BETTER:
        move(window);
        break;
      case NO_BETTER:
        judged.add(trial.candidate);
        proceed(window);
        break;
      default:
        change(window, tries() ? trial.candidate : incumbent);
    }
  }

  /** Begins the next trial, or a pause. */
  private void proceed(Window window) {
    trial = null;
    for (int candidate : ladder.around(incumbent, usual.inside)) {
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
    forgone = Math.max(0, forgone - trial.rate());
    measureAgain(window);
  }

  private void restart(Window window, String why) {
    reason = why + ": searching again";
    collections.restart();
    backoff.restart();
    lost.clear();
    judged.clear();
    forgone = 0;
    measureAgain(window);
  }

  private void measureAgain(Window window) {
    trial = null;
    usual = new Baseline();
    load.restart();
    change(window, incumbent);
  }

  /** After a trial, what has queued up enters with at most twice as many inside as usual. */
  private void change(Window window, int target) {
    int most = target == incumbent && usual.lengthNs > 0 ? (int) Math.ceil(2 * usual.inside) : max;
    int next = Math.min(target, Math.max(limit, most));
    if (next != limit) {
      limit = next;
      settles = true;
      measured = null;
      settling.begin(window.endNs);
    }
  }
}
