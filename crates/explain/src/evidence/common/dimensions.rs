//! Dimensions by which requests are compared, and their values.

use crate::cql;
use crate::query::quoted;
use crate::requests::{BEHIND_NS, LARGE_BYTES, Request, Requests, Size, tokens_like};
use crate::text;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// A dimension of requests. Where values of two dimensions select the same requests, the dimension that is declared
/// first is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Dimension {
    Operation,
    Table,
    Kind,
    Partition,
    Client,
    Connection,
    Node,
    Replica,
    /// Answers that left right behind a large one on their connection.
    BehindLarge,
    Consistency,
    Page,
    ResponseSize,
    Rows,
    RequestSize,
}

const DIMENSIONS: [Dimension; 14] = [
    Dimension::Operation,
    Dimension::Table,
    Dimension::Kind,
    Dimension::Partition,
    Dimension::Client,
    Dimension::Connection,
    Dimension::Node,
    Dimension::Replica,
    Dimension::BehindLarge,
    Dimension::Consistency,
    Dimension::Page,
    Dimension::ResponseSize,
    Dimension::Rows,
    Dimension::RequestSize,
];

impl Dimension {
    /// Whether the values of the dimension are kinds of work. Values of the others are places, at which any work may be
    /// slow for a time.
    pub(super) fn is_of_work(self) -> bool {
        !matches!(
            self,
            Dimension::Client | Dimension::Connection | Dimension::Node | Dimension::Replica | Dimension::BehindLarge
        )
    }

    /// Whether the dimension may have too many distinct values to number them densely.
    fn is_sparse(self) -> bool {
        matches!(self, Dimension::Connection | Dimension::Partition)
    }
}

/// A value of a dimension, as a number.
pub(super) type Key = (Dimension, u64);

/// Table and kind of each operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Lookup {
    tables: Vec<String>,
    kinds: Vec<String>,
    /// The table of each operation; None if its statement is unknown.
    table_of: Vec<Option<u64>>,
    kind_of: Vec<Option<u64>>,
}

impl Lookup {
    pub(super) fn of(requests: &Requests, statements: &BTreeMap<String, String>) -> Lookup {
        let mut lookup = Lookup::default();
        for operation in &requests.operations {
            let statement = statements.get(operation).unwrap_or(operation);
            let (keyspace, table) = cql::split_table(statement);
            let table = table.map(|table| keyspace.map_or(table.clone(), |keyspace| format!("{keyspace}.{table}")));
            lookup.table_of.push(table.map(|table| number(&mut lookup.tables, table)));
            let kind = cql::kind(statement).filter(|kind| *kind != "other");
            lookup.kind_of.push(kind.map(|kind| number(&mut lookup.kinds, kind.to_string())));
        }
        lookup
    }

    pub(super) fn key(&self, dimension: Dimension, request: &Request) -> Option<u64> {
        let of_operation = |values: &[Option<u64>]| values.get(usize::from(request.operation)).copied().flatten();
        let of_size = |size: Size| size.power().map(u64::from);
        match dimension {
            Dimension::Operation => Some(u64::from(request.operation)),
            Dimension::Table => of_operation(&self.table_of),
            Dimension::Kind => of_operation(&self.kind_of),
            Dimension::Client => Some(u64::from(request.client)),
            Dimension::Connection if request.client_port == 0 => None,
            Dimension::Connection => Some(u64::from(request.client) << 16 | u64::from(request.client_port)),
            Dimension::Node => Some(u64::from(request.node)),
            Dimension::Partition => {
                // Two tables may have the same partition keys.
                let table = of_operation(&self.table_of).map_or(0, |table| table + 1);
                Some(table << 16 | u64::from(request.token()?.cast_unsigned()))
            }
            Dimension::Replica => request.is_not_to_replica().then_some(0),
            Dimension::BehindLarge => request.is_behind_large().then_some(0),
            Dimension::Consistency => request.consistency().map(u64::from),
            Dimension::Page => request.is_further_page().then_some(0),
            Dimension::Rows => of_size(request.rows),
            Dimension::ResponseSize => of_size(request.response_size),
            Dimension::RequestSize => of_size(request.request_size),
        }
    }

    pub(super) fn keys<'a>(&'a self, request: &'a Request) -> impl Iterator<Item = Key> + 'a {
        DIMENSIONS.into_iter().filter_map(|dimension| Some((dimension, self.key(dimension, request)?)))
    }

