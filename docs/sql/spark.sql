-- Generated from schema/ by `cargo xtask generate`. Do not edit.
-- Replace {recording} by the place of a recording.

-- The coordinator's time for requests, by Cassandra's own exact counters (its metrics ClientRequest): one row per interval and kind of request, where there were any. The time begins when a request is decoded and ends when its answer is decided. It excludes the wait for a thread, and decoding and encoding the message.
CREATE TABLE client_requests (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `kind` STRING,
  `count` BIGINT,
  `total_ns` BIGINT
) USING PARQUET LOCATION '{recording}/client_requests';

-- One row per connection of a client whose driver is known: from STARTUP as it passed, or from what the node said of the connections that were open when the recording began.
CREATE TABLE connections (
  `time_ns` BIGINT,
  `node` STRING,
  `client` STRING,
  `client_port` BIGINT,
  `driver` STRING,
  `driver_version` STRING
) USING PARQUET LOCATION '{recording}/connections';

-- Counts of the kernel and the CPUs for a node's threads, added up by thread group: one row per interval and group that ran. Threads that began and ended between two readings are left out; sources has their CPU time.
CREATE TABLE counters (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `thread_group` STRING,
  `cpu_ns` BIGINT,
  `page_faults` BIGINT,
  `context_switches` BIGINT,
  `migrations` BIGINT,
  `cycles` BIGINT,
  `instructions` BIGINT,
  `cache_references` BIGINT,
  `cache_misses` BIGINT,
  `enabled_ns` BIGINT,
  `running_ns` BIGINT
) USING PARQUET LOCATION '{recording}/counters';

-- Time of each CPU of the machine in an interval, by state, from /proc/stat.
CREATE TABLE cpus (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `cpu` BIGINT,
  `user_ns` BIGINT,
  `system_ns` BIGINT,
  `iowait_ns` BIGINT,
  `irq_ns` BIGINT,
  `softirq_ns` BIGINT,
  `steal_ns` BIGINT,
  `idle_ns` BIGINT
) USING PARQUET LOCATION '{recording}/cpus';

-- Requests, bytes and time of each disk in an interval, from /proc/diskstats. A disk without a request in the interval has no row; partitions and loop devices have none.
CREATE TABLE disks (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `device` STRING,
  `reads` BIGINT,
  `read_bytes` BIGINT,
  `read_ns` BIGINT,
  `writes` BIGINT,
  `written_bytes` BIGINT,
  `write_ns` BIGINT,
  `busy_ns` BIGINT
) USING PARQUET LOCATION '{recording}/disks';

-- Events during the recording. The node's log tells of compactions, flushes, repair, streaming, hints, schema changes, nodes up and down, long collections and pauses, time-outs, and warnings, without the texts of statements. The recorder sees when the node's process ended or was started again, and when it answered nobody.
CREATE TABLE events (
  `time_ns` BIGINT,
  `node` STRING,
  `kind` STRING,
  `what` STRING,
  `logger` STRING
) USING PARQUET LOCATION '{recording}/events';

-- Findings of explain, most important first.
CREATE TABLE findings (
  `rank` BIGINT,
  `finding` STRING,
  `severity` STRING,
  `title` STRING,
  `detail` STRING,
  `node` STRING,
  `window_start_ns` BIGINT,
  `window_end_ns` BIGINT,
  `share` DOUBLE,
  `chance_share` DOUBLE,
  `p_value` DOUBLE,
  `query` STRING,
  `evidence` STRING
) USING PARQUET LOCATION '{recording}/findings';

-- Interrupts that each CPU of the machine served in an interval, from /proc/interrupts and /proc/softirqs. An interrupt that did not come in the interval has no row.
CREATE TABLE interrupts (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `cpu` BIGINT,
  `kind` STRING,
  `interrupt` STRING,
  `device` STRING,
  `count` BIGINT
) USING PARQUET LOCATION '{recording}/interrupts';

