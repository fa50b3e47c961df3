//! Nodes on the command line: how they are named, and how their start is shown.

use crate::terminal::{self, Steps};
use anyhow::{Context, Result};
use helenus_cassandra::Progress;
use std::net::{SocketAddr, ToSocketAddrs};

const CQL_PORT: u16 = 9042;

/// Parses `ADDRESS[:PORT]`; the address may be a host name.
pub fn address(text: &str) -> Result<SocketAddr> {
    let with_port = |port| (text.trim_start_matches('[').trim_end_matches(']'), port).to_socket_addrs();
    let found = if text.parse::<std::net::Ipv6Addr>().is_ok() || !text.contains(':') {
        with_port(CQL_PORT)
    } else {
        text.to_socket_addrs()
    };
    found
        .with_context(|| format!("{text} is no address of a node; write ADDRESS or ADDRESS:PORT"))?
        .next()
        .with_context(|| format!("the name {text} has no address"))
}

/// The name of a node in recordings: its address without a port.
pub fn host(text: &str) -> Result<String> {
    Ok(address(text)?.ip().to_string())
}

/// Shows the progress of a local cluster's start and stop.
pub fn show(steps: &mut Steps, progress: &Progress) {
    match progress {
        Progress::WaitingForFetch { version } => {
            steps.step(format_args!("another helenus fetches Cassandra {version}; waiting"))
        }
        Progress::Fetching { version, files: 0 } => {
            steps.step(format_args!("fetching Cassandra {version} from Maven Central"))
        }
        Progress::Fetching { version, files } => {
            steps.live(format_args!("fetching Cassandra {version} from Maven Central: {files} files"))
        }
        Progress::Fetched { version, jars } => {
            steps.keep(|| terminal::done(format_args!("Cassandra {version} is here ({jars} jars)")));
        }
        Progress::Starting { address, number, of } => {
            steps.step(format_args!("starting Cassandra on {address} ({number} of {of})"));
        }
        Progress::Ready { address, pid, after } => {
            let seconds = after.as_secs_f64();
            steps.keep(|| terminal::done(format_args!("Cassandra on {address} is up (pid {pid}, {seconds:.1} s)")));
        }
        Progress::Meeting { nodes } => steps.step(format_args!("waiting until the {nodes} nodes know each other")),
        Progress::Stopping { address, .. } => steps.step(format_args!("stopping Cassandra on {address}")),
        Progress::Killing { address, pid, after } => steps.keep(|| {
            let seconds = after.as_secs();
            terminal::warn(format_args!(
                "Cassandra on {address} (pid {pid}) did not stop in {seconds} s and is killed"
            ));
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_an_address_with_or_without_a_port() {
        assert_eq!(address("127.0.0.1").unwrap().to_string(), "127.0.0.1:9042");
        assert_eq!(address("127.0.0.2:19042").unwrap().to_string(), "127.0.0.2:19042");
        assert_eq!(address("::1").unwrap().to_string(), "[::1]:9042");
        assert_eq!(address("[::1]:19042").unwrap().to_string(), "[::1]:19042");
        assert!(address("127.0.0.1:port").is_err());
    }
}
