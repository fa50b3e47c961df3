//! Parses a line of Cassandra's log into an event.
//!
//! `DEBUG [CompactionExecutor:3] 2026-11-27 10:00:00,123 CompactionTask.java:166 - Compacting (0d…) [/data/shop/orders-1…/nb-1-big-Data.db:level=0]`

/// An event of the table `events`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) time_ns: i64,
    pub(super) kind: &'static str,
    pub(super) what: String,
    pub(super) logger: String,
}

const MINUTE_NS: i64 = 60_000_000_000;
/// UTC offsets of all time zones are multiples of this.
const QUARTER_NS: i64 = 15 * MINUTE_NS;
/// The longest logger name; a logger is named by a source file, so longer texts are something else.
const LONGEST_LOGGER: usize = 80;

/// The event of a line that was read at `now_ns`; None if the line is no event. The event's text has only table names
/// and fixed words, because messages may contain literals of statements.
pub(super) fn event(line: &str, now_ns: i64) -> Option<Event> {
    let (level, rest) = line.split_once(char::is_whitespace)?;
    let rest = rest.trim_start().strip_prefix('[')?;
    // A thread's name may contain brackets.
    let (head, message) = rest.split_once(" - ")?;
    let (_, head) = head.rsplit_once("] ")?;
    let mut words = head.split_ascii_whitespace();
    let (_, time, logger) = (words.next()?, words.next()?, words.next()?);
    let time_ns = nearest(within_quarter_ns(time)?, now_ns);
    let logger: String = logger.chars().take(LONGEST_LOGGER).collect();
    let (kind, what) = event_of(level, &logger, message)?;
    Some(Event { time_ns, kind, what, logger })
}

fn event_of(level: &str, logger: &str, message: &str) -> Option<(&'static str, String)> {
    let is_of = |file: &str| logger.starts_with(file);
    let begins = |prefix: &str| message.starts_with(prefix);
    let of = |what: &str, end: &str| match table_of_path(message) {
        Some(table) => format!("{what} of {table} {end}"),
        None => format!("{what} {end}"),
    };
    if is_of("CompactionTask.java") && begins("Compacting") {
        return Some(("compaction", of("compaction", "began")));
    }
    if is_of("CompactionTask.java") && begins("Compacted") {
        return Some(("compaction", of("compaction", "ended")));
    }
    if let Some(table) = message.strip_prefix("Enqueuing flush of ") {
        let table = table.split(|c: char| c == ',' || c == ':' || c.is_whitespace()).next()?;
        return is_name(table).then(|| ("flush", format!("flush of {table} began")));
    }
    if is_of("GCInspector.java") {
        return Some(("collection", "a long collection, by GCInspector".into()));
    }
    if is_of("Gossiper.java") || is_of("OutboundTcpConnection.java") {
        let (_, end) = message.split_once(" is now ")?;
        let state = ["UP", "DOWN"].into_iter().find(|state| end.trim_end() == *state)?;
        return Some(("peer", format!("a node is now {state}")));
    }
    if is_of("Schema.java") || is_of("MigrationManager.java") || is_of("DefaultSchemaUpdateHandler.java") {
        return is_of_schema(message).then(|| ("schema", "the schema changed".into()));
    }
    if message.contains("messages were dropped") {
        return Some(("dropped", "messages were dropped".into()));
    }
    if is_of("MonitoringTask.java") && message.contains("operations were slow") {
        return Some(("slow-queries", "slow queries were logged".into()));
    }
    match level {
        "WARN" if message.contains("tombstone") => Some(("tombstones", "a tombstone warning".into())),
        "WARN" if begins("Batch") => Some(("batch", "a batch warning".into())),
        "WARN" => Some(("warning", format!("a warning of {logger}"))),
        "ERROR" => Some(("error", format!("an error of {logger}"))),
        _ => None,
    }
}

fn is_of_schema(message: &str) -> bool {
    ["Create", "Alter", "Drop", "Updating schema", "Pushing schema"].iter().any(|begin| message.starts_with(begin))
}

