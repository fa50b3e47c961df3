//! Matches parameters with the markers of a prepared statement, once before the run.

use super::distribution::Numbers;
use super::made::{BoundRows, Fill, cql_name};
use super::parameter::{Generator, Literal};
use super::{Content, Made, Operation, PartitionRange, Pool, Workload};
use crate::Error;
use crate::rows::Row;
use scylla::frame::response::result::{CollectionType, ColumnSpec, ColumnType, NativeType};
use std::time::Duration;

/// An operation whose bind markers are known to fit its parameters.
#[derive(Debug)]
pub(crate) struct BoundOperation {
    cells: Vec<Cell>,
    made: Option<BoundRows>,
    /// Number of executions of the statement in one request.
    rows: u64,
}

/// Smallest and largest number of items of a list; None if the marker is no list.
type Items = Option<(u32, u32)>;

/// The value of one marker.
#[derive(Debug)]
pub(super) struct Cell {
    pub source: Source,
    pub shape: Shape,
    /// The stream of random draws: one per parameter, so that all markers of a parameter in an operation agree.
    pub stream: u64,
    pub items: Items,
    /// All rows of a batch have the same value.
    pub per_request: bool,
}

#[derive(Debug)]
pub(super) enum Source {
    /// A key. While populating, the keys are the digits of one number, which is divided by `before` to get this key.
    Key {
        numbers: Numbers,
        before: u64,
        prefix: String,
        size_bytes: usize,
    },
    Value {
        min_bytes: u32,
        sizes: Numbers,
        content: Content,
    },
    Integer {
        min: i64,
        numbers: Numbers,
    },
    Time {
        before_ns: i64,
        truncate_ns: i64,
    },
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    Float,
    Double,
    Boolean,
    Text,
    Blob,
    Uuid,
    TimeUuid,
    Timestamp,
    Date,
}

impl BoundOperation {
    /// Fits the parameters to the bind markers of a prepared statement, as the node describes them.
    pub fn new<'s>(
        workload: &Workload,
        operation: &str,
        markers: impl Iterator<Item = &'s ColumnSpec<'s>>,
    ) -> Result<BoundOperation, Error> {
        let itself = workload.operations.iter().find(|itself| itself.name == operation);
        if let Some(Made::Ranges { .. }) = itself.and_then(|itself| itself.made) {
            return Ok(BoundOperation { cells: Vec::new(), made: None, rows: 1 });
        }
        if let Some(itself) = itself.filter(|itself| itself.made.is_some()) {
            let made = BoundRows::new(workload, itself, markers)?;
            return Ok(BoundOperation { cells: Vec::new(), made, rows: 1 });
        }
        let per_request = itself.and_then(|itself| itself.batch.as_ref()).map_or(&[][..], |batch| &batch.by);
        let mut cells = Vec::new();
        // While populating, keys are digits of one number: the first key is its lowest digit.
        let mut keys: Vec<(usize, u64)> = Vec::new();
        for marker in markers {
            let known = workload.parameters.iter().enumerate();
            // The names were checked when the file was read. A marker that is missing here is one that CQL has named
            // itself.
            let found = known.clone().find(|(_, parameter)| parameter.name.eq_ignore_ascii_case(marker.name()));
            let Some((position, parameter)) = found else {
                return Err(wrong(operation, marker, "none of the workload's"));
            };
            let Some((source, shape, items)) = fit(&parameter.generator, marker.typ()) else {
                return Err(wrong(operation, marker, &parameter.generator.describe()));
            };
            let per_request = per_request.contains(&parameter.name);
            let mut cell = Cell { source, shape, stream: position as u64, items, per_request };
            if let Some((before, population)) = cell.digit() {
                match keys.iter().position(|(other, _)| *other == position) {
                    // A second marker of the same parameter has the same value.
                    Some(first) => *before = product(&keys[..first]),
                    None => {
                        *before = product(&keys);
                        keys.push((position, population));
                    }
                }
            }
            cells.push(cell);
        }
        Ok(BoundOperation { cells, made: None, rows: itself.map_or(1, Operation::rows) })
    }

    /// Takes over the keys of another operation, to read the rows that it writes. The error is the index of a parameter
    /// that is a key only here.
    pub fn with_keys_of(mut self, other: &BoundOperation) -> Result<BoundOperation, usize> {
        for cell in &mut self.cells {
            let stream = cell.stream;
            let same = other.cells.iter().find(|other| other.stream == stream);
            cell.per_request = same.is_some_and(|same| same.per_request);
            if let Some((before, _)) = cell.digit() {
                match same.map(|same| &same.source) {
                    Some(Source::Key { before: others, .. }) => *before = *others,
                    _ => return Err(stream as usize),
                }
            }
        }
        self.rows = other.rows;
        Ok(self)
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The source of each marker's value, if rows are generated.
    pub(super) fn fills(&self) -> Option<&[Fill]> {
        self.made.as_ref().map(BoundRows::markers)
    }

    /// The partitions of request `number`; None if no rows are generated.
    pub fn take(&self, pool: &Pool, seed: u64, number: u64) -> PartitionRange {
        self.made.as_ref().map_or_else(PartitionRange::default, |made| made.take(pool, seed, number))
    }

    /// The rows of request `number`; for a query, the row with its values.
    pub(super) fn make(&self, taken: PartitionRange, seed: u64, number: u64) -> Vec<Row> {
        self.made.as_ref().map_or_else(Vec::new, |made| made.make(taken, seed, number))
    }

    /// Number of rows that a plain request writes; None for a query.
    pub fn writes(&self) -> Option<u64> {
        self.made.as_ref().and_then(BoundRows::writes)
    }

    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The number of combinations of its keys.
    pub fn combinations(&self) -> u64 {
        let last = self.cells.iter().filter_map(Cell::population).max_by_key(|(before, _)| *before);
        last.map_or(1, |(before, population)| before.saturating_mul(population))
    }

    /// Whether each marker is a key.
    pub fn are_keys(&self) -> impl Iterator<Item = bool> {
        self.cells.iter().map(|cell| matches!(cell.source, Source::Key { .. }) && cell.items.is_none())
    }

    /// Parameter indices of its markers, in order.
    pub fn parameters(&self) -> impl Iterator<Item = usize> {
        self.cells.iter().map(|cell| cell.stream as usize)
    }
}

