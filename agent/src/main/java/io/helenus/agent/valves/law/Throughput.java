package io.helenus.agent.valves.law;

/**
 * {@code throughput}: the limit at which most requests complete per second.
 *
 * <pre>
 *   score = completed / length of the measurement
 * </pre>
 *
 * <p>In an open loop below saturation the limit does not change the throughput, and the law leaves
 * the limit at max.
 *
 * <p>Parameter: {@code gain} 0.03, the least gain, as a share, for which the limit moves; 0.005 to
 * 0.5. {@link Search} has the rest; our own.
 */
final class Throughput implements Objective {
  @Override
  public double score(Window window) {
    return window.completedPerS();
  }

  @Override
  public double floor() {
    return 0;
  }

  @Override
  public double lagNs(Window window) {
    // The mean time inside, by Little's law.
    return 1e9 * window.inFlight / Math.max(1e-9, window.completedPerS());
  }
}
