package io.helenus.agent.valves.law;

/** The last windows at the limit that holds, without those in which it was still settling. */
final class History {
  private static final int SIZE = 48;

  private final Window[] windows = new Window[SIZE];
  private int next;
  private int count;

  void add(Window window) {
    windows[next] = window;
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

  /** How long they were altogether, ns. */
  long lengthNs() {
    long lengthNs = 0;
    for (int i = 0; i < count; i++) {
      lengthNs += back(i).lengthNs();
    }
    return lengthNs;
  }

  /** A figure of a window. */
  interface Figure {
    double of(Window window);
  }

  /** Whether more come than are served, by a tenth at least. */
  boolean grows() {
    int third = Math.min(16, count) / 3;
    if (third < 2) {
      return false;
    }
    double grown = 0;
    double completed = 0;
    for (int i = 0; i < third; i++) {
      grown += (back(i).waiting - back(3 * third - 1 - i).waiting) / third;
    }
    for (int i = third / 2; i < 5 * third / 2; i++) {
      completed += back(i).completed;
    }
    return grown > 4 + 0.1 * completed;
  }

  /** A figure of the last so many. */
  Sample figures(int most, Figure figure) {
    Sample sample = new Sample();
    for (int i = Math.min(most, count) - 1; i >= 0; i--) {
      sample.add(figure.of(back(i)));
    }
    return sample;
  }

  /** The correlation of a figure with the next one, 0 to 0.8; 0.5 as long as too few are known. */
  double correlation(Figure figure) {
    if (count < 12) {
      return 0.5;
    }
    Sample all = figures(count, figure);
    double products = 0;
    for (int i = 1; i < count; i++) {
      products += (figure.of(back(i)) - all.mean()) * (figure.of(back(i - 1)) - all.mean());
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
