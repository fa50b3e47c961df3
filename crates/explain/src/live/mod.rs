//! Live figures: bins that are filled as the rows of a growing recording come, and the answers for any window of time.
//!
//! ```text
//! Tail ─ batches of each table ─▶ Live::take ─▶ bins of 1 s, the newest 900 ─▶ totals, series, statements, … of a window
//! ```
//!
//! Memory is bounded: there are limits on bins, on names, and on the data of each bin; names beyond the limit share the
//! name `(others)`. At the limits 900 bins take an estimated 150 MB; a node with ten statements, ten clients and a
//! hundred tables takes an estimated 20 MB. Where several nodes are recorded, the
//! requests of each take as much again.

mod answers;
mod bin;
mod columns;
mod condition;
mod files;
mod heat;
mod histogram;
mod machine;
mod names;
mod nodes;
mod overlap;
mod requests;
mod series;
mod server;
mod state;
#[cfg(test)]
mod tests;
mod totals;
mod traffic;
mod triggers;

pub use answers::{
    LiveCpu, LiveDisk, LiveDropped, LiveEvent, LiveFile, LiveGroup, LiveGroupSeries, LiveHeat, LiveNode, LiveOutcome,
    LiveOverlap, LivePause, LivePool, LivePressure, LiveSeries, LiveSlow, LiveSource, LiveTable, LiveTotals,
    LiveTraffic, LiveTrafficRow, LiveValve, LiveView, LiveWindow,
};
pub use condition::{BadCondition, Condition};
pub use traffic::LiveBy;
pub use triggers::Triggers;

use crate::engine::Provider;
use arrow::record_batch::RecordBatch;
use bin::{Bin, Bins};
use helenus_recording::Tail;
use names::Names;

/// Limits of the data in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveOptions {
    /// Length of a bin in ns.
    pub bin_ns: i64,
    /// The newest bins that are kept.
    pub bins: usize,
}

const SECOND_NS: i64 = 1_000_000_000;

impl Default for LiveOptions {
    /// The default: the newest 15 minutes in bins of one second.
    fn default() -> LiveOptions {
        LiveOptions { bin_ns: SECOND_NS, bins: 900 }
    }
}

impl LiveOptions {
    /// Limits for a whole recording whose time span is known: bins of whole seconds, at most the default number.
    pub fn over(from_ns: i64, to_ns: i64) -> LiveOptions {
        let LiveOptions { bin_ns, bins } = LiveOptions::default();
        let most = i64::try_from(bins).unwrap_or(1).saturating_sub(2).max(1);
        let seconds = to_ns.saturating_sub(from_ns).max(0) / bin_ns / most + 1;
        LiveOptions { bin_ns: bin_ns.saturating_mul(seconds), bins }
    }
}

/// The interned names.
#[derive(Debug)]
struct AllNames {
    statements: Names,
    clients: Names,
    nodes: Names,
    outcomes: Names,
    /// Node, process and thread group, joined by line feeds; so are the names of nodes' parts below. The limits are for six nodes
    /// on a machine.
    groups: Names,
    devices: Names,
    resources: Names,
    pools: Names,
    messages: Names,
    tables: Names,
    valves: Names,
    files: Names,
    sources: Names,
}

impl Default for AllNames {
    fn default() -> AllNames {
        AllNames {
            statements: Names::new(128),
            clients: Names::new(128),
            nodes: Names::new(32),
            outcomes: Names::new(32),
            groups: Names::new(512),
            devices: Names::new(32),
            resources: Names::new(8),
            pools: Names::new(256),
            messages: Names::new(256),
            tables: Names::new(512),
            valves: Names::new(64),
            files: Names::new(256),
            sources: Names::new(64),
        }
    }
}

/// Joins two parts into one name; [`parts`] splits it.
fn joined(first: &str, second: &str) -> String {
    format!("{first}\n{second}")
}

fn parts(name: &str) -> (&str, &str) {
    name.split_once('\n').unwrap_or(("", name))
}

/// The newest bins of a recording.
#[derive(Debug)]
pub struct Live {
    bins: Bins,
    names: AllNames,
    provider: Option<Provider>,
    /// Whether the recording has ended, so that its last bin is complete.
    is_over: bool,
}

impl Default for Live {
    fn default() -> Live {
        Live::new(LiveOptions::default())
    }
}

impl Live {
    pub fn new(options: LiveOptions) -> Live {
        Live {
            bins: Bins::new(options.bin_ns, options.bins),
            names: AllNames::default(),
            provider: None,
            is_over: false,
        }
    }

