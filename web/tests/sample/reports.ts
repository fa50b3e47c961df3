import type { Finding, FlameTree, Pause, Phase, Report } from "../../src/model";
import { probesOf, valveOf } from "./agent";
import { heatmapOf, latencyOf, percentiles, phasesOf, responseTimes, throughputOf } from "./bins";
import { flameOfMinute } from "./flame";
import { Random } from "./random";
import { type Run, type Step, simulate } from "./run";
import { cpuOf, groupsOf, poolsOf, strainOf, tablesOf } from "./server";
import { spectrogramOf } from "./syscalls";

const START = "2026-03-14T03:12:45.250Z";

/** A report of an empty recording: without load, agent or sources. */
export function emptyReport(): Report {
  return {
    format: 1,
    title: "Nothing recorded",
    helenus: "0.1.0",
    created: "2026-03-14T03:20:00Z",
    start: START,
    start_ns: "1773457965250000000",
    duration_s: 0,
    command: "helenus record --node 127.0.0.1 -o empty.helenus",
    host: { name: "lab-1", kernel: "6.18.0", cpus: 2 },
    nodes: [{ address: "127.0.0.1", version: null }],
    slow_threshold_ms: 0,
    slow_threshold_name: "p99",
    requests: 0,
    errors: [],
    phases: [],
    question: null,
    answer: "",
    findings: [],
    comparison: null,
    throughput: { bin_s: 0.1, time_s: [], intended_per_s: [], ok_per_s: [], failed_per_s: [] },
    latency: { bin_s: 0.1, time_s: [], response: noLatency(), service: noLatency() },
    heatmap: { bin_s: 0.1, start_s: 0, columns: 0, low_ms: [], high_ms: [], cells: [] },
    spectrogram: null,
    cpu: [],
    groups: [],
    pauses: [],
    pools: [],
    valves: [],
    tables: [],
    probes: [],
    probes_left_out: 0,
    sources: [],
    flames: [],
    flames_begin_s: null,
  };
}

function noLatency() {
  return { p50_ms: [], p95_ms: [], p99_ms: [], p999_ms: [], max_ms: [] };
}

const OVERLOAD: Step[] = [
  { name: "warm-up", seconds: 10, rate_per_s: 1500, measured: false },
  { name: "step 1", seconds: 16, rate_per_s: 2000, measured: true },
  { name: "step 2", seconds: 16, rate_per_s: 3200, measured: true },
  { name: "step 3", seconds: 16, rate_per_s: 4400, measured: true },
  { name: "step 4", seconds: 16, rate_per_s: 5300, measured: true },
  { name: "step 5", seconds: 16, rate_per_s: 6020, measured: true },
];

/** A stepped write load up to the plateau and past it, 90 s, with collections and one stall of the driver. */
export function overloadReport(): Report {
  const report = reportOf(simulate(OVERLOAD, 6000, 1), 6000, { bin_s: 0.2, columns: 900, moreGroups: 0 });
  return {
    ...report,
    title: "Flame graphs under stress: write plateau",
    valves: [valveOf()],
    probes: probesOf(),
    probes_left_out: 3,
  };
}

/** 1,000,000 requests in ten minutes, as finely binned as a report gets, with more than 50 thread groups. */
export function millionReport(): Report {
  const steps = [1100, 1300, 1500, 1700, 1900, 1600, 2000, 1900, 1800, 1866.7].map((rate_per_s, index) => ({
    name: `step ${index + 1}`,
    seconds: 60,
    rate_per_s,
    measured: true,
  }));
  const report = reportOf(simulate(steps, 2100, 2), 2100, { bin_s: 0.3, columns: 2000, moreGroups: 45 });
  return { ...report, title: "Ten minutes, a million requests" };
}

