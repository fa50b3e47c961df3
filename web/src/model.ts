import type { FlameData } from "./flame/tree";

/**
 * What the binary writes into the page, as JSON.
 *
 * Times are seconds since `start`, latencies milliseconds. Arrays are columnar: entry `i` of each array
 * of one object belongs to `time_s[i]`. Every `time_s[i]` is the START of its bin; a bin is as wide as
 * `bin_s` says, or as the distance to the next one. `null` says that a bin holds nothing.
 */
export interface Report {
  /** Version of this shape; this page reads 1. */
  format: 1;
  title: string;
  /** Version of the binary that wrote the report. */
  helenus: string;
  /** ISO 8601, when the report was written. */
  created: string;
  /** ISO 8601, t = 0. */
  start: string;
  /** t = 0 as ns since the Unix epoch, decimal; too large for a JavaScript number. */
  start_ns: string;
  duration_s: number;
  /** The command line that made the recording. */
  command: string;
  host: { name: string; kernel: string; cpus: number };
  nodes: { address: string; version: string | null }[];
  /** A request is called slow when its response time is above this. */
  slow_threshold_ms: number;
  /** How the threshold was chosen, such as "p99". */
  slow_threshold_name: string;
  requests: number;
  errors: { outcome: string; count: number }[];
  phases: Phase[];
  /** Most important first. */
  findings: Finding[];
  /** Null where the recording is of no experiment with variants. */
  comparison: Comparison | null;
  throughput: Throughput;
  latency: Latency;
  heatmap: Heatmap;
  /** Null where no system call was recorded. */
  spectrogram: Spectrogram | null;
  /** Where the CPU time went; and while requests were slow, against the rest. */
  flames: FlameData[];
  /** When the first sample was taken, from which the times of their samples count; null where there is none. */
  flames_begin_s: number | null;
  cpu: Cpu[];
  groups: ThreadGroup[];
  pauses: Pause[];
  pools: Pool[];
  valves: Valve[];
  tables: Table[];
  /** The most own time first, of the baseline where there are variants; the variants of one probe after each other. */
  probes: Probe[];
  /** How many probes with less own time are not among them. */
  probes_left_out: number;
  sources: Source[];
}

/** Milliseconds; null when there was no request to take them from. */
export interface Percentiles {
  p50: number | null;
  p95: number | null;
  p99: number | null;
  p999: number | null;
  max: number | null;
}

export interface Phase {
  name: string;
  /** Which run of an experiment's variant it is of, such as "leveled, block 3"; null in what is no experiment. */
  run: string | null;
  start_s: number;
  end_s: number;
  /** Intended rate in open loop; null in closed loop. */
  rate_per_s: number | null;
  /** Intended rate at the end, where it differs (ramp). */
  end_rate_per_s: number | null;
  /** Requests in flight in closed loop; null in open loop. */
  in_flight: number | null;
  /** False for a warm-up: shown, not judged. */
  measured: boolean;
  requests: number;
  errors: number;
  throughput_per_s: number;
  /** From the actual start. */
  service_ms: Percentiles;
  /** From the intended start. */
  response_ms: Percentiles;
}

export type Severity = "critical" | "warning" | "information";

export interface Finding {
  /** 1 is the most important; unique in a report. */
  rank: number;
  /** Kind, such as "gc-pause". */
  finding: string;
  severity: Severity;
  /** The finding in one sentence. */
  title: string;
  /** What it means and what to do next. */
  detail: string;
  /** The node that it is about; empty when none. */
  node: string;
  start_s: number;
  end_s: number;
  /** Share (0 to 1) of the slow requests that it accounts for; null when it is about something else. */
  share: number | null;
  /** Share that chance alone would give. */
  chance_share: number | null;
  /** How often chance alone gives at least `share`. */
  p_value: number | null;
  /** SQL that shows the evidence. */
  query: string;
  /** The figures that it rests on; a name's suffix is its unit (`_ms`, `_bytes`, `_per_s`, `_share`). */
  evidence: Record<string, unknown>;
}

/** What each variant of an experiment was worth, against a baseline. */
export interface Comparison {
  baseline: string;
  /** What one run is of, such as "block". */
  run_unit: string;
  paired: boolean;
  /** Of the intervals, such as 0.95. */
  confidence: number;
  resamples: number;
  /** A difference below this share is none. */
  margin: number;
  /** Runs that were cut short, and are in nothing here. */
  cut_short: number;
  /** What can't be concluded, and what was not measured, in sentences. */
  remarks: string[];
  variants: Variant[];
}

export interface Variant {
  name: string;
  /** The verdict in words. */
  sentence: string;
  /** How many runs of it are compared. */
  runs: number;
  metrics: Ratio[];
}

export type Verdict = "better" | "worse" | "no-difference" | "not-enough";

/** One figure of a variant against the baseline's. */
export interface Ratio {
  name: string;
  unit: string;
  better: "lower" | "higher";
  meaning: string;
  /** Means over the runs. */
  baseline: number;
  variant: number;
  /** Null where the baseline's is 0. */
  ratio: number | null;
  /** The interval; null where there are too few runs, or an end of it is infinite. */
  low: number | null;
  high: number | null;
  verdict: Verdict;
  /** How many runs would tell; null when more than 1000, or when these do. */
  runs_needed: number | null;
}

export interface Throughput {
  bin_s: number;
  time_s: number[];
  /** Null where nothing was intended, as in closed loop. */
  intended_per_s: (number | null)[];
  ok_per_s: number[];
  failed_per_s: number[];
}