impl Cell {
    /// The divisor of a key while populating, and the number of keys; None for values that are no keys, and for fixed
    /// keys.
    fn population(&self) -> Option<(u64, u64)> {
        match &self.source {
            Source::Key { before, numbers, .. } if !numbers.is_fixed() && self.items.is_none() => {
                Some((*before, numbers.count()))
            }
            _ => None,
        }
    }

    /// Like the function above, for changing them.
    fn digit(&mut self) -> Option<(&mut u64, u64)> {
        match &mut self.source {
            Source::Key { before, numbers, .. } if !numbers.is_fixed() && self.items.is_none() => {
                Some((before, numbers.count()))
            }
            _ => None,
        }
    }
}

fn product(keys: &[(usize, u64)]) -> u64 {
    keys.iter().fold(1, |product, (_, population)| product.saturating_mul(*population))
}

/// Returns None if values of that type can't be generated.
fn fit(generator: &Generator, typ: &ColumnType<'_>) -> Option<(Source, Shape, Items)> {
    let (single, typ, items) = match (generator, typ) {
        (
            Generator::List { of, min_items, max_items },
            ColumnType::Collection { typ: CollectionType::List(item) | CollectionType::Set(item), .. },
        ) => (of.as_ref(), item.as_ref(), Some((*min_items, *max_items))),
        (single, typ) => (single, typ, None),
    };
    let shape = shape(typ)?;
    Some((source(single, shape)?, shape, items))
}

impl Generator {
    fn describe(&self) -> String {
        match self {
            Generator::Key { population, .. } => format!("key, one of {population}"),
            other => other.kind().to_string(),
        }
    }
}

fn wrong(operation: &str, marker: &ColumnSpec<'_>, generator: &str) -> Error {
    Error::Type {
        operation: operation.to_string(),
        parameter: marker.name().to_string(),
        generator: generator.to_string(),
        cql_type: cql_name(marker.typ()),
    }
}

