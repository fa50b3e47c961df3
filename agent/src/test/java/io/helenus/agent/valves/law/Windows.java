package io.helenus.agent.valves.law;

/** Builds windows for tests, each following the one before. */
final class Windows {
  private static final long MILLI_NS = 1_000_000;

  private final long lengthNs;
  private long startNs;
  private int limit = 128;
  private long completed = 100;
  private long failed;
  private double inFlight = 100;
  private double waiting;
  private double insideMs = 10;
  private double waitMs;
  private double gcShare;

  private Windows(long lengthNs) {
    this.lengthNs = lengthNs;
  }

  static Windows of(long lengthMs) {
    return new Windows(lengthMs * MILLI_NS);
  }

  Windows limit(int limit) {
    this.limit = limit;
    return this;
  }

  Windows completed(long completed) {
    this.completed = completed;
    return this;
  }

  Windows failed(long failed) {
    this.failed = failed;
    return this;
  }

  Windows there(double inFlight, double waiting) {
    this.inFlight = inFlight;
    this.waiting = waiting;
    return this;
  }

  Windows times(double insideMs, double waitMs) {
    this.insideMs = insideMs;
    this.waitMs = waitMs;
    return this;
  }

  Windows gcShare(double gcShare) {
    this.gcShare = gcShare;
    return this;
  }

  Window build() {
    long left = completed + failed;
    long insideNs = Math.round(insideMs * MILLI_NS);
    long waitNs = Math.round(waitMs * MILLI_NS);
    Latencies latencies = new Latencies();
    latencies.add(Latencies.bucketOf(insideNs + waitNs), left);
    Window window =
        Window.between(startNs, startNs + lengthNs, limit)
            .counts(completed, failed, 0)
            .occupancy(inFlight, waiting, waiting > 0)
            .times(left * insideNs, left * waitNs, insideNs + waitNs, latencies)
            .gcShare(gcShare)
            .build();
    startNs += lengthNs;
    return window;
  }

  /** Passes consecutive windows to a law at the law's own limit; returns the last decision. */
  Decision give(Law law, int times) {
    Decision decision = null;
    for (int i = 0; i < times; i++) {
      decision = law.next(build());
      limit = decision.limit;
    }
    return decision;
  }
}
