//! Reads rows about the nodes: pauses, stalls, pools, dropped messages, tables, valves, and events of their logs.

use super::bin::{Bin, Happened, PoolReading, Stop, StopKind, TableReading, ValveReading};
use super::columns::{Integers, Numbers, Texts};
use super::machine::number_of_two;
use super::names::{Numbered, OTHERS};
use super::{AllNames, Live};
use arrow::record_batch::RecordBatch;

/// Texts are cut to this many characters.
const LONGEST_TEXT: usize = 300;

fn kept(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

impl Live {
    /// Passes each row to `each`, with the bin that holds the row's time.
    fn take_moments(
        &mut self,
        rows: &RecordBatch,
        time: &str,
        mut each: impl FnMut(usize, i64, &mut Bin, &mut AllNames, i64, i64),
    ) {
        let time = Integers::of(rows, time);
        let Live { bins, names, .. } = self;
        for row in 0..rows.num_rows() {
            let time_ns = time.or_zero(row);
            let place = bins.number_of(time_ns);
            let oldest = bins.oldest_with(place);
            if let Some(bin) = bins.at(place) {
                each(row, time_ns, bin, names, place, oldest);
            }
        }
    }

    pub(super) fn take_pauses(&mut self, rows: &RecordBatch) {
        let text = |name| Texts::of(rows, name);
        let (kind, phase, collector, cause) = (text("kind"), text("phase"), text("collector"), text("cause"));
        let column = |name| Integers::of(rows, name);
        let (duration, before, after) =
            (column("duration_ns"), column("heap_before_bytes"), column("heap_after_bytes"));
        let nodes = text("node");
        let mut nodes = Numbered::new(&nodes);
        self.take_moments(rows, "start_ns", |row, start_ns, bin, names, place, oldest| {
            let duration_ns = duration.or_zero(row).max(0);
            let kind = match kind.get(row) {
                // A pause also has a row for each of its phases, which is skipped.
                "gc" if phase.get(row).is_empty() => StopKind::Gc,
                "safepoint" => StopKind::Safepoint,
                _ => return,
            };
            let node = nodes.number(row, &mut names.nodes, place, oldest);
            let stopped = bin.stopped.entry(node);
            match kind {
                StopKind::Gc => {
                    stopped.gc_ns = stopped.gc_ns.saturating_add(duration_ns);
                    stopped.collections += 1;
                }
                _ => stopped.safepoint_ns = stopped.safepoint_ns.saturating_add(duration_ns),
            }
            bin.keep_stop(Stop {
                start_ns,
                duration_ns,
                node,
                kind,
                what: kept(collector.get(row)),
                cause: kept(cause.get(row)),
                heap_before_bytes: before.get(row),
                heap_after_bytes: after.get(row),
            });
        });
    }

    pub(super) fn take_stalls(&mut self, rows: &RecordBatch) {
        let (side, what, nodes) = (Texts::of(rows, "side"), Texts::of(rows, "kind"), Texts::of(rows, "node"));
        let duration = Integers::of(rows, "duration_ns");
        let mut nodes = Numbered::new(&nodes);
        self.take_moments(rows, "start_ns", |row, start_ns, bin, names, place, oldest| {
            let kind = match side.get(row) {
                "server" => StopKind::ServerStall,
                "load" => StopKind::LoadStall,
                _ => return,
            };
            bin.keep_stop(Stop {
                start_ns,
                duration_ns: duration.or_zero(row).max(0),
                node: nodes.number(row, &mut names.nodes, place, oldest),
                kind,
                what: kept(what.get(row)),
                cause: String::new(),
                heap_before_bytes: None,
                heap_after_bytes: None,
            });
        });
    }

    pub(super) fn take_pools(&mut self, rows: &RecordBatch) {
        let column = |name| Integers::of(rows, name);
        let (active, pending, blocked) = (column("active"), column("pending"), column("blocked"));
        let (completed, total_blocked, max_size) = (column("completed"), column("total_blocked"), column("max_size"));
        let (node, pool) = (Texts::of(rows, "node"), Texts::of(rows, "pool"));
        let mut nodes = Numbered::new(&node);
        self.take_moments(rows, "time_ns", |row, time_ns, bin, names, place, oldest| {
            // A node without requests has a number too.
            nodes.number(row, &mut names.nodes, place, oldest);
            let number = number_of_two(&mut names.pools, node.get(row), pool.get(row), place, oldest);
            let reading = bin.pools.entry(number);
            *reading = PoolReading {
                time_ns,
                active: active.or_zero(row),
                pending: pending.or_zero(row),
                blocked: blocked.or_zero(row),
                completed: completed.or_zero(row),
                total_blocked: total_blocked.or_zero(row),
                max_size: max_size.get(row),
                most_active: reading.most_active.max(active.or_zero(row)),
                most_pending: reading.most_pending.max(pending.or_zero(row)),
            };
        });
    }

    pub(super) fn take_node_metrics(&mut self, rows: &RecordBatch) {
        let text = |name| Texts::of(rows, name);
        let (node, kind, scope, attribute) = (text("node"), text("kind"), text("scope"), text("attribute"));
        let value = Integers::of(rows, "value");
        self.take_moments(rows, "time_ns", |row, _, bin, names, place, oldest| {
            if kind.get(row) == "DroppedMessage" && attribute.get(row) == "Count" {
                let number = number_of_two(&mut names.messages, node.get(row), scope.get(row), place, oldest);
                // Counters of several messages would not add up.
                if number != OTHERS {
                    *bin.dropped.entry(number) = value.or_zero(row);
                }
            }
        });
    }

    pub(super) fn take_table_stats(&mut self, rows: &RecordBatch) {
        let column = |name| Integers::of(rows, name);
        let (reads, writes) = (column("reads"), column("writes"));
        let (read_total, write_total) = (column("read_total_ns"), column("write_total_ns"));
        let (sstables, disk, memtable) = (column("sstables"), column("live_disk_bytes"), column("memtable_bytes"));
        let (pending, running) = (column("pending_compactions"), column("running_compactions"));
        let (compacting, compacted) = (column("compacting_bytes"), column("compacted_bytes"));
        let (per_read, tombstones) =
            (Numbers::of(rows, "sstables_per_read_p95"), Numbers::of(rows, "tombstones_per_slice_p95"));
        let text = |name| Texts::of(rows, name);
        let (node, keyspace, table) = (text("node"), text("keyspace"), text("table_name"));
        self.take_moments(rows, "time_ns", |row, time_ns, bin, names, place, oldest| {
            let full = format!("{}.{}", keyspace.get(row), table.get(row));
            let number = number_of_two(&mut names.tables, node.get(row), &full, place, oldest);
            *bin.tables.entry(number) = TableReading {
                time_ns,
                reads: reads.get(row),
                writes: writes.get(row),
                read_total_ns: read_total.get(row),
                write_total_ns: write_total.get(row),
                sstables: sstables.get(row),
                live_disk_bytes: disk.get(row),
                memtable_bytes: memtable.get(row),
                pending_compactions: pending.get(row),
                running_compactions: running.get(row),
                compacting_bytes: compacting.get(row),
                compacted_bytes: compacted.get(row),
                sstables_per_read_p95: per_read.get(row),
                tombstones_per_slice_p95: tombstones.get(row),
            };
        });
    }

    pub(super) fn take_valves(&mut self, rows: &RecordBatch) {
        let column = |name| Integers::of(rows, name);
        let (next, refused, interval) = (column("next_limit"), column("refused"), column("interval_ns"));
        let (mean, p99) = (column("mean_ns"), column("p99_ns"));
        let number = |name| Numbers::of(rows, name);
        let (in_flight, waiting, rate) = (number("in_flight"), number("waiting"), number("throughput_per_s"));
        let text = |name| Texts::of(rows, name);
        let (node, valve, law) = (text("node"), text("valve"), text("law"));
        let (state, reason) = (text("state"), text("reason"));
        self.take_moments(rows, "time_ns", |row, time_ns, bin, names, place, oldest| {
            let number = number_of_two(&mut names.valves, node.get(row), valve.get(row), place, oldest);
            let reading = bin.valves.entry(number);
            *reading = ValveReading {
                time_ns,
                interval_ns: interval.or_zero(row),
                next_limit: next.get(row),
                in_flight: in_flight.get(row).unwrap_or_default(),
                waiting: waiting.get(row).unwrap_or_default(),
                throughput_per_s: rate.get(row).unwrap_or_default(),
                mean_ns: mean.get(row),
                p99_ns: p99.get(row),
                refused: reading.refused.saturating_add(refused.or_zero(row)),
                law: kept(law.get(row)),
                state: kept(state.get(row)),
                reason: kept(reason.get(row)),
            };
        });
    }

    pub(super) fn take_events(&mut self, rows: &RecordBatch) {
        let (kind, what, nodes) = (Texts::of(rows, "kind"), Texts::of(rows, "what"), Texts::of(rows, "node"));
        let mut nodes = Numbered::new(&nodes);
        self.take_moments(rows, "time_ns", |row, time_ns, bin, names, place, oldest| {
            bin.keep_event(Happened {
                time_ns,
                node: nodes.number(row, &mut names.nodes, place, oldest),
                kind: kept(kind.get(row)),
                what: kept(what.get(row)),
            });
        });
    }
}
