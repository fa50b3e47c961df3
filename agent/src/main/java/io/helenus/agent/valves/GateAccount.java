package io.helenus.agent.valves;

import io.helenus.agent.crossing.Counts;
import io.helenus.agent.valves.law.Latencies;

/**
 * The counts of one thread at a gate.
 *
 * <p>Two clock reads cost as much as the gate itself. So while the stays of this thread are short,
 * only some stays are timed, and each of them counts also for the untimed stays before it.
 */
final class GateAccount {
  static final int COMPLETED = 0;
  static final int FAILED = 1;
  static final int REFUSED = 2;
  static final int LET_THROUGH = 3;
  static final int OUT_OF_ORDER = 4;
  static final int TOTAL_NS = 5;
  static final int WAIT_NS = 6;
  static final int WAITED = 7;
  static final int LATENCIES = 8;
  static final int LENGTH = LATENCIES + Latencies.BUCKETS;

  /** A stay below this is short, ns: timing it would cost more than 2 % of it. */
  private static final long SHORT_NS = 2_500;

  /** Of short stays one in so many is timed. */
  private static final int ONE_IN = 16;

  final Thread thread;

  /**
   * As it was called when it came first: Cassandra's threads take the name of what they work for.
   */
  final String threadName;

  final Counts counts = new Counts(LENGTH);
  private int untimed;
  private boolean isShort;

  GateAccount(Thread thread) {
    this.thread = thread;
    threadName = thread.getName();
  }

  /** Whether to time the stay that begins. */
  boolean times() {
    return !isShort || untimed >= ONE_IN - 1;
  }

  void leftUntimed() {
    untimed++;
  }

  void left(long waitedNs, long insideNs) {
    int stands = untimed + 1;
    untimed = 0;
    isShort = insideNs < SHORT_NS;
    counts.add(TOTAL_NS, insideNs * stands);
    counts.add(LATENCIES + Latencies.bucketOf(waitedNs + insideNs), stands);
    if (waitedNs > 0) {
      counts.add(WAIT_NS, waitedNs);
      counts.add(WAITED, 1);
    }
  }
}
