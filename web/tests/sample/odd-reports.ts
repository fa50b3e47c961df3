import type { Report } from "../../src/model";
import { comparisonOf } from "./comparison";
import { overloadReport } from "./reports";

/** Figures that violate the page's expectations, as a bug would make them. */
export function brokenReport(report: Report): Report {
  const missing = undefined as unknown as number[];
  return {
    ...report,
    title: "Figures that are missing",
    // Errors that occur while a chart is created, while it is drawn, and while its section is built.
    latency: { ...report.latency, response: { ...report.latency.response, p99_ms: missing } },
    cpu: report.cpu.map((cpu) => ({ ...cpu, user: missing })),
    flames: report.flames.map((flame) => ({ ...flame, nodes: undefined as unknown as typeof flame.nodes })),
  };
}

/** Every request was refused at once. */
export function refusedReport(report: Report): Report {
  const { latency, throughput, requests } = report;
  const none = latency.time_s.map(() => null);
  const empty = { p50_ms: none, p95_ms: none, p99_ms: none, p999_ms: none, max_ms: none };
  const never = { p50: null, p95: null, p99: null, p999: null, max: null };
  return {
    ...report,
    title: "Refused",
    slow_threshold_ms: 0,
    errors: [{ outcome: "unavailable", count: requests }],
    findings: [],
    phases: report.phases.map((phase) => ({
      ...phase,
      errors: phase.requests,
      throughput_per_s: 0,
      service_ms: never,
      response_ms: never,
    })),
    throughput: {
      ...throughput,
      ok_per_s: throughput.ok_per_s.map(() => 0),
      failed_per_s: throughput.ok_per_s,
    },
    latency: { ...latency, response: empty, service: empty },
    heatmap: { ...report.heatmap, low_ms: [], high_ms: [], cells: [] },
  };
}

const LONG = "a-title-without-a-space-".repeat(8);

/** More and longer data than the page is made for: long names, eight nodes, forty phases. */
export function largeReport(): Report {
  const report = overloadReport();
  const nodes = Array.from({ length: 8 }, (_, index) => `2001:db8:85a3:8d3:1319:8a2e:370:${7340 + index}`);
  const [first] = report.phases;
  const phases = Array.from({ length: 40 }, (_, index) => ({
    ...first,
    name: `step ${index + 1} of the ramp towards the plateau`,
    run: `lz4 with chunks of 16 KiB, block ${index + 1}`,
    start_s: index * 2.25,
    end_s: (index + 1) * 2.25,
  })) as Report["phases"];
  const of = <T>(things: T[]) => nodes.flatMap((node) => things.map((thing) => ({ ...thing, node })));
  return {
    ...report,
    title: `Ring of eight nodes: ${LONG}`,
    command: `helenus lab run experiments/${LONG}.toml --set ${"keyspace.table.option=value,".repeat(12)}`,
    nodes: nodes.map((address) => ({ address, version: "5.0.9" })),
    phases,
    comparison: comparisonOf(),
    findings: [
      ...report.findings,
      ...nodes.map((node, index) => ({
        rank: report.findings.length + index + 1,
        finding: "gc-pause",
        severity: "warning" as const,
        title: `org.apache.cassandra.db.compaction.${LONG} delayed 12 % of the slow requests`,
        detail: `See /var/lib/cassandra/data/${LONG}/nb-1-big-Data.db.`,
        next: "",
        commands: [],
        node,
        start_s: 1,
        end_s: 80,
        share: 0.12,
        chance_share: 0.02,
        p_value: 0.001,
        query: "select 1",
        evidence: { [LONG]: LONG, node },
      })),
    ],
    cpu: of(report.cpu),
    pauses: of(report.pauses.filter(({ side }) => side === "server").slice(0, 40)).sort(
      (a, b) => a.start_s - b.start_s,
    ),
    pools: of(report.pools),
    tables: of(report.tables).map((table) => ({ ...table, table: LONG })),
    sources: of(report.sources),
  };
}