-- Named stretches of time on the clock of the recording, such as the phases of a load.
CREATE TABLE marks (
  `start_ns` BIGINT,
  `end_ns` BIGINT,
  `kind` STRING,
  `name` STRING,
  `rate_per_s` DOUBLE,
  `end_rate_per_s` DOUBLE,
  `in_flight` BIGINT,
  `measured` BOOLEAN,
  `block` BIGINT
) USING PARQUET LOCATION '{recording}/marks';

-- Moves of threads of a watched process from one CPU to another, added up in the kernel: one row per interval, thread group and pair of CPUs.
CREATE TABLE migrations (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `thread_group` STRING,
  `from_cpu` BIGINT,
  `to_cpu` BIGINT,
  `count` BIGINT
) USING PARQUET LOCATION '{recording}/migrations';

-- Figures of a node as a whole that its advice rests on, by Cassandra's own metrics: caches, dropped messages, coordinated requests, batches, compactions. Read every 5 s; a row when a figure has changed.
CREATE TABLE node_metrics (
  `time_ns` BIGINT,
  `node` STRING,
  `kind` STRING,
  `scope` STRING,
  `metric` STRING,
  `attribute` STRING,
  `value` BIGINT
) USING PARQUET LOCATION '{recording}/node_metrics';

-- Limits of a node from outside in an interval: the quota and pressure of its cgroup, page faults that read from a disk, and segments that its network sent again.
CREATE TABLE node_pressure (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `periods` BIGINT,
  `throttled_periods` BIGINT,
  `throttled_ns` BIGINT,
  `cpu_some_ns` BIGINT,
  `io_some_ns` BIGINT,
  `memory_some_ns` BIGINT,
  `major_faults` BIGINT,
  `sent_segments` BIGINT,
  `retransmitted_segments` BIGINT
) USING PARQUET LOCATION '{recording}/node_pressure';

-- One row per time in which a thread of a watched process was off the CPU for as long as was asked for, or longer. Sorted within about a fifth of a second only, by the end.
CREATE TABLE off_cpu (
  `start_ns` BIGINT,
  `duration_ns` BIGINT,
  `run_queue_ns` BIGINT,
  `node` STRING,
  `tid` BIGINT,
  `thread` STRING,
  `thread_group` STRING,
  `reason` STRING,
  `from_cpu` BIGINT,
  `to_cpu` BIGINT,
  `by_tid` BIGINT,
  `by_thread` STRING,
  `by_process` STRING,
  `stack` BIGINT
) USING PARQUET LOCATION '{recording}/off_cpu';

-- Reads from disks into the page cache for a watched process, added up in the kernel: one row per interval, thread group, file and way. Reads that the cache answered and reads past it (O_DIRECT) are left out.
CREATE TABLE page_cache (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `thread_group` STRING,
  `file` STRING,
  `device` STRING,
  `inode` BIGINT,
  `how` STRING,
  `faults` BIGINT,
  `bytes` BIGINT
) USING PARQUET LOCATION '{recording}/page_cache';

-- Times in which the JVM of a node stopped its threads.
CREATE TABLE pauses (
  `start_ns` BIGINT,
  `duration_ns` BIGINT,
  `node` STRING,
  `kind` STRING,
  `gc_id` BIGINT,
  `collector` STRING,
  `cause` STRING,
  `phase` STRING,
  `heap_before_bytes` BIGINT,
  `heap_after_bytes` BIGINT,
  `time_to_safepoint_ns` BIGINT,
  `provider` STRING
) USING PARQUET LOCATION '{recording}/pauses';

-- Thread pools of a node, as its own metrics give them.
CREATE TABLE pools (
  `time_ns` BIGINT,
  `node` STRING,
  `pool` STRING,
  `kind` STRING,
  `active` BIGINT,
  `pending` BIGINT,
  `completed` BIGINT,
  `blocked` BIGINT,
  `total_blocked` BIGINT,
  `max_size` BIGINT
) USING PARQUET LOCATION '{recording}/pools';

-- How long tasks of the machine waited for a resource in an interval, from /proc/pressure. An interval without a wait has no row.
CREATE TABLE pressure (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `resource` STRING,
  `some_ns` BIGINT,
  `full_ns` BIGINT
) USING PARQUET LOCATION '{recording}/pressure';

