//! Connections to the nodes whose rows are read back, by the client that does not trust a node's answers. A frame of 2 GiB,
//! 2^31 columns, or a type in itself without end take neither memory nor stack.

use super::Verify;
use crate::driver::open_bounded;
use crate::workload::{BoundOperation, Call, Operation};
use crate::{Error, Plan};
use helenus_cassandra::cql::{self, Connection, ExecuteTerms, Prepared, Type};
use scylla::frame::response::result::{CollectionType, ColumnSpec, ColumnType, NativeType, TableSpec, UserDefinedType};
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The largest answer to a read. Some tens of them may be in memory at a time.
const LARGEST_ANSWER: usize = 16 << 20;
/// The most nodes of a ring that are read from.
const MOST_NODES: usize = 1_000;
/// The error code for a prepared statement that the node has forgotten (CQL protocol, section 9).
const UNPREPARED: i32 = 0x2500;

/// A statement as a node has prepared it.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) bound: BoundOperation,
    pub(super) cql: String,
    /// Name and type of each marker, and of each column of its rows.
    pub(super) markers: Vec<(String, ColumnType<'static>)>,
    pub(super) columns: Vec<(String, ColumnType<'static>)>,
    /// Keyspace and table of the columns.
    pub(super) table: Option<(String, String)>,
    terms: ExecuteTerms,
}

/// One connection at a time to one of the nodes.
pub(super) struct Reader<'p> {
    plan: &'p Plan,
    points: &'p [SocketAddr],
    /// The index of the node to connect to next.
    next: usize,
    timeout: Duration,
    open: Option<(Connection, Prepared)>,
}

/// Connects to the first node that takes the connection.
pub(super) fn connect(plan: &Plan, points: &[SocketAddr]) -> Result<Connection, Error> {
    let mut failed = None;
    for point in points {
        match open_bounded(*point, &plan.access) {
            Ok(connection) => return Ok(connection),
            Err(error) => {
                failed.get_or_insert((point, error));
            }
        }
    }
    Err(failed.map_or(Error::NoNode, |(point, error)| {
        let reason = match error {
            cql::Error::NeedsPassword { .. } => format!("{error}; give --user and --password-file"),
            error => error.to_string(),
        };
        Error::Session { node: point.to_string(), reason }
    }))
}

/// The nodes to read from: the contact points, or all nodes of their ring in the chosen datacenter.
pub(super) fn nodes(plan: &Plan, points: &[SocketAddr], connection: &mut Connection) -> Result<Vec<SocketAddr>, Error> {
    let node = || points.first().map_or_else(String::new, SocketAddr::to_string);
    let failed = |error: cql::Error| Error::Session { node: node(), reason: error.to_string() };
    if plan.access.only_given_nodes && plan.access.datacenter.is_none() {
        return Ok(points.to_vec());
    }
    let identity = connection.identify().map_err(failed)?;
    let own = plan.access.datacenter.as_deref();
    let is_chosen = |datacenter: &str| own.is_none_or(|own| own == datacenter);
    let peers = identity.peers.iter().filter(|peer| is_chosen(&peer.data_center)).filter_map(|peer| peer.address);
    // The contact points are not matched with their datacenters: the first one knows its own.
    let given = points.iter().copied().filter(|_| is_chosen(&identity.data_center));
    let mut nodes: Vec<SocketAddr> = match plan.access.only_given_nodes {
        true => given.chain(peers.filter(|peer| points.contains(peer))).collect(),
        false => given.chain(peers).take(MOST_NODES).collect(),
    };
    let mut seen = std::collections::HashSet::new();
    nodes.retain(|node| seen.insert(*node));
    if nodes.is_empty() {
        let message = format!("the ring has no node in `{}`", own.unwrap_or_default());
        return Err(Error::Argument { argument: "datacenter".to_string(), message });
    }
    Ok(nodes)
}

/// Prepares an operation.
pub(super) fn prepare(connection: &mut Connection, plan: &Plan, operation: &Operation) -> Result<Statement, Error> {
    let workload = &plan.workload;
    let prepared = connection.prepare(&operation.cql).map_err(|error| Error::Prepare {
        operation: operation.name.clone(),
        reason: match error {
            cql::Error::Refused { message, .. } => message,
            error => error.to_string(),
        },
        cql: operation.cql.clone(),
        way_out: "",
    })?;
    let types = |columns: &[(String, Type)]| -> Vec<(String, ColumnType<'static>)> {
        columns.iter().map(|(name, of)| (name.clone(), column_type(of))).collect()
    };
    let (markers, columns) = (types(&prepared.markers), types(&prepared.columns));
    let table = TableSpec::borrowed("", "");
    let specs: Vec<ColumnSpec<'_>> =
        markers.iter().map(|(name, of)| ColumnSpec::borrowed(name, of.clone(), table.clone())).collect();
    let bound = BoundOperation::new(workload, &operation.name, specs.iter())?;
    let default = plan.consistency.unwrap_or(workload.consistency);
    let terms = ExecuteTerms {
        consistency: operation.consistency.unwrap_or(default) as u16,
        serial_consistency: operation.serial_consistency.map(|level| level as u16),
    };
    Ok(Statement { bound, cql: operation.cql.clone(), markers, columns, table: prepared.table, terms })
}

