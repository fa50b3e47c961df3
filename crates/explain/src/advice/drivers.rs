//! Advice about drivers that nobody maintains any more.

use super::facts::Node;
use super::rule::{Check, Checked, Found, Rule};
use crate::severity::Severity;
use crate::traffic::named;
use crate::{query, text};
use serde_json::json;

/// A line of a driver that moved to the Apache Software Foundation.
struct Moved {
    /// Part of the name that the driver gives itself, in small letters.
    name: &'static str,
    /// The major version of the line; None for any.
    major: Option<u32>,
    /// The first release of Apache.
    first: (u32, u32),
    /// Where to take that from.
    successor: &'static str,
}

/// Sources: DataStax's documentation of each driver ("Starting with version …, the Apache Software Foundation owns and
/// maintains the driver"); version.go of Apache's gocql, whose name is its module's.
const MOVED: [Moved; 5] = [
    Moved {
        name: "java",
        major: Some(3),
        first: (3, 12),
        successor: "org.apache.cassandra:java-driver-core 4.18 or newer; 3.12 is the same line under Apache",
    },
    Moved { name: "java", major: None, first: (4, 18), successor: "org.apache.cassandra:java-driver-core" },
    Moved { name: "python", major: None, first: (3, 30), successor: "cassandra-driver 3.30 or newer" },
    Moved { name: "node.js", major: None, first: (4, 9), successor: "cassandra-driver 4.9 or newer" },
    Moved { name: "gocql/gocql", major: None, first: (2, 0), successor: "github.com/apache/cassandra-gocql-driver/v2" },
];

pub(super) const OLD_DRIVER: Rule = Rule {
    name: "old-driver",
    looks_at: "drivers from before they moved to the Apache Software Foundation, which get no fixes any more",
    thresholds: &[],
    source: "documentation of the drivers: the first release of Apache (Java 3.12 and 4.18, Python 3.30, Node.js 4.9, gocql 2.0)",
    query: query::CLIENT_DRIVERS,
    check: Check::OfNode(old_driver),
};

fn old_driver(node: &Node) -> Checked {
    let sending = node.sending()?;
    let old = |client: &&String| {
        sending.clients[*client].driver.as_ref().and_then(|(name, version)| successor(name, version)).is_some()
    };
    let clients: Vec<&String> = sending.clients.keys().filter(old).collect();
    let Some(driver) = clients.first().and_then(|client| sending.clients[*client].driver.as_ref()) else {
        return Ok(None);
    };
    let successor = successor(&driver.0, &driver.1).unwrap_or_default();
    let others = clients.len() - 1;
    let and_others = match others {
        0 => String::new(),
        others => format!(", and {} with such a driver", text::counted(others, "more client", "more clients")),
    };
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("{} uses {}{and_others}", clients[0], named(driver)),
        figures: json!({ "driver": driver.0, "version": driver.1, "clients": clients.len() }),
        advice: format!(
            "That release is from before the driver moved to the Apache Software Foundation, and gets no fixes. Take {successor}."
        ),
        verify: "`helenus clients RECORDING` lists the drivers that clients connect with.".into(),
    }))
}

/// The replacement of a driver; None if the driver is maintained, or not known here.
fn successor(name: &str, version: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let mut parts = version.trim_start_matches('v').split(['.', '-', '+']);
    let version = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let is_it = |moved: &&Moved| name.contains(moved.name) && moved.major.is_none_or(|major| major == version.0);
    let moved = MOVED.iter().find(is_it)?;
    (version < moved.first).then_some(moved.successor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{after, missing_after, quiet_after};
    use crate::advice::sending::Client;

    fn with(node: &mut Node, name: &str, version: &str) {
        let driver = Some((name.to_string(), version.to_string()));
        let client = Client { driver, ..Client::default() };
        node.sending.as_mut().unwrap().clients.insert("10.0.0.8".into(), client);
    }

    #[test]
    fn drivers_from_before_apache_are_named_with_their_successor() {
        let found = after(&OLD_DRIVER, |node| with(node, "DataStax Java driver for Apache Cassandra(R)", "4.17.0"));
        assert_eq!(found.evidence, "10.0.0.8 uses DataStax Java driver for Apache Cassandra(R) 4.17.0");
        assert!(found.advice.contains("org.apache.cassandra:java-driver-core"), "{}", found.advice);
        for (name, version, is_old) in [
            ("DataStax Java Driver", "3.11.5", true),
            ("Apache Cassandra Java Driver", "3.12.1", false),
            ("Apache Cassandra Java Driver", "4.19.0", false),
            ("DataStax Java Driver", "2.1.10", true),
            ("DataStax Python Driver", "3.29.2", true),
            ("DataStax Python Driver", "3.30.0", false),
            ("DataStax Node.js Driver for Apache Cassandra", "4.8.0", true),
            ("github.com/gocql/gocql", "v1.7.0", true),
            ("github.com/apache/cassandra-gocql-driver/v2", "v2.0.0", false),
            // Forks and drivers of others have versions of their own.
            ("ScyllaDB Rust Driver", "0.1.0", false),
            ("DataStax Java Driver", "", false),
            ("JavaScript", "weird", false),
        ] {
            assert_eq!(successor(name, version).is_some(), is_old, "{name} {version}");
        }
        quiet_after(&OLD_DRIVER, |_| ());
        missing_after(&OLD_DRIVER, |node| node.sending = None);
    }
}
