//! Reads rows about the machine: CPUs, threads, disks, and waits.

use super::answers::LiveGroup;
use super::bin::{Bin, GroupTime};
use super::columns::{Integers, Texts};
use super::names::{Names, Numbered};
use super::{AllNames, Live, LiveWindow, joined, parts};
use crate::engine::Provider;
use arrow::record_batch::RecordBatch;
use std::collections::BTreeMap;

impl Live {
    /// Passes each row to `each`, with the bin that holds the middle of the row's interval.
    fn take_intervals(&mut self, rows: &RecordBatch, mut each: impl FnMut(usize, &mut Bin, &mut AllNames, i64, i64)) {
        let (time, interval) = (Integers::of(rows, "time_ns"), Integers::of(rows, "interval_ns"));
        let Live { bins, names, .. } = self;
        for row in 0..rows.num_rows() {
            let middle_ns = time.or_zero(row).saturating_sub(interval.or_zero(row) / 2);
            let place = bins.number_of(middle_ns);
            let oldest = bins.oldest_with(place);
            if let Some(bin) = bins.at(place) {
                each(row, bin, names, place, oldest);
            }
        }
    }

    pub(super) fn take_cpus(&mut self, rows: &RecordBatch) {
        let column = |name| Integers::of(rows, name);
        let (user, system, iowait) = (column("user_ns"), column("system_ns"), column("iowait_ns"));
        let (irq, softirq, steal) = (column("irq_ns"), column("softirq_ns"), column("steal_ns"));
        let idle = column("idle_ns");
        self.take_intervals(rows, |row, bin, _, _, _| {
            let cpu = &mut bin.cpu;
            user.add(row, &mut cpu.user_ns);
            system.add(row, &mut cpu.system_ns);
            iowait.add(row, &mut cpu.iowait_ns);
            irq.add(row, &mut cpu.irq_ns);
            softirq.add(row, &mut cpu.irq_ns);
            steal.add(row, &mut cpu.steal_ns);
            idle.add(row, &mut cpu.idle_ns);
        });
    }

    pub(super) fn take_threads(&mut self, rows: &RecordBatch) {
        let column = |name| Integers::of(rows, name);
        let (cpu, queue, migrations) = (column("cpu_ns"), column("run_queue_ns"), column("migrations"));
        let (voluntary, involuntary) = (column("voluntary_switches"), column("involuntary_switches"));
        let text = |name| Texts::of(rows, name);
        let (node, process, group) = (text("node"), text("process"), text("thread_group"));
        let mut nodes = Numbered::new(&node);
        self.take_intervals(rows, |row, bin, names, place, oldest| {
            // A node of which nothing else is recorded has a number too.
            nodes.number(row, &mut names.nodes, place, oldest);
            let of_node = joined(process.get(row), group.get(row));
            let number = number_of_two(&mut names.groups, node.get(row), &of_node, place, oldest);
            let time = bin.groups.entry(number);
            cpu.add(row, &mut time.cpu_ns);
            queue.add(row, &mut time.run_queue_ns);
            migrations.add(row, &mut time.migrations);
            voluntary.add(row, &mut time.voluntary_switches);
            involuntary.add(row, &mut time.involuntary_switches);
        });
    }

    pub(super) fn take_disks(&mut self, rows: &RecordBatch) {
        let column = |name| Integers::of(rows, name);
        let (reads, read_bytes, read_ns) = (column("reads"), column("read_bytes"), column("read_ns"));
        let (writes, written_bytes, write_ns) = (column("writes"), column("written_bytes"), column("write_ns"));
        let busy = column("busy_ns");
        let devices = Texts::of(rows, "device");
        let mut devices = Numbered::new(&devices);
        self.take_intervals(rows, |row, bin, names, place, oldest| {
            let disk = bin.disks.entry(devices.number(row, &mut names.devices, place, oldest));
            reads.add(row, &mut disk.reads);
            read_bytes.add(row, &mut disk.read_bytes);
            read_ns.add(row, &mut disk.read_ns);
            writes.add(row, &mut disk.writes);
            written_bytes.add(row, &mut disk.written_bytes);
            write_ns.add(row, &mut disk.write_ns);
            busy.add(row, &mut disk.busy_ns);
        });
    }