/** Milliseconds per bin; null where no request ended in the bin. */
export interface LatencySeries {
  p50_ms: (number | null)[];
  p95_ms: (number | null)[];
  p99_ms: (number | null)[];
  p999_ms: (number | null)[];
  max_ms: (number | null)[];
}

/** Response time counts from the intended start, service time from the actual start. */
export type LatencyKind = "response" | "service";

export interface Latency extends Record<LatencyKind, LatencySeries> {
  bin_s: number;
  time_s: number[];
}

/** Counts of response times. Only cells that hold a request are there. */
export interface Heatmap {
  bin_s: number;
  start_s: number;
  /** Number of time columns; column `c` starts at `start_s + c * bin_s`. */
  columns: number;
  /** Bounds of each row, rising, log-spaced; a row holds low <= latency < high. */
  low_ms: number[];
  high_ms: number[];
  cells: [column: number, row: number, count: number][];
}

/** How long system calls took, over time. Row `r` begins at `r * bin_s`. */
export interface Spectrogram {
  /** Each call, or the summary of each second. */
  of: "syscalls" | "summary";
  bin_s: number;
  rows: number;
  /** Column `c` holds edges_ns[c] <= duration < edges_ns[c + 1]; the first also what is shorter, the last what is longer. */
  edges_ns: number[];
  /** The most frequent names. */
  calls: string[];
  groups: string[];
  files: string[];
  /** How many more there were; in the cells they are one, numbered after the last name. */
  other_calls: number;
  other_groups: number;
  other_files: number;
  /** A cell is what stands at one place in all lists. */
  cells: {
    row: number[];
    column: number[];
    call: number[];
    group: number[];
    file: number[];
    events: number[];
    total_ns: number[];
    bytes: number[];
    errors: number[];
  };
  /** Single calls by time: every one, or the longest of each place. */
  longest: Syscall[];
  /** Whether it is every one. */
  complete: boolean;
  events: number;
  /** What is known to be missing; a number that nobody knows is null. */
  lost: { node: string; lost: number | null; reason: string }[];
}

export interface Syscall {
  start_s: number;
  duration_ns: number;
  group: string;
  tid: number;
  call: string;
  file: string;
  bytes: number | null;
  error: string | null;
}

/** Shares (0 to 1) of all CPUs of the machine of a node. */
export interface Cpu {
  node: string;
  time_s: number[];
  user: number[];
  system: number[];
  iowait: number[];
  irq: number[];
  steal: number[];
  idle: number[];
}

/** The threads of one process whose names differ only in their number. */
export interface ThreadGroup {
  /** "server" or "load". */
  process: string;
  group: string;
  threads: number;
  cpu_s: number;
  run_queue_s: number | null;
  migrations: number | null;
  voluntary_switches: number | null;
  involuntary_switches: number | null;
  time_s: number[];
  /** CPUs kept busy in each bin. */
  cpus: number[];
}

export type Side = "server" | "load" | "recorder";

export interface Pause {
  start_s: number;
  duration_ms: number;
  side: Side;
  kind: "gc" | "safepoint" | "stall";
  node: string;
  /** What else is known: collector and cause, heap before and after, operation. */
  label: string;
}

export interface Pool {
  node: string;
  pool: string;
  time_s: number[];
  active: number[];
  pending: number[];
  blocked: number[];
}

/** A valve of a node; there are no bins for the time in which it was not there. */
export interface Valve {
  node: string;
  valve: string;
  time_s: number[];
  /** The last of the bin; null where the valve was open. */
  limit: (number | null)[];
  /** Mean number inside. */
  in_flight: number[];
  /** Mean number that waited. */
  waiting: number[];
  completed_per_s: number[];
  /** Mean wait; null where nothing came out. */
  wait_ms: (number | null)[];
  /** In the order of time. */
  decisions: ValveDecision[];
  /** How many came before those. */
  decisions_left_out: number;
}

/** Another limit or state, and why. */
export interface ValveDecision {
  /** End of the window that it rests on. */
  time_s: number;
  /** The limit until then; null where the valve was open. */
  limit: number | null;
  /** From then on. */
  next_limit: number | null;
  law: string;
  reason: string;
}

/** What a probe metered, on all nodes and in all thread groups together. */
export interface Probe {
  probe: string;
  /** Whose runs it was metered in; null outside of an experiment with variants. */
  variant: string | null;
  calls: number;
  failed: number;
  calls_per_s: number;
  total_s: number;
  /** Without the time of callees that have probes of their own. */
  own_s: number;
  /** Null where it was not called. */
  mean_us: number | null;
  own_mean_us: number | null;
  max_ms: number;
  /** Why it was switched off; null where it was not. */
  off_reason: string | null;
}

export interface Table {
  node: string;
  keyspace: string;
  table: string;
  time_s: number[];
  reads_per_s: (number | null)[];
  writes_per_s: (number | null)[];
  /** Mean of the local reads in the bin. */
  read_ms: (number | null)[];
  /** Mean of the local writes in the bin. */
  write_ms: (number | null)[];
  sstables: (number | null)[];
  live_disk_bytes: (number | null)[];
}

export interface Source {
  source: string;
  node: string;
  /** How it was captured, such as "proc" or "agent-log". */
  provider: string;
  /** Rows. */
  captured: number;
  /** Rows or samples known to be lost. */
  lost: number;
  /** Whether so much was lost that a figure may be wrong. */
  is_serious: boolean;
  /** Empty when nothing was lost. */
  lost_reason: string;
  /** Share of one CPU that the source itself used; null where it cannot be told apart. */
  cpu_share: number | null;
}
