//! Where the time of requests went, measured at both ends of the wire: before the driver sent them, in the node, or
//! between both.

use crate::Error;
use crate::association::Judged;
use crate::engine::Engine;
use crate::query::{self, Value};
use crate::timeline::Interval;
use serde::Serialize;
use std::collections::HashMap;

/// Where the slow requests and the others spent their time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Origin {
    pub(crate) slow: Split,
    pub(crate) others: Split,
    /// Mean times of all requests as each side measured them; None if the node's agent did not report any.
    pub(crate) sides: Option<Sides>,
}

/// How long requests took on each side, for those that ended in the same time. The coordinator reports only sums, so
/// all figures are means.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Sides {
    /// Mean response time: from when the request was due.
    pub(crate) response: Side,
    /// Mean time from when the driver sent the request.
    pub(crate) service: Side,
    /// Mean time in the node: from when the request arrived until its answer left.
    pub(crate) wire: Side,
    /// Mean time in the node's coordinator, without waiting for a thread and without decoding and encoding the message.
    pub(crate) coordinator: Side,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Side {
    pub(crate) requests: i64,
    pub(crate) mean_ms: f64,
}

/// Where the time of some requests went.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Split {
    pub(crate) requests: i64,
    /// Number of requests that were seen on the wire; all further fields are about these.
    pub(crate) on_the_wire: i64,
    /// Time from when the request was due until the driver sent it.
    pub(crate) before: Part,
    /// Time in the node: from when the request arrived until its answer left.
    pub(crate) in_node: Part,
    /// The remaining time: the driver's own time, its pauses, and the network.
    pub(crate) between: Part,
    pub(crate) in_node_max_ms: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Part {
    pub(crate) median_ms: f64,
    pub(crate) mean_ms: f64,
    /// This part's share of the total time of all requests. Parts are compared by means, because means add up to the
    /// total and medians do not.
    pub(crate) share: f64,
}

impl Origin {
    /// Returns None if no request was recorded on both sides.
    pub(crate) fn load(engine: &Engine, judged: &Judged, window: Interval) -> Result<Option<Origin>, Error> {
        let due = judged.due();
        let values = [
            ("start_ns", Value::Integer(window.start)),
            ("end_ns", Value::Integer(window.end)),
            ("threshold_ns", Value::Integer(judged.threshold_ns)),
            ("judged", Value::Condition(&due)),
        ];
        let rows = engine.sql(&query::ORIGIN.fill(&values))?;
        let mut origin = Origin { slow: Split::default(), others: Split::default(), sides: None };
        let numbers = |column| rows.numbers(column);
        let medians = [numbers("before_p50_ms")?, numbers("in_node_p50_ms")?, numbers("between_p50_ms")?];
        let sums = [numbers("before_ms")?, numbers("in_node_ms")?, numbers("between_ms")?];
        let (requests, on_the_wire) = (rows.integers("requests")?, rows.integers("on_the_wire")?);
        let longest = numbers("in_node_max_ms")?;
        for (row, is_slow) in rows.booleans("is_slow")?.into_iter().enumerate() {
            let total: f64 = sums.iter().map(|sum| sum[row]).sum();
            let part = |which: usize| Part {
                median_ms: medians[which][row],
                mean_ms: sums[which][row] / on_the_wire[row].max(1) as f64,
                share: if total > 0.0 { sums[which][row] / total } else { 0.0 },
            };
            let split = Split {
                requests: requests[row],
                on_the_wire: on_the_wire[row],
                before: part(0),
                in_node: part(1),
                between: part(2),
                in_node_max_ms: longest[row],
            };
            if is_slow {
                origin.slow = split;
            } else {
                origin.others = split;
            }
        }
        if origin.slow.on_the_wire + origin.others.on_the_wire == 0 {
            return Ok(None);
        }
        origin.sides = Sides::load(engine, window)?;
        Ok(Some(origin))
    }
}

/// How long a request was in the node, and how long between driver and node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnTheWire {
    pub(crate) in_node_ns: i64,
    pub(crate) between_ns: i64,
}

/// The slow requests that were seen on the wire, by when they were due and answered.
pub(crate) fn times_of_slow(
    engine: &Engine,
    judged: &Judged,
    window: Interval,
) -> Result<HashMap<(i64, i64), OnTheWire>, Error> {
    let due = judged.due();
    let values = [
        ("start_ns", Value::Integer(window.start)),
        ("end_ns", Value::Integer(window.end)),
        ("threshold_ns", Value::Integer(judged.threshold_ns)),
        ("judged", Value::Condition(&due)),
    ];
    let rows = engine.sql(&query::SLOW_ON_THE_WIRE.fill(&values))?;
    let (due, end) = (rows.integers("intended_start_ns")?, rows.integers("end_ns")?);
    let (in_node, between) = (rows.integers("in_node_ns")?, rows.integers("between_ns")?);
    let on_the_wire = |row: usize| OnTheWire { in_node_ns: in_node[row], between_ns: between[row] };
    Ok((0..rows.rows()).map(|row| ((due[row], end[row]), on_the_wire(row))).collect())
}

impl Sides {
    fn load(engine: &Engine, window: Interval) -> Result<Option<Sides>, Error> {
        let values = [("start_ns", Value::Integer(window.start)), ("end_ns", Value::Integer(window.end))];
        let rows = engine.sql(&query::SIDES.fill(&values))?;
        let (names, requests, total_ms) = (rows.texts("side")?, rows.integers("requests")?, rows.numbers("total_ms")?);
        let side = |wanted: &str| {
            let row = names.iter().position(|name| name == wanted)?;
            (requests[row] > 0).then(|| Side { requests: requests[row], mean_ms: total_ms[row] / requests[row] as f64 })
        };
        let all = (side("response"), side("service"), side("wire"), side("coordinator"));
        let (Some(response), Some(service), Some(wire), Some(coordinator)) = all else { return Ok(None) };
        Ok(Some(Sides { response, service, wire, coordinator }))
    }
}
