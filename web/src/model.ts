// Generated from the types of crates/explain by `INSTA_UPDATE=always cargo test --workspace --lib report::typescript`. Do not edit.

/** Why the slow requests of a window were slow. */
export type Answer = {
  /** The answer in at most four sentences. */
  answer: string;
  /** Which requests are slow, and of which they are. */
  summary: string;
  provider: Provider;
  requests: number;
  judged_requests: number;
  slow_requests: number;
  median_ms: number;
  slow_threshold_ms: number;
  slow_threshold_name: string;
  /** Data that was not recorded, and the questions that stay open without it. */
  missing: Array<string>;
  /** Most important first, their times in seconds since the start of the recording. */
  findings: Array<Finding>;
};

/** Whether a larger or a smaller value is better. */
export type Better = "lower" | "higher";

export type ClientFigures = {
  /** Empty for a load driver. */
  client: string;
  connections: number;
  /** Name and version of its drivers, the one with most connections first; empty where they are not known. */
  drivers: Array<string>;
  nodes: number;
  statements: number;
  /** Requests under way, on average. */
  in_flight: number;
  /** Share of its requests that went to a replica of their partition; null where no partition is known. */
  to_replica_share: number | null;
  requests: number;
  requests_per_s: number;
  errors: number;
  /** Share in the time of all requests that match the filter. */
  time_share: number;
  total_ms: number;
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
  /** null where sizes were not recorded. */
  request_bytes: number | null;
  response_bytes: number | null;
};

