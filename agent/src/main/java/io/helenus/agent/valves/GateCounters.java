package io.helenus.agent.valves;

import io.helenus.agent.dispatch.SingleWriterCounters;
import io.helenus.agent.valves.law.Latencies;

/**
 * The counters of one thread at a gate.
 *
 * <p>Two clock reads cost as much as the gate itself. So while the calls of this thread are short,
 * only some are timed, and each timed call counts also for the untimed calls before it.
 */
final class GateCounters {
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

  /** A call shorter than this is short, in ns: timing it would cost more than 2 % of it. */
  private static final long SHORT_NS = 2_500;

  /** One of this many short calls is timed. */
  private static final int ONE_IN = 16;

  final Thread thread;

  /** The thread's name at its first call; Cassandra's threads have the name of their task. */
  final String threadName;

  final SingleWriterCounters values = new SingleWriterCounters(LENGTH);
  private int untimed;
  private boolean isShort;

  GateCounters(Thread thread) {
    this.thread = thread;
    threadName = thread.getName();
  }

  /** Whether to time the call that begins. */
  boolean isTimed() {
    return !isShort || untimed >= ONE_IN - 1;
  }

  void leftUntimed() {
    untimed++;
  }

  void left(long waitedNs, long insideNs) {
    int represents = untimed + 1;
    untimed = 0;
    isShort = insideNs < SHORT_NS;
    values.add(TOTAL_NS, insideNs * represents);
    values.add(LATENCIES + Latencies.bucketOf(waitedNs + insideNs), represents);
    if (waitedNs > 0) {
      values.add(WAIT_NS, waitedNs);
      values.add(WAITED, 1);
    }
  }
}
