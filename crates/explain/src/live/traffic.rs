//! Requests of a window by statement, client or node, and the slowest of them.

use super::answers::{LiveSlow, LiveTraffic, LiveTrafficRow, seconds};
use super::bin::{Cell, Keyed, Requests, Slow};
use super::histogram::Sum;
use super::names::Names;
use super::{Live, LiveWindow};
use crate::percentiles::{Percentiles, ms};
use std::collections::BTreeMap;

/// The dimension by which requests are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveBy {
    Statement,
    Client,
    Node,
}

impl LiveBy {
    /// Passes the sums of a bin by name to `each`, of one node or of all.
    fn each_cell(self, requests: &Requests, node: Option<u16>, mut each: impl FnMut(u16, &Cell)) {
        let mut all = |cells: &Keyed<Cell>| cells.iter().for_each(|(number, cell)| each(*number, cell));
        match (self, requests.of(node)) {
            (_, None) => {}
            (LiveBy::Statement, Some(requests)) => all(&requests.statements),
            (LiveBy::Client, Some(requests)) => all(&requests.clients),
            (LiveBy::Node, Some(_)) => {
                let wanted = requests.by_node().filter(|(number, _)| node.is_none_or(|node| node == *number));
                wanted.for_each(|(number, requests)| each(number, &requests.sum));
            }
        }
    }

    fn names(self, live: &Live) -> &Names {
        match self {
            LiveBy::Statement => &live.names.statements,
            LiveBy::Client => &live.names.clients,
            LiveBy::Node => &live.names.nodes,
        }
    }
}

/// Sums per name.
#[derive(Debug, Default)]
pub(super) struct Added {
    pub(super) requests: f64,
    pub(super) errors: f64,
    pub(super) total_ns: f64,
    max_ns: i64,
    request_bytes: f64,
    response_bytes: f64,
    rows_returned: f64,
    times: Sum,
}

impl Added {
    pub(super) fn add(&mut self, cell: &Cell) {
        self.requests += cell.requests;
        self.errors += cell.errors;
        self.total_ns += cell.total_ns;
        self.max_ns = self.max_ns.max(cell.max_ns);
        self.request_bytes += cell.request_bytes;
        self.response_bytes += cell.response_bytes;
        self.rows_returned += cell.rows_returned;
        self.times.add(&cell.times);
    }

    pub(super) fn quantile_ms(&self, quantile: f64) -> Option<f64> {
        self.times.quantile_ms(quantile, self.max_ns)
    }

    pub(super) fn latency_ms(&self) -> Percentiles {
        let at = |quantile| self.quantile_ms(quantile);
        let max = at(1.0).map(|_| ms(self.max_ns));
        Percentiles { p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999), max }
    }
}

impl Live {
    /// Requests of a window by statement, client or node, those that took the most time in total first.
    pub fn traffic(&self, window: LiveWindow, by: LiveBy) -> LiveTraffic {
        let mut added: BTreeMap<u16, Added> = BTreeMap::new();
        for (_, bin) in self.within(window) {
            by.each_cell(&bin.requests, window.node, |number, cell| added.entry(number).or_default().add(cell));
        }
        let covered_s = self.seconds(window);
        let all_ns: f64 = added.values().map(|added| added.total_ns).sum();
        let row = |(number, added): (u16, Added)| LiveTrafficRow {
            name: by.names(self).name(number).to_string(),
            requests: added.requests,
            requests_per_s: added.requests / covered_s,
            errors: added.errors,
            time_share: if all_ns > 0.0 { added.total_ns / all_ns } else { 0.0 },
            // Mean number in flight by Little's law: time of all requests per second.
            in_flight: added.total_ns / 1e9 / covered_s,
            latency_ms: added.latency_ms(),
            request_bytes: added.request_bytes,
            response_bytes: added.response_bytes,
            rows_returned: added.rows_returned,
        };
        let mut rows: Vec<LiveTrafficRow> = added.into_iter().map(row).collect();
        rows.sort_by(|a, b| b.time_share.total_cmp(&a.time_share));
        LiveTraffic { from_s: window.from_s(), to_s: window.to_s(), rows }
    }

    /// The slowest requests of a window, the slowest first. Each bin keeps some, and the slowest of each statement,
    /// client and node. `of` limits them to one name.
    pub fn slowest(&self, window: LiveWindow, of: Option<(LiveBy, &str)>, most: usize) -> Vec<LiveSlow> {
        let wanted = match of {
            None => None,
            Some((by, name)) => match by.names(self).known(name) {
                Some(number) => Some((by, number)),
                None => return Vec::new(),
            },
        };
        let is_named = |slow: &Slow| match wanted {
            None => true,
            Some((LiveBy::Statement, number)) => slow.statement == number,
            Some((LiveBy::Client, number)) => slow.client == number,
            Some((LiveBy::Node, number)) => slow.node == number,
        };
        let is_wanted = |slow: &Slow| is_named(slow) && window.node.is_none_or(|node| node == slow.node);
        let mut slowest: Vec<Slow> = Vec::new();
        for (_, bin) in self.within(window) {
            let Some(requests) = bin.requests.of(window.node) else { continue };
            let cells = requests.statements.iter().chain(requests.clients.iter()).map(|(_, cell)| cell);
            let of_nodes = bin.requests.by_node().map(|(_, requests)| &requests.sum);
            let of_cells = cells.chain(of_nodes).filter_map(|cell| cell.slowest);
            slowest.extend(requests.slowest.iter().copied().chain(of_cells).filter(is_wanted));
        }
        slowest.sort_by_key(|slow| (-slow.duration_ns, slow.start_ns, slow.client_port, slow.statement));
        slowest.dedup();
        slowest.truncate(most);
        slowest.iter().map(|slow| self.named(slow)).collect()
    }

    fn named(&self, slow: &Slow) -> LiveSlow {
        LiveSlow {
            start_s: seconds(slow.start_ns),
            duration_ms: ms(slow.duration_ns),
            statement: self.names.statements.name(slow.statement).to_string(),
            client: self.names.clients.name(slow.client).to_string(),
            client_port: slow.client_port,
            node: self.names.nodes.name(slow.node).to_string(),
            outcome: self.outcome(slow.outcome),
            rows_returned: slow.rows_returned,
            response_bytes: slow.response_bytes,
        }
    }

    /// The wire reports only errors by name.
    pub(super) fn outcome(&self, number: u16) -> String {
        Some(self.names.outcomes.name(number)).filter(|name| !name.is_empty()).unwrap_or("ok").to_string()
    }
}
