-- Generated from schema/ by `cargo xtask generate`. Do not edit.
-- Replace {recording} by the place of a recording.

-- The coordinator's time for requests, by Cassandra's own exact counters (its metrics ClientRequest): one row per interval and kind of request, where there were any. The time begins when a request is decoded and ends when its answer is decided. It excludes the wait for a thread, and decoding and encoding the message.
CREATE TABLE client_requests (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `kind` String,
  `count` Int64,
  `total_ns` Int64
) ENGINE = File(Parquet, '{recording}/client_requests/*.parquet');

-- One row per connection of a client whose driver is known: from STARTUP as it passed, or from what the node said of the connections that were open when the recording began.
CREATE TABLE connections (
  `time_ns` Int64,
  `node` String,
  `client` String,
  `client_port` Int64,
  `driver` Nullable(String),
  `driver_version` Nullable(String)
) ENGINE = File(Parquet, '{recording}/connections/*.parquet');

-- Counts of the kernel and the CPUs for a node's threads, added up by thread group: one row per interval and group that ran. Threads that began and ended between two readings are left out; sources has their CPU time.
CREATE TABLE counters (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `thread_group` String,
  `cpu_ns` Int64,
  `page_faults` Int64,
  `context_switches` Nullable(Int64),
  `migrations` Nullable(Int64),
  `cycles` Nullable(Int64),
  `instructions` Nullable(Int64),
  `cache_references` Nullable(Int64),
  `cache_misses` Nullable(Int64),
  `enabled_ns` Nullable(Int64),
  `running_ns` Nullable(Int64)
) ENGINE = File(Parquet, '{recording}/counters/*.parquet');

-- Time of each CPU of the machine in an interval, by state, from /proc/stat.
CREATE TABLE cpus (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `cpu` Int64,
  `user_ns` Int64,
  `system_ns` Int64,
  `iowait_ns` Int64,
  `irq_ns` Int64,
  `softirq_ns` Int64,
  `steal_ns` Int64,
  `idle_ns` Int64
) ENGINE = File(Parquet, '{recording}/cpus/*.parquet');

-- Requests, bytes and time of each disk in an interval, from /proc/diskstats. A disk without a request in the interval has no row; partitions and loop devices have none.
CREATE TABLE disks (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `device` String,
  `reads` Int64,
  `read_bytes` Int64,
  `read_ns` Int64,
  `writes` Int64,
  `written_bytes` Int64,
  `write_ns` Int64,
  `busy_ns` Int64
) ENGINE = File(Parquet, '{recording}/disks/*.parquet');

-- Events during the recording. The node's log tells of compactions, flushes, repair, streaming, hints, schema changes, nodes up and down, long collections and pauses, time-outs, and warnings, without the texts of statements. The recorder sees when the node's process ended or was started again, and when it answered nobody.
CREATE TABLE events (
  `time_ns` Int64,
  `node` String,
  `kind` String,
  `what` String,
  `logger` String
) ENGINE = File(Parquet, '{recording}/events/*.parquet');

-- Findings of explain, most important first.
CREATE TABLE findings (
  `rank` Int64,
  `finding` String,
  `severity` String,
  `title` String,
  `detail` String,
  `node` String,
  `window_start_ns` Int64,
  `window_end_ns` Int64,
  `share` Nullable(Float64),
  `chance_share` Nullable(Float64),
  `p_value` Nullable(Float64),
  `query` String,
  `evidence` String
) ENGINE = File(Parquet, '{recording}/findings/*.parquet');

-- Interrupts that each CPU of the machine served in an interval, from /proc/interrupts and /proc/softirqs. An interrupt that did not come in the interval has no row.
CREATE TABLE interrupts (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `cpu` Int64,
  `kind` String,
  `interrupt` String,
  `device` String,
  `count` Int64
) ENGINE = File(Parquet, '{recording}/interrupts/*.parquet');

-- Named stretches of time on the clock of the recording, such as the phases of a load.
CREATE TABLE marks (
  `start_ns` Int64,
  `end_ns` Int64,
  `kind` String,
  `name` String,
  `rate_per_s` Nullable(Float64),
  `end_rate_per_s` Nullable(Float64),
  `in_flight` Nullable(Int64),
  `measured` Bool,
  `block` Nullable(Int64)
) ENGINE = File(Parquet, '{recording}/marks/*.parquet');

