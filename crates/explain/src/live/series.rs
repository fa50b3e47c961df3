//! Time series of a window.

use super::answers::{LiveCpu, LiveGroup, LiveGroupSeries, LiveSeries, seconds};
use super::bin::{Bin, Cell, CpuTime, StopKind};
use super::traffic::Added;
use super::{Live, LiveBy, LiveWindow};
use std::collections::BTreeMap;

/// The most thread groups with a series of their own.
const MOST_GROUPS: usize = 12;

/// Consecutive bins that are shown as one point.
pub(super) struct Merged<'a> {
    pub(super) from_s: f64,
    pub(super) bin_s: f64,
    pub(super) chunks: Vec<Vec<&'a Bin>>,
}

impl Live {
    /// The bins of a window in at most `most` chunks. Chunks begin at multiples of their length, so that points do not
    /// change while the window moves.
    pub(super) fn merged(&self, window: LiveWindow, most: usize) -> Merged<'_> {
        let most = i64::try_from(most.max(2)).unwrap_or(i64::MAX);
        let bins: Vec<(i64, &Bin)> = self.within(window).collect();
        let count = i64::try_from(bins.len()).unwrap_or(i64::MAX);
        // A window that begins and ends within chunks has two more chunks than the quotient.
        let fits = |each: &i64| *each == 1 && count <= most || count / each + 2 <= most;
        let each = [1, 2, 5, 10, 15, 30, 60].into_iter().find(fits).unwrap_or(count / (most - 1) + 1);
        let length_ns = self.bins.length_ns * each;
        let mut chunks: Vec<Vec<&Bin>> = Vec::new();
        let first = bins.first().map_or(0, |(start, _)| start.div_euclid(length_ns));
        for (start, bin) in bins {
            let place = usize::try_from(start.div_euclid(length_ns) - first).unwrap_or(0);
            chunks.resize_with(chunks.len().max(place + 1), Vec::new);
            chunks[place].push(bin);
        }
        Merged { from_s: seconds(first.saturating_mul(length_ns)), bin_s: length_ns as f64 / 1e9, chunks }
    }

    /// Sums over the requests of one name, or over all.
    pub(super) fn cell_of<'a>(&self, bin: &'a Bin, node: Option<u16>, of: Option<(LiveBy, &str)>) -> Option<&'a Cell> {
        let requests = bin.requests.of(node)?;
        match of {
            None => Some(&requests.sum),
            Some((LiveBy::Statement, name)) => requests.statements.get(self.names.statements.known(name)?),
            Some((LiveBy::Client, name)) => requests.clients.get(self.names.clients.known(name)?),
            Some((LiveBy::Node, name)) => {
                let number = self.names.nodes.known(name).filter(|number| node.is_none_or(|node| node == *number));
                Some(&bin.requests.of(Some(number?))?.sum)
            }
        }
    }

    /// Time series of a window, in at most `most` steps; `of` limits them to the requests of one name.
    pub fn series(&self, window: LiveWindow, most: usize, of: Option<(LiveBy, &str)>) -> LiveSeries {
        let merged = self.merged(window, most);
        let is_shown = self.shown(window, &self.names.pools);
        let mut series = LiveSeries { from_s: merged.from_s, bin_s: merged.bin_s, ..LiveSeries::default() };
        for bins in &merged.chunks {
            // The first and last chunk may be only partly within the window.
            let covered_s = (bins.len() as f64 * self.bin_s()).max(1e-9);
            let mut added = Added::default();
            bins.iter().filter_map(|bin| self.cell_of(bin, window.node, of)).for_each(|cell| added.add(cell));
            let latency = added.latency_ms();
            series.requests_per_s.push(added.requests / covered_s);
            series.errors_per_s.push(added.errors / covered_s);
            series.p50_ms.push(latency.p50);
            series.p99_ms.push(latency.p99);
            series.p999_ms.push(latency.p999);
            series.max_ms.push(latency.max);
            series.cpu.push(cpu(bins.iter().copied()));
            let sum = |value: &dyn Fn(&Bin) -> f64| bins.iter().map(|bin| value(bin)).sum::<f64>();
            series.gc_ms_per_s.push(sum(&|bin| bin.stopped(window.node).gc_ns as f64) / 1e6 / covered_s);
            series.safepoint_ms_per_s.push(sum(&|bin| bin.stopped(window.node).safepoint_ns as f64) / 1e6 / covered_s);
            series.stall_ms_per_s.push(sum(&|bin| stalled_ns(bin, window.node) as f64) / 1e6 / covered_s);
            let pools = bins.iter().flat_map(|bin| bin.pools.iter());
            let of_node = pools.filter(|(number, _)| is_shown(*number));
            let pending = of_node.map(|(_, pool)| pool.most_pending).max();
            series.pending.push(pending.unwrap_or_default() as f64);
            let disks = |value: &dyn Fn(&super::bin::Disk) -> i64| {
                sum(&|bin| bin.disks.iter().map(|(_, disk)| value(disk) as f64).sum()) / covered_s
            };
            series.read_bytes_per_s.push(disks(&|disk| disk.read_bytes));
            series.written_bytes_per_s.push(disks(&|disk| disk.written_bytes));
        }
        series.groups = self.group_series(&merged, window);
        series
    }

    fn group_series(&self, merged: &Merged<'_>, window: LiveWindow) -> Vec<LiveGroupSeries> {
        let numbers: Vec<u16> = self.group_times(window).into_keys().collect();
        let groups = self.groups(window).into_iter().take(MOST_GROUPS);
        let series = groups.map(|LiveGroup { process, group, .. }| {
            // The group of each node has a number of its own.
            let own = numbers.iter().copied().filter(|number| self.group_name(*number) == (&process, &group));
            let own: Vec<u16> = own.collect();
            let cpus = merged.chunks.iter().map(|bins| {
                let times = bins.iter().flat_map(|bin| own.iter().filter_map(|number| bin.groups.get(*number)));
                let used = times.map(|time| time.cpu_ns as f64).sum::<f64>();
                used / 1e9 / (bins.len() as f64 * self.bin_s()).max(1e-9)
            });
            LiveGroupSeries { cpus: cpus.collect(), process, group }
        });
        series.collect()
    }
}

