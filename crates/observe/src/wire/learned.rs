//! Asks a node, before its packets are read, for its partitioner, its prepared statements and its open connections.

use super::bodies::Driver;
use super::conversation::{Client, Conversations};
use super::partition_key::{Described, PartitionKey};
use super::replicas::RingTable;
use helenus_cassandra::cql::{Connection, Error, Rows, Value};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

/// How long a node may take for each answer.
const ASKED_WITHIN: Duration = Duration::from_secs(2);
/// How long the node is asked for the partition keys of prepared statements.
const KEYS_WITHIN: Duration = Duration::from_secs(1);

/// The node's answers, except those that were passed to the conversations.
#[derive(Debug, Default)]
pub(super) struct NodeAnswers {
    pub(super) drivers: Vec<(Client, Driver)>,
    /// Names the facts that the node did not provide; empty if nothing is missing.
    pub(super) note: String,
}

/// Asks the node.
pub(super) fn learn(conversations: &mut Conversations, node: SocketAddr) -> NodeAnswers {
    let mut here = node;
    if here.ip().is_unspecified() {
        here.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    let asked =
        Connection::open(here, ASKED_WITHIN, None).and_then(|mut connection| ask(conversations, &mut connection));
    asked.unwrap_or_else(|error| NodeAnswers {
        note: format!("statements that were prepared before are known by their ids alone: {error}"),
        ..NodeAnswers::default()
    })
}

fn ask(conversations: &mut Conversations, connection: &mut Connection) -> Result<NodeAnswers, Error> {
    for table in RingTable::ALL {
        // Cassandra before 4.0 has no peers_v2; then it is unknown whether the coordinator is a replica.
        let rows = connection.query(&table.query()).map(|rows| rows.rows).unwrap_or(vec![vec![Value::Null]]);
        let texts = rows.iter().map(|row| row.first().and_then(Value::text).unwrap_or_default());
        texts.for_each(|json| conversations.statements.replicas.learn(table, json));
    }
    // Cassandra before 4.0 has no such table.
    let clients = connection.query("SELECT * FROM system_views.clients").unwrap_or_default();
    let drivers = learn_clients(conversations, &clients);
    let prepared =
        connection.query("SELECT prepared_id, query_string, logged_keyspace FROM system.prepared_statements")?;
    let unknown = learn_prepared(conversations, connection, &prepared);
    let note = match (conversations.statements.other_partitioner(), unknown) {
        (Some(partitioner), _) => format!("partitions have no tokens: the node's partitioner is {partitioner}"),
        (None, 0) => String::new(),
        (None, unknown) => {
            format!(
                "requests of {unknown} statements that were prepared before have no tokens: the node was too slow to describe them"
            )
        }
    };
    Ok(NodeAnswers { drivers, note })
}

/// Stores the texts of prepared statements, and asks the node for the indices of their partition keys. A PREPARE of a
/// statement that the node has prepared changes nothing there. Returns how many statements the node did not describe in
/// time.
fn learn_prepared(conversations: &mut Conversations, connection: &mut Connection, rows: &Rows) -> usize {
    let mut statements: Vec<(Option<&str>, &[u8], &str)> = (0..rows.rows.len())
        .filter_map(|row| match (rows.get(row, "prepared_id"), rows.get(row, "query_string").text()) {
            (Value::Bytes(id), Some(text)) => {
                let keyspace = rows.get(row, "logged_keyspace").text().filter(|name| !name.is_empty());
                Some((keyspace, id.as_slice(), text))
            }
            _ => None,
        })
        .collect();
    // Statements without a keyspace come first, because a connection keeps its keyspace once it is set.
    statements.sort_unstable();
    let (begun, mut used, mut unknown) = (Instant::now(), None, 0);
    for (keyspace, id, text) in statements {
        let is_in_time = begun.elapsed() < KEYS_WITHIN;
        let mut describe = || {
            if used != keyspace {
                connection.query(&format!("USE \"{}\"", keyspace?.replace('"', "\"\""))).ok()?;
                used = keyspace;
            }
            connection.prepare(text).ok()
        };
        let described = if is_in_time { describe() } else { None };
        unknown += usize::from(!is_in_time);
        let of = described.as_ref().and_then(|described| described.keyspace.clone());
        let keyspace = of.as_deref().or(keyspace);
        let values = described.map(|described| Described { places: described.key_places, markers: described.markers });
        let key = values.and_then(|values| PartitionKey::of(keyspace, &values, text));
        conversations.statements.learn(id, text, keyspace, key);
    }
    unknown
}

fn learn_clients(conversations: &mut Conversations, rows: &Rows) -> Vec<(Client, Driver)> {
    let mut drivers = Vec::new();
    for row in 0..rows.rows.len() {
        let (Value::Inet(address), Value::Integer(port)) = (rows.get(row, "address"), rows.get(row, "port")) else {
            continue;
        };
        let Ok(port) = u16::try_from(*port) else { continue };
        let address = address.to_canonical();
        let text = |column: &str| rows.get(row, column).text().filter(|text| !text.is_empty());
        let driver = Driver::of(text("driver_name"), text("driver_version"));
        drivers.push((Client { address: address.to_string().into(), port }, driver));
        // Some releases do not have the column.
        if let Some(keyspace) = text("keyspace_name") {
            conversations.learn_keyspace(SocketAddr::new(address, port), keyspace);
        }
    }
    drivers
}
