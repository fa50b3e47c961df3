//! Takes a line of Cassandra's log apart, and reads its time.
//!
//! `DEBUG [CompactionExecutor:3] 2026-11-27 10:00:00,123 CompactionTask.java:166 - Compacting (0d…) [/data/shop/orders-1…/nb-1-big-Data.db:level=0]`

use super::class::{Class, class};

/// An event of the table `events`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) time_ns: i64,
    pub(crate) logger: String,
    pub(crate) class: Class,
}

/// The parts of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogLine<'a> {
    pub(crate) level: &'a str,
    /// `2026-11-27`, and `10:00:00,123` in the node's time zone, unless a zone follows.
    date: &'a str,
    time: &'a str,
    pub(crate) logger: &'a str,
    pub(crate) message: &'a str,
}

const SECOND_NS: i64 = 1_000_000_000;
const MINUTE_NS: i64 = 60 * SECOND_NS;
const DAY_NS: i64 = 24 * 60 * MINUTE_NS;
/// UTC offsets of all time zones are multiples of this.
const QUARTER_NS: i64 = 15 * MINUTE_NS;
/// The longest logger name; a logger is named by a source file or a class, so longer texts are something else.
const LONGEST_LOGGER: usize = 80;
const LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

impl<'a> LogLine<'a> {
    /// None if the line has another layout, such as one of a stack trace.
    pub(crate) fn of(line: &'a str) -> Option<LogLine<'a>> {
        let (level, rest) = line.split_once(char::is_whitespace)?;
        let rest = rest.trim_start().strip_prefix('[')?;
        if !LEVELS.contains(&level) {
            return None;
        }
        // A thread's name may contain brackets.
        let (head, message) = rest.split_once(" - ")?;
        let (_, head) = head.rsplit_once("] ")?;
        let mut words = head.split_ascii_whitespace();
        let first = words.next()?;
        // Versions of logback differ in what is between the date and the time.
        let (date, time) = match first.split_once('T') {
            Some(both) => both,
            None => (first, words.next()?),
        };
        let logger = words.next()?;
        let line = LogLine { level, date, time, logger, message: message.trim() };
        line.within_day_ns().map(|_| line)
    }

    /// The line's event, if it was written about `now_ns`. The text of the time is the same in all time zones but for
    /// quarters of an hour.
    pub(crate) fn event_near(&self, now_ns: i64) -> Option<Event> {
        let time_ns = nearest(self.within_day_ns()? % QUARTER_NS, now_ns);
        self.event_at(time_ns)
    }

    pub(crate) fn event_at(&self, time_ns: i64) -> Option<Event> {
        let logger: String = self.logger.chars().take(LONGEST_LOGGER).collect();
        let class = class(&LogLine { logger: &logger, ..*self })?;
        Some(Event { time_ns, logger, class })
    }

    /// The time in ns since the Unix epoch, if clocks of the node are that much ahead of UTC.
    pub(crate) fn time_ns(&self, ahead_ns: i64) -> Option<i64> {
        let mut parts = self.date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        let day_ns = days(year, month, day)?.checked_mul(DAY_NS)?;
        day_ns.checked_add(self.within_day_ns()?)?.checked_sub(self.zone_ns().unwrap_or(ahead_ns))
    }

    /// `10:17:03,123` or `10:17:03.123`, as the time since midnight.
    fn within_day_ns(&self) -> Option<i64> {
        let end = self.time.find(['Z', '+', '-']).unwrap_or(self.time.len());
        time_of_day_ns(&self.time[..end])
    }

    /// The zone behind the time, where the log has one.
    fn zone_ns(&self) -> Option<i64> {
        zone_ns(&self.time[self.time.find(['Z', '+', '-'])?..])
    }
}

/// The time since midnight of `10:17:03`, with a fraction behind a comma or a point.
pub(crate) fn time_of_day_ns(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once([',', '.']).unwrap_or((text, ""));
    let mut parts = whole.splitn(3, ':').map(|part| part.parse::<u32>().ok().map(i64::from));
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let is_fraction = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let fraction_ns = fraction.parse::<i64>().unwrap_or_default() * 10_i64.pow(9 - fraction.len().min(9) as u32);
    // The JVM has a second 60 when one is inserted.
    let is_time = hours < 24 && minutes < 60 && seconds < 61 && is_fraction;
    is_time.then(|| (hours * 60 + minutes) * MINUTE_NS + seconds * SECOND_NS + fraction_ns)
}

/// How far clocks are ahead of UTC: `Z`, `+0200`, `-03:30`.
pub(crate) fn zone_ns(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let digits: String = text[1..].chars().filter(|c| *c != ':').collect();
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = (digits[..2].parse::<i64>().ok()?, digits[2..].parse::<i64>().ok()?);
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 60 + minutes) * MINUTE_NS)
}

