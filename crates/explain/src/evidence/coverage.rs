//! The data that the recording has, and the data that it is known to lack.

use crate::engine::{Engine, Provider};
use crate::timeline::Interval;
use crate::{Error, query};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(crate) struct Coverage {
    rows: BTreeMap<String, i64>,
    /// All sources of the recording, also those without rows.
    sources: BTreeSet<String>,
    pub(crate) captured: i64,
    pub(crate) lost: Vec<Lost>,
    /// Intervals in which the machine was not observed.
    pub(crate) gaps: Vec<Interval>,
    /// When the recorder left something out to keep to its budget, and what, in order.
    pub(crate) left_out: Vec<(Interval, String)>,
}

/// Name of the source that writes the rows of all others.
const RECORDER: &str = "recorder";

/// Rows that a source lost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lost {
    pub(crate) what: String,
    pub(crate) node: String,
    /// Number of lost rows; None if not known.
    pub(crate) rows: Option<i64>,
    /// Rows of the same source that are in the recording.
    pub(crate) captured: i64,
    pub(crate) reason: String,
    /// Whether the source lost the rows before the recorder received them; otherwise the recorder or the disk lost
    /// them.
    pub(crate) by_source: bool,
}

/// A source that lost at least this share of its rows may lead to wrong conclusions.
const SERIOUS_SHARE: f64 = 0.01;
/// If at least this share of the requests was lost, the p99 may be wrong, because lost requests may have been among
/// the slowest.
const SERIOUS_REQUESTS_SHARE: f64 = 0.001;
/// For lost samples: a missing share of the stacks changes shares of a flame graph by no more than itself, and the
/// counters of CPUs and threads go on, so that the next sample has what was missed.
const SERIOUS_SAMPLES_SHARE: f64 = 0.1;
/// Sources on which no finding about slow requests depends, and their tables.
const NOT_JUDGED_BY: [&str; 10] = [
    "stacks",
    "samples",
    "sched",
    "off_cpu",
    "run_queue",
    "syscalls",
    "syscall_summary",
    "page_cache",
    "counters",
    "interrupts",
];

/// Whether a source lost so much that conclusions from it may be wrong.
pub(crate) fn is_serious(source: &str, lost: i64, captured: i64) -> bool {
    let bound = match source {
        "requests" => SERIOUS_REQUESTS_SHARE,
        "stacks" | "cpus" | "threads" => SERIOUS_SAMPLES_SHARE,
        _ => SERIOUS_SHARE,
    };
    lost > 0 && lost as f64 >= bound * (lost as f64 + captured as f64)
}

impl Lost {
    pub(crate) fn is_serious(&self) -> bool {
        let source = match self.what.as_str() {
            // Rows that were made and then lost had their part of the counters.
            "cpus" | "threads" if !self.by_source => "rows",
            source => source,
        };
        self.rows.is_none_or(|rows| is_serious(source, rows, self.captured))
    }

    /// Whether a finding about slow requests may be wrong because of the loss.
    pub(crate) fn may_mislead(&self) -> bool {
        self.is_serious() && !NOT_JUDGED_BY.contains(&self.what.as_str())
    }
}