-- Which probe's method was called within which: the call tree of the probes, one row per interval, pair and thread group. All counts and sums may be added up.
CREATE TABLE probe_calls (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `caller` STRING,
  `probe` STRING,
  `thread_group` STRING,
  `calls` BIGINT,
  `total_ns` BIGINT
) USING PARQUET LOCATION '{recording}/probe_calls';

-- How long the calls took that probes metered: one row per interval, probe, thread group and bin of duration.
CREATE TABLE probe_latency (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `probe` STRING,
  `thread_group` STRING,
  `low_ns` BIGINT,
  `high_ns` BIGINT,
  `count` BIGINT
) USING PARQUET LOCATION '{recording}/probe_latency';

-- Measurements of a node's probes: one row per interval, probe and thread group. A probe that was not called has no row, except one that says that it was switched off. All but the largest may be added up.
CREATE TABLE probes (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `probe` STRING,
  `thread_group` STRING,
  `calls` BIGINT,
  `failed` BIGINT,
  `total_ns` BIGINT,
  `inherent_ns` BIGINT,
  `max_ns` BIGINT,
  `cpu_ns` BIGINT,
  `allocated_bytes` BIGINT,
  `off_reason` STRING
) USING PARQUET LOCATION '{recording}/probes';

-- The processes of the machine that used the most CPU time in an interval, from /proc: those with at least one hundredth of a CPU, twenty at most.
CREATE TABLE processes (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `pid` BIGINT,
  `process` STRING,
  `role` STRING,
  `cpu_ns` BIGINT
) USING PARQUET LOCATION '{recording}/processes';

-- One row per request that the load driver sent, as the client saw it.
CREATE TABLE requests (
  `intended_start_ns` BIGINT,
  `start_ns` BIGINT,
  `end_ns` BIGINT,
  `node` STRING,
  `operation` STRING,
  `outcome` STRING,
  `connection` BIGINT,
  `client_port` BIGINT,
  `stream` BIGINT,
  `request_bytes` BIGINT,
  `response_bytes` BIGINT,
  `number` BIGINT,
  `stalled` BOOLEAN
) USING PARQUET LOCATION '{recording}/requests';

-- Figures of each variant of an experiment in each block, over its measured phases: one row per figure. Written when the experiment is judged, whole blocks or not.
CREATE TABLE results (
  `start_ns` BIGINT,
  `variant` STRING,
  `block` BIGINT,
  `metric` STRING,
  `unit` STRING,
  `value` DOUBLE
) USING PARQUET LOCATION '{recording}/results';

-- Times that threads of a watched process were ready to run and waited for a CPU, added up in the kernel: one row per interval, thread group, cause and bin of delay. All counts and sums may be added up over any of these.
CREATE TABLE run_queue (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `thread_group` STRING,
  `after` STRING,
  `low_ns` BIGINT,
  `high_ns` BIGINT,
  `count` BIGINT,
  `total_ns` BIGINT
) USING PARQUET LOCATION '{recording}/run_queue';

-- Stack of a thread at a moment, from the profiler or from eBPF. One row per sample.
CREATE TABLE samples (
  `time_ns` BIGINT,
  `node` STRING,
  `event` STRING,
  `weight` BIGINT,
  `tid` BIGINT,
  `thread` STRING,
  `thread_group` STRING,
  `stack` BIGINT
) USING PARQUET LOCATION '{recording}/samples';

-- How a node, its JVM and its disks are set up: every setting once at the start, and again when it has changed. Of Cassandra's own settings those that say something of performance; none that holds a secret.
CREATE TABLE settings (
  `time_ns` BIGINT,
  `node` STRING,
  `setting` STRING,
  `value` STRING,
  `source` STRING
) USING PARQUET LOCATION '{recording}/settings';

-- Rows that each source of the recording captured and lost, and its CPU time, per interval.
CREATE TABLE sources (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `source` STRING,
  `node` STRING,
  `provider` STRING,
  `captured` BIGINT,
  `lost` BIGINT,
  `lost_reason` STRING,
  `cpu_ns` BIGINT
) USING PARQUET LOCATION '{recording}/sources';