/// Days since the Unix epoch. Source: Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, days_from_civil.
pub(crate) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=2261).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
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
    /// Lines of Cassandra's log, each with the kind of its event, or `none`.
    const LINES: &str = include_str!("lines.txt");

    fn event(line: &str) -> Option<Event> {
        LogLine::of(line)?.event_near(NOW)
    }

    #[test]
    fn each_line_has_its_kind_and_no_text_of_a_statement() {
        let mut seen = 0;
        for line in LINES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (kind, line) = line.split_once('\t').unwrap();
            for between in [" ", "T"] {
                let line = line.replace("{T}", &format!("2023-11-14{between}23:13:19,000"));
                let event = event(&line);
                let found = event.as_ref().map_or("none", |event| event.class.kind);
                assert_eq!(found, kind, "{line}");
                if let Some(event) = event {
                    assert_eq!(event.time_ns, NOW - 1_000_000_000, "{line}");
                    assert!(!event.class.what.contains("secret"), "{event:?}");
                }
            }
            seen += 1;
        }
        assert!(seen > 60, "{seen}");
    }

    #[test]
    fn events_name_tables_lengths_and_states() {
        for (line, what) in [
            (
                "DEBUG [c:3] {T} CompactionTask.java:1 - Compacting (0d1) [/d/shop/orders-01ab/nb-1-big-Data.db:level=0, ]",
                "compaction of shop.orders began",
            ),
            (
                "DEBUG [c:3] {T} CompactionTask.java:1 - Compacting (0d1) [/d/shop/orders-01ab/.by_day/nb-1-big-Data.db:level=0, ]",
                "compaction of shop.orders began",
            ),
            (
                "DEBUG [c:3] {T} CompactionTask.java:1 - Compacting (0d1) [/my disk/shop/orders-01ab/nb-1-big-Data.db:level=0, ]",
                "compaction of shop.orders began",
            ),
            (
                "INFO  [c:3] {T} CompactionTask.java:1 - Compacted (0d1) 4 sstables to [/d/shop/orders-01ab/nb-9-big,] to level=0.",
                "compaction of shop.orders ended",
            ),
            (
                "DEBUG [m[1]] {T} ColumnFamilyStore.java:1 - Enqueuing flush of shop.orders, Reason: USER_FORCED, Usage: 1",
                "flush of shop.orders began",
            ),
            (
                "WARN  [c:3] {T} SortedTableWriter.java:1 - Writing large partition shop/orders:secret (120MiB) to sstable /d/x",
                "a large partition of shop.orders was written",
            ),
            (
                "WARN  [g:1] {T} FailureDetector.java:1 - Not marking nodes down due to local pause of 12871403951ns > 5000000000ns",
                "a local pause of 12.9 s",
            ),
            (
                "INFO  [Service Thread] {T} GCInspector.java:1 - G1 Young Generation GC in 240ms.  G1 Eden: 1 -> 0;",
                "a long collection (G1New, 240 ms), by GCInspector",
            ),
            (
                "INFO  [g:1] {T} Gossiper.java:1 - Node /10.0.0.2:7000 has restarted, now UP",
                "a node has restarted, now UP",
            ),
            (
                "ERROR [r:1] {T} StorageProxy.java:1 - Scanned over 100001 tombstones during query 'secret' (last scanned row partion key was ((a), x)); query aborted",
                "a query was aborted for its tombstones",
            ),
        ] {
            let event = event(&line.replace("{T}", "2023-11-14 22:13:19,000")).unwrap();
            assert_eq!(event.class.what, what, "{line}");
        }
    }

    #[test]
    fn times_are_read_with_and_without_a_zone() {
        let at = |time: &str, ahead_ns: i64| {
            LogLine::of(&format!("INFO  [main] {time} A.java:1 - text")).unwrap().time_ns(ahead_ns).unwrap()
        };
        assert_eq!(at("2023-11-14 22:13:20,000", 0), NOW);
        assert_eq!(at("2023-11-14T22:13:20,000", 0), NOW);
        assert_eq!(at("2023-11-15 00:13:20.000", 2 * 60 * MINUTE_NS), NOW);
        assert_eq!(at("2023-11-14T22:13:20.000Z", 60 * MINUTE_NS), NOW);
        assert_eq!(at("2023-11-14T18:43:20.000-03:30", 0), NOW);
        assert_eq!(at("2024-02-29 00:00:00,001", 0), 1_709_164_800_001_000_000);
        for no in ["2023-11-14 25:00:00,000", "yesterday", "2023-11-14"] {
            assert_eq!(LogLine::of(&format!("INFO  [main] {no} A.java:1 - text")), None, "{no}");
        }
        assert_eq!(LogLine::of("\tat java.base/java.lang.Thread.run(Thread.java:840)"), None);
        assert_eq!(LogLine::of("java.lang.RuntimeException: [a] b - c"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_line_can_make_it_panic(line: String, time in "[0-9T:,.Z+ -]{0,30}", tail: String, begin in 0usize..8) {
            let begins = ["Compacting (", "Compacted (", "Enqueuing flush of ", "Writing large partition ", "Batch ",
                "\"Operation timed out", "Not marking nodes down due to local pause of ", "G1 Young Generation GC in "];
            for line in [line, format!("WARN [x] {time} A.java:1 - {tail}"),
                format!("WARN [x] 2023-11-14 22:13:19,000 CompactionTask.java:1 - {}{tail}", begins[begin])] {
                if let Some(line) = LogLine::of(&line) {
                    let _ = (line.event_near(NOW), line.time_ns(QUARTER_NS));
                }
            }
        }
    }
}
