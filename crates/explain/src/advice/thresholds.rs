//! All thresholds of the advice, each with its source.

/// A bound from which on a rule gives advice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Threshold {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
    /// Source of the threshold: a document, a default of Cassandra, a field report, or our judgement.
    pub source: &'static str,
}

impl Threshold {
    const fn new(name: &'static str, value: f64, unit: &'static str, source: &'static str) -> Threshold {
        Threshold { name, value, unit, source }
    }

    /// Whether a value is at or above the threshold.
    pub(super) fn is_met(&self, figure: f64) -> bool {
        figure >= self.value
    }
}

const REPORT: &str = "field report on tombstones and compaction, 2014";

pub(super) const SSTABLES_PER_READ: Threshold = Threshold::new(
    "SSTables per read",
    4.0,
    "SSTables",
    "judgement: min_threshold of SizeTieredCompactionStrategy, so that one tier at most was waiting",
);
pub(super) const MANY_SSTABLES_PER_READ: Threshold = Threshold::new("many SSTables per read", 10.0, "SSTables", REPORT);
pub(super) const BLOOM_TIMES: Threshold = Threshold::new(
    "bloom filter misses",
    3.0,
    "times bloom_filter_fp_chance",
    "judgement: the chance is what a table of its kind was defined to accept",
);
pub(super) const BLOOM_FALSE: Threshold = Threshold::new("false positives that matter", 10_000.0, "reads", "judgement");
pub(super) const TOMBSTONES_PER_SLICE: Threshold = Threshold::new("tombstones per slice", 10.0, "tombstones", REPORT);
pub(super) const TOMBSTONES_PER_LIVE: Threshold =
    Threshold::new("tombstones per live cell", 1.0, "tombstones", "judgement: the field report had 3");
pub(super) const TOMBSTONES_WARNED_OF: Threshold = Threshold::new(
    "tombstones that the node warns of",
    1000.0,
    "tombstones",
    "cassandra.yaml: default of tombstone_warn_threshold",
);
pub(super) const DROPPABLE: Threshold = Threshold::new("droppable ratio", 0.05, "ratio", REPORT);
pub(super) const MUCH_DROPPABLE: Threshold = Threshold::new(
    "high droppable ratio",
    0.2,
    "ratio",
    "Cassandra's documentation, Operating: Compaction: default of tombstone_threshold",
);
pub(super) const LARGEST_SHARE: Threshold = Threshold::new(
    "largest SSTable's share",
    0.4,
    "of live disk space",
    "field report on tombstones and compaction, 2014: 85 of 200 GB",
);
pub(super) const LARGE_SSTABLE: Threshold = Threshold::new("large SSTable", 1e9, "bytes", "judgement");
pub(super) const WIDE_PARTITION: Threshold = Threshold::new(
    "wide partition",
    104_857_600.0,
    "bytes",
    "cassandra.yaml of 4.0 and 4.1: default of compaction_large_partition_warning_threshold; its successor in 5.0, \
     partition_size_warn_threshold, is off by default",
);
pub(super) const VERY_WIDE_PARTITION: Threshold =
    Threshold::new("very wide partition", 1_073_741_824.0, "bytes", "judgement: ten times what Cassandra warns of");
pub(super) const WIDE_ROW: Threshold =
    Threshold::new("wide row", 65_536.0, "bytes", "judgement: four chunks of 16 KiB, Cassandra's default");
pub(super) const VERY_WIDE_ROW: Threshold = Threshold::new(
    "very wide row",
    524_288.0,
    "bytes",
    "judgement: the field report on a wide row, 2016, had 1 MB in 100 columns",
);
pub(super) const COLUMNS_FOR_ONE: Threshold =
    Threshold::new("columns of a wide row", 4.0, "columns for each that is asked for", "judgement");
pub(super) const LARGE_CHUNK: Threshold = Threshold::new(
    "large chunk",
    32.0,
    "KiB",
    "Cassandra's documentation, Operating: Compression: 16 is the default from 4.0 on",
);
pub(super) const CHUNK_TIMES: Threshold =
    Threshold::new("chunk against partition", 4.0, "times the mean partition", "judgement");
pub(super) const INCOMPRESSIBLE: Threshold =
    Threshold::new("compression in vain", 0.9, "of the size before", "judgement");
pub(super) const WINDOWS: Threshold =
    Threshold::new("time windows", 50.0, "windows", "judgement: Cassandra's documentation (TWCS) asks for 20 to 30");
pub(super) const WRITE_SHARE: Threshold = Threshold::new(
    "writes under LeveledCompactionStrategy",
    0.9,
    "of reads and writes",
    "judgement: Cassandra's documentation (LCS) recommends it for tables that are mostly read",
);
pub(super) const WRITE_AMPLIFICATION: Threshold =
    Threshold::new("write amplification", 10.0, "times", "judgement: ten is what one more level costs");
