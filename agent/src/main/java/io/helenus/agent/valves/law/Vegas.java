package io.helenus.agent.valves.law;

import java.util.Random;

/**
 * {@code vegas}: keeps the queue that it infers from response times within bounds.
 *
 * <pre>
 *   queue = limit * (1 - rttNoLoad / rtt)
 *   d = log10(limit), at least 1, rounded down
 *   queue &lt;= d        limit + 6 d
 *   queue &lt;  3 d      limit + d
 *   queue &gt;  6 d      limit - d
 *   a failure         limit - d
 * </pre>
 *
 * <p>rtt is the mean time inside over a window, rttNoLoad the least rtt so far. rttNoLoad is reset
 * after {@code probe} times the limit requests (half to all of it, at random), so that an outdated
 * minimum does not stay. Nothing changes while less than half the limit is in use.
 *
 * <p>Source: Brakmo and Peterson, TCP Vegas, IEEE JSAC 13, 1995, as in VegasLimit of
 * Netflix/concurrency-limits; that one takes single requests where this takes windows.
 *
 * <p>Parameters: {@code initial} 20; {@code window_ms} 100, 10 to 10000; {@code probe} 30, 1 to
 * 10000; {@code seed} 1.
 */
final class Vegas implements Law {
  private final Estimate estimate;
  private final double probe;
  private final Random random;
  private double noLoadNs;
  private double untilProbe;

  Vegas(Parameters given, int min, int max) {
    estimate = new Estimate(given, 20, 100, min, max);
    probe = given.number("probe", 30, 1, 10_000);
    random = new Random(given.whole("seed", 1, 0, Integer.MAX_VALUE));
    untilProbe = nextProbe();
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
    double rttNs = Estimate.meanInsideNs(window);
    untilProbe -= window.left();
    if (untilProbe <= 0) {
      untilProbe = nextProbe();
      noLoadNs = rttNs;
      return estimate.keep("took the time without load anew");
    }
    if (noLoadNs == 0 || rttNs < noLoadNs) {
      noLoadNs = rttNs;
      return estimate.keep("the shortest time inside so far");
    }
    double limit = estimate.limit();
    double queue = Math.ceil(limit * (1 - noLoadNs / rttNs));
    double step = Math.max(1, Math.floor(Math.log10(limit)));
    if (window.failed > 0) {
      return estimate.set(limit - step, "requests failed");
    }
    String queued = String.format("about %.0f of %.0f queue", queue, limit);
    if (2 * window.inFlight < limit || (queue >= 3 * step && queue <= 6 * step)) {
      return estimate.keep(queued);
    }
    double change = queue <= step ? 6 * step : queue < 3 * step ? step : -step;
    return estimate.set(limit + change, queued);
  }

  private double nextProbe() {
    return (0.5 + random.nextDouble() / 2) * probe * estimate.limit();
  }
}
