// Generated from the types of crates/explain by `INSTA_UPDATE=always cargo test --workspace --lib report::typescript`. Do not edit.

/** Why the slow requests of a window were slow. */
export type Answer = {
  /** The answer in at most four sentences. */
  answer: string;
  /** Which requests count as slow, and out of which. */
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
  /** The findings, the most important first, with times in seconds since the start of the recording. */
  findings: Array<Finding>;
};

/** Whether a larger or a smaller value is better. */
export type Better = "lower" | "higher";

export type ClientFigures = {
  /** The client's host; empty for a load driver. */
  client: string;
  connections: number;
  /** Name and version of its drivers, the one with most connections first; empty where they are not known. */
  drivers: Array<string>;
  nodes: number;
  statements: number;
  /** Mean number of requests in flight. */
  in_flight: number;
  /** Share of its requests that went to a replica of their partition; null where no partition is known. */
  to_replica_share: number | null;
  requests: number;
  requests_per_s: number;
  errors: number;
  /** Share in the total time of all requests that match the filter. */
  time_share: number;
  total_ms: number;
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
  /** Bytes of the requests, and of their answers; null if sizes were not recorded. */
  request_bytes: number | null;
  response_bytes: number | null;
};

/** A command that a text proposes. */
export type Command = {
  /** Its name, such as `tables`. */
  name: string;
  /** The command as a shell takes it, such as `helenus tables run.helenus`. The text has it between backticks. */
  line: string;
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
  /** Sentences about conclusions that can't be drawn, and about figures that were not measured. */
  remarks: Array<string>;
  variants: Array<Variant>;
};

/** The CPUs that the nodes' JIT compilers used on average over the runs, where one side was not warm. */
export type Compiling = {
  baseline_cpus: number;
  variant_cpus: number;
};

/** A change of a node, made from the workbench. */
export type Controlled = {
  number: number;
  when: string;
  /** The browser. */
  who: string;
  node: string;
  what: string;
  /** By whom and when it was undone. */
  undone: string | null;
};

