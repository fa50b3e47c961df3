package io.helenus.agent.valves.law;

import java.util.ArrayDeque;

/**
 * Whether the workload is another than it was, seen at a limit that did not change.
 *
 * <p>The last {@value #RECENT} stretches of {@value #STRETCH_NS} ns or more are compared with those
 * before them in three figures: the logarithm of completions per second, the logarithm of the mean
 * time inside, and the number there altogether, inside and waiting. A figure has shifted when its
 * mean is off by more than its {@link #LEAST} and by more than {@value #SURE} standard errors, and
 * that of its older and of its newer half by the least, so that a dip is none; a server among
 * others on a host does a quarter more or less for seconds, and that is none either. How many wait
 * makes no difference while the limit binds: as many are inside. The correlation of neighbours
 * counts as in {@link Difference}. Older windows decay slowly, so that a slow drift is not a shift,
 * and their variance decays more slowly still.
 */
final class Shift {
  private static final int RECENT = 12;
  private static final long STRETCH_NS = 200_000_000;
  private static final int FEWEST_BEFORE = 10;
  private static final double FADE = 1.0 / 64;
  private static final double SCATTER_FADES = 1.0 / 512;
  private static final double[] LEAST = {0.3, 0.4, 0.4};
  private static final double SURE = 4;

  private static final String[] NAMES = {"completions", "the time inside", "the number there"};
  private static final int THERE = 2;

  private final ArrayDeque<double[]> recent = new ArrayDeque<>();
  private final double[] means = new double[NAMES.length];
  private final double[] variances = new double[NAMES.length];
  private int before;

  private long lengthNs;
  private double completed;
  private double left;
  private double insideNs;
  private double thereNs;

  /** How many of the last stretches had somebody wait in all of their windows. */
  private int bound;

  private boolean binds;

  void clear() {
    recent.clear();
    before = 0;
    bound = 0;
    beginStretch();
  }

  private void beginStretch() {
    lengthNs = 0;
    completed = 0;
    left = 0;
    insideNs = 0;
    thereNs = 0;
    binds = true;
  }

  /**
   * A window at the limit that holds.
   *
   * @param pace how much was to be expected of it for the speed of the CPUs alone
   * @return what shifted, for people; null if nothing did
   */
  String add(Window window, double pace, double inflation) {
    lengthNs += window.lengthNs();
    completed += window.completed / pace;
    left += window.left();
    insideNs += window.totalNs * pace;
    thereNs += window.there() * window.lengthNs();
    binds &= window.limited;
    if (lengthNs < STRETCH_NS) {
      return null;
    }
    bound = binds ? bound + 1 : 0;
    recent.addLast(figures());
    beginStretch();
    if (recent.size() > RECENT) {
      fold(recent.removeFirst());
    }
    if (before < FEWEST_BEFORE) {
      return null;
    }
    int figures = bound >= RECENT ? THERE : NAMES.length;
    for (int i = 0; i < figures; i++) {
      Sample now = new Sample();
      Sample older = new Sample();
      for (double[] stretch : recent) {
        now.add(stretch[i]);
        if (now.count() <= RECENT / 2) {
          older.add(stretch[i]);
        }
      }
      double off = now.mean() - means[i];
      double offThen = older.mean() - means[i];
      double offLately = 2 * off - offThen;
      double variance = Math.max(variances[i], now.variance() / 2);
      double error = Math.sqrt(variance * inflation * (1.0 / RECENT + 1.0 / before));
      boolean lasts = Math.signum(offThen) * Math.signum(offLately) > 0;
      double least = Math.min(Math.abs(offThen), Math.abs(offLately));
      if (lasts && least > LEAST[i] && Math.abs(off) > SURE * error) {
        return String.format("%s went %+.0f %%", NAMES[i], 100 * Math.expm1(off));
      }
    }
    return null;
  }

  /** Of the stretch, in the order of the names. */
  private double[] figures() {
    return new double[] {
      Math.log(Math.max(1, completed) * 1e9 / lengthNs),
      Math.log(Math.max(1, insideNs / Math.max(1, left))),
      // One or two more of a few are no shift.
      Math.log(thereNs / lengthNs + 4)
    };
  }

  private void fold(double[] figures) {
    before++;
    double weight = Math.max(FADE, 1.0 / before);
    double scatterWeight = Math.max(SCATTER_FADES, 1.0 / before);
    for (int i = 0; i < figures.length; i++) {
      double off = figures[i] - means[i];
      means[i] = before == 1 ? figures[i] : means[i] + weight * off;
      variances[i] =
          before == 1 ? 0 : (1 - scatterWeight) * (variances[i] + scatterWeight * off * off);
    }
  }
}