-- Moves of threads of a watched process from one CPU to another, added up in the kernel: one row per interval, thread group and pair of CPUs.
CREATE TABLE migrations (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `thread_group` String,
  `from_cpu` Int64,
  `to_cpu` Int64,
  `count` Int64
) ENGINE = File(Parquet, '{recording}/migrations/*.parquet');

-- Figures of a node as a whole that its advice rests on, by Cassandra's own metrics: caches, dropped messages, coordinated requests, batches, compactions. Read every 5 s; a row when a figure has changed.
CREATE TABLE node_metrics (
  `time_ns` Int64,
  `node` String,
  `kind` String,
  `scope` String,
  `metric` String,
  `attribute` String,
  `value` Int64
) ENGINE = File(Parquet, '{recording}/node_metrics/*.parquet');

-- Limits of a node from outside in an interval: the quota and pressure of its cgroup, page faults that read from a disk, and segments that its network sent again.
CREATE TABLE node_pressure (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `periods` Nullable(Int64),
  `throttled_periods` Nullable(Int64),
  `throttled_ns` Nullable(Int64),
  `cpu_some_ns` Nullable(Int64),
  `io_some_ns` Nullable(Int64),
  `memory_some_ns` Nullable(Int64),
  `major_faults` Nullable(Int64),
  `sent_segments` Nullable(Int64),
  `retransmitted_segments` Nullable(Int64)
) ENGINE = File(Parquet, '{recording}/node_pressure/*.parquet');

-- One row per time in which a thread of a watched process was off the CPU for as long as was asked for, or longer. Sorted within about a fifth of a second only, by the end.
CREATE TABLE off_cpu (
  `start_ns` Int64,
  `duration_ns` Int64,
  `run_queue_ns` Int64,
  `node` String,
  `tid` Int64,
  `thread` String,
  `thread_group` String,
  `reason` String,
  `from_cpu` Int64,
  `to_cpu` Int64,
  `by_tid` Nullable(Int64),
  `by_thread` String,
  `by_process` String,
  `stack` Nullable(Int64)
) ENGINE = File(Parquet, '{recording}/off_cpu/*.parquet');

-- Reads from disks into the page cache for a watched process, added up in the kernel: one row per interval, thread group, file and way. Reads that the cache answered and reads past it (O_DIRECT) are left out.
CREATE TABLE page_cache (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `thread_group` String,
  `file` String,
  `device` String,
  `inode` Int64,
  `how` String,
  `faults` Int64,
  `bytes` Int64
) ENGINE = File(Parquet, '{recording}/page_cache/*.parquet');

-- Times in which the JVM of a node stopped its threads.
CREATE TABLE pauses (
  `start_ns` Int64,
  `duration_ns` Int64,
  `node` String,
  `kind` String,
  `gc_id` Nullable(Int64),
  `collector` Nullable(String),
  `cause` Nullable(String),
  `phase` Nullable(String),
  `heap_before_bytes` Nullable(Int64),
  `heap_after_bytes` Nullable(Int64),
  `time_to_safepoint_ns` Nullable(Int64),
  `provider` String
) ENGINE = File(Parquet, '{recording}/pauses/*.parquet');

-- Thread pools of a node, as its own metrics give them.
CREATE TABLE pools (
  `time_ns` Int64,
  `node` String,
  `pool` String,
  `kind` String,
  `active` Int64,
  `pending` Int64,
  `completed` Int64,
  `blocked` Int64,
  `total_blocked` Int64,
  `max_size` Nullable(Int64)
) ENGINE = File(Parquet, '{recording}/pools/*.parquet');

-- How long tasks of the machine waited for a resource in an interval, from /proc/pressure. An interval without a wait has no row.
CREATE TABLE pressure (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `resource` String,
  `some_ns` Int64,
  `full_ns` Int64
) ENGINE = File(Parquet, '{recording}/pressure/*.parquet');