/** The nodes of a recording that can be changed, how, and the changes made from the workbench. */
export type Controls = {
  is_allowed: boolean;
  nodes: Array<string>;
  /** Classes of requests at which a valve can be. */
  points: Array<string>;
  /** Stages that a valve can steer. */
  stages: Array<string>;
  /** Laws of a valve. */
  laws: Array<string>;
  /** Settings of a node and of its tables. */
  settings: Array<SettingChoice>;
  /** Strategies by which threads can be placed on CPUs. */
  strategies: Array<string>;
  /** Sources that can be started and stopped; empty if another process records. */
  sources: Array<SourceChoice>;
  /** The oldest first. */
  made: Array<Controlled>;
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

export type FigureChange = {
  name: string;
  unit: string;
  meaning: string;
  before: number;
  now: number;
};

/** A file; for others than SSTables, a description of the kind of file. */
export type FileIo = {
  node: string;
  file: string;
  /** The table as `keyspace.table`, for an SSTable. */
  table: string | null;
  /** The SSTable component, such as Data.db. */
  component: string | null;
  /** I/O of the threads that serve requests. */
  reads: Traffic;
  /**
   * Mean number of bytes that the threads that serve requests read in order, from one jump in the file to the next. null where no
   * call says where it read (`read`), and where calls were only summed up.
   */
  run_bytes: number | null;
  /** I/O of all other threads: compaction, flushes, streams. */
  background_reads: Traffic;
  writes: Traffic;
  /** I/O through memory mappings, by the threads that serve requests. */
  mapped_reads: MappedReads;
  background_mapped_reads: MappedReads;
  /** Bytes read from the disk, including readahead, for all reads of the file by calls and through mappings. */
  from_disk_bytes: number;
};

export type Finding = {
  /** The rank among all findings, 1 for the most important. */
  rank: number;
  /** The name of the kind, such as `gc-pause`, or of the rule of an advice. */
  finding: string;
  severity: Severity;
  /** The cause and its size. */
  title: string;
  /** The evidence. */
  detail: string;
  /** The one command or setting to try; empty if there is nothing to do. */
  next: string;
  /** The commands in `detail` and `next`. */
  commands: Array<Command>;
  /** The node that the finding is about; empty if it is about none. */
  node: string;
  start_s: number;
  end_s: number;
  /** Share of the slow requests attributed to it, 0 to 1; null if the finding is about something else. */
  share: number | null;
  /** The part of `share` that is expected by chance. */
  chance_share: number | null;
  /** How often chance gives at least as much of the slow requests' extra time (for `in-common`: as large a share). */
  p_value: number | null;
  /** An SQL query that shows the evidence. */
  query: string;
  /**
   * The figures behind the finding. The suffix of a name is its unit, such as `_ms`, `_bytes`, `_per_s` and
   * `_share`.
   */
  evidence: Record<string, unknown>;
};

/** The nodes in depth-first order, as one list per member, which takes half the space of a list of objects. */
export type FlameNodes = {
  /** Depth of each node: 0 for the root, 1 for thread groups, from 2 on frames. */
  depth: Array<number>;
  /** Indices of the nodes' names. */
  name: Array<number>;
  /** A letter for each node: that of the column `kinds` of the table stacks; g for a thread group, a for all. */
  kind: string;
  weight: Array<number>;
  /** Weights of the compared side; empty without a comparison. */
  other: Array<number>;
};

/** Times of samples, for a page that draws the graph of any stretch of time. */
export type FlameScope = {
  /** The first step with a sample, and the one after the last, counted from the recording's first sample. */
  first: number;
  end: number;
  /** Length of a step in ms; times are rounded down to it. */
  step_ns: number;
  /** Whether steps are longer than a millisecond to limit the size of the page. */
  binned: boolean;
  /** All weights are multiples of this number. */
  unit: number;
  /**
   * Base64 of variable-length numbers: seven bits a byte, the lowest first, the eighth bit set if more follow. For
   * each stack: its node's number minus that of the stack before, the number of entries, and for each entry by time:
   * its step minus that of the entry before (for the first entry: minus `first`), its weight in units, and its
   * number of samples.
   */
  times: string;
};

/** A flame graph as its page draws it. The nodes are in depth-first order, each before its callees, siblings by name. */
export type FlameTree = {
  event: string;
  title: string;
  against: string;
  /** Samples of the graph, and of the side that it is compared with. */
  samples: number;
  other_samples: number;
  /** CPU time of the sampled threads, by the kernel. */
  counted_ns?: number;
  names: Array<string>;
  nodes: FlameNodes;
  /** Times of the samples; null for a comparison. */
  scope?: FlameScope;
};

/** A frame's shares of the sampled CPU time: its own, and with its callees. */
export type FrameChange = {
  frame: string;
  before_own_share: number;
  now_own_share: number;
  before_share: number;
  now_share: number;
};

/** The collections that began in an interval. Sizes and rates are null where no collection reported the heap's occupancy. */
export type GcFigures = {
  /** Start of the interval, since the start of the recording. */
  start_s: number;
  length_s: number;
  young: number;
  /** Collections of the old generation, mostly concurrent. */
  old: number;
  /** Collections of the whole heap in one pause. */
  full: number;
  paused_ms: number;
  /** Share of the time in which the JVM was paused for collections. */
  paused_share: number;
  /** Percentiles over the pauses of whole collections, in ms. */
  pause_p50_ms: number | null;
  pause_max_ms: number | null;
  /** Bytes allocated: the growth of the heap between collections. */
  allocated_bytes_per_s: number | null;
  /** The heap's growth from after one young collection to after the next: promoted or kept objects. */
  kept_bytes_per_s: number | null;
  /** Heap occupancy after the last collection. */
  heap_after_bytes: number | null;
};

/** An event of the node's log, or a changed setting. */
export type Happened = {
  /** Time since the start of the recording. */
  time_s: number;
  node: string;
  what: string;
};

/** A heatmap of response times by the time at which requests were due. The rows are evenly spaced in the logarithm. */
export type Heatmap = {
  bin_s: number;
  start_s: number;
  /** Column `c` begins at `start_s + c * bin_s`. */
  columns: number;
  /** Bounds of the rows, ascending. A row holds times from its lower bound up to, but not including, its upper bound. */
  low_ms: Array<number>;
  high_ms: Array<number>;
  /** Cells as (column, row, requests); cells without requests are left out. */
  cells: Array<[number, number, number]>;
};

export type Host = {
  name: string;
  kernel: string;
  cpus: number;
};

/** I/O by file, table and statement. */
export type Io = {
  /** Files by bytes, the most first. */
  files: Array<FileIo>;
  tables: Array<TableIo>;
  statements: Array<StatementIo>;
};

/**
 * Latencies over time. Response times count in the bin in which a request was due, service times in the one in which
 * it was sent.
 */
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

/** Latencies in milliseconds; null if no request ended in the bin. */
export type LatencySeries = {
  p50_ms: Array<number | null>;
  p95_ms: Array<number | null>;
  p99_ms: Array<number | null>;
  p999_ms: Array<number | null>;
  max_ms: Array<number | null>;
};

/** A recording that can be opened. */
export type Listed = {
  /** Path of the recording within the opened folder. */
  name: string;
  title: string;
  /** Start of the recording, in ISO 8601. */
  created: string;
  nodes: Array<string>;
  requests: number;
  /** Whether the recording is closed. One that is not closed has a live page. */
  is_closed: boolean;
  /** Whether a recorder writes it now. */
  is_growing: boolean;
};

/** Shares of the time of all CPUs of the machine, from 0 to 1. */
export type LiveCpu = {
  user: number;
  system: number;
  iowait: number;
  /** Share for interrupts, hardware and software. */
  irq: number;
  /** Share taken by the hypervisor (steal). */
  steal: number;
  idle: number;
};

export type LiveDisk = {
  device: string;
  reads_per_s: number;
  read_bytes_per_s: number;
  writes_per_s: number;
  written_bytes_per_s: number;
  /** Mean time of a read and of a write, including the wait in the queue. */
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

/** A file, with its system calls (recorded as a summary) and its reads from a disk into the page cache. */
export type LiveFile = {
  /** The file's path; empty if it is not known. */
  file: string;
  reads_per_s: number;
  read_bytes_per_s: number;
  writes_per_s: number;
  written_bytes_per_s: number;
  /** Calls other than reads and writes, such as fsync. */
  others_per_s: number;
  /** Time spent in calls, per second. */
  ms_per_s: number;
  from_disk_bytes_per_s: number;
  major_faults_per_s: number;
};

/** The findings of the last minute of a growing recording. */
export type LiveFindings = {
  /** The window that was explained, in seconds since the Unix epoch. */
  from_s: number;
  to_s: number;
  answer: string;
  findings: Array<Finding>;
  /** Why the last search failed; empty if it did not. */
  error: string;
};

/** Threads whose names differ only in their number. */
export type LiveGroup = {
  /** The process: server or load. */
  process: string;
  group: string;
  /** CPU time, and time spent waiting in a run queue, in CPUs. */
  cpus: number;
  waiting_cpus: number;
  migrations_per_s: number;
  voluntary_switches_per_s: number;
  involuntary_switches_per_s: number;
};

export type LiveGroupSeries = {
  /** The process: server or load. */
  process: string;
  group: string;
  cpus: Array<number>;
};

/** A heatmap: requests by the time of their answer and by how long they took. */
export type LiveHeat = {
  from_s: number;
  /** Column `c` begins at `from_s + c * bin_s`. */
  bin_s: number;
  columns: number;
  /** Bounds of the rows, ascending. */
  low_ms: Array<number>;
  high_ms: Array<number>;
  /** Cells as (column, row, requests); cells without requests are left out. */
  cells: Array<[number, number, number]>;
};

/** A node in the window: the figures that `nodetool tpstats`, `proxyhistograms` and `tablestats` are run for. */
export type LiveNode = {
  node: string;
  requests_per_s: number;
  errors: number;
  /** Latency of the requests that the node coordinated. */
  latency_ms: Percentiles;
  in_flight: number;
  /** CPU time of the node's threads, in CPUs; null if threads were not recorded. */
  cpus: number | null;
  gc_share: number;
  safepoint_share: number;
  /** The pool with the most waiting tasks, and their number; empty if no task waited. */
  fullest_pool: string;
  most_pending: number;
  /** Messages that the node dropped. */
  dropped: number;
  reads_per_s: number | null;
  writes_per_s: number | null;
  /** Mean latency of local reads and writes, over all tables. */
  local_read_us: number | null;
  local_write_us: number | null;
  pending_compactions: number | null;
  running_compactions: number | null;
  live_disk_bytes: number | null;
};

export type LiveOutcome = {
  outcome: string;
  requests: number;
};

/** An event or condition that overlapped a request. */
export type LiveOverlap = {
  what: string;
  start_s: number;
  duration_ms: number;
  /** How much of the request's time it overlaps; 0 for an instant. */
  overlap_ms: number;
};

/** A stop of a JVM, or a stall of a process. */
export type LivePause = {
  start_s: number;
  duration_ms: number;
  node: string;
  /** The kind: gc, safepoint, server stall or driver stall. */
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
  /** The most tasks that waited at one time in the window. */
  most_active: number;
  most_pending: number;
  /** Completed tasks per second; null after a single reading. */
  completed_per_s: number | null;
  /** Tasks that were blocked in the window. */
  newly_blocked: number;
  max_size: number | null;
};

/** Share of the time in which tasks of the machine waited for a resource: some of them, or all. */
export type LivePressure = {
  /** The resource: cpu, io or memory. */
  resource: string;
  some_share: number;
  full_share: number;
};

/**
 * Figures over time. Entry `i` of each list belongs to the bin that begins at `from_s + i * bin_s`; null means no
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
  /** Stalls of the nodes' processes, whatever their cause, where they began. */
  stall_ms_per_s: Array<number>;
  /** The most tasks that waited at one time in any pool. */
  pending: Array<number>;
  read_bytes_per_s: Array<number>;
  written_bytes_per_s: Array<number>;
  /** CPU time of the busiest thread groups, in CPUs, the busiest first. */
  groups: Array<LiveGroupSeries>;
};

/** One of the slowest requests. */
export type LiveSlow = {
  start_s: number;
  duration_ms: number;
  statement: string;
  /** The client's host; empty for a load driver. */
  client: string;
  client_port: number;
  node: string;
  /** The outcome: ok, or the kind of error. */
  outcome: string;
  rows_returned: number | null;
  response_bytes: number | null;
};

export type LiveSource = {
  source: string;
  node: string;
  captured: number;
  lost: number;
  /** Whether the loss is so large that a figure may be wrong. */
  is_serious: boolean;
  /** Why rows were lost; empty if none were. */
  lost_reason: string;
  /** CPU time of the source itself, in CPUs, if known. */
  cpus: number;
};

/** A table at the end of the window. */
export type LiveTable = {
  node: string;
  /** The table as `keyspace.table`. */
  table: string;
  reads_per_s: number | null;
  writes_per_s: number | null;
  /** Mean latency on the node itself, in the window. */
  local_read_us: number | null;
  local_write_us: number | null;
  sstables: number | null;
  live_disk_bytes: number | null;
  memtable_bytes: number | null;
  pending_compactions: number | null;
  running_compactions: number | null;
  /** Progress of the running compactions: the share of their input that they have read, from 0 to 1. */
  compacted_share: number | null;
  sstables_per_read_p95: number | null;
  tombstones_per_slice_p95: number | null;
};

/** The main figures of a window. */
export type LiveTotals = {
  from_s: number;
  to_s: number;
  requests: number;
  requests_per_s: number;
  errors: number;
  errors_per_s: number;
  /**
   * Requests that each recorded request represents, on average: more than 1 where some connections were not
   * followed.
   */
  weight: number;
  /** Latency of requests that were answered or timed out. */
  latency_ms: Percentiles;
  /** Mean number of requests in flight. */
  in_flight: number;
  /** Errors by kind, the most frequent first. */
  outcomes: Array<LiveOutcome>;
  /** CPU use; null if CPUs were not recorded. */
  cpu: LiveCpu | null;
  collections_per_s: number;
  /**
   * Share of the time in which JVMs were stopped for collections, and for all safepoints including collections.
   * Added up over nodes.
   */
  gc_share: number;
  safepoint_share: number;
  pressure: Array<LivePressure>;
  disks: Array<LiveDisk>;
  /** TCP segments that nodes retransmitted. */
  retransmitted_per_s: number;
  major_faults_per_s: number;
  /** Throttled time: time for which CPU quotas kept tasks off the CPUs, in CPUs. */
  throttled_cpus: number;
  events: Array<LiveEvent>;
  /** Rows that were lost, and what the sources cost. */
  sources: Array<LiveSource>;
};

/** Requests by statement, client or node; those that took the most time in total come first. */
export type LiveTraffic = {
  from_s: number;
  to_s: number;
  rows: Array<LiveTrafficRow>;
};

export type LiveTrafficRow = {
  /** The statement, client or node. `(others)` stands for all beyond the most names that are counted separately. */
  name: string;
  requests: number;
  requests_per_s: number;
  errors: number;
  /** Share in the total time of all requests. */
  time_share: number;
  /** Mean number of requests in flight. */
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
  /** The valve's state: on, or open, in which it limits nothing. */
  state: string;
  /** The current limit; null if the valve is open. */
  limit: number | null;
  in_flight: number;
  waiting: number;
  throughput_per_s: number;
  mean_ms: number | null;
  p99_ms: number | null;
  /** Requests that the valve refused in the window. */
  refused: number;
  reason: string;
};

/** The main figures of a window, which a live page shows first. */
export type LiveView = {
  /** The kept time, within which any window can be requested. */
  kept_from_s: number;
  kept_to_s: number;
  is_growing: boolean;
  /** The age of the newest bin's end. */
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
  /** The collectors, by the JVM's names. */
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
  /** The collector and its cause, the safepoint operation, or the kind of stall. */
  label: string;
};

export type PauseKind = "gc" | "safepoint" | "stall";

/** Percentiles in milliseconds; null without values. */
export type Percentiles = {
  p50: number | null;
  p95: number | null;
  p99: number | null;
  p999: number | null;
  max: number | null;
};

export type Phase = {
  name: string;
  /** Whether the load marked it; false for the one phase of a recording without marks. */
  marked: boolean;
  /** The run that the window belongs to, such as `leveled, block 3`; null outside of experiments. */
  run: string | null;
  start_s: number;
  end_s: number;
  /** Intended rate in open loop, in requests per second; null in closed loop. */
  rate_per_s: number | null;
  /** Intended rate at the end, if it differs from that at the start. */
  end_rate_per_s: number | null;
  /** Requests in flight in closed loop; null in open loop. */
  in_flight: number | null;
  /** Whether the phase is judged; false for a warm-up, which is only shown. */
  measured: boolean;
  requests: number;
  errors: number;
  throughput_per_s: number;
  /** Latencies from the actual start (service time). */
  service_ms: Percentiles;
  /** Latencies from the intended start (response time). */
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

/** One probe, summed over all nodes and thread groups. */
export type Probe = {
  probe: string;
  /** The variant whose runs it was metered in; null outside of an experiment with variants. */
  variant: string | null;
  calls: number;
  failed: number;
  /** Calls per second, over all the time in which any probe was called. */
  calls_per_s: number;
  total_s: number;
  /** Own time, without callees that have a probe. */
  own_s: number;
  /** Mean time of a call; null without calls. */
  mean_us: number | null;
  own_mean_us: number | null;
  max_ms: number;
  /** The reason for which the probe was last switched off; null if it never was. */
  off_reason: string | null;
};

/** The provider of the requests. */
export type Provider = "load" | "wire" | "jvm";

/** The first rows of a query's result, as many as a page shows. */
export type Queried = {
  columns: Array<QueriedColumn>;
  /** A number beyond 2^53 is a text, because JavaScript would round it. */
  rows: Array<Array<string | number | boolean | null>>;
  /** Whether the result has more rows. */
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
  /** The interval of the ratio; null where there are too few runs, or where there is no ratio. */
  low: number | null;
  high: number | null;
  /** How probable so large a difference in any of the figures is when runs differ by chance alone (Westfall, Young, 1993). */
  p_value: number;
  verdict: Verdict;
  /**
   * The number of runs that would decide, if the present ones don't; more than the present ones. null when it is
   * more than 1000, or when the present runs decide.
   */
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
  /** Threshold in ms: a request is slow when its response time is above it. */
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
  /** The findings, the most important first. */
  findings: Array<Finding>;
  /** The comparison of variants; null if the recording is not of an experiment with variants. */
  comparison: Comparison | null;
  throughput: Throughput;
  latency: Latency;
  heatmap: Heatmap;
  /** The spectrogram of system calls; null if none was recorded. */
  spectrogram: Spectrogram | null;
  cpu: Array<Cpu>;
  groups: Array<ThreadGroup>;
  pauses: Array<Pause>;
  pools: Array<Pool>;
  valves: Array<Valve>;
  tables: Array<Table>;
  /** Probes with the most own time first; in an experiment with variants, those of the baseline. */
  probes: Array<Probe>;
  /** The number of further probes, which have less own time. */
  probes_left_out: number;
  sources: Array<Source>;
  /** The flame graph of the CPU time, and the one that compares slow times with the rest. */
  flames: Array<FlameTree>;
  /** Time of the first sample, from which sample times count; null without samples. */
  flames_begin_s: number | null;
};

/** A window that was saved as a recording of its own. */
export type Saved = {
  /** By this name it can be opened. */
  name: string;
  /** Its folder. */
  path: string;
  rows: number;
  bytes: number;
};

/** A table that can be queried. */
export type Schema = {
  table: string;
  meaning: string;
  /** Number of rows; null for a view. */
  rows: number | null;
  columns: Array<SchemaColumn>;
};

export type SchemaColumn = {
  name: string;
  unit: string;
  meaning: string;
};

/** A setting that had another value at the end of the window. null where it was not there. */
export type SettingChange = {
  node: string;
  setting: string;
  before: string | null;
  now: string | null;
};

/** A setting that can be changed while the node runs. */
export type SettingChoice = {
  name: string;
  /** One sentence about it. */
  what: string;
  /** The form of its value: `N` for a number. */
  form: string;
  /** Whether it is a setting of one table. */
  is_of_table: boolean;
};

/** The value that a setting of a node has now. */
export type SettingNow = {
  value: string;
};

export type Severity = "information" | "warning" | "critical";

export type SharedValue = {
  /** The property: statement, table, kind, client, connection, node, level (of consistency) or outcome. */
  what: string;
  value: string;
  requests: number;
  /** Share of the chosen requests that have the value, and share of the others that have it. */
  share: number;
  others_share: number;
};

/** The values that chosen requests share, those that set them apart most first. */
export type SharedValues = {
  /** Number of chosen requests, and of the others. */
  requests: number;
  others: number;
  values: Array<SharedValue>;
};

/** The process that was stopped. */
export type Side = "server" | "load" | "recorder";

export type SlowRequest = {
  start_ns: number;
  response_ms: number;
  /** The client's host; empty for a load driver. */
  client: string;
  client_port: number;
  node: string;
  /** The operation's name in the workload, or the statement. */
  operation: string;
  rows_returned: number | null;
  response_bytes: number | null;
  consistency: string;
  outcome: string;
};

export type Source = {
  source: string;
  node: string;
  /** The provider that the source used, such as `proc` or `agent-log`. */
  provider: string;
  /** Rows in the recording. */
  captured: number;
  /** Rows or samples that are known to be lost. */
  lost: number;
  /** Whether the loss is so large that a figure may be wrong. */
  is_serious: boolean;
  /** Why rows were lost; empty if none were. */
  lost_reason: string;
  /** CPUs that the source itself used; null if that can't be separated. */
  cpu_share: number | null;
};

/** An option of the recorder that can be changed while it records. */
export type SourceChoice = {
  name: string;
  /** Its value now. */
  value: string;
  /** All values that can be chosen. */
  values: Array<string>;
};

/** Known losses of a source. */
export type SourceLoss = {
  node: string;
  /** Number of lost events; null if it is not known. */
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
  /** The names, the most frequent first. */
  calls: Array<string>;
  groups: Array<string>;
  files: Array<string>;
  /**
   * How many more calls, thread groups and files there were. The cells hold them together, under the number after
   * the last name.
   */
  other_calls: number;
  other_groups: number;
  other_files: number;
  cells: SpectrogramCells;
  /** The longest events, by start. */
  longest: Array<Syscall>;
  /** Whether `longest` has all calls. */
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

/** A statement in both windows; null for a window in which nobody sent it. */
export type StatementChange = {
  operation: string;
  before: StatementRate | null;
  now: StatementRate | null;
};

export type StatementDetail = {
  /** Histogram bins, from the shortest to the longest time, without gaps. */
  histogram: Array<LatencyCell>;
  slowest: Array<SlowRequest>;
};

export type StatementFigures = {
  /** The operation's name in the workload, or the statement. */
  operation: string;
  /** The statement's text; null if the recording does not have it. */
  statement: string | null;
  kind: string | null;
  keyspace: string | null;
  table: string | null;
  /** Number of hosts that sent it; 0 for a load driver. */
  clients: number;
  /** Rows in the answers; null if they were not recorded. */
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
  /** Share in the total time of all requests that match the filter. */
  time_share: number;
  total_ms: number;
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
  /** Bytes of the requests, and of their answers; null if sizes were not recorded. */
  request_bytes: number | null;
  response_bytes: number | null;
};

/** A statement as it was seen on the wire. */
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

export type StatementRate = {
  requests_per_s: number;
  p50_ms: number;
  p99_ms: number;
  /** Mean number of requests in flight, which is their time per second. */
  in_flight: number;
  errors_per_s: number;
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
  /** Mean latency of the local reads in the bin. */
  read_ms: Array<number | null>;
  /** Mean latency of the local writes in the bin. */
  write_ms: Array<number | null>;
  sstables: Array<number | null>;
  live_disk_bytes: Array<number | null>;
};

/** A table of a node. Values that the node did not report are null. */
export type TableHealth = {
  node: string;
  /** The table as `keyspace.table`. */
  table: string;
  reads_per_s: number | null;
  writes_per_s: number | null;
  /** Mean latency on the node itself, over the recording. */
  local_read_us: number | null;
  local_write_us: number | null;
  coordinator_reads_per_s: number | null;
  coordinator_writes_per_s: number | null;
  /** Mean latency at the coordinator, including waits for replicas, over the node's last minutes. */
  coordinator_read_us: number | null;
  coordinator_write_us: number | null;
  sstables: number | null;
  /** SSTables per level from level 0 on, under LeveledCompactionStrategy. */
  sstables_by_level: Array<number> | null;
  /** SSTables per time window, newest first, under TimeWindowCompactionStrategy. */
  sstables_by_window: Array<number> | null;
  largest_sstable_bytes: number | null;
  /** Time since the largest SSTable was written; null if the files could not be read. */
  largest_sstable_age_s: number | null;
  live_disk_bytes: number | null;
  /** Disk space including obsolete SSTables that are not removed yet. */
  total_disk_bytes: number | null;
  /** Write amplification: bytes written by flushes and compactions for each byte flushed, since the node started. */
  write_amplification: number | null;
  pending_compactions: number | null;
  /** Pending compactions at the first reading. */
  pending_at_first: number | null;
  running_compactions: number | null;
  /** Bytes that the running compactions have to read in total, and bytes that they have read. */
  compacting_bytes: number | null;
  compacted_bytes: number | null;
  /** Percentiles over the node's last minutes. The agent reports the 95th; without it, two figures have the 99th only. */
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
  /** Compression ratio: size on disk divided by size before compression. */
  compression_ratio: number | null;
  bloom_false_positives: number | null;
  bloom_false_ratio: number | null;
  key_cache_hit_rate: number | null;
  /** Hit ratio since the node started; null if the row cache was never used. */
  row_cache_hit_rate: number | null;
};

/** I/O of a table, on all recorded nodes. */
export type TableIo = {
  /** `keyspace.table`. */
  table: string;
  reads: Traffic;
  background_reads: Traffic;
  writes: Traffic;
  mapped_reads: MappedReads;
  background_mapped_reads: MappedReads;
  from_disk_bytes: number;
  /** Requests on the wire that were answered with rows of the table. */
  requests: number;
  /** Bytes of the responses to them. */
  returned_bytes: number;
  /** Bytes read for requests, by calls and through mappings, for each byte that was returned. null where nothing was returned. */
  amplification: number | null;
};

/** The threads of a process whose names differ only in their number. */
export type ThreadGroup = {
  /** The process: server or load. */
  process: string;
  group: string;
  threads: number;
  cpu_s: number;
  run_queue_s: number | null;
  migrations: number | null;
  voluntary_switches: number | null;
  involuntary_switches: number | null;
  time_s: Array<number>;
  /** CPU time of the group, in CPUs. */
  cpus: Array<number>;
};

/** Responses count in the bin in which they arrived. */
export type Throughput = {
  bin_s: number;
  time_s: Array<number>;
  /** The intended rate of the phases; null outside of open loop. */
  intended_per_s: Array<number | null>;
  ok_per_s: Array<number>;
  failed_per_s: Array<number>;
};

/** Number of calls, and their bytes. */
export type Traffic = {
  calls: number;
  bytes: number;
  total_ms: number;
};

/** A table of traffic: its rows, those that took the most time in total first. */
export type TrafficTable<T> = {
  provider: Provider;
  /** Length of the time from the first request to the last answer, in seconds. */
  seconds: number;
  /** Requests that each recorded one represents, on average: more than 1 where some connections were not followed. */
  weight: number;
  rows: Array<T>;
};

/** One valve of a node. There are no bins for the time before it was added and after it was removed. */
export type Valve = {
  node: string;
  valve: string;
  time_s: Array<number>;
  /** The last limit of the bin; null if the valve was open. */
  limit: Array<number | null>;
  /** Mean number of requests inside. */
  in_flight: Array<number>;
  /** Mean number of waiting requests. */
  waiting: Array<number>;
  completed_per_s: Array<number>;
  /** Mean wait; null if no request left the valve. */
  wait_ms: Array<number | null>;
  /** The decisions, by time. */
  decisions: Array<ValveDecision>;
  /** The number of earlier decisions, which are left out. */
  decisions_left_out: number;
};

/** A decision: a new limit or state, and the reason. */
export type ValveDecision = {
  /** End of the window on which the decision is based. */
  time_s: number;
  /** The limit before the decision; null if the valve was open. */
  limit: number | null;
  /** The limit after the decision; null if the valve is open. */
  next_limit: number | null;
  law: string;
  reason: string;
};

/** A variant, with its figures compared with the baseline's. */
export type Variant = {
  name: string;
  /** The verdict in words. */
  sentence: string;
  /** Number of runs of the variant that are compared. */
  runs: number;
  metrics: Array<Ratio>;
  /** How much the JVMs compiled, if it was too much for a verdict. */
  compiling: Compiling | null;
};

/** The verdict on one figure of a variant, against the baseline's. Better and worse hold for all figures together. */
export type Verdict = "better" | "worse" | "no-difference" | "still-compiling" | "not-enough";

/** Changes from one window to another, the largest first. */
export type WindowChanges = {
  statements: Array<StatementChange>;
  settings: Array<SettingChange>;
  /** Empty where no stacks were sampled in one of the windows. */
  frames: Array<FrameChange>;
  /** Figures of all requests and of the nodes. */
  figures: Array<FigureChange>;
};
