package io.helenus.agent.valves;

import io.helenus.agent.valves.law.Latencies;

/** The counts of a valve since it began; all but the numbers inside and waiting are sums. */
final class Reading {
  final long completed;
  final long failed;
  final long refused;
  final long letThrough;
  final long outOfOrder;
  final long totalNs;
  final long waitNs;
  private final long[] counts;

  /** Of a gate. */
  Reading(long[] counts) {
    completed = counts[GateAccount.COMPLETED];
    failed = counts[GateAccount.FAILED];
    refused = counts[GateAccount.REFUSED];
    letThrough = counts[GateAccount.LET_THROUGH];
    outOfOrder = counts[GateAccount.OUT_OF_ORDER];
    totalNs = counts[GateAccount.TOTAL_NS];
    waitNs = counts[GateAccount.WAIT_NS];
    this.counts = counts;
  }

  /** Of a stage, which tells what it completed and no times of single tasks. */
  Reading(long completed) {
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
  Latencies latenciesSince(Reading earlier) {
    Latencies latencies = new Latencies();
    if (counts != null) {
      for (int bucket = 0; bucket < Latencies.BUCKETS; bucket++) {
        int at = GateAccount.LATENCIES + bucket;
        long count = counts[at] - earlier.counts[at];
        if (count > 0) {
          latencies.add(bucket, count);
        }
      }
    }
    return latencies;
  }
}