    /// The value in words, and the SQL condition that finds its requests.
    pub(super) fn words(&self, (dimension, value): Key, requests: &Requests) -> (String, String) {
        let place = usize::try_from(value).unwrap_or(usize::MAX);
        let name = |names: &[String], place: usize| names.get(place).cloned().unwrap_or_default();
        let equal = |column: &str, value: &str| format!("{column} = {}", quoted(value));
        let sizes = |column: &str| {
            let (from, to) = (1_i64 << value.min(62), (1_i64 << value.min(61)) * 2);
            let words = format!("{} to {}", text::bytes(from), text::bytes(to));
            (words, format!("{column} >= {from} AND {column} < {to}"))
        };
        let of_table = |name: &str| match name.split_once('.') {
            Some((keyspace, table)) => format!("{} AND {}", equal("keyspace", keyspace), equal("table_name", table)),
            None => equal("table_name", name),
        };
        match dimension {
            Dimension::Operation => {
                let name = name(&requests.operations, place);
                let condition = equal("operation", &name);
                (name, condition)
            }
            Dimension::Table => {
                let name = name(&self.tables, place);
                let condition = of_table(&name);
                (name, condition)
            }
            Dimension::Partition => {
                let table = (place >> 16).checked_sub(1).map(|table| name(&self.tables, table));
                let tokens = like(value);
                match table {
                    Some(table) => {
                        let condition = format!("{tokens} AND {}", of_table(&table));
                        (table, condition)
                    }
                    None => (String::new(), tokens),
                }
            }
            Dimension::Replica => (String::new(), "NOT to_replica".to_string()),
            Dimension::BehindLarge => (String::new(), behind_large()),
            Dimension::Consistency => {
                let level = Request::consistency_name(place);
                (level.to_string(), equal("consistency", level))
            }
            Dimension::Page => (String::new(), "further_page".to_string()),
            Dimension::Rows => {
                let (from, to) = ((1_i64 << value.min(62)) - 1, (1_i64 << value.min(61)) * 2 - 1);
                let words = if from == 0 {
                    "no rows".to_string()
                } else {
                    format!("{} rows or more", text::count(usize::try_from(from).unwrap_or(0)))
                };
                (words, format!("rows_returned >= {from} AND rows_returned < {to}"))
            }
            Dimension::Kind => {
                let name = name(&self.kinds, place);
                let condition = equal("kind", &name);
                (name, condition)
            }
            Dimension::Client => {
                let name = name(&requests.clients, place);
                let condition = equal("client", &name);
                (name, condition)
            }
            Dimension::Connection => {
                let (client, port) = (name(&requests.clients, place >> 16), value & 0xffff);
                let of_client = if client.is_empty() { String::new() } else { equal("client", &client) + " AND " };
                let words = if client.is_empty() { format!("port {port}") } else { format!("{client}:{port}") };
                (words, format!("{of_client}client_port = {port}"))
            }
            Dimension::Node => {
                let name = name(&requests.nodes, place);
                let condition = equal("node", &name);
                (name, condition)
            }
            Dimension::ResponseSize => sizes("response_bytes"),
            Dimension::RequestSize => sizes("request_bytes"),
        }
    }
}

/// The SQL condition for answers that left with a large one or right behind it.
fn behind_large() -> String {
    const REQUEST: &str = "concat(node, ' ', client, ' ', client_port, ' ', stream, ' ', start_ns)";
    format!(
        "{REQUEST} IN (SELECT request FROM (SELECT {REQUEST} AS request, response_bytes, start_ns + duration_ns AS begins_ns, max(CASE WHEN \
         response_bytes >= {LARGE_BYTES} THEN start_ns + duration_ns + sending_ns END) OVER (PARTITION BY node, client, client_port \
         ORDER BY start_ns + duration_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS large_ended_ns FROM wire) \
         WHERE begins_ns - large_ended_ns < {BEHIND_NS} AND response_bytes < {LARGE_BYTES})"
    )
}

/// The SQL condition for the tokens of a value of the dimension partition.
pub(super) fn like(value: u64) -> String {
    // The last 16 bits of the value are the first bits of the token.
    let (from, to) = tokens_like((value as u16).cast_signed());
    format!("token BETWEEN {from} AND {to}")
}

fn number(names: &mut Vec<String>, name: String) -> u64 {
    let place = names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    place as u64
}

/// A map with one entry per value.
#[derive(Debug, Default)]
pub(super) struct ByKey<T> {
    dense: [Vec<Option<T>>; DIMENSIONS.len()],
    sparse: HashMap<Key, T, foldhash::fast::RandomState>,
}

impl<T: Default> ByKey<T> {
    pub(super) fn entry(&mut self, (dimension, value): Key) -> &mut T {
        if dimension.is_sparse() {
            return self.sparse.entry((dimension, value)).or_default();
        }
        let values = &mut self.dense[dimension as usize];
        let place = usize::try_from(value).unwrap_or(0);
        if values.len() <= place {
            values.resize_with(place + 1, || None);
        }
        values[place].get_or_insert_default()
    }

    pub(super) fn get(&self, (dimension, value): Key) -> Option<&T> {
        if dimension.is_sparse() {
            return self.sparse.get(&(dimension, value));
        }
        self.dense[dimension as usize].get(usize::try_from(value).ok()?)?.as_ref()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        let dense = DIMENSIONS.into_iter().zip(&self.dense).flat_map(|(dimension, values)| {
            let values = values.iter().enumerate();
            values.filter_map(move |(place, value)| Some(((dimension, place as u64), value.as_ref()?)))
        });
        dense.chain(self.sparse.iter().map(|(key, of)| (*key, of)))
    }
}
