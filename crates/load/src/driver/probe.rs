//! Checks the nodes before the load, with a client that does not trust their answers: whether they speak CQL in frames
//! of a plausible size, and whether a table has rows. The driver crate would allocate whatever size a frame announces.

use super::session::reach;
use crate::workload::Operation;
use crate::{Access, Error, Plan, Tls};
use helenus_cassandra::cql::{self, Channel, Connection, Credentials};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Timeout for connecting, and for each answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The error code for a statement that names something that does not exist (CQL protocol, section 9).
const INVALID: i32 = 0x2200;

/// The result of the probe.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The table that is empty but should have rows.
    pub empty: Option<String>,
}

/// Asks each node for its name and version, and the first reachable one for rows.
pub(crate) fn probe(plan: &Plan, points: &[SocketAddr]) -> Result<Found, Error> {
    let mut found = None;
    let mut silent = None;
    for point in points {
        let failed = |reason: String| Error::Session { node: point.to_string(), reason };
        let asked = open(*point, &plan.access).and_then(|mut connection| {
            connection.identify()?;
            Ok(connection)
        });
        match asked {
            Ok(mut connection) if found.is_none() => {
                let empty = plan.wants_rows().and_then(|operation| empty(&mut connection, operation, plan));
                found = Some(Found { empty });
            }
            Err(cql::Error::NotCql { why, .. }) => return Err(failed(why.to_string())),
            Err(cql::Error::Timeout { .. }) => {
                let reason = format!("no answer to its first requests within {} s", TIMEOUT.as_secs());
                silent = Some(failed(reason));
            }
            // All other problems are left to the session, whose errors say what to do.
            _ => {}
        }
    }
    match (found, silent) {
        (None, Some(silent)) => Err(silent),
        (found, _) => Ok(found.unwrap_or_default()),
    }
}

/// A column of a table as `system_schema.columns` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownColumn {
    pub name: String,
    /// `partition_key`, `clustering`, `static` or `regular`.
    pub kind: String,
    /// The place within the key.
    pub position: String,
    /// The type in CQL.
    pub cql_type: String,
}

/// The columns of a table, from the first node that answers; none if the table does not exist.
pub(crate) fn columns(
    nodes: &[String],
    access: &Access,
    (keyspace, table): (&str, &str),
) -> Result<Vec<KnownColumn>, Error> {
    let literal = |name: &str| format!("'{}'", name.replace('\'', "''"));
    let statement = format!(
        "SELECT column_name, kind, position, type FROM system_schema.columns WHERE keyspace_name = {} AND table_name = {}",
        literal(keyspace),
        literal(table)
    );
    let mut reasons = Vec::new();
    for point in reach(nodes, access.tls.as_ref())?.open {
        match open(point, access).and_then(|mut connection| connection.query(&statement)) {
            Ok(answer) => {
                let column = |row| {
                    let text = |name| answer.get(row, name).to_string();
                    let (name, kind) = (text("column_name"), text("kind"));
                    KnownColumn { name, kind, position: text("position"), cql_type: text("type") }
                };
                return Ok((0..answer.rows.len()).map(column).collect());
            }
            Err(error) => reasons.push(format!("{point}: {error}")),
        }
    }
    Err(Error::Unreachable { reasons: reasons.join("; ") })
}

/// Opens a connection of the client that does not trust the node.
pub(crate) fn open(point: SocketAddr, access: &Access) -> Result<Connection, cql::Error> {
    let credentials =
        access.login.as_ref().map(|login| Credentials { user: login.user.clone(), password: login.password.clone() });
    Connection::open_over(point, TIMEOUT, credentials.as_ref(), &|stream| channel(stream, access.tls.as_ref()))
}

fn channel(stream: TcpStream, tls: Option<&Tls>) -> io::Result<Box<dyn Channel>> {
    let Some(tls) = tls else { return Ok(Box::new(stream)) };
    let connection = tls.connect(stream.peer_addr()?.ip()).map_err(io::Error::other)?;
    Ok(Box::new(rustls::StreamOwned::new(connection, stream)))
}

/// The table that an operation writes to, if it is empty, or does not exist and will be created.
fn empty(connection: &mut Connection, writes: &Operation, plan: &Plan) -> Option<String> {
    let table = writes.written_table()?;
    let empty = match connection.query(&format!("SELECT * FROM {table} LIMIT 1")) {
        Ok(rows) => rows.rows.is_empty(),
        Err(cql::Error::Refused { code, .. }) => code == INVALID && plan.create_schema,
        Err(_) => false,
    };
    empty.then(|| table.to_string())
}
