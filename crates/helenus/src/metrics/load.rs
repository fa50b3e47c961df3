//! Metrics of a running load.

use super::{Measured, family};
use helenus_load::{Percentiles, Progress};
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use std::fmt;

#[derive(Debug, Clone, EncodeLabelSet, Hash, PartialEq, Eq)]
struct Outcome {
    outcome: String,
}

#[derive(Debug, Clone, EncodeLabelSet, Hash, PartialEq, Eq)]
struct Reason {
    reason: String,
}

#[derive(Debug, Clone, EncodeLabelSet, Hash, PartialEq, Eq)]
struct Quantile {
    quantile: String,
}

impl Measured for Progress {
    fn encode(&self, encoder: &mut DescriptorEncoder) -> Result<(), fmt::Error> {
        let failures = self.errors.iter().map(|error| (error.outcome.name().to_string(), error.count));
        let ended = std::iter::once(("ok".to_string(), self.ok)).chain(failures);
        let ended = ended.map(|(outcome, count)| (Outcome { outcome }, ConstCounter::new(count)));
        family(encoder, ("requests", "Requests that have ended, by outcome", None), ended)?;

        let lag = self.lag;
        let late = [("in_flight", lag.late_in_flight), ("driver", lag.late_driver), ("unsent", lag.unsent)]
            .map(|(reason, count)| (Reason { reason: reason.to_string() }, ConstCounter::new(count)));
        let help = "Requests that the driver started late by more than its bound, or never, by reason";
        family(encoder, ("late_requests", help, None), late)?;

        let stalls = ConstCounter::new(self.stalls);
        let help = "Pauses of the driver longer than its bound";
        stalls.encode(encoder.encode_descriptor("stalls", help, None, stalls.metric_type())?)?;
        let in_flight = ConstGauge::new(self.in_flight as i64);
        let help = "Requests in flight";
        in_flight.encode(encoder.encode_descriptor("in_flight", help, None, in_flight.metric_type())?)?;
        if let Some(target) = self.target_per_s {
            let target = ConstGauge::new(target);
            let help = "Requests per second that the schedule wants now";
            target.encode(encoder.encode_descriptor("target_rate", help, None, target.metric_type())?)?;
        }
        let times = [
            ("response_time", "From the intended start, of the last half second", self.response),
            ("service_time", "From the actual start, of the last half second", self.service),
        ];
        for (name, help, percentiles) in times {
            family(encoder, (name, help, Some(&Unit::Seconds)), quantiles(percentiles))?;
        }
        Ok(())
    }
}

fn quantiles(percentiles: Percentiles) -> impl Iterator<Item = (Quantile, ConstGauge<f64>)> {
    let named = [
        ("0.5", percentiles.p50_ns),
        ("0.95", percentiles.p95_ns),
        ("0.99", percentiles.p99_ns),
        ("0.999", percentiles.p999_ns),
        ("1", percentiles.max_ns),
    ];
    named.into_iter().filter_map(|(quantile, ns)| {
        Some((Quantile { quantile: quantile.to_string() }, ConstGauge::new(ns? as f64 / 1e9)))
    })
}
