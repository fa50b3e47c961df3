//! Serves a command's figures as OpenMetrics while it runs, for Prometheus and compatible readers: one page, on loopback, that
//! requires the token.

mod load;
mod valves;

pub use valves::Watched;

use crate::local_http::{self, BUSY, Bounds, Connection, Hosts};
use anyhow::{Context, Result, ensure};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, text};
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

const OPENMETRICS: HeaderValue = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// Each connection has one request, whose body is not read. The smallest size of headers is that which hyper accepts.
const BOUNDS: Bounds =
    Bounds { answered_within: Duration::from_secs(15), headers_bytes: 8 << 10, strangers: 64, known: 64 };

/// A source of metrics.
pub trait Measured: fmt::Debug + Send + 'static {
    fn encode(&self, encoder: &mut DescriptorEncoder) -> Result<(), fmt::Error>;
}

/// Serves the values that were last shown, until it is dropped.
pub struct Metrics<T> {
    address: String,
    latest: Latest<T>,
    /// Ends the server; None once it has to end.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Measured> Metrics<T> {
    pub fn serve(address: SocketAddr) -> Result<Metrics<T>> {
        ensure!(address.ip().is_loopback(), "--metrics listens on loopback addresses only, such as 127.0.0.1:9500");
        let latest = Latest(Arc::default());
        let mut registry = Registry::with_prefix("helenus");
        registry.register_collector(Box::new(Latest(Arc::clone(&latest.0))));
        let token: String = format!("{:032x}", rand::random::<u128>());

        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = runtime.block_on(TcpListener::bind(address));
        let listener = listener.with_context(|| format!("cannot listen on {address}"))?;
        let local = listener.local_addr()?;
        let address = format!("http://{local}/metrics?token={token}");
        let page = Arc::new(Page { hosts: Hosts::of(local), token, registry });
        let (stop, stopped) = oneshot::channel();
        let answer =
            move |request: Request<Incoming>, from: Connection| std::future::ready(page.answer(&request, &from));
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(move || {
            // Connections end with the runtime, in whatever state they are.
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = local_http::serve(listener, BOUNDS, answer) => {}
                }
            });
        });
        let thread = Some(thread.context("cannot start the thread that serves the metrics")?);
        Ok(Metrics { address, latest, stop: Some(stop), thread })
    }

    /// The URL of the metrics, token included.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn show(&self, shown: T) {
        *self.latest.open() = Some(shown);
    }
}

impl<T> Drop for Metrics<T> {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // The message of a panic has been printed, and the load continued without the server.
            let _ = thread.join();
        }
    }
}

/// The only page that is served.
struct Page {
    hosts: Hosts,
    token: String,
    registry: Registry,
}

impl Page {
    fn answer(&self, request: &Request<Incoming>, from: &Connection) -> Response<String> {
        if !self.hosts.are_asked_by(request) {
            let text = "this server answers to its own address only: the one that the command says when it starts\n";
            return response(StatusCode::FORBIDDEN, PLAIN, text.into());
        }
        let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = header.and_then(|value| value.strip_prefix("Bearer "));
        let query = request.uri().query().unwrap_or_default();
        let given = bearer.or_else(|| query.split('&').find_map(|pair| pair.strip_prefix("token=")));
        if given != Some(self.token.as_str()) {
            let text = "the token is missing or wrong: the command says the whole address when it starts\n";
            return response(StatusCode::UNAUTHORIZED, PLAIN, text.into());
        }
        if !from.is_known() {
            return response(BUSY.0, PLAIN, format!("{}\n", BUSY.1));
        }
        if request.uri().path() != "/metrics" {
            return response(StatusCode::NOT_FOUND, PLAIN, "there is /metrics\n".into());
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            return response(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "metrics are read with GET\n".into());
        }
        let mut page = String::new();
        match text::encode(&mut page, &self.registry) {
            Ok(()) => response(StatusCode::OK, OPENMETRICS, page),
            Err(_) => response(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, "the metrics cannot be written\n".into()),
        }
    }
}

