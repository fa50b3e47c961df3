// Generated from the types of crates/explain by `INSTA_UPDATE=always cargo test --workspace --lib report::typescript`. Do not edit.

/** Which of two figures is better. */
export type Better = "lower" | "higher";

/** The worth of each variant of an experiment, against a baseline. */
export type Comparison = {
  baseline: string;
  /** What one run is of: block or recording. */
  run_unit: string;
  /** Whether a run is compared with that of the baseline in the same block. */
  paired: boolean;
  /** Of the intervals, each for its figure alone, such as 0.95. */
  confidence: number;
  /** The probability that identical runs get `better` or `worse` in any figure of a variant, such as 0.05. */
  family_error: number;
  resamples: number;
  margin: number;
  /** Runs of variants that were cut short, and are in nothing here. */
  cut_short: number;
  /** What can't be concluded, and what was not measured, in sentences. */
  remarks: Array<string>;
  variants: Array<Variant>;
};

/** Shares of all CPUs of a node's machine, 0 to 1. */
export type Cpu = {
  node: string;
  time_s: Array<number>;
  user: Array<number>;
  system: Array<number>;
  iowait: Array<number>;
  irq: Array<number>;
  steal: Array<number>;
  idle: Array<number>;
};

export type Finding = {
  /** 1 is the most important. */
  rank: number;
  /** The kind, such as `gc-pause`, or the rule of an advice. */
  finding: string;
  severity: Severity;
  /** Cause and size. */
  title: string;
  /** The evidence. */
  detail: string;
  /** The one command or setting to try; empty where there is nothing to do. */
  next: string;
  /** Empty when it is about no node. */
  node: string;
  start_s: number;
  end_s: number;
  /** Share of the slow requests, 0 to 1, that are counted for it; null where it is about something else. */
  share: number | null;
  /** The part of `share` that chance alone would give. */
  chance_share: number | null;
  /** How often chance gives at least as much of the slow requests' extra time (for `in-common`: as large a share). */
  p_value: number | null;
  /** SQL that shows the evidence. */
  query: string;
  /** The figures that it rests on; the suffix of a name is its unit, such as `_ms`, `_bytes`, `_per_s` and `_share`. */
  evidence: Record<string, unknown>;
};

/** The nodes in the order of a walk, a list for each member: half of what a list of objects takes. */
export type FlameNodes = {
  /** 0 for all, 1 for thread groups, from 2 on frames. */
  depth: Array<number>;
  /** Positions among the names. */
  name: Array<number>;
  /** A letter for each node: that of the column `kinds` of the table stacks; g for a thread group, a for all. */
  kind: string;
  weight: Array<number>;
  /** Empty where there is no comparison. */
  other: Array<number>;
};

/** Times of samples, for a page that draws the graph of any stretch of time. */
export type FlameScope = {
  /** The first step here and the one after the last, counted from the recording's first sample. */
  first: number;
  end: number;
  /** How long a step is: times are rounded down to it. */
  step_ns: number;
  /** Whether steps are longer than a millisecond, for the size of the page. */
  binned: boolean;
  /** What all weights are multiples of. */
  unit: number;
  /**
   * Base64 of numbers of seven bits a byte, the lowest first, with the eighth bit set where more follow. For each stack:
   * its node's number less that of the one before, how many entries, and for each entry, by time: its step less that of
   * the one before (at first: less `first`), its weight in units, and how many samples that is.
   */
  times: string;
};

/** A flame graph as its page draws it: nodes in the order of a walk, each before what it called, siblings by name. */
export type FlameTree = {
  event: string;
  title: string;
  against: string;
  samples: number;
  /** The CPU time that the kernel counted of the threads that were sampled. */
  counted_ns?: number;
  names: Array<string>;
  nodes: FlameNodes;
  /** When the samples were taken; not of a comparison. */
  scope?: FlameScope;
};

/** Counts of response times where the request was due; the rows are evenly spaced in the logarithm. */
export type Heatmap = {
  bin_s: number;
  start_s: number;
  /** Column `c` begins at `start_s + c * bin_s`. */
  columns: number;
  /** Bounds of the rows, rising; a row holds what took its low bound or more, and less than its high one. */
  low_ms: Array<number>;
  high_ms: Array<number>;
  /** Column, row, requests; cells without requests are left out. */
  cells: Array<[number, number, number]>;
};

export type Host = {
  name: string;
  kernel: string;
  cpus: number;
};

/** Response times count where the request was due, service times where it was sent. */
export type Latency = {
  bin_s: number;
  time_s: Array<number>;
  response: LatencySeries;
  service: LatencySeries;
};

/** Milliseconds; null where no request ended in the bin. */
export type LatencySeries = {
  p50_ms: Array<number | null>;
  p95_ms: Array<number | null>;
  p99_ms: Array<number | null>;
  p999_ms: Array<number | null>;
  max_ms: Array<number | null>;
};

