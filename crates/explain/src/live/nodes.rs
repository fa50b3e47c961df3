//! One row per node.

use super::answers::{LiveNode, LiveTable};
use super::{Live, LiveWindow, parts};
use std::collections::BTreeSet;

impl Live {
    /// The nodes of which something was recorded in a window.
    pub fn node_names(&self, window: LiveWindow) -> BTreeSet<&str> {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for (_, bin) in self.within(window) {
            let of_requests = bin.requests.by_node().map(|(number, _)| number);
            let of_pressure = bin.node_pressure.iter().map(|(number, _)| *number);
            let numbers = of_requests.chain(of_pressure).chain(bin.stopped.iter().map(|(number, _)| *number));
            names.extend(numbers.map(|number| self.names.nodes.name(number)));
            names.extend(bin.pools.iter().map(|(number, _)| parts(self.names.pools.name(*number)).0));
            names.extend(bin.groups.iter().map(|(number, _)| parts(self.names.groups.name(*number)).0));
        }
        names.retain(|name| !name.is_empty());
        names
    }

    /// A row for each node of which something was recorded in a window, by name.
    pub fn nodes(&self, window: LiveWindow) -> Vec<LiveNode> {
        let windows = self.node_names(window).into_iter().filter_map(|name| Some((name, self.of_node(window, name)?)));
        let wanted = windows.filter(|(_, of)| window.node.is_none_or(|node| Some(node) == of.node));
        wanted.map(|(name, of)| self.node(name, of)).collect()
    }

    fn node(&self, name: &str, window: LiveWindow) -> LiveNode {
        let totals = self.totals(window);
        let tables = self.tables(window);
        let pools = self.pools(window);
        let groups = self.groups(window);
        let fullest = pools.iter().max_by_key(|pool| pool.most_pending).filter(|pool| pool.most_pending > 0);
        let added = |value: fn(&LiveTable) -> Option<i64>| tables.iter().filter_map(value).reduce(i64::saturating_add);
        let rate = |value: fn(&LiveTable) -> Option<f64>| tables.iter().filter_map(value).reduce(|sum, one| sum + one);
        LiveNode {
            node: name.to_string(),
            requests_per_s: totals.requests_per_s,
            errors: totals.errors,
            latency_ms: totals.latency_ms,
            in_flight: totals.in_flight,
            cpus: groups.iter().map(|group| group.cpus).reduce(|sum, one| sum + one),
            gc_share: totals.gc_share,
            safepoint_share: totals.safepoint_share,
            fullest_pool: fullest.map_or(String::new(), |pool| pool.pool.clone()),
            most_pending: fullest.map_or(0, |pool| pool.most_pending),
            dropped: self.dropped(window).iter().map(|one| one.dropped).sum(),
            reads_per_s: rate(|table| table.reads_per_s),
            writes_per_s: rate(|table| table.writes_per_s),
            local_read_us: mean_us(&tables, |table| Some((table.local_read_us?, table.reads_per_s?))),
            local_write_us: mean_us(&tables, |table| Some((table.local_write_us?, table.writes_per_s?))),
            pending_compactions: added(|table| table.pending_compactions),
            running_compactions: added(|table| table.running_compactions),
            live_disk_bytes: added(|table| table.live_disk_bytes),
        }
    }
}

/// The mean over tables, weighted by their rates.
fn mean_us(tables: &[LiveTable], of: fn(&LiveTable) -> Option<(f64, f64)>) -> Option<f64> {
    let known: Vec<(f64, f64)> = tables.iter().filter_map(of).collect();
    let rate: f64 = known.iter().map(|(_, rate)| rate).sum();
    (rate > 0.0).then(|| known.iter().map(|(us, rate)| us * rate).sum::<f64>() / rate)
}
