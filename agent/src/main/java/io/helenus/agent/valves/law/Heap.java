package io.helenus.agent.valves.law;

/**
 * How long a heap remembers the limit before.
 *
 * <p>Collections take time for the objects that calls inside hold, and for those that earlier calls
 * have left. After a lower limit the heap needs a second or two to empty, until collections become
 * rare. After a higher limit the heap needs as long again or several times as long to fill.
 * Measurements taken meanwhile belong to the limit before.
 */
final class Heap {
  /** That it has filled is seen in so many of the last windows. */
  static final int NOTICED = 2 * Trial.STRETCH;

  private static final long REMEMBERS_NS = 2_500_000_000L;

  /** With less of the time in collections than that, they are not what limits matter for. */
  private static final double COLLECTING = 0.05;

  /** With more than that it may be that the heap is only being filled. */
  private static final double FILLING = 0.02;

  /** With more than that the heap is full, whatever filled it. */
  static final double FULL = 0.15;

  /** Promotion rate that fills the old generation in minutes, as a share of it per second. */
  static final double FILLS = 0.004;

  /** With so much more of the time in collections than when the limit was learned, it has been. */
  private static final double FILLED = 0.04;

  /** And by so many standard errors. */
  private static final double PLAINLY = 2.5;

  /** Filled by those inside again when collections take that much of what they took, */
  private static final double REFILLED = 0.5;

  /** or after so long: then it is not the limit that collections were for. */
  private static final long FILLS_NS = 10_000_000_000L;

  /** Of the old generation, what has come to stay takes the rest, and it is collected early. */
  private static final double ROOM = 0.5;

  /** So long it is waited for by who has time, */
  static final long SLOW_NS = 120_000_000_000L;

  /** if it shows after so long that it is being filled; */
  static final long BEGINS_NS = 5_000_000_000L;

  /** and so long by a search. */
  static final long SOON_NS = 15_000_000_000L;

  /** The share is of about so long. */
  private static final double OF_NS = 3e9;

  private double share;
  private double mostShare;
  private double promotedPerS;
  private double mostPromotedPerS;
  private double promoted;
  private long changedNs;
  private long nowNs;

  /** The shares when the limit that holds was learned; null until then. */
  private Sample learned;

  /** Takes note of a window, whatever the limit. */
  void add(Window window) {
    double follows = -Math.expm1(-window.lengthNs() / OF_NS);
    nowNs = window.endNs;
    share += (window.gcShare - share) * follows;
    if (!Double.isNaN(window.promotedPerS)) {
      promotedPerS += (window.promotedPerS - promotedPerS) * follows;
      mostPromotedPerS = Math.max(mostPromotedPerS, promotedPerS);
      promoted += window.promotedPerS * window.lengthNs() / 1e9;
    }
    mostShare = Math.max(mostShare, share);
  }

  /** The limit changes. */
  void change(long nowNs) {
    changedNs = nowNs;
    promoted = 0;
  }

  /** Forgets what collections took with more inside, for another workload. */
  void clear() {
    mostShare = share;
    mostPromotedPerS = promotedPerS;
    learned = null;
  }

  /**
   * The search has measured the limit that holds, at the current fill of the heap.
   *
   * @param paused the shares of its windows
   */
  void learned(Sample paused) {
    learned = learned == null ? paused : learned;
  }

  /** Whether collections matter much more than they did: then what was learned is no more. */
  boolean hasFilled(Sample paused) {
    if (learned == null) {
      return false;
    }
    double more = paused.mean() - learned.mean();
    double square = paused.variance() / paused.count() + learned.variance() / learned.count();
    return more > FILLED && more > PLAINLY * Math.sqrt(square);
  }

  /**
   * How long after a change of the limit it is not yet what the limit makes of it; 0 where
   * collections don't matter.
   *
   * @param more whether more may be inside than before
   */
  long remembersNs(boolean more) {
    return (more ? mostShare : share) > COLLECTING ? REMEMBERS_NS : 0;
  }

  /** Whether collections take so much of the time that limits may matter for them. */
  boolean collects() {
    return share > COLLECTING;
  }

  /**
   * Whether it has yet to fill again, with a limit that is higher than the last.
   *
   * @param took the share that collections took of the time with as many inside
   * @param sinceNs for how long that many may be inside now
   */
  boolean refills(double took, long sinceNs) {
    return took > COLLECTING && share < REFILLED * took && sinceNs < FILLS_NS;
  }

  /**
   * Whether it has yet to fill for the first time since the limit changed: the old generation is
   * being filled, and neither has as much been moved there as it may have room for, nor do
   * collections show it.
   *
   * @param beginsNs for so long it need not show yet that it is being filled, where it has been
   * @param mostNs for so long at most
   */
  boolean isFilling(long beginsNs, long mostNs) {
    long sinceNs = nowNs - changedNs;
    boolean begins = mostPromotedPerS > FILLS && sinceNs < beginsNs;
    boolean fills = promotedPerS > FILLS && sinceNs < mostNs;
    return promoted < ROOM && share < FULL && (begins || fills);
  }

  /**
   * How long a server is looked at until it is known what collections take; 0 where there are none.
   * Where they take much it shows sooner, and where the old generation is being filled it is known
   * what they will take; each second without a limit costs.
   */
  long fillsNs() {
    if (share > FULL || promotedPerS > FILLS) {
      return REMEMBERS_NS;
    }
    return share > FILLING ? 2 * REMEMBERS_NS : 0;
  }
}
