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
 * Source {@code probes}: what the probes in this JVM metered since the last reading, as the
 * difference of two readings of the model, which counts since the probes were started.
 */
public final class ProbeModel extends Sample {
  private static final List<String> SUMS =
      List.of("calls", "failed", "total_ns", "inherent_ns", "cpu_ns", "allocated_bytes");

  /** The counts of a probe on one edge, or of one group of threads, since the model began. */
  private static final class Account {
    final Map<String, Long> sums = new HashMap<>();
    final Map<Long, long[]> bins = new TreeMap<>();
    long maxNs;
    long repeatedNs;

    void add(Map<?, ?> told) {
      for (String sum : SUMS) {
        sums.merge(sum, (Long) told.get(sum), Long::sum);
      }
      if (Boolean.TRUE.equals(told.get("itself"))) {
        repeatedNs += (Long) told.get("total_ns");
      }
      maxNs = Math.max(maxNs, (Long) told.get("max_ns"));
      for (Object bin : (List<?>) told.get("bins")) {
        List<?> cells = (List<?>) bin;
        long[] sum =
            bins.computeIfAbsent((Long) cells.get(0), low -> new long[] {(Long) cells.get(1), 0});
        sum[1] += (Long) cells.get(2);
      }
    }

    long since(Account before, String sum) {
      return sums.get(sum) - (before == null ? 0 : before.sums.get(sum));
    }

    long binSince(Account before, long lowNs) {
      long[] then = before == null ? null : before.bins.get(lowNs);
      return bins.get(lowNs)[1] - (then == null ? 0 : then[1]);
    }
  }

  /** One reading of the model. */
  private static final class Reading {
    final long readNs;
    final double costNs;
    final Map<List<String>, Account> groups = new LinkedHashMap<>();
    final Map<List<String>, Account> edges = new LinkedHashMap<>();
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
          groups.computeIfAbsent(List.of(name, group), key -> new Account()).add(edge);
          edges
              .computeIfAbsent(
                  List.of(caller == null ? "" : caller.toString(), name, group),
                  key -> new Account())
              .add(edge);
        }
      }
    }
  }

  private final UnaryOperator<String> resident;
  private Reading before;

  /**
   * @param resident takes a command to the agent that holds the probes; null when there is none
   */
  public ProbeModel(Feed feed, UnaryOperator<String> resident) {
    super(feed);
    this.resident = resident;
  }

  @Override
  void read() {
    String reply = resident.apply("{\"do\":\"probes.read\"}");
    Object model = reply == null ? null : ((Map<?, ?>) Json.parse(reply)).get("ok");
    if (!(model instanceof Map)) {
      before = null;
      return;
    }
    Reading now = new Reading((Map<?, ?>) model);
    if (before != null && began(now)) {
      before = null;
    }
    // Counts from before the recording began are left out.
    if (before != null) {
      write(now);
    }
    before = now;
  }

  /** Whether the probes were stopped and started again since the last reading. */
  private boolean began(Reading now) {
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
    for (Map.Entry<List<String>, Account> entry : now.groups.entrySet()) {
      Account then = before.groups.get(entry.getKey());
      Account account = entry.getValue();
      calls += account.since(then, "calls");
      if (account.since(then, "calls") > 0) {
        group(now, timeNs, intervalNs, entry.getKey(), account, then);
      }
    }
    for (Map.Entry<List<String>, Account> entry : now.edges.entrySet()) {
      Account then = before.edges.get(entry.getKey());
      long count = entry.getValue().since(then, "calls");
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
            entry.getValue().since(then, "total_ns"));
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
    // The metering is done by the server's own threads.
    feed.spend((long) (calls * now.costNs));
  }

  private void group(
      Reading now,
      long timeNs,
      long intervalNs,
      List<String> group,
      Account account,
      Account then) {
    long longestNs = 0;
    for (Map.Entry<Long, long[]> bin : account.bins.entrySet()) {
      long count = account.binSince(then, bin.getKey());
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
        account.since(then, "calls"),
        account.since(then, "failed"),
        account.since(then, "total_ns") - account.repeatedNs + (then == null ? 0 : then.repeatedNs),
        account.since(then, "inherent_ns"),
        Math.min(longestNs, account.maxNs),
        now.cpu ? account.since(then, "cpu_ns") : null,
        now.allocation ? account.since(then, "allocated_bytes") : null,
        null);
  }
}