export type Node = {
  address: string;
  version: string | null;
};

export type OutcomeCount = {
  outcome: string;
  count: number;
};

export type Pause = {
  start_s: number;
  duration_ms: number;
  side: Side;
  kind: PauseKind;
  node: string;
  /** More about it: the collector and its cause, the operation of a safepoint, the kind of a stall. */
  label: string;
};

export type PauseKind = "gc" | "safepoint" | "stall";

/** Milliseconds; null where there was no value. */
export type Percentiles = {
  p50: number | null;
  p95: number | null;
  p99: number | null;
  p999: number | null;
  max: number | null;
};

export type Phase = {
  name: string;
  /** Which run of an experiment's variant it is of, such as `leveled, block 3`; null in what is no experiment. */
  run: string | null;
  start_s: number;
  end_s: number;
  /** Intended rate in open loop; null in closed loop. */
  rate_per_s: number | null;
  /** Intended rate at the end, where it differs. */
  end_rate_per_s: number | null;
  /** Requests in flight in closed loop; null in open loop. */
  in_flight: number | null;
  /** false for a warm-up, which is shown and not judged. */
  measured: boolean;
  requests: number;
  errors: number;
  throughput_per_s: number;
  /** From the actual start. */
  service_ms: Percentiles;
  /** From the intended start. */
  response_ms: Percentiles;
};

export type Pool = {
  node: string;
  pool: string;
  time_s: Array<number>;
  active: Array<number>;
  pending: Array<number>;
  blocked: Array<number>;
};

/** One probe, all nodes and thread groups together. */
export type Probe = {
  probe: string;
  /** Whose runs it was metered in; null outside of an experiment with variants. */
  variant: string | null;
  calls: number;
  failed: number;
  /** Over all the time in which some probe was called. */
  calls_per_s: number;
  total_s: number;
  /** Without the time of callees that have probes of their own. */
  own_s: number;
  /** null where it was not called. */
  mean_us: number | null;
  own_mean_us: number | null;
  max_ms: number;
  /** Why it was switched off, the last time that it was; null where it was not. */
  off_reason: string | null;
};

/** One figure of a variant, against the baseline's. */
export type Ratio = {
  /** Means over the runs. */
  baseline: number;
  variant: number;
  /** Of the means; null where the baseline's is 0 and the variant's is not. */
  ratio: number | null;
  /** The interval of the ratio; null where there are too few runs, or as for the ratio. */
  low: number | null;
  high: number | null;
  /** How probable so large a difference in any of the figures is when runs differ by chance alone (Westfall, Young, 1993). */
  p_value: number;
  verdict: Verdict;
  /** How many runs would tell, where these don't: more than there are. null when more than 1000, or when these do. */
  runs_needed: number | null;
  name: string;
  unit: string;
  better: Better;
  /** What it is, in some words. */
  meaning: string;
};

/**
 * The data that the page of a report draws, as JSON within it.
 *
 * Times are seconds since `start`, latencies milliseconds. Entry `i` of each list of one object belongs to its `time_s[i]`,
 * which is when the bin begins; a bin is as wide as `bin_s` says, or reaches to the next one. null stands for a bin that
 * holds nothing.
 */
export type Report = {
  /** Of this shape; the page reads 1. */
  format: number;
  title: string;
  /** Version that wrote the recording. */
  helenus: string;
  /** When the recording was begun, in ISO 8601. */
  created: string;
  /** Where the times of the report are 0, in ISO 8601. */
  start: string;
  /** The same in ns since the Unix epoch: a text, since a number of JavaScript would round it. */
  start_ns: string;
  duration_s: number;
  /** The command line that made the recording. */
  command: string;
  host: Host;
  nodes: Array<Node>;
  /** A request is slow when its response time is above this. */
  slow_threshold_ms: number;
  /** How the threshold was chosen, such as `p99`. */
  slow_threshold_name: string;
  requests: number;
  errors: Array<OutcomeCount>;
  phases: Array<Phase>;
  /** The answer in at most four sentences: the requests, whether they were slow, the cause, and the next step. */
  answer: string;
  /** Most important first. */
  findings: Array<Finding>;
  /** null where the recording is of no experiment with variants. */
  comparison: Comparison | null;
  throughput: Throughput;
  latency: Latency;
  heatmap: Heatmap;
  /** null where no system call was recorded. */
  spectrogram: Spectrogram | null;
  cpu: Array<Cpu>;
  groups: Array<ThreadGroup>;
  pauses: Array<Pause>;
  pools: Array<Pool>;
  valves: Array<Valve>;
  tables: Array<Table>;
  /** The most own time first, of the baseline where there are variants; those of one probe after each other. */
  probes: Array<Probe>;
  /** How many probes with less own time are not among them. */
  probes_left_out: number;
  sources: Array<Source>;
  /** Where the CPU time went; and while requests were slow, against the rest. */
  flames: Array<FlameTree>;
  /** When the first sample was taken, from which the times of their samples count; null where there is none. */
  flames_begin_s: number | null;
};

