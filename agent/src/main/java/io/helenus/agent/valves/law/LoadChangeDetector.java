package io.helenus.agent.valves.law;

/**
 * Detects that the offered load changed, from windows with an unchanged limit.
 *
 * <pre>
 *   up   = max(0, up   + (x - m) - SLACK)      change when up or down &gt; THRESHOLD
 *   down = max(0, down - (x - m) - SLACK)
 * </pre>
 *
 * <p>x is the logarithm of the completions per second, and in a second test that of the number of
 * requests in the system; m is the mean of the windows before. This is the cumulative sum test
 * (Page, Continuous inspection schemes, Biometrika 41, 1954): a load that multiplies is noticed in
 * a measurement or two, one that doubles in a few, and one that grows by a third never.
 */
final class LoadChangeDetector {
  private static final double SLACK = 0.3;
  private static final double THRESHOLD = 2;

  /** A difference of one or two requests counts as no change when there are only a few. */
  private static final double FEW = 4;

  private final Sum rate = new Sum();
  private final Sum inSystem = new Sum();

  void restart() {
    rate.restart();
    inSystem.restart();
  }

  /** Adds a window. Returns whether the load has changed. */
  boolean changed(Window window) {
    boolean changed = rate.add(Math.log(Math.max(1, window.completedPerS())));
    return inSystem.add(Math.log(window.inSystem() + FEW)) | changed;
  }

  private static final class Sum {
    private RunningStatistics before = new RunningStatistics();
    private double up;
    private double down;

    void restart() {
      before = new RunningStatistics();
      up = 0;
      down = 0;
    }

    boolean add(double figure) {
      double off = before.count() < 4 ? 0 : figure - before.mean();
      before.add(figure);
      up = Math.max(0, up + off - SLACK);
      down = Math.max(0, down - off - SLACK);
      return Math.max(up, down) > THRESHOLD;
    }
  }
}
