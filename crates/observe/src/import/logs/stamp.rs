//! Times in logs of the JVM.

use crate::events::{days, time_of_day_ns, zone_ns};

const DAY_NS: i64 = 86_400_000_000_000;
/// Larger numbers of milliseconds count from the Unix epoch, and not from the start of the JVM.
const EPOCH_MS: i64 = 1_000_000_000_000;

/// When a line was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamp {
    /// Nanoseconds since the Unix epoch, and how far the node's clocks are ahead of UTC, if the log says that.
    Wall(i64, Option<i64>),
    /// Nanoseconds since the JVM was started.
    Uptime(i64),
}

impl Stamp {
    /// `2026-11-27T10:00:00.123+0100`.
    pub(super) fn date(text: &str) -> Option<Stamp> {
        let (date, time) = text.split_once('T')?;
        let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
        let day_ns = days(parts.next()??, parts.next()??, parts.next()??)?.checked_mul(DAY_NS)?;
        let end = time.find(['Z', '+', '-']).unwrap_or(time.len());
        let ahead_ns = zone_ns(&time[end..]);
        let local_ns = day_ns.checked_add(time_of_day_ns(&time[..end])?)?;
        Some(Stamp::Wall(local_ns - ahead_ns.unwrap_or_default(), ahead_ns))
    }

    /// `12.345s`, `12345ms` or `12345678ns`.
    pub(super) fn time(text: &str) -> Option<Stamp> {
        if let Some(ms) = text.strip_suffix("ms") {
            let ms = ms.parse::<i64>().ok().filter(|ms| *ms >= 0)?;
            let ns = ms.checked_mul(1_000_000)?;
            return Some(if ms < EPOCH_MS { Stamp::Uptime(ns) } else { Stamp::Wall(ns, Some(0)) });
        }
        if let Some(ns) = text.strip_suffix("ns") {
            let ns = ns.parse::<i64>().ok().filter(|ns| *ns >= 0)?;
            return Some(if ns < EPOCH_MS * 1_000_000 { Stamp::Uptime(ns) } else { Stamp::Wall(ns, Some(0)) });
        }
        Some(Stamp::Uptime(seconds_ns(text.strip_suffix('s')?)?))
    }

    pub(super) fn minus(self, ns: i64) -> Stamp {
        match self {
            Stamp::Wall(at, ahead_ns) => Stamp::Wall(at.saturating_sub(ns), ahead_ns),
            Stamp::Uptime(at) => Stamp::Uptime(at.saturating_sub(ns)),
        }
    }
}

/// Nanoseconds of a decimal number of seconds; some locales have a comma in it.
pub(super) fn seconds_ns(text: &str) -> Option<i64> {
    decimal(text, 9)
}

/// Nanoseconds of a decimal number of milliseconds.
pub(super) fn ms_ns(text: &str) -> Option<i64> {
    decimal(text, 6)
}

fn decimal(text: &str, digits: usize) -> Option<i64> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 12 || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let padded: String = fraction.chars().chain(std::iter::repeat('0')).take(digits).collect();
    format!("{whole}{padded}").parse().ok()
}

/// Splits the times off a line, in the layout of JDK 9 and later or in that of JDK 8. Both may have the time of the day and
/// the time since the start; the first is kept.
pub(super) fn stamped(line: &str) -> Option<(Stamp, Layout, &str)> {
    if line.starts_with('[') {
        let (mut rest, mut stamp) = (line, None);
        while let Some((decoration, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let text = decoration.trim();
            let new = Stamp::date(text).or_else(|| Stamp::time(text));
            stamp = match (stamp, new) {
                (Some(Stamp::Uptime(_)) | None, Some(new @ Stamp::Wall(..))) => Some(new),
                (None, new) => new,
                (stamp, _) => stamp,
            };
            rest = after;
        }
        return Some((stamp?, Layout::Unified, rest.trim()));
    }
    let (first, rest) = line.split_once(": ")?;
    if let Some(date) = Stamp::date(first) {
        let uptime = rest.split_once(": ").filter(|(uptime, _)| seconds_ns(uptime).is_some());
        return Some((date, Layout::Jdk8, uptime.map_or(rest, |(_, rest)| rest).trim()));
    }
    let is_uptime = first.contains(['.', ',']);
    let uptime = seconds_ns(first).filter(|_| is_uptime)?;
    Some((Stamp::Uptime(uptime), Layout::Jdk8, rest.trim()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// `[time][uptime][level] text`.
    Unified,
    /// `time: uptime: text`.
    Jdk8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_both_layouts_are_read() {
        let wall = |ahead_ns| Stamp::Wall(1_700_000_000_123_000_000, ahead_ns);
        for (line, stamp, layout, rest) in [
            (
                "[2023-11-14T22:13:20.123+0000][12.345s][4711][4712][info ] GC(1) x",
                wall(Some(0)),
                Layout::Unified,
                "GC(1) x",
            ),
            ("[12.345s][2023-11-15T00:13:20.123+0200][gc] x", wall(Some(7_200_000_000_000)), Layout::Unified, "x"),
            ("[1700000000123ms][info][gc] x", wall(Some(0)), Layout::Unified, "x"),
            ("[0.123s][info][gc,start     ] x", Stamp::Uptime(123_000_000), Layout::Unified, "x"),
            ("[5123ms] x", Stamp::Uptime(5_123_000_000), Layout::Unified, "x"),
            ("2023-11-14T22:13:20.123+0000: 1.234: [GC (x)", wall(Some(0)), Layout::Jdk8, "[GC (x)"),
            ("2023-11-14T22:13:20.123+0000: [GC (x)", wall(Some(0)), Layout::Jdk8, "[GC (x)"),
            ("1.234: [GC (x)", Stamp::Uptime(1_234_000_000), Layout::Jdk8, "[GC (x)"),
        ] {
            assert_eq!(stamped(line), Some((stamp, layout, rest)), "{line}");
        }
        for no in
            ["", "[info] x", "{Heap before GC invocations=1", "   [Eden: 1.0M(1.0M)->0.0B(1.0M)]", "key: value", "7: x"]
        {
            assert_eq!(stamped(no), None, "{no}");
        }
    }
}
