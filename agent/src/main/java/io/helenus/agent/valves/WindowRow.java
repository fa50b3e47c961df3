package io.helenus.agent.valves;

import io.helenus.agent.valves.law.Window;
import java.util.LinkedHashMap;
import java.util.Map;

/** The measurements of a valve in a window, and the law's decision at its end. */
final class WindowRow {
  private final Map<String, Object> values = new LinkedHashMap<>();

  /**
   * @param sequence grows by one with each row of any valve
   * @param letThrough requests that entered beyond the limit after the longest wait
   * @param outOfOrder requests that entered beyond the limit because waiting could have deadlocked
   * @param state {@code on} or {@code open}
   */
  WindowRow(
      long sequence,
      String valve,
      String law,
      Window window,
      long letThrough,
      long outOfOrder,
      int nextLimit,
      String reason,
      String state) {
    values.put("sequence", sequence);
    values.put("valve", valve);
    values.put("law", law);
    values.put("end_ns", window.endNs);
    values.put("interval_ns", window.lengthNs());
    values.put("limit", limit(window.limit));
    values.put("next_limit", limit(nextLimit));
    values.put("in_flight", window.inFlight);
    values.put("waiting", window.waiting);
    values.put("elsewhere", window.elsewhere);
    values.put("completed", window.completed);
    values.put("failed", window.failed);
    values.put("refused", window.refused - letThrough);
    values.put("let_through", letThrough);
    values.put("out_of_order", outOfOrder);
    values.put("throughput_per_s", window.completedPerS());
    values.put("mean_ns", window.left() == 0 ? null : window.totalNs / window.left());
    values.put("wait_mean_ns", window.left() == 0 ? null : window.waitNs / window.left());
    boolean timed = window.latencies.count() > 0;
    values.put("p50_ns", timed ? window.latencies.percentile(50) : null);
    values.put("p99_ns", timed ? window.latencies.percentile(99) : null);
    values.put("max_ns", timed ? window.maxNs : null);
    values.put("gc_share", window.gcShare);
    values.put("limited", window.limited);
    values.put("reason", reason);
    values.put("state", state);
  }

  /** A limit in the form of the protocol: null for none. */
  static Integer limit(int limit) {
    return limit == Gate.OPEN ? null : limit;
  }

  long sequence() {
    return (Long) values.get("sequence");
  }

  /** The values by the names of the protocol. */
  Map<String, Object> values() {
    return values;
  }
}
