// Generated from schema/ by `cargo xtask generate`. Do not edit.

export const format = 1;

export interface Column {
  readonly name: string;
  readonly type: "INT64" | "DOUBLE" | "STRING" | "BOOL";
  readonly unit: string;
  readonly nullable: boolean;
  readonly meaning: string;
}

export interface Table {
  readonly name: string;
  readonly time: string;
  readonly meaning: string;
  readonly columns: readonly Column[];
}

export const tables: readonly Table[] = [
  {
    name: "cpus",
    time: "time_ns",
    meaning: "What each CPU of the machine did in an interval, from /proc/stat.",
    columns: [
      { name: "time_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "End of the interval." },
      { name: "interval_ns", type: "INT64", unit: "ns", nullable: false, meaning: "Length of the interval." },
      { name: "node", type: "STRING", unit: "address", nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
      { name: "cpu", type: "INT64", unit: "number", nullable: false, meaning: "CPU number." },
      { name: "user_ns", type: "INT64", unit: "ns", nullable: false, meaning: "User code, niced code included. The kernel counts in ticks of 1/USER_HZ s (10 ms)." },
      { name: "system_ns", type: "INT64", unit: "ns", nullable: false, meaning: "Kernel code." },
      { name: "iowait_ns", type: "INT64", unit: "ns", nullable: false, meaning: "Idle while a task of this CPU waited for a disk." },
      { name: "irq_ns", type: "INT64", unit: "ns", nullable: false, meaning: "Hardware interrupts." },
      { name: "softirq_ns", type: "INT64", unit: "ns", nullable: false, meaning: "Software interrupts." },
      { name: "steal_ns", type: "INT64", unit: "ns", nullable: false, meaning: "Taken by the hypervisor." },
      { name: "idle_ns", type: "INT64", unit: "ns", nullable: false, meaning: "Idle." },
    ],
  },
  {
    name: "findings",
    time: "window_start_ns",
    meaning: "What explain found, most important first.",
    columns: [
      { name: "rank", type: "INT64", unit: "number", nullable: false, meaning: "1 is the most important." },
      { name: "finding", type: "STRING", unit: "name", nullable: false, meaning: "Kind of finding, such as gc-pause or client-stall." },
      { name: "severity", type: "STRING", unit: "name", nullable: false, meaning: "critical, warning or information." },
      { name: "title", type: "STRING", unit: "text", nullable: false, meaning: "The finding in one sentence." },
      { name: "detail", type: "STRING", unit: "text", nullable: false, meaning: "What it means and what to do next." },
      { name: "node", type: "STRING", unit: "address", nullable: false, meaning: "The node it is about; empty when none." },
      { name: "window_start_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "Start of the window it was seen in." },
      { name: "window_end_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "End of that window." },
      { name: "share", type: "DOUBLE", unit: "ratio", nullable: true, meaning: "Share of the slow requests that it accounts for." },
      { name: "chance_share", type: "DOUBLE", unit: "ratio", nullable: true, meaning: "Share that chance alone would give: the mean over the shifted timelines." },
      { name: "p_value", type: "DOUBLE", unit: "probability", nullable: true, meaning: "How often chance alone explains at least as much of the time of the slow requests." },
      { name: "query", type: "STRING", unit: "SQL", nullable: false, meaning: "The query that shows the evidence." },
      { name: "evidence", type: "STRING", unit: "JSON", nullable: false, meaning: "The figures that the finding rests on." },
    ],
  },
  {
    name: "marks",
    time: "start_ns",
    meaning: "Named stretches of time on the clock of the recording, such as the phases of a load.",
    columns: [
      { name: "start_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "Start." },
      { name: "end_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "End; the start again for a moment." },
      { name: "kind", type: "STRING", unit: "name", nullable: false, meaning: "phase: a phase of the load. note: anything else that was said." },
      { name: "name", type: "STRING", unit: "name", nullable: false, meaning: "Name." },
      { name: "rate_per_s", type: "DOUBLE", unit: "requests/s", nullable: true, meaning: "Intended rate at the start of a phase in open loop." },
      { name: "end_rate_per_s", type: "DOUBLE", unit: "requests/s", nullable: true, meaning: "Intended rate at the end of a phase, where it differs (ramp)." },
      { name: "in_flight", type: "INT64", unit: "count", nullable: true, meaning: "Requests in flight of a phase in closed loop." },
      { name: "measured", type: "BOOL", unit: "", nullable: false, meaning: "False for a phase that only warms up: it is recorded and shown, and not judged." },
    ],
  },
  {
    name: "pauses",
    time: "start_ns",
    meaning: "Times in which the JVM of a node stopped its threads.",
    columns: [
      { name: "start_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "Start of the pause." },
      { name: "duration_ns", type: "INT64", unit: "ns", nullable: false, meaning: "Length of the pause." },
      { name: "node", type: "STRING", unit: "address", nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
      { name: "kind", type: "STRING", unit: "name", nullable: false, meaning: "gc: the pauses of one collection (phase is empty) or one pause phase of it. safepoint: any stop of all threads, those for GC included." },
      { name: "gc_id", type: "INT64", unit: "number", nullable: true, meaning: "Number of the collection in its JVM." },
      { name: "collector", type: "STRING", unit: "name", nullable: true, meaning: "Collector, such as G1New or G1Old; for a safepoint the operation that asked for it." },
      { name: "cause", type: "STRING", unit: "name", nullable: true, meaning: "Why it was collected, such as G1 Evacuation Pause." },
      { name: "phase", type: "STRING", unit: "name", nullable: true, meaning: "Phase of the pause; empty for the whole." },
      { name: "heap_before_bytes", type: "INT64", unit: "bytes", nullable: true, meaning: "Heap used before." },
      { name: "heap_after_bytes", type: "INT64", unit: "bytes", nullable: true, meaning: "Heap used after." },
      { name: "time_to_safepoint_ns", type: "INT64", unit: "ns", nullable: true, meaning: "From asking the threads to stop until the last one stood." },
      { name: "provider", type: "STRING", unit: "name", nullable: false, meaning: "jfr: JDK Flight Recorder events, exact times. mxbean: GC notifications, times to 1 ms." },
    ],
  },
  {
    name: "pools",
    time: "time_ns",
    meaning: "Thread pools of a node, as its own metrics give them.",
    columns: [
      { name: "time_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "When it was read." },
      { name: "node", type: "STRING", unit: "address", nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
      { name: "pool", type: "STRING", unit: "name", nullable: false, meaning: "Name of the pool, such as MutationStage." },
      { name: "kind", type: "STRING", unit: "name", nullable: false, meaning: "request, internal or transport." },
      { name: "active", type: "INT64", unit: "count", nullable: false, meaning: "Tasks running now." },
      { name: "pending", type: "INT64", unit: "count", nullable: false, meaning: "Tasks waiting now." },
      { name: "completed", type: "INT64", unit: "count", nullable: false, meaning: "Tasks completed since the node started." },
      { name: "blocked", type: "INT64", unit: "count", nullable: false, meaning: "Tasks that could not be queued and block their producer now." },
      { name: "total_blocked", type: "INT64", unit: "count", nullable: false, meaning: "Tasks that were blocked since the node started." },
      { name: "max_size", type: "INT64", unit: "count", nullable: true, meaning: "Largest number of threads." },
    ],
  },
  {
    name: "requests",
    time: "start_ns",
    meaning: "One row per request that the load driver sent, as the client saw it.",
    columns: [
      { name: "intended_start_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "When the schedule wanted the request to start. In closed loop it is start_ns." },
      { name: "start_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "When the driver handed the request to the connection. Service time counts from here." },
      { name: "end_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "When the answer, or the error, was back." },
      { name: "node", type: "STRING", unit: "address", nullable: false, meaning: "The coordinator that the request was sent to." },
      { name: "operation", type: "STRING", unit: "name", nullable: false, meaning: "The operation of the workload." },
      { name: "outcome", type: "STRING", unit: "name", nullable: false, meaning: "ok, or the kind of error: timeout, write_timeout, read_timeout, write_failure, read_failure, unavailable, overloaded, connection, invalid, abandoned (in flight when the run was ended), other." },
      { name: "connection", type: "INT64", unit: "number", nullable: true, meaning: "The connection that carried it, counted from 0 within the load; null where the driver does not say." },
      { name: "stream", type: "INT64", unit: "number", nullable: true, meaning: "Its stream on that connection, as in the frame's header; null where the driver does not say." },
      { name: "request_bytes", type: "INT64", unit: "bytes", nullable: true, meaning: "Size of the request's frame with its header, not compressed; null where the driver does not say." },
      { name: "response_bytes", type: "INT64", unit: "bytes", nullable: true, meaning: "Size of the answer's frame with its header, not compressed; null where none came or the driver does not say." },
    ],
  },
  {
    name: "samples",
    time: "time_ns",
    meaning: "What a thread was doing at a moment: its stack, from the profiler. One row per sample.",
    columns: [
      { name: "time_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "When the sample was taken." },
      { name: "node", type: "STRING", unit: "address", nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
      { name: "event", type: "STRING", unit: "name", nullable: false, meaning: "Why it was taken. cpu: so much CPU time was used. wall: so much time went by. alloc: so many bytes were allocated. lock: a lock was waited for." },
      { name: "weight", type: "INT64", unit: "ns, or bytes for alloc", nullable: false, meaning: "How much of it the sample stands for." },
      { name: "tid", type: "INT64", unit: "number", nullable: false, meaning: "Thread id in the kernel." },
      { name: "thread", type: "STRING", unit: "name", nullable: false, meaning: "Name of the thread." },
      { name: "thread_group", type: "STRING", unit: "name", nullable: false, meaning: "Name of the thread without its number." },
      { name: "stack", type: "INT64", unit: "number", nullable: false, meaning: "The stack's number in the table stacks." },
    ],
  },
  {
    name: "sources",
    time: "time_ns",
    meaning: "What each source of the recording captured, what it missed and what it cost, per interval.",
    columns: [
      { name: "time_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "End of the interval." },
      { name: "interval_ns", type: "INT64", unit: "ns", nullable: false, meaning: "Length of the interval." },
      { name: "source", type: "STRING", unit: "name", nullable: false, meaning: "Name of the source, such as threads or requests." },
      { name: "node", type: "STRING", unit: "address", nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
      { name: "provider", type: "STRING", unit: "name", nullable: false, meaning: "How it was captured, such as proc, agent-jfr or driver." },
      { name: "captured", type: "INT64", unit: "count", nullable: false, meaning: "Rows captured in the interval." },
      { name: "lost", type: "INT64", unit: "count", nullable: false, meaning: "Rows or samples known to be lost in the interval." },
      { name: "lost_reason", type: "STRING", unit: "text", nullable: false, meaning: "Why, and what else went less than well, such as requests that started late; empty when all was well." },
      { name: "cpu_ns", type: "INT64", unit: "ns", nullable: true, meaning: "CPU time that the source itself used in the interval, where it can be told apart." },
    ],
  },
  {
    name: "stacks",
    time: "time_ns",
    meaning: "The stacks of the table samples, each once per node and recording. A number stands for the same stack in every recording, so that merged ones agree; take one row of a number.",
    columns: [
      { name: "time_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "When it was first seen." },
      { name: "stack", type: "INT64", unit: "number", nullable: false, meaning: "Its number: the same for the same frames." },
      { name: "frames", type: "STRING", unit: "names", nullable: false, meaning: "Its frames from the outermost to the innermost, with ; between them: package.Class.method, or the symbol of native code." },
      { name: "kinds", type: "STRING", unit: "letters", nullable: false, meaning: "What each frame is, a letter for each: j Java compiled, l inlined, 1 compiled by C1, i interpreted, c the JVM, n native, k the kernel." },
    ],
  },
  {
    name: "stalls",
    time: "start_ns",
    meaning: "Times in which a process did not run though it should have: measured by a thread that sleeps for a short time and looks how much later it woke (as jHiccup does), and by how far the load driver was behind its schedule.",
    columns: [
      { name: "start_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "Start of the stall." },
      { name: "duration_ns", type: "INT64", unit: "ns", nullable: false, meaning: "How long it lasted." },
      { name: "side", type: "STRING", unit: "name", nullable: false, meaning: "Whose stall it was: load (the driver), server (inside the JVM of a node), recorder." },
      { name: "node", type: "STRING", unit: "address", nullable: false, meaning: "The node, for side server; empty otherwise." },
      { name: "kind", type: "STRING", unit: "name", nullable: false, meaning: "watcher: a sleeping thread woke late. schedule: requests started later than intended though a connection was free to take them. stopped: the kernel held the whole process stopped, as by SIGSTOP; looked at 10 times a second." },
    ],
  },
  {
    name: "table_stats",
    time: "time_ns",
    meaning: "Figures of each table of a node, as its own metrics give them. Counters count since the node started.",
    columns: [
      { name: "time_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "When it was read." },
      { name: "node", type: "STRING", unit: "address", nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
      { name: "keyspace", type: "STRING", unit: "name", nullable: false, meaning: "Keyspace." },
      { name: "table_name", type: "STRING", unit: "name", nullable: false, meaning: "Table." },
      { name: "reads", type: "INT64", unit: "count", nullable: true, meaning: "Local reads since the node started." },
      { name: "writes", type: "INT64", unit: "count", nullable: true, meaning: "Local writes since the node started." },
      { name: "read_total_ns", type: "INT64", unit: "ns", nullable: true, meaning: "Time in local reads since the node started; divided by reads it is the mean." },
      { name: "write_total_ns", type: "INT64", unit: "ns", nullable: true, meaning: "Time in local writes since the node started." },
      { name: "sstables", type: "INT64", unit: "count", nullable: true, meaning: "Live SSTables." },
      { name: "live_disk_bytes", type: "INT64", unit: "bytes", nullable: true, meaning: "Disk space of live SSTables." },
      { name: "total_disk_bytes", type: "INT64", unit: "bytes", nullable: true, meaning: "Disk space of all SSTables, obsolete ones included." },
      { name: "memtable_bytes", type: "INT64", unit: "bytes", nullable: true, meaning: "Live data in the memtable." },
      { name: "memtable_switches", type: "INT64", unit: "count", nullable: true, meaning: "Memtables that were flushed since the node started." },
      { name: "pending_flushes", type: "INT64", unit: "count", nullable: true, meaning: "Flushes waiting or running." },
      { name: "pending_compactions", type: "INT64", unit: "count", nullable: true, meaning: "Compactions estimated to be needed." },
      { name: "bytes_flushed", type: "INT64", unit: "bytes", nullable: true, meaning: "Written by flushes since the node started." },
      { name: "bytes_compacted", type: "INT64", unit: "bytes", nullable: true, meaning: "Written by compactions since the node started." },
      { name: "sstables_per_read_p95", type: "DOUBLE", unit: "count", nullable: true, meaning: "95th percentile of SSTables touched by a read, over the last minutes." },
      { name: "tombstones_per_slice_p95", type: "DOUBLE", unit: "count", nullable: true, meaning: "95th percentile of tombstones scanned by a read, over the last minutes." },
      { name: "live_cells_per_slice_p95", type: "DOUBLE", unit: "count", nullable: true, meaning: "95th percentile of live cells scanned by a read, over the last minutes." },
      { name: "droppable_ratio", type: "DOUBLE", unit: "ratio", nullable: true, meaning: "Estimated share of droppable tombstones." },
    ],
  },
  {
    name: "threads",
    time: "time_ns",
    meaning: "What each thread of a process used in an interval. A thread that did not run in the interval has no row.",
    columns: [
      { name: "time_ns", type: "INT64", unit: "ns since the Unix epoch", nullable: false, meaning: "End of the interval." },
      { name: "interval_ns", type: "INT64", unit: "ns", nullable: false, meaning: "Length of the interval." },
      { name: "node", type: "STRING", unit: "address", nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
      { name: "process", type: "STRING", unit: "name", nullable: false, meaning: "server: the node. load: the load driver." },
      { name: "tid", type: "INT64", unit: "number", nullable: false, meaning: "Thread id in the kernel." },
      { name: "thread", type: "STRING", unit: "name", nullable: false, meaning: "Name of the thread: the full Java name where the agent told it, otherwise the 15 characters that the kernel keeps." },
      { name: "thread_group", type: "STRING", unit: "name", nullable: false, meaning: "Name of the thread without its number." },
      { name: "cpu_ns", type: "INT64", unit: "ns", nullable: false, meaning: "CPU time used." },
      { name: "run_queue_ns", type: "INT64", unit: "ns", nullable: true, meaning: "Time ready to run and waiting for a CPU." },
      { name: "migrations", type: "INT64", unit: "count", nullable: true, meaning: "Moves from one CPU to another." },
      { name: "voluntary_switches", type: "INT64", unit: "count", nullable: true, meaning: "Times it gave up the CPU to wait." },
      { name: "involuntary_switches", type: "INT64", unit: "count", nullable: true, meaning: "Times it was preempted." },
    ],
  },
];
