//! Chooses the provider of a node's requests.

use super::ring::Ring;
use crate::Watched;
use clap::ValueEnum;
use helenus_cassandra::network;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Provider of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum RequestsFrom {
    /// Requests are not recorded
    #[default]
    Off,
    /// The wire where packets may be read and the node takes clients that don't encrypt: of as many connections as about 2 %
    /// of the node's CPU time allows. Inside the JVM elsewhere
    Auto,
    /// Packets of all connections on the node's network (needs root or CAP_NET_RAW; TLS can't be read)
    #[value(alias = "on")]
    Wire,
    /// Inside the JVM, after decryption, by the agent. A request that waits in its socket has not begun yet
    Jvm,
}

/// How long a node may take to answer whether it speaks CQL without TLS.
const ASKED_WITHIN: Duration = Duration::from_secs(2);

impl RequestsFrom {
    /// The choice for one node: `Auto` stays where it is the wire.
    pub(crate) fn of(self, node: &Watched, address: SocketAddr, has_agent: bool) -> RequestsFrom {
        let pid = node.pid.cast_signed();
        match self {
            RequestsFrom::Auto if has_agent && !(can_read_packets(pid, address) && takes_plain(pid, address)) => {
                RequestsFrom::Jvm
            }
            chosen => chosen,
        }
    }
}

/// Runs a check in the network namespace of a process. Returns false if it can't be entered.
fn in_network_of(pid: i32, question: impl FnOnce() -> bool + Send) -> bool {
    std::thread::scope(|scope| scope.spawn(|| network::enter(pid).is_ok() && question()).join().unwrap_or(false))
}

fn can_read_packets(pid: i32, address: SocketAddr) -> bool {
    in_network_of(pid, || Ring::open(address).is_ok())
}

/// Whether a node accepts unencrypted clients. A node that does not answer in time, such as a stopped one, counts as
/// one that does.
fn takes_plain(pid: i32, mut address: SocketAddr) -> bool {
    /// An OPTIONS request of version 4, and the first byte of its answer.
    const OPTIONS: [u8; 9] = [0x04, 0, 0, 0, 0x05, 0, 0, 0, 0];
    const ANSWER: u8 = 0x84;
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    in_network_of(pid, || {
        let mut first = [0];
        let answered = TcpStream::connect_timeout(&address, ASKED_WITHIN).and_then(|mut stream| {
            stream.set_read_timeout(Some(ASKED_WITHIN))?;
            stream.write_all(&OPTIONS)?;
            stream.read_exact(&mut first)
        });
        match answered {
            Ok(()) => first[0] == ANSWER,
            Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_node_that_wants_tls_closes_or_sends_an_alert() {
        let own = std::process::id().cast_signed();
        for (answer, is_plain) in [(&[0x84, 0, 0][..], true), (&[0x15, 3, 1], false), (&[], false)] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let node = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 9];
                stream.read_exact(&mut request).unwrap();
                stream.write_all(answer).unwrap();
            });
            assert_eq!(takes_plain(own, address), is_plain, "{answer:?}");
            node.join().unwrap();
        }
    }
}
