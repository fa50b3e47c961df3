//! What a command shows, as OpenMetrics while it runs, for Prometheus and what reads the same: one page, on loopback, for
//! who has the token.

mod load;
mod valves;

pub use valves::Watched;

use anyhow::{Context, Result, anyhow, ensure};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, text};
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tiny_http::{Header, Request, Response, Server};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What has metrics.
pub trait Measured: fmt::Debug + Send + 'static {
    fn encode(&self, encoder: &mut DescriptorEncoder) -> Result<(), fmt::Error>;
}

/// Serves what was shown last, until it is dropped.
pub struct Metrics<T> {
    address: String,
    latest: Latest<T>,
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Measured> Metrics<T> {
    pub fn serve(address: SocketAddr) -> Result<Metrics<T>> {
        ensure!(address.ip().is_loopback(), "--metrics listens on loopback addresses only, such as 127.0.0.1:9500");
        let server = Server::http(address).map_err(|error| anyhow!("cannot listen on {address}: {error}"))?;
        let server = Arc::new(server);
        let latest = Latest(Arc::default());
        let mut registry = Registry::with_prefix("helenus");
        registry.register_collector(Box::new(Latest(Arc::clone(&latest.0))));
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

    pub fn show(&self, shown: T) {
        *self.latest.open() = Some(shown);
    }
}

impl<T> Drop for Metrics<T> {
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
        plain(401, "the token is missing or wrong: the command says the whole address when it starts\n")
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

/// What was shown last.
#[derive(Debug)]
struct Latest<T>(Arc<Mutex<Option<T>>>);

impl<T> Latest<T> {
    fn open(&self) -> std::sync::MutexGuard<'_, Option<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Measured> Collector for Latest<T> {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        self.open().as_ref().map_or(Ok(()), |shown| shown.encode(&mut encoder))
    }
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