-- Which probe's method was called within which: the call tree of the probes, one row per interval, pair and thread group. All counts and sums may be added up.
CREATE TABLE probe_calls (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `caller` String,
  `probe` String,
  `thread_group` String,
  `calls` Int64,
  `total_ns` Int64
) ENGINE = File(Parquet, '{recording}/probe_calls/*.parquet');

-- How long the calls took that probes metered: one row per interval, probe, thread group and bin of duration.
CREATE TABLE probe_latency (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `probe` String,
  `thread_group` String,
  `low_ns` Int64,
  `high_ns` Int64,
  `count` Int64
) ENGINE = File(Parquet, '{recording}/probe_latency/*.parquet');

-- Measurements of a node's probes: one row per interval, probe and thread group. A probe that was not called has no row, except one that says that it was switched off. All but the largest may be added up.
CREATE TABLE probes (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `probe` String,
  `thread_group` String,
  `calls` Int64,
  `failed` Int64,
  `total_ns` Int64,
  `inherent_ns` Int64,
  `max_ns` Int64,
  `cpu_ns` Nullable(Int64),
  `allocated_bytes` Nullable(Int64),
  `off_reason` Nullable(String)
) ENGINE = File(Parquet, '{recording}/probes/*.parquet');

-- The processes of the machine that used the most CPU time in an interval, from /proc: those with at least one hundredth of a CPU, twenty at most.
CREATE TABLE processes (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `pid` Int64,
  `process` String,
  `role` String,
  `cpu_ns` Int64
) ENGINE = File(Parquet, '{recording}/processes/*.parquet');

-- One row per request that the load driver sent, as the client saw it.
CREATE TABLE requests (
  `intended_start_ns` Int64,
  `start_ns` Int64,
  `end_ns` Int64,
  `node` String,
  `operation` String,
  `outcome` String,
  `connection` Nullable(Int64),
  `client_port` Nullable(Int64),
  `stream` Nullable(Int64),
  `request_bytes` Nullable(Int64),
  `response_bytes` Nullable(Int64),
  `number` Nullable(Int64),
  `stalled` Bool
) ENGINE = File(Parquet, '{recording}/requests/*.parquet');

-- Figures of each variant of an experiment in each block, over its measured phases: one row per figure. Written when the experiment is judged, whole blocks or not.
CREATE TABLE results (
  `start_ns` Int64,
  `variant` String,
  `block` Int64,
  `metric` String,
  `unit` String,
  `value` Float64
) ENGINE = File(Parquet, '{recording}/results/*.parquet');

-- Times that threads of a watched process were ready to run and waited for a CPU, added up in the kernel: one row per interval, thread group, cause and bin of delay. All counts and sums may be added up over any of these.
CREATE TABLE run_queue (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `thread_group` String,
  `after` String,
  `low_ns` Int64,
  `high_ns` Int64,
  `count` Int64,
  `total_ns` Int64
) ENGINE = File(Parquet, '{recording}/run_queue/*.parquet');

-- Stack of a thread at a moment, from the profiler or from eBPF. One row per sample.
CREATE TABLE samples (
  `time_ns` Int64,
  `node` String,
  `event` String,
  `weight` Int64,
  `tid` Int64,
  `thread` String,
  `thread_group` String,
  `stack` Int64
) ENGINE = File(Parquet, '{recording}/samples/*.parquet');

-- How a node, its JVM and its disks are set up: every setting once at the start, and again when it has changed. Of Cassandra's own settings those that say something of performance; none that holds a secret.
CREATE TABLE settings (
  `time_ns` Int64,
  `node` String,
  `setting` String,
  `value` String,
  `source` String
) ENGINE = File(Parquet, '{recording}/settings/*.parquet');

-- Rows that each source of the recording captured and lost, and its CPU time, per interval.
CREATE TABLE sources (
  `time_ns` Int64,
  `interval_ns` Int64,
  `source` String,
  `node` String,
  `provider` String,
  `captured` Int64,
  `lost` Int64,
  `lost_reason` String,
  `cpu_ns` Nullable(Int64)
) ENGINE = File(Parquet, '{recording}/sources/*.parquet');