pub(super) const PENDING: Threshold = Threshold::new("pending compactions", 100.0, "compactions", "judgement");
pub(super) const HEADROOM: Threshold = Threshold::new(
    "headroom for compaction",
    1.0,
    "times the largest table",
    "Cassandra's documentation (STCS): it needs space for the old and the new SSTables at once",
);
pub(super) const READ_AHEAD: Threshold = Threshold::new(
    "read-ahead of a solid-state disk",
    16.0,
    "KiB",
    "Cassandra's default chunk of 16 KiB; DataStax's recommended production settings have 8 KiB",
);
pub(super) const HEAP_SHARE: Threshold = Threshold::new(
    "heap's share of the memory",
    0.5,
    "of the memory",
    "cassandra-env.sh takes half up to 1 GB, or a quarter up to 8 GB. The rest is page cache for SSTables.",
);
pub(super) const COMPRESSED_POINTERS: Threshold = Threshold::new(
    "heap without compressed pointers",
    34_359_738_368.0,
    "bytes",
    "HotSpot: pointers are compressed below 32 GiB",
);
pub(super) const HEAP_WITHOUT_GAIN: Threshold = Threshold::new(
    "heap that is worth wide pointers",
    51_539_607_552.0,
    "bytes",
    "judgement: 48 GiB, from which on more fits in than was lost",
);
pub(super) const GC_SHARE: Threshold =
    Threshold::new("time in collections", 0.05, "of the time", "judgement: 50 ms of each second");
pub(super) const MARKING_SHARE: Threshold =
    Threshold::new("marking", 0.05, "of the node's CPU time", "judgement: as much as collections may take");
pub(super) const GC_PAUSE: Threshold =
    Threshold::new("pause", 200.0, "ms", "cassandra.yaml: default of gc_log_threshold");
pub(super) const LONG_GC_PAUSE: Threshold =
    Threshold::new("long pause", 1000.0, "ms", "cassandra.yaml: default of gc_warn_threshold");
pub(super) const YOUNG_PER_S: Threshold =
    Threshold::new("young collections", 2.0, "per s", "judgement: the field report had 20");
pub(super) const HEAP_AFTER: Threshold = Threshold::new(
    "heap after a collection",
    0.75,
    "of the heap",
    "judgement: G1 begins to mark at 45 to 70 % (InitiatingHeapOccupancyPercent)",
);
pub(super) const ROW_CACHE_HITS: Threshold = Threshold::new("row cache's hits", 0.8, "of look-ups", "judgement");
pub(super) const KEY_CACHE_HITS: Threshold = Threshold::new("key cache's hits", 0.8, "of look-ups", "judgement");
pub(super) const CACHE_FULL: Threshold = Threshold::new("full cache", 0.95, "of its capacity", "judgement");
pub(super) const REMOTE_SHARE: Threshold = Threshold::new(
    "requests to a node that holds no replica",
    0.2,
    "of requests",
    "judgement: a driver that knows the tokens of prepared statements sends none, but for those it can't know",
);
pub(super) const BATCH_PARTITIONS: Threshold = Threshold::new(
    "partitions of an unlogged batch",
    10.0,
    "partitions",
    "cassandra.yaml: default of unlogged_batch_across_partitions_warn_threshold",
);
pub(super) const SHORT_TIMEOUT: Threshold =
    Threshold::new("short timeout", 2.0, "times shorter than the default", "judgement: half of the default");
pub(super) const MANY_TIMEOUTS: Threshold =
    Threshold::new("timeouts that matter", 0.001, "of the requests", "judgement");
pub(super) const CONTENDED: Threshold = Threshold::new("contended transactions", 0.1, "of transactions", "judgement");
pub(super) const TRACE_EVENTS: Threshold = Threshold::new(
    "trace events",
    1.0,
    "a request",
    "judgement: some 5 % of the requests are traced then, and the node writes twice as much as it was asked to",
);
pub(super) const FULL_DIRECTORY: Threshold = Threshold::new(
    "full data directory",
    0.8,
    "of its file system",
    "judgement: a compaction needs room beside what it reads",
);
pub(super) const UNEVEN_DIRECTORIES: Threshold =
    Threshold::new("difference between data directories", 0.2, "of the file system", "judgement");