impl<'p> Reader<'p> {
    pub(super) fn new(order: &Verify, plan: &'p Plan, points: &'p [SocketAddr], number: usize) -> Reader<'p> {
        Reader { plan, points, next: number, timeout: order.request_timeout, open: None }
    }

    /// Reads rows, and calls back with the values of each. After an error, the next read has a connection of its own.
    pub(super) fn read(
        &mut self,
        statement: &Statement,
        call: &Call<'_>,
        each: &mut impl FnMut(&[Option<&[u8]>]),
    ) -> Result<(), String> {
        let mut values = Vec::new();
        let mut writer = RowWriter::new(&mut values);
        call.serialize(&RowSerializationContext::empty(), &mut writer).map_err(|error| error.to_string())?;
        let count =
            u16::try_from(writer.value_count()).map_err(|_| "more values than a request can have".to_string())?;
        for attempt in 0..2 {
            let (connection, prepared) = match &mut self.open {
                Some(open) => open,
                None => {
                    let opened = self.connect(statement)?;
                    self.open.insert(opened)
                }
            };
            match connection.execute_each(prepared, statement.terms, (count, &values), &mut *each) {
                Ok(()) => return Ok(()),
                // It is prepared once more on the next connection.
                Err(cql::Error::Refused { code: UNPREPARED, .. }) if attempt == 0 => self.open = None,
                Err(cql::Error::Refused { message, code, .. }) => return Err(format!("{message} (code 0x{code:04x})")),
                Err(cql::Error::Timeout { .. }) => {
                    self.open = None;
                    return Err(format!("no answer within {:?}", self.timeout));
                }
                Err(error) => {
                    self.open = None;
                    return Err(error.to_string());
                }
            }
        }
        Err("the node forgets the prepared statement at once".to_string())
    }

    fn connect(&mut self, statement: &Statement) -> Result<(Connection, Prepared), String> {
        let point = self.points[self.next % self.points.len()];
        self.next += 1;
        let opened = open_bounded(point, &self.plan.access).and_then(|mut connection| {
            let prepared = connection.prepare(&statement.cql)?;
            connection.limit(self.timeout, LARGEST_ANSWER)?;
            Ok((connection, prepared))
        });
        opened.map_err(|error| error.to_string())
    }
}

/// A type as the workloads know it.
fn column_type(of: &Type) -> ColumnType<'static> {
    let boxed = |of: &Type| Box::new(column_type(of));
    let collection = |typ| ColumnType::Collection { frozen: false, typ };
    match of {
        Type::Simple(id) => ColumnType::Native(native(*id)),
        // Nothing is made for such a type, and its values are shown as bytes.
        Type::Custom(_) => ColumnType::Native(NativeType::Blob),
        Type::List(item) => collection(CollectionType::List(boxed(item))),
        Type::Set(item) => collection(CollectionType::Set(boxed(item))),
        Type::Map(key, value) => collection(CollectionType::Map(boxed(key), boxed(value))),
        Type::Tuple(parts) => ColumnType::Tuple(parts.iter().map(column_type).collect()),
        Type::UserDefined(fields) => ColumnType::UserDefinedType {
            frozen: false,
            definition: Arc::new(UserDefinedType {
                name: "".into(),
                keyspace: "".into(),
                field_types: fields.iter().map(|(name, field)| (name.clone().into(), column_type(field))).collect(),
            }),
        },
    }
}

/// The simple types by their option ids (CQL protocol, section 4.2.5.2).
fn native(id: u16) -> NativeType {
    match id {
        0x0001 => NativeType::Ascii,
        0x0002 => NativeType::BigInt,
        0x0004 => NativeType::Boolean,
        0x0005 => NativeType::Counter,
        0x0006 => NativeType::Decimal,
        0x0007 => NativeType::Double,
        0x0008 => NativeType::Float,
        0x0009 => NativeType::Int,
        0x000A | 0x000D => NativeType::Text,
        0x000B => NativeType::Timestamp,
        0x000C => NativeType::Uuid,
        0x000E => NativeType::Varint,
        0x000F => NativeType::Timeuuid,
        0x0010 => NativeType::Inet,
        0x0011 => NativeType::Date,
        0x0012 => NativeType::Time,
        0x0013 => NativeType::SmallInt,
        0x0014 => NativeType::TinyInt,
        0x0015 => NativeType::Duration,
        _ => NativeType::Blob,
    }
}
