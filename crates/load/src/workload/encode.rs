//! Values in the encoding of CQL, written straight into the request.

use super::draw::{Draw, mix};
use super::parameter::{Distribution, Generator, Literal};
use super::{Content, Pool, Workload};
use crate::Error;
use rand::distr::Distribution as _;
use rand_distr::Zipf;
use scylla::errors::SerializationError;
use scylla::frame::response::result::{ColumnSpec, ColumnType, NativeType};
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::{CellOverflowError, CellWriter, RowWriter};
use std::time::Duration;

/// An operation whose bind markers are known to fit its parameters.
#[derive(Debug)]
pub(crate) struct BoundOperation {
    cells: Vec<Cell>,
}

#[derive(Debug)]
struct Cell {
    source: Source,
    shape: Shape,
    /// Which stream of draws it takes: one per parameter, so that an operation's markers of one parameter agree.
    stream: u64,
}

#[derive(Debug)]
enum Source {
    Key { population: u64, numbers: Numbers, before: u64, prefix: String, size_bytes: usize },
    Value { min_bytes: u32, max_bytes: u32, content: Content },
    Time { before_ns: i64, truncate_ns: i64 },
    Bytes(Vec<u8>),
}

#[derive(Debug)]
enum Numbers {
    Sequential,
    Uniform,
    Zipf(Zipf<f64>),
    Fixed(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
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

/// Which keys a request takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sequence {
    /// As their distributions say; the request's number is the place of those in sequence.
    Distributed,
    /// All combinations of keys, one after the other; this is the request's place among them.
    Populate(u64),
}

/// A request's values, made while they are written.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub operation: &'a BoundOperation,
    pub pool: &'a Pool,
    pub seed: u64,
    pub number: u64,
    pub sequence: Sequence,
    pub intended_start_ns: i64,
}

impl BoundOperation {
    /// Fits the parameters to what the node said of the markers of a prepared statement.
    pub fn new<'s>(
        workload: &Workload,
        operation: &str,
        markers: impl Iterator<Item = &'s ColumnSpec<'s>>,
    ) -> Result<BoundOperation, Error> {
        let mut cells = Vec::new();
        // For populating, keys are digits of one number: the first key is its lowest digit.
        let mut keys: Vec<(usize, u64)> = Vec::new();
        for marker in markers {
            let known = workload.parameters.iter().enumerate();
            // The names were checked when the file was read; a missing one here is a marker that CQL itself made up.
            let found = known.clone().find(|(_, parameter)| parameter.name.eq_ignore_ascii_case(marker.name()));
            let Some((position, parameter)) = found else {
                return Err(wrong(operation, marker, "none of the workload's"));
            };
            let shape = shape(marker.typ());
            let fits = shape.and_then(|shape| source(&parameter.generator, shape).map(|source| (shape, source)));
            let Some((shape, mut source)) = fits else {
                return Err(wrong(operation, marker, &parameter.generator.describe()));
            };
            if let Source::Key { before, population, numbers, .. } = &mut source
                && !matches!(numbers, Numbers::Fixed(_))
            {
                let others = keys.iter().filter(|(other, _)| *other != position);
                *before = others.fold(1u64, |product, (_, population)| product.saturating_mul(*population));
                match keys.iter().position(|(other, _)| *other == position) {
                    // A parameter's second marker is the same digit as its first.
                    Some(first) => {
                        let lower = keys[..first].iter();
                        *before = lower.fold(1u64, |product, (_, population)| product.saturating_mul(*population));
                    }
                    None => keys.push((position, *population)),
                }
            }
            cells.push(Cell { source, shape, stream: position as u64 });
        }
        Ok(BoundOperation { cells })
    }
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

