package io.helenus.agent.valves;

import io.helenus.agent.valves.law.Latencies;

/** The counts of a valve since it was added. */
final class ValveTotals {
  final long completed;
  final long failed;
  final long refused;
  final long letThrough;
  final long outOfOrder;
  final long totalNs;
  final long waitNs;
  private final long[] counts;

  /** The sums of a gate's counters. */
  ValveTotals(long[] counts) {
    completed = counts[GateCounters.COMPLETED];
    failed = counts[GateCounters.FAILED];
    refused = counts[GateCounters.REFUSED];
    letThrough = counts[GateCounters.LET_THROUGH];
    outOfOrder = counts[GateCounters.OUT_OF_ORDER];
    totalNs = counts[GateCounters.TOTAL_NS];
    waitNs = counts[GateCounters.WAIT_NS];
    this.counts = counts;
  }

  /** The counts of a stage, which reports completed tasks, but no times. */
  ValveTotals(long completed) {
    this.completed = completed;
    failed = 0;
    refused = 0;
    letThrough = 0;
    outOfOrder = 0;
    totalNs = 0;
    waitNs = 0;
    counts = null;
  }

  /** Sum of wait and service time of the requests that left since an earlier reading. */
  Latencies latenciesSince(ValveTotals earlier) {
    Latencies latencies = new Latencies();
    if (counts != null) {
      for (int bucket = 0; bucket < Latencies.BUCKETS; bucket++) {
        int at = GateCounters.LATENCIES + bucket;
        long count = counts[at] - earlier.counts[at];
        if (count > 0) {
          latencies.add(bucket, count);
        }
      }
    }
    return latencies;
  }
}
