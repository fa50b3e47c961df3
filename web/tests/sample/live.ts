import type { LiveCpu, LiveNode, LiveSlow, LiveTable, LiveTraffic, LiveView } from "../../src/model";

/** 20:15:07 */
export const LIVE_END_S = Date.UTC(2026, 10, 27, 20, 15, 7) / 1000;
/** How much is kept, which is less than the longest window. */
export const LIVE_KEPT_S = 100;
const IDLE = 0.5;

const LATENCY = { p50: 1, p95: 4, p99: 9, p999: 12, max: 20 };

/** The nodes of a ring, each with half of the requests. */
export const LIVE_NODES: LiveNode[] = ["10.0.0.1", "10.0.0.2"].map((node) => ({
  node,
  requests_per_s: 123_456,
  errors: 1_234_567,
  latency_ms: { p50: 0.123, p95: 100, p99: 0.999, p999: 100, max: 0.999 },
  in_flight: 0.5,
  cpus: 0.4,
  gc_share: 0.01,
  safepoint_share: 0.01,
  // The second one has the longest names and numbers.
  fullest_pool: node === "10.0.0.2" ? "PerDiskMemtableFlushWriter_0" : "ReadStage",
  most_pending: node === "10.0.0.2" ? 1_234_567 : 3,
  dropped: 123_456_789,
  reads_per_s: 123_456,
  writes_per_s: 123_456,
  local_read_us: 1234,
  local_write_us: 30,
  pending_compactions: 12_345,
  running_compactions: 0,
  live_disk_bytes: 1e12,
}));

/** Requests of two statements. */
export const LIVE_STATEMENTS: LiveTraffic = {
  from_s: LIVE_END_S - 60,
  to_s: LIVE_END_S,
  rows: ["SELECT a FROM shop.orders WHERE id = ?", "INSERT INTO shop.items (id) VALUES (?)"].map((name) => ({
    name,
    requests: 3000,
    requests_per_s: 50,
    errors: 0,
    time_share: 0.5,
    in_flight: 0.5,
    latency_ms: LATENCY,
    request_bytes: 100,
    response_bytes: 1000,
    rows_returned: 3000,
  })),
};

export const LIVE_SLOWEST: LiveSlow[] = LIVE_STATEMENTS.rows.map(({ name }) => ({
  start_s: LIVE_END_S - 20,
  duration_ms: 20,
  statement: name,
  client: "10.0.0.7",
  client_port: 4711,
  node: "10.0.0.1",
  outcome: "ok",
  rows_returned: 1,
  response_bytes: 100,
}));

export const LIVE_TABLES: LiveTable[] = [
  {
    node: "10.0.0.1",
    table: "shop.orders",
    reads_per_s: 50,
    writes_per_s: 0,
    local_read_us: 100,
    local_write_us: null,
    sstables: 2,
    live_disk_bytes: 1e12,
    memtable_bytes: 1e6,
    pending_compactions: 0,
    running_compactions: 0,
    compacted_share: null,
    sstables_per_read_p95: 1,
    tombstones_per_slice_p95: 0,
  },
];

/** Figures of a growing recording. Half of the CPUs are idle, and every second reading of them is missing. */
export function liveOf(length_s: number, node: string | null = null, end_s = LIVE_END_S): LiveView {
  const seconds = Math.min(length_s, LIVE_KEPT_S);
  const from_s = end_s - seconds;
  const each = <T>(of: (second: number) => T): T[] =>
    Array.from({ length: seconds }, (_, second) => of(second));
  const cpu: LiveCpu = { user: 0.3, system: 0.1, irq: 0.05, steal: 0, iowait: 0.05, idle: IDLE };
  const rate = node === null ? 100 : 50;
  return {
    kept_from_s: end_s - LIVE_KEPT_S,
    kept_to_s: end_s,
    is_growing: true,
    behind_s: 0,
    totals: {
      from_s,
      to_s: end_s,
      requests: rate * seconds,
      requests_per_s: rate,
      errors: 0,
      errors_per_s: 0,
      weight: 1,
      latency_ms: LATENCY,
      in_flight: 1,
      outcomes: [],
      cpu,
      collections_per_s: 0,
      gc_share: 0,
      safepoint_share: 0,
      pressure: [],
      disks: [],
      retransmitted_per_s: 0,
      major_faults_per_s: 0,
      throttled_cpus: 0,
      // Newest last; the first node answers again.
      events: [
        {
          time_s: LIVE_END_S - 20,
          node: "10.0.0.1",
          kind: "silent",
          what: "answers no client for 2 s, 3 requests wait",
        },
        {
          time_s: LIVE_END_S - 1,
          node: "10.0.0.2",
          kind: "silent",
          what: "answers no client for 6 s, 12 requests wait",
        },
      ],
      // Without the agent, which records pauses.
      sources: ["wire", "cpus", "threads", "pools"].map((source) => ({
        source,
        node: "",
        captured: 100,
        // Too few to change a figure.
        lost: source === "wire" ? 1 : 0,
        is_serious: false,
        lost_reason: "",
        cpus: 0.01,
      })),
    },
    series: {
      from_s,
      bin_s: 1,
      requests_per_s: each(() => rate),
      errors_per_s: each(() => 0),
      p50_ms: each(() => LATENCY.p50),
      p99_ms: each(() => LATENCY.p99),
      p999_ms: each(() => LATENCY.p999),
      max_ms: each(() => LATENCY.max),
      cpu: each((second) => (second % 2 === 0 ? null : cpu)),
      gc_ms_per_s: each(() => 0),
      safepoint_ms_per_s: each(() => 0),
      stall_ms_per_s: each(() => 0),
      pending: each(() => 0),
      read_bytes_per_s: each(() => 0),
      written_bytes_per_s: each(() => 0),
      groups: [
        { process: "server", group: "ReadStage", cpus: each(() => 0.3) },
        { process: "load", group: "driver", cpus: each(() => 0.1) },
      ],
    },
    heat: {
      from_s,
      bin_s: 1,
      columns: seconds,
      low_ms: [0.1, 1, 10],
      high_ms: [1, 10, 100],
      cells: each((second): [number, number, number] => [second, 1, 100]),
    },
  };
}