impl Coverage {
    pub(crate) fn load(engine: &Engine, gaps: Vec<Interval>) -> Result<Coverage, Error> {
        let mut coverage = Coverage { gaps, ..Coverage::default() };
        let rows = engine.sql(&query::ROW_COUNTS.fill(&[]))?;
        coverage.rows = rows.texts("name")?.into_iter().zip(rows.integers("rows")?).collect();
        let rows = engine.sql(&query::SOURCES.fill(&[]))?;
        let (node, lost, reason) = (rows.texts("node")?, rows.integers("lost")?, rows.texts("lost_reason")?);
        let captured = rows.integers("captured")?;
        let sources = rows.texts("source")?;
        // The recorder's rows are those of the other sources, counted again.
        let of_others = sources.iter().zip(&captured).filter(|(source, _)| *source != RECORDER);
        coverage.captured = of_others.map(|(_, captured)| captured).sum();
        // The manifest of a closed recording lists by table what the recorder had reported as a source.
        let mut named: i64 = engine
            .manifests()
            .iter()
            .flat_map(|manifest| &manifest.losses)
            // The recorder had written the rows that can't be read now.
            .filter(|loss| !engine.skipped().any(|skipped| skipped == *loss))
            .filter_map(|loss| i64::try_from(loss.rows?).ok())
            .sum();
        for (row, source) in sources.into_iter().enumerate() {
            let mut rows = lost[row];
            if source == RECORDER {
                (rows, named) = ((rows - named).max(0), (named - rows).max(0));
            }
            if rows > 0 {
                coverage.lost.push(Lost {
                    what: source.clone(),
                    node: node[row].clone(),
                    rows: Some(rows),
                    captured: captured[row],
                    reason: reason[row].clone(),
                    by_source: source != RECORDER,
                });
            }
            coverage.sources.insert(source);
        }
        let rows = engine.sql(&query::LEFT_OUT.fill(&[]))?;
        let times = rows.integers("start_ns")?.into_iter().zip(rows.integers("end_ns")?);
        let times = times.map(|(start, end)| Interval { start, end });
        coverage.left_out = times.zip(rows.texts("left_out")?).collect();
        for manifest in engine.manifests() {
            coverage.sources.extend(manifest.sources.iter().map(|source| source.name.clone()));
            coverage.lost.extend(manifest.losses.iter().map(|loss| Lost {
                what: loss.table.clone(),
                node: String::new(),
                rows: loss.rows.map(|rows| i64::try_from(rows).unwrap_or(i64::MAX)),
                captured:
                    manifest.tables.get(&loss.table).map_or(0, |facts| i64::try_from(facts.rows).unwrap_or(i64::MAX)),
                reason: loss.reason.clone(),
                by_source: false,
            }));
        }
        Ok(coverage)
    }

    /// Whether a table has rows.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.rows.get(name).is_some_and(|rows| *rows > 0)
    }

    /// Whether GC pauses would be in the recording if there had been any.
    pub(crate) fn has_pauses(&self) -> bool {
        self.has("pauses") || self.sources.contains("pauses")
    }

    /// Whether stalls of the load driver would be in the recording if there had been any.
    pub(crate) fn has_client_stalls(&self) -> bool {
        self.has("stalls of load") || self.sources.contains("stalls")
    }

    /// Pairs of data that was not recorded, and the conclusion that it rules out.
    pub(crate) fn missing(&self, provider: Provider) -> Vec<(&'static str, &'static str)> {
        let mut missing = Vec::new();
        let mut need = |there: bool, what, so| {
            if !there {
                missing.push((what, so));
            }
        };
        need(self.has_pauses(), "pauses", "GC and safepoints cannot be judged: attach the agent to the node");
        if provider == Provider::Load {
            let so = "the client can be neither blamed nor cleared";
            need(self.has_client_stalls(), "stalls of the load driver", so);
        }
        need(self.has("cpus"), "CPUs", "a busy machine cannot be told from an idle one");
        need(self.has("threads"), "threads", "CPU time cannot be split between server, load driver and others");
        need(
            self.has("pools"),
            "thread pools",
            "queues within the server cannot be seen: attach the agent to the node",
        );
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::is_serious;

    #[test]
    fn a_loss_that_changes_no_conclusion_is_not_serious() {
        assert!(!is_serious("threads", 0, 0) && !is_serious("threads", 1, 1716) && !is_serious("requests", 1, 1716));
        assert!(is_serious("pools", 20, 1700));
        // The loss changes which requests are the slowest percent.
        assert!(is_serious("requests", 5, 1700));
        // Of samples some may be missing.
        for samples in ["stacks", "cpus", "threads"] {
            assert!(!is_serious(samples, 36, 1400) && is_serious(samples, 200, 1400));
        }
        // Many rows of another source do not make up for the loss.
        assert!(is_serious("pauses", 5, 0));
    }
}
