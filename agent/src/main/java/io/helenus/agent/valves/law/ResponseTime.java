package io.helenus.agent.valves.law;

final class ResponseTime implements Objective {
  private final double percentile;
  private final double floor;

  ResponseTime(double percentile, double floor) {
    this.percentile = percentile;
    this.floor = floor;
  }

  @Override
  public double score(Window window) {
    return 1 / (percentile > 0 ? window.latencies.percentile(percentile) : meanNs(window));
  }

  private static double meanNs(Window window) {
    double there = window.inFlight + window.waiting;
    return there / Math.max(1e-9, window.completedPerS()) * 1e9;
  }

  @Override
  public double floor() {
    return floor;
  }

  @Override
  public boolean throughputFirst() {
    return percentile > 0;
  }

  @Override
  public double lagNs(Window window) {
    double there = percentile > 0 ? window.inFlight + window.waiting : window.inFlight;
    return 1e9 * there / Math.max(1e-9, window.completedPerS());
  }

  @Override
  public double perWindow() {
    return percentile > 0 ? Math.min(1000, 8 / (1 - percentile / 100)) : 60;
  }

  @Override
  public String say(double score) {
    return String.format("%.2f ms", 1 / score / 1e6);
  }
}