-- Each SSTable of a node, as its own statistics have it (what sstablemetadata prints): one row when it is first seen, another when something of it has changed, and one when it is gone. Cassandra's own tables are left out.
CREATE TABLE sstables (
  `time_ns` BIGINT,
  `node` STRING,
  `keyspace` STRING,
  `table_name` STRING,
  `file` STRING,
  `live` BOOLEAN,
  `written_ns` BIGINT,
  `level` BIGINT,
  `disk_bytes` BIGINT,
  `data_bytes` BIGINT,
  `compression_ratio` DOUBLE,
  `partitions` BIGINT,
  `row_count` BIGINT,
  `cells` BIGINT,
  `mean_partition_bytes` BIGINT,
  `max_partition_bytes` BIGINT,
  `droppable_ratio` DOUBLE,
  `min_timestamp_us` BIGINT,
  `max_timestamp_us` BIGINT,
  `min_ttl_s` BIGINT,
  `max_ttl_s` BIGINT,
  `repaired_at_ms` BIGINT,
  `first_token` STRING,
  `last_token` STRING,
  `source` STRING
) USING PARQUET LOCATION '{recording}/sstables';

-- The stacks of the tables samples and off_cpu, each once per node, source and recording. A number stands for the same stack in every recording, so that merged ones agree; take one row of a number.
CREATE TABLE stacks (
  `time_ns` BIGINT,
  `stack` BIGINT,
  `frames` STRING,
  `kinds` STRING
) USING PARQUET LOCATION '{recording}/stacks';

-- Times in which a process did not run though it should have: measured by a thread that sleeps for a short time and looks how much later it woke (as jHiccup does), and by how far the load driver was behind its schedule.
CREATE TABLE stalls (
  `start_ns` BIGINT,
  `duration_ns` BIGINT,
  `side` STRING,
  `node` STRING,
  `kind` STRING,
  `run_queue_ns` BIGINT,
  `major_faults` BIGINT,
  `steal_ns` BIGINT
) USING PARQUET LOCATION '{recording}/stalls';

-- System calls of a watched process added up in the kernel: one row per interval, thread group, call, file and bin of duration. All counts and sums may be added up over any of these.
CREATE TABLE syscall_summary (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `thread_group` STRING,
  `call` STRING,
  `file` STRING,
  `file_kind` STRING,
  `low_ns` BIGINT,
  `high_ns` BIGINT,
  `count` BIGINT,
  `total_ns` BIGINT,
  `bytes` BIGINT,
  `errors` BIGINT
) USING PARQUET LOCATION '{recording}/syscall_summary';

-- One row per system call of a watched process that began and ended while it was recorded. Sorted within about a fifth of a second only.
CREATE TABLE syscalls (
  `start_ns` BIGINT,
  `duration_ns` BIGINT,
  `node` STRING,
  `tid` BIGINT,
  `thread_group` STRING,
  `call` STRING,
  `file` STRING,
  `file_kind` STRING,
  `bytes` BIGINT,
  `offset_bytes` BIGINT,
  `error` STRING
) USING PARQUET LOCATION '{recording}/syscalls';

-- Definition of each table, and other facts that seldom change: each once at the start, and again when it has changed. Cassandra's own tables are left out.
CREATE TABLE table_facts (
  `time_ns` BIGINT,
  `node` STRING,
  `keyspace` STRING,
  `table_name` STRING,
  `fact` STRING,
  `value` STRING,
  `source` STRING
) USING PARQUET LOCATION '{recording}/table_facts';

