//! The finding about reads that read far more than clients asked for.

use super::finding::{Check, Finding};
use crate::evidence::Evidence;
use crate::io::TableIo;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

pub(super) struct ReadAmplification;

/// The smallest ratio of bytes read to bytes returned for a finding, and the fewest bytes read.
const TIMES: f64 = 10.0;
const BYTES: i64 = 10_000_000;
/// The bytes of a few chunks of a few SSTables. A request that reads more reads a lot of unrelated data.
const BESIDE_BYTES: i64 = 128 << 10;
/// If a request reads at least this many bytes of its table's files, it can't be fast from a disk: the finding is a
/// warning.
const HEAVY_BYTES: i64 = 512 << 10;

impl Check for ReadAmplification {
    fn name(&self) -> &'static str {
        "read-amplification"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let is_much = |table: &&TableIo| {
            table.amplification.is_some_and(|times| times >= TIMES) && table.read_bytes() >= BYTES && table.requests > 0
        };
        evidence.io.tables.iter().filter(is_much).map(|table| self.finding(table, evidence)).collect()
    }
}

impl ReadAmplification {
    fn finding(&self, table: &TableIo, evidence: &Evidence) -> Finding {
        let per_request = table.read_bytes() / table.requests;
        let severity = if per_request >= HEAVY_BYTES { Severity::Warning } else { Severity::Information };
        let times = table.amplification.unwrap_or_default();
        let title = format!(
            "Reads of {} read {times:.0} times what they return ({} each)",
            table.table,
            text::bytes(per_request),
        );
        let sums = format!(
            "They read {} of its files to return {}.",
            text::bytes(table.read_bytes()),
            text::bytes(table.returned_bytes)
        );
        let (meaning, next) = if per_request >= BESIDE_BYTES {
            (
                "Either a row or a partition holds far more than is asked for, or a read looks into many SSTables. Where a row \
                 holds many large columns, make them rows of the partition.",
                "see how many SSTables a read takes (nodetool tablehistograms); compact, or split the row.",
            )
        } else {
            (
                "Small rows out of large chunks: each read decompresses a whole chunk.",
                "lower chunk_length_in_kb of the table's compression.",
            )
        };
        let mut finding = Finding::new(self.name(), severity, title, format!("{sums} {meaning}"), evidence.span);
        finding.next = next.into();
        finding.query = query::FILE_IO.fill(&[]);
        let of_table = |name: &Option<String>| name.as_deref() == Some(table.table.as_str());
        let files: Vec<_> = evidence.io.files.iter().filter(|file| of_table(&file.table)).take(5).collect();
        let statements: Vec<_> =
            evidence.io.statements.iter().filter(|statement| of_table(&statement.table)).take(5).collect();
        finding.evidence = json!({ "table": table, "most_read_files": files, "statements": statements });
        finding
    }
}
