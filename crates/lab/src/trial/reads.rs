//! Reads of the trial nodes: the same reads on each node, block by block.

use super::histogram::Histogram;
use super::nodes::TrialNode;
use super::options::quoted;
use super::{Error, Progress, Replayed, Span, TableName};
use helenus_cassandra::Cancel;
use helenus_cassandra::cql::{self, Connection, Prepared, RawRows, Type, Value};
use helenus_control::ReadCounts;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The most rows of a generated read.
pub const ROWS: i32 = 500;
/// Number of partitions that are read.
const KEYS: usize = 2000;
/// Number of keys that are sampled at each position.
const KEYS_AT_ONCE: usize = 20;
/// Approximate length of a block of reads of one trial node.
const BLOCK: Duration = Duration::from_secs(2);
/// Warm-up of each trial node, in turns, because a JVM that has just started is still compiling.
const WARM_UP: Duration = Duration::from_secs(12);
const TURN: Duration = Duration::from_secs(2);
const FEWEST_READS: usize = 20;

/// The statements and values of all reads.
struct Requests {
    statements: Vec<String>,
    /// Statement and values of each read.
    list: Vec<(usize, Vec<Option<Vec<u8>>>)>,
}

/// A statement that is read, and its share of the reads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statement {
    pub text: String,
    pub share: f64,
}

/// One block of reads of one trial node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Block {
    pub variant: String,
    pub block: usize,
    pub reads: usize,
    /// Figures by name: `read_mean`, `read_p50`, `read_p99`, `local_read` in ms; `sstables_per_read`,
    /// `tombstones_per_slice`, `live_per_slice` as means over the block's reads.
    pub figures: BTreeMap<&'static str, f64>,
}

/// The reads and their figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reads {
    pub statements: Vec<Statement>,
    /// Statements of the recording that were left out, and why.
    pub left_out: Vec<String>,
    pub partitions: usize,
    pub blocks: Vec<Block>,
}

/// One trial node, ready to be read.
struct TrialReader<'s> {
    trial_node: &'s mut TrialNode,
    connection: Connection,
    prepared: Vec<Prepared>,
}