/** The million requests at their worst: more than 100,000 cells and 5,000 pauses. */
export function denseReport(): Report {
  const report = millionReport();
  const { columns, low_ms } = report.heatmap;
  const random = new Random(11);
  const cells: Report["heatmap"]["cells"] = [];
  for (let column = 0; column < columns; column += 1)
    for (let row = 10; row < low_ms.length - 10; row += 1)
      if (random.next() < 0.65) cells.push([column, row, Math.ceil(random.next() ** 4 * 40)]);
  const pauses = Array.from({ length: 9 }, (_, copy) =>
    report.pauses.map((pause) => ({ ...pause, start_s: (pause.start_s + copy * 61.7) % report.duration_s })),
  )
    .flat()
    .sort((a, b) => a.start_s - b.start_s);
  return {
    ...report,
    title: "A million requests, spread out",
    heatmap: { ...report.heatmap, cells },
    pauses,
    flames: [flameOfMinute()],
    flames_begin_s: 1,
  };
}

const AGENT_SOURCES = new Set(["pauses", "pools", "tables"]);

/** The overload, recorded without the agent in the node. */
export function withoutAgent(report: Report): Report {
  return {
    ...report,
    title: "Write plateau, no agent",
    pauses: report.pauses.filter(({ side }) => side !== "server"),
    pools: [],
    valves: [],
    tables: [],
    probes: [],
    probes_left_out: 0,
    flames: [],
    findings: report.findings.filter(({ finding }) => finding !== "gc-pause"),
    sources: report.sources
      .filter(({ source }) => !AGENT_SOURCES.has(source))
      .map((source) => ({ ...source, lost: 0, is_serious: false, lost_reason: "" })),
  };
}

interface Coarseness {
  bin_s: number;
  columns: number;
  moreGroups: number;
}

function reportOf(run: Run, capacity_per_s: number, { bin_s, columns, moreGroups }: Coarseness): Report {
  const random = new Random(7);
  const phases = phasesOf(run);
  const strain = strainOf(phases, capacity_per_s);
  const slow_threshold_ms = percentiles(responseTimes(run).sort()).p99 ?? 0;
  const failed = run.failed.reduce((sum, one) => sum + one, 0);
  return {
    ...emptyReport(),
    duration_s: run.duration_s,
    command: "helenus lab run experiments/flames-under-stress.toml",
    nodes: [{ address: "127.0.0.1", version: "5.0.5" }],
    slow_threshold_ms,
    requests: run.intended.length,
    errors: failed > 0 ? [{ outcome: "timeout", count: failed }] : [],
    phases,
    question: "Whose pauses make the slow requests?",
    answer:
      "Helenus judged 1,000,000 requests of the load driver in 90 s: the median is 1.2 ms, the p99 41 ms. Next: set a larger heap.",
    findings: findingsOf(run, phases, slow_threshold_ms),
    throughput: throughputOf(run, bin_s),
    latency: latencyOf(run, bin_s),
    heatmap: heatmapOf(run, columns),
    spectrogram: spectrogramOf(run.duration_s),
    cpu: [cpuOf(run.duration_s, strain, random)],
    groups: groupsOf(run.duration_s, strain, random, moreGroups),
    pauses: run.pauses,
    pools: poolsOf(run.duration_s, strain, random),
    tables: tablesOf(phases, run.duration_s, random),
    sources: sourcesOf(run),
    flames: flamesOf(),
    flames_begin_s: 0.5,
  };
}

/** A small graph of two thread groups, and one that compares. */
function flamesOf(): FlameTree[] {
  const names = [
    "all",
    "ReadStage",
    "GC Thread",
    "java.lang.Thread.run",
    "ReadCommand.execute",
    "pread64",
    "scan",
  ];
  const nodes = {
    depth: [0, 1, 2, 1, 2, 3, 4],
    name: [0, 2, 6, 1, 3, 4, 5],
    kind: "agcgjjk",
    weight: [10e9, 2e9, 2e9, 8e9, 8e9, 7e9, 3e9],
  };
  const whole = { event: "cpu", title: "Write plateau", against: "", samples: 1000, other_samples: 0, names };
  return [
    { ...whole, nodes: { ...nodes, other: [] } },
    {
      ...whole,
      title: "while a request was slow (over 20.000 ms)",
      against: "the rest of the judged time",
      other_samples: 2000,
      nodes: { ...nodes, other: [20e9, 1e9, 1e9, 19e9, 19e9, 18e9, 2e9] },
    },
  ];
}

