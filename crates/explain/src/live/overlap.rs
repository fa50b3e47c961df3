//! Pauses and stalls of a window, and the events and conditions that overlapped a request.

use super::answers::{LiveOverlap, LivePause, LiveSlow, seconds};
use super::bin::{Bin, Stop, StopKind};
use super::series::cpu;
use super::{Live, LiveWindow, parts};
use crate::percentiles::ms;
use crate::text;
use crate::timeline::Interval;
use helenus_notation::show_bytes;

/// CPUs or a disk that are busy for at least this share of a bin are listed.
const BUSY: f64 = 0.9;
/// Compactions are listed if they use at least this CPU time, in CPUs.
const COMPACTING_CPUS: f64 = 0.05;
/// An event at most this long before a request is listed.
const EVENT_BEFORE_NS: i64 = 1_000_000_000;
/// Times of requests are converted back from seconds, which are accurate to this.
const PRECISION_NS: i64 = 1000;

impl StopKind {
    fn name(self) -> &'static str {
        match self {
            StopKind::Gc => "gc",
            StopKind::Safepoint => "safepoint",
            StopKind::ServerStall => "server stall",
            StopKind::LoadStall => "driver stall",
        }
    }
}

impl Live {
    /// Stops of JVMs and stalls that begin in a window, the longest first. Each bin keeps its longest ones.
    pub fn pauses(&self, window: LiveWindow) -> Vec<LivePause> {
        let is_of = |stop: &&Stop| stop.kind == StopKind::LoadStall || window.node.is_none_or(|node| node == stop.node);
        let mut stops: Vec<&Stop> = self.within(window).flat_map(|(_, bin)| &bin.stops).filter(is_of).collect();
        stops.sort_by_key(|stop| (-stop.duration_ns, stop.start_ns, stop.kind));
        let pause = |stop: &Stop| LivePause {
            start_s: seconds(stop.start_ns),
            duration_ms: ms(stop.duration_ns),
            node: self.names.nodes.name(stop.node).to_string(),
            kind: stop.kind.name().to_string(),
            what: stop.what.clone(),
            cause: stop.cause.clone(),
            heap_before_bytes: stop.heap_before_bytes,
            heap_after_bytes: stop.heap_after_bytes,
        };
        stops.into_iter().map(pause).collect()
    }

    /// Everything that overlapped a request: stops and stalls of its node, full CPUs and disks, waiting tasks of pools,
    /// compactions, and events of logs just before it. The longest overlap comes first. An overlap alone is no cause: `explain`
    /// compares with the other requests.
    pub fn overlaps(&self, slow: &LiveSlow) -> Vec<LiveOverlap> {
        let start = (slow.start_s * 1e9) as i64;
        let request =
            Interval { start, end: start.saturating_add((slow.duration_ms * 1e6) as i64).saturating_add(PRECISION_NS) };
        let mut overlaps = Vec::new();
        let mut add = |what: String, interval: Interval| {
            let overlap_ns = interval.clip(request).length();
            if overlap_ns > 0 {
                overlaps.push(LiveOverlap {
                    what,
                    start_s: seconds(interval.start),
                    duration_ms: ms(interval.length()),
                    overlap_ms: ms(overlap_ns).min(slow.duration_ms),
                });
            }
        };
        // A stop is stored in the bin in which it began, which may be long before the request.
        let around = LiveWindow::of_all(request.start.saturating_sub(60_000_000_000), request.end);
        for stop in self.within(around).flat_map(|(_, bin)| &bin.stops) {
            let node = self.names.nodes.name(stop.node);
            if stop.kind == StopKind::LoadStall || node == slow.node {
                add(stop.text(), Interval::of_length(stop.start_ns, stop.duration_ns));
            }
        }
        let first_bin = request.start.div_euclid(self.bins.length_ns).saturating_mul(self.bins.length_ns);
        let during = LiveWindow::of_all(first_bin, request.end);
        for (bin_start, bin) in self.within(during) {
            let interval = Interval::of_length(bin_start, self.bins.length_ns);
            self.of_bin(bin, &slow.node).into_iter().for_each(|what| add(what, interval));
        }
        overlaps.sort_by(|a, b| b.overlap_ms.total_cmp(&a.overlap_ms).then(a.start_s.total_cmp(&b.start_s)));
        let before = LiveWindow { from_ns: first_bin.saturating_sub(EVENT_BEFORE_NS), ..during };
        for event in self.within(before).flat_map(|(_, bin)| &bin.events) {
            let is_near = (request.start.saturating_sub(EVENT_BEFORE_NS)..request.end).contains(&event.time_ns);
            if is_near && self.names.nodes.name(event.node) == slow.node {
                let what = format!("log: {}", event.what);
                overlaps.push(LiveOverlap { what, start_s: seconds(event.time_ns), duration_ms: 0.0, overlap_ms: 0.0 });
            }
        }
        overlaps
    }

    /// Conditions of a whole bin, one entry each: busy CPUs and disks, waiting tasks, compactions.
    fn of_bin(&self, bin: &Bin, node: &str) -> Vec<String> {
        let bin_ns = self.bins.length_ns as f64;
        let mut lines = Vec::new();
        if let Some(cpu) = cpu(std::iter::once(bin)).filter(|cpu| cpu.idle + cpu.iowait < 1.0 - BUSY) {
            lines.push(format!("CPUs {} busy", text::percent(1.0 - cpu.idle - cpu.iowait)));
        }
        for (number, disk) in bin.disks.iter().filter(|(_, disk)| disk.busy_ns as f64 / bin_ns >= BUSY) {
            let busy = text::percent((disk.busy_ns as f64 / bin_ns).min(1.0));
            lines.push(format!("disk {} {busy} busy", self.names.devices.name(*number)));
        }
        for (number, pool) in bin.pools.iter().filter(|(_, pool)| pool.most_pending > 0) {
            let (of, name) = parts(self.names.pools.name(*number));
            if of == node {
                let waiting = text::counted(usize::try_from(pool.most_pending).unwrap_or(0), "task", "tasks");
                lines.push(format!("{waiting} waited in {name}"));
            }
        }
        for (number, time) in bin.groups.iter() {
            let (of, _) = parts(self.names.groups.name(*number));
            let (_, group) = self.group_name(*number);
            let cpus = time.cpu_ns as f64 / bin_ns;
            if of == node && group.starts_with("CompactionExec") && cpus >= COMPACTING_CPUS {
                lines.push(format!("compactions used {cpus:.2} CPUs"));
            }
        }
        lines
    }
}

impl Stop {
    fn text(&self) -> String {
        let mut told = match self.kind {
            StopKind::Gc => format!("collection {}", self.what),
            StopKind::Safepoint => format!("safepoint {}", self.what),
            StopKind::ServerStall => format!("stall of the server ({})", self.what),
            StopKind::LoadStall => format!("stall of the driver ({})", self.what),
        };
        if !self.cause.is_empty() {
            told.push_str(&format!(" ({})", self.cause));
        }
        if let (Some(before), Some(after)) = (self.heap_before_bytes, self.heap_after_bytes) {
            let bytes = |bytes: i64| show_bytes(u64::try_from(bytes).unwrap_or(0));
            told.push_str(&format!(", heap {} to {}", bytes(before), bytes(after)));
        }
        told
    }
}