    /// The tables that live figures are computed from.
    pub const TABLES: [&'static str; 17] = [
        "requests",
        "wire",
        "cpus",
        "threads",
        "disks",
        "pressure",
        "node_pressure",
        "pauses",
        "stalls",
        "pools",
        "node_metrics",
        "table_stats",
        "valves",
        "events",
        "sources",
        "syscall_summary",
        "page_cache",
    ];

    /// Adds new rows of a table; texts may be dictionary-encoded. Other tables are ignored.
    pub fn take(&mut self, table: &str, rows: &RecordBatch) {
        match table {
            "requests" => self.take_load(rows),
            "wire" => self.take_wire(rows),
            "cpus" => self.take_cpus(rows),
            "threads" => self.take_threads(rows),
            "disks" => self.take_disks(rows),
            "pressure" => self.take_pressure(rows),
            "node_pressure" => self.take_node_pressure(rows),
            "pauses" => self.take_pauses(rows),
            "stalls" => self.take_stalls(rows),
            "pools" => self.take_pools(rows),
            "node_metrics" => self.take_node_metrics(rows),
            "table_stats" => self.take_table_stats(rows),
            "valves" => self.take_valves(rows),
            "events" => self.take_events(rows),
            "sources" => self.take_sources(rows),
            "syscall_summary" => self.take_syscall_summary(rows),
            "page_cache" => self.take_page_cache(rows),
            _ => {}
        }
    }

    /// Adds the rows that have come since the last call.
    pub fn follow<'t>(
        &mut self,
        tail: &mut Tail,
        tables: impl IntoIterator<Item = &'t str>,
    ) -> Result<(), helenus_recording::Error> {
        tail.follow(tables, |table, batch| self.take(table, batch))
    }

    /// Marks the recording as ended: no more rows come, and its last bin is complete.
    pub fn end(&mut self) {
        self.is_over = true;
    }

    /// The provider of the requests; None before the first one.
    pub fn provider(&self) -> Option<Provider> {
        self.provider
    }

    pub fn bin_s(&self) -> f64 {
        self.bins.length_ns as f64 / 1e9
    }

    /// Number of rows that came after their bin was dropped.
    pub fn too_late(&self) -> u64 {
        self.bins.too_late
    }

    /// The time that the bins cover. While the recording grows, the newest bin is left out, because its rows are still
    /// arriving. None before the first row.
    pub fn kept(&self) -> Option<LiveWindow> {
        let (from, to) = self.bins.span_ns()?;
        let to = if self.is_over { to } else { to.saturating_sub(self.bins.length_ns) };
        (from < to).then_some(LiveWindow::of_all(from, to))
    }

    /// The newest part of the time that the bins cover, with the given length.
    pub fn last(&self, seconds: u32) -> Option<LiveWindow> {
        let kept = self.kept()?;
        let from = kept.to_ns.saturating_sub(i64::from(seconds).saturating_mul(SECOND_NS));
        Some(LiveWindow { from_ns: from.max(kept.from_ns), ..kept })
    }

    /// The same window, with the figures of one node only. CPUs, disks and files are those of the machine. None if nothing was
    /// recorded of the node.
    pub fn of_node(&self, window: LiveWindow, node: &str) -> Option<LiveWindow> {
        Some(LiveWindow { node: Some(self.names.nodes.known(node)?), ..window })
    }

    /// Whether a window has the figures of a node.
    fn shows(&self, window: LiveWindow, node: &str) -> bool {
        window.node.is_none_or(|number| self.names.nodes.name(number) == node)
    }

    /// Which of the names that begin with a node a window shows, by their numbers.
    fn shown<'n>(&self, window: LiveWindow, names: &'n Names) -> impl Fn(u16) -> bool + use<'n> {
        let shown: Option<Vec<bool>> =
            window.node.map(|_| names.all().map(|name| self.shows(window, parts(name).0)).collect());
        move |number| shown.as_ref().is_none_or(|shown| shown.get(usize::from(number)).copied().unwrap_or(false))
    }

    /// The bins of a window, each with its start. Bins that begin before or after it are left out.
    fn within(&self, window: LiveWindow) -> impl DoubleEndedIterator<Item = (i64, &Bin)> {
        self.bins.within(window.from_ns, window.to_ns)
    }

    /// Seconds that the bins of a window cover.
    fn seconds(&self, window: LiveWindow) -> f64 {
        (self.within(window).count() as f64 * self.bin_s()).max(1e-9)
    }
}
