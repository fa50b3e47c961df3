//! The built-in tables of cassandra-stress, `standard1` and `counter1`, and their operations.

use super::command::{Command, Operation};
use super::draft::{Draft, Effect, MadeDraft, OperationDraft, literal, quoted};
use super::words::{Words, number};
use crate::Error;
use crate::rows::{Column, Distribution, Fields, Given, Insert, Role, Rows, Seeds, ValueType};
use crate::workload::BatchKind;

/// The settings of `-col`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Columns {
    names: Vec<String>,
    size: Distribution,
    /// Whether reads select all columns with `*` instead of by name.
    slice: bool,
}

/// The settings of `-schema`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Schema {
    keyspace: String,
    replication: String,
    /// The text after `WITH` in a CREATE TABLE.
    table_options: String,
}

impl Columns {
    pub fn read(words: &mut Words) -> Result<Columns, Error> {
        let size = words.parsed("size=", Distribution::parse)?.unwrap_or(Distribution::fixed(34));
        let count = words.parsed("n=", |text| match number(text) {
            Ok(number) => Ok(Distribution::fixed(number as i64)),
            Err(_) => Distribution::parse(text),
        })?;
        let names = words.value("names=")?;
        let slice = words.flag("slice");
        words.refuse(&[
            ("super=", "super columns are gone from Cassandra; leave it out"),
            ("comparator=", "columns are named as CQL names them; leave it out"),
            ("timestamp=", "writes have the time of the coordinator; leave it out"),
        ])?;
        words.finish()?;
        let names = match (names, count) {
            (Some(_), Some(_)) => return Err(words.wrong("names=", "says how many there are; leave out n=")),
            (Some(names), None) => names.split(',').map(str::to_string).collect(),
            (None, count) => match count.unwrap_or(Distribution::fixed(5)) {
                count if count.only().is_none() => {
                    let message = format!("is the same for all rows here; write FIXED({})", count.max);
                    return Err(words.wrong("n=", &message));
                }
                Distribution { min: columns @ 1..=1000, .. } => {
                    (0..columns).map(|column| format!("C{column}")).collect()
                }
                _ => return Err(words.wrong("n=", "is from 1 to 1000 columns")),
            },
        };
        Ok(Columns { names, size, slice })
    }
}

impl Schema {
    pub fn read(words: &mut Words) -> Result<Schema, Error> {
        let keyspace = words.value("keyspace=")?.unwrap_or_else(|| "keyspace1".to_string());
        let replication = match words.inside("replication")? {
            None => class("SimpleStrategy", &[("replication_factor", "1")]),
            Some(inside) => strategy(words, "replication", &inside)?,
        };
        let compaction =
            words.inside("compaction")?.map(|inside| strategy(words, "compaction", &inside)).transpose()?;
        let compression = match words.value("compression=")? {
            None => "{'enabled': 'false'}".to_string(),
            Some(compressor) => class(&compressor, &[]),
        };
        words.finish()?;
        let mut table_options = format!("compression = {compression}");
        if let Some(compaction) = compaction {
            table_options.push_str(&format!(" AND compaction = {compaction}"));
        }
        Ok(Schema { keyspace, replication, table_options })
    }
}

/// Formats `strategy=NetworkTopologyStrategy,dc1=3` as a CQL map.
fn strategy(words: &Words, name: &'static str, inside: &str) -> Result<String, Error> {
    let mut pairs = Vec::new();
    for part in inside.split(',').filter(|part| !part.is_empty()) {
        let Some(pair) = part.split_once('=') else {
            return Err(words.wrong(name, &format!("`{part}` is not an option with a value, such as factor=3")));
        };
        pairs.push(if pair.0 == "factor" { ("replication_factor", pair.1) } else { pair });
    }
    let given = pairs.iter().position(|(key, _)| *key == "strategy").map(|position| pairs.remove(position).1);
    match (given, name) {
        (Some(strategy), _) => Ok(class(strategy, &pairs)),
        (None, "replication") if pairs.iter().any(|(key, _)| *key != "replication_factor") => {
            Ok(class("NetworkTopologyStrategy", &pairs))
        }
        (None, "replication") => Ok(class("SimpleStrategy", &pairs)),
        (None, _) => Err(words.wrong(name, "needs its strategy=, such as strategy=LeveledCompactionStrategy")),
    }
}