    pub(super) fn take_pressure(&mut self, rows: &RecordBatch) {
        let (some, full) = (Integers::of(rows, "some_ns"), Integers::of(rows, "full_ns"));
        let resources = Texts::of(rows, "resource");
        let mut resources = Numbered::new(&resources);
        self.take_intervals(rows, |row, bin, names, place, oldest| {
            let pressure = bin.pressure.entry(resources.number(row, &mut names.resources, place, oldest));
            some.add(row, &mut pressure.some_ns);
            full.add(row, &mut pressure.full_ns);
        });
    }

    pub(super) fn take_node_pressure(&mut self, rows: &RecordBatch) {
        let column = |name| Integers::of(rows, name);
        let (throttled, faults) = (column("throttled_ns"), column("major_faults"));
        let again = column("retransmitted_segments");
        let nodes = Texts::of(rows, "node");
        let mut nodes = Numbered::new(&nodes);
        self.take_intervals(rows, |row, bin, names, place, oldest| {
            let pressure = bin.node_pressure.entry(nodes.number(row, &mut names.nodes, place, oldest));
            throttled.add(row, &mut pressure.throttled_ns);
            faults.add(row, &mut pressure.major_faults);
            again.add(row, &mut pressure.retransmitted_segments);
        });
    }

    pub(super) fn take_sources(&mut self, rows: &RecordBatch) {
        let column = |name| Integers::of(rows, name);
        let (captured, lost, cpu) = (column("captured"), column("lost"), column("cpu_ns"));
        let text = |name| Texts::of(rows, name);
        let (source, node, provider, reason) = (text("source"), text("node"), text("provider"), text("lost_reason"));
        let mut is_inside = false;
        self.take_intervals(rows, |row, bin, names, place, oldest| {
            is_inside |= source.get(row) == "wire" && provider.get(row) == "jvm";
            let number = number_of_two(&mut names.sources, source.get(row), node.get(row), place, oldest);
            let totals = bin.sources.entry(number);
            captured.add(row, &mut totals.captured);
            lost.add(row, &mut totals.lost);
            cpu.add(row, &mut totals.cpu_ns);
            if !reason.get(row).is_empty() {
                totals.lost_reason = reason.get(row).chars().take(200).collect();
            }
        });
        if is_inside && self.provider != Some(Provider::Load) {
            self.provider = Some(Provider::Jvm);
        }
    }
}

/// The number of an interned name that consists of two parts.
pub(super) fn number_of_two(names: &mut Names, first: &str, second: &str, bin: i64, oldest: i64) -> u16 {
    names.number(&joined(first, second), bin, oldest)
}

impl Live {
    /// Process and name of a thread group.
    pub(super) fn group_name(&self, number: u16) -> (&str, &str) {
        parts(parts(self.names.groups.name(number)).1)
    }

    /// Times by thread group and node.
    pub(super) fn group_times(&self, window: LiveWindow) -> BTreeMap<u16, GroupTime> {
        let mut sums: BTreeMap<u16, GroupTime> = BTreeMap::new();
        let is_shown = self.shown(window, &self.names.groups);
        let all = self.within(window).flat_map(|(_, bin)| bin.groups.iter());
        for (number, time) in all.filter(|(number, _)| is_shown(*number)) {
            sums.entry(*number).or_default().add(time);
        }
        sums
    }

    /// Thread groups that used CPU time, the busiest first.
    pub fn groups(&self, window: LiveWindow) -> Vec<LiveGroup> {
        let mut sums: BTreeMap<(&str, &str), GroupTime> = BTreeMap::new();
        for (number, time) in self.group_times(window) {
            sums.entry(self.group_name(number)).or_default().add(&time);
        }
        let covered_s = self.seconds(window);
        let named = sums.into_iter().map(|((process, group), sum)| LiveGroup {
            process: process.to_string(),
            group: group.to_string(),
            cpus: sum.cpu_ns as f64 / 1e9 / covered_s,
            waiting_cpus: sum.run_queue_ns as f64 / 1e9 / covered_s,
            migrations_per_s: sum.migrations as f64 / covered_s,
            voluntary_switches_per_s: sum.voluntary_switches as f64 / covered_s,
            involuntary_switches_per_s: sum.involuntary_switches as f64 / covered_s,
        });
        let mut groups: Vec<LiveGroup> = named.collect();
        groups.sort_by(|a, b| b.cpus.total_cmp(&a.cpus).then_with(|| a.group.cmp(&b.group)));
        groups
    }
}
