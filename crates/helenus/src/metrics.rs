//! The load as OpenMetrics while it runs, for Prometheus and what reads the same: one page, on loopback, for who has the
//! token.

use anyhow::{Context, Result, anyhow, ensure};
use helenus_load::{Percentiles, Progress};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, text};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tiny_http::{Header, Request, Response, Server};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves what was shown last, until it is dropped.
pub struct Metrics {
    address: String,
    latest: Latest,
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl Metrics {
    pub fn serve(address: SocketAddr) -> Result<Metrics> {
        ensure!(address.ip().is_loopback(), "--metrics listens on loopback addresses only, such as 127.0.0.1:9500");
        let server = Server::http(address).map_err(|error| anyhow!("cannot listen on {address}: {error}"))?;
        let server = Arc::new(server);
        let latest = Latest::default();
        let mut registry = Registry::with_prefix("helenus");
        registry.register_collector(Box::new(latest.clone()));
        let token: String = format!("{:032x}", rand::random::<u128>());
        let address = format!("http://{}/metrics?token={token}", server.server_addr());
        let thread = std::thread::Builder::new().name("metrics".into()).spawn({
            let server = Arc::clone(&server);
            move || server.incoming_requests().for_each(|request| answer(request, &token, &registry))
        });
        let thread = Some(thread.context("cannot start the thread that serves the metrics")?);
        Ok(Metrics { address, latest, server, thread })
    }

    /// Where they are, token included.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn show(&self, progress: &Progress) {
        *self.latest.open() = Some(progress.clone());
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            // A panic there has been shown, and the load went on without it.
            let _ = thread.join();
        }
    }
}

fn answer(request: Request, token: &str, registry: &Registry) {
    let header = |name: &'static str| request.headers().iter().find(|header| header.field.equiv(name));
    let bearer = header("Authorization").and_then(|header| header.value.as_str().strip_prefix("Bearer "));
    let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
    let given = bearer.or_else(|| query.split('&').find_map(|pair| pair.strip_prefix("token=")));
    let plain = |status: u16, text: &str| Response::from_string(text).with_status_code(status);
    let response = if given != Some(token) {
        plain(401, "the token is missing or wrong: helenus load says the whole address when it starts\n")
    } else if path != "/metrics" {
        plain(404, "there is /metrics\n")
    } else {
        let mut page = String::new();
        match (text::encode(&mut page, registry), Header::from_bytes("Content-Type", CONTENT_TYPE)) {
            (Ok(()), Ok(content)) => Response::from_string(page).with_header(content),
            _ => plain(500, "the metrics cannot be written\n"),
        }
    };
    // Who has gone does not want it.
    let _ = request.respond(response);
}

/// What was shown last. Clones are the same one.
#[derive(Debug, Clone, Default)]
struct Latest(Arc<Mutex<Option<Progress>>>);

impl Latest {
    fn open(&self) -> std::sync::MutexGuard<'_, Option<Progress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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

impl Collector for Latest {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let latest = self.open();
        let Some(progress) = latest.as_ref() else { return Ok(()) };
        let failures = progress.errors.iter().map(|error| (error.outcome.name().to_string(), error.count));
        let ended = std::iter::once(("ok".to_string(), progress.ok)).chain(failures);
        let ended = ended.map(|(outcome, count)| (Outcome { outcome }, ConstCounter::new(count)));
        family(&mut encoder, ("requests", "Requests that have ended, by outcome", None), ended)?;

        let lag = progress.lag;
        let late = [("in_flight", lag.late_in_flight), ("driver", lag.late_driver), ("unsent", lag.unsent)]
            .map(|(reason, count)| (Reason { reason: reason.to_string() }, ConstCounter::new(count)));
        let help = "Requests that the driver started late by more than its bound, or never, by reason";
        family(&mut encoder, ("late_requests", help, None), late)?;

        let stalls = ConstCounter::new(progress.stalls);
        let help = "Pauses of the driver longer than its bound";
        stalls.encode(encoder.encode_descriptor("stalls", help, None, stalls.metric_type())?)?;
        let in_flight = ConstGauge::new(progress.in_flight as i64);
        let help = "Requests in flight";
        in_flight.encode(encoder.encode_descriptor("in_flight", help, None, in_flight.metric_type())?)?;
        if let Some(target) = progress.target_per_s {
            let target = ConstGauge::new(target);
            let help = "Requests per second that the schedule wants now";
            target.encode(encoder.encode_descriptor("target_rate", help, None, target.metric_type())?)?;
        }
        let times = [
            ("response_time", "From the intended start, of the last half second", progress.response),
            ("service_time", "From the actual start, of the last half second", progress.service),
        ];
        for (name, help, percentiles) in times {
            family(&mut encoder, (name, help, Some(&Unit::Seconds)), quantiles(percentiles))?;
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

/// One metric with a label.
fn family<L: EncodeLabelSet, M: EncodeMetric>(
    encoder: &mut DescriptorEncoder,
    (name, help, unit): (&str, &str, Option<&Unit>),
    values: impl IntoIterator<Item = (L, M)>,
) -> Result<(), fmt::Error> {
    let mut values = values.into_iter().peekable();
    let Some((_, first)) = values.peek() else { return Ok(()) };
    let mut encoder = encoder.encode_descriptor(name, help, unit, first.metric_type())?;
    values.try_for_each(|(labels, value)| value.encode(encoder.encode_family(&labels)?))
}