/** The worth of each variant of an experiment, against a baseline. */
export type Comparison = {
  baseline: string;
  /** The unit of a run: block or recording. */
  run_unit: string;
  /** Whether a run is compared with that of the baseline in the same block. */
  paired: boolean;
  /** Confidence level of each interval, such as 0.95, without correction for the number of figures. */
  confidence: number;
  /** The probability that identical runs get `better` or `worse` in any figure of a variant, such as 0.05. */
  family_error: number;
  resamples: number;
  margin: number;
  /** Runs that ended early and are in no figure. */
  cut_short: number;
  /** Sentences on conclusions that can't be drawn and figures that were not measured. */
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

/** A file, or a description of it if it is no SSTable. */
export type FileIo = {
  node: string;
  file: string;
  /** `keyspace.table` of an SSTable. */
  table: string | null;
  /** The SSTable component, such as Data.db. */
  component: string | null;
  /** By the threads that serve requests. */
  reads: Traffic;
  /** By all others: compaction, flushes, streams. */
  background_reads: Traffic;
  writes: Traffic;
  /** Through memory that it is mapped to, by the threads that serve requests. */
  mapped_reads: MappedReads;
  background_mapped_reads: MappedReads;
  /** Bytes read from the disk, including readahead, for all reads of the file by calls and through mappings. */
  from_disk_bytes: number;
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
  /** The one command or setting to try; empty if there is nothing to do. */
  next: string;
  /** Empty when no node is concerned. */
  node: string;
  start_s: number;
  end_s: number;
  /** Share of the slow requests attributed to it, 0 to 1; null if the finding is about something else. */
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
  /** Weights of the compared side; empty without one. */
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
  /** All weights are multiples of this. */
  unit: number;
  /**
   * Base64 of variable-length numbers: seven bits a byte, the lowest first, the eighth bit set if more follow. For
   * each stack: its node's number minus that of the stack before, the number of entries, and for each entry by time:
   * its step minus that of the entry before (at first minus `first`), its weight in units, and its number of
   * samples.
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
  /** Times of the samples; null for a comparison. */
  scope?: FlameScope;
};

/** The collections that began in an interval. Sizes and rates are null where no collection reported the heap's occupancy. */
export type GcFigures = {
  /** Since the start of the recording. */
  start_s: number;
  length_s: number;
  young: number;
  /** Collections of the old generation, mostly concurrent. */
  old: number;
  /** Collections of the whole heap in one pause. */
  full: number;
  paused_ms: number;
  /** Share of the time in which the JVM was paused for them. */
  paused_share: number;
  /** Percentiles over the pauses of whole collections. */
  pause_p50_ms: number | null;
  pause_max_ms: number | null;
  /** Bytes that were added to the heap between collections. */
  allocated_bytes_per_s: number | null;
  /** The heap's growth from after one young collection to after the next: promoted or kept objects. */
  kept_bytes_per_s: number | null;
  /** After the last one. */
  heap_after_bytes: number | null;
};

/** Something that the node's log or its settings tell. */
export type Happened = {
  /** Since the start of the recording. */
  time_s: number;
  node: string;
  what: string;
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

/** I/O by file, table and statement. */
export type Io = {
  /** By bytes, most first. */
  files: Array<FileIo>;
  tables: Array<TableIo>;
  statements: Array<StatementIo>;
};

/** Response times count where the request was due, service times where it was sent. */
export type Latency = {
  bin_s: number;
  time_s: Array<number>;
  response: LatencySeries;
  service: LatencySeries;
};

export type LatencyCell = {
  from_ms: number;
  to_ms: number;
  requests: number;
};

/** Milliseconds; null where no request ended in the bin. */
export type LatencySeries = {
  p50_ms: Array<number | null>;
  p95_ms: Array<number | null>;
  p99_ms: Array<number | null>;
  p999_ms: Array<number | null>;
  max_ms: Array<number | null>;
};

/** A recording that can be opened. */
export type Listed = {
  /** Its path within the opened folder. */
  name: string;
  title: string;
  /** In ISO 8601. */
  created: string;
  nodes: Array<string>;
  requests: number;
  /** Whether it is finished. One that is still written can be opened when its recorder has ended. */
  is_closed: boolean;
};

/** Shares of the time of all CPUs of the machine, from 0 to 1. */
export type LiveCpu = {
  user: number;
  system: number;
  iowait: number;
  /** Interrupts, hardware and software. */
  irq: number;
  /** Taken by the hypervisor. */
  steal: number;
  idle: number;
};

export type LiveDisk = {
  device: string;
  reads_per_s: number;
  read_bytes_per_s: number;
  writes_per_s: number;
  written_bytes_per_s: number;
  /** Mean time of a read and of a write, the wait in the queue included. */
  read_ms: number | null;
  write_ms: number | null;
  busy_share: number;
};

/** Messages that a node dropped in the window. */
export type LiveDropped = {
  node: string;
  message: string;
  dropped: number;
};

export type LiveEvent = {
  time_s: number;
  node: string;
  /** The kind in the table `events`, such as compaction. */
  kind: string;
  what: string;
};

/** A file, by system calls that were recorded as a summary, and by reads from a disk into the page cache. */
export type LiveFile = {
  /** A path, or empty where its name is not known. */
  file: string;
  reads_per_s: number;
  read_bytes_per_s: number;
  writes_per_s: number;
  written_bytes_per_s: number;
  /** Other calls, such as fsync. */
  others_per_s: number;
  /** Time in calls, in each second. */
  ms_per_s: number;
  from_disk_bytes_per_s: number;
  major_faults_per_s: number;
};

/** Threads with the same name, without its number. */
export type LiveGroup = {
  /** server or load. */
  process: string;
  group: string;
  /** CPU time, and time ready to run and waiting for a CPU, in CPUs. */
  cpus: number;
  waiting_cpus: number;
  migrations_per_s: number;
  voluntary_switches_per_s: number;
  involuntary_switches_per_s: number;
};

export type LiveGroupSeries = {
  /** server or load. */
  process: string;
  group: string;
  cpus: Array<number>;
};

/** Requests by when they were answered and how long they took. */
export type LiveHeat = {
  from_s: number;
  /** Column `c` begins at `from_s + c * bin_s`. */
  bin_s: number;
  columns: number;
  /** Bounds of the rows, rising. */
  low_ms: Array<number>;
  high_ms: Array<number>;
  /** Column, row, requests; cells without requests are left out. */
  cells: Array<[number, number, number]>;
};

export type LiveOutcome = {
  outcome: string;
  requests: number;
};

/** Something that overlapped a request. */
export type LiveOverlap = {
  what: string;
  start_s: number;
  duration_ms: number;
  /** How much of the request's time it covers; 0 for a moment. */
  overlap_ms: number;
};

/** A stop of a JVM, or a stall of a process. */
export type LivePause = {
  start_s: number;
  duration_ms: number;
  node: string;
  /** gc, safepoint, server stall or driver stall. */
  kind: string;
  /** The collector, or the operation of the safepoint. */
  what: string;
  cause: string;
  heap_before_bytes: number | null;
  heap_after_bytes: number | null;
};

/** A thread pool at the end of the window. */
export type LivePool = {
  node: string;
  pool: string;
  active: number;
  pending: number;
  blocked: number;
  /** At once, in the window. */
  most_active: number;
  most_pending: number;
  /** null after a single reading. */
  completed_per_s: number | null;
  /** Tasks that were blocked in the window. */
  newly_blocked: number;
  max_size: number | null;
};

/** Share of the time in which tasks of the machine waited for a resource: some of them, or all. */
export type LivePressure = {
  /** cpu, io or memory. */
  resource: string;
  some_share: number;
  full_share: number;
};

/**
 * Figures over time: entry `i` of each list belongs to the bin that begins at `from_s + i * bin_s`. null means no
 * data.
 */
export type LiveSeries = {
  from_s: number;
  bin_s: number;
  requests_per_s: Array<number>;
  errors_per_s: Array<number>;
  p50_ms: Array<number | null>;
  p99_ms: Array<number | null>;
  p999_ms: Array<number | null>;
  max_ms: Array<number | null>;
  cpu: Array<LiveCpu | null>;
  /** Milliseconds of stops in each second, added up over nodes. */
  gc_ms_per_s: Array<number>;
  safepoint_ms_per_s: Array<number>;
  /** The most tasks that waited at once in any pool. */
  pending: Array<number>;
  read_bytes_per_s: Array<number>;
  written_bytes_per_s: Array<number>;
  /** CPU time of the thread groups that used most, in CPUs, most first. */
  groups: Array<LiveGroupSeries>;
};

/** One of the slowest requests. */
export type LiveSlow = {
  start_s: number;
  duration_ms: number;
  statement: string;
  /** Empty for a load driver. */
  client: string;
  client_port: number;
  node: string;
  /** ok, or the kind of error. */
  outcome: string;
  rows_returned: number | null;
  response_bytes: number | null;
};

export type LiveSource = {
  source: string;
  node: string;
  captured: number;
  lost: number;
  /** Why rows were lost; empty where none was. */
  lost_reason: string;
  /** CPU time of the source itself, in CPUs, if known. */
  cpus: number;
};

/** A table at the end of the window. */
export type LiveTable = {
  node: string;
  /** `keyspace.table`. */
  table: string;
  reads_per_s: number | null;
  writes_per_s: number | null;
  /** Mean on the node itself, in the window. */
  local_read_us: number | null;
  local_write_us: number | null;
  sstables: number | null;
  live_disk_bytes: number | null;
  memtable_bytes: number | null;
  pending_compactions: number | null;
  running_compactions: number | null;
  /** How much of what the running compactions read was read, from 0 to 1. */
  compacted_share: number | null;
  sstables_per_read_p95: number | null;
  tombstones_per_slice_p95: number | null;
};

/** The window in a few figures. */
export type LiveTotals = {
  from_s: number;
  to_s: number;
  requests: number;
  requests_per_s: number;
  errors: number;
  errors_per_s: number;
  /** Requests that each recorded one stands for, on average: more than 1 where some connections were not followed. */
  weight: number;
  /** Latency of requests that were answered or timed out. */
  latency_ms: Percentiles;
  /** Requests under way, on average. */
  in_flight: number;
  /** Errors by kind, the most frequent first. */
  outcomes: Array<LiveOutcome>;
  /** null if CPUs were not recorded. */
  cpu: LiveCpu | null;
  collections_per_s: number;
  /** Share of the time in which JVMs stood for collections, and for all safepoints, those of collections included. Added up over nodes. */
  gc_share: number;
  safepoint_share: number;
  pressure: Array<LivePressure>;
  disks: Array<LiveDisk>;
  /** Segments of TCP that nodes sent again. */
  retransmitted_per_s: number;
  major_faults_per_s: number;
  /** Time for which quotas kept tasks off the CPUs, in CPUs. */
  throttled_cpus: number;
  events: Array<LiveEvent>;
  /** Data that was lost, and what the sources cost. */
  sources: Array<LiveSource>;
};

/** Requests by statement, client or node, those with most time first. */
export type LiveTraffic = {
  from_s: number;
  to_s: number;
  rows: Array<LiveTrafficRow>;
};

export type LiveTrafficRow = {
  /** The statement, client or node. `(others)` is all beyond the number of names that are kept apart. */
  name: string;
  requests: number;
  requests_per_s: number;
  errors: number;
  /** Share of the time of all requests. */
  time_share: number;
  /** Requests under way, on average. */
  in_flight: number;
  latency_ms: Percentiles;
  request_bytes: number;
  response_bytes: number;
  rows_returned: number;
};

export type LiveValve = {
  node: string;
  valve: string;
  law: string;
  /** on, or open: it lets all in. */
  state: string;
  /** The current limit; null if the valve is open. */
  limit: number | null;
  in_flight: number;
  waiting: number;
  throughput_per_s: number;
  mean_ms: number | null;
  p99_ms: number | null;
  /** In the window. */
  refused: number;
  reason: string;
};

/** A window at a glance: what a page that moves shows first. */
export type LiveView = {
  /** The kept time, within which any window can be requested. */
  kept_from_s: number;
  kept_to_s: number;
  is_growing: boolean;
  /** How long ago the newest bin ended. */
  behind_s: number;
  totals: LiveTotals;
  series: LiveSeries;
  heat: LiveHeat;
};

/** Page faults on mapped memory that waited for the disk, and the bytes read for them. Hits in the page cache don't count. */
export type MappedReads = {
  faults: number;
  bytes: number;
};

export type Node = {
  address: string;
  version: string | null;
};

/** The collections of a node. */
export type NodeGc = {
  node: string;
  /** Collectors by the JVM's names. */
  collectors: Array<string>;
  /** The providers of the rows, such as jfr. */
  providers: Array<string>;
  whole: GcFigures;
  intervals: Array<GcFigures>;
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
  /** The run that it shows, such as `leveled, block 3`; null outside of experiments. */
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
  /** The variant whose runs it was metered in; null outside of an experiment with variants. */
  variant: string | null;
  calls: number;
  failed: number;
  /** Over all the time in which some probe was called. */
  calls_per_s: number;
  total_s: number;
  /** Own time, without callees that have a probe. */
  own_s: number;
  /** Mean time of a call; null without calls. */
  mean_us: number | null;
  own_mean_us: number | null;
  max_ms: number;
  /** Why the probe was switched off last; null if it never was. */
  off_reason: string | null;
};

/** The provider of the requests. */
export type Provider = "load" | "wire" | "jvm";

/** The rows of a query, as many as a page shows. */
export type Queried = {
  columns: Array<QueriedColumn>;
  /** A number beyond 2^53 is a text, because JavaScript would round it. */
  rows: Array<Array<string | number | boolean | null>>;
  /** Whether there were more rows than are here. */
  is_cut: boolean;
  seconds: number;
};

export type QueriedColumn = {
  name: string;
  is_number: boolean;
};

/** A figure of a variant, compared with the baseline. */
export type Ratio = {
  /** Means over the runs. */
  baseline: number;
  variant: number;
  /** Ratio of the means; null if the baseline's is 0 and the variant's is not. */
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
  /** Its meaning, in a few words. */
  meaning: string;
};

/**
 * The data of a report's page, embedded as JSON.
 *
 * Times are seconds since `start`, latencies are in milliseconds. Entry `i` of each list of an object belongs to the
 * bin that begins at `time_s[i]`; a bin is `bin_s` wide, or reaches to the next one. null means a bin without data.
 */
export type Report = {
  /** Version of this format; the page reads 1. */
  format: number;
  title: string;
  /** Version that wrote the recording. */
  helenus: string;
  /** When the recording was begun, in ISO 8601. */
  created: string;
  /** Time 0 of the report, in ISO 8601. */
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
  /** The question of the experiment that was recorded; null for other recordings. */
  question: string | null;
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
  /** Probes by own time, the largest first; of the baseline if there are variants. */
  probes: Array<Probe>;
  /** How many probes with less own time are not among them. */
  probes_left_out: number;
  sources: Array<Source>;
  /** Where the CPU time went; and while requests were slow, against the rest. */
  flames: Array<FlameTree>;
  /** When the first sample was taken, from which sample times count; null without samples. */
  flames_begin_s: number | null;
};

/** A table that can be queried. */
export type Schema = {
  table: string;
  meaning: string;
  /** null of a view. */
  rows: number | null;
  columns: Array<SchemaColumn>;
};

export type SchemaColumn = {
  name: string;
  unit: string;
  meaning: string;
};

export type Severity = "information" | "warning" | "critical";

/** The process that was stopped. */
export type Side = "server" | "load" | "recorder";

export type SlowRequest = {
  start_ns: number;
  response_ms: number;
  /** Empty for a load driver. */
  client: string;
  client_port: number;
  node: string;
  /** The name in the workload, or the statement. */
  operation: string;
  rows_returned: number | null;
  response_bytes: number | null;
  consistency: string;
  outcome: string;
};

export type Source = {
  source: string;
  node: string;
  /** The provider, such as `proc` or `agent-log`. */
  provider: string;
  /** Rows. */
  captured: number;
  /** Rows or samples that are known to be lost. */
  lost: number;
  /** Whether so much was lost that a figure may be wrong. */
  is_serious: boolean;
  /** Empty when nothing was lost. */
  lost_reason: string;
  /** CPUs that the source itself used; null if that can't be separated. */
  cpu_share: number | null;
};

/** Known losses of a source. */
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
  /** The longest events, in order of their start. */
  longest: Array<Syscall>;
  /** Whether `longest` is every single call. */
  complete: boolean;
  events: number;
  lost: Array<SourceLoss>;
};

/** Cells as parallel lists: entry i of each list belongs to cell i. */
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

/** The kind of the events. */
export type SpectrogramOf = "syscalls" | "summary" | "requests";

export type StatementDetail = {
  /** From the shortest to the longest, without gaps. */
  histogram: Array<LatencyCell>;
  slowest: Array<SlowRequest>;
};

export type StatementFigures = {
  /** The name in the workload, or the statement. */
  operation: string;
  /** null where the recording does not have its text. */
  statement: string | null;
  kind: string | null;
  keyspace: string | null;
  table: string | null;
  /** Hosts that sent it; 0 for a load driver. */
  clients: number;
  /** null where they were not recorded. */
  rows_returned: number | null;
  most_rows: number | null;
  /** Requests for a page that was not the first. */
  further_pages: number | null;
  largest_response_bytes: number | null;
  errors_by_outcome: { [key in string]: number };
  /** Requests by consistency level, with the serial one where a request names it. */
  consistency: { [key in string]: number };
  requests: number;
  requests_per_s: number;
  errors: number;
  /** Share in the time of all requests that match the filter. */
  time_share: number;
  total_ms: number;
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
  /** null where sizes were not recorded. */
  request_bytes: number | null;
  response_bytes: number | null;
};

/** A statement, as the wire showed it. */
export type StatementIo = {
  node: string;
  statement: string;
  /** The table in the statement's spelling, with a keyspace if it names one. */
  table: string | null;
  requests: number;
  request_bytes: number;
  response_bytes: number;
  p50_ms: number;
  max_ms: number;
  /**
   * Bytes read from the table's files for each byte that its statements returned. For all statements together,
   * because reads don't say for which statement they are.
   */
  amplification: number | null;
};

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

/** A table of a node. Values that the node did not report are null. */
export type TableHealth = {
  node: string;
  /** `keyspace.table`. */
  table: string;
  reads_per_s: number | null;
  writes_per_s: number | null;
  /** On the node itself, at the mean of the recording. */
  local_read_us: number | null;
  local_write_us: number | null;
  coordinator_reads_per_s: number | null;
  coordinator_writes_per_s: number | null;
  /** With all that the coordinator waited for, at the mean of the last minutes. */
  coordinator_read_us: number | null;
  coordinator_write_us: number | null;
  sstables: number | null;
  /** Of a table under LeveledCompactionStrategy, from level 0 on. */
  sstables_by_level: Array<number> | null;
  /** Of a table under TimeWindowCompactionStrategy, newest first. */
  sstables_by_window: Array<number> | null;
  largest_sstable_bytes: number | null;
  /** Since it was written; where its files could be looked at. */
  largest_sstable_age_s: number | null;
  live_disk_bytes: number | null;
  /** With SSTables that are obsolete and not removed yet. */
  total_disk_bytes: number | null;
  /** Written by flushes and compactions for each byte flushed, since the node started. */
  write_amplification: number | null;
  pending_compactions: number | null;
  /** Pending compactions at the first reading. */
  pending_at_first: number | null;
  running_compactions: number | null;
  /** Bytes that the running compactions have to read in total, and bytes that they have read. */
  compacting_bytes: number | null;
  compacted_bytes: number | null;
  /** 95th percentiles of the node's last minutes; without the agent there are the 99th of two of them. */
  sstables_per_read_p95: number | null;
  tombstones_per_slice_p95: number | null;
  live_cells_per_slice_p95: number | null;
  tombstones_per_slice_p99: number | null;
  live_cells_per_slice_p99: number | null;
  /** Estimated share of tombstones that are past gc_grace. */
  droppable_ratio: number | null;
  percent_repaired: number | null;
  mean_partition_bytes: number | null;
  max_partition_bytes: number | null;
  /** On disk over before compression. */
  compression_ratio: number | null;
  bloom_false_positives: number | null;
  bloom_false_ratio: number | null;
  key_cache_hit_rate: number | null;
  /** Since the node started; null where the row cache was never asked. */
  row_cache_hit_rate: number | null;
};

/** A table, on all nodes that were recorded. */
export type TableIo = {
  /** `keyspace.table`. */
  table: string;
  reads: Traffic;
  background_reads: Traffic;
  writes: Traffic;
  mapped_reads: MappedReads;
  background_mapped_reads: MappedReads;
  from_disk_bytes: number;
  /** Requests that were answered with rows of it, on the wire. */
  requests: number;
  /** Bytes of those responses. */
  returned_bytes: number;
  /** Bytes read for requests, by calls and through mappings, for each byte that was returned. null where nothing was returned. */
  amplification: number | null;
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

/** Responses count in the bin in which they arrived. */
export type Throughput = {
  bin_s: number;
  time_s: Array<number>;
  /** Rate that the phases asked for; null outside of open loop. */
  intended_per_s: Array<number | null>;
  ok_per_s: Array<number>;
  failed_per_s: Array<number>;
};

/** Calls and their bytes. */
export type Traffic = {
  calls: number;
  bytes: number;
  total_ms: number;
};

/** The rows of a table of traffic, those with most time first. */
export type TrafficTable<T> = {
  provider: Provider;
  /** From the first request to the last answer. */
  seconds: number;
  /** Requests that each recorded one represents, on average: more than 1 where some connections were not followed. */
  weight: number;
  rows: Array<T>;
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