fn cql_name(typ: &ColumnType<'_>) -> String {
    match typ {
        ColumnType::Native(native) => format!("{native:?}").to_lowercase(),
        ColumnType::Collection { .. } => "a collection".to_string(),
        _ => "a tuple, vector or type of your own".to_string(),
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

/// None when the generator cannot make values of that shape.
fn source(generator: &Generator, shape: Shape) -> Option<Source> {
    match generator {
        Generator::Key { population, distribution, prefix, size_bytes } => {
            let largest = match shape {
                Shape::TinyInt => i8::MAX as u64,
                Shape::SmallInt => i16::MAX as u64,
                Shape::Int => i32::MAX as u64,
                Shape::TimeUuid | Shape::Date => return None,
                _ => i64::MAX as u64,
            };
            if population - 1 > largest {
                return None;
            }
            let numbers = match *distribution {
                Distribution::Sequential => Numbers::Sequential,
                Distribution::Uniform => Numbers::Uniform,
                Distribution::Zipf { exponent } => Numbers::Zipf(Zipf::new(*population as f64, exponent).ok()?),
                Distribution::Fixed { key } => Numbers::Fixed(key),
            };
            let (prefix, size_bytes) = (prefix.clone(), *size_bytes as usize);
            Some(Source::Key { population: *population, numbers, before: 1, prefix, size_bytes })
        }
        Generator::Value { min_bytes, max_bytes, content } => match (shape, content) {
            (Shape::Blob, _) | (Shape::Text, Content::Text) => {
                Some(Source::Value { min_bytes: *min_bytes, max_bytes: *max_bytes, content: *content })
            }
            _ => None,
        },
        Generator::Timestamp { before, truncate } => match shape {
            Shape::Timestamp | Shape::BigInt | Shape::Date | Shape::TimeUuid => Some(Source::Time {
                before_ns: nanoseconds(*before),
                truncate_ns: truncate.map_or(1, nanoseconds).max(1),
            }),
            _ => None,
        },
        Generator::Fixed(literal) => fixed(literal, shape).map(Source::Bytes),
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

impl SerializeRow for Call<'_> {
    fn serialize(&self, _: &RowSerializationContext<'_>, writer: &mut RowWriter) -> Result<(), SerializationError> {
        self.write_all(writer).map_err(SerializationError::new)
    }

    fn is_empty(&self) -> bool {
        self.operation.cells.is_empty()
    }
}

impl Call<'_> {
    /// Appends the values, each with its length, as they stand in a frame.
    pub fn write_values(&self, out: &mut Vec<u8>) -> Result<(), CellOverflowError> {
        self.write_all(&mut RowWriter::new(out))
    }

    fn write_all(&self, writer: &mut RowWriter) -> Result<(), CellOverflowError> {
        self.operation.cells.iter().try_for_each(|cell| self.write(cell, writer.make_cell_writer()))
    }

    fn write(&self, cell: &Cell, writer: CellWriter<'_>) -> Result<(), CellOverflowError> {
        let mut draw = Draw::new(self.seed, self.number, cell.stream);
        match &cell.source {
            Source::Bytes(bytes) => writer.set_value(bytes).map(drop),
            Source::Value { min_bytes, max_bytes, content } => {
                let length = min_bytes + draw.below(u64::from(max_bytes - min_bytes) + 1) as u32;
                writer.set_value(self.pool.slice(*content, length as usize, &mut draw)).map(drop)
            }
            Source::Time { before_ns, truncate_ns } => {
                let time_ns = self.intended_start_ns - before_ns;
                write_time(time_ns - time_ns.rem_euclid(*truncate_ns), cell.shape, &mut draw, writer)
            }
            Source::Key { population, numbers, before, prefix, size_bytes } => {
                let key = match (numbers, self.sequence) {
                    (Numbers::Fixed(key), _) => *key,
                    (_, Sequence::Populate(place)) => (place / before) % population,
                    (Numbers::Sequential, _) => self.number % population,
                    (Numbers::Uniform, _) => draw.below(*population),
                    // Its ranks begin at 1.
                    (Numbers::Zipf(zipf), _) => (zipf.sample(&mut draw) as u64).clamp(1, *population) - 1,
                };
                write_key(key, cell.shape, prefix, *size_bytes, writer)
            }
        }
    }
}

fn write_key(
    key: u64,
    shape: Shape,
    prefix: &str,
    size_bytes: usize,
    writer: CellWriter<'_>,
) -> Result<(), CellOverflowError> {
    match shape {
        // The population is known to fit, so that no bits are cut off.
        Shape::TinyInt => writer.set_value(&(key as i8).to_be_bytes()),
        Shape::SmallInt => writer.set_value(&(key as i16).to_be_bytes()),
        Shape::Int => writer.set_value(&(key as i32).to_be_bytes()),
        Shape::Float => writer.set_value(&(key as f32).to_be_bytes()),
        Shape::Double => writer.set_value(&(key as f64).to_be_bytes()),
        Shape::Boolean => writer.set_value(&[(key & 1) as u8]),
        Shape::Uuid => writer.set_value(&uuid(mix(key), mix(!key), 4)),
        Shape::Text => {
            let mut digits = [0; 20];
            let digits = decimal(key, &mut digits);
            let mut cell = writer.into_value_builder();
            cell.append_bytes(prefix.as_bytes());
            for _ in prefix.len() + digits.len()..size_bytes {
                cell.append_bytes(b"0");
            }
            cell.append_bytes(digits);
            cell.finish()
        }
        Shape::Blob => {
            let mut cell = writer.into_value_builder();
            cell.append_bytes(&key.to_be_bytes());
            for _ in 8..size_bytes {
                cell.append_bytes(&[0]);
            }
            cell.finish()
        }
        Shape::BigInt | Shape::Timestamp | Shape::Date | Shape::TimeUuid => writer.set_value(&key.to_be_bytes()),
    }
    .map(drop)
}

fn write_time(time_ns: i64, shape: Shape, draw: &mut Draw, writer: CellWriter<'_>) -> Result<(), CellOverflowError> {
    match shape {
        // Days since the epoch, with the epoch in the middle of the range (CQL protocol, section 6.5 "date").
        Shape::Date => {
            let days = time_ns.div_euclid(86_400_000_000_000) + (1 << 31);
            writer.set_value(&(days as u32).to_be_bytes())
        }
        // Version 1 counts 100 ns from 15 October 1582 (RFC 9562, section 5.1).
        Shape::TimeUuid => {
            let ticks = (time_ns.div_euclid(100) + 0x01b2_1dd2_1381_4000) as u64;
            let high = (ticks << 32) | ((ticks >> 16) & 0xffff_0000) | ((ticks >> 48) & 0x0fff);
            writer.set_value(&uuid(high, draw.next(), 1))
        }
        _ => writer.set_value(&time_ns.div_euclid(1_000_000).to_be_bytes()),
    }
    .map(drop)
}

fn uuid(high: u64, low: u64, version: u64) -> [u8; 16] {
    let high = (high & !0xf000) | (version << 12);
    let low = (low & (u64::MAX >> 2)) | (1 << 63);
    ((u128::from(high) << 64) | u128::from(low)).to_be_bytes()
}

fn decimal(mut number: u64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &buffer[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scylla::frame::response::result::TableSpec;

    const COLUMNS: &str = r#"
        [parameters.a]
        kind = "key"
        population = 3
        [parameters.b]
        kind = "key"
        population = 100
        distribution = "sequential"
        prefix = "k"
        size_bytes = 6
        [parameters.value]
        kind = "value"
        size_bytes = 5
        content = "text"
        [parameters.time]
        kind = "timestamp"
        truncate = "1s"
        [parameters.fixed]
        kind = "fixed"
        value = 7
        [operations.write]
        cql = "INSERT"
    "#;

    fn workload() -> Workload {
        Workload::from_toml("test", "test.toml", COLUMNS).unwrap()
    }

    fn bind(columns: &[(&'static str, NativeType)]) -> Result<BoundOperation, Error> {
        let table = TableSpec::borrowed("ks", "t");
        let specs: Vec<ColumnSpec<'_>> = columns
            .iter()
            .map(|(name, native)| ColumnSpec::borrowed(name, ColumnType::Native(native.clone()), table.clone()))
            .collect();
        BoundOperation::new(&workload(), "write", specs.iter())
    }

    /// The values of a request, without their lengths.
    fn values(operation: &BoundOperation, number: u64, sequence: Sequence) -> Vec<Vec<u8>> {
        static POOL: std::sync::OnceLock<Pool> = std::sync::OnceLock::new();
        let pool = POOL.get_or_init(|| Pool::new(1, &workload().parameters));
        let call = Call { operation, pool, seed: 1, number, sequence, intended_start_ns: 1_700_000_000_123_456_789 };
        let mut buffer = Vec::new();
        call.serialize(&RowSerializationContext::empty(), &mut RowWriter::new(&mut buffer)).unwrap();
        let mut cells = Vec::new();
        let mut rest = buffer.as_slice();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = i32::from_be_bytes(*length) as usize;
            cells.push(after[..length].to_vec());
            rest = &after[length..];
        }
        cells
    }

    #[test]
    fn a_request_is_the_same_each_time_and_unlike_others() {
        let operation = bind(&[("a", NativeType::BigInt), ("value", NativeType::Text)]).unwrap();
        assert_eq!(values(&operation, 5, Sequence::Distributed), values(&operation, 5, Sequence::Distributed));
        let distinct: std::collections::HashSet<_> =
            (0..100).map(|number| values(&operation, number, Sequence::Distributed)).collect();
        assert!(distinct.len() > 90, "{}", distinct.len());
    }

    #[test]
    fn types_have_the_encoding_of_cql() {
        let operation = bind(&[
            ("b", NativeType::Text),
            ("b", NativeType::Int),
            ("b", NativeType::Blob),
            ("fixed", NativeType::SmallInt),
            ("fixed", NativeType::Double),
            ("time", NativeType::Timestamp),
            ("time", NativeType::Date),
        ])
        .unwrap();
        let cells = values(&operation, 142, Sequence::Distributed);
        assert_eq!(cells[0], b"k00042");
        assert_eq!(cells[1], 42i32.to_be_bytes());
        assert_eq!(cells[2], 42u64.to_be_bytes());
        assert_eq!(cells[3], 7i16.to_be_bytes());
        assert_eq!(cells[4], 7f64.to_be_bytes());
        assert_eq!(cells[5], 1_700_000_000_000i64.to_be_bytes());
        assert_eq!(cells[6], (19_675u32 + (1 << 31)).to_be_bytes());
    }

    #[test]
    fn uuids_carry_version_and_variant_and_time() {
        let operation = bind(&[("a", NativeType::Uuid), ("time", NativeType::Timeuuid)]).unwrap();
        let cells = values(&operation, 1, Sequence::Distributed);
        let versions: Vec<(u8, u8)> = cells.iter().map(|uuid| (uuid[6] >> 4, uuid[8] >> 6)).collect();
        assert_eq!(versions, [(4, 2), (1, 2)]);
        let time = &cells[1];
        let field = |range: std::ops::Range<usize>| {
            time[range].iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
        };
        let ticks = (field(6..8) & 0x0fff) << 48 | field(4..6) << 32 | field(0..4);
        assert_eq!((ticks as i64 - 0x01b2_1dd2_1381_4000) * 100, 1_700_000_000_000_000_000);
    }

    #[test]
    fn populating_takes_each_combination_of_keys_once() {
        let operation =
            bind(&[("a", NativeType::BigInt), ("b", NativeType::BigInt), ("a", NativeType::BigInt)]).unwrap();
        let rows: Vec<_> = (0..300).map(|place| values(&operation, 0, Sequence::Populate(place))).collect();
        assert!(rows.iter().all(|row| row[0] == row[2]));
        assert_eq!(rows.iter().collect::<std::collections::HashSet<_>>().len(), 300);
    }

    #[test]
    fn what_cannot_be_encoded_is_refused_by_name() {
        let refused = [
            ("b", NativeType::TinyInt),
            ("value", NativeType::Int),
            ("time", NativeType::Text),
            ("fixed", NativeType::Text),
            ("a", NativeType::Inet),
            ("elsewhere", NativeType::Int),
        ]
        .map(|column| bind(&[column]).err().map_or("accepted".to_string(), |error| error.to_string()));
        insta::assert_snapshot!(refused.join("\n"));
    }

    #[test]
    fn zipf_prefers_the_first_keys() {
        let text = COLUMNS.replacen("population = 3", "population = 1000\ndistribution = \"zipf\"", 1);
        let workload = Workload::from_toml("test", "test.toml", &text).unwrap();
        let spec = ColumnSpec::borrowed("a", ColumnType::Native(NativeType::BigInt), TableSpec::borrowed("ks", "t"));
        let operation = BoundOperation::new(&workload, "write", [spec].iter()).unwrap();
        let first = (0..2000).filter(|number| values(&operation, *number, Sequence::Distributed)[0] == [0; 8]).count();
        // 1 / H(1000, 0.99) is 0.13.
        assert!((180..340).contains(&first), "{first}");
    }
}