export type Severity = "information" | "warning" | "critical";

/** Who stood still. */
export type Side = "server" | "load" | "recorder";

export type Source = {
  source: string;
  node: string;
  /** How it was captured, such as `proc` or `agent-log`. */
  provider: string;
  /** Rows. */
  captured: number;
  /** Rows or samples that are known to be lost. */
  lost: number;
  /** Whether so much was lost that a figure may be wrong. */
  is_serious: boolean;
  /** Empty when nothing was lost. */
  lost_reason: string;
  /** CPUs that the source itself used; null where that can't be told apart. */
  cpu_share: number | null;
};

/** What a source is known to have lost. */
export type SourceLoss = {
  node: string;
  /** null when the number is not known. */
  lost: number | null;
  reason: string;
};

/** How long system calls took, over time: what the page draws, filters and selects from. Row `r` begins at `r * bin_s`. */
export type Spectrogram = {
  of: SpectrogramOf;
  bin_s: number;
  rows: number;
  /**
   * Column `c` holds what took `edges_ns[c]` or more and less than `edges_ns[c + 1]`; the first also what took less, the last
   * also what took more.
   */
  edges_ns: Array<number>;
  /** The most frequent names. */
  calls: Array<string>;
  groups: Array<string>;
  files: Array<string>;
  /** How many more calls, thread groups and files there were, which the cells hold as one: the number after the last name. */
  other_calls: number;
  other_groups: number;
  other_files: number;
  cells: SpectrogramCells;
  /** By when they began. */
  longest: Array<Syscall>;
  /** Whether `longest` is every single call. */
  complete: boolean;
  events: number;
  lost: Array<SourceLoss>;
};

/** A list for each member: a cell is what stands at one place in all of them. */
export type SpectrogramCells = {
  row: Array<number>;
  column: Array<number>;
  call: Array<number>;
  group: Array<number>;
  file: Array<number>;
  events: Array<number>;
  total_ns: Array<number>;
  bytes: Array<number>;
  errors: Array<number>;
};

/** What the events are. */
export type SpectrogramOf = "syscalls" | "summary" | "requests";

/** One call. */
export type Syscall = {
  start_s: number;
  duration_ns: number;
  group: string;
  tid: number;
  call: string;
  file: string;
  bytes: number | null;
  error: string | null;
};

export type Table = {
  node: string;
  keyspace: string;
  table: string;
  time_s: Array<number>;
  reads_per_s: Array<number | null>;
  writes_per_s: Array<number | null>;
  /** Mean of the local reads in the bin. */
  read_ms: Array<number | null>;
  /** Mean of the local writes in the bin. */
  write_ms: Array<number | null>;
  sstables: Array<number | null>;
  live_disk_bytes: Array<number | null>;
};

/** The threads of a process whose names differ only in their number. */
export type ThreadGroup = {
  /** server or load. */
  process: string;
  group: string;
  threads: number;
  cpu_s: number;
  run_queue_s: number | null;
  migrations: number | null;
  voluntary_switches: number | null;
  involuntary_switches: number | null;
  time_s: Array<number>;
  /** CPUs busy with the group. */
  cpus: Array<number>;
};

/** Answers count where they came. */
export type Throughput = {
  bin_s: number;
  time_s: Array<number>;
  /** Rate that the phases asked for; null outside of open loop. */
  intended_per_s: Array<number | null>;
  ok_per_s: Array<number>;
  failed_per_s: Array<number>;
};

/** One valve of a node. There are no bins for the time in which it was not there. */
export type Valve = {
  node: string;
  valve: string;
  time_s: Array<number>;
  /** The last of the bin; null where the valve was open. */
  limit: Array<number | null>;
  /** Mean number inside. */
  in_flight: Array<number>;
  /** Mean number that waited. */
  waiting: Array<number>;
  completed_per_s: Array<number>;
  /** Mean wait; null where nothing came out. */
  wait_ms: Array<number | null>;
  /** In the order of time. */
  decisions: Array<ValveDecision>;
  /** How many came before those. */
  decisions_left_out: number;
};

/** Another limit or state, and why. */
export type ValveDecision = {
  /** End of the window that it rests on. */
  time_s: number;
  /** The limit until then; null where the valve was open. */
  limit: number | null;
  /** From then on. */
  next_limit: number | null;
  law: string;
  reason: string;
};

/** A variant, against the baseline. */
export type Variant = {
  name: string;
  /** The verdict in words. */
  sentence: string;
  /** How many runs of it are compared. */
  runs: number;
  metrics: Array<Ratio>;
};

/** The verdict on one figure of a variant, against the baseline's. Better and worse hold for all figures together. */
export type Verdict = "better" | "worse" | "no-difference" | "not-enough";
