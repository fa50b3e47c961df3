package io.helenus.agent.valves.law;

/** The last windows at the limit that holds, without those in which it was still settling. */
final class History {
  private static final int SIZE = 48;

  private final double[] scores = new double[SIZE];
  private final Window[] windows = new Window[SIZE];
  private int next;
  private int count;

  void add(Window window, double score) {
    windows[next] = window;
    scores[next] = score;
    next = (next + 1) % SIZE;
    count = Math.min(SIZE, count + 1);
  }

  void clear() {
    count = 0;
  }

  int count() {
    return count;
  }

  /** When the last one ended, System.nanoTime(). */
  long endNs() {
    return back(0).endNs;
  }

  /** A figure of a window. */
  interface Figure {
    double of(Window window);
  }

  /** The scores of the last so many. */
  Sample scores(int most) {
    Sample sample = new Sample();
    for (int i = Math.min(most, count) - 1; i >= 0; i--) {
      sample.add(scores[index(i)]);
    }
    return sample;
  }

  /** A figure of the last so many. */
  Sample figures(int most, Figure figure) {
    Sample sample = new Sample();
    for (int i = Math.min(most, count) - 1; i >= 0; i--) {
      sample.add(figure.of(back(i)));
    }
    return sample;
  }

  /** The correlation of a score with the next one, 0 to 0.8; 0.2 as long as too few are known. */
  double correlation() {
    if (count < 12) {
      return 0.2;
    }
    Sample all = scores(count);
    double products = 0;
    for (int i = 1; i < count; i++) {
      products += (scores[index(i)] - all.mean()) * (scores[index(i - 1)] - all.mean());
    }
    double squares = all.variance() * (count - 1);
    // A short series looks less correlated than it is, by about 1/n (Kendall, Biometrika 41, 1954).
    double correlation = squares > 0 ? products / squares + 1.0 / count : 0;
    return Math.max(0, Math.min(0.8, correlation));
  }

  private Window back(int i) {
    return windows[index(i)];
  }

  private int index(int back) {
    return Math.floorMod(next - 1 - back, SIZE);
  }
}
