package io.helenus.agent.valves;

/**
 * Which gates come before which, so that no two threads wait for each other's permits: learnt from
 * who waits at a gate with permits of others in hand. The first such nesting that is seen stands;
 * against it nobody waits.
 *
 * <p>The relation has no circle, since nobody is let wait who would close one; and without a circle
 * of waits there is no deadlock among gates (Havender, 1968).
 */
final class Precedence {
  /** As many as a long has bits. */
  static final int MOST = 64;

  /** The gates that come after each gate, directly or through others. */
  private final long[] after = new long[MOST];

  private long taken;
  private int last = -1;

  /** A place for a new gate; -1 when there is none left. */
  synchronized int take() {
    // In turn, so that threads that are still inside an old gate don't meet a new one in its place.
    for (int i = 1; i <= MOST; i++) {
      int place = (last + i) % MOST;
      if ((taken & 1L << place) == 0) {
        taken |= 1L << place;
        last = place;
        return place;
      }
    }
    return -1;
  }

  synchronized void giveBack(int place) {
    taken &= ~(1L << place);
    after[place] = 0;
    for (int i = 0; i < MOST; i++) {
      after[i] &= ~(1L << place);
    }
  }

  /**
   * Whether a thread may wait at a gate; if so, the gate comes after those it holds from now on.
   *
   * @param held the gates that it holds permits of, a bit for each place
   */
  synchronized boolean mayWait(long held, int place) {
    if ((held & after[place]) != 0) {
      return false;
    }
    long follow = 1L << place | after[place];
    for (int i = 0; i < MOST; i++) {
      boolean before = (held & 1L << i) != 0 || (after[i] & held) != 0;
      if (before) {
        after[i] |= follow;
      }
    }
    return true;
  }
}