-- Each SSTable of a node, as its own statistics have it (what sstablemetadata prints): one row when it is first seen, another when something of it has changed, and one when it is gone. Cassandra's own tables are left out.
CREATE TABLE sstables (
  `time_ns` Int64,
  `node` String,
  `keyspace` String,
  `table_name` String,
  `file` String,
  `live` Bool,
  `written_ns` Nullable(Int64),
  `level` Nullable(Int64),
  `disk_bytes` Nullable(Int64),
  `data_bytes` Nullable(Int64),
  `compression_ratio` Nullable(Float64),
  `partitions` Nullable(Int64),
  `row_count` Nullable(Int64),
  `cells` Nullable(Int64),
  `mean_partition_bytes` Nullable(Int64),
  `max_partition_bytes` Nullable(Int64),
  `droppable_ratio` Nullable(Float64),
  `min_timestamp_us` Nullable(Int64),
  `max_timestamp_us` Nullable(Int64),
  `min_ttl_s` Nullable(Int64),
  `max_ttl_s` Nullable(Int64),
  `repaired_at_ms` Nullable(Int64),
  `first_token` Nullable(String),
  `last_token` Nullable(String),
  `source` String
) ENGINE = File(Parquet, '{recording}/sstables/*.parquet');

-- The stacks of the tables samples and off_cpu, each once per node, source and recording. A number stands for the same stack in every recording, so that merged ones agree; take one row of a number.
CREATE TABLE stacks (
  `time_ns` Int64,
  `stack` Int64,
  `frames` String,
  `kinds` String
) ENGINE = File(Parquet, '{recording}/stacks/*.parquet');

-- Times in which a process did not run though it should have: measured by a thread that sleeps for a short time and looks how much later it woke (as jHiccup does), and by how far the load driver was behind its schedule.
CREATE TABLE stalls (
  `start_ns` Int64,
  `duration_ns` Int64,
  `side` String,
  `node` String,
  `kind` String,
  `run_queue_ns` Nullable(Int64),
  `major_faults` Nullable(Int64),
  `steal_ns` Nullable(Int64)
) ENGINE = File(Parquet, '{recording}/stalls/*.parquet');

-- System calls of a watched process added up in the kernel: one row per interval, thread group, call, file and bin of duration. All counts and sums may be added up over any of these.
CREATE TABLE syscall_summary (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `thread_group` String,
  `call` String,
  `file` String,
  `file_kind` String,
  `low_ns` Int64,
  `high_ns` Int64,
  `count` Int64,
  `total_ns` Int64,
  `bytes` Int64,
  `errors` Int64
) ENGINE = File(Parquet, '{recording}/syscall_summary/*.parquet');

-- One row per system call of a watched process that began and ended while it was recorded. Sorted within about a fifth of a second only.
CREATE TABLE syscalls (
  `start_ns` Int64,
  `duration_ns` Int64,
  `node` String,
  `tid` Int64,
  `thread_group` String,
  `call` String,
  `file` String,
  `file_kind` String,
  `bytes` Nullable(Int64),
  `offset_bytes` Nullable(Int64),
  `error` Nullable(String)
) ENGINE = File(Parquet, '{recording}/syscalls/*.parquet');

-- Definition of each table, and other facts that seldom change: each once at the start, and again when it has changed. Cassandra's own tables are left out.
CREATE TABLE table_facts (
  `time_ns` Int64,
  `node` String,
  `keyspace` String,
  `table_name` String,
  `fact` String,
  `value` String,
  `source` String
) ENGINE = File(Parquet, '{recording}/table_facts/*.parquet');

