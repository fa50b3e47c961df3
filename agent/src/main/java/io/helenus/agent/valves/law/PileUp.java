package io.helenus.agent.valves.law;

/**
 * Whether those who are there pile up because of the limit that is tried, or because more have come
 * to use the server.
 *
 * <p>Who piles up at a limit was not completed for it, and goes when the limit is taken back.
 */
final class PileUp {
  /** Least share of the piled-up calls that the limit caused, however uneven the server is. */
  private static final double OWED_SHARE = 0.25;

  /** Largest share of the piled-up calls that is left when the pile-up is over. */
  private static final double LEFT_SHARE = 0.7;

  /** Calls that stay this long after the limit is back are new load, not a pile-up, ns. */
  private static final long STAYS_NS = 1_500_000_000L;

  private static final double STAYS_SHARE = 0.95;

  private double owed;
  private int limit;
  private double there;

  /** Since when there have been more than by chance, back at the limit that holds, and how many. */
  private Window first;

  /** A limit is tried from now on. */
  void begin() {
    owed = 0;
    first = null;
  }

  /**
   * Time at the limit that is tried.
   *
   * @param perS what the limit that holds would have completed
   */
  void pass(Window window, double perS) {
    owed += perS * window.lengthNs() / 1e9 - window.completed;
  }

  /** Whether the limit that is tried may be why so many more are there. */
  boolean explains(double more) {
    return owed > OWED_SHARE * more;
  }

  /** They seem to have piled up at a limit. */
  void suspect(int limit, Window window) {
    this.limit = limit;
    this.there = window.there();
  }

  /** The limit at which they seem to have piled up; 0 for none. */
  int suspected() {
    return limit;
  }

  /** Whether they are gone. */
  boolean isOver(Window window) {
    return window.there() <= LEFT_SHARE * there;
  }

  /**
   * Whether they only stay.
   *
   * @param window back at the limit that holds
   * @param more whether more are there than by chance
   */
  boolean stays(Window window, boolean more) {
    if (!more) {
      first = null;
    } else if (first == null) {
      first = window;
    }
    return first != null
        && window.endNs - first.endNs >= STAYS_NS
        && window.there() > STAYS_SHARE * first.there();
  }

  void clear() {
    limit = 0;
    first = null;
  }
}