fn response(status: StatusCode, content: HeaderValue, text: String) -> Response<String> {
    let mut response = Response::new(text);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, content);
    response
}

/// The latest value.
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

/// Registers a metric with labels.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::mpsc::channel;

    const LONG: Duration = Duration::from_secs(60);

    #[derive(Debug)]
    struct Seven;

    impl Measured for Seven {
        fn encode(&self, encoder: &mut DescriptorEncoder) -> Result<(), fmt::Error> {
            let seven = prometheus_client::metrics::gauge::ConstGauge::new(7);
            seven.encode(encoder.encode_descriptor("shown", "What is shown", None, seven.metric_type())?)
        }
    }

    struct Served {
        _metrics: Metrics<Seven>,
        host: String,
        path: String,
    }

    fn serve() -> Served {
        let metrics = Metrics::serve("127.0.86.2:0".parse().unwrap()).unwrap();
        metrics.show(Seven);
        let address = metrics.address().strip_prefix("http://").unwrap();
        let (host, path) = address.split_once('/').unwrap();
        Served { host: host.to_string(), path: format!("/{path}"), _metrics: metrics }
    }

    impl Served {
        fn begin(&self, text: &str) -> TcpStream {
            let mut stream = TcpStream::connect(&self.host).unwrap();
            stream.set_read_timeout(Some(LONG)).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            stream
        }

        fn ask(&self, method: &str, path: &str, headers: &str) -> String {
            let mut stream = self.begin(&format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", self.host));
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        }
    }

    #[test]
    fn who_has_the_token_reads_what_is_shown() {
        let served = serve();
        let page = served.ask("GET", &served.path, "");
        assert!(page.starts_with("HTTP/1.1 200") && page.contains("application/openmetrics-text"), "{page}");
        assert!(page.contains("helenus_shown 7\n") && page.ends_with("# EOF\n"), "{page}");
        let (_, token) = served.path.split_once("token=").unwrap();
        let bearer = format!("Authorization: Bearer {token}\r\n");
        assert!(served.ask("GET", "/metrics", &bearer).contains("helenus_shown 7\n"));
        assert!(served.ask("GET", "/metrics?token=0123", "").starts_with("HTTP/1.1 401"));
        assert!(served.ask("GET", "/", &bearer).starts_with("HTTP/1.1 404"));
        assert!(served.ask("DELETE", "/metrics", &bearer).starts_with("HTTP/1.1 405"));
    }

    #[test]
    fn a_stranger_that_is_stuck_holds_up_neither_others_nor_the_end() {
        let served = serve();
        let silent = served.begin("");
        let begun = served.begin("GET /metrics HTTP/1.1\r\nHost:");
        let endless = served.begin(&format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000000000\r\n\r\nbegun",
            served.path, served.host
        ));
        assert!(served.ask("GET", &served.path, "").contains("helenus_shown 7\n"));
        let (ended, ends) = channel();
        std::thread::spawn(move || {
            drop(served);
            ended.send(()).unwrap();
        });
        assert_eq!(ends.recv_timeout(LONG), Ok(()));
        drop((silent, begun, endless));
    }

    #[test]
    fn a_page_of_another_site_is_refused_whatever_token_it_has() {
        let served = serve();
        for host in ["evil.example", "evil.example:9500", "127.0.86.2"] {
            let mut stream = served.begin(&format!("GET {} HTTP/1.1\r\nHost: {host}\r\n\r\n", served.path));
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 403") && !answer.contains("helenus_shown"), "{host}: {answer}");
        }
    }

    #[test]
    fn a_silent_crowd_stops_no_reader() {
        let served = serve();
        let crowd: Vec<TcpStream> = (0..300).map(|_| served.begin("")).collect();
        assert!(served.ask("GET", &served.path, "").contains("helenus_shown 7\n"));
        drop(crowd);
    }

    #[test]
    fn only_loopback_is_listened_on() {
        assert!(Metrics::<Seven>::serve("0.0.0.0:0".parse().unwrap()).is_err());
    }
}