/** Share of the slow requests that overlapped one of the pauses. */
function shareIn(run: Run, pauses: readonly Pause[], slow_ms: number): number {
  let slow = 0;
  let within = 0;
  run.ended.forEach((end, request) => {
    const begin = run.intended[request] ?? 0;
    if ((end - begin) * 1000 < slow_ms) return;
    slow += 1;
    if (pauses.some(({ start_s, duration_ms }) => start_s < end && start_s + duration_ms / 1000 > begin))
      within += 1;
  });
  return slow === 0 ? 0 : within / slow;
}

function findingsOf(run: Run, phases: readonly Phase[], slow_ms: number): Finding[] {
  const gc = run.pauses.filter(({ kind }) => kind === "gc");
  const full = gc.reduce((longest, pause) => (pause.duration_ms > longest.duration_ms ? pause : longest));
  const stall = run.pauses.find(({ side }) => side === "load");
  const knee = phases.findLast(
    ({ rate_per_s, throughput_per_s }) => throughput_per_s > 0.97 * (rate_per_s ?? 0),
  );
  const last = phases.at(-1);
  const gcShare = shareIn(run, [full], slow_ms);
  return [
    {
      rank: 1,
      finding: "gc-pause",
      severity: "critical",
      title: `A full GC of the server stopped it for ${full.duration_ms.toFixed(0)} ms and made ${(gcShare * 100).toFixed(0)} % of the slow requests slow`,
      detail:
        "The heap was full: young collections promoted faster than the old generation was emptied. Give the node more heap (--heap 2g) or a lower in-flight limit, and run the study again.",
      next: "",
      commands: [],
      node: "127.0.0.1",
      start_s: full.start_s - 0.2,
      end_s: full.start_s + 2.2,
      share: gcShare,
      chance_share: 0.021,
      p_value: 0.0004,
      query:
        "select p.start_ns, p.duration_ns, p.cause, count(*) as slow\nfrom requests r join pauses p\n  on r.intended_start_ns < p.start_ns + p.duration_ns and r.end_ns > p.start_ns\nwhere p.kind = 'gc' and r.end_ns - r.intended_start_ns > 41200000\ngroup by 1, 2, 3 order by slow desc",
      evidence: {
        collections: gc.length,
        paused_total_ms: gc.reduce((sum, { duration_ms }) => sum + duration_ms, 0),
        longest_pause_ms: full.duration_ms,
        heap_before_bytes: 1010 * 1024 ** 2,
        heap_after_bytes: 402 * 1024 ** 2,
        slow_requests: 4211,
        association: { share: gcShare, chance_share: 0.021, lift: gcShare / 0.021, p_value: 0.0004 },
        longest: gc
          .slice(0, 3)
          .map(({ start_s, duration_ms }) => ({ start_s, duration_ms, collector: "G1New" })),
      },
    },
    {
      rank: 2,
      finding: "throughput-knee",
      severity: "warning",
      title: `Throughput stops growing after ${knee?.name ?? "the first step"}; the CPU is the limit there`,
      detail:
        "Past this step more load only makes the queue longer. CPU was 96 % busy, the run queue grew, no pool was at its limit.",
      next: "",
      commands: [],
      node: "127.0.0.1",
      start_s: last?.start_s ?? 0,
      end_s: last?.end_s ?? 1,
      share: null,
      chance_share: null,
      p_value: null,
      query: "select name, rate_per_s, count(*) from marks join requests using (phase) group by 1, 2",
      evidence: { knee_per_s: knee?.throughput_per_s ?? 0, cpu_busy_share: 0.96, phase: knee?.name ?? null },
    },
    {
      rank: 3,
      finding: "client-stall",
      severity: "warning",
      title:
        "The load driver itself stood still for 1,000 ms; the server is not to blame for the requests of that second",
      detail:
        "Response times from this stretch count the driver's own pause. Read service times there, or look at what else ran on the machine.",
      next: "",
      commands: [],
      node: "",
      start_s: (stall?.start_s ?? 0) - 0.1,
      end_s: (stall?.start_s ?? 0) + 1.3,
      share: stall ? shareIn(run, [stall], slow_ms) : 0,
      chance_share: 0.011,
      p_value: 0.02,
      query: "select * from stalls where side = 'load' order by duration_ns desc",
      evidence: { longest_stall_ms: stall?.duration_ms ?? 0, stalls: 1 },
    },
    {
      rank: 4,
      finding: "wide-rows",
      severity: "warning",
      title:
        "shop.orders: a row has 976.6 KiB in 100 columns, and statements ask for 1.0 of them; its requests read 976.6 KiB each to return 9.8 KiB",
      detail:
        "The columns of one row lie together, and who asks for one of them reads over the others. Make of the 100 blob columns rows of the partition: CREATE TABLE shop.orders_by_column (id text, column_name text, value blob, PRIMARY KEY ((id), column_name)); To verify: Bytes read against bytes returned (helenus io).",
      next: "",
      commands: [],
      node: "127.0.0.1",
      start_s: 0,
      end_s: run.duration_s,
      share: null,
      chance_share: null,
      p_value: null,
      query: "select keyspace, table_name, sum(data_bytes) / sum(row_count) from sstables group by 1, 2",
      evidence: {
        rule: "wide-rows",
        table: "shop.orders",
        nodes: [
          {
            node: "127.0.0.1",
            figures: {
              mean_row_bytes: 1_000_000,
              columns: 100,
              columns_asked: 1,
              proposed_cql:
                "CREATE TABLE shop.orders_by_column (id text, column_name text, value blob, PRIMARY KEY ((id), column_name));",
            },
          },
        ],
        verify: "Bytes read against bytes returned (helenus io).",
        source: "field report on a wide row, 2016",
      },
    },
    {
      rank: 5,
      finding: "cpu-saturation",
      severity: "information",
      title: "Young collections and safepoints explain no more slow requests than chance would",
      detail: "",
      next: "",
      commands: [],
      node: "127.0.0.1",
      start_s: 0,
      end_s: run.duration_s,
      share: 0.08,
      chance_share: 0.07,
      p_value: 0.41,
      query: "select count(*) from pauses where duration_ns < 100000000",
      evidence: { pauses: gc.length - 1 },
    },
  ];
}

