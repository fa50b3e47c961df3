//! The main figures of a window.

use super::answers::{LiveDisk, LiveEvent, LiveOutcome, LivePressure, LiveSource, LiveTotals, seconds};
use super::bin::{Disk, Pressure, SourceTotals};
use super::series::cpu;
use super::traffic::Added;
use super::{Live, LiveBy, LiveWindow, parts};
use crate::evidence::is_serious;
use std::collections::BTreeMap;

/// The number of events shown, newest first.
const MOST_EVENTS: usize = 100;

impl Live {
    /// The main figures, where those of requests are of one statement, client or node.
    pub fn totals_of(&self, window: LiveWindow, of: Option<(LiveBy, &str)>) -> LiveTotals {
        let mut totals = self.totals(window);
        let Some((by, name)) = of else { return totals };
        let rows = self.traffic(window, by).rows;
        let row = rows.into_iter().find(|row| row.name == name).unwrap_or_default();
        totals.requests = row.requests;
        totals.requests_per_s = row.requests_per_s;
        totals.errors = row.errors;
        totals.errors_per_s = row.errors / self.seconds(window);
        totals.latency_ms = row.latency_ms;
        totals.in_flight = row.in_flight;
        // Errors are counted by kind for all requests alone.
        totals.outcomes.clear();
        totals
    }

    pub fn totals(&self, window: LiveWindow) -> LiveTotals {
        let covered_s = self.seconds(window);
        let bins = || self.within(window).map(|(_, bin)| bin);
        let mut added = Added::default();
        let requests = || bins().filter_map(|bin| bin.requests.of(window.node));
        requests().for_each(|requests| added.add(&requests.sum));
        let rows: u64 = requests().map(|requests| requests.rows).sum();
        let sum = |value: &dyn Fn(&super::bin::Bin) -> f64| bins().map(value).sum::<f64>();
        let of_nodes = |value: &dyn Fn(&super::bin::NodePressure) -> i64| {
            let is_of = |number: u16| window.node.is_none_or(|node| node == number);
            let of = |bin: &super::bin::Bin| {
                let pressure = bin.node_pressure.iter().filter(|(number, _)| is_of(*number));
                pressure.map(|(_, pressure)| value(pressure) as f64).sum()
            };
            sum(&of)
        };
        let stopped = |bin: &super::bin::Bin| bin.stopped(window.node);
        LiveTotals {
            from_s: window.from_s(),
            to_s: window.to_s(),
            requests: added.requests,
            requests_per_s: added.requests / covered_s,
            errors: added.errors,
            errors_per_s: added.errors / covered_s,
            weight: if rows > 0 { added.requests / rows as f64 } else { 1.0 },
            latency_ms: added.latency_ms(),
            in_flight: added.total_ns / 1e9 / covered_s,
            outcomes: self.outcomes(window),
            cpu: cpu(bins()),
            collections_per_s: sum(&|bin| f64::from(stopped(bin).collections)) / covered_s,
            gc_share: sum(&|bin| stopped(bin).gc_ns as f64) / 1e9 / covered_s,
            safepoint_share: sum(&|bin| stopped(bin).safepoint_ns as f64) / 1e9 / covered_s,
            pressure: self.pressure(window),
            disks: self.disks(window),
            retransmitted_per_s: of_nodes(&|pressure| pressure.retransmitted_segments) / covered_s,
            major_faults_per_s: of_nodes(&|pressure| pressure.major_faults) / covered_s,
            throttled_cpus: of_nodes(&|pressure| pressure.throttled_ns) / 1e9 / covered_s,
            events: self.events(window),
            sources: self.sources(window),
        }
    }

    fn outcomes(&self, window: LiveWindow) -> Vec<LiveOutcome> {
        let mut counts: BTreeMap<u16, f64> = BTreeMap::new();
        for requests in self.within(window).filter_map(|(_, bin)| bin.requests.of(window.node)) {
            requests.outcomes.iter().for_each(|(number, count)| *counts.entry(*number).or_default() += count);
        }
        let named =
            counts.into_iter().map(|(number, requests)| LiveOutcome { outcome: self.outcome(number), requests });
        let mut outcomes: Vec<LiveOutcome> = named.filter(|one| one.outcome != "ok").collect();
        outcomes.sort_by(|a, b| b.requests.total_cmp(&a.requests));
        outcomes
    }