pub(super) const UNPREPARED: Threshold = Threshold::new(
    "statements that are not prepared",
    0.1,
    "of the statements",
    "documentation of the drivers: prepare every statement that is executed more than once",
);
pub(super) const STATEMENTS_THAT_MATTER: Threshold = Threshold::new(
    "statements that matter",
    10.0,
    "a second",
    "judgement: parsing fewer costs the node nothing that shows",
);
pub(super) const PREPARED_AGAIN: Threshold = Threshold::new(
    "statements prepared again",
    1.0,
    "a second",
    "documentation of the drivers: a statement is prepared once, at the start of the application",
);
pub(super) const NEW_CONNECTIONS: Threshold = Threshold::new(
    "new connections of a client",
    1.0,
    "a second",
    "judgement: drivers open their connections once, and again after a failure",
);
pub(super) const REQUESTS_OF_CONNECTION: Threshold = Threshold::new(
    "requests of a new connection",
    100.0,
    "requests at most",
    "judgement: a connection costs several round trips",
);
pub(super) const LARGE_ANSWER: Threshold = Threshold::new(
    "large answer",
    1_048_576.0,
    "bytes",
    "judgement: at 10 Gbit/s it takes a millisecond, for which other answers on the connection wait",
);
pub(super) const LARGE_ANSWERS: Threshold = Threshold::new("large answers that matter", 10.0, "answers", "judgement");
pub(super) const EVERY_REPLICA: Threshold = Threshold::new(
    "requests that need every replica or data center",
    0.01,
    "of the statements",
    "Cassandra's documentation, Architecture: Dynamo, Tunable Consistency",
);
pub(super) const IN_FLIGHT: Threshold = Threshold::new(
    "requests in flight on a connection",
    1024.0,
    "requests",
    "reference.conf of Java driver 4: default of max-requests-per-connection",
);
pub(super) const CLIENT_CLOCK: Threshold = Threshold::new(
    "client's clock beside the node's",
    200.0,
    "ms",
    "judgement: NTP keeps clocks of one network within some ms, and drivers' timestamps decide which write wins",
);
pub(super) const HELD_UP: Threshold = Threshold::new(
    "answer that takes long to leave",
    200.0,
    "ms",
    "judgement: the shortest time after which Linux sends a lost packet again (TCP_RTO_MIN)",
);
pub(super) const HELD_UP_SHARE: Threshold =
    Threshold::new("answers that take long to leave", 0.001, "of a client's answers", "judgement: they are its p99.9");
pub(super) const SENT_AGAIN: Threshold = Threshold::new(
    "failed requests sent again",
    0.5,
    "of the failed requests",
    "judgement: drivers do not retry by default what timed out in a node, but for reads of which the data is missing",
);
pub(super) const FAILED_REQUESTS: Threshold =
    Threshold::new("failed requests that matter", 20.0, "requests", "judgement");
pub(super) const SENT_ELSEWHERE: Threshold = Threshold::new(
    "requests sent to a second node meanwhile",
    0.02,
    "of the requests",
    "judgement: speculative executions are meant for the slowest percent",
);

const DATASTAX: &str = "DataStax's and AxonOps' recommended production settings";

pub(super) const MEMORY_WAITS: Threshold = Threshold::new(
    "waits for memory",
    0.01,
    "of the time",
    "judgement: 10 ms of each second, by the kernel's pressure of memory",
);
pub(super) const DISK_FAULTS: Threshold =
    Threshold::new("page faults that wait for a disk", 10.0, "per s", "judgement: one in a tenth of a second");
pub(super) const LOW_FREQUENCY: Threshold = Threshold::new(
    "low frequency",
    0.5,
    "of the highest",
    "judgement: with all cores busy, server CPUs keep 60 % and more of their single-core frequency",
);
pub(super) const CLOCK_CPUS: Threshold =
    Threshold::new("system calls to read the clock", 0.05, "CPUs", "judgement: 50 ms of each second");
pub(super) const SWAPPINESS: Threshold = Threshold::new(
    "swappiness",
    2.0,
    "of 200",
    "Cassandra's documentation and AxonOps: 0 or 1 where swap can't be off",
);
pub(super) const OPEN_FILES: Threshold = Threshold::new("open files", 100_000.0, "files", DATASTAX);
pub(super) const PROCESSES: Threshold =
    Threshold::new("processes", 32_768.0, "processes", "SystemInfo of Cassandra's start-up checks");
pub(super) const MAPS: Threshold =
    Threshold::new("memory maps", 1_048_575.0, "maps", "Cassandra's start-up checks (checkMaxMapCount)");
pub(super) const LIMIT_USED: Threshold = Threshold::new(
    "limit that is nearly reached",
    0.8,
    "of the limit",
    "judgement: a compaction or repair opens many files",
);
pub(super) const HEAP_AND_DIRECT: Threshold = Threshold::new(
    "heap and direct memory",
    0.9,
    "of the memory",
    "judgement: the rest has to hold the JVM's own memory and the page cache",
);
