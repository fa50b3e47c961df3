package io.helenus.agent.valves.law;

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
  public boolean throughputFirst() {
    return false;
  }

  @Override
  public double lagNs(Window window) {
    return 1e9 * window.inFlight / Math.max(1e-9, window.completedPerS());
  }

  @Override
  public double perWindow() {
    return 60;
  }

  @Override
  public String say(double score) {
    return String.format("%.0f completed/s", score);
  }
}
