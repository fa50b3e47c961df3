//! Classes the messages of Cassandra's log.
//!
//! The message decides, then the class that logged it, and the level only where neither is known: many classes log through
//! `NoSpamLogger`, and levels differ between versions. The texts are those of Cassandra 3.11 to 5.0.

use super::line::LogLine;

/// The class of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Class {
    /// The kind in the table `events`.
    pub(crate) kind: &'static str,
    /// A text of table names, numbers and fixed words: messages may contain literals of statements.
    pub(crate) what: String,
    /// The collector and the length of the stop that the message reports.
    pub(crate) stop: Option<(&'static str, i64)>,
}

impl Class {
    fn of(kind: &'static str, what: impl Into<String>) -> Option<Class> {
        Some(Class { kind, what: what.into(), stop: None })
    }
}

const MS: i64 = 1_000_000;

/// The names of collectors as GCInspector has them, and as JFR has them. Cycles of ZGC and Shenandoah are missing: they run
/// beside the program. Each has a collector named `... Pauses` besides.
const COLLECTORS: &[(&str, &str)] = &[
    ("G1 Young Generation", "G1New"),
    ("G1 Old Generation", "G1Old"),
    ("G1 Concurrent GC", "G1Old"),
    ("ParNew", "ParNew"),
    ("ConcurrentMarkSweep", "ConcurrentMarkSweep"),
    ("PS Scavenge", "ParallelScavenge"),
    ("PS MarkSweep", "ParallelOld"),
    ("Copy", "DefNew"),
    ("MarkSweepCompact", "SerialOld"),
    ("ZGC Pauses", "Z"),
    ("ZGC Minor Pauses", "ZGC Minor"),
    ("ZGC Major Pauses", "ZGC Major"),
    ("Shenandoah Pauses", "Shenandoah"),
];

/// The class of a line; None for lines that tell nothing of the node's work.
pub(crate) fn class(line: &LogLine<'_>) -> Option<Class> {
    let LogLine { level, logger, message, .. } = line;
    let is_severe = matches!(*level, "WARN" | "ERROR" | "FATAL");
    if message.starts_with("Compacting (") || message.starts_with("Compacted (") {
        return compaction(message);
    }
    if let Some((collector, rest)) = message.split_once(" GC in ")
        && let Some((ms, _)) = rest.split_once("ms.")
    {
        return collection(collector, ms);
    }
    if let Some(class) = tables(message)
        .or_else(|| requests(message, is_severe))
        .or_else(|| of_node(message))
        .or_else(|| between_nodes(message, is_severe))
    {
        return Some(class);
    }
    let is_of = |file: &str| logger.starts_with(file);
    let of_schema = ["Schema.java", "MigrationManager.java", "DefaultSchemaUpdateHandler.java"].into_iter().any(is_of);
    if of_schema && !is_severe && is_of_schema(message) {
        return Class::of("schema", "the schema changed");
    }
    match *level {
        "WARN" => Class::of("warning", format!("a warning of {logger}")),
        "ERROR" | "FATAL" => Class::of("error", format!("an error of {logger}")),
        _ => None,
    }
}

fn compaction(message: &str) -> Option<Class> {
    let end = if message.starts_with("Compacting") { "began" } else { "ended" };
    Class::of(
        "compaction",
        match table_of_path(message) {
            Some(table) => format!("compaction of {table} {end}"),
            None => format!("compaction {end}"),
        },
    )
}

fn collection(name: &str, ms: &str) -> Option<Class> {
    let ms: i64 = ms.parse().ok()?;
    let (_, collector) = COLLECTORS.iter().find(|(of, _)| *of == name)?;
    let stop = Some((*collector, ms.checked_mul(MS)?));
    Some(Class { kind: "collection", what: format!("a long collection ({collector}, {ms} ms), by GCInspector"), stop })
}

/// Flushes, large partitions, tombstones.
fn tables(message: &str) -> Option<Class> {
    if let Some(table) = message.strip_prefix("Enqueuing flush of ") {
        let table = table.split(|c: char| c == ',' || c == ':' || c.is_whitespace()).next()?;
        return if is_name(table) { Class::of("flush", format!("flush of {table} began")) } else { None };
    }
    if message.starts_with("Writing large partition ") || message.starts_with("Compacting large partition ") {
        let path = message.split("partition ").nth(1)?;
        let table = path.split([':', ' ']).next().unwrap_or_default().replace('/', ".");
        let of = if is_name(&table) { format!(" of {table}") } else { String::new() };
        return Class::of("warning", format!("a large partition{of} was written"));
    }
    if message.contains("tombstone") {
        let is_aborted = message.contains("query aborted") || message.contains("aborted the query");
        let is_counted = message.contains("tombstone cells") || message.contains("tombstone warnings");
        if is_aborted {
            return Class::of("tombstones", "a query was aborted for its tombstones");
        }
        if is_counted {
            return Class::of("tombstones", "a tombstone warning");
        }
    }
    None
}

