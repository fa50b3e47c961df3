package io.helenus.agent.control;

import io.helenus.agent.points.Reach;
import io.helenus.agent.probes.Bins;
import io.helenus.agent.probes.Probes;
import io.helenus.agent.probes.Tally;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The performance model by the names of the protocol: counts since the probes were started. */
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
    report.put("faults", Bridge.faults(Reach.hook()));
    List<Object> told = new ArrayList<>();
    for (Probes.Metered metered : probes.all()) {
      told.add(probe(metered));
    }
    report.put("probes", told);
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
              Map<String, Object> told = new LinkedHashMap<>();
              told.put("caller", edge.caller == null ? null : edge.caller.name);
              told.put("itself", edge.caller == metered.probe);
              told.put("thread_group", edge.group.name);
              tell(tally, told);
              edges.add(told);
            });
    probe.put("calls", edges);
    return probe;
  }

  private static void tell(Tally tally, Map<String, Object> told) {
    told.put("calls", tally.calls());
    told.put("failed", tally.failed());
    told.put("total_ns", tally.totalNs());
    told.put("inherent_ns", tally.inherentNs());
    told.put("max_ns", tally.maxNs());
    told.put("cpu_ns", tally.cpuNs());
    told.put("allocated_bytes", tally.allocatedBytes());
    List<Object> bins = new ArrayList<>();
    for (int bin = 0; bin < Bins.COUNT; bin++) {
      if (tally.bin(bin) > 0) {
        bins.add(List.of(Bins.lowNs(bin), Bins.lowNs(bin + 1), tally.bin(bin)));
      }
    }
    told.put("bins", bins);
  }
}
