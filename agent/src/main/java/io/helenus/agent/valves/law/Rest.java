package io.helenus.agent.valves.law;

/**
 * How long a search that has nothing left to try stays where it is, until it explores.
 *
 * <p>{@value #FIRST_NS} ns at first, and twice as long each time, while nothing looks better; but
 * {@value #ONE_IN} times as long as the last trial took at the least, so that exploring takes no
 * more than that part of the time.
 */
final class Rest {
  static final long FIRST_NS = 8_000_000_000L;
  private static final long LONGEST_NS = 300_000_000_000L;
  private static final long ONE_IN = 12;

  /** Number of trials for a promising limit before its waits grow like those of the others. */
  private static final int MOST_PROMISES = 2;

  private long nextNs = FIRST_NS;
  private long untilNs;
  private int promises;

  private boolean away;
  private long leftNs;
  private long awayNs;

  /** Something else is to be found out. */
  void startOver() {
    promises = 0;
    nextNs = FIRST_NS;
    awayNs = 0;
    away = false;
  }

  /** The limit on trial holds now, and is to be looked at as soon. */
  void moved(long nowNs) {
    comeBack(nowNs, true);
    nextNs = FIRST_NS;
  }

  /** The limit that holds is left for a trial. */
  void leave(long nowNs) {
    away = true;
    leftNs = nowNs;
  }

  /**
   * The limit that holds is back.
   *
   * @param over whether the trial is
   */
  void comeBack(long nowNs, boolean over) {
    if (away) {
      awayNs = nowNs - leftNs;
      away = !over;
    }
  }

  /**
   * Something was explored.
   *
   * @param promising whether something looks better
   */
  void explored(boolean promising) {
    if (!promising || ++promises > MOST_PROMISES) {
      nextNs = Math.min(LONGEST_NS, nextNs * 2);
    }
  }

  /** As long as it has come to. */
  void begin(long nowNs) {
    begin(nowNs, nextNs);
  }

  /** Only until it can be paid for. */
  void beginShort(long nowNs) {
    begin(nowNs, FIRST_NS);
  }

  private void begin(long nowNs, long lengthNs) {
    untilNs = nowNs + Math.max(lengthNs, ONE_IN * awayNs);
  }

  boolean isOver(long nowNs) {
    return nowNs - untilNs >= 0;
  }
}
