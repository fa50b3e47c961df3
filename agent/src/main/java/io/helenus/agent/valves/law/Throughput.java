package io.helenus.agent.valves.law;

/**
 * {@code throughput}: the limit at which most requests complete per second.
 *
 * <pre>
 *   score = completed / length of the window
 * </pre>
 *
 * <p>It is for servers that do less the more they are given at once. Under load that does not wait
 * for answers, and below what the server can do, the throughput is what comes in whatever the limit
 * is, and then the law leaves the limit at max.
 *
 * <p>How it is looked for, and when it is given up, is in {@link Search}; our own.
 *
 * <p>Parameter: {@code gain} 0.03, the least gain, as a share, for which the limit moves; 0.005 to
 * 0.5. Once settled it takes half as much again.
 */
final class Throughput implements Objective {
  /** With fewer in a window its rate is mostly chance. */
  private static final double PER_WINDOW = 60;

  @Override
  public double score(Window window) {
    return window.completedPerS();
  }

  @Override
  public boolean isMean() {
    return true;
  }

  @Override
  public double floor() {
    return 0;
  }

  @Override
  public boolean throughputFirst() {
    return false;
  }

  @Override
  public double lagNs(Window window) {
    // By Little's law: the mean time inside.
    return 1e9 * window.inFlight / Math.max(1e-9, window.completedPerS());
  }

  @Override
  public double perWindow() {
    return PER_WINDOW;
  }

  @Override
  public String say(double score) {
    return String.format("%.0f completed/s", score);
  }
}