/// Reads the trial nodes in blocks, in turns.
///
/// # Errors
/// [`Error::NoKeys`], [`Error::NothingToReplay`], [`Error::Ask`], [`Error::Cancelled`].
pub(super) fn read(
    trial_nodes: &mut [TrialNode],
    table: &TableName,
    (replayed, spans, blocks): (&[Replayed], &[Span], usize),
    tell: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<Reads, Error> {
    tell(Progress::Step("looking for partitions to read".to_string()));
    let asked = |name: &str| {
        let name = name.to_string();
        move |source| Error::Ask { name, source }
    };
    let first = &trial_nodes[0];
    let mut connection = first.connect()?;
    let keys = Keys::find(&mut connection, table, spans, cancel).map_err(asked(&first.name))?;
    if cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    if keys.rows.is_empty() {
        return Err(Error::NoKeys);
    }
    let partitions = keys.rows.len();
    let mut left_out = Vec::new();
    let requests = match replayed {
        [] => Requests::whole(&keys, table),
        replayed => Requests::replay(&keys, table, replayed, &mut connection, &mut left_out)?,
    };
    drop(connection);
    let mut readers = Vec::new();
    for trial_node in trial_nodes {
        let mut connection = trial_node.connect()?;
        let mut prepare = |statement: &String| connection.prepare(statement);
        let prepared = requests.statements.iter().map(&mut prepare).collect::<Result<_, _>>();
        readers.push(TrialReader { prepared: prepared.map_err(asked(&trial_node.name))?, connection, trial_node });
    }
    tell(Progress::Step(format!("reading {partitions} partitions of each trial node to warm it up")));
    let mut at = 0;
    let mut mean = Duration::ZERO;
    let turns = (WARM_UP.as_secs() / TURN.as_secs()) as usize;
    for _ in 0..turns {
        let mut count = 0;
        for reader in &mut readers {
            let taken = reader.read_for(&requests, at, TURN, cancel)?;
            mean = mean.max(taken.iter().sum::<Duration>() / taken.len().max(1) as u32);
            count = count.max(taken.len());
        }
        at += count;
    }
    // Use the slowest turn for the estimate, which is the safe choice; the last one is the warmest.
    let count = (BLOCK.as_secs_f64() / mean.as_secs_f64().max(1e-6)) as usize;
    let count = count.clamp(FEWEST_READS, requests.list.len().max(FEWEST_READS));
    let mut done = Vec::new();
    for block in 1..=blocks {
        tell(Progress::Step(format!("block {block} of {blocks}: {count} reads of each trial node")));
        let mut order: Vec<usize> = (0..readers.len()).collect();
        if block % 2 == 0 {
            order.reverse();
        }
        for number in order {
            done.push(readers[number].block(&requests, (block, at, count), table, cancel)?);
        }
        at += count;
    }
    let share = |number: usize| {
        requests.list.iter().filter(|(of, _)| *of == number).count() as f64 / requests.list.len() as f64
    };
    let statements = requests.statements.iter().enumerate();
    let statements = statements.map(|(number, text)| Statement { text: text.clone(), share: share(number) }).collect();
    Ok(Reads { statements, left_out, partitions, blocks: done })
}

impl TrialReader<'_> {
    fn one(&mut self, requests: &Requests, number: usize) -> Result<Duration, Error> {
        let (statement, values) = &requests.list[number % requests.list.len()];
        let begun = Instant::now();
        let answered = self.connection.execute(&self.prepared[*statement], values);
        let taken = begun.elapsed();
        match answered {
            Ok(_) => Ok(taken),
            Err(source) => {
                self.trial_node.is_alive()?;
                Err(Error::Ask { name: self.trial_node.name.clone(), source })
            }
        }
    }

    fn read_for(
        &mut self,
        requests: &Requests,
        from: usize,
        lasts: Duration,
        cancel: &Cancel,
    ) -> Result<Vec<Duration>, Error> {
        let begun = Instant::now();
        let mut taken = Vec::new();
        while begun.elapsed() < lasts {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            taken.push(self.one(requests, from + taken.len())?);
        }
        Ok(taken)
    }

    fn block(
        &mut self,
        requests: &Requests,
        (block, from, count): (usize, usize, usize),
        table: &TableName,
        cancel: &Cancel,
    ) -> Result<Block, Error> {
        let table = table.to_string();
        let before = self.trial_node.link.read_counts(&table)?;
        let mut taken = Vec::with_capacity(count);
        for number in from..from + count {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            taken.push(self.one(requests, number)?);
        }
        let after = self.trial_node.link.read_counts(&table)?;
        Ok(Block {
            variant: self.trial_node.name.clone(),
            block,
            reads: count,
            figures: figures(taken, &before, &after),
        })
    }
}

fn figures(mut taken: Vec<Duration>, before: &ReadCounts, after: &ReadCounts) -> BTreeMap<&'static str, f64> {
    taken.sort_unstable();
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    // The smallest value that at least this share of the values does not exceed.
    let quantile = |share: f64| ms(taken[((taken.len() as f64 * share).ceil() as usize).clamp(1, taken.len()) - 1]);
    let mut figures = BTreeMap::from([
        ("read_mean", ms(taken.iter().sum::<Duration>()) / taken.len() as f64),
        ("read_p50", quantile(0.5)),
        ("read_p99", quantile(0.99)),
    ]);
    let reads = after.reads - before.reads;
    if reads > 0 {
        figures.insert("local_read", (after.read_total_us - before.read_total_us) as f64 / 1e3 / reads as f64);
    }
    let sstables = Histogram::WithZero.mean(&before.sstables_per_read, &after.sstables_per_read);
    let tombstones = Histogram::FromOne.mean(&before.tombstones_per_slice, &after.tombstones_per_slice);
    let live = Histogram::FromOne.mean(&before.live_per_slice, &after.live_per_slice);
    let means = [("sstables_per_read", sstables), ("tombstones_per_slice", tombstones), ("live_per_slice", live)];
    figures.extend(means.into_iter().filter_map(|(name, mean)| Some((name, mean?))));
    figures
}

