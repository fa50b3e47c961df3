package io.helenus.agent.control;

import io.helenus.agent.points.HookAccess;
import io.helenus.agent.probes.Bins;
import io.helenus.agent.probes.Probes;
import io.helenus.agent.probes.Tally;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes the performance model in the form of the protocol: counts since the probes started. */
final class ProbeReport {
  private ProbeReport() {}

  static Map<String, Object> of(Probes probes) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("read_ns", System.nanoTime());
    report.put("cost_ns", probes.costNs());
    report.put("share", probes.share());
    report.put("bound_share", probes.boundShare());
    report.put("threshold_ns", probes.thresholdNs());
    report.put("cpu", probes.measures().cpu);
    report.put("allocation", probes.measures().allocation);
    report.put("faults", Bridge.faults(HookAccess.hook()));
    List<Object> entry = new ArrayList<>();
    for (Probes.Metered metered : probes.all()) {
      entry.add(probe(metered));
    }
    report.put("probes", entry);
    return report;
  }

  private static Map<String, Object> probe(Probes.Metered metered) {
    Map<String, Object> probe = new LinkedHashMap<>();
    probe.put("probe", metered.probe.name);
    probe.put("method", metered.point.toString());
    probe.put("on", metered.offReason() == null);
    probe.put("off_reason", metered.offReason());
    probe.put("off_ns", metered.offReason() == null ? null : metered.offNs());
    List<Object> edges = new ArrayList<>();
    metered
        .probe
        .read()
        .forEach(
            (edge, tally) -> {
              Map<String, Object> entry = new LinkedHashMap<>();
              entry.put("caller", edge.caller == null ? null : edge.caller.name);
              entry.put("itself", edge.caller == metered.probe);
              entry.put("thread_group", edge.group.name);
              addCounts(tally, entry);
              edges.add(entry);
            });
    probe.put("calls", edges);
    return probe;
  }

  private static void addCounts(Tally tally, Map<String, Object> entry) {
    entry.put("calls", tally.calls());
    entry.put("failed", tally.failed());
    entry.put("total_ns", tally.totalNs());
    entry.put("inherent_ns", tally.inherentNs());
    entry.put("max_ns", tally.maxNs());
    entry.put("cpu_ns", tally.cpuNs());
    entry.put("allocated_bytes", tally.allocatedBytes());
    List<Object> bins = new ArrayList<>();
    for (int bin = 0; bin < Bins.COUNT; bin++) {
      if (tally.bin(bin) > 0) {
        bins.add(List.of(Bins.lowNs(bin), Bins.lowNs(bin + 1), tally.bin(bin)));
      }
    }
    entry.put("bins", bins);
  }
}
