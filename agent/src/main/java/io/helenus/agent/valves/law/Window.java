package io.helenus.agent.valves.law;

/** The measurements of a valve between two decisions. */
public final class Window {
  /** Start, System.nanoTime(). */
  public final long startNs;

  /** End, System.nanoTime(); after the start. */
  public final long endNs;

  /** The limit during the window; at least 1. */
  public final int limit;

  /** Requests that left normally. */
  public final long completed;

  /** Requests that left with an exception. */
  public final long failed;

  /** Requests that were refused at the gate, or let through after the longest wait. */
  public final long refused;

  /** The mean number inside, over the window's time. */
  public final double inFlight;

  /** The mean number that waited at the gate, or was queued before the stage. */
  public final double waiting;

  /**
   * The mean number of further requests in the gate's stage, neither inside nor waiting: queued for
   * a thread, or outside the gate.
   */
  public final double elsewhere;

  /** Sum of the times inside, ns, of the requests that left in the window. */
  public final long totalNs;

  /** Sum of the times waited at the gate, ns, of the requests that left in the window. */
  public final long waitNs;

  /** The longest time waited and inside together, ns, of the requests that left in the window. */
  public final long maxNs;

  /** Times waited and inside together, of the requests that left in the window. */
  public final Latencies latencies;

  /** The share of the window in which the JVM stood for a collection, 0 to 1. */
  public final double gcShare;

  /** Whether requests waited because of the limit. */
  public final boolean limited;

  private Window(Builder builder) {
    startNs = builder.startNs;
    endNs = builder.endNs;
    limit = builder.limit;
    completed = builder.completed;
    failed = builder.failed;
    refused = builder.refused;
    inFlight = builder.inFlight;
    waiting = builder.waiting;
    elsewhere = builder.elsewhere;
    totalNs = builder.totalNs;
    waitNs = builder.waitNs;
    maxNs = builder.maxNs;
    latencies = builder.latencies;
    gcShare = builder.gcShare;
    limited = builder.limited;
  }

  /** Length of the window, ns; at least 1. */
  public long lengthNs() {
    return Math.max(1, endNs - startNs);
  }

  /** The mean number of requests in the system: inside, waiting and elsewhere in the stage. */
  public double inSystem() {
    return inFlight + waiting + elsewhere;
  }

  /** Completed requests per second. */
  public double completedPerS() {
    return completed * 1e9 / lengthNs();
  }

  /** Requests that left, normally or with an exception. */
  public long left() {
    return completed + failed;
  }

  /** Merges this window with the next one at the same limit. */
  Window and(Window next) {
    double share = lengthNs() / (double) (lengthNs() + next.lengthNs());
    Latencies all = new Latencies();
    all.add(latencies);
    all.add(next.latencies);
    return between(startNs, startNs + lengthNs() + next.lengthNs(), limit)
        .counts(completed + next.completed, failed + next.failed, refused + next.refused)
        .occupancy(
            mean(share, inFlight, next.inFlight),
            mean(share, waiting, next.waiting),
            limited || next.limited)
        .elsewhere(mean(share, elsewhere, next.elsewhere))
        .times(totalNs + next.totalNs, waitNs + next.waitNs, Math.max(maxNs, next.maxNs), all)
        .gcShare(mean(share, gcShare, next.gcShare))
        .build();
  }

  private static double mean(double share, double one, double next) {
    return share * one + (1 - share) * next;
  }

  /** The share of requests that failed or were refused, 0 to 1. */
  double badShare() {
    double bad = refused + failed;
    return bad / Math.max(1, completed + bad);
  }

  /**
   * Begins a window; all values that are not set are zero.
   *
   * @param startNs when it began, System.nanoTime()
   * @param endNs when it ended, System.nanoTime()
   * @param limit the limit during the window
   */
  public static Builder between(long startNs, long endNs, int limit) {
    return new Builder(startNs, endNs, limit);
  }

  /** Builds a window. */
  public static final class Builder {
    private final long startNs;
    private final long endNs;
    private final int limit;
    private long completed;
    private long failed;
    private long refused;
    private double inFlight;
    private double waiting;
    private double elsewhere;
    private long totalNs;
    private long waitNs;
    private long maxNs;
    private Latencies latencies = new Latencies();
    private double gcShare;
    private boolean limited;

    private Builder(long startNs, long endNs, int limit) {
      this.startNs = startNs;
      this.endNs = endNs;
      this.limit = limit;
    }

    /** The requests that left normally, that left with an exception, and that were refused. */
    public Builder counts(long completed, long failed, long refused) {
      this.completed = completed;
      this.failed = failed;
      this.refused = refused;
      return this;
    }

    /** The mean numbers inside and waiting, and whether requests waited because of the limit. */
    public Builder occupancy(double inFlight, double waiting, boolean limited) {
      this.inFlight = inFlight;
      this.waiting = waiting;
      this.limited = limited;
      return this;
    }

    /** See {@link Window#elsewhere}. */
    public Builder elsewhere(double elsewhere) {
      this.elsewhere = elsewhere;
      return this;
    }

    /**
     * Times of the requests that left, ns: sums inside and waited, and the longest of both
     * together.
     */
    public Builder times(long totalNs, long waitNs, long maxNs, Latencies latencies) {
      this.totalNs = totalNs;
      this.waitNs = waitNs;
      this.maxNs = maxNs;
      this.latencies = latencies;
      return this;
    }

    /** The share of the window in which the JVM stood for a collection, 0 to 1. */
    public Builder gcShare(double gcShare) {
      this.gcShare = gcShare;
      return this;
    }

    public Window build() {
      return new Window(this);
    }
  }
}
