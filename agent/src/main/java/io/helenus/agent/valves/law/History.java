package io.helenus.agent.valves.law;

/** The last windows at the limit that holds, without those in which it was still settling. */
final class History {
  private static final int SIZE = 64;

  /** Number of the last windows that other limits are compared with. */
  private static final int COMPARED = 32;

  private static final double GUESSED_INFLATION = 3;

  /** The guess counts as that many stretches. */
  private static final double GUESS_WEIGHT = 2;

  private final Window[] windows = new Window[SIZE];
  private int next;
  private int count;

  void add(Window window) {
    windows[next] = window;
    next = (next + 1) % SIZE;
    count = Math.min(SIZE, count + 1);
  }

  /** Forgets all but the last so many. */
  void keep(int windows) {
    count = Math.min(count, windows);
  }

  void clear() {
    keep(0);
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
      grown += (outside(back(i)) - outside(back(3 * third - 1 - i))) / third;
    }
    for (int i = third / 2; i < 5 * third / 2; i++) {
      completed += back(i).completed;
    }
    return grown > 4 + 0.1 * completed;
  }

  private static double outside(Window window) {
    return window.there() - window.inFlight;
  }

  /** A figure of those that other limits are compared with. */
  Sample figures(Figure figure) {
    return figures(COMPARED, figure);
  }

  /** The mean number inside. */
  double inside() {
    return figures(window -> window.inFlight).mean();
  }

  /** The shares that collections took, of all: they are rare. */
  Sample paused() {
    return figures(SIZE, window -> window.gcShare);
  }

  /** The figures that other limits are compared with. */
  Measured measured(Figure score, Figure rate) {
    Measured measured = new Measured();
    for (int i = count - 1; i >= COMPARED; i--) {
      measured.pauses.add(back(i).gcShare);
    }
    for (int i = Math.min(COMPARED, count) - 1; i >= 0; i--) {
      measured.add(score.of(back(i)), rate.of(back(i)), back(i));
    }
    return measured;
  }

  /** The least difference that one stretch can show beside what is known, as a logarithm. */
  double resolution(Figure score) {
    Sample recent = figures(score);
    double share = 1.0 / Trial.STRETCH + 1.0 / Math.max(1, recent.count());
    return Difference.SURE * Math.sqrt(recent.relativeVariance() * inflation(score) * share);
  }

  /** A figure of the last so many. */
  Sample figures(int most, Figure figure) {
    Sample sample = new Sample();
    for (int i = Math.min(most, count) - 1; i >= 0; i--) {
      sample.add(figure.of(back(i)));
    }
    return sample;
  }

  /**
   * By how much the variance of a mean over a stretch exceeds what it would be if each window were
   * for itself: 1 to 16. It is taken from the means of stretches (the method of batch means:
   * Conway, Some tactical problems in digital simulation, Management Science 10, 1963), and drawn
   * towards a cautious guess while there are few.
   */
  double inflation(Figure figure) {
    Sample means = new Sample();
    for (int from = 0; from + Trial.STRETCH <= count; from += Trial.STRETCH) {
      Sample stretch = new Sample();
      for (int i = from; i < from + Trial.STRETCH; i++) {
        stretch.add(figure.of(back(i)));
      }
      means.add(stretch.mean());
    }
    double variance = figures(count, figure).variance();
    if (means.count() < 2 || variance == 0) {
      return GUESSED_INFLATION;
    }
    double found = Trial.STRETCH * means.variance() / variance;
    double weighed = found * means.count() + GUESSED_INFLATION * GUESS_WEIGHT;
    return Math.max(1, Math.min(16, weighed / (means.count() + GUESS_WEIGHT)));
  }

  private Window back(int i) {
    return windows[index(i)];
  }

  private int index(int back) {
    return Math.floorMod(next - 1 - back, SIZE);
  }
}
