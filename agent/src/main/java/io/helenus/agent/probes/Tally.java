package io.helenus.agent.probes;

import io.helenus.agent.dispatch.SingleWriterCounters;
import java.util.Arrays;

/** The counts of a probe, of one thread or of several. */
public final class Tally {
  static final int FAILED = 0;
  static final int TOTAL_NS = 1;
  static final int CALLEES_NS = 2;
  static final int MAX_NS = 3;
  static final int CPU_NS = 4;
  static final int ALLOCATED_BYTES = 5;

  /** The first bin of the histogram of call times. */
  static final int BINS = 6;

  static final int LENGTH = BINS + Bins.COUNT;

  private final long[] sums = new long[LENGTH];

  public long calls() {
    return Arrays.stream(sums, BINS, LENGTH).sum();
  }

  /** Calls that ended with an exception; {@link #calls} includes them. */
  public long failed() {
    return sums[FAILED];
  }

  public long totalNs() {
    return sums[TOTAL_NS];
  }

  /** Total time without callees that have a probe of their own. */
  public long inherentNs() {
    return sums[TOTAL_NS] - sums[CALLEES_NS];
  }

  public long maxNs() {
    return sums[MAX_NS];
  }

  /** CPU time; 0 if it was not requested. */
  public long cpuNs() {
    return sums[CPU_NS];
  }

  /** Allocated bytes; 0 if they were not requested. */
  public long allocatedBytes() {
    return sums[ALLOCATED_BYTES];
  }

  public long bin(int bin) {
    return sums[BINS + bin];
  }

  void add(SingleWriterCounters counts) {
    for (int i = 0; i < LENGTH; i++) {
      add(i, counts.get(i));
    }
  }

  void add(Tally other) {
    for (int i = 0; i < LENGTH; i++) {
      add(i, other.sums[i]);
    }
  }

  private void add(int index, long amount) {
    sums[index] = index == MAX_NS ? Math.max(sums[index], amount) : sums[index] + amount;
  }
}