    fn pressure(&self, window: LiveWindow) -> Vec<LivePressure> {
        let mut sums: BTreeMap<u16, Pressure> = BTreeMap::new();
        for (number, pressure) in self.within(window).flat_map(|(_, bin)| bin.pressure.iter()) {
            let sum = sums.entry(*number).or_default();
            sum.some_ns = sum.some_ns.saturating_add(pressure.some_ns);
            sum.full_ns = sum.full_ns.saturating_add(pressure.full_ns);
        }
        let covered_ns = self.seconds(window) * 1e9;
        let named = sums.into_iter().map(|(number, sum)| LivePressure {
            resource: self.names.resources.name(number).to_string(),
            some_share: (sum.some_ns as f64 / covered_ns).min(1.0),
            full_share: (sum.full_ns as f64 / covered_ns).min(1.0),
        });
        let mut all: Vec<LivePressure> = named.collect();
        all.sort_by(|a, b| a.resource.cmp(&b.resource));
        all
    }

    fn disks(&self, window: LiveWindow) -> Vec<LiveDisk> {
        let mut sums: BTreeMap<u16, Disk> = BTreeMap::new();
        for (number, disk) in self.within(window).flat_map(|(_, bin)| bin.disks.iter()) {
            let sum = sums.entry(*number).or_default();
            sum.reads = sum.reads.saturating_add(disk.reads);
            sum.read_bytes = sum.read_bytes.saturating_add(disk.read_bytes);
            sum.read_ns = sum.read_ns.saturating_add(disk.read_ns);
            sum.writes = sum.writes.saturating_add(disk.writes);
            sum.written_bytes = sum.written_bytes.saturating_add(disk.written_bytes);
            sum.write_ns = sum.write_ns.saturating_add(disk.write_ns);
            sum.busy_ns = sum.busy_ns.saturating_add(disk.busy_ns);
        }
        let covered_s = self.seconds(window);
        let mean_ms = |ns: i64, count: i64| (count > 0).then(|| ns as f64 / 1e6 / count as f64);
        let named = sums.into_iter().map(|(number, sum)| LiveDisk {
            device: self.names.devices.name(number).to_string(),
            reads_per_s: sum.reads as f64 / covered_s,
            read_bytes_per_s: sum.read_bytes as f64 / covered_s,
            writes_per_s: sum.writes as f64 / covered_s,
            written_bytes_per_s: sum.written_bytes as f64 / covered_s,
            read_ms: mean_ms(sum.read_ns, sum.reads),
            write_ms: mean_ms(sum.write_ns, sum.writes),
            busy_share: (sum.busy_ns as f64 / 1e9 / covered_s).min(1.0),
        });
        let mut disks: Vec<LiveDisk> = named.collect();
        disks.sort_by(|a, b| b.busy_share.total_cmp(&a.busy_share).then_with(|| a.device.cmp(&b.device)));
        disks
    }

    /// The newest events of a window, oldest first.
    fn events(&self, window: LiveWindow) -> Vec<LiveEvent> {
        // Events of the machine have no node.
        let is_of =
            |number: u16| window.node.is_none_or(|node| node == number) || self.names.nodes.name(number).is_empty();
        let all = self.within(window).flat_map(|(_, bin)| &bin.events).filter(|event| is_of(event.node));
        let all: Vec<_> = all.collect();
        let newest = all.iter().skip(all.len().saturating_sub(MOST_EVENTS));
        let mut events: Vec<LiveEvent> = newest
            .map(|event| LiveEvent {
                time_s: seconds(event.time_ns),
                node: self.names.nodes.name(event.node).to_string(),
                kind: event.kind.clone(),
                what: event.what.clone(),
            })
            .collect();
        events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        events
    }

    fn sources(&self, window: LiveWindow) -> Vec<LiveSource> {
        let mut sums: BTreeMap<u16, SourceTotals> = BTreeMap::new();
        for (number, totals) in self.within(window).flat_map(|(_, bin)| bin.sources.iter()) {
            let sum = sums.entry(*number).or_default();
            sum.captured = sum.captured.saturating_add(totals.captured);
            sum.lost = sum.lost.saturating_add(totals.lost);
            sum.cpu_ns = sum.cpu_ns.saturating_add(totals.cpu_ns);
            if !totals.lost_reason.is_empty() {
                sum.lost_reason.clone_from(&totals.lost_reason);
            }
        }
        let covered_ns = self.seconds(window) * 1e9;
        let named = sums.into_iter().map(|(number, sum)| {
            let (source, node) = parts(self.names.sources.name(number));
            LiveSource {
                is_serious: is_serious(source, sum.lost, sum.captured),
                source: source.to_string(),
                node: node.to_string(),
                captured: sum.captured as f64,
                lost: sum.lost as f64,
                lost_reason: sum.lost_reason,
                cpus: sum.cpu_ns as f64 / covered_ns,
            }
        });
        // Sources of the machine have no node.
        let is_of = |source: &LiveSource| source.node.is_empty() || self.shows(window, &source.node);
        let mut sources: Vec<LiveSource> = named.filter(is_of).collect();
        sources.sort_by(|a, b| a.source.cmp(&b.source).then_with(|| a.node.cmp(&b.node)));
        sources
    }
}