fn shape(typ: &ColumnType<'_>) -> Option<Shape> {
    let ColumnType::Native(native) = typ else { return None };
    Some(match native {
        NativeType::TinyInt => Shape::TinyInt,
        NativeType::SmallInt => Shape::SmallInt,
        NativeType::Int => Shape::Int,
        NativeType::BigInt | NativeType::Counter => Shape::BigInt,
        NativeType::Float => Shape::Float,
        NativeType::Double => Shape::Double,
        NativeType::Boolean => Shape::Boolean,
        NativeType::Text | NativeType::Ascii => Shape::Text,
        NativeType::Blob => Shape::Blob,
        NativeType::Uuid => Shape::Uuid,
        NativeType::Timeuuid => Shape::TimeUuid,
        NativeType::Timestamp => Shape::Timestamp,
        NativeType::Date => Shape::Date,
        _ => return None,
    })
}

/// Returns None if values of that type can't be generated.
fn source(generator: &Generator, shape: Shape) -> Option<Source> {
    match generator {
        Generator::Key { population, distribution, prefix, size_bytes, .. } => {
            if matches!(shape, Shape::TimeUuid | Shape::Date) || *population as i128 - 1 > range(shape).1 {
                return None;
            }
            let numbers = Numbers::new(*distribution, 0.0, *population)?;
            Some(Source::Key { numbers, before: 1, prefix: prefix.clone(), size_bytes: *size_bytes as usize })
        }
        Generator::Value { min_bytes, max_bytes, sizes, content } => match (shape, content) {
            (Shape::Blob, _) | (Shape::Text, Content::Text | Content::Json) => {
                let sizes = Numbers::new(*sizes, f64::from(*min_bytes), u64::from(max_bytes - min_bytes) + 1)?;
                Some(Source::Value { min_bytes: *min_bytes, sizes, content: *content })
            }
            _ => None,
        },
        Generator::Integer { min, max, distribution } => {
            let (low, high) = range(shape);
            let whole = match shape {
                Shape::Boolean | Shape::Text | Shape::Blob | Shape::Uuid | Shape::TimeUuid | Shape::Date => {
                    return None;
                }
                _ => low <= i128::from(*min) && i128::from(*max) <= high,
            };
            let count = u64::try_from(i128::from(*max) - i128::from(*min) + 1).unwrap_or(u64::MAX);
            let numbers = whole.then(|| Numbers::new(*distribution, *min as f64, count))??;
            Some(Source::Integer { min: *min, numbers })
        }
        Generator::Timestamp { before, truncate } => match shape {
            Shape::Timestamp | Shape::BigInt | Shape::Date | Shape::TimeUuid => Some(Source::Time {
                before_ns: nanoseconds(*before),
                truncate_ns: truncate.map_or(1, nanoseconds).max(1),
            }),
            _ => None,
        },
        Generator::Fixed(literal) => fixed(literal, shape).map(Source::Bytes),
        Generator::List { .. } => None,
    }
}

/// The smallest and the largest integer of a type.
fn range(shape: Shape) -> (i128, i128) {
    match shape {
        Shape::TinyInt => (i8::MIN.into(), i8::MAX.into()),
        Shape::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        Shape::Int => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

fn fixed(literal: &Literal, shape: Shape) -> Option<Vec<u8>> {
    Some(match (literal, shape) {
        (Literal::Text(text), Shape::Text | Shape::Blob) => text.as_bytes().to_vec(),
        (Literal::Integer(whole), Shape::TinyInt) => i8::try_from(*whole).ok()?.to_be_bytes().to_vec(),
        (Literal::Integer(whole), Shape::SmallInt) => i16::try_from(*whole).ok()?.to_be_bytes().to_vec(),
        (Literal::Integer(whole), Shape::Int) => i32::try_from(*whole).ok()?.to_be_bytes().to_vec(),
        (Literal::Integer(whole), Shape::BigInt | Shape::Timestamp) => whole.to_be_bytes().to_vec(),
        (Literal::Integer(whole), Shape::Double) => (*whole as f64).to_be_bytes().to_vec(),
        (Literal::Integer(whole), Shape::Float) => (*whole as f32).to_be_bytes().to_vec(),
        (Literal::Float(number), Shape::Double) => number.to_be_bytes().to_vec(),
        (Literal::Float(number), Shape::Float) => (*number as f32).to_be_bytes().to_vec(),
        (Literal::Boolean(boolean), Shape::Boolean) => vec![u8::from(*boolean)],
        _ => return None,
    })
}
