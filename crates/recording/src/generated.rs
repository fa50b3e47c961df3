// Generated from schema/ by `cargo xtask generate`. Do not edit.
#![cfg_attr(rustfmt, rustfmt_skip)]

use crate::batch::BatchBuilder;
use crate::schema::{Column, Seen, Subject, Table, Type};

/// Version of the recording format.
pub const FORMAT: u32 = 1;

/// One number for the whole schema; the agent must have the same.
pub const FINGERPRINT: &str = "6c8f6006c187ff89";

/// Every table of a recording, in the order of their names.
pub static TABLES: &[Table] = &[
    Table {
        name: "client_requests", since: 1, time: "time_ns",
        meaning: "The coordinator's time for requests, by Cassandra's own exact counters (its metrics ClientRequest): one row per interval and kind of request, where there were any. The time begins when a request is decoded and ends when its answer is decided. It excludes the wait for a thread, and decoding and encoding the message.",
        seen: Some(Seen { of: Subject::Node, sources: &["client_requests"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "kind", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Kind of request, as Cassandra has it: Read (of one partition), RangeSlice (of several), Write (batches too), CASRead and CASWrite (lightweight transactions)." },
            Column { name: "count", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Requests that ended in the interval." },
            Column { name: "total_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Sum of what they took. The counter has whole microseconds of each." },
        ],
    },
    Table {
        name: "connections", since: 1, time: "time_ns",
        meaning: "One row per connection of a client whose driver is known: from STARTUP as it passed, or from what the node said of the connections that were open when the recording began.",
        seen: Some(Seen { of: Subject::Node, sources: &["wire"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When its driver became known: when it began, or when the recording did." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node, as the recording names it in its manifest." },
            Column { name: "client", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "Where the connection comes from." },
            Column { name: "client_port", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "Its port there, as in the table wire." },
            Column { name: "driver", ty: Type::String, unit: "name", is_time: false, nullable: true, meaning: "The driver's name, as it says itself. At most 100 characters." },
            Column { name: "driver_version", ty: Type::String, unit: "name", is_time: false, nullable: true, meaning: "The driver's version, as it says itself. At most 100 characters." },
        ],
    },
    Table {
        name: "counters", since: 1, time: "time_ns",
        meaning: "Counts of the kernel and the CPUs for a node's threads, added up by thread group: one row per interval and group that ran. Threads that began and ended between two readings are left out; sources has their CPU time.",
        seen: Some(Seen { of: Subject::Node, sources: &["counters"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the threads without their numbers." },
            Column { name: "cpu_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "CPU time in which the threads were counted." },
            Column { name: "page_faults", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Page faults, minor and major; of user mode alone where only that may be counted." },
            Column { name: "context_switches", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Times that a thread left its CPU. Null where user mode alone may be counted." },
            Column { name: "migrations", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Moves from one CPU to another. Null where user mode alone may be counted." },
            Column { name: "cycles", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Cycles of the CPUs, by their counters (PMU). Null where the machine has none, as the next three; scaled where the counters took turns (running_ns)." },
            Column { name: "instructions", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Instructions that were retired." },
            Column { name: "cache_references", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Accesses to the last-level cache, as the kernel has it for this CPU." },
            Column { name: "cache_misses", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Accesses that the last-level cache did not have." },
            Column { name: "enabled_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Time for which the four counters above were wanted. Null where there are none." },
            Column { name: "running_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Time for which they were on the CPUs: less than enabled_ns where others had the PMU's counters in turns, and then they are scaled by enabled_ns / running_ns." },
        ],
    },
    Table {
        name: "cpus", since: 1, time: "time_ns",
        meaning: "Time of each CPU of the machine in an interval, by state, from /proc/stat.",
        seen: Some(Seen { of: Subject::Machine, sources: &["cpus"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "cpu", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "CPU number." },
            Column { name: "user_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "User code, niced code included. The kernel counts in ticks of 1/USER_HZ s (10 ms)." },
            Column { name: "system_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Kernel code." },
            Column { name: "iowait_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Idle while a task of this CPU waited for a disk." },
            Column { name: "irq_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Hardware interrupts." },
            Column { name: "softirq_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Software interrupts." },
            Column { name: "steal_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Taken by the hypervisor." },
            Column { name: "idle_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Idle." },
        ],
    },
    Table {
        name: "disks", since: 1, time: "time_ns",
        meaning: "Requests, bytes and time of each disk in an interval, from /proc/diskstats. A disk without a request in the interval has no row; partitions and loop devices have none.",
        seen: Some(Seen { of: Subject::Machine, sources: &["pressure"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that stands for the machine; empty where only a load was recorded." },
            Column { name: "device", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Its name, such as nvme0n1." },
            Column { name: "reads", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Reads that ended." },
            Column { name: "read_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: false, meaning: "Bytes read." },
            Column { name: "read_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Time of all reads, waiting in the queue included." },
            Column { name: "writes", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Writes and flushes that ended." },
            Column { name: "written_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: false, meaning: "Bytes written." },
            Column { name: "write_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Time of all writes and flushes, waiting in the queue included." },
            Column { name: "busy_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Time in which at least one request was under way." },
        ],
    },
    Table {
        name: "events", since: 1, time: "time_ns",
        meaning: "Events during the recording. The node's log tells of compactions, flushes, repair, streaming, hints, schema changes, nodes up and down, long collections and pauses, time-outs, and warnings, without the texts of statements. The recorder sees when the node's process ended or was started again, and when it answered nobody.",
        seen: Some(Seen { of: Subject::Node, sources: &["events"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When it happened, as the log has it; for a process, when the recorder saw it." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that it happened on." },
            Column { name: "kind", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "From the log: compaction, flush, schema, peer, collection, local-pause, repair, streaming, hints, tombstones, batch, dropped, timed-out, failed, slow-queries, started, shutdown, warning or error. The message decides, and the level (warning, error) only if nothing is known of the message. From the recorder: ended or started, of the node's process. Also from the recorder: silent, while it answers no client for more than two seconds." },
            Column { name: "what", ty: Type::String, unit: "text", is_time: false, nullable: false, meaning: "What happened, in a few words, such as compaction of shop.orders began." },
            Column { name: "logger", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Source file and line that logged it, such as CompactionTask.java:252; empty for events that the recorder saw." },
        ],
    },
    Table {
        name: "findings", since: 1, time: "window_start_ns",
        meaning: "Findings of explain, most important first.",
        seen: None,
        columns: &[
            Column { name: "rank", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "1 is the most important." },
            Column { name: "finding", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Kind of finding, such as gc-pause or client-stall." },
            Column { name: "severity", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "critical, warning or information." },
            Column { name: "title", ty: Type::String, unit: "text", is_time: false, nullable: false, meaning: "The finding in one sentence." },
            Column { name: "detail", ty: Type::String, unit: "text", is_time: false, nullable: false, meaning: "What it means and what to do next." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node it is about; empty when none." },
            Column { name: "window_start_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "Start of the window it was seen in." },
            Column { name: "window_end_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of that window." },
            Column { name: "share", ty: Type::Double, unit: "ratio", is_time: false, nullable: true, meaning: "Share of the slow requests that it accounts for." },
            Column { name: "chance_share", ty: Type::Double, unit: "ratio", is_time: false, nullable: true, meaning: "The part of share that chance alone would give, from the mean over the shifted timelines; null where nothing is counted." },
            Column { name: "p_value", ty: Type::Double, unit: "probability", is_time: false, nullable: true, meaning: "How often chance alone explains at least as much of the time of the slow requests." },
            Column { name: "query", ty: Type::String, unit: "SQL", is_time: false, nullable: false, meaning: "The query that shows the evidence." },
            Column { name: "evidence", ty: Type::String, unit: "JSON", is_time: false, nullable: false, meaning: "The figures that the finding rests on." },
        ],
    },
    Table {
        name: "interrupts", since: 1, time: "time_ns",
        meaning: "Interrupts that each CPU of the machine served in an interval, from /proc/interrupts and /proc/softirqs. An interrupt that did not come in the interval has no row.",
        seen: Some(Seen { of: Subject::Machine, sources: &["interrupts"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "cpu", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "CPU number." },
            Column { name: "kind", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "hard: from a device, a timer or another CPU. soft: what the kernel puts off in the first and does right after." },
            Column { name: "interrupt", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Its number or name in the kernel, such as 36, LOC or NET_RX." },
            Column { name: "device", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Where it comes from, such as nvme0q1 or Local timer interrupts; empty for soft ones." },
            Column { name: "count", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "How often it came." },
        ],
    },
    Table {
        name: "marks", since: 1, time: "start_ns",
        meaning: "Named stretches of time on the clock of the recording, such as the phases of a load.",
        seen: None,
        columns: &[
            Column { name: "start_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "Start." },
            Column { name: "end_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End; the start again for a moment." },
            Column { name: "kind", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "phase: a phase of the load. variant: one run of a variant of an experiment, from its first phase to its last. baseline: at the start, the variant that the others are compared with. changed: a run of an experiment whose variants change only some nodes; the name is that of one of them. unjudged: a part of a phase that a load in another process of the machine does not judge (it populates or warms up); parts of one phase follow each other. note: anything else that was said." },
            Column { name: "name", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name." },
            Column { name: "rate_per_s", ty: Type::Double, unit: "requests/s", is_time: false, nullable: true, meaning: "Intended rate at the start of a phase in open loop." },
            Column { name: "end_rate_per_s", ty: Type::Double, unit: "requests/s", is_time: false, nullable: true, meaning: "Intended rate at the end of a phase, where it differs (ramp)." },
            Column { name: "in_flight", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Requests in flight of a phase in closed loop." },
            Column { name: "measured", ty: Type::Bool, unit: "", is_time: false, nullable: false, meaning: "False for a phase that only warms up, and for a run of a variant that was cut short: it is recorded and shown, and not judged." },
            Column { name: "block", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "Which block of the experiment a run of a variant belongs to, from 1; null for all else." },
        ],
    },
    Table {
        name: "migrations", since: 1, time: "time_ns",
        meaning: "Moves of threads of a watched process from one CPU to another, added up in the kernel: one row per interval, thread group and pair of CPUs.",
        seen: Some(Seen { of: Subject::Node, sources: &["sched"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the threads without their numbers." },
            Column { name: "from_cpu", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "CPU that threads were moved from." },
            Column { name: "to_cpu", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "CPU that they were moved to." },
            Column { name: "count", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Moves. A thread that sleeps may be moved several times before it runs again." },
        ],
    },
    Table {
        name: "node_metrics", since: 1, time: "time_ns",
        meaning: "Figures of a node as a whole that its advice rests on, by Cassandra's own metrics: caches, dropped messages, coordinated requests, batches, compactions. Read every 5 s; a row when a figure has changed.",
        seen: Some(Seen { of: Subject::Node, sources: &["node_metrics"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When it was read." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "kind", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Type of the metric as Cassandra has it: Cache, DroppedMessage, ClientRequest, Batch, Compaction, Storage or MemtablePool." },
            Column { name: "scope", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "What of that type, such as KeyCache, READ_REQ or CASWrite; empty where there is but one." },
            Column { name: "metric", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the metric, such as Hits." },
            Column { name: "attribute", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "What of it: Count since the node started, Value, or 95thPercentile over the last minutes." },
            Column { name: "value", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "The figure, in bytes for Size and Capacity of a cache." },
        ],
    },
    Table {
        name: "node_pressure", since: 1, time: "time_ns",
        meaning: "Limits of a node from outside in an interval: the quota and pressure of its cgroup, page faults that read from a disk, and segments that its network sent again.",
        seen: Some(Seen { of: Subject::Node, sources: &["pressure"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "periods", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Periods of the CPU quota that passed; NULL where its cgroup has no quota." },
            Column { name: "throttled_periods", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Those of them in which the quota was used up." },
            Column { name: "throttled_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Time for which the quota kept runnable tasks off the CPUs, added up over CPUs." },
            Column { name: "cpu_some_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Time in which a task of its cgroup waited for a CPU; NULL where the kernel does not say, as with the next two." },
            Column { name: "io_some_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Time in which a task of its cgroup waited for a disk." },
            Column { name: "memory_some_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Time in which a task of its cgroup waited for memory." },
            Column { name: "major_faults", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Touches of memory by the node's process that had to wait for a disk." },
            Column { name: "sent_segments", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "TCP segments sent from the node's network namespace." },
            Column { name: "retransmitted_segments", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "TCP segments of it that were sent again, because no acknowledgement came." },
        ],
    },
    Table {
        name: "off_cpu", since: 1, time: "start_ns",
        meaning: "One row per time in which a thread of a watched process was off the CPU for as long as was asked for, or longer. Sorted within about a fifth of a second only, by the end.",
        seen: Some(Seen { of: Subject::Node, sources: &["sched"] }),
        columns: &[
            Column { name: "start_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When the thread lost or left its CPU." },
            Column { name: "duration_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "From there until it was on a CPU again." },
            Column { name: "run_queue_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "How much of that it was ready to run and waited for a CPU: all of it if it was preempted, what came after the wake-up otherwise." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "tid", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "Thread id in the kernel." },
            Column { name: "thread", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the thread: the full Java name where the agent told it, otherwise the 15 characters that the kernel keeps." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the thread without its number." },
            Column { name: "reason", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "blocked: it waited for something, as a lock, a socket or a time. disk: for a disk, by what the kernel counts as iowait. uninterruptible: for something else that no signal ends, as a page or a lock in the kernel. stopped: by a signal or a debugger. preempted: it was ready to run, and others had the CPU." },
            Column { name: "from_cpu", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "CPU that it left." },
            Column { name: "to_cpu", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "CPU that it came back to." },
            Column { name: "by_tid", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "Who did it. preempted: the thread that was given the CPU at that moment; others may have followed. Otherwise the thread that woke it. Null for an interrupt, as of a timer or a device, and where it is not known." },
            Column { name: "by_thread", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of that thread; interrupt where it was one; empty where it is not known." },
            Column { name: "by_process", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of that thread's process, which is that of its first thread; empty for an interrupt, and where the process had ended before it was asked." },
            Column { name: "stack", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "Where in the kernel it was, as a number in the table stacks. Null where that was not asked for." },
        ],
    },
    Table {
        name: "page_cache", since: 1, time: "time_ns",
        meaning: "Reads from disks into the page cache for a watched process, added up in the kernel: one row per interval, thread group, file and way. Reads that the cache answered and reads past it (O_DIRECT) are left out.",
        seen: Some(Seen { of: Subject::Node, sources: &["page_cache"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the threads without their numbers." },
            Column { name: "file", ty: Type::String, unit: "path", is_time: false, nullable: false, meaning: "The file, as the process sees it; empty where the process had neither mapped it nor had it open any more when it was asked." },
            Column { name: "device", ty: Type::String, unit: "number", is_time: false, nullable: false, meaning: "The file system that it is on: major and minor number, with : between them." },
            Column { name: "inode", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "The file's number on it." },
            Column { name: "how", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "mapping: memory was touched that the file is mapped to, which is no system call. call: by a system call, such as pread64." },
            Column { name: "faults", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Touches that had to wait for the disk (major faults); 0 for calls." },
            Column { name: "bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: false, meaning: "Bytes that were read, in whole pages, with what the kernel read ahead." },
        ],
    },
    Table {
        name: "pauses", since: 1, time: "start_ns",
        meaning: "Times in which the JVM of a node stopped its threads.",
        seen: Some(Seen { of: Subject::Node, sources: &["pauses"] }),
        columns: &[
            Column { name: "start_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "Start of the pause." },
            Column { name: "duration_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the pause." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "kind", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "gc: the pauses of one collection (phase is empty) or one pause phase of it. safepoint: any stop of all threads, those for GC included." },
            Column { name: "gc_id", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "Number of the collection in its JVM." },
            Column { name: "collector", ty: Type::String, unit: "name", is_time: false, nullable: true, meaning: "Collector, such as G1New or G1Old; for a safepoint the operation that asked for it." },
            Column { name: "cause", ty: Type::String, unit: "name", is_time: false, nullable: true, meaning: "Why it was collected, such as G1 Evacuation Pause." },
            Column { name: "phase", ty: Type::String, unit: "name", is_time: false, nullable: true, meaning: "Phase of the pause; empty for the whole." },
            Column { name: "heap_before_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Heap used before." },
            Column { name: "heap_after_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Heap used after." },
            Column { name: "time_to_safepoint_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "From asking the threads to stop until the last one stood." },
            Column { name: "provider", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "log: the JVM's own log of safepoints and collections, exact times. mxbean: GC notifications, times to 1 ms; in an import of logs, those that Cassandra's GCInspector logged. jfr: JDK Flight Recorder events, exact times, in older recordings." },
        ],
    },
    Table {
        name: "pools", since: 1, time: "time_ns",
        meaning: "Thread pools of a node, as its own metrics give them.",
        seen: Some(Seen { of: Subject::Node, sources: &["pools"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When it was read." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "pool", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the pool, such as MutationStage." },
            Column { name: "kind", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "request, internal or transport." },
            Column { name: "active", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Tasks running now." },
            Column { name: "pending", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Tasks waiting now." },
            Column { name: "completed", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Tasks completed since the node started." },
            Column { name: "blocked", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Tasks that could not be queued and block their producer now." },
            Column { name: "total_blocked", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Tasks that were blocked since the node started." },
            Column { name: "max_size", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Largest number of threads." },
        ],
    },
    Table {
        name: "pressure", since: 1, time: "time_ns",
        meaning: "How long tasks of the machine waited for a resource in an interval, from /proc/pressure. An interval without a wait has no row.",
        seen: Some(Seen { of: Subject::Machine, sources: &["pressure"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that stands for the machine; empty where only a load was recorded." },
            Column { name: "resource", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "cpu, io or memory." },
            Column { name: "some_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Time in which at least one task waited for it." },
            Column { name: "full_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Time in which no task ran, because all waited for it." },
        ],
    },
    Table {
        name: "probe_calls", since: 1, time: "time_ns",
        meaning: "Which probe's method was called within which: the call tree of the probes, one row per interval, pair and thread group. All counts and sums may be added up.",
        seen: Some(Seen { of: Subject::Node, sources: &["probes"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval. A call counts in the interval in which it ended." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "caller", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "The probe whose method was the nearest outward; empty where there was none." },
            Column { name: "probe", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the point in the preset, or the method in full." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the threads without their numbers." },
            Column { name: "calls", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Calls that ended." },
            Column { name: "total_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Sum of their durations." },
        ],
    },
    Table {
        name: "probe_latency", since: 1, time: "time_ns",
        meaning: "How long the calls took that probes metered: one row per interval, probe, thread group and bin of duration.",
        seen: Some(Seen { of: Subject::Node, sources: &["probes"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval. A call counts in the interval in which it ended." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "probe", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the point in the preset, or the method in full." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the threads without their numbers." },
            Column { name: "low_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Lower bound of the durations in this row, itself included." },
            Column { name: "high_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Upper bound of the durations in this row, itself not included: at most a quarter above low_ns." },
            Column { name: "count", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Calls that ended." },
        ],
    },
    Table {
        name: "probes", since: 1, time: "time_ns",
        meaning: "Measurements of a node's probes: one row per interval, probe and thread group. A probe that was not called has no row, except one that says that it was switched off. All but the largest may be added up.",
        seen: Some(Seen { of: Subject::Node, sources: &["probes"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval. A call counts in the interval in which it ended." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "probe", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the point in the preset, or the method in full." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the threads without their numbers; empty in the row that says that the probe was switched off." },
            Column { name: "calls", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Calls that ended." },
            Column { name: "failed", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Those that an exception ended." },
            Column { name: "total_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Sum of their durations. A call that a probe's own method makes to itself does not count again." },
            Column { name: "inherent_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Sum of their durations without the time of callees that have probes of their own." },
            Column { name: "max_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "The longest of the interval, or the end of its bin of the histogram where it was not the longest so far." },
            Column { name: "cpu_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "CPU time of their threads in them, where it was asked for." },
            Column { name: "allocated_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Bytes that their threads allocated in them, where asked for." },
            Column { name: "off_reason", ty: Type::String, unit: "text", is_time: false, nullable: true, meaning: "Why the probe was switched off in this interval." },
        ],
    },
    Table {
        name: "processes", since: 1, time: "time_ns",
        meaning: "The processes of the machine that used the most CPU time in an interval, from /proc: those with at least one hundredth of a CPU, twenty at most.",
        seen: Some(Seen { of: Subject::Machine, sources: &["pressure"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that stands for the machine; empty where only a load was recorded." },
            Column { name: "pid", ty: Type::Int64, unit: "id", is_time: false, nullable: false, meaning: "Process id." },
            Column { name: "process", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of its main thread, as the kernel keeps it." },
            Column { name: "role", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "server or load for a watched process, server also for the one that a watched load is connected to, recorder for the recorder itself, client for a process with a connection to a node, other for all others." },
            Column { name: "cpu_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "CPU time of all its threads." },
        ],
    },
    Table {
        name: "requests", since: 1, time: "start_ns",
        meaning: "One row per request that the load driver sent, as the client saw it.",
        seen: None,
        columns: &[
            Column { name: "intended_start_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When the schedule wanted the request to start. In closed loop it is start_ns." },
            Column { name: "start_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When the driver handed the request to the connection. Service time counts from here." },
            Column { name: "end_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When the answer, or the error, was back." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The coordinator that the request was sent to." },
            Column { name: "operation", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "The operation of the workload." },
            Column { name: "outcome", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "ok, or the kind of error: timeout, write_timeout, read_timeout, write_failure, read_failure, unavailable, overloaded, connection, invalid, abandoned (in flight when the run was ended), other." },
            Column { name: "connection", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "The connection that carried it, counted from 0 within the load; null where the driver does not say." },
            Column { name: "client_port", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "The port of that connection on the load driver's side, as the table wire has it; null where the driver does not say." },
            Column { name: "stream", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "Its stream on that connection, as in the frame's header; null where the driver does not say." },
            Column { name: "request_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Size of the request's frame with its header, not compressed; null where the driver does not say." },
            Column { name: "response_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Size of the answer's frame with its header, not compressed; null where none came or the driver does not say." },
            Column { name: "number", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "Its number in the load, from which its operation and its values follow; those that populate have numbers of their own, from -1 downwards. Null where the load does not number them." },
            Column { name: "stalled", ty: Type::Bool, unit: "", is_time: false, nullable: false, meaning: "Whether the driver itself stood still between the intended start and the end, or was too late to start it: such a time is the driver's as well as the server's." },
        ],
    },
    Table {
        name: "results", since: 1, time: "start_ns",
        meaning: "Figures of each variant of an experiment in each block, over its measured phases: one row per figure. Written when the experiment is judged, whole blocks or not.",
        seen: None,
        columns: &[
            Column { name: "start_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "Start of the variant's run in the block." },
            Column { name: "variant", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the variant." },
            Column { name: "block", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "Number of the block, from 1. Within a block every variant was run once, so that figures of one block may be compared." },
            Column { name: "metric", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the figure, such as throughput or response_p99." },
            Column { name: "unit", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Unit of the figure, such as requests/s or ms." },
            Column { name: "value", ty: Type::Double, unit: "as the unit says", is_time: false, nullable: false, meaning: "The figure." },
        ],
    },
    Table {
        name: "run_queue", since: 1, time: "time_ns",
        meaning: "Times that threads of a watched process were ready to run and waited for a CPU, added up in the kernel: one row per interval, thread group, cause and bin of delay. All counts and sums may be added up over any of these.",
        seen: Some(Seen { of: Subject::Node, sources: &["sched"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval. A delay counts in the interval in which the thread came onto a CPU." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the threads without their numbers." },
            Column { name: "after", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "What the delay began with. wakeup: the thread became ready, or was made. preemption: it lost its CPU to another." },
            Column { name: "low_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Lower bound of the delays in this row, itself included." },
            Column { name: "high_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Upper bound of the delays in this row, itself not included: twice low_ns, or 1 where that is 0." },
            Column { name: "count", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Times that a thread came onto a CPU." },
            Column { name: "total_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Sum of their delays." },
        ],
    },
    Table {
        name: "samples", since: 1, time: "time_ns",
        meaning: "Stack of a thread at a moment, from the profiler or from eBPF. One row per sample.",
        seen: Some(Seen { of: Subject::Node, sources: &["stacks"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When the sample was taken." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "event", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Why it was taken. cpu: so much CPU time was used. wall: so much time went by. alloc: so many bytes were allocated. lock: a lock was waited for. Imported ones may have others, such as native (in native code, running or waiting), cycles, page-faults." },
            Column { name: "weight", ty: Type::Int64, unit: "ns, or bytes for alloc, or counts for events that are counted", is_time: false, nullable: false, meaning: "How much of it the sample stands for." },
            Column { name: "tid", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "Thread id in the kernel." },
            Column { name: "thread", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the thread." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the thread without its number." },
            Column { name: "stack", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "The stack's number in the table stacks." },
        ],
    },
    Table {
        name: "settings", since: 1, time: "time_ns",
        meaning: "How a node, its JVM and its disks are set up: every setting once at the start, and again when it has changed. Of Cassandra's own settings those that say something of performance; none that holds a secret.",
        seen: None,
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When it was read." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "setting", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Cassandra's name, such as compaction_throughput; jvm.* of the JVM; logging.levels of its loggers; machine.* of its machine; process.* of its process and the limits of it, at the start; disk.*:DIRECTORY of a data directory's file system." },
            Column { name: "value", ty: Type::String, unit: "text", is_time: false, nullable: false, meaning: "As written there. Settings that end in _bytes are in bytes." },
            Column { name: "source", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Where it was read, such as system_views.settings." },
        ],
    },
    Table {
        name: "sources", since: 1, time: "time_ns",
        meaning: "Rows that each source of the recording captured and lost, and its CPU time, per interval.",
        seen: None,
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "source", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the source, such as threads or requests." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "provider", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "How it was captured, such as proc, agent-log or driver." },
            Column { name: "captured", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Events captured in the interval: rows, or what a row adds up, such as switches of threads; in the unit of lost." },
            Column { name: "lost", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Rows or samples known to be lost in the interval." },
            Column { name: "lost_reason", ty: Type::String, unit: "text", is_time: false, nullable: false, meaning: "Why, and what else went less than well, such as requests that started late; empty when all was well." },
            Column { name: "cpu_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "CPU time that the source itself used in the interval, where it can be told apart." },
        ],
    },
    Table {
        name: "sstables", since: 1, time: "time_ns",
        meaning: "Each SSTable of a node, as its own statistics have it (what sstablemetadata prints): one row when it is first seen, another when something of it has changed, and one when it is gone. Cassandra's own tables are left out.",
        seen: None,
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When it was read." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "keyspace", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Keyspace." },
            Column { name: "table_name", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Table." },
            Column { name: "file", ty: Type::String, unit: "path", is_time: false, nullable: false, meaning: "Its file with the data, such as …/nb-7-big-Data.db." },
            Column { name: "live", ty: Type::Bool, unit: "", is_time: false, nullable: false, meaning: "Whether it is one of the table's; false in its last row, when a compaction or a drop has taken it away." },
            Column { name: "written_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: true, meaning: "When the file with the data was written." },
            Column { name: "level", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "Its level; 0 under strategies that have none." },
            Column { name: "disk_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Size of all its files." },
            Column { name: "data_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Size of its data before compression." },
            Column { name: "compression_ratio", ty: Type::Double, unit: "ratio", is_time: false, nullable: true, meaning: "Size of its data on disk over the size before compression; null without compression." },
            Column { name: "partitions", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Its partitions." },
            Column { name: "row_count", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Its rows, deleted ones included." },
            Column { name: "cells", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Columns of its rows that are set or deleted." },
            Column { name: "mean_partition_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Mean size of its partitions before compression, by Cassandra's histogram." },
            Column { name: "max_partition_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Size of its largest partition, to the next bucket of that histogram." },
            Column { name: "droppable_ratio", ty: Type::Double, unit: "ratio", is_time: false, nullable: true, meaning: "Estimated share of its cells that are tombstones past gc_grace, at the time of the row." },
            Column { name: "min_timestamp_us", ty: Type::Int64, unit: "µs since the Unix epoch", is_time: false, nullable: true, meaning: "The oldest write in it, by the timestamp that the writer gave." },
            Column { name: "max_timestamp_us", ty: Type::Int64, unit: "µs since the Unix epoch", is_time: false, nullable: true, meaning: "The newest write in it." },
            Column { name: "min_ttl_s", ty: Type::Int64, unit: "s", is_time: false, nullable: true, meaning: "The shortest time to live of its cells, 0 where some have none." },
            Column { name: "max_ttl_s", ty: Type::Int64, unit: "s", is_time: false, nullable: true, meaning: "The longest time to live of its cells, 0 where none has one." },
            Column { name: "repaired_at_ms", ty: Type::Int64, unit: "ms since the Unix epoch", is_time: false, nullable: true, meaning: "When incremental repair marked it as repaired; 0 where it is not." },
            Column { name: "first_token", ty: Type::String, unit: "token", is_time: false, nullable: true, meaning: "Token of its first partition." },
            Column { name: "last_token", ty: Type::String, unit: "token", is_time: false, nullable: true, meaning: "Token of its last partition." },
            Column { name: "source", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Where it was read: SSTableReader of the running node, or sstablemetadata of the files." },
        ],
    },
    Table {
        name: "stacks", since: 1, time: "time_ns",
        meaning: "The stacks of the tables samples and off_cpu, each once per node, source and recording. A number stands for the same stack in every recording, so that merged ones agree; take one row of a number.",
        seen: None,
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When it was first seen." },
            Column { name: "stack", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "Its number: the same for the same frames." },
            Column { name: "frames", ty: Type::String, unit: "names", is_time: false, nullable: false, meaning: "Its frames from the outermost to the innermost, with ; between them: package.Class.method, or the symbol of native code." },
            Column { name: "kinds", ty: Type::String, unit: "letters", is_time: false, nullable: false, meaning: "What each frame is, a letter for each: j compiled while it ran, as Java is, l inlined, 1 compiled by C1, i interpreted, c the JVM, n native, k the kernel." },
        ],
    },
    Table {
        name: "stalls", since: 1, time: "start_ns",
        meaning: "Times in which a process did not run though it should have: measured by a thread that sleeps for a short time and looks how much later it woke (as jHiccup does), and by how far the load driver was behind its schedule.",
        seen: Some(Seen { of: Subject::Node, sources: &["stalls", "threads"] }),
        columns: &[
            Column { name: "start_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "Start of the stall." },
            Column { name: "duration_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "How long it lasted." },
            Column { name: "side", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Whose stall it was: load (the driver), server (inside the JVM of a node), recorder." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node, for side server; empty otherwise." },
            Column { name: "kind", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "watcher: a sleeping thread woke late. schedule: requests started later than intended though a connection was free. stopped: the kernel held the whole process, by SIGSTOP, a debugger or a frozen cgroup. It is read 10 times a second, so that it is up to 0.2 s shorter than it was." },
            Column { name: "run_queue_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "How much of it the watching thread was ready to run and had no CPU; null where that is not measured." },
            Column { name: "major_faults", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Pages that the process had to wait for the disk for meanwhile; null where that is not measured." },
            Column { name: "steal_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Stolen time in the tenth of a second around it, over all CPUs, in steps of 10 ms; null where not measured." },
        ],
    },
    Table {
        name: "syscall_summary", since: 1, time: "time_ns",
        meaning: "System calls of a watched process added up in the kernel: one row per interval, thread group, call, file and bin of duration. All counts and sums may be added up over any of these.",
        seen: Some(Seen { of: Subject::Node, sources: &["syscalls"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval. A call counts in the interval in which it ended." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the threads without their numbers." },
            Column { name: "call", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "As in syscalls." },
            Column { name: "file", ty: Type::String, unit: "path", is_time: false, nullable: false, meaning: "As in syscalls; empty for a call that takes only a path." },
            Column { name: "file_kind", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "As in syscalls." },
            Column { name: "low_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Lower bound of the durations in this row, itself included." },
            Column { name: "high_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Upper bound of the durations in this row, itself not included: twice low_ns, or 1 where that is 0." },
            Column { name: "count", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Calls that ended." },
            Column { name: "total_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Sum of their durations." },
            Column { name: "bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: false, meaning: "Bytes that they read or wrote." },
            Column { name: "errors", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "Those that ended with an error, EAGAIN included." },
        ],
    },
    Table {
        name: "syscalls", since: 1, time: "start_ns",
        meaning: "One row per system call of a watched process that began and ended while it was recorded. Sorted within about a fifth of a second only.",
        seen: Some(Seen { of: Subject::Node, sources: &["syscalls"] }),
        columns: &[
            Column { name: "start_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When the thread entered the kernel." },
            Column { name: "duration_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "From there until it left the kernel: time in the call, waiting included." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "tid", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "Thread id in the kernel." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the thread without its number." },
            Column { name: "call", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the system call, such as pread64; its number where it has no name here." },
            Column { name: "file", ty: Type::String, unit: "path", is_time: false, nullable: false, meaning: "What the call's descriptor stood for when it began: a path, socket:LOCAL->REMOTE, socket:LOCAL, pipe, epoll, eventfd, timerfd. For a call that takes a path, the path. Empty for calls with neither." },
            Column { name: "file_kind", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "file, folder, socket, pipe, epoll, eventfd, timerfd, device, other; path where only a path was given; unknown; empty for calls without a descriptor or path." },
            Column { name: "bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Bytes read or written, for calls that read or write and did not fail." },
            Column { name: "offset_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Where in the file the call read, wrote or moved to: of pread64, pwrite64, preadv, pwritev, preadv2, pwritev2 and lseek. Null for other calls, which go on where the last one ended, and where lseek failed." },
            Column { name: "error", ty: Type::String, unit: "name", is_time: false, nullable: true, meaning: "Name of the error, such as EAGAIN; null where there was none." },
        ],
    },
    Table {
        name: "table_facts", since: 1, time: "time_ns",
        meaning: "Definition of each table, and other facts that seldom change: each once at the start, and again when it has changed. Cassandra's own tables are left out.",
        seen: None,
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When it was read." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "keyspace", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Keyspace; empty for a fact of the whole node." },
            Column { name: "table_name", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Table; empty for a fact of the whole keyspace." },
            Column { name: "fact", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "An option of the table as CQL names it, such as gc_grace_seconds; partition_key, clustering, columns; index NAME; view_of; replication; last_repair; repair_sessions. Also compaction_in_force, which differs from compaction when one node was changed alone." },
            Column { name: "value", ty: Type::String, unit: "text", is_time: false, nullable: false, meaning: "As CQL has it; maps and lists as JSON; last_repair in seconds since the Unix epoch. Empty for what is no more." },
            Column { name: "source", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Where it was read, such as system_schema.tables." },
        ],
    },
    Table {
        name: "table_stats", since: 1, time: "time_ns",
        meaning: "Figures of each table of a node, as its own metrics give them. Counters count since the node started.",
        seen: Some(Seen { of: Subject::Node, sources: &["tables"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When it was read." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "keyspace", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Keyspace." },
            Column { name: "table_name", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Table." },
            Column { name: "reads", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Local reads since the node started." },
            Column { name: "writes", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Local writes since the node started." },
            Column { name: "read_total_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Time in local reads since the node started; divided by reads it is the mean." },
            Column { name: "write_total_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Time in local writes since the node started." },
            Column { name: "sstables", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Live SSTables." },
            Column { name: "live_disk_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Disk space of live SSTables." },
            Column { name: "total_disk_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Disk space of all SSTables, obsolete ones included." },
            Column { name: "memtable_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Live data in the memtable." },
            Column { name: "memtable_switches", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Memtables that were flushed since the node started." },
            Column { name: "pending_flushes", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Flushes waiting or running." },
            Column { name: "pending_compactions", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Compactions estimated to be needed." },
            Column { name: "bytes_flushed", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Written by flushes since the node started." },
            Column { name: "bytes_compacted", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Written by compactions since the node started." },
            Column { name: "sstables_per_read_p95", ty: Type::Double, unit: "count", is_time: false, nullable: true, meaning: "95th percentile of SSTables touched by a read, over the last minutes." },
            Column { name: "tombstones_per_slice_p95", ty: Type::Double, unit: "count", is_time: false, nullable: true, meaning: "95th percentile of tombstones scanned by a read, over the last minutes." },
            Column { name: "live_cells_per_slice_p95", ty: Type::Double, unit: "count", is_time: false, nullable: true, meaning: "95th percentile of live cells scanned by a read, over the last minutes." },
            Column { name: "droppable_ratio", ty: Type::Double, unit: "ratio", is_time: false, nullable: true, meaning: "Estimated share of droppable tombstones." },
            Column { name: "percent_repaired", ty: Type::Double, unit: "percent", is_time: false, nullable: true, meaning: "Share of the bytes on disk that incremental repair has marked as repaired, read every 30 s." },
            Column { name: "coordinator_reads", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Reads of one partition that this node coordinated since it started." },
            Column { name: "coordinator_read_mean_ns", ty: Type::Double, unit: "ns", is_time: false, nullable: true, meaning: "Mean time of those at the coordinator, over the last minutes." },
            Column { name: "coordinator_writes", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Writes that this node coordinated since it started." },
            Column { name: "coordinator_write_mean_ns", ty: Type::Double, unit: "ns", is_time: false, nullable: true, meaning: "Mean time of those at the coordinator, over the last minutes." },
            Column { name: "mean_partition_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Mean size of the partitions in SSTables, uncompressed, read every 30 s." },
            Column { name: "max_partition_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Size of the largest partition in an SSTable, uncompressed, to the next bucket of Cassandra's histogram, read every 30 s." },
            Column { name: "largest_sstable_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Size of the largest SSTable, read every 30 s; from Cassandra 5.0 on." },
            Column { name: "sstables_by_level", ty: Type::String, unit: "JSON", is_time: false, nullable: true, meaning: "SSTables by level, such as [1,10,52], of a table under LeveledCompactionStrategy, read every 30 s." },
            Column { name: "sstables_by_window", ty: Type::String, unit: "JSON", is_time: false, nullable: true, meaning: "SSTables by window of time, newest first, of a table under TimeWindowCompactionStrategy, read every 30 s; from Cassandra 5.0 on." },
            Column { name: "compression_ratio", ty: Type::Double, unit: "ratio", is_time: false, nullable: true, meaning: "Size on disk over size before compression, read every 30 s; -1 without compression." },
            Column { name: "bloom_false_positives", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Times that a bloom filter of a live SSTable sent a read there in vain, read every 30 s." },
            Column { name: "bloom_false_ratio", ty: Type::Double, unit: "ratio", is_time: false, nullable: true, meaning: "Share of those among all that the filters had to answer for partitions that are not there, read every 30 s." },
            Column { name: "key_cache_hit_rate", ty: Type::Double, unit: "ratio", is_time: false, nullable: true, meaning: "Share of look-ups in the key cache that hit, for the table's live SSTables, read every 30 s; SSTables with trie indexes (format bti) use none." },
            Column { name: "row_cache_hits", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Reads that the row cache answered since the node started." },
            Column { name: "row_cache_misses", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Reads that the row cache was asked for in vain since the node started." },
            Column { name: "running_compactions", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Compactions, clean-ups and the like that run on the table." },
            Column { name: "compacting_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Bytes that those have to read in all." },
            Column { name: "compacted_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: true, meaning: "Bytes that those have read so far." },
            Column { name: "tombstones_per_slice_p99", ty: Type::Double, unit: "count", is_time: false, nullable: true, meaning: "99th percentile of tombstones scanned by a read, over the last minutes, as the virtual tables have it; the agent records the 95th instead." },
            Column { name: "live_cells_per_slice_p99", ty: Type::Double, unit: "count", is_time: false, nullable: true, meaning: "99th percentile of live cells scanned by a read, over the last minutes, as the virtual tables have it; the agent records the 95th instead." },
            Column { name: "largest_sstable_age_s", ty: Type::Int64, unit: "s", is_time: false, nullable: true, meaning: "How long ago the largest SSTable was written, where its files could be looked at." },
        ],
    },
    Table {
        name: "threads", since: 1, time: "time_ns",
        meaning: "CPU time and switches of each thread of a process in an interval. A thread that did not run in the interval has no row.",
        seen: Some(Seen { of: Subject::Node, sources: &["threads"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the interval." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the interval." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "process", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "server: the node. load: the load driver." },
            Column { name: "tid", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "Thread id in the kernel." },
            Column { name: "thread", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the thread: the full Java name where the agent told it, otherwise the 15 characters that the kernel keeps." },
            Column { name: "thread_group", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the thread without its number." },
            Column { name: "cpu_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "CPU time used." },
            Column { name: "run_queue_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Time ready to run and waiting for a CPU." },
            Column { name: "migrations", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Moves from one CPU to another. Where /proc is read, told about once a second, since it was told last, and null in the rows between." },
            Column { name: "voluntary_switches", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Times it gave up the CPU to wait. Where /proc is read, told about once a second, since it was told last, and null in the rows between." },
            Column { name: "involuntary_switches", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "Times it was preempted. Where /proc is read, told about once a second, since it was told last, and null in the rows between." },
        ],
    },
    Table {
        name: "valves", since: 1, time: "time_ns",
        meaning: "Measurements and decisions of a node's valves: one row per window.",
        seen: Some(Seen { of: Subject::Node, sources: &["valves"] }),
        columns: &[
            Column { name: "time_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "End of the window." },
            Column { name: "interval_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "Length of the window." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that the row is about, as the recording names it in its manifest." },
            Column { name: "valve", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Name of the valve." },
            Column { name: "law", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "The law that decided." },
            Column { name: "limit", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "How many could be inside at once; null where the valve was open." },
            Column { name: "next_limit", ty: Type::Int64, unit: "count", is_time: false, nullable: true, meaning: "The limit from this window on; null where the valve is open." },
            Column { name: "in_flight", ty: Type::Double, unit: "count", is_time: false, nullable: false, meaning: "Mean number inside." },
            Column { name: "waiting", ty: Type::Double, unit: "count", is_time: false, nullable: false, meaning: "Mean number that waited at the gate, or was queued before the stage." },
            Column { name: "elsewhere", ty: Type::Double, unit: "count", is_time: false, nullable: false, meaning: "Mean number of other requests in the gate's stage, queued or running; 0 at a stage, and where no stage's threads pass the gate." },
            Column { name: "completed", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "How many came out well." },
            Column { name: "failed", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "How many came out with an exception." },
            Column { name: "refused", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "How many were answered with Overloaded." },
            Column { name: "let_through", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "How many went in beyond the limit after the longest wait." },
            Column { name: "out_of_order", ty: Type::Int64, unit: "count", is_time: false, nullable: false, meaning: "How many went in beyond the limit since their waiting could have been a deadlock." },
            Column { name: "throughput_per_s", ty: Type::Double, unit: "1/s", is_time: false, nullable: false, meaning: "How many came out well per second." },
            Column { name: "mean_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Mean time inside." },
            Column { name: "wait_mean_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Mean wait before it." },
            Column { name: "p50_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Median of wait and time inside together; not known of a stage." },
            Column { name: "p99_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "99th percentile of the same." },
            Column { name: "max_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "Longest of the same, to 3 %." },
            Column { name: "gc_share", ty: Type::Double, unit: "share", is_time: false, nullable: false, meaning: "Share of the window in which the JVM stood for a collection." },
            Column { name: "limited", ty: Type::Bool, unit: "true or false", is_time: false, nullable: false, meaning: "Whether somebody waited because of the limit." },
            Column { name: "state", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "on, or open: it lets all in." },
            Column { name: "reason", ty: Type::String, unit: "text", is_time: false, nullable: false, meaning: "Why the limit is what it is from now on, in a sentence." },
        ],
    },
    Table {
        name: "wire", since: 1, time: "start_ns",
        meaning: "One row per request that came in from the network and was answered, as its packets passed the node's side of it. Sorted by when the answer passed, within about a fifth of a second.",
        seen: Some(Seen { of: Subject::Node, sources: &["wire"] }),
        columns: &[
            Column { name: "start_ns", ty: Type::Int64, unit: "ns since the Unix epoch", is_time: true, nullable: false, meaning: "When the last byte of the request had come in." },
            Column { name: "duration_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "From there until the first byte of the answer went out: what the node took, its own pauses included, and the client's not." },
            Column { name: "receiving_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "From the first byte of the request to its last: 0 for one that came in one packet." },
            Column { name: "sending_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: false, meaning: "From the first byte of the answer to its last. A client that does not read holds it up." },
            Column { name: "node", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "The node that was asked, as the recording names it in its manifest." },
            Column { name: "client", ty: Type::String, unit: "address", is_time: false, nullable: false, meaning: "Where the connection comes from." },
            Column { name: "client_port", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "Its port there. With node, stream and time it finds the same request in the table requests." },
            Column { name: "stream", ty: Type::Int64, unit: "number", is_time: false, nullable: false, meaning: "Its stream on that connection." },
            Column { name: "weight", ty: Type::Double, unit: "number", is_time: false, nullable: true, meaning: "Requests that the row stands for: 1, or null, where all connections were followed, and more where some were left out to bound the cost." },
            Column { name: "opcode", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "What it is in the protocol: QUERY, EXECUTE, BATCH, PREPARE, STARTUP, OPTIONS, REGISTER, AUTH_RESPONSE." },
            Column { name: "statement", ty: Type::String, unit: "CQL", is_time: false, nullable: false, meaning: "The statement, with ? for its literals, and for a whole collection or list of IN; of a batch 'batch:' and the first statement. Only the keyword, as in 'SELECT …', if the text does not parse as CQL or the node refused it as a syntax error, and for statements about roles and users. 'prepared' and the id where the text of a prepared statement is not known, and 'other statements' beyond 10,000 different ones. At most 1000 characters." },
            Column { name: "keyspace", ty: Type::String, unit: "name", is_time: false, nullable: true, meaning: "The keyspace of names without one in the statement: of the request, the prepared statement or else the connection. Null where that is not known." },
            Column { name: "consistency", ty: Type::String, unit: "name", is_time: false, nullable: true, meaning: "Consistency level, such as LOCAL_QUORUM. Null where the request has none, or it stands beyond what is read of a long request." },
            Column { name: "serial_consistency", ty: Type::String, unit: "name", is_time: false, nullable: true, meaning: "Serial consistency level, where the request names one." },
            Column { name: "further_page", ty: Type::Bool, unit: "", is_time: false, nullable: false, meaning: "Whether the request asks for a further page: it has a paging state." },
            Column { name: "page_size", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "The most rows that the client takes in one page. Null where it asks for all rows at once, where the request has no pages, and where it stands beyond what is read of a long request." },
            Column { name: "client_ahead_ns", ty: Type::Int64, unit: "ns", is_time: false, nullable: true, meaning: "How far the client's clock is ahead of the node's, less the time from the driver to the node. It is the timestamp that the driver sent (flag 0x20 of the protocol) minus start_ns, to the microsecond; negative where the clock is behind. Null where the driver sent no timestamp." },
            Column { name: "batch_size", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "Statements of a batch. Null for other requests, and for a batch sent as text whose end is beyond what is read." },
            Column { name: "token", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "Token of the partition that it reads or writes, by Murmur3Partitioner. Null where the partition key is not among the values of a prepared statement, where it has several partitions, and where that is not known. The key itself is not recorded." },
            Column { name: "to_replica", ty: Type::Bool, unit: "", is_time: false, nullable: true, meaning: "Whether the node that was asked is a replica of that partition, by the ring and the keyspace's replication when the recording began. Null where token is, for keyspaces made later, and for replication strategies other than SimpleStrategy and NetworkTopologyStrategy." },
            Column { name: "answer", ty: Type::String, unit: "name", is_time: false, nullable: false, meaning: "Kind of the answer: rows, void, prepared, set_keyspace, schema_change, error, ready, authenticate, supported, auth_challenge, auth_success; result where it could not be read further." },
            Column { name: "error", ty: Type::String, unit: "name", is_time: false, nullable: true, meaning: "The protocol's name of the error, such as write_timeout or overloaded; null where there was none." },
            Column { name: "rows_returned", ty: Type::Int64, unit: "number", is_time: false, nullable: true, meaning: "Rows in the answer. Null for other kinds of answers, and where the number stands beyond what is read of a long answer." },
            Column { name: "more_pages", ty: Type::Bool, unit: "", is_time: false, nullable: false, meaning: "Whether the answer says that there are more pages." },
            Column { name: "warned", ty: Type::Bool, unit: "", is_time: false, nullable: false, meaning: "Whether the answer has warnings of the node." },
            Column { name: "traced", ty: Type::Bool, unit: "", is_time: false, nullable: false, meaning: "Whether the request asks the node to trace it." },
            Column { name: "compressed", ty: Type::Bool, unit: "", is_time: false, nullable: false, meaning: "Whether the request came compressed, or in segments that can be." },
            Column { name: "request_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: false, meaning: "Size of the request's frame with its header, as it came, compressed or not, without what segments add." },
            Column { name: "response_bytes", ty: Type::Int64, unit: "bytes", is_time: false, nullable: false, meaning: "Size of the answer's frame with its header, likewise." },
        ],
    },
];

/// One struct per table: a row of it.
pub mod rows {
    use super::BatchBuilder;

    /// A row that knows its table.
    pub trait Row {
        /// Index of the table in [`super::TABLES`].
        const TABLE: usize;
        /// Appends the row's columns.
        fn append_to(&self, batch: &mut BatchBuilder);
    }

    /// The coordinator's time for requests, by Cassandra's own exact counters (its metrics ClientRequest): one row per interval and kind of request, where there were any. The time begins when a request is decoded and ends when its answer is decided. It excludes the wait for a thread, and decoding and encoding the message.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct ClientRequests<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Kind of request, as Cassandra has it: Read (of one partition), RangeSlice (of several), Write (batches too), CASRead and CASWrite (lightweight transactions). (name)
        pub kind: &'a str,
        /// Requests that ended in the interval. (count)
        pub count: i64,
        /// Sum of what they took. The counter has whole microseconds of each. (ns)
        pub total_ns: i64,
    }

    impl Row for ClientRequests<'_> {
        const TABLE: usize = 0;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.kind));
            batch.int64(4, Some(self.count));
            batch.int64(5, Some(self.total_ns));
            batch.end_row();
        }
    }

    /// One row per connection of a client whose driver is known: from STARTUP as it passed, or from what the node said of the connections that were open when the recording began.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct ClientConnection<'a> {
        /// When its driver became known: when it began, or when the recording did. (ns since the Unix epoch)
        pub time_ns: i64,
        /// The node, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Where the connection comes from. (address)
        pub client: &'a str,
        /// Its port there, as in the table wire. (number)
        pub client_port: i64,
        /// The driver's name, as it says itself. At most 100 characters. (name)
        pub driver: Option<&'a str>,
        /// The driver's version, as it says itself. At most 100 characters. (name)
        pub driver_version: Option<&'a str>,
    }

    impl Row for ClientConnection<'_> {
        const TABLE: usize = 1;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.string(1, Some(self.node));
            batch.string(2, Some(self.client));
            batch.int64(3, Some(self.client_port));
            batch.string(4, self.driver);
            batch.string(5, self.driver_version);
            batch.end_row();
        }
    }

    /// Counts of the kernel and the CPUs for a node's threads, added up by thread group: one row per interval and group that ran. Threads that began and ended between two readings are left out; sources has their CPU time.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct CounterSample<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Name of the threads without their numbers. (name)
        pub thread_group: &'a str,
        /// CPU time in which the threads were counted. (ns)
        pub cpu_ns: i64,
        /// Page faults, minor and major; of user mode alone where only that may be counted. (count)
        pub page_faults: i64,
        /// Times that a thread left its CPU. Null where user mode alone may be counted. (count)
        pub context_switches: Option<i64>,
        /// Moves from one CPU to another. Null where user mode alone may be counted. (count)
        pub migrations: Option<i64>,
        /// Cycles of the CPUs, by their counters (PMU). Null where the machine has none, as the next three; scaled where the counters took turns (running_ns). (count)
        pub cycles: Option<i64>,
        /// Instructions that were retired. (count)
        pub instructions: Option<i64>,
        /// Accesses to the last-level cache, as the kernel has it for this CPU. (count)
        pub cache_references: Option<i64>,
        /// Accesses that the last-level cache did not have. (count)
        pub cache_misses: Option<i64>,
        /// Time for which the four counters above were wanted. Null where there are none. (ns)
        pub enabled_ns: Option<i64>,
        /// Time for which they were on the CPUs: less than enabled_ns where others had the PMU's counters in turns, and then they are scaled by enabled_ns / running_ns. (ns)
        pub running_ns: Option<i64>,
    }

    impl Row for CounterSample<'_> {
        const TABLE: usize = 2;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.thread_group));
            batch.int64(4, Some(self.cpu_ns));
            batch.int64(5, Some(self.page_faults));
            batch.int64(6, self.context_switches);
            batch.int64(7, self.migrations);
            batch.int64(8, self.cycles);
            batch.int64(9, self.instructions);
            batch.int64(10, self.cache_references);
            batch.int64(11, self.cache_misses);
            batch.int64(12, self.enabled_ns);
            batch.int64(13, self.running_ns);
            batch.end_row();
        }
    }

    /// Time of each CPU of the machine in an interval, by state, from /proc/stat.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct CpuSample<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// CPU number. (number)
        pub cpu: i64,
        /// User code, niced code included. The kernel counts in ticks of 1/USER_HZ s (10 ms). (ns)
        pub user_ns: i64,
        /// Kernel code. (ns)
        pub system_ns: i64,
        /// Idle while a task of this CPU waited for a disk. (ns)
        pub iowait_ns: i64,
        /// Hardware interrupts. (ns)
        pub irq_ns: i64,
        /// Software interrupts. (ns)
        pub softirq_ns: i64,
        /// Taken by the hypervisor. (ns)
        pub steal_ns: i64,
        /// Idle. (ns)
        pub idle_ns: i64,
    }

    impl Row for CpuSample<'_> {
        const TABLE: usize = 3;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.int64(3, Some(self.cpu));
            batch.int64(4, Some(self.user_ns));
            batch.int64(5, Some(self.system_ns));
            batch.int64(6, Some(self.iowait_ns));
            batch.int64(7, Some(self.irq_ns));
            batch.int64(8, Some(self.softirq_ns));
            batch.int64(9, Some(self.steal_ns));
            batch.int64(10, Some(self.idle_ns));
            batch.end_row();
        }
    }

    /// Requests, bytes and time of each disk in an interval, from /proc/diskstats. A disk without a request in the interval has no row; partitions and loop devices have none.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct DiskSample<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that stands for the machine; empty where only a load was recorded. (address)
        pub node: &'a str,
        /// Its name, such as nvme0n1. (name)
        pub device: &'a str,
        /// Reads that ended. (count)
        pub reads: i64,
        /// Bytes read. (bytes)
        pub read_bytes: i64,
        /// Time of all reads, waiting in the queue included. (ns)
        pub read_ns: i64,
        /// Writes and flushes that ended. (count)
        pub writes: i64,
        /// Bytes written. (bytes)
        pub written_bytes: i64,
        /// Time of all writes and flushes, waiting in the queue included. (ns)
        pub write_ns: i64,
        /// Time in which at least one request was under way. (ns)
        pub busy_ns: i64,
    }

    impl Row for DiskSample<'_> {
        const TABLE: usize = 4;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.device));
            batch.int64(4, Some(self.reads));
            batch.int64(5, Some(self.read_bytes));
            batch.int64(6, Some(self.read_ns));
            batch.int64(7, Some(self.writes));
            batch.int64(8, Some(self.written_bytes));
            batch.int64(9, Some(self.write_ns));
            batch.int64(10, Some(self.busy_ns));
            batch.end_row();
        }
    }

    /// Events during the recording. The node's log tells of compactions, flushes, repair, streaming, hints, schema changes, nodes up and down, long collections and pauses, time-outs, and warnings, without the texts of statements. The recorder sees when the node's process ended or was started again, and when it answered nobody.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct NodeEvent<'a> {
        /// When it happened, as the log has it; for a process, when the recorder saw it. (ns since the Unix epoch)
        pub time_ns: i64,
        /// The node that it happened on. (address)
        pub node: &'a str,
        /// From the log: compaction, flush, schema, peer, collection, local-pause, repair, streaming, hints, tombstones, batch, dropped, timed-out, failed, slow-queries, started, shutdown, warning or error. The message decides, and the level (warning, error) only if nothing is known of the message. From the recorder: ended or started, of the node's process. Also from the recorder: silent, while it answers no client for more than two seconds. (name)
        pub kind: &'a str,
        /// What happened, in a few words, such as compaction of shop.orders began. (text)
        pub what: &'a str,
        /// Source file and line that logged it, such as CompactionTask.java:252; empty for events that the recorder saw. (name)
        pub logger: &'a str,
    }

    impl Row for NodeEvent<'_> {
        const TABLE: usize = 5;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.string(1, Some(self.node));
            batch.string(2, Some(self.kind));
            batch.string(3, Some(self.what));
            batch.string(4, Some(self.logger));
            batch.end_row();
        }
    }

    /// Findings of explain, most important first.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Finding<'a> {
        /// 1 is the most important. (number)
        pub rank: i64,
        /// Kind of finding, such as gc-pause or client-stall. (name)
        pub finding: &'a str,
        /// critical, warning or information. (name)
        pub severity: &'a str,
        /// The finding in one sentence. (text)
        pub title: &'a str,
        /// What it means and what to do next. (text)
        pub detail: &'a str,
        /// The node it is about; empty when none. (address)
        pub node: &'a str,
        /// Start of the window it was seen in. (ns since the Unix epoch)
        pub window_start_ns: i64,
        /// End of that window. (ns since the Unix epoch)
        pub window_end_ns: i64,
        /// Share of the slow requests that it accounts for. (ratio)
        pub share: Option<f64>,
        /// The part of share that chance alone would give, from the mean over the shifted timelines; null where nothing is counted. (ratio)
        pub chance_share: Option<f64>,
        /// How often chance alone explains at least as much of the time of the slow requests. (probability)
        pub p_value: Option<f64>,
        /// The query that shows the evidence. (SQL)
        pub query: &'a str,
        /// The figures that the finding rests on. (JSON)
        pub evidence: &'a str,
    }

    impl Row for Finding<'_> {
        const TABLE: usize = 6;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.rank));
            batch.string(1, Some(self.finding));
            batch.string(2, Some(self.severity));
            batch.string(3, Some(self.title));
            batch.string(4, Some(self.detail));
            batch.string(5, Some(self.node));
            batch.int64(6, Some(self.window_start_ns));
            batch.int64(7, Some(self.window_end_ns));
            batch.double(8, self.share);
            batch.double(9, self.chance_share);
            batch.double(10, self.p_value);
            batch.string(11, Some(self.query));
            batch.string(12, Some(self.evidence));
            batch.end_row();
        }
    }

    /// Interrupts that each CPU of the machine served in an interval, from /proc/interrupts and /proc/softirqs. An interrupt that did not come in the interval has no row.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Interrupts<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// CPU number. (number)
        pub cpu: i64,
        /// hard: from a device, a timer or another CPU. soft: what the kernel puts off in the first and does right after. (name)
        pub kind: &'a str,
        /// Its number or name in the kernel, such as 36, LOC or NET_RX. (name)
        pub interrupt: &'a str,
        /// Where it comes from, such as nvme0q1 or Local timer interrupts; empty for soft ones. (name)
        pub device: &'a str,
        /// How often it came. (count)
        pub count: i64,
    }

    impl Row for Interrupts<'_> {
        const TABLE: usize = 7;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.int64(3, Some(self.cpu));
            batch.string(4, Some(self.kind));
            batch.string(5, Some(self.interrupt));
            batch.string(6, Some(self.device));
            batch.int64(7, Some(self.count));
            batch.end_row();
        }
    }

    /// Named stretches of time on the clock of the recording, such as the phases of a load.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Mark<'a> {
        /// Start. (ns since the Unix epoch)
        pub start_ns: i64,
        /// End; the start again for a moment. (ns since the Unix epoch)
        pub end_ns: i64,
        /// phase: a phase of the load. variant: one run of a variant of an experiment, from its first phase to its last. baseline: at the start, the variant that the others are compared with. changed: a run of an experiment whose variants change only some nodes; the name is that of one of them. unjudged: a part of a phase that a load in another process of the machine does not judge (it populates or warms up); parts of one phase follow each other. note: anything else that was said. (name)
        pub kind: &'a str,
        /// Name. (name)
        pub name: &'a str,
        /// Intended rate at the start of a phase in open loop. (requests/s)
        pub rate_per_s: Option<f64>,
        /// Intended rate at the end of a phase, where it differs (ramp). (requests/s)
        pub end_rate_per_s: Option<f64>,
        /// Requests in flight of a phase in closed loop. (count)
        pub in_flight: Option<i64>,
        /// False for a phase that only warms up, and for a run of a variant that was cut short: it is recorded and shown, and not judged.
        pub measured: bool,
        /// Which block of the experiment a run of a variant belongs to, from 1; null for all else. (number)
        pub block: Option<i64>,
    }

    impl Row for Mark<'_> {
        const TABLE: usize = 8;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.start_ns));
            batch.int64(1, Some(self.end_ns));
            batch.string(2, Some(self.kind));
            batch.string(3, Some(self.name));
            batch.double(4, self.rate_per_s);
            batch.double(5, self.end_rate_per_s);
            batch.int64(6, self.in_flight);
            batch.bool(7, Some(self.measured));
            batch.int64(8, self.block);
            batch.end_row();
        }
    }

    /// Moves of threads of a watched process from one CPU to another, added up in the kernel: one row per interval, thread group and pair of CPUs.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Migrations<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Name of the threads without their numbers. (name)
        pub thread_group: &'a str,
        /// CPU that threads were moved from. (number)
        pub from_cpu: i64,
        /// CPU that they were moved to. (number)
        pub to_cpu: i64,
        /// Moves. A thread that sleeps may be moved several times before it runs again. (count)
        pub count: i64,
    }

    impl Row for Migrations<'_> {
        const TABLE: usize = 9;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.thread_group));
            batch.int64(4, Some(self.from_cpu));
            batch.int64(5, Some(self.to_cpu));
            batch.int64(6, Some(self.count));
            batch.end_row();
        }
    }

    /// Figures of a node as a whole that its advice rests on, by Cassandra's own metrics: caches, dropped messages, coordinated requests, batches, compactions. Read every 5 s; a row when a figure has changed.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct NodeMetric<'a> {
        /// When it was read. (ns since the Unix epoch)
        pub time_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Type of the metric as Cassandra has it: Cache, DroppedMessage, ClientRequest, Batch, Compaction, Storage or MemtablePool. (name)
        pub kind: &'a str,
        /// What of that type, such as KeyCache, READ_REQ or CASWrite; empty where there is but one. (name)
        pub scope: &'a str,
        /// Name of the metric, such as Hits. (name)
        pub metric: &'a str,
        /// What of it: Count since the node started, Value, or 95thPercentile over the last minutes. (name)
        pub attribute: &'a str,
        /// The figure, in bytes for Size and Capacity of a cache. (count)
        pub value: i64,
    }

    impl Row for NodeMetric<'_> {
        const TABLE: usize = 10;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.string(1, Some(self.node));
            batch.string(2, Some(self.kind));
            batch.string(3, Some(self.scope));
            batch.string(4, Some(self.metric));
            batch.string(5, Some(self.attribute));
            batch.int64(6, Some(self.value));
            batch.end_row();
        }
    }

    /// Limits of a node from outside in an interval: the quota and pressure of its cgroup, page faults that read from a disk, and segments that its network sent again.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct NodePressure<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Periods of the CPU quota that passed; NULL where its cgroup has no quota. (count)
        pub periods: Option<i64>,
        /// Those of them in which the quota was used up. (count)
        pub throttled_periods: Option<i64>,
        /// Time for which the quota kept runnable tasks off the CPUs, added up over CPUs. (ns)
        pub throttled_ns: Option<i64>,
        /// Time in which a task of its cgroup waited for a CPU; NULL where the kernel does not say, as with the next two. (ns)
        pub cpu_some_ns: Option<i64>,
        /// Time in which a task of its cgroup waited for a disk. (ns)
        pub io_some_ns: Option<i64>,
        /// Time in which a task of its cgroup waited for memory. (ns)
        pub memory_some_ns: Option<i64>,
        /// Touches of memory by the node's process that had to wait for a disk. (count)
        pub major_faults: Option<i64>,
        /// TCP segments sent from the node's network namespace. (count)
        pub sent_segments: Option<i64>,
        /// TCP segments of it that were sent again, because no acknowledgement came. (count)
        pub retransmitted_segments: Option<i64>,
    }

    impl Row for NodePressure<'_> {
        const TABLE: usize = 11;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.int64(3, self.periods);
            batch.int64(4, self.throttled_periods);
            batch.int64(5, self.throttled_ns);
            batch.int64(6, self.cpu_some_ns);
            batch.int64(7, self.io_some_ns);
            batch.int64(8, self.memory_some_ns);
            batch.int64(9, self.major_faults);
            batch.int64(10, self.sent_segments);
            batch.int64(11, self.retransmitted_segments);
            batch.end_row();
        }
    }

    /// One row per time in which a thread of a watched process was off the CPU for as long as was asked for, or longer. Sorted within about a fifth of a second only, by the end.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct OffCpu<'a> {
        /// When the thread lost or left its CPU. (ns since the Unix epoch)
        pub start_ns: i64,
        /// From there until it was on a CPU again. (ns)
        pub duration_ns: i64,
        /// How much of that it was ready to run and waited for a CPU: all of it if it was preempted, what came after the wake-up otherwise. (ns)
        pub run_queue_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Thread id in the kernel. (number)
        pub tid: i64,
        /// Name of the thread: the full Java name where the agent told it, otherwise the 15 characters that the kernel keeps. (name)
        pub thread: &'a str,
        /// Name of the thread without its number. (name)
        pub thread_group: &'a str,
        /// blocked: it waited for something, as a lock, a socket or a time. disk: for a disk, by what the kernel counts as iowait. uninterruptible: for something else that no signal ends, as a page or a lock in the kernel. stopped: by a signal or a debugger. preempted: it was ready to run, and others had the CPU. (name)
        pub reason: &'a str,
        /// CPU that it left. (number)
        pub from_cpu: i64,
        /// CPU that it came back to. (number)
        pub to_cpu: i64,
        /// Who did it. preempted: the thread that was given the CPU at that moment; others may have followed. Otherwise the thread that woke it. Null for an interrupt, as of a timer or a device, and where it is not known. (number)
        pub by_tid: Option<i64>,
        /// Name of that thread; interrupt where it was one; empty where it is not known. (name)
        pub by_thread: &'a str,
        /// Name of that thread's process, which is that of its first thread; empty for an interrupt, and where the process had ended before it was asked. (name)
        pub by_process: &'a str,
        /// Where in the kernel it was, as a number in the table stacks. Null where that was not asked for. (number)
        pub stack: Option<i64>,
    }

    impl Row for OffCpu<'_> {
        const TABLE: usize = 12;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.start_ns));
            batch.int64(1, Some(self.duration_ns));
            batch.int64(2, Some(self.run_queue_ns));
            batch.string(3, Some(self.node));
            batch.int64(4, Some(self.tid));
            batch.string(5, Some(self.thread));
            batch.string(6, Some(self.thread_group));
            batch.string(7, Some(self.reason));
            batch.int64(8, Some(self.from_cpu));
            batch.int64(9, Some(self.to_cpu));
            batch.int64(10, self.by_tid);
            batch.string(11, Some(self.by_thread));
            batch.string(12, Some(self.by_process));
            batch.int64(13, self.stack);
            batch.end_row();
        }
    }

    /// Reads from disks into the page cache for a watched process, added up in the kernel: one row per interval, thread group, file and way. Reads that the cache answered and reads past it (O_DIRECT) are left out.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct PageCacheReads<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Name of the threads without their numbers. (name)
        pub thread_group: &'a str,
        /// The file, as the process sees it; empty where the process had neither mapped it nor had it open any more when it was asked. (path)
        pub file: &'a str,
        /// The file system that it is on: major and minor number, with : between them. (number)
        pub device: &'a str,
        /// The file's number on it. (number)
        pub inode: i64,
        /// mapping: memory was touched that the file is mapped to, which is no system call. call: by a system call, such as pread64. (name)
        pub how: &'a str,
        /// Touches that had to wait for the disk (major faults); 0 for calls. (count)
        pub faults: i64,
        /// Bytes that were read, in whole pages, with what the kernel read ahead. (bytes)
        pub bytes: i64,
    }

    impl Row for PageCacheReads<'_> {
        const TABLE: usize = 13;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.thread_group));
            batch.string(4, Some(self.file));
            batch.string(5, Some(self.device));
            batch.int64(6, Some(self.inode));
            batch.string(7, Some(self.how));
            batch.int64(8, Some(self.faults));
            batch.int64(9, Some(self.bytes));
            batch.end_row();
        }
    }

    /// Times in which the JVM of a node stopped its threads.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Pause<'a> {
        /// Start of the pause. (ns since the Unix epoch)
        pub start_ns: i64,
        /// Length of the pause. (ns)
        pub duration_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// gc: the pauses of one collection (phase is empty) or one pause phase of it. safepoint: any stop of all threads, those for GC included. (name)
        pub kind: &'a str,
        /// Number of the collection in its JVM. (number)
        pub gc_id: Option<i64>,
        /// Collector, such as G1New or G1Old; for a safepoint the operation that asked for it. (name)
        pub collector: Option<&'a str>,
        /// Why it was collected, such as G1 Evacuation Pause. (name)
        pub cause: Option<&'a str>,
        /// Phase of the pause; empty for the whole. (name)
        pub phase: Option<&'a str>,
        /// Heap used before. (bytes)
        pub heap_before_bytes: Option<i64>,
        /// Heap used after. (bytes)
        pub heap_after_bytes: Option<i64>,
        /// From asking the threads to stop until the last one stood. (ns)
        pub time_to_safepoint_ns: Option<i64>,
        /// log: the JVM's own log of safepoints and collections, exact times. mxbean: GC notifications, times to 1 ms; in an import of logs, those that Cassandra's GCInspector logged. jfr: JDK Flight Recorder events, exact times, in older recordings. (name)
        pub provider: &'a str,
    }

    impl Row for Pause<'_> {
        const TABLE: usize = 14;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.start_ns));
            batch.int64(1, Some(self.duration_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.kind));
            batch.int64(4, self.gc_id);
            batch.string(5, self.collector);
            batch.string(6, self.cause);
            batch.string(7, self.phase);
            batch.int64(8, self.heap_before_bytes);
            batch.int64(9, self.heap_after_bytes);
            batch.int64(10, self.time_to_safepoint_ns);
            batch.string(11, Some(self.provider));
            batch.end_row();
        }
    }

    /// Thread pools of a node, as its own metrics give them.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct PoolSample<'a> {
        /// When it was read. (ns since the Unix epoch)
        pub time_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Name of the pool, such as MutationStage. (name)
        pub pool: &'a str,
        /// request, internal or transport. (name)
        pub kind: &'a str,
        /// Tasks running now. (count)
        pub active: i64,
        /// Tasks waiting now. (count)
        pub pending: i64,
        /// Tasks completed since the node started. (count)
        pub completed: i64,
        /// Tasks that could not be queued and block their producer now. (count)
        pub blocked: i64,
        /// Tasks that were blocked since the node started. (count)
        pub total_blocked: i64,
        /// Largest number of threads. (count)
        pub max_size: Option<i64>,
    }

    impl Row for PoolSample<'_> {
        const TABLE: usize = 15;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.string(1, Some(self.node));
            batch.string(2, Some(self.pool));
            batch.string(3, Some(self.kind));
            batch.int64(4, Some(self.active));
            batch.int64(5, Some(self.pending));
            batch.int64(6, Some(self.completed));
            batch.int64(7, Some(self.blocked));
            batch.int64(8, Some(self.total_blocked));
            batch.int64(9, self.max_size);
            batch.end_row();
        }
    }

    /// How long tasks of the machine waited for a resource in an interval, from /proc/pressure. An interval without a wait has no row.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Pressure<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that stands for the machine; empty where only a load was recorded. (address)
        pub node: &'a str,
        /// cpu, io or memory. (name)
        pub resource: &'a str,
        /// Time in which at least one task waited for it. (ns)
        pub some_ns: i64,
        /// Time in which no task ran, because all waited for it. (ns)
        pub full_ns: i64,
    }

    impl Row for Pressure<'_> {
        const TABLE: usize = 16;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.resource));
            batch.int64(4, Some(self.some_ns));
            batch.int64(5, Some(self.full_ns));
            batch.end_row();
        }
    }

    /// Which probe's method was called within which: the call tree of the probes, one row per interval, pair and thread group. All counts and sums may be added up.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct ProbeCall<'a> {
        /// End of the interval. A call counts in the interval in which it ended. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// The probe whose method was the nearest outward; empty where there was none. (name)
        pub caller: &'a str,
        /// Name of the point in the preset, or the method in full. (name)
        pub probe: &'a str,
        /// Name of the threads without their numbers. (name)
        pub thread_group: &'a str,
        /// Calls that ended. (count)
        pub calls: i64,
        /// Sum of their durations. (ns)
        pub total_ns: i64,
    }

    impl Row for ProbeCall<'_> {
        const TABLE: usize = 17;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.caller));
            batch.string(4, Some(self.probe));
            batch.string(5, Some(self.thread_group));
            batch.int64(6, Some(self.calls));
            batch.int64(7, Some(self.total_ns));
            batch.end_row();
        }
    }

    /// How long the calls took that probes metered: one row per interval, probe, thread group and bin of duration.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct ProbeLatency<'a> {
        /// End of the interval. A call counts in the interval in which it ended. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Name of the point in the preset, or the method in full. (name)
        pub probe: &'a str,
        /// Name of the threads without their numbers. (name)
        pub thread_group: &'a str,
        /// Lower bound of the durations in this row, itself included. (ns)
        pub low_ns: i64,
        /// Upper bound of the durations in this row, itself not included: at most a quarter above low_ns. (ns)
        pub high_ns: i64,
        /// Calls that ended. (count)
        pub count: i64,
    }

    impl Row for ProbeLatency<'_> {
        const TABLE: usize = 18;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.probe));
            batch.string(4, Some(self.thread_group));
            batch.int64(5, Some(self.low_ns));
            batch.int64(6, Some(self.high_ns));
            batch.int64(7, Some(self.count));
            batch.end_row();
        }
    }

    /// Measurements of a node's probes: one row per interval, probe and thread group. A probe that was not called has no row, except one that says that it was switched off. All but the largest may be added up.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct ProbeSample<'a> {
        /// End of the interval. A call counts in the interval in which it ended. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Name of the point in the preset, or the method in full. (name)
        pub probe: &'a str,
        /// Name of the threads without their numbers; empty in the row that says that the probe was switched off. (name)
        pub thread_group: &'a str,
        /// Calls that ended. (count)
        pub calls: i64,
        /// Those that an exception ended. (count)
        pub failed: i64,
        /// Sum of their durations. A call that a probe's own method makes to itself does not count again. (ns)
        pub total_ns: i64,
        /// Sum of their durations without the time of callees that have probes of their own. (ns)
        pub inherent_ns: i64,
        /// The longest of the interval, or the end of its bin of the histogram where it was not the longest so far. (ns)
        pub max_ns: i64,
        /// CPU time of their threads in them, where it was asked for. (ns)
        pub cpu_ns: Option<i64>,
        /// Bytes that their threads allocated in them, where asked for. (bytes)
        pub allocated_bytes: Option<i64>,
        /// Why the probe was switched off in this interval. (text)
        pub off_reason: Option<&'a str>,
    }

    impl Row for ProbeSample<'_> {
        const TABLE: usize = 19;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.probe));
            batch.string(4, Some(self.thread_group));
            batch.int64(5, Some(self.calls));
            batch.int64(6, Some(self.failed));
            batch.int64(7, Some(self.total_ns));
            batch.int64(8, Some(self.inherent_ns));
            batch.int64(9, Some(self.max_ns));
            batch.int64(10, self.cpu_ns);
            batch.int64(11, self.allocated_bytes);
            batch.string(12, self.off_reason);
            batch.end_row();
        }
    }

    /// The processes of the machine that used the most CPU time in an interval, from /proc: those with at least one hundredth of a CPU, twenty at most.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct ProcessSample<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that stands for the machine; empty where only a load was recorded. (address)
        pub node: &'a str,
        /// Process id. (id)
        pub pid: i64,
        /// Name of its main thread, as the kernel keeps it. (name)
        pub process: &'a str,
        /// server or load for a watched process, server also for the one that a watched load is connected to, recorder for the recorder itself, client for a process with a connection to a node, other for all others. (name)
        pub role: &'a str,
        /// CPU time of all its threads. (ns)
        pub cpu_ns: i64,
    }

    impl Row for ProcessSample<'_> {
        const TABLE: usize = 20;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.int64(3, Some(self.pid));
            batch.string(4, Some(self.process));
            batch.string(5, Some(self.role));
            batch.int64(6, Some(self.cpu_ns));
            batch.end_row();
        }
    }

    /// One row per request that the load driver sent, as the client saw it.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Request<'a> {
        /// When the schedule wanted the request to start. In closed loop it is start_ns. (ns since the Unix epoch)
        pub intended_start_ns: i64,
        /// When the driver handed the request to the connection. Service time counts from here. (ns since the Unix epoch)
        pub start_ns: i64,
        /// When the answer, or the error, was back. (ns since the Unix epoch)
        pub end_ns: i64,
        /// The coordinator that the request was sent to. (address)
        pub node: &'a str,
        /// The operation of the workload. (name)
        pub operation: &'a str,
        /// ok, or the kind of error: timeout, write_timeout, read_timeout, write_failure, read_failure, unavailable, overloaded, connection, invalid, abandoned (in flight when the run was ended), other. (name)
        pub outcome: &'a str,
        /// The connection that carried it, counted from 0 within the load; null where the driver does not say. (number)
        pub connection: Option<i64>,
        /// The port of that connection on the load driver's side, as the table wire has it; null where the driver does not say. (number)
        pub client_port: Option<i64>,
        /// Its stream on that connection, as in the frame's header; null where the driver does not say. (number)
        pub stream: Option<i64>,
        /// Size of the request's frame with its header, not compressed; null where the driver does not say. (bytes)
        pub request_bytes: Option<i64>,
        /// Size of the answer's frame with its header, not compressed; null where none came or the driver does not say. (bytes)
        pub response_bytes: Option<i64>,
        /// Its number in the load, from which its operation and its values follow; those that populate have numbers of their own, from -1 downwards. Null where the load does not number them. (number)
        pub number: Option<i64>,
        /// Whether the driver itself stood still between the intended start and the end, or was too late to start it: such a time is the driver's as well as the server's.
        pub stalled: bool,
    }

    impl Row for Request<'_> {
        const TABLE: usize = 21;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.intended_start_ns));
            batch.int64(1, Some(self.start_ns));
            batch.int64(2, Some(self.end_ns));
            batch.string(3, Some(self.node));
            batch.string(4, Some(self.operation));
            batch.string(5, Some(self.outcome));
            batch.int64(6, self.connection);
            batch.int64(7, self.client_port);
            batch.int64(8, self.stream);
            batch.int64(9, self.request_bytes);
            batch.int64(10, self.response_bytes);
            batch.int64(11, self.number);
            batch.bool(12, Some(self.stalled));
            batch.end_row();
        }
    }

    /// Figures of each variant of an experiment in each block, over its measured phases: one row per figure. Written when the experiment is judged, whole blocks or not.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct VariantResult<'a> {
        /// Start of the variant's run in the block. (ns since the Unix epoch)
        pub start_ns: i64,
        /// Name of the variant. (name)
        pub variant: &'a str,
        /// Number of the block, from 1. Within a block every variant was run once, so that figures of one block may be compared. (number)
        pub block: i64,
        /// Name of the figure, such as throughput or response_p99. (name)
        pub metric: &'a str,
        /// Unit of the figure, such as requests/s or ms. (name)
        pub unit: &'a str,
        /// The figure. (as the unit says)
        pub value: f64,
    }

    impl Row for VariantResult<'_> {
        const TABLE: usize = 22;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.start_ns));
            batch.string(1, Some(self.variant));
            batch.int64(2, Some(self.block));
            batch.string(3, Some(self.metric));
            batch.string(4, Some(self.unit));
            batch.double(5, Some(self.value));
            batch.end_row();
        }
    }

    /// Times that threads of a watched process were ready to run and waited for a CPU, added up in the kernel: one row per interval, thread group, cause and bin of delay. All counts and sums may be added up over any of these.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct RunQueueDelay<'a> {
        /// End of the interval. A delay counts in the interval in which the thread came onto a CPU. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Name of the threads without their numbers. (name)
        pub thread_group: &'a str,
        /// What the delay began with. wakeup: the thread became ready, or was made. preemption: it lost its CPU to another. (name)
        pub after: &'a str,
        /// Lower bound of the delays in this row, itself included. (ns)
        pub low_ns: i64,
        /// Upper bound of the delays in this row, itself not included: twice low_ns, or 1 where that is 0. (ns)
        pub high_ns: i64,
        /// Times that a thread came onto a CPU. (count)
        pub count: i64,
        /// Sum of their delays. (ns)
        pub total_ns: i64,
    }

    impl Row for RunQueueDelay<'_> {
        const TABLE: usize = 23;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.thread_group));
            batch.string(4, Some(self.after));
            batch.int64(5, Some(self.low_ns));
            batch.int64(6, Some(self.high_ns));
            batch.int64(7, Some(self.count));
            batch.int64(8, Some(self.total_ns));
            batch.end_row();
        }
    }

    /// Stack of a thread at a moment, from the profiler or from eBPF. One row per sample.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct StackSample<'a> {
        /// When the sample was taken. (ns since the Unix epoch)
        pub time_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Why it was taken. cpu: so much CPU time was used. wall: so much time went by. alloc: so many bytes were allocated. lock: a lock was waited for. Imported ones may have others, such as native (in native code, running or waiting), cycles, page-faults. (name)
        pub event: &'a str,
        /// How much of it the sample stands for. (ns, or bytes for alloc, or counts for events that are counted)
        pub weight: i64,
        /// Thread id in the kernel. (number)
        pub tid: i64,
        /// Name of the thread. (name)
        pub thread: &'a str,
        /// Name of the thread without its number. (name)
        pub thread_group: &'a str,
        /// The stack's number in the table stacks. (number)
        pub stack: i64,
    }

    impl Row for StackSample<'_> {
        const TABLE: usize = 24;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.string(1, Some(self.node));
            batch.string(2, Some(self.event));
            batch.int64(3, Some(self.weight));
            batch.int64(4, Some(self.tid));
            batch.string(5, Some(self.thread));
            batch.string(6, Some(self.thread_group));
            batch.int64(7, Some(self.stack));
            batch.end_row();
        }
    }

    /// How a node, its JVM and its disks are set up: every setting once at the start, and again when it has changed. Of Cassandra's own settings those that say something of performance; none that holds a secret.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Setting<'a> {
        /// When it was read. (ns since the Unix epoch)
        pub time_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Cassandra's name, such as compaction_throughput; jvm.* of the JVM; logging.levels of its loggers; machine.* of its machine; process.* of its process and the limits of it, at the start; disk.*:DIRECTORY of a data directory's file system. (name)
        pub setting: &'a str,
        /// As written there. Settings that end in _bytes are in bytes. (text)
        pub value: &'a str,
        /// Where it was read, such as system_views.settings. (name)
        pub source: &'a str,
    }

    impl Row for Setting<'_> {
        const TABLE: usize = 25;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.string(1, Some(self.node));
            batch.string(2, Some(self.setting));
            batch.string(3, Some(self.value));
            batch.string(4, Some(self.source));
            batch.end_row();
        }
    }

    /// Rows that each source of the recording captured and lost, and its CPU time, per interval.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct SourceReport<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// Name of the source, such as threads or requests. (name)
        pub source: &'a str,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// How it was captured, such as proc, agent-log or driver. (name)
        pub provider: &'a str,
        /// Events captured in the interval: rows, or what a row adds up, such as switches of threads; in the unit of lost. (count)
        pub captured: i64,
        /// Rows or samples known to be lost in the interval. (count)
        pub lost: i64,
        /// Why, and what else went less than well, such as requests that started late; empty when all was well. (text)
        pub lost_reason: &'a str,
        /// CPU time that the source itself used in the interval, where it can be told apart. (ns)
        pub cpu_ns: Option<i64>,
    }

    impl Row for SourceReport<'_> {
        const TABLE: usize = 26;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.source));
            batch.string(3, Some(self.node));
            batch.string(4, Some(self.provider));
            batch.int64(5, Some(self.captured));
            batch.int64(6, Some(self.lost));
            batch.string(7, Some(self.lost_reason));
            batch.int64(8, self.cpu_ns);
            batch.end_row();
        }
    }

    /// Each SSTable of a node, as its own statistics have it (what sstablemetadata prints): one row when it is first seen, another when something of it has changed, and one when it is gone. Cassandra's own tables are left out.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Sstable<'a> {
        /// When it was read. (ns since the Unix epoch)
        pub time_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Keyspace. (name)
        pub keyspace: &'a str,
        /// Table. (name)
        pub table_name: &'a str,
        /// Its file with the data, such as …/nb-7-big-Data.db. (path)
        pub file: &'a str,
        /// Whether it is one of the table's; false in its last row, when a compaction or a drop has taken it away.
        pub live: bool,
        /// When the file with the data was written. (ns since the Unix epoch)
        pub written_ns: Option<i64>,
        /// Its level; 0 under strategies that have none. (number)
        pub level: Option<i64>,
        /// Size of all its files. (bytes)
        pub disk_bytes: Option<i64>,
        /// Size of its data before compression. (bytes)
        pub data_bytes: Option<i64>,
        /// Size of its data on disk over the size before compression; null without compression. (ratio)
        pub compression_ratio: Option<f64>,
        /// Its partitions. (count)
        pub partitions: Option<i64>,
        /// Its rows, deleted ones included. (count)
        pub row_count: Option<i64>,
        /// Columns of its rows that are set or deleted. (count)
        pub cells: Option<i64>,
        /// Mean size of its partitions before compression, by Cassandra's histogram. (bytes)
        pub mean_partition_bytes: Option<i64>,
        /// Size of its largest partition, to the next bucket of that histogram. (bytes)
        pub max_partition_bytes: Option<i64>,
        /// Estimated share of its cells that are tombstones past gc_grace, at the time of the row. (ratio)
        pub droppable_ratio: Option<f64>,
        /// The oldest write in it, by the timestamp that the writer gave. (µs since the Unix epoch)
        pub min_timestamp_us: Option<i64>,
        /// The newest write in it. (µs since the Unix epoch)
        pub max_timestamp_us: Option<i64>,
        /// The shortest time to live of its cells, 0 where some have none. (s)
        pub min_ttl_s: Option<i64>,
        /// The longest time to live of its cells, 0 where none has one. (s)
        pub max_ttl_s: Option<i64>,
        /// When incremental repair marked it as repaired; 0 where it is not. (ms since the Unix epoch)
        pub repaired_at_ms: Option<i64>,
        /// Token of its first partition. (token)
        pub first_token: Option<&'a str>,
        /// Token of its last partition. (token)
        pub last_token: Option<&'a str>,
        /// Where it was read: SSTableReader of the running node, or sstablemetadata of the files. (name)
        pub source: &'a str,
    }

    impl Row for Sstable<'_> {
        const TABLE: usize = 27;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.string(1, Some(self.node));
            batch.string(2, Some(self.keyspace));
            batch.string(3, Some(self.table_name));
            batch.string(4, Some(self.file));
            batch.bool(5, Some(self.live));
            batch.int64(6, self.written_ns);
            batch.int64(7, self.level);
            batch.int64(8, self.disk_bytes);
            batch.int64(9, self.data_bytes);
            batch.double(10, self.compression_ratio);
            batch.int64(11, self.partitions);
            batch.int64(12, self.row_count);
            batch.int64(13, self.cells);
            batch.int64(14, self.mean_partition_bytes);
            batch.int64(15, self.max_partition_bytes);
            batch.double(16, self.droppable_ratio);
            batch.int64(17, self.min_timestamp_us);
            batch.int64(18, self.max_timestamp_us);
            batch.int64(19, self.min_ttl_s);
            batch.int64(20, self.max_ttl_s);
            batch.int64(21, self.repaired_at_ms);
            batch.string(22, self.first_token);
            batch.string(23, self.last_token);
            batch.string(24, Some(self.source));
            batch.end_row();
        }
    }

    /// The stacks of the tables samples and off_cpu, each once per node, source and recording. A number stands for the same stack in every recording, so that merged ones agree; take one row of a number.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Stack<'a> {
        /// When it was first seen. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Its number: the same for the same frames. (number)
        pub stack: i64,
        /// Its frames from the outermost to the innermost, with ; between them: package.Class.method, or the symbol of native code. (names)
        pub frames: &'a str,
        /// What each frame is, a letter for each: j compiled while it ran, as Java is, l inlined, 1 compiled by C1, i interpreted, c the JVM, n native, k the kernel. (letters)
        pub kinds: &'a str,
    }

    impl Row for Stack<'_> {
        const TABLE: usize = 28;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.stack));
            batch.string(2, Some(self.frames));
            batch.string(3, Some(self.kinds));
            batch.end_row();
        }
    }

    /// Times in which a process did not run though it should have: measured by a thread that sleeps for a short time and looks how much later it woke (as jHiccup does), and by how far the load driver was behind its schedule.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Stall<'a> {
        /// Start of the stall. (ns since the Unix epoch)
        pub start_ns: i64,
        /// How long it lasted. (ns)
        pub duration_ns: i64,
        /// Whose stall it was: load (the driver), server (inside the JVM of a node), recorder. (name)
        pub side: &'a str,
        /// The node, for side server; empty otherwise. (address)
        pub node: &'a str,
        /// watcher: a sleeping thread woke late. schedule: requests started later than intended though a connection was free. stopped: the kernel held the whole process, by SIGSTOP, a debugger or a frozen cgroup. It is read 10 times a second, so that it is up to 0.2 s shorter than it was. (name)
        pub kind: &'a str,
        /// How much of it the watching thread was ready to run and had no CPU; null where that is not measured. (ns)
        pub run_queue_ns: Option<i64>,
        /// Pages that the process had to wait for the disk for meanwhile; null where that is not measured. (count)
        pub major_faults: Option<i64>,
        /// Stolen time in the tenth of a second around it, over all CPUs, in steps of 10 ms; null where not measured. (ns)
        pub steal_ns: Option<i64>,
    }

    impl Row for Stall<'_> {
        const TABLE: usize = 29;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.start_ns));
            batch.int64(1, Some(self.duration_ns));
            batch.string(2, Some(self.side));
            batch.string(3, Some(self.node));
            batch.string(4, Some(self.kind));
            batch.int64(5, self.run_queue_ns);
            batch.int64(6, self.major_faults);
            batch.int64(7, self.steal_ns);
            batch.end_row();
        }
    }

    /// System calls of a watched process added up in the kernel: one row per interval, thread group, call, file and bin of duration. All counts and sums may be added up over any of these.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct SyscallSummary<'a> {
        /// End of the interval. A call counts in the interval in which it ended. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Name of the threads without their numbers. (name)
        pub thread_group: &'a str,
        /// As in syscalls. (name)
        pub call: &'a str,
        /// As in syscalls; empty for a call that takes only a path. (path)
        pub file: &'a str,
        /// As in syscalls. (name)
        pub file_kind: &'a str,
        /// Lower bound of the durations in this row, itself included. (ns)
        pub low_ns: i64,
        /// Upper bound of the durations in this row, itself not included: twice low_ns, or 1 where that is 0. (ns)
        pub high_ns: i64,
        /// Calls that ended. (count)
        pub count: i64,
        /// Sum of their durations. (ns)
        pub total_ns: i64,
        /// Bytes that they read or wrote. (bytes)
        pub bytes: i64,
        /// Those that ended with an error, EAGAIN included. (count)
        pub errors: i64,
    }

    impl Row for SyscallSummary<'_> {
        const TABLE: usize = 30;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.thread_group));
            batch.string(4, Some(self.call));
            batch.string(5, Some(self.file));
            batch.string(6, Some(self.file_kind));
            batch.int64(7, Some(self.low_ns));
            batch.int64(8, Some(self.high_ns));
            batch.int64(9, Some(self.count));
            batch.int64(10, Some(self.total_ns));
            batch.int64(11, Some(self.bytes));
            batch.int64(12, Some(self.errors));
            batch.end_row();
        }
    }

    /// One row per system call of a watched process that began and ended while it was recorded. Sorted within about a fifth of a second only.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Syscall<'a> {
        /// When the thread entered the kernel. (ns since the Unix epoch)
        pub start_ns: i64,
        /// From there until it left the kernel: time in the call, waiting included. (ns)
        pub duration_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Thread id in the kernel. (number)
        pub tid: i64,
        /// Name of the thread without its number. (name)
        pub thread_group: &'a str,
        /// Name of the system call, such as pread64; its number where it has no name here. (name)
        pub call: &'a str,
        /// What the call's descriptor stood for when it began: a path, socket:LOCAL->REMOTE, socket:LOCAL, pipe, epoll, eventfd, timerfd. For a call that takes a path, the path. Empty for calls with neither. (path)
        pub file: &'a str,
        /// file, folder, socket, pipe, epoll, eventfd, timerfd, device, other; path where only a path was given; unknown; empty for calls without a descriptor or path. (name)
        pub file_kind: &'a str,
        /// Bytes read or written, for calls that read or write and did not fail. (bytes)
        pub bytes: Option<i64>,
        /// Where in the file the call read, wrote or moved to: of pread64, pwrite64, preadv, pwritev, preadv2, pwritev2 and lseek. Null for other calls, which go on where the last one ended, and where lseek failed. (bytes)
        pub offset_bytes: Option<i64>,
        /// Name of the error, such as EAGAIN; null where there was none. (name)
        pub error: Option<&'a str>,
    }

    impl Row for Syscall<'_> {
        const TABLE: usize = 31;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.start_ns));
            batch.int64(1, Some(self.duration_ns));
            batch.string(2, Some(self.node));
            batch.int64(3, Some(self.tid));
            batch.string(4, Some(self.thread_group));
            batch.string(5, Some(self.call));
            batch.string(6, Some(self.file));
            batch.string(7, Some(self.file_kind));
            batch.int64(8, self.bytes);
            batch.int64(9, self.offset_bytes);
            batch.string(10, self.error);
            batch.end_row();
        }
    }

    /// Definition of each table, and other facts that seldom change: each once at the start, and again when it has changed. Cassandra's own tables are left out.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct TableFact<'a> {
        /// When it was read. (ns since the Unix epoch)
        pub time_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Keyspace; empty for a fact of the whole node. (name)
        pub keyspace: &'a str,
        /// Table; empty for a fact of the whole keyspace. (name)
        pub table_name: &'a str,
        /// An option of the table as CQL names it, such as gc_grace_seconds; partition_key, clustering, columns; index NAME; view_of; replication; last_repair; repair_sessions. Also compaction_in_force, which differs from compaction when one node was changed alone. (name)
        pub fact: &'a str,
        /// As CQL has it; maps and lists as JSON; last_repair in seconds since the Unix epoch. Empty for what is no more. (text)
        pub value: &'a str,
        /// Where it was read, such as system_schema.tables. (name)
        pub source: &'a str,
    }

    impl Row for TableFact<'_> {
        const TABLE: usize = 32;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.string(1, Some(self.node));
            batch.string(2, Some(self.keyspace));
            batch.string(3, Some(self.table_name));
            batch.string(4, Some(self.fact));
            batch.string(5, Some(self.value));
            batch.string(6, Some(self.source));
            batch.end_row();
        }
    }

    /// Figures of each table of a node, as its own metrics give them. Counters count since the node started.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct TableSample<'a> {
        /// When it was read. (ns since the Unix epoch)
        pub time_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Keyspace. (name)
        pub keyspace: &'a str,
        /// Table. (name)
        pub table_name: &'a str,
        /// Local reads since the node started. (count)
        pub reads: Option<i64>,
        /// Local writes since the node started. (count)
        pub writes: Option<i64>,
        /// Time in local reads since the node started; divided by reads it is the mean. (ns)
        pub read_total_ns: Option<i64>,
        /// Time in local writes since the node started. (ns)
        pub write_total_ns: Option<i64>,
        /// Live SSTables. (count)
        pub sstables: Option<i64>,
        /// Disk space of live SSTables. (bytes)
        pub live_disk_bytes: Option<i64>,
        /// Disk space of all SSTables, obsolete ones included. (bytes)
        pub total_disk_bytes: Option<i64>,
        /// Live data in the memtable. (bytes)
        pub memtable_bytes: Option<i64>,
        /// Memtables that were flushed since the node started. (count)
        pub memtable_switches: Option<i64>,
        /// Flushes waiting or running. (count)
        pub pending_flushes: Option<i64>,
        /// Compactions estimated to be needed. (count)
        pub pending_compactions: Option<i64>,
        /// Written by flushes since the node started. (bytes)
        pub bytes_flushed: Option<i64>,
        /// Written by compactions since the node started. (bytes)
        pub bytes_compacted: Option<i64>,
        /// 95th percentile of SSTables touched by a read, over the last minutes. (count)
        pub sstables_per_read_p95: Option<f64>,
        /// 95th percentile of tombstones scanned by a read, over the last minutes. (count)
        pub tombstones_per_slice_p95: Option<f64>,
        /// 95th percentile of live cells scanned by a read, over the last minutes. (count)
        pub live_cells_per_slice_p95: Option<f64>,
        /// Estimated share of droppable tombstones. (ratio)
        pub droppable_ratio: Option<f64>,
        /// Share of the bytes on disk that incremental repair has marked as repaired, read every 30 s. (percent)
        pub percent_repaired: Option<f64>,
        /// Reads of one partition that this node coordinated since it started. (count)
        pub coordinator_reads: Option<i64>,
        /// Mean time of those at the coordinator, over the last minutes. (ns)
        pub coordinator_read_mean_ns: Option<f64>,
        /// Writes that this node coordinated since it started. (count)
        pub coordinator_writes: Option<i64>,
        /// Mean time of those at the coordinator, over the last minutes. (ns)
        pub coordinator_write_mean_ns: Option<f64>,
        /// Mean size of the partitions in SSTables, uncompressed, read every 30 s. (bytes)
        pub mean_partition_bytes: Option<i64>,
        /// Size of the largest partition in an SSTable, uncompressed, to the next bucket of Cassandra's histogram, read every 30 s. (bytes)
        pub max_partition_bytes: Option<i64>,
        /// Size of the largest SSTable, read every 30 s; from Cassandra 5.0 on. (bytes)
        pub largest_sstable_bytes: Option<i64>,
        /// SSTables by level, such as [1,10,52], of a table under LeveledCompactionStrategy, read every 30 s. (JSON)
        pub sstables_by_level: Option<&'a str>,
        /// SSTables by window of time, newest first, of a table under TimeWindowCompactionStrategy, read every 30 s; from Cassandra 5.0 on. (JSON)
        pub sstables_by_window: Option<&'a str>,
        /// Size on disk over size before compression, read every 30 s; -1 without compression. (ratio)
        pub compression_ratio: Option<f64>,
        /// Times that a bloom filter of a live SSTable sent a read there in vain, read every 30 s. (count)
        pub bloom_false_positives: Option<i64>,
        /// Share of those among all that the filters had to answer for partitions that are not there, read every 30 s. (ratio)
        pub bloom_false_ratio: Option<f64>,
        /// Share of look-ups in the key cache that hit, for the table's live SSTables, read every 30 s; SSTables with trie indexes (format bti) use none. (ratio)
        pub key_cache_hit_rate: Option<f64>,
        /// Reads that the row cache answered since the node started. (count)
        pub row_cache_hits: Option<i64>,
        /// Reads that the row cache was asked for in vain since the node started. (count)
        pub row_cache_misses: Option<i64>,
        /// Compactions, clean-ups and the like that run on the table. (count)
        pub running_compactions: Option<i64>,
        /// Bytes that those have to read in all. (bytes)
        pub compacting_bytes: Option<i64>,
        /// Bytes that those have read so far. (bytes)
        pub compacted_bytes: Option<i64>,
        /// 99th percentile of tombstones scanned by a read, over the last minutes, as the virtual tables have it; the agent records the 95th instead. (count)
        pub tombstones_per_slice_p99: Option<f64>,
        /// 99th percentile of live cells scanned by a read, over the last minutes, as the virtual tables have it; the agent records the 95th instead. (count)
        pub live_cells_per_slice_p99: Option<f64>,
        /// How long ago the largest SSTable was written, where its files could be looked at. (s)
        pub largest_sstable_age_s: Option<i64>,
    }

    impl Row for TableSample<'_> {
        const TABLE: usize = 33;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.string(1, Some(self.node));
            batch.string(2, Some(self.keyspace));
            batch.string(3, Some(self.table_name));
            batch.int64(4, self.reads);
            batch.int64(5, self.writes);
            batch.int64(6, self.read_total_ns);
            batch.int64(7, self.write_total_ns);
            batch.int64(8, self.sstables);
            batch.int64(9, self.live_disk_bytes);
            batch.int64(10, self.total_disk_bytes);
            batch.int64(11, self.memtable_bytes);
            batch.int64(12, self.memtable_switches);
            batch.int64(13, self.pending_flushes);
            batch.int64(14, self.pending_compactions);
            batch.int64(15, self.bytes_flushed);
            batch.int64(16, self.bytes_compacted);
            batch.double(17, self.sstables_per_read_p95);
            batch.double(18, self.tombstones_per_slice_p95);
            batch.double(19, self.live_cells_per_slice_p95);
            batch.double(20, self.droppable_ratio);
            batch.double(21, self.percent_repaired);
            batch.int64(22, self.coordinator_reads);
            batch.double(23, self.coordinator_read_mean_ns);
            batch.int64(24, self.coordinator_writes);
            batch.double(25, self.coordinator_write_mean_ns);
            batch.int64(26, self.mean_partition_bytes);
            batch.int64(27, self.max_partition_bytes);
            batch.int64(28, self.largest_sstable_bytes);
            batch.string(29, self.sstables_by_level);
            batch.string(30, self.sstables_by_window);
            batch.double(31, self.compression_ratio);
            batch.int64(32, self.bloom_false_positives);
            batch.double(33, self.bloom_false_ratio);
            batch.double(34, self.key_cache_hit_rate);
            batch.int64(35, self.row_cache_hits);
            batch.int64(36, self.row_cache_misses);
            batch.int64(37, self.running_compactions);
            batch.int64(38, self.compacting_bytes);
            batch.int64(39, self.compacted_bytes);
            batch.double(40, self.tombstones_per_slice_p99);
            batch.double(41, self.live_cells_per_slice_p99);
            batch.int64(42, self.largest_sstable_age_s);
            batch.end_row();
        }
    }

    /// CPU time and switches of each thread of a process in an interval. A thread that did not run in the interval has no row.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct ThreadSample<'a> {
        /// End of the interval. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the interval. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// server: the node. load: the load driver. (name)
        pub process: &'a str,
        /// Thread id in the kernel. (number)
        pub tid: i64,
        /// Name of the thread: the full Java name where the agent told it, otherwise the 15 characters that the kernel keeps. (name)
        pub thread: &'a str,
        /// Name of the thread without its number. (name)
        pub thread_group: &'a str,
        /// CPU time used. (ns)
        pub cpu_ns: i64,
        /// Time ready to run and waiting for a CPU. (ns)
        pub run_queue_ns: Option<i64>,
        /// Moves from one CPU to another. Where /proc is read, told about once a second, since it was told last, and null in the rows between. (count)
        pub migrations: Option<i64>,
        /// Times it gave up the CPU to wait. Where /proc is read, told about once a second, since it was told last, and null in the rows between. (count)
        pub voluntary_switches: Option<i64>,
        /// Times it was preempted. Where /proc is read, told about once a second, since it was told last, and null in the rows between. (count)
        pub involuntary_switches: Option<i64>,
    }

    impl Row for ThreadSample<'_> {
        const TABLE: usize = 34;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.process));
            batch.int64(4, Some(self.tid));
            batch.string(5, Some(self.thread));
            batch.string(6, Some(self.thread_group));
            batch.int64(7, Some(self.cpu_ns));
            batch.int64(8, self.run_queue_ns);
            batch.int64(9, self.migrations);
            batch.int64(10, self.voluntary_switches);
            batch.int64(11, self.involuntary_switches);
            batch.end_row();
        }
    }

    /// Measurements and decisions of a node's valves: one row per window.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct ValveWindow<'a> {
        /// End of the window. (ns since the Unix epoch)
        pub time_ns: i64,
        /// Length of the window. (ns)
        pub interval_ns: i64,
        /// The node that the row is about, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Name of the valve. (name)
        pub valve: &'a str,
        /// The law that decided. (name)
        pub law: &'a str,
        /// How many could be inside at once; null where the valve was open. (count)
        pub limit: Option<i64>,
        /// The limit from this window on; null where the valve is open. (count)
        pub next_limit: Option<i64>,
        /// Mean number inside. (count)
        pub in_flight: f64,
        /// Mean number that waited at the gate, or was queued before the stage. (count)
        pub waiting: f64,
        /// Mean number of other requests in the gate's stage, queued or running; 0 at a stage, and where no stage's threads pass the gate. (count)
        pub elsewhere: f64,
        /// How many came out well. (count)
        pub completed: i64,
        /// How many came out with an exception. (count)
        pub failed: i64,
        /// How many were answered with Overloaded. (count)
        pub refused: i64,
        /// How many went in beyond the limit after the longest wait. (count)
        pub let_through: i64,
        /// How many went in beyond the limit since their waiting could have been a deadlock. (count)
        pub out_of_order: i64,
        /// How many came out well per second. (1/s)
        pub throughput_per_s: f64,
        /// Mean time inside. (ns)
        pub mean_ns: Option<i64>,
        /// Mean wait before it. (ns)
        pub wait_mean_ns: Option<i64>,
        /// Median of wait and time inside together; not known of a stage. (ns)
        pub p50_ns: Option<i64>,
        /// 99th percentile of the same. (ns)
        pub p99_ns: Option<i64>,
        /// Longest of the same, to 3 %. (ns)
        pub max_ns: Option<i64>,
        /// Share of the window in which the JVM stood for a collection. (share)
        pub gc_share: f64,
        /// Whether somebody waited because of the limit. (true or false)
        pub limited: bool,
        /// on, or open: it lets all in. (name)
        pub state: &'a str,
        /// Why the limit is what it is from now on, in a sentence. (text)
        pub reason: &'a str,
    }

    impl Row for ValveWindow<'_> {
        const TABLE: usize = 35;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.time_ns));
            batch.int64(1, Some(self.interval_ns));
            batch.string(2, Some(self.node));
            batch.string(3, Some(self.valve));
            batch.string(4, Some(self.law));
            batch.int64(5, self.limit);
            batch.int64(6, self.next_limit);
            batch.double(7, Some(self.in_flight));
            batch.double(8, Some(self.waiting));
            batch.double(9, Some(self.elsewhere));
            batch.int64(10, Some(self.completed));
            batch.int64(11, Some(self.failed));
            batch.int64(12, Some(self.refused));
            batch.int64(13, Some(self.let_through));
            batch.int64(14, Some(self.out_of_order));
            batch.double(15, Some(self.throughput_per_s));
            batch.int64(16, self.mean_ns);
            batch.int64(17, self.wait_mean_ns);
            batch.int64(18, self.p50_ns);
            batch.int64(19, self.p99_ns);
            batch.int64(20, self.max_ns);
            batch.double(21, Some(self.gc_share));
            batch.bool(22, Some(self.limited));
            batch.string(23, Some(self.state));
            batch.string(24, Some(self.reason));
            batch.end_row();
        }
    }

    /// One row per request that came in from the network and was answered, as its packets passed the node's side of it. Sorted by when the answer passed, within about a fifth of a second.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct WireRequest<'a> {
        /// When the last byte of the request had come in. (ns since the Unix epoch)
        pub start_ns: i64,
        /// From there until the first byte of the answer went out: what the node took, its own pauses included, and the client's not. (ns)
        pub duration_ns: i64,
        /// From the first byte of the request to its last: 0 for one that came in one packet. (ns)
        pub receiving_ns: i64,
        /// From the first byte of the answer to its last. A client that does not read holds it up. (ns)
        pub sending_ns: i64,
        /// The node that was asked, as the recording names it in its manifest. (address)
        pub node: &'a str,
        /// Where the connection comes from. (address)
        pub client: &'a str,
        /// Its port there. With node, stream and time it finds the same request in the table requests. (number)
        pub client_port: i64,
        /// Its stream on that connection. (number)
        pub stream: i64,
        /// Requests that the row stands for: 1, or null, where all connections were followed, and more where some were left out to bound the cost. (number)
        pub weight: Option<f64>,
        /// What it is in the protocol: QUERY, EXECUTE, BATCH, PREPARE, STARTUP, OPTIONS, REGISTER, AUTH_RESPONSE. (name)
        pub opcode: &'a str,
        /// The statement, with ? for its literals, and for a whole collection or list of IN; of a batch 'batch:' and the first statement. Only the keyword, as in 'SELECT …', if the text does not parse as CQL or the node refused it as a syntax error, and for statements about roles and users. 'prepared' and the id where the text of a prepared statement is not known, and 'other statements' beyond 10,000 different ones. At most 1000 characters. (CQL)
        pub statement: &'a str,
        /// The keyspace of names without one in the statement: of the request, the prepared statement or else the connection. Null where that is not known. (name)
        pub keyspace: Option<&'a str>,
        /// Consistency level, such as LOCAL_QUORUM. Null where the request has none, or it stands beyond what is read of a long request. (name)
        pub consistency: Option<&'a str>,
        /// Serial consistency level, where the request names one. (name)
        pub serial_consistency: Option<&'a str>,
        /// Whether the request asks for a further page: it has a paging state.
        pub further_page: bool,
        /// The most rows that the client takes in one page. Null where it asks for all rows at once, where the request has no pages, and where it stands beyond what is read of a long request. (number)
        pub page_size: Option<i64>,
        /// How far the client's clock is ahead of the node's, less the time from the driver to the node. It is the timestamp that the driver sent (flag 0x20 of the protocol) minus start_ns, to the microsecond; negative where the clock is behind. Null where the driver sent no timestamp. (ns)
        pub client_ahead_ns: Option<i64>,
        /// Statements of a batch. Null for other requests, and for a batch sent as text whose end is beyond what is read. (number)
        pub batch_size: Option<i64>,
        /// Token of the partition that it reads or writes, by Murmur3Partitioner. Null where the partition key is not among the values of a prepared statement, where it has several partitions, and where that is not known. The key itself is not recorded. (number)
        pub token: Option<i64>,
        /// Whether the node that was asked is a replica of that partition, by the ring and the keyspace's replication when the recording began. Null where token is, for keyspaces made later, and for replication strategies other than SimpleStrategy and NetworkTopologyStrategy.
        pub to_replica: Option<bool>,
        /// Kind of the answer: rows, void, prepared, set_keyspace, schema_change, error, ready, authenticate, supported, auth_challenge, auth_success; result where it could not be read further. (name)
        pub answer: &'a str,
        /// The protocol's name of the error, such as write_timeout or overloaded; null where there was none. (name)
        pub error: Option<&'a str>,
        /// Rows in the answer. Null for other kinds of answers, and where the number stands beyond what is read of a long answer. (number)
        pub rows_returned: Option<i64>,
        /// Whether the answer says that there are more pages.
        pub more_pages: bool,
        /// Whether the answer has warnings of the node.
        pub warned: bool,
        /// Whether the request asks the node to trace it.
        pub traced: bool,
        /// Whether the request came compressed, or in segments that can be.
        pub compressed: bool,
        /// Size of the request's frame with its header, as it came, compressed or not, without what segments add. (bytes)
        pub request_bytes: i64,
        /// Size of the answer's frame with its header, likewise. (bytes)
        pub response_bytes: i64,
    }

    impl Row for WireRequest<'_> {
        const TABLE: usize = 36;

        fn append_to(&self, batch: &mut BatchBuilder) {
            batch.int64(0, Some(self.start_ns));
            batch.int64(1, Some(self.duration_ns));
            batch.int64(2, Some(self.receiving_ns));
            batch.int64(3, Some(self.sending_ns));
            batch.string(4, Some(self.node));
            batch.string(5, Some(self.client));
            batch.int64(6, Some(self.client_port));
            batch.int64(7, Some(self.stream));
            batch.double(8, self.weight);
            batch.string(9, Some(self.opcode));
            batch.string(10, Some(self.statement));
            batch.string(11, self.keyspace);
            batch.string(12, self.consistency);
            batch.string(13, self.serial_consistency);
            batch.bool(14, Some(self.further_page));
            batch.int64(15, self.page_size);
            batch.int64(16, self.client_ahead_ns);
            batch.int64(17, self.batch_size);
            batch.int64(18, self.token);
            batch.bool(19, self.to_replica);
            batch.string(20, Some(self.answer));
            batch.string(21, self.error);
            batch.int64(22, self.rows_returned);
            batch.bool(23, Some(self.more_pages));
            batch.bool(24, Some(self.warned));
            batch.bool(25, Some(self.traced));
            batch.bool(26, Some(self.compressed));
            batch.int64(27, Some(self.request_bytes));
            batch.int64(28, Some(self.response_bytes));
            batch.end_row();
        }
    }
}