function sourcesOf(run: Run): Report["sources"] {
  const node = "127.0.0.1";
  const none = { lost: 0, is_serious: false, lost_reason: "" };
  return [
    {
      source: "requests",
      node: "",
      provider: "driver",
      captured: run.intended.length,
      ...none,
      cpu_share: 0.31,
    },
    { source: "stalls", node: "", provider: "watcher", captured: 2, ...none, cpu_share: 0.002 },
    {
      source: "cpus",
      node,
      provider: "proc",
      captured: Math.round(run.duration_s * 20),
      lost: 1,
      is_serious: false,
      lost_reason: "the sampler came too late",
      cpu_share: 0.001,
    },
    {
      source: "threads",
      node,
      provider: "proc",
      captured: Math.round(run.duration_s * 900),
      lost: 1204,
      is_serious: true,
      lost_reason: "threads that ended between two readings",
      cpu_share: 0.019,
    },
    {
      source: "pauses",
      node,
      provider: "agent-jfr",
      captured: run.pauses.length - 2,
      ...none,
      cpu_share: null,
    },
    {
      source: "pools",
      node,
      provider: "agent-mxbean",
      captured: Math.round(run.duration_s * 7),
      ...none,
      cpu_share: 0.001,
    },
    {
      source: "tables",
      node,
      provider: "agent-mxbean",
      captured: Math.round(run.duration_s),
      ...none,
      cpu_share: 0.001,
    },
  ];
}
