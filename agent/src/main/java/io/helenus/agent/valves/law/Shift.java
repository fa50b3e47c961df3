package io.helenus.agent.valves.law;

import java.util.ArrayDeque;

/**
 * Whether the workload is another than it was, seen at a limit that did not change.
 *
 * <p>The last {@value #RECENT} windows are compared with those before them in three figures: the
 * logarithm of completions per second, the logarithm of the mean time inside, and the number there
 * altogether, inside and waiting. A figure has shifted when its mean is off by more than its {@link
 * #LEAST} and by more than {@value #SURE} standard errors, and that of its older and of its newer
 * half by the least, so that a dip is none; the correlation of neighbours counts as in {@link
 * Difference}. What was before fades slowly, so that a slow drift is not a shift, and how far it
 * scattered more slowly yet.
 */
final class Shift {
  private static final int RECENT = 12;
  private static final int FEWEST_BEFORE = 10;
  private static final double FADE = 1.0 / 64;
  private static final double SCATTER_FADES = 1.0 / 512;
  private static final double[] LEAST = {0.15, 0.3, 0.4};
  private static final double SURE = 4;

  private static final String[] NAMES = {"completions", "the time inside", "the number there"};

  private final ArrayDeque<double[]> recent = new ArrayDeque<>();
  private final double[] means = new double[NAMES.length];
  private final double[] variances = new double[NAMES.length];
  private int before;

  void clear() {
    recent.clear();
    before = 0;
  }

  /**
   * A window at the limit that holds.
   *
   * @return what shifted, for people; null if nothing did
   */
  String add(Window window, double inflation) {
    recent.addLast(figures(window));
    if (recent.size() > RECENT) {
      fold(recent.removeFirst());
    }
    if (before < FEWEST_BEFORE) {
      return null;
    }
    for (int i = 0; i < NAMES.length; i++) {
      Sample now = new Sample();
      Sample older = new Sample();
      for (double[] figures : recent) {
        now.add(figures[i]);
        if (now.count() <= RECENT / 2) {
          older.add(figures[i]);
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

  private static double[] figures(Window window) {
    double insideNs = window.totalNs / (double) Math.max(1, window.left());
    return new double[] {
      Math.log(Math.max(1, window.completed) * 1e9 / window.lengthNs()),
      Math.log(Math.max(1, insideNs)),
      // One or two more of a few are no shift.
      Math.log(window.there() + 4)
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
