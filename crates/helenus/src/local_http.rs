//! HTTP on loopback, for the workbench and for metrics: accepts connections, of which strangers get no more than a bounded part,
//! and refuses requests to a foreign host.

use hyper::Request;
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Timeout for a client to send its headers.
const HEADERS_WITHIN: Duration = Duration::from_secs(5);
/// Pause before the next connection is accepted after accepting has failed, for example for lack of a file descriptor.
const PAUSE: Duration = Duration::from_millis(100);

/// The bounds of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Timeout for a client to take its answer, including the time to make it.
    pub(crate) answered_within: Duration,
    pub(crate) headers_bytes: usize,
    /// Connections of clients that have not shown the token. One more ends the oldest of them.
    pub(crate) strangers: usize,
    /// Connections of clients that have.
    pub(crate) known: usize,
}

/// The values of the Host header with which a client may address a server.
#[derive(Debug)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    pub(crate) fn of(address: SocketAddr) -> Hosts {
        let port = address.port();
        Hosts(vec![address.to_string(), format!("localhost:{port}"), format!("127.0.0.1:{port}")])
    }

    /// Whether a name with its port is this server's; in lower case.
    pub(crate) fn has(&self, host: &str) -> bool {
        self.0.iter().any(|own| own == host)
    }

    /// Whether a request names this server, and nothing else. A web site whose name resolves to this machine has its own name there.
    pub(crate) fn are_asked_by<B>(&self, request: &Request<B>) -> bool {
        let is_own = |host: &str| self.has(&host.to_ascii_lowercase());
        let hosts: Vec<&HeaderValue> = request.headers().get_all(HOST).iter().collect();
        let is_named = matches!(hosts[..], [host] if host.to_str().is_ok_and(is_own));
        is_named && request.uri().authority().is_none_or(|authority| is_own(authority.as_str()))
    }
}

/// A connection, as its requests see it.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    pub(crate) from: SocketAddr,
    number: u64,
    crowd: Arc<Crowd>,
}

impl Connection {
    /// Says that its client has shown the token. False if too many others have, and the request has to be refused.
    pub(crate) fn is_known(&self) -> bool {
        self.crowd.know(self.number)
    }
}

/// The connections.
#[derive(Debug)]
struct Crowd {
    bounds: Bounds,
    people: Mutex<People>,
}

#[derive(Debug, Default)]
struct People {
    /// The oldest first. A connection ends when its sender is dropped.
    strangers: VecDeque<(u64, oneshot::Sender<()>)>,
    known: Vec<(u64, oneshot::Sender<()>)>,
}

impl Crowd {
    fn open(&self) -> MutexGuard<'_, People> {
        self.people.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a connection in. The receiver hears when it has to end.
    fn enter(&self, number: u64) -> oneshot::Receiver<()> {
        let (held, ended) = oneshot::channel();
        let mut people = self.open();
        people.strangers.push_back((number, held));
        while people.strangers.len() > self.bounds.strangers {
            people.strangers.pop_front();
        }
        ended
    }

    fn know(&self, number: u64) -> bool {
        let mut people = self.open();
        if people.known.len() >= self.bounds.known {
            return false;
        }
        let place = people.strangers.iter().position(|(known, _)| *known == number);
        if let Some(held) = place.and_then(|place| people.strangers.remove(place)) {
            people.known.push(held);
        }
        true
    }

    fn leave(&self, number: u64) {
        let mut people = self.open();
        people.strangers.retain(|(known, _)| *known != number);
        people.known.retain(|(known, _)| *known != number);
    }
}

/// Accepts all connections, each for one request and a limited time. `answer` makes the response.
pub(crate) async fn serve<A, F>(listener: TcpListener, bounds: Bounds, answer: A)
where
    A: Fn(Request<Incoming>, Connection) -> F + Clone + Send + 'static,
    F: Future<Output = Response<String>> + Send + 'static,
{
    let crowd = Arc::new(Crowd { bounds, people: Mutex::default() });
    for number in 0.. {
        let Ok((stream, from)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let (ended, answer) = (crowd.enter(number), answer.clone());
        let connection = Connection { from, number, crowd: Arc::clone(&crowd) };
        tokio::spawn(async move {
            let crowd = Arc::clone(&connection.crowd);
            let service = service_fn(move |request| {
                let answered = answer(request, connection.clone());
                async { Ok::<_, Infallible>(answered.await) }
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS_WITHIN)
                .max_buf_size(bounds.headers_bytes)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), service);
            // A client that has gone or is too slow gets no answer. Its question ends with the connection.
            tokio::select! {
                _ = tokio::time::timeout(bounds.answered_within, served) => {}
                _ = ended => {}
            }
            crowd.leave(number);
        });
    }
}

/// A status with a text.
pub(crate) const BUSY: (StatusCode, &str) =
    (StatusCode::SERVICE_UNAVAILABLE, "too many requests are under way; try again when some have been answered");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_as_a_whole() {
        let hosts = Hosts::of("127.0.3.4:9500".parse().unwrap());
        let is_own = |host: &[&str]| {
            let request = host.iter().fold(Request::get("/metrics"), |request, host| request.header(HOST, *host));
            hosts.are_asked_by(&request.body(()).unwrap())
        };
        for host in ["127.0.3.4:9500", "localhost:9500", "LocalHost:9500", "127.0.0.1:9500"] {
            assert!(is_own(&[host]), "{host}");
        }
        for host in ["evil.example:9500", "127.0.3.4", "127.0.3.4:95", "localhost:9500.evil.example", ""] {
            assert!(!is_own(&[host]), "{host}");
        }
        assert!(!is_own(&[]) && !is_own(&["127.0.3.4:9500", "evil.example"]));
        let elsewhere = Request::get("http://evil.example/metrics").header(HOST, "127.0.3.4:9500").body(()).unwrap();
        assert!(!hosts.are_asked_by(&elsewhere));
    }

    #[test]
    fn the_oldest_stranger_makes_room_and_no_known_client_does() {
        let bounds = Bounds { answered_within: HEADERS_WITHIN, headers_bytes: 8192, strangers: 3, known: 2 };
        let crowd = Crowd { bounds, people: Mutex::default() };
        let mut ended: Vec<_> = (0..3).map(|number| crowd.enter(number)).collect();
        assert!(crowd.know(0) && crowd.know(2) && !crowd.know(1), "two are known, and there is no room for a third");
        ended.extend((3..7).map(|number| crowd.enter(number)));
        let gone = |ended: &mut Vec<oneshot::Receiver<()>>| -> Vec<usize> {
            let is_gone = |one: &mut oneshot::Receiver<()>| one.try_recv() == Err(oneshot::error::TryRecvError::Closed);
            (0..ended.len()).filter(|number| is_gone(&mut ended[*number])).collect()
        };
        assert_eq!(gone(&mut ended), [1, 3]);
        crowd.leave(0);
        assert!(crowd.know(5) && !crowd.know(6));
    }
}
