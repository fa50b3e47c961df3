package io.helenus.agent.sources;

import io.helenus.agent.core.Json;
import io.helenus.agent.recording.Tables;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Source {@code probes}: the counts of the probes in this JVM since the last reading. The model
 * counts since the probes were started, so a row is the difference of two readings.
 */
public final class ProbeModel extends SampledSource {
  private static final List<String> SUMS =
      List.of("calls", "failed", "total_ns", "inherent_ns", "cpu_ns", "allocated_bytes");

  /** The counts of a probe on one edge, or of one group of threads, since the model began. */
  private static final class CallCounts {
    final Map<String, Long> sums = new HashMap<>();
    final Map<Long, long[]> bins = new TreeMap<>();
    long maxNs;
    long repeatedNs;

    void add(Map<?, ?> edge) {
      for (String sum : SUMS) {
        sums.merge(sum, (Long) edge.get(sum), Long::sum);
      }
      if (Boolean.TRUE.equals(edge.get("itself"))) {
        repeatedNs += (Long) edge.get("total_ns");
      }
      maxNs = Math.max(maxNs, (Long) edge.get("max_ns"));
      for (Object bin : (List<?>) edge.get("bins")) {
        List<?> cells = (List<?>) bin;
        long[] sum =
            bins.computeIfAbsent((Long) cells.get(0), low -> new long[] {(Long) cells.get(1), 0});
        sum[1] += (Long) cells.get(2);
      }
    }

    long since(CallCounts before, String sum) {
      return sums.get(sum) - (before == null ? 0 : before.sums.get(sum));
    }

    long binSince(CallCounts before, long lowNs) {
      long[] earlier = before == null ? null : before.bins.get(lowNs);
      return bins.get(lowNs)[1] - (earlier == null ? 0 : earlier[1]);
    }
  }

  /** One reading of the model. */
  private static final class Reading {
    final long readNs;
    final double costNs;
    final Map<List<String>, CallCounts> groups = new LinkedHashMap<>();
    final Map<List<String>, CallCounts> edges = new LinkedHashMap<>();
    final Map<String, String> off = new LinkedHashMap<>();
    final boolean cpu;
    final boolean allocation;

    Reading(Map<?, ?> model) {
      readNs = (Long) model.get("read_ns");
      costNs = ((Number) model.get("cost_ns")).doubleValue();
      cpu = Boolean.TRUE.equals(model.get("cpu"));
      allocation = Boolean.TRUE.equals(model.get("allocation"));
      for (Object told : (List<?>) model.get("probes")) {
        Map<?, ?> probe = (Map<?, ?>) told;
        String name = (String) probe.get("probe");
        if (probe.get("off_reason") != null) {
          off.put(name, (String) probe.get("off_reason"));
        }
        for (Object call : (List<?>) probe.get("calls")) {
          Map<?, ?> edge = (Map<?, ?>) call;
          String group = (String) edge.get("thread_group");
          Object caller = edge.get("caller");
          groups.computeIfAbsent(List.of(name, group), key -> new CallCounts()).add(edge);
          edges
              .computeIfAbsent(
                  List.of(caller == null ? "" : caller.toString(), name, group),
                  key -> new CallCounts())
              .add(edge);
        }
      }
    }
  }

  private final UnaryOperator<String> control;
  private Reading before;

  /**
   * @param control executes a command in the agent that holds the probes; gives null if there is
   *     none
   */
  public ProbeModel(Feed feed, UnaryOperator<String> control) {
    super(feed);
    this.control = control;
  }

  @Override
  void read() {
    String reply = control.apply("{\"do\":\"probes.read\"}");
    Object model = reply == null ? null : ((Map<?, ?>) Json.parse(reply)).get("ok");
    if (!(model instanceof Map)) {
      before = null;
      return;
    }
    Reading now = new Reading((Map<?, ?>) model);
    if (before != null && isRestarted(now)) {
      before = null;
    }
    // Counts from before the recording began are left out.
    if (before != null) {
      write(now);
    }
    before = now;
  }

  /** Whether the probes were stopped and started again since the last reading. */
  private boolean isRestarted(Reading now) {
    return before.groups.entrySet().stream()
        .anyMatch(
            entry ->
                !now.groups.containsKey(entry.getKey())
                    || now.groups.get(entry.getKey()).since(entry.getValue(), "calls") < 0);
  }

  private void write(Reading now) {
    long timeNs = feed.at(now.readNs);
    long intervalNs = now.readNs - before.readNs;
    long calls = 0;
    for (Map.Entry<List<String>, CallCounts> entry : now.groups.entrySet()) {
      CallCounts earlier = before.groups.get(entry.getKey());
      CallCounts counts = entry.getValue();
      calls += counts.since(earlier, "calls");
      if (counts.since(earlier, "calls") > 0) {
        group(now, timeNs, intervalNs, entry.getKey(), counts, earlier);
      }
    }
    for (Map.Entry<List<String>, CallCounts> entry : now.edges.entrySet()) {
      CallCounts earlier = before.edges.get(entry.getKey());
      long count = entry.getValue().since(earlier, "calls");
      if (count > 0) {
        List<String> edge = entry.getKey();
        Tables.probeCall(
            feed.rows(),
            timeNs,
            intervalNs,
            feed.node(),
            edge.get(0),
            edge.get(1),
            edge.get(2),
            count,
            entry.getValue().since(earlier, "total_ns"));
      }
    }
    for (String probe : Set.copyOf(now.off.keySet())) {
      if (!before.off.containsKey(probe)) {
        String reason = now.off.get(probe);
        Long unknown = null;
        Tables.probeSample(
            feed.rows(),
            timeNs,
            intervalNs,
            feed.node(),
            probe,
            "",
            0,
            0,
            0,
            0,
            0,
            unknown,
            unknown,
            reason);
      }
    }
    // The overhead has no thread of its own: the server's threads do the metering.
    feed.spend((long) (calls * now.costNs));
  }

  private void group(
      Reading now,
      long timeNs,
      long intervalNs,
      List<String> group,
      CallCounts counts,
      CallCounts earlier) {
    long longestNs = 0;
    for (Map.Entry<Long, long[]> bin : counts.bins.entrySet()) {
      long count = counts.binSince(earlier, bin.getKey());
      if (count > 0) {
        longestNs = bin.getValue()[0];
        Tables.probeLatency(
            feed.rows(),
            timeNs,
            intervalNs,
            feed.node(),
            group.get(0),
            group.get(1),
            bin.getKey(),
            bin.getValue()[0],
            count);
      }
    }
    Tables.probeSample(
        feed.rows(),
        timeNs,
        intervalNs,
        feed.node(),
        group.get(0),
        group.get(1),
        counts.since(earlier, "calls"),
        counts.since(earlier, "failed"),
        counts.since(earlier, "total_ns")
            - counts.repeatedNs
            + (earlier == null ? 0 : earlier.repeatedNs),
        counts.since(earlier, "inherent_ns"),
        Math.min(longestNs, counts.maxNs),
        now.cpu ? counts.since(earlier, "cpu_ns") : null,
        now.allocation ? counts.since(earlier, "allocated_bytes") : null,
        null);
  }
}
