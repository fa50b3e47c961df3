//! Advice on whether the chunk length of a table's compression fits its reads.

use super::facts::{Node, Table, need};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

const DOCUMENTED: &str = "Cassandra's documentation, Operating: Compression";

/// The chunk length in KiB; None if the table is not compressed. The option has two names, and 5.0 adds a unit to its
/// value.
fn chunk_kib(table: &Table) -> Result<Option<f64>, super::facts::MissingFact> {
    let class = table.member("compression", "class")?.or(table.member("compression", "sstable_compression")?);
    if class.is_none_or(|class| class.is_empty())
        || table.member("compression", "enabled")?.is_some_and(|on| on == "false")
    {
        return Ok(None);
    }
    let kib = table.member("compression", "chunk_length_in_kb")?.or(table.member("compression", "chunk_length_kb")?);
    match kib {
        Some(kib) => {
            need(kib.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok(), "its chunk length can't be read")
                .map(Some)
        }
        None => need(None, "its chunk length is not recorded"),
    }
}

/// doc/…/operating/compression.adoc (chunk_length_in_kb; "upgradesstables -a"); `CompressionParams.DEFAULT_CHUNK_LENGTH` is 16 KiB
/// in 4.0, 4.1 and 5.0.
pub(super) const CHUNK_SIZE: Rule = Rule {
    name: "chunk-size",
    looks_at: "the chunks that are read and decompressed whole, against the size of partitions",
    thresholds: &[&thresholds::LARGE_CHUNK, &thresholds::CHUNK_TIMES],
    source: DOCUMENTED,
    query: query::TABLE_HEALTH,
    check: Check::OfTable(chunk_size),
};

fn chunk_size(_: &Node, table: &Table) -> Checked {
    let Some(kib) = chunk_kib(table)? else { return Ok(None) };
    let mean =
        need(table.health.mean_partition_bytes.filter(|bytes| *bytes > 0), "the sizes of partitions are not recorded")?;
    let reads = need(table.health.reads_per_s, "its reads are not recorded")?;
    let times = kib * 1024.0 / mean as f64;
    if reads == 0.0 || !thresholds::LARGE_CHUNK.is_met(kib) || !thresholds::CHUNK_TIMES.is_met(times) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("each read decompresses {kib:.0} KiB for partitions of {} in the mean", text::bytes(mean)),
        figures: json!({ "chunk_kib": kib, "mean_partition_bytes": mean, "reads_per_s": reads }),
        advice: "ALTER TABLE … WITH compression = {'class': …, 'chunk_length_in_kb': 4} (or 16), then nodetool \
                 upgradesstables -a so that what is there is written anew. Smaller chunks compress a little less and keep \
                 more offsets in memory; they pay where reads are small and miss the page cache."
            .into(),
        verify: "Bytes read from disk for each read (`helenus record --node ADDRESS --syscalls summary -o files.helenus`, then `helenus io files.helenus`), and the local read latency.".into(),
    }))
}

/// doc/…/operating/compression.adoc (`crc_check_chance`: the checksums of chunks are what a read checks, and only compressed
/// tables have them). `CompressionParams.MIN_COMPRESS_RATIO` (4.0 to 5.0, 0 by default) stores a chunk that does not shrink as it
/// is, with its checksum.
pub(super) const COMPRESSION_IN_VAIN: Rule = Rule {
    name: "compression-in-vain",
    looks_at: "tables whose data compresses to almost its own size",
    thresholds: &[&thresholds::INCOMPRESSIBLE],
    source: DOCUMENTED,
    query: query::TABLE_HEALTH,
    check: Check::OfTable(compression_in_vain),
};

fn compression_in_vain(_: &Node, table: &Table) -> Checked {
    let Some(_) = chunk_kib(table)? else { return Ok(None) };
    let ratio = need(table.health.compression_ratio, "nothing of it is on disk yet, or its ratio is not recorded")?;
    if !thresholds::INCOMPRESSIBLE.is_met(ratio) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("its data takes {} of its size after compression", text::percent(ratio)),
        figures: json!({ "compression_ratio": ratio }),
        advice: "What clients have compressed or encrypted already does not shrink again. 'min_compress_ratio': '1.1' in the \
                 table's compression stores chunks that do not shrink as they are, which saves decompressing them, and each \
                 read still checks their checksums. compression = {'enabled': 'false'} saves compressing them, too, but then \
                 reads check no checksum. Either holds for SSTables that are written from then on (nodetool upgradesstables \
                 -a for all)."
            .into(),
        verify: "CPU of compaction and reads in the flame graph; live disk space stays the same.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{after, define, health, missing_after, quiet_after};

    #[test]
    fn chunks_and_compression() {
        let rule = &CHUNK_SIZE;
        let large = |node: &mut Node| {
            define(node, "compression", r#"{"class":"LZ4Compressor","chunk_length_in_kb":"64"}"#);
            health(node).mean_partition_bytes = Some(800);
        };
        after(rule, large);
        quiet_after(rule, |node| {
            large(node);
            health(node).reads_per_s = Some(0.0);
        });
        quiet_after(rule, |node| define(node, "compression", r#"{"enabled":"false"}"#));
        missing_after(rule, |node| health(node).mean_partition_bytes = None);
        let rule = &COMPRESSION_IN_VAIN;
        after(rule, |node| health(node).compression_ratio = Some(0.99));
        quiet_after(rule, |_| ());
        missing_after(rule, |node| health(node).compression_ratio = None);
    }
}
