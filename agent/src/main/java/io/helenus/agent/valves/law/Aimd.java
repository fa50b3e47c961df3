package io.helenus.agent.valves.law;

/**
 * {@code aimd}: one more after each good window, a share less after a bad one.
 *
 * <pre>
 *   a failure, or rtt &gt; timeout    limit = min(limit - 1, limit * ratio)
 *   at least half in use           limit = limit + 1
 * </pre>
 *
 * <p>rtt is the mean time inside over a window. A call refused at the valve itself is no failure:
 * otherwise a small limit would shrink further.
 *
 * <p>Source: Chiu and Jain, Analysis of the increase and decrease algorithms for congestion
 * avoidance, Computer Networks 17, 1989, as in AIMDLimit of Netflix/concurrency-limits; that one
 * takes single requests where this takes windows.
 *
 * <p>Parameters: {@code initial} 10; {@code window_ms} 100, 10 to 10000; {@code ratio} 0.9, 0.5 to
 * 0.99; {@code timeout_ms} 5000, 0.001 to 3600000.
 */
final class Aimd implements Law {
  private final Estimate estimate;
  private final double ratio;
  private final long timeoutNs;

  Aimd(Parameters given, int min, int max) {
    estimate = new Estimate(given, 10, 100, min, max);
    ratio = given.number("ratio", 0.9, 0.5, 0.99);
    timeoutNs = given.millis("timeout_ms", 5000, 0.001, 3_600_000);
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
    double limit = estimate.limit();
    boolean slow = Estimate.meanInsideNs(window) > timeoutNs;
    if (window.failed > 0 || slow) {
      return estimate.set(
          Math.min(limit - 1, limit * ratio), slow ? "above the timeout" : "requests failed");
    }
    return 2 * window.inFlight < limit
        ? estimate.keep("less than half in use")
        : estimate.set(limit + 1, "no failure");
  }
}
