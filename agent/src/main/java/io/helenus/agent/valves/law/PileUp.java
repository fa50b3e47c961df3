package io.helenus.agent.valves.law;

/**
 * Whether those who are there pile up because of the limit that is tried, or because more have come
 * to use the server.
 *
 * <p>Who piles up at a limit was not completed for it, and goes when the limit is taken back.
 */
final class PileUp {
  /** Of those who piled up at least that share was owed, however uneven the server is. */
  private static final double OWED_SHARE = 0.25;

  /** Of those who piled up no more than that share is left when it is over. */
  private static final double LEFT_SHARE = 0.7;

  private double owed;
  private int limit;
  private double there;

  /** A limit is tried from now on. */
  void begin() {
    owed = 0;
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

  void clear() {
    limit = 0;
  }
}
