package io.helenus.agent.valves.law;

/**
 * The budget of a search, in seconds of lost throughput: trying a limit with half the throughput
 * for one second costs half a second.
 *
 * <p>There is {@value #FIRST_S} s to begin with, and {@value #SHARE} of the time that passes, up to
 * as much again; so that over any run the loss stays below {@code FIRST_S / length + SHARE}, which
 * is 1.2 % of two minutes. Another workload is another run.
 */
final class Budget {
  static final double FIRST_S = 0.8;
  static final double SHARE = 0.005;

  private static final double GAIN_SHARE = 0.05;

  /** How long after a grant another one may come to as many. */
  private static final double BETWEEN_GRANTS_S = 30;

  /** With so many times those who were there at the last grant there is another one at once. */
  private static final double MANY_MORE = 1.5;

  private double leftS = FIRST_S;
  private double excursionS;
  private double sinceGrantS = BETWEEN_GRANTS_S;
  private double granted;

  /** A grant came too soon after the one before, and is due when it no longer is. */
  private boolean owed;

  /**
   * Time that passes.
   *
   * @param gain the share by which the limit that holds is better than none; a part of it is given
   *     to learning
   */
  void pass(double lengthS, double gain) {
    leftS = Math.min(FIRST_S, leftS + (SHARE + GAIN_SHARE * gain) * lengthS);
    sinceGrantS += lengthS;
    if (owed && sinceGrantS >= BETWEEN_GRANTS_S) {
      renew();
    }
  }

  /**
   * The workload changed: what was learned is gone, and so is what it cost.
   *
   * @param there how many are there now
   */
  void grant(double there) {
    if (sinceGrantS >= BETWEEN_GRANTS_S || there > MANY_MORE * granted) {
      renew();
      granted = there;
    } else {
      owed = true;
    }
  }

  /** Renews the budget at once, since the earlier findings are of another workload. */
  void renew() {
    leftS = FIRST_S;
    sinceGrantS = 0;
    owed = false;
  }

  /**
   * Time away from the limit that holds.
   *
   * @param loss the share that was lost, negative if it was won
   */
  void spend(double loss, double lengthS) {
    excursionS += loss * lengthS;
  }

  /** Back, or settled elsewhere: what was lost on the whole is paid. */
  void settle() {
    leftS -= Math.max(0, excursionS);
    excursionS = 0;
  }

  /** The trial did not cause this loss; don't charge it to the budget. */
  void forgive() {
    excursionS = 0;
  }

  /** Whether that much may be lost. */
  boolean allows(double lossS) {
    return leftS >= lossS;
  }

  /** Whether the time away has cost all there is. */
  boolean exhausted() {
    return excursionS > Math.max(leftS, 0.1);
  }
}
