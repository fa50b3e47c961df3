package io.helenus.agent.valves.law;

/**
 * {@code response-time}: the limit at which wait and time inside together are shortest, in the mean
 * or at a percentile, while at least a share of the best throughput completes.
 *
 * <pre>
 *   mean:        score = 1 / r,  r = (inFlight + waiting + elsewhere) / completed per second
 *   percentile:  score = 1 / percentile of wait and time inside
 *   only where   completed per second &gt;= floor * best
 * </pre>
 *
 * <p>The mean comes from Little's law (Operations Research 9, 1961), which shows a change of the
 * limit at once; the times of leaving requests show the queue that they arrived at. Requests
 * elsewhere in the stage wait, too, and would wait at the gate under a lower limit. A percentile of
 * a short measurement can't show rarer events.
 *
 * <p>Parameters: {@code percentile} 0, which is the mean, to 99.9; {@code floor} 0.95, 0 to 1;
 * {@code gain} 0.03, the least gain, as a share, for which the limit moves; 0.005 to 0.5. {@link
 * Search} has the rest; our own.
 */
final class ResponseTime implements Objective {
  /** Requests that a measurement should have above the percentile. */
  private static final double BEYOND = 8;

  private final double percentile;
  private final double floor;

  /** Reads {@code percentile} and {@code floor}. */
  ResponseTime(Parameters given) {
    percentile = given.number("percentile", 0, 0, 99.9);
    floor = given.number("floor", 0.95, 0, 1);
  }

  @Override
  public double score(Window window) {
    return 1 / (percentile > 0 ? window.latencies.percentile(percentile) : meanNs(window));
  }

  private static double meanNs(Window window) {
    double inSystem = window.inSystem();
    return 1e9 * inSystem / Math.max(1e-9, window.completedPerS());
  }

  @Override
  public double floor() {
    return floor;
  }

  @Override
  public double lagNs(Window window) {
    // Requests that leave must have arrived after the change; otherwise their times belong to the
    // old limit.
    double inSystem = percentile > 0 ? window.inSystem() : window.inFlight;
    return 1e9 * inSystem / Math.max(1e-9, window.completedPerS());
  }

  @Override
  public double perWindow() {
    return Math.max(Objective.super.perWindow(), BEYOND / (1 - percentile / 100));
  }
}