/// Keys of existing partitions.
struct Keys {
    /// Names of the partition key's columns.
    columns: Vec<String>,
    rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl Keys {
    /// Reads partitions at tokens drawn evenly over the spans.
    fn find(
        connection: &mut Connection,
        table: &TableName,
        spans: &[Span],
        cancel: &Cancel,
    ) -> Result<Keys, cql::Error> {
        let columns = key_columns(connection, table)?;
        let listed = columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let mut random = StdRng::seed_from_u64(1);
        let mut keys = Keys { columns, rows: Vec::new() };
        let mut in_vain = 0;
        // A table with fewer partitions gives the same ones repeatedly.
        for _ in 0..KEYS / KEYS_AT_ONCE * 2 {
            if keys.rows.len() >= KEYS || in_vain > 20 || cancel.is_cancelled() {
                break;
            }
            let span = spans[random.random_range(0..spans.len())];
            let from = random.random_range(span.after..=span.to);
            let found = connection.query_raw(&format!(
                "SELECT DISTINCT {listed} FROM {} WHERE token({listed}) >= {from} LIMIT {KEYS_AT_ONCE}",
                table.quoted()
            ))?;
            let new: Vec<_> = found.rows.into_iter().filter(|row| !keys.rows.contains(row)).collect();
            in_vain = if new.is_empty() { in_vain + 1 } else { 0 };
            keys.rows.extend(new);
        }
        // Shuffled, because no client reads in the order of tokens.
        for last in (1..keys.rows.len()).rev() {
            keys.rows.swap(last, random.random_range(0..=last));
        }
        Ok(keys)
    }

    fn condition(&self) -> String {
        self.columns.iter().map(|name| format!("{} = ?", quoted(name))).collect::<Vec<_>>().join(" AND ")
    }
}

/// The columns of the partition key, in their order.
fn key_columns(connection: &mut Connection, table: &TableName) -> Result<Vec<String>, cql::Error> {
    let rows = connection.query(&format!(
        "SELECT column_name, kind, position FROM system_schema.columns WHERE keyspace_name = '{}' AND table_name = '{}'",
        table.keyspace, table.table
    ))?;
    let mut columns: Vec<(i64, String)> = (0..rows.rows.len())
        .filter(|row| rows.get(*row, "kind").text() == Some("partition_key"))
        .map(|row| {
            let position = match rows.get(row, "position") {
                Value::Integer(position) => *position,
                _ => 0,
            };
            (position, rows.get(row, "column_name").to_string())
        })
        .collect();
    columns.sort();
    Ok(columns.into_iter().map(|(_, name)| name).collect())
}

impl Requests {
    /// Reads each partition from its beginning.
    fn whole(keys: &Keys, table: &TableName) -> Requests {
        let statement = format!("SELECT * FROM {} WHERE {} LIMIT {ROWS}", table.quoted(), keys.condition());
        Requests { statements: vec![statement], list: keys.rows.iter().map(|key| (0, key.clone())).collect() }
    }

