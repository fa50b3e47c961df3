//! Waits until the trial nodes have nothing left to compact, and checks the disk space meanwhile.

use super::nodes::TrialNode;
use super::room::Room;
use super::{Error, Progress, TableName};
use helenus_cassandra::Cancel;
use helenus_control::Figures;
use helenus_notation::show_bytes as bytes;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(1);
/// If this many polls in a row find nothing to compact, the wait ends; the node's estimate lags behind.
const STEADY_READINGS: u32 = 4;
/// Polls in a row without progress that end the wait too, even if the node's estimate is not 0.
const IDLE_READINGS: u32 = 30;
/// Cassandra's log messages about a compaction that it skips for lack of disk space.
const NO_ROOM: [&str; 3] = ["Not enough space for compaction", "No space left on device", "insufficient disk space"];

/// A trial node that is waited for.
struct Waited<'s> {
    trial_node: &'s mut TrialNode,
    before: Figures,
    now: Figures,
    steady: u32,
    idle: u32,
    /// The time since which it has nothing left to compact.
    at_rest: Option<Duration>,
    log_read: u64,
}

/// The state of a trial node after compaction.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Settled {
    /// Nothing was left to compact.
    pub settled: bool,
    pub sstables_before: i64,
    pub sstables: i64,
    pub live_disk_bytes: i64,
    pub droppable_ratio: Option<f64>,
    /// Bytes that its compactions have written.
    pub compacted_bytes: i64,
    /// Time until nothing was left, while the other nodes compacted as well; None if something was left.
    pub compacted_s: Option<f64>,
}

/// Lets all trial nodes compact, in parallel, until nothing is left or the time is over.
///
/// # Errors
/// [`Error::DiskLow`], [`Error::CannotCompact`], [`Error::Ended`], [`Error::Cancelled`].
pub(super) fn settle(
    trial_nodes: &mut [TrialNode],
    table: &TableName,
    (within, folder): (Duration, &Path),
    tell: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<Vec<Settled>, Error> {
    let name = table.to_string();
    let mut all = Vec::new();
    for trial_node in trial_nodes {
        let before = trial_node.link.table_figures(&name)?;
        let log_read = std::fs::metadata(&trial_node.node.log).map_or(0, |facts| facts.len());
        all.push(Waited { trial_node, now: before.clone(), before, steady: 0, idle: 0, at_rest: None, log_read });
    }
    for waited in &mut all {
        waited.trial_node.link.compact(&name, waited.trial_node.compacts)?;
    }
    let begun = Instant::now();
    let mut next_report = Duration::ZERO;
    while all.iter().any(|waited| waited.steady < STEADY_READINGS) && begun.elapsed() < within {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        super::rest(EVERY, cancel);
        Room::watch(folder)?;
        for waited in &mut all {
            waited.read(&name, begun.elapsed())?;
        }
        let text = all.iter().map(|waited| waited.text(begun.elapsed())).collect::<Vec<_>>().join("; ");
        // Reported often on a terminal, and rarely in a log.
        if begun.elapsed() >= next_report {
            next_report = begun.elapsed() * 2;
            tell(Progress::Step(text));
        } else {
            tell(Progress::Live(text));
        }
    }
    Ok(all.iter().map(Waited::outcome).collect())
}

impl Waited<'_> {
    fn read(&mut self, table: &str, after: Duration) -> Result<(), Error> {
        self.trial_node.is_alive()?;
        let written = self.written();
        self.now = self.trial_node.link.table_figures(table).map_err(|error| match self.trial_node.is_alive() {
            Err(ended) => ended,
            Ok(()) => error.into(),
        })?;
        if let Some(reason) = self.cannot() {
            return Err(Error::CannotCompact { name: self.trial_node.name.clone(), reason });
        }
        let idle = self.now.running.is_empty() && self.written() == written;
        self.idle = if idle { self.idle + 1 } else { 0 };
        if self.now.is_settled() || self.idle >= IDLE_READINGS {
            self.steady += 1;
            self.at_rest.get_or_insert(after);
        } else {
            (self.steady, self.at_rest) = (0, None);
        }
        Ok(())
    }

    /// A log line since the last poll that reports a compaction without disk space.
    fn cannot(&mut self) -> Option<String> {
        let mut log = std::fs::File::open(&self.trial_node.node.log).ok()?;
        log.seek(SeekFrom::Start(self.log_read)).ok()?;
        let mut text = Vec::new();
        self.log_read += log.read_to_end(&mut text).ok()? as u64;
        let text = String::from_utf8_lossy(&text);
        text.lines().find(|line| NO_ROOM.iter().any(|sign| line.contains(sign))).map(|line| line.trim().to_string())
    }

    fn written(&self) -> i64 {
        let of = |figures: &Figures| figures.bytes_compacted.unwrap_or(0);
        of(&self.now) - of(&self.before)
    }

    fn text(&self, after: Duration) -> String {
        let now = &self.now;
        let is = format!("{} SSTables, {}", now.sstables.unwrap_or(0), bytes(now.live_disk_bytes.unwrap_or(0)));
        if let Some(at_rest) = self.at_rest {
            return format!("{}: at rest after {:.0} s, {is}", self.trial_node.name, at_rest.as_secs_f64());
        }
        let (done, total) = now.compacted_bytes();
        let pending = now.pending_compactions.unwrap_or(0);
        let rate = (self.written() + done) as f64 / after.as_secs_f64().max(1.0);
        let left = match (total - done) as f64 / rate {
            left if left.is_finite() && left > 0.0 => format!(", {left:.0} s or more to go"),
            _ => String::new(),
        };
        format!(
            "{}: {} compacting, {} of {}, {pending} to come, {is}{left}",
            self.trial_node.name,
            now.running.len(),
            bytes(done),
            bytes(total)
        )
    }

    fn outcome(&self) -> Settled {
        Settled {
            settled: self.steady >= STEADY_READINGS,
            sstables_before: self.before.sstables.unwrap_or(0),
            sstables: self.now.sstables.unwrap_or(0),
            live_disk_bytes: self.now.live_disk_bytes.unwrap_or(0),
            droppable_ratio: self.now.droppable_ratio,
            compacted_bytes: self.written(),
            compacted_s: self.at_rest.map(|at_rest| at_rest.as_secs_f64()),
        }
    }
}
