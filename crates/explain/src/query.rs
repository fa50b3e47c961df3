//! SQL queries: one file each in `queries/`, with `$name` for parameters.

use crate::timeline::Interval;

/// A query whose parameters have no values yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Query {
    #[cfg(test)]
    name: &'static str,
    text: &'static str,
}

/// The value of a query parameter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    Integer(i64),
    Text(&'a str),
    /// An SQL condition from our own code, inserted verbatim.
    Condition(&'a str),
}

/// A query's text is one file, or a common part followed by the rest.
macro_rules! queries {
    ($($constant:ident = $($file:literal)+),+ $(,)?) => {
        $(pub(crate) const $constant: Query = Query {
            #[cfg(test)]
            name: concat!($($file, " "),+),
            text: concat!($(include_str!(concat!("../queries/", $file, ".sql"))),+),
        };)+
        #[cfg(test)]
        pub(crate) const ALL: &[Query] = &[$($constant),+];
    };
}

queries! {
    REQUESTS = "requests",
    CHOSEN_REQUESTS = "chosen_requests",
    CHOSEN_TOTALS = "chosen_totals",
    SHARED_VALUES = "shared_values",
    SETTINGS_AT = "settings_at",
    MARKS = "marks",
    UNJUDGED = "unjudged",
    PAUSES = "pauses",
    STALLS = "stalls",
    STOPPED_THREADS = "stopped_threads",
    MEMORY_WAITS = "memory_waits",
    LONG_PAUSES = "long_pauses",
    WITHIN_PAUSE = "within_pause",
    FREQUENCIES = "frequencies",
    CLOCK_CALLS = "clock_calls",
    CPU_INTERVALS = "cpu_intervals",
    PROCESS_INTERVALS = "process_intervals",
    THREADS_WATCHED = "threads_watched",
    BACKGROUND_INTERVALS = "background_intervals",
    BUSIEST_LOAD_THREAD = "busiest_load_thread",
    POOL_QUEUES = "pool_queues",
    EVENTS = "events",
    RUN_QUEUES = "run_queues",
    PRESSURE_INTERVALS = "pressure_intervals",
    NODE_PRESSURE = "node_pressure",
    DISK_INTERVALS = "disk_intervals",
    PROCESS_CPU = "process_cpu",
    NODE_PROCESSES = "node_processes",
    PROCESSES_BY_CPU = "processes_by_cpu",
    DISKS_BY_TIME = "disks_by_time",
    HELD_UP_BY_TIME = "held_up_by_time",
    SAMPLES = "samples",
    STACKS = "stacks",
    SAMPLED_TIME = "sampled_time",
    SAMPLE_EVENTS = "sample_events",
    SAMPLES_BY_THREAD = "samples_by_thread",
    COUNTED_CPU = "counted_cpu",
    LONG_SYSCALLS = "long_syscalls",
    SOURCES = "sources",
    ROW_COUNTS = "row_counts",
    ORIGIN = "on_both_sides" "origin",
    SIDES = "sides",
    FILE_IO = "file_io",
    DISK_READS = "disk_reads",
    READ_RUNS = "read_runs",
    STATEMENT_IO = "statement_io",
    STATEMENT_FIGURES = "statement_figures",
    CLIENT_FIGURES = "client_figures",
    CLIENT_SENDING = "client_sending",
    CONNECTIONS_IN_FLIGHT = "connections_in_flight",
    SENT_AGAIN = "sent_again",
    PARTITION_TABLES = "partition_tables",
    PARTITION_FIGURES = "partition_figures",
    LEVELS_BY_OPERATION = "levels_by_operation",
    STATEMENT_CELLS = "statement_cells",
    STATEMENT_SLOWEST = "statement_slowest",
    CLIENT_DRIVERS = "client_drivers",
    ERRORS_BY_OPERATION = "errors_by_operation",
    REQUEST_SPAN = "request_span",
    SLOW_REQUESTS = "slow_requests",
    SLOW_WITH = "slow_with",
    TOKEN_OF_MOST = "token_of_most",
    SLOW_ON_THE_WIRE = "on_both_sides" "slow_on_the_wire",
    SLOW_IN_GC = "slow_in_gc",
    SLOW_IN_SAFEPOINTS = "slow_in_safepoints",
    SLOW_IN_STALLS = "slow_in_stalls",
    SLOW_IN_BUSY_CPU = "slow_in_busy_cpu",
    SLOW_IN_POOL_QUEUES = "slow_in_pool_queues",
    IN_NODE = "in_node",
    STAYS = "stays",
    HEAVIEST = "heaviest",
    SLOW_IN_BACKGROUND = "slow_in_background",
    ERRORS_BY_OUTCOME = "errors_by_outcome",
    PHASES = "phases",
    LOSSES = "losses",
    LEFT_OUT = "left_out",
    CPU_BINS = "cpu_bins",
    GROUPS = "groups",
    GROUP_BINS = "group_bins",
    POOL_BINS = "pool_bins",
    TABLE_BINS = "table_bins",
    VALVE_BINS = "valve_bins",
    VALVE_DECISIONS = "valve_decisions",
    REPORT_PROBES = "report_probes",
    SOURCE_TOTALS = "source_totals",
    TIME_SPAN = "time_span",
    SYSCALL_ROWS = "syscall_rows",
    SYSCALL_CELLS = "syscall_cells",
    SYSCALL_TOTALS = "syscall_totals",
    SYSCALL_EVENTS = "syscall_events",
    SUMMARY_CELLS = "summary_cells",
    SUMMARY_TOTALS = "summary_totals",
    REQUEST_CELLS = "request_cells",
    REQUEST_TOTALS = "request_totals",
    REQUEST_EVENTS = "request_events",
    EVERY_SYSCALL = "every_syscall",
    EVERY_SUMMARY = "every_summary",
    VARIANT_RUNS = "variant_runs",
    CHANGED_NODES = "changed_nodes",
    VALVE_WINDOWS = "valve_windows",
    PROBE_TOTALS = "probe_totals",
    COLLECTIONS = "collections",
    MARKING = "marking",
    COMPACTING_WHEN_FULLEST = "compacting_when_fullest",
    TABLE_HEALTH = "table_health",
    TABLE_SPANS = "table_spans",
    DEFINITIONS = "definitions",
    SETTINGS = "settings",
    NODE_METRICS = "node_metrics",
    FULL_POOLS = "full_pools",
    SERVER_COST = "server_cost",
    COMPILER_COST = "compiler_cost",
    COUNTER_COST = "counter_cost",
    COUNTER_GROUPS = "counter_groups",
    COUNTER_TURNS = "counter_turns",
    TIME_IN_NODE = "time_in_node",
    LOCAL_TIME = "local_time",
    TABLE_LEVELS = "table_levels",
    SSTABLES = "sstables",
    ROW_SIZES = "row_sizes",
    OPERATIONS = "operations",
}

/// The condition that a time lies in one of the windows; a window excludes its start and includes its end.
pub(crate) fn within(time: &str, windows: &[Interval]) -> String {
    let each = |window: &Interval| format!("{time} > {} AND {time} <= {}", window.start, window.end);
    format!("({})", windows.iter().map(each).collect::<Vec<_>>().join(" OR "))
}

/// A text as SQL writes it.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Query {
    /// The query as a user can paste it: without comments, every `$name` replaced by its value. A name without a value
    /// stays and lets the query fail.
    pub(crate) fn fill(&self, values: &[(&str, Value<'_>)]) -> String {
        let code: Vec<&str> =
            self.text.lines().map(str::trim_end).filter(|line| !line.trim_start().starts_with("--")).collect();
        let code = code.join("\n");
        let mut filled = String::with_capacity(code.len());
        let mut rest = code.trim();
        while let Some(at) = rest.find('$') {
            let (before, after) = rest.split_at(at);
            filled.push_str(before);
            let after = &after[1..];
            let length = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            let (name, tail) = after.split_at(length);
            match values.iter().find(|(known, _)| *known == name) {
                Some((_, Value::Integer(number))) => filled.push_str(&number.to_string()),
                Some((_, Value::Text(text))) => filled.push_str(&quoted(text)),
                Some((_, Value::Condition(condition))) => filled.push_str(condition),
                None => {
                    filled.push('$');
                    filled.push_str(name);
                }
            }
            rest = tail;
        }
        filled.push_str(rest);
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_filled_and_quoted() {
        let query = Query { name: "t", text: "-- why\nSELECT $a, $ab\nFROM t -- kept\nWHERE n = $node AND m = $no" };
        let filled = query.fill(&[("a", Value::Integer(-1)), ("ab", Value::Integer(2)), ("node", Value::Text("o'k"))]);
        assert_eq!(filled, "SELECT -1, 2\nFROM t -- kept\nWHERE n = 'o''k' AND m = $no");
    }

    #[test]
    fn every_question_says_first_what_it_answers() {
        for query in ALL {
            assert!(query.text.starts_with("-- "), "{}", query.name);
            assert!(!query.text.contains('"'), "{} could not be pasted into a shell", query.name);
        }
    }

    #[test]
    fn every_question_can_be_asked() {
        use helenus_recording::{Manifest, Recorder, Recording, rows};
        let folder = tempfile::TempDir::new().unwrap();
        let recorder = Recorder::create(&folder.path().join("r"), Manifest::new("t", "c")).unwrap();
        recorder.append(rows::Stall {
            start_ns: 1,
            duration_ns: 2,
            side: "load",
            kind: "watcher",
            ..rows::Stall::default()
        });
        recorder.close().unwrap();
        let engine = crate::Engine::open(&[Recording::open(&folder.path().join("r")).unwrap()]).unwrap();
        let values = [
            ("threshold_ns", Value::Integer(1)),
            ("threshold_bytes", Value::Integer(1)),
            ("every", Value::Integer(2)),
            ("start_ns", Value::Integer(0)),
            ("end_ns", Value::Integer(1_000_000_000)),
            ("bin_ns", Value::Integer(1000)),
            ("side", Value::Text("load")),
            ("event", Value::Text("cpu")),
            ("from_ns", Value::Integer(0)),
            ("to_ns", Value::Integer(1_000_000_000)),
            ("columns", Value::Integer(100)),
            ("low_ns", Value::Integer(0)),
            ("least_ns", Value::Integer(0)),
            ("node", Value::Text("n")),
            ("high_ns", Value::Integer(1000)),
            ("limit", Value::Integer(10)),
            ("filter", Value::Condition("true")),
            ("condition", Value::Condition("true")),
            ("judged", Value::Condition("true")),
            ("group", Value::Text("")),
            ("measure", Value::Condition("weight")),
            ("by_thread", Value::Condition("false")),
        ];
        for query in ALL {
            engine.sql(&query.fill(&values)).unwrap_or_else(|error| panic!("{}: {error}", query.name));
        }
    }
}
