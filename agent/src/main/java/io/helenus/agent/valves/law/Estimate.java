package io.helenus.agent.valves.law;

/**
 * The estimate of a law that corrects its limit a little with each window, as the published laws
 * do. The estimate is a fraction; the valve gets a whole number.
 */
final class Estimate {
  /** The first window is short: it only sets the initial limit. */
  static final long FIRST_WINDOW_NS = 1_000_000;

  private final int min;
  private final int max;
  private final long windowNs;
  private double limit;
  private boolean begun;

  /** Reads {@code initial} and {@code window_ms}. */
  Estimate(Parameters given, int initial, int windowMs, int min, int max) {
    this.min = min;
    this.max = max;
    this.limit = clamp(given.whole("initial", initial, 1, Laws.LARGEST));
    this.windowNs = given.millis("window_ms", windowMs, 10, 10_000);
  }

  long windowNs() {
    return begun ? windowNs : FIRST_WINDOW_NS;
  }

  double limit() {
    return limit;
  }

  /** Whether a window corrects the estimate: the first window does not, nor does an empty one. */
  boolean applies(Window window) {
    boolean first = !begun;
    begun = true;
    return !first && window.left() > 0;
  }

  /** The mean time inside, ns. */
  static double meanInsideNs(Window window) {
    return window.totalNs / (double) Math.max(1, window.left());
  }

  Decision set(double limit, String reason) {
    this.limit = clamp(limit);
    return new Decision((int) this.limit, reason);
  }

  Decision keep(String reason) {
    return new Decision((int) limit, reason);
  }

  private double clamp(double limit) {
    return Math.max(min, Math.min(max, limit));
  }
}
