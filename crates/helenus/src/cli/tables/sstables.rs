//! Prints the SSTables of tables.

use super::{bytes, count, nothing, number, percent};
use crate::terminal;
use helenus_explain::{Sstable, SstableGroup};

const HEAD: [&str; 17] = [
    "node",
    "table",
    "file",
    "level",
    "on disk",
    "of all",
    "compressed",
    "age",
    "newest write",
    "oldest",
    "partitions",
    "rows",
    "mean partition",
    "largest",
    "droppable",
    "TTL",
    "repaired",
];

/// A line for each SSTable, preceded by a line for each group of them.
pub fn print(sstables: &[Sstable], groups: &[SstableGroup]) {
    let rows = groups.iter().map(|group| {
        let own = [group.node.clone(), group.table.clone(), group.group.clone()].into_iter();
        own.chain([group.sstables.to_string(), bytes(Some(group.disk_bytes))]).collect()
    });
    terminal::print(format_args!("{}\n", terminal::table(&["node", "table", "group", "SSTables", "on disk"], rows, 3)));
    let lines = sstables.chunk_by(|a, b| a.node == b.node && a.table == b.table).flat_map(|own| {
        let all: i64 = own.iter().filter_map(|sstable| sstable.disk_bytes).sum();
        own.iter().map(move |sstable| line(sstable, all))
    });
    terminal::print(terminal::table(&HEAD, lines, 3));
}

fn line(sstable: &Sstable, all_bytes: i64) -> Vec<String> {
    let share = sstable.disk_bytes.filter(|_| all_bytes > 0).map(|own| own as f64 / all_bytes as f64);
    vec![
        sstable.node.clone(),
        sstable.table.clone(),
        sstable.file.rsplit('/').next().unwrap_or_default().to_string(),
        count(sstable.level),
        bytes(sstable.disk_bytes),
        percent(share),
        percent(sstable.compression_ratio),
        sstable.age_s.map_or_else(nothing, span),
        sstable.max_timestamp_us.map_or_else(nothing, ago),
        sstable.min_timestamp_us.map_or_else(nothing, ago),
        count(sstable.partitions),
        count(sstable.rows),
        bytes(sstable.mean_partition_bytes),
        bytes(sstable.max_partition_bytes),
        number(sstable.droppable_ratio, 3),
        times_to_live(sstable),
        sstable
            .repaired_at_ms
            .map_or_else(nothing, |at| if at > 0 { ago(at.saturating_mul(1000)) } else { "no".into() }),
    ]
}

fn times_to_live(sstable: &Sstable) -> String {
    match sstable.min_ttl_s.zip(sstable.max_ttl_s) {
        None => nothing(),
        Some((_, 0)) => "none".to_string(),
        Some((least, most)) if least == most => span(most),
        Some((0, most)) => format!("none–{}", span(most)),
        Some((least, most)) => format!("{}–{}", span(least), span(most)),
    }
}

/// Formats how long before now a write timestamp is. Clients set timestamps themselves, so a timestamp may be no time
/// at all.
fn ago(timestamp_us: i64) -> String {
    let now_us = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_micros();
    let now_us = i64::try_from(now_us).unwrap_or(i64::MAX);
    // The earliest plausible time, in 2001, and how far clocks may be ahead.
    match (1_000_000_000_000_000..now_us + 86_400_000_000).contains(&timestamp_us) {
        true => format!("{} ago", span((now_us - timestamp_us).max(0) / 1_000_000)),
        false => timestamp_us.to_string(),
    }
}

/// Formats a duration: `41 s`, `12 min`, `5.0 h`, `3.2 days`.
fn span(seconds: i64) -> String {
    let value = seconds as f64;
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{:.0} min", value / 60.0),
        7200..172_800 => format!("{:.1} h", value / 3600.0),
        _ => format!("{:.1} days", value / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        assert_eq!([41, 720, 18_000, 280_000].map(span), ["41 s", "12 min", "5.0 h", "3.2 days"]);
        assert_eq!(ago(7), "7", "a timestamp of somebody's own");
        let ttl = |least, most| {
            times_to_live(&Sstable { min_ttl_s: Some(least), max_ttl_s: Some(most), ..Sstable::default() })
        };
        assert_eq!([ttl(0, 0), ttl(60, 60), ttl(0, 7200), ttl(60, 7200)], ["none", "60 s", "none–2.0 h", "60 s–2.0 h"]);
    }
}
