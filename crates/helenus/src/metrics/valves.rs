//! Metrics of a node's valves while they are watched.

use super::{Measured, family};
use helenus_control::{Valve, Window};
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use std::fmt;

#[derive(Debug, Clone, EncodeLabelSet, Hash, PartialEq, Eq)]
struct Name {
    node: String,
    valve: String,
}

#[derive(Debug, Clone, EncodeLabelSet, Hash, PartialEq, Eq)]
struct Quantile {
    node: String,
    valve: String,
    quantile: String,
}

/// Metrics of one node's valves.
#[derive(Debug)]
pub struct Watched {
    pub node: String,
    pub valves: Vec<Valve>,
}

impl Measured for Watched {
    fn encode(&self, encoder: &mut DescriptorEncoder) -> Result<(), fmt::Error> {
        let name = |valve: &Valve| Name { node: self.node.clone(), valve: valve.valve.clone() };
        let each = |value: fn(&Valve) -> Option<i64>| {
            self.valves.iter().filter_map(move |valve| Some((name(valve), ConstGauge::new(value(valve)?))))
        };
        let help = "How many may be inside; none while the valve is open";
        family(encoder, ("valve_limit", help, None), each(|valve| valve.limit))?;
        family(encoder, ("valve_in_flight", "How many are inside", None), each(|valve| Some(valve.in_flight)))?;
        family(encoder, ("valve_waiting", "How many wait", None), each(|valve| Some(valve.waiting)))?;
        let help = "1 while the valve is open and lets all through";
        family(encoder, ("valve_open", help, None), each(|valve| Some(i64::from(valve.state == "open"))))?;

        let last = || self.valves.iter().filter_map(|valve| Some((valve, valve.last.as_ref()?)));
        let throughput = last().map(|(valve, window)| (name(valve), ConstGauge::new(window.throughput_per_s)));
        family(encoder, ("valve_throughput", "Completed per second, in the last window", None), throughput)?;
        let counts = |count: fn(&Window) -> i64| {
            last().map(move |(valve, window)| (name(valve), ConstGauge::new(count(window))))
        };
        let help = "Ended with an exception, in the last window";
        family(encoder, ("valve_failed", help, None), counts(|window| window.failed))?;
        let help = "Answered with Overloaded, in the last window";
        family(encoder, ("valve_refused", help, None), counts(|window| window.refused))?;
        let help = "Let in after the longest wait, in the last window";
        family(encoder, ("valve_let_through", help, None), counts(|window| window.let_through))?;
        let quantiles = last().flat_map(|(valve, window)| {
            [("0.5", window.p50_ns), ("0.99", window.p99_ns)].map(|(quantile, ns)| {
                let Name { node, valve } = name(valve);
                Some((Quantile { node, valve, quantile: quantile.to_string() }, ConstGauge::new(ns? as f64 / 1e9)))
            })
        });
        let help = "Wait and time inside together, in the last window";
        family(encoder, ("valve_response_time", help, Some(&Unit::Seconds)), quantiles.flatten())
    }
}
