package io.helenus.agent.valves.law;

/**
 * {@code gradient2}: shrinks the limit by how much slower the present is than the long run.
 *
 * <pre>
 *   gradient = max(0.5, min(1, tolerance * longRtt / rtt))
 *   limit    = limit * (1 - smoothing) + (limit * gradient + queue) * smoothing
 * </pre>
 *
 * <p>rtt is the mean time inside over a window; longRtt its exponential mean over {@code long}
 * windows, of which the first ten are averaged plainly; it shrinks by 5 % a window while it is more
 * than twice rtt. Nothing changes while less than half the limit is in use.
 *
 * <p>Source: Gradient2Limit of Netflix/concurrency-limits, whose least limit of 20 is the valve's
 * min here.
 *
 * <p>Parameters: {@code initial} 20; {@code window_ms} 250, 10 to 10000; {@code tolerance} 1.5, 1
 * to 10; {@code smoothing} 0.2, 0.01 to 1; {@code queue} 4, 0 to 1000; {@code long} 600, 10 to
 * 100000.
 */
final class Gradient2 implements Law {
  private static final int PLAIN_WINDOWS = 10;

  private final Estimate estimate;
  private final double tolerance;
  private final double smoothing;
  private final int queue;
  private final int longWindows;
  private double longNs;
  private int windows;

  Gradient2(Parameters given, int min, int max) {
    estimate = new Estimate(given, 20, 250, min, max);
    tolerance = given.number("tolerance", 1.5, 1, 10);
    smoothing = given.number("smoothing", 0.2, 0.01, 1);
    queue = given.whole("queue", 4, 0, 1000);
    longWindows = given.whole("long", 600, 10, 100_000);
  }

  @Override
  public long windowNs() {
    return estimate.windowNs();
  }

  @Override
  public Decision next(Window window) {
    if (!estimate.applies(window)) {
      return estimate.keep("nothing measured");
    }
    double rttNs = Math.max(1, Estimate.meanInsideNs(window));
    windows++;
    double weight = windows <= PLAIN_WINDOWS ? 1.0 / windows : 2.0 / (longWindows + 1);
    longNs += weight * (rttNs - longNs);
    if (longNs > 2 * rttNs) {
      longNs *= 0.95;
    }
    double limit = estimate.limit();
    double gradient = Math.max(0.5, Math.min(1, tolerance * longNs / rttNs));
    String reason =
        String.format("%.2f ms inside, %.2f ms in the long run", rttNs / 1e6, longNs / 1e6);
    if (2 * window.inFlight < limit) {
      return estimate.keep(reason);
    }
    return estimate.set(limit * (1 - smoothing) + (limit * gradient + queue) * smoothing, reason);
  }
}