-- Figures of each table of a node, as its own metrics give them. Counters count since the node started.
CREATE TABLE table_stats (
  `time_ns` BIGINT,
  `node` STRING,
  `keyspace` STRING,
  `table_name` STRING,
  `reads` BIGINT,
  `writes` BIGINT,
  `read_total_ns` BIGINT,
  `write_total_ns` BIGINT,
  `sstables` BIGINT,
  `live_disk_bytes` BIGINT,
  `total_disk_bytes` BIGINT,
  `memtable_bytes` BIGINT,
  `memtable_switches` BIGINT,
  `pending_flushes` BIGINT,
  `pending_compactions` BIGINT,
  `bytes_flushed` BIGINT,
  `bytes_compacted` BIGINT,
  `sstables_per_read_p95` DOUBLE,
  `tombstones_per_slice_p95` DOUBLE,
  `live_cells_per_slice_p95` DOUBLE,
  `droppable_ratio` DOUBLE,
  `percent_repaired` DOUBLE,
  `coordinator_reads` BIGINT,
  `coordinator_read_mean_ns` DOUBLE,
  `coordinator_writes` BIGINT,
  `coordinator_write_mean_ns` DOUBLE,
  `mean_partition_bytes` BIGINT,
  `max_partition_bytes` BIGINT,
  `largest_sstable_bytes` BIGINT,
  `sstables_by_level` STRING,
  `sstables_by_window` STRING,
  `compression_ratio` DOUBLE,
  `bloom_false_positives` BIGINT,
  `bloom_false_ratio` DOUBLE,
  `key_cache_hit_rate` DOUBLE,
  `row_cache_hits` BIGINT,
  `row_cache_misses` BIGINT,
  `running_compactions` BIGINT,
  `compacting_bytes` BIGINT,
  `compacted_bytes` BIGINT,
  `tombstones_per_slice_p99` DOUBLE,
  `live_cells_per_slice_p99` DOUBLE,
  `largest_sstable_age_s` BIGINT
) USING PARQUET LOCATION '{recording}/table_stats';

-- CPU time and switches of each thread of a process in an interval. A thread that did not run in the interval has no row.
CREATE TABLE threads (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `process` STRING,
  `tid` BIGINT,
  `thread` STRING,
  `thread_group` STRING,
  `cpu_ns` BIGINT,
  `run_queue_ns` BIGINT,
  `migrations` BIGINT,
  `voluntary_switches` BIGINT,
  `involuntary_switches` BIGINT
) USING PARQUET LOCATION '{recording}/threads';

-- Measurements and decisions of a node's valves: one row per window.
CREATE TABLE valves (
  `time_ns` BIGINT,
  `interval_ns` BIGINT,
  `node` STRING,
  `valve` STRING,
  `law` STRING,
  `limit` BIGINT,
  `next_limit` BIGINT,
  `in_flight` DOUBLE,
  `waiting` DOUBLE,
  `elsewhere` DOUBLE,
  `completed` BIGINT,
  `failed` BIGINT,
  `refused` BIGINT,
  `let_through` BIGINT,
  `out_of_order` BIGINT,
  `throughput_per_s` DOUBLE,
  `mean_ns` BIGINT,
  `wait_mean_ns` BIGINT,
  `p50_ns` BIGINT,
  `p99_ns` BIGINT,
  `max_ns` BIGINT,
  `gc_share` DOUBLE,
  `limited` BOOLEAN,
  `state` STRING,
  `reason` STRING
) USING PARQUET LOCATION '{recording}/valves';

-- One row per request that came in from the network and was answered, as its packets passed the node's side of it. Sorted by when the answer passed, within about a fifth of a second.
CREATE TABLE wire (
  `start_ns` BIGINT,
  `duration_ns` BIGINT,
  `receiving_ns` BIGINT,
  `sending_ns` BIGINT,
  `node` STRING,
  `client` STRING,
  `client_port` BIGINT,
  `stream` BIGINT,
  `weight` DOUBLE,
  `opcode` STRING,
  `statement` STRING,
  `keyspace` STRING,
  `consistency` STRING,
  `serial_consistency` STRING,
  `further_page` BOOLEAN,
  `page_size` BIGINT,
  `client_ahead_ns` BIGINT,
  `batch_size` BIGINT,
  `token` BIGINT,
  `to_replica` BOOLEAN,
  `answer` STRING,
  `error` STRING,
  `rows_returned` BIGINT,
  `more_pages` BOOLEAN,
  `warned` BOOLEAN,
  `traced` BOOLEAN,
  `compressed` BOOLEAN,
  `request_bytes` BIGINT,
  `response_bytes` BIGINT
) USING PARQUET LOCATION '{recording}/wire';