/// Batches, slow and failed operations, dropped messages, statements.
fn requests(message: &str, is_severe: bool) -> Option<Class> {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| message.starts_with(prefix));
    if begins(&["Unlogged batch covering", "Executing a LOGGED BATCH"])
        || begins(&["Batch "]) && message.contains(" is of size ")
        || begins(&["Batch "]) && message.contains("exceed")
    {
        return Class::of("batch", "a batch warning");
    }
    if message.contains("messages were dropped")
        || message.contains(" dropping message of type ")
        || message.contains("overloaded; dropping ")
    {
        return Class::of("dropped", "messages were dropped");
    }
    let has_number = |text: &str| {
        message.split_once(text).is_some_and(|(number, _)| {
            number == "Some" || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    if has_number(" operations were slow") {
        return Class::of("slow-queries", "slow queries were logged");
    }
    if has_number(" operations timed out") {
        return Class::of("timed-out", "operations timed out");
    }
    // An exception's name comes before the text since 4.1.
    if let Some((before, text)) = message.split_once('"').filter(|_| message.contains("\" while executing ")) {
        let is_name = before.trim_end().chars().all(char::is_alphanumeric);
        if is_name && (text.starts_with("Operation timed out") || before.contains("Timeout")) {
            return Class::of("timed-out", "a read timed out");
        }
        if is_name {
            let of =
                ["Operation failed", "Cannot achieve consistency level"].into_iter().find(|of| text.starts_with(of));
            return Class::of("failed", format!("a read failed{}", of.map_or(String::new(), |of| format!(": {of}"))));
        }
    }
    if has_number(" prepared statements discarded") {
        return Class::of("warning", "prepared statements were discarded, because their cache is full");
    }
    if is_severe && begins(&["Out of "]) && message.contains(" commit log syncs ") {
        return Class::of("warning", "syncs of the commit log took longer than their period");
    }
    None
}

/// The node's own start, end and pauses.
fn of_node(message: &str) -> Option<Class> {
    if let Some(text) = message.strip_prefix("Not marking nodes down due to local pause of ") {
        let digits = text.find(|c: char| !c.is_ascii_digit()).map_or(text, |end| &text[..end]);
        let length = digits.parse::<u64>().ok().map(|ns| format!(" of {:.1} s", ns as f64 / 1e9)).unwrap_or_default();
        return Class::of("local-pause", format!("a local pause{length}"));
    }
    if message.starts_with("Cassandra version: ") {
        return Class::of("started", "Cassandra started");
    }
    if message.starts_with("Announcing shutdown") || message == "DRAINED" {
        return Class::of("shutdown", "Cassandra shuts down");
    }
    if message.contains("java.lang.OutOfMemoryError") || message.starts_with("OutOfMemory error") {
        return Class::of("error", "the JVM was out of memory");
    }
    None
}

/// Peers, repair, streaming, hints.
fn between_nodes(message: &str, is_severe: bool) -> Option<Class> {
    let first_of =
        |texts: &[(&str, &'static str)]| texts.iter().find(|(text, _)| message.contains(text)).map(|(_, what)| *what);
    if message.ends_with(" is now UP") || message.ends_with(" is now DOWN") {
        let state = if message.ends_with("UP") { "UP" } else { "DOWN" };
        return Class::of("peer", format!("a node is now {state}"));
    }
    if message.contains(" has restarted, now UP") {
        return Class::of("peer", "a node has restarted, now UP");
    }
    let of_repair = message.starts_with("[repair #") || message.starts_with("[preview repair #");
    if of_repair || message.starts_with("Starting repair command #") || message.starts_with("Repair command #") {
        let what = first_of(&[
            ("new session: will sync", "a repair session began"),
            ("Session completed successfully", "a repair session ended"),
            ("session completed with the following error", "a repair session failed"),
            ("Session completed with the following error", "a repair session failed"),
            ("Requesting merkle trees for", "a repair asks for Merkle trees"),
            ("range(s) out of sync", "a repair found ranges out of sync"),
            ("Starting repair command", "a repair began"),
            ("finished", "a repair ended"),
        ]);
        return match what {
            Some(what) => Class::of("repair", what),
            None if is_severe => Class::of("repair", "a repair has a problem"),
            None => None,
        };
    }
    if message.starts_with("[Stream #") {
        let what = first_of(&[
            ("new streaming plan", "streaming began"),
            ("Received streaming plan", "streaming began"),
            ("Executing streaming plan", "streaming began"),
            ("All sessions completed", "streaming ended"),
            ("Stream failed", "streaming failed"),
            ("Streaming error", "streaming failed"),
        ]);
        return match what {
            Some(what) => Class::of("streaming", what),
            None if is_severe => Class::of("streaming", "streaming has a problem"),
            None => None,
        };
    }
    if message.contains("hinted handoff") {
        let begins = message.starts_with("Started") || message.starts_with("Starting");
        return Class::of("hints", if begins { "hinted handoff began" } else { "hinted handoff of a file ended" });
    }
    None
}

fn is_of_schema(message: &str) -> bool {
    ["Create", "Alter", "Drop", "Updating schema", "Pushing schema"].iter().any(|begin| message.starts_with(begin))
}

/// The table of the first SSTable: `shop.orders` of `[/my disk/shop/orders-0123…/nb-1-big-Data.db:level=0, …]`. The SSTables
/// of an index are in a folder of the table's.
fn table_of_path(message: &str) -> Option<String> {
    let path = &message[message.find('/')?..];
    let path = path.split([',', ']']).next()?;
    let path = path.split_once(":level=").map_or(path, |(path, _)| path);
    let mut folders = path.rsplit('/').skip(1).filter(|folder| !folder.starts_with('.'));
    let (table, keyspace) = (folders.next()?, folders.next()?);
    let (table, _) = table.rsplit_once('-')?;
    (is_name(table) && is_name(keyspace)).then(|| format!("{keyspace}.{table}"))
}

/// The name of a table, with or without its keyspace.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 100 && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}