/// How long the process of a node stalled, or those of all nodes together. A stall that was seen in several ways counts once.
fn stalled_ns(bin: &Bin, node: Option<u16>) -> i64 {
    let mut seen: BTreeMap<(u16, &str), i64> = BTreeMap::new();
    let of_node = bin.stops.iter().filter(|stop| node.is_none_or(|node| node == stop.node));
    for stop in of_node.filter(|stop| stop.kind == StopKind::ServerStall) {
        let sum = seen.entry((stop.node, &stop.what)).or_default();
        *sum = sum.saturating_add(stop.duration_ns);
    }
    let mut longest: BTreeMap<u16, i64> = BTreeMap::new();
    for ((node, _), sum) in seen {
        let most = longest.entry(node).or_default();
        *most = sum.max(*most);
    }
    longest.into_values().sum()
}

/// Shares of the CPUs' time; None without data.
pub(super) fn cpu<'a>(bins: impl Iterator<Item = &'a Bin>) -> Option<LiveCpu> {
    let mut sum = LiveCpu::default();
    for CpuTime { user_ns, system_ns, iowait_ns, irq_ns, steal_ns, idle_ns } in bins.map(|bin| bin.cpu) {
        sum.user += user_ns as f64;
        sum.system += system_ns as f64;
        sum.iowait += iowait_ns as f64;
        sum.irq += irq_ns as f64;
        sum.steal += steal_ns as f64;
        sum.idle += idle_ns as f64;
    }
    let all = sum.user + sum.system + sum.iowait + sum.irq + sum.steal + sum.idle;
    (all > 0.0).then(|| LiveCpu {
        user: sum.user / all,
        system: sum.system / all,
        iowait: sum.iowait / all,
        irq: sum.irq / all,
        steal: sum.steal / all,
        idle: sum.idle / all,
    })
}
