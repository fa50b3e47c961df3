//! Reads requests of the load driver, or of the wire if there is no load driver. A request counts in the bin of its
//! response.

use super::Live;
use super::bin::{Cell, Requests, Slow};
use super::columns::{Integers, Numbers, Texts};
use super::names::Numbered;
use crate::engine::Provider;
use arrow::record_batch::RecordBatch;

/// The figures of one request, without names.
struct Row {
    start_ns: i64,
    end_ns: i64,
    weight: f64,
    client_port: Option<i64>,
    rows_returned: Option<i64>,
    request_bytes: Option<i64>,
    response_bytes: Option<i64>,
}

/// Names of the text columns.
struct Columns {
    statement: &'static str,
    client: &'static str,
    outcome: &'static str,
}

impl Live {
    pub(super) fn take_load(&mut self, rows: &RecordBatch) {
        if rows.num_rows() > 0 && self.provider != Some(Provider::Load) {
            // The wire has the same requests; they must not be counted twice.
            self.bins.all_mut().for_each(|bin| bin.requests = Requests::default());
            self.provider = Some(Provider::Load);
        }
        let (due, end) = (Integers::of(rows, "intended_start_ns"), Integers::of(rows, "end_ns"));
        let port = Integers::of(rows, "client_port");
        let (sent, answered) = (Integers::of(rows, "request_bytes"), Integers::of(rows, "response_bytes"));
        let columns = Columns { statement: "operation", client: "", outcome: "outcome" };
        self.take_requests(rows, &columns, |row| {
            Some(Row {
                start_ns: due.or_zero(row),
                end_ns: end.or_zero(row),
                weight: 1.0,
                client_port: port.get(row),
                rows_returned: None,
                request_bytes: sent.get(row),
                response_bytes: answered.get(row),
            })
        });
    }

    pub(super) fn take_wire(&mut self, rows: &RecordBatch) {
        if self.provider == Some(Provider::Load) {
            return;
        }
        if rows.num_rows() > 0 {
            self.provider.get_or_insert(Provider::Wire);
        }
        let (start, duration) = (Integers::of(rows, "start_ns"), Integers::of(rows, "duration_ns"));
        let (port, returned) = (Integers::of(rows, "client_port"), Integers::of(rows, "rows_returned"));
        let (sent, answered) = (Integers::of(rows, "request_bytes"), Integers::of(rows, "response_bytes"));
        let (weight, opcode) = (Numbers::of(rows, "weight"), Texts::of(rows, "opcode"));
        let columns = Columns { statement: "statement", client: "client", outcome: "error" };
        self.take_requests(rows, &columns, |row| {
            // The same condition as in the view `all_requests`.
            matches!(opcode.get(row), "QUERY" | "EXECUTE" | "BATCH").then(|| Row {
                start_ns: start.or_zero(row),
                end_ns: start.or_zero(row).saturating_add(duration.or_zero(row)),
                weight: weight.get(row).filter(|weight| (1.0..1e6).contains(weight)).unwrap_or(1.0),
                client_port: port.get(row),
                rows_returned: returned.get(row),
                request_bytes: sent.get(row),
                response_bytes: answered.get(row),
            })
        });
    }

    fn take_requests(&mut self, rows: &RecordBatch, columns: &Columns, read: impl Fn(usize) -> Option<Row>) {
        let Live { bins, names, .. } = self;
        let texts = [columns.statement, columns.client, "node", columns.outcome].map(|name| Texts::of(rows, name));
        let outcomes = &texts[3];
        let [mut statements, mut clients, mut nodes, mut outcome_numbers] = texts.each_ref().map(Numbered::new);
        for number in 0..rows.num_rows() {
            let Some(row) = read(number) else { continue };
            let place = bins.number_of(row.end_ns);
            let oldest = bins.oldest_with(place);
            let Some(bin) = bins.at(place) else { continue };
            let slow = Slow {
                start_ns: row.start_ns,
                duration_ns: row.end_ns.saturating_sub(row.start_ns).max(0),
                statement: statements.number(number, &mut names.statements, place, oldest),
                client: clients.number(number, &mut names.clients, place, oldest),
                node: nodes.number(number, &mut names.nodes, place, oldest),
                outcome: outcome_numbers.number(number, &mut names.outcomes, place, oldest),
                client_port: row.client_port.and_then(|port| u16::try_from(port).ok()).unwrap_or_default(),
                rows_returned: row.rows_returned,
                response_bytes: row.response_bytes,
            };
            let outcome = outcomes.get(number);
            bin.requests.add(slow.node, |requests| {
                requests.rows += 1;
                *requests.outcomes.entry(slow.outcome) += row.weight;
                requests.sum.count(&row, &slow, outcome);
                requests.statements.entry(slow.statement).count(&row, &slow, outcome);
                requests.clients.entry(slow.client).count(&row, &slow, outcome);
                requests.keep_slow(slow);
            });
        }
    }
}

/// Whether the request's time is a response time: it was answered or timed out.
fn is_timed(outcome: &str) -> bool {
    matches!(outcome, "" | "ok" | "timeout" | "write_timeout" | "read_timeout")
}

impl Cell {
    fn count(&mut self, row: &Row, slow: &Slow, outcome: &str) {
        self.requests += row.weight;
        if !matches!(outcome, "" | "ok") {
            self.errors += row.weight;
        }
        let sum = |value: Option<i64>| value.unwrap_or_default() as f64 * row.weight;
        self.total_ns += slow.duration_ns as f64 * row.weight;
        self.request_bytes += sum(row.request_bytes);
        self.response_bytes += sum(row.response_bytes);
        self.rows_returned += sum(row.rows_returned);
        if is_timed(outcome) {
            self.times.add(slow.duration_ns, row.weight as f32);
            self.max_ns = self.max_ns.max(slow.duration_ns);
        }
        if self.slowest.is_none_or(|slowest| slowest.duration_ns < slow.duration_ns) {
            self.slowest = Some(*slow);
        }
    }
}