-- Figures of each table of a node, as its own metrics give them. Counters count since the node started.
CREATE TABLE table_stats (
  `time_ns` Int64,
  `node` String,
  `keyspace` String,
  `table_name` String,
  `reads` Nullable(Int64),
  `writes` Nullable(Int64),
  `read_total_ns` Nullable(Int64),
  `write_total_ns` Nullable(Int64),
  `sstables` Nullable(Int64),
  `live_disk_bytes` Nullable(Int64),
  `total_disk_bytes` Nullable(Int64),
  `memtable_bytes` Nullable(Int64),
  `memtable_switches` Nullable(Int64),
  `pending_flushes` Nullable(Int64),
  `pending_compactions` Nullable(Int64),
  `bytes_flushed` Nullable(Int64),
  `bytes_compacted` Nullable(Int64),
  `sstables_per_read_p95` Nullable(Float64),
  `tombstones_per_slice_p95` Nullable(Float64),
  `live_cells_per_slice_p95` Nullable(Float64),
  `droppable_ratio` Nullable(Float64),
  `percent_repaired` Nullable(Float64),
  `coordinator_reads` Nullable(Int64),
  `coordinator_read_mean_ns` Nullable(Float64),
  `coordinator_writes` Nullable(Int64),
  `coordinator_write_mean_ns` Nullable(Float64),
  `mean_partition_bytes` Nullable(Int64),
  `max_partition_bytes` Nullable(Int64),
  `largest_sstable_bytes` Nullable(Int64),
  `sstables_by_level` Nullable(String),
  `sstables_by_window` Nullable(String),
  `compression_ratio` Nullable(Float64),
  `bloom_false_positives` Nullable(Int64),
  `bloom_false_ratio` Nullable(Float64),
  `key_cache_hit_rate` Nullable(Float64),
  `row_cache_hits` Nullable(Int64),
  `row_cache_misses` Nullable(Int64),
  `running_compactions` Nullable(Int64),
  `compacting_bytes` Nullable(Int64),
  `compacted_bytes` Nullable(Int64),
  `tombstones_per_slice_p99` Nullable(Float64),
  `live_cells_per_slice_p99` Nullable(Float64),
  `largest_sstable_age_s` Nullable(Int64)
) ENGINE = File(Parquet, '{recording}/table_stats/*.parquet');

-- CPU time and switches of each thread of a process in an interval. A thread that did not run in the interval has no row.
CREATE TABLE threads (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `process` String,
  `tid` Int64,
  `thread` String,
  `thread_group` String,
  `cpu_ns` Int64,
  `run_queue_ns` Nullable(Int64),
  `migrations` Nullable(Int64),
  `voluntary_switches` Nullable(Int64),
  `involuntary_switches` Nullable(Int64)
) ENGINE = File(Parquet, '{recording}/threads/*.parquet');

-- Measurements and decisions of a node's valves: one row per window.
CREATE TABLE valves (
  `time_ns` Int64,
  `interval_ns` Int64,
  `node` String,
  `valve` String,
  `law` String,
  `limit` Nullable(Int64),
  `next_limit` Nullable(Int64),
  `in_flight` Float64,
  `waiting` Float64,
  `elsewhere` Float64,
  `completed` Int64,
  `failed` Int64,
  `refused` Int64,
  `let_through` Int64,
  `out_of_order` Int64,
  `throughput_per_s` Float64,
  `mean_ns` Nullable(Int64),
  `wait_mean_ns` Nullable(Int64),
  `p50_ns` Nullable(Int64),
  `p99_ns` Nullable(Int64),
  `max_ns` Nullable(Int64),
  `gc_share` Float64,
  `limited` Bool,
  `state` String,
  `reason` String
) ENGINE = File(Parquet, '{recording}/valves/*.parquet');

-- One row per request that came in from the network and was answered, as its packets passed the node's side of it. Sorted by when the answer passed, within about a fifth of a second.
CREATE TABLE wire (
  `start_ns` Int64,
  `duration_ns` Int64,
  `receiving_ns` Int64,
  `sending_ns` Int64,
  `node` String,
  `client` String,
  `client_port` Int64,
  `stream` Int64,
  `weight` Nullable(Float64),
  `opcode` String,
  `statement` String,
  `keyspace` Nullable(String),
  `consistency` Nullable(String),
  `serial_consistency` Nullable(String),
  `further_page` Bool,
  `page_size` Nullable(Int64),
  `client_ahead_ns` Nullable(Int64),
  `batch_size` Nullable(Int64),
  `token` Nullable(Int64),
  `to_replica` Nullable(Bool),
  `answer` String,
  `error` Nullable(String),
  `rows_returned` Nullable(Int64),
  `more_pages` Bool,
  `warned` Bool,
  `traced` Bool,
  `compressed` Bool,
  `request_bytes` Int64,
  `response_bytes` Int64
) ENGINE = File(Parquet, '{recording}/wire/*.parquet');