/// The table of the first SSTable path: `shop.orders` of `…/shop/orders-0123…/nb-1-big-Data.db`.
fn table_of_path(message: &str) -> Option<String> {
    let path = message[message.find('/')?..].split([',', ']', ':', ' ']).next()?;
    let mut folders = path.rsplit('/').skip(1);
    let (table, keyspace) = (folders.next()?, folders.next()?);
    let (table, _) = table.rsplit_once('-')?;
    (is_name(table) && is_name(keyspace)).then(|| format!("{keyspace}.{table}"))
}

/// The name of a table, with or without its keyspace.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 100 && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}

/// The time since the last full quarter of an hour, for a clock time such as `10:17:03,123`. It is the same in all time
/// zones.
fn within_quarter_ns(time: &str) -> Option<i64> {
    let mut parts = time.split(':').skip(1);
    let minutes: i64 = parts.next()?.parse().ok()?;
    let (seconds, ms) = parts.next()?.split_once(',')?;
    let (seconds, ms): (i64, i64) = (seconds.parse().ok()?, ms.parse().ok()?);
    let is_time = (0..60).contains(&minutes) && (0..61).contains(&seconds) && (0..1000).contains(&ms);
    is_time.then(|| (minutes % 15) * MINUTE_NS + seconds * 1_000_000_000 + ms * 1_000_000)
}

/// The time nearest to `now_ns` that is that long after a full quarter of an hour.
fn nearest(within_ns: i64, now_ns: i64) -> i64 {
    let quarter = now_ns - now_ns.rem_euclid(QUARTER_NS);
    let candidates = [quarter - QUARTER_NS, quarter, quarter + QUARTER_NS].map(|quarter| quarter + within_ns);
    candidates.into_iter().min_by_key(|at| (at - now_ns).abs()).unwrap_or(now_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2023-11-14T22:13:20Z.
    const NOW: i64 = 1_700_000_000_000_000_000;

    fn what(rest: &str) -> Option<(&'static str, String)> {
        event(rest, NOW).map(|event| (event.kind, event.what))
    }

    #[test]
    fn known_lines_are_told_without_the_text_of_statements() {
        let line = "DEBUG [CompactionExecutor:3] 2023-11-14 23:13:18,250 CompactionTask.java:166 - Compacting (0d1) [/d/shop/orders-0123abc/nb-1-big-Data.db:level=0, ]";
        let event = event(line, NOW).unwrap();
        assert_eq!((event.kind, event.what.as_str()), ("compaction", "compaction of shop.orders began"));
        assert_eq!((event.time_ns, event.logger.as_str()), (NOW - 1_750_000_000, "CompactionTask.java:166"));
        let event_of = |level: &str, logger: &str, message: &str| {
            what(&format!("{level}  [a[b]-1] 2023-11-14 22:13:19,000 {logger}:1 - {message}"))
        };
        let kind = |level: &str, logger: &str, message: &str| event_of(level, logger, message).map(|(kind, _)| kind);
        let flush =
            event_of("DEBUG", "ColumnFamilyStore.java", "Enqueuing flush of shop.orders, Reason: USER_FORCED").unwrap();
        assert_eq!(flush, ("flush", "flush of shop.orders began".to_string()));
        assert_eq!(kind("INFO", "Gossiper.java", "InetAddress /127.0.0.2:7000 is now DOWN"), Some("peer"));
        assert_eq!(kind("INFO", "GCInspector.java", "G1 Young Generation GC in 240ms."), Some("collection"));
        let secret = "Read 10 live rows and 5000 tombstone cells for query SELECT * FROM a WHERE b = 'secret'";
        let (kind_of, text) = event_of("WARN", "ReadCommand.java", secret).unwrap();
        assert!(kind_of == "tombstones" && !text.contains("secret"), "{text}");
        assert_eq!(kind("WARN", "BatchStatement.java", "Batch for [a.b] is of size 9"), Some("batch"));
        assert_eq!(kind("INFO", "StorageService.java", "Node is ready"), None);
        assert_eq!(what("\tat java.base/java.lang.Thread.run(Thread.java:840)"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_line_can_make_it_panic(line: String, tail: String) {
            let _ = event(&line, NOW);
            let _ = event(&format!("WARN [x] 2023-11-14 22:13:19,000 CompactionTask.java:1 - Compacting {tail}"), NOW);
        }
    }
}