    /// The statements of a recording by their shares, each with the values of an existing row.
    fn replay(
        keys: &Keys,
        table: &TableName,
        replayed: &[Replayed],
        connection: &mut Connection,
        left_out: &mut Vec<String>,
    ) -> Result<Requests, Error> {
        let asked = |source| Error::Ask { name: super::AS_IT_IS.to_string(), source };
        connection.query(&format!("USE {}", quoted(&table.keyspace))).map_err(asked)?;
        let of_one = format!("SELECT * FROM {} WHERE {} LIMIT 1", table.quoted(), keys.condition());
        let of_one = connection.prepare(&of_one).map_err(asked)?;
        let mut rows = Vec::new();
        for key in &keys.rows {
            rows.push(connection.execute(&of_one, key).map_err(asked)?);
        }
        rows.retain(|row| !row.rows.is_empty());
        let mut usable: Vec<(&Replayed, Prepared)> = Vec::new();
        for replayed in replayed {
            match connection.prepare(&table.qualify(&replayed.statement)) {
                Ok(prepared) => match rows.first().map(|row| values(&prepared, row)) {
                    Some(Ok(_)) => usable.push((replayed, prepared)),
                    Some(Err(marker)) => left_out.push(format!("{}: no value for {marker}", replayed.statement)),
                    None => return Err(Error::NoKeys),
                },
                Err(cql::Error::Refused { message, .. }) => left_out.push(format!("{}: {message}", replayed.statement)),
                Err(error) => return Err(asked(error)),
            }
        }
        let total: u64 = usable.iter().map(|(replayed, _)| replayed.count).sum();
        if total == 0 {
            let why = if left_out.is_empty() { "it has none".to_string() } else { left_out.join("; ") };
            return Err(Error::NothingToReplay { table: table.to_string(), why });
        }
        let mut random = StdRng::seed_from_u64(2);
        let list = rows.iter().filter_map(|row| {
            let mut at = random.random_range(0..total);
            let drawn = usable.iter().position(|(replayed, _)| {
                let here = at < replayed.count;
                at = at.saturating_sub(replayed.count);
                here
            });
            let drawn = drawn.unwrap_or_default();
            Some((drawn, values(&usable[drawn].1, row).ok()?))
        });
        let list: Vec<_> = list.collect();
        if list.is_empty() {
            let why = "no row has a value for all of its markers".to_string();
            return Err(Error::NothingToReplay { table: table.to_string(), why });
        }
        Ok(Requests {
            statements: usable.iter().map(|(replayed, _)| table.qualify(&replayed.statement)).collect(),
            list,
        })
    }
}

/// The value of each marker of a statement, from a row of the table.
///
/// # Errors
/// The marker for which the row has no value.
fn values(prepared: &Prepared, row: &RawRows) -> Result<Vec<Option<Vec<u8>>>, String> {
    let of_column = |name: &str| {
        let at = row.columns.iter().position(|(column, _)| column == name)?;
        row.rows.first()?.get(at).cloned().flatten()
    };
    let value = |(name, of): &(String, Type)| {
        let found = match name.as_str() {
            "[limit]" | "[per_partition_limit]" => Some(ROWS.to_be_bytes().to_vec()),
            _ => match name.strip_prefix("in(").and_then(|name| name.strip_suffix(')')) {
                // A list with a single value.
                Some(name) if matches!(of, Type::List(_)) => of_column(name).map(|value| {
                    let length = u32::try_from(value.len()).unwrap_or(u32::MAX);
                    [&1_u32.to_be_bytes()[..], &length.to_be_bytes()[..], &value[..]].concat()
                }),
                _ => of_column(name),
            },
        };
        found.map(Some).ok_or_else(|| name.clone())
    };
    prepared.markers.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_figures_of_its_own_reads() {
        let before =
            ReadCounts { reads: 10, read_total_us: 1000, sstables_per_read: vec![0, 10], ..ReadCounts::default() };
        let after = ReadCounts {
            reads: 12,
            read_total_us: 1500,
            sstables_per_read: vec![0, 10, 0, 2],
            tombstones_per_slice: vec![2],
            live_per_slice: vec![0, 2],
        };
        let taken = (1..=100).map(Duration::from_millis).collect();
        let figures = figures(taken, &before, &after);
        assert_eq!(figures["read_mean"], 50.5);
        assert_eq!((figures["read_p50"], figures["read_p99"], figures["local_read"]), (50.0, 99.0, 0.25));
        assert_eq!(
            (figures["sstables_per_read"], figures["tombstones_per_slice"], figures["live_per_slice"]),
            (3.0, 1.0, 2.0)
        );
    }
}
