package io.helenus.agent.valves;

/**
 * The lock order of the gates, which prevents that two threads wait for each other's permits. It is
 * learnt: when a thread first waits at gate B with a permit of gate A, A comes before B from then
 * on. A thread whose wait would contradict the order does not wait.
 *
 * <p>So the order has no cycle, and without a cycle there is no deadlock among gates (Havender,
 * 1968).
 */
final class GateOrder {
  /** The largest number of gates: the bits of a long. */
  static final int MOST = 64;

  /** By slot: the gates that come after the gate of that slot, directly or through others. */
  private final long[] after = new long[MOST];

  private long taken;
  private int last = -1;

  /** A slot for a new gate; -1 when all are in use. */
  synchronized int allocate() {
    // Round robin, so that threads inside a removed gate don't meet a new gate in the same slot.
    for (int i = 1; i <= MOST; i++) {
      int slot = (last + i) % MOST;
      if ((taken & 1L << slot) == 0) {
        taken |= 1L << slot;
        last = slot;
        return slot;
      }
    }
    return -1;
  }

  synchronized void free(int slot) {
    taken &= ~(1L << slot);
    after[slot] = 0;
    for (int i = 0; i < MOST; i++) {
      after[i] &= ~(1L << slot);
    }
  }

  /**
   * Whether a thread may wait at a gate. If so, the gate comes after the gates that the thread
   * holds permits of from now on.
   *
   * @param held the gates that the thread holds permits of, a bit for each slot
   */
  synchronized boolean mayWait(long held, int slot) {
    if ((held & after[slot]) != 0) {
      return false;
    }
    long follow = 1L << slot | after[slot];
    for (int i = 0; i < MOST; i++) {
      boolean before = (held & 1L << i) != 0 || (after[i] & held) != 0;
      if (before) {
        after[i] |= follow;
      }
    }
    return true;
  }
}