fn class(class: &str, options: &[(&str, &str)]) -> String {
    let options = options.iter().map(|(key, value)| format!(", {}: {}", literal(key), literal(value)));
    format!("{{'class': {}{}}}", literal(class), options.collect::<String>())
}

/// The workload of a command on these tables. Only writes create the table.
pub(super) fn draft(
    command: &Command,
    operations: &[(Operation, f64)],
    seeds: Seeds,
    (columns, schema): (&Columns, &Schema),
) -> Draft {
    let keyspace = quoted(&schema.keyspace);
    let names: Vec<&str> = operations.iter().map(|(operation, _)| operation.name()).collect();
    let mut draft = Draft {
        description: format!("{} on {} as cassandra-stress has it", names.join(" and "), schema.keyspace),
        consistency: command.consistency.clone(),
        keyspace: None,
        schema: Vec::new(),
        truncate: Vec::new(),
        tables: vec![rows(command, seeds, columns)],
        operations: Vec::new(),
    };
    if operations.len() == 1 && operations[0].0.writes() {
        draft.schema = create(schema, &keyspace, columns);
    }
    for (operation, weight) in operations {
        let cql = statement(*operation, &keyspace, columns, command.add);
        let (made, effect) = match operation.writes() {
            true => (MadeDraft::Inserts(Insert::default(), BatchKind::Unlogged), Effect::Writes),
            false => (MadeDraft::Queries(Fields::SameRow), Effect::Reads { must_find: true }),
        };
        let (name, weight) = (operation.name().to_string(), *weight);
        draft.operations.push(OperationDraft { name, weight, ..OperationDraft::new(&cql, made, effect) });
    }
    let tables = [("standard1", false), ("counter1", true)];
    let uses = |counter: bool| {
        operations
            .iter()
            .any(|(operation, _)| counter == matches!(operation, Operation::CounterWrite | Operation::CounterRead))
    };
    draft.truncate = tables
        .iter()
        .filter(|(_, counter)| uses(*counter))
        .map(|(table, _)| format!("TRUNCATE {keyspace}.{table}"))
        .collect();
    draft
}

fn create(schema: &Schema, keyspace: &str, columns: &Columns) -> Vec<String> {
    let table = |name: &str, cql_type: &str| {
        let columns: String = columns.names.iter().map(|column| format!(", {} {cql_type}", quoted(column))).collect();
        let options = &schema.table_options;
        format!("CREATE TABLE IF NOT EXISTS {keyspace}.{name} (key blob PRIMARY KEY{columns}) WITH {options}")
    };
    let replication = &schema.replication;
    vec![
        format!("CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {replication} AND durable_writes = true"),
        table("standard1", "blob"),
        table("counter1", "counter"),
    ]
}

/// The key consists of digits, the other columns of bytes; counters are incremented, not generated.
fn rows(command: &Command, seeds: Seeds, columns: &Columns) -> Rows {
    let sized = |size| Given { size: Some(size), ..Given::default() };
    let key = sized(Distribution::fixed(command.key_bytes as i64));
    let mut all = vec![Column::new("key", Role::Partition, ValueType::Hex, "randomstrkey", key)];
    all.extend(columns.names.iter().map(|name| {
        let salt = format!("randomstr{name}");
        Column::new(name, Role::Regular, ValueType::Blob, &salt, sized(columns.size))
    }));
    Rows::new(seeds, all)
}

fn statement(operation: Operation, keyspace: &str, columns: &Columns, add: i64) -> String {
    let names = || columns.names.iter().map(|column| quoted(column));
    let table = match operation {
        Operation::Write | Operation::Read => format!("{keyspace}.standard1"),
        Operation::CounterWrite | Operation::CounterRead => format!("{keyspace}.counter1"),
    };
    match operation {
        Operation::Write => {
            let values = names().map(|name| format!("{name} = ?")).collect::<Vec<_>>().join(", ");
            format!("UPDATE {table} SET {values} WHERE key = ?")
        }
        Operation::CounterWrite => {
            let values = names().map(|name| format!("{name} = {name} + {add}")).collect::<Vec<_>>().join(", ");
            format!("UPDATE {table} SET {values} WHERE key = ?")
        }
        Operation::Read | Operation::CounterRead => {
            let columns = if columns.slice { "*".to_string() } else { names().collect::<Vec<_>>().join(", ") };
            format!("SELECT {columns} FROM {table} WHERE key = ?")
        }
    }
}
