//! Encodes values in CQL's binary format, directly into the request.

use super::bind::{BoundOperation, Cell, Source};
use super::made::Fill;
use super::values::{write_integer, write_key, write_time};
use super::{PartitionRange, Pool};
use crate::draw::Draw;
use crate::rows::Row;
use scylla::errors::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::{CellOverflowError, CellWriter, RowWriter};

/// How a request chooses its keys.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sequence {
    /// Keys are drawn from their distributions; a sequence uses the request's number.
    Distributed,
    /// All combinations of keys, one after another; this is the index of the combination.
    Populate(u64),
}

/// Generates a request's values while writing them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub operation: &'a BoundOperation,
    pub pool: &'a Pool,
    pub seed: u64,
    pub number: u64,
    pub sequence: Sequence,
    pub intended_start_ns: i64,
    /// The partitions of generated rows.
    pub taken: PartitionRange,
}

/// A generated row, for the markers of an operation.
#[derive(Debug)]
pub(crate) struct MadeRow<'a> {
    row: Row,
    fills: &'a [Fill],
}

impl MadeRow<'_> {
    fn write(&self, writer: &mut RowWriter) -> Result<(), CellOverflowError> {
        self.fills.iter().try_for_each(|fill| {
            let cell = writer.make_cell_writer();
            match fill {
                Fill::Column(column) => cell.set_value(self.row.get(*column).map_or(&[][..], |value| &value.cell)),
                fill => cell.set_value(&fill.cell(&self.row)),
            }
            .map(drop)
        })
    }
}

impl SerializeRow for MadeRow<'_> {
    fn serialize(&self, _: &RowSerializationContext<'_>, writer: &mut RowWriter) -> Result<(), SerializationError> {
        self.write(writer).map_err(SerializationError::new)
    }

    fn is_empty(&self) -> bool {
        self.fills.is_empty()
    }
}

impl SerializeRow for Call<'_> {
    fn serialize(&self, _: &RowSerializationContext<'_>, writer: &mut RowWriter) -> Result<(), SerializationError> {
        self.write_all(writer).map_err(SerializationError::new)
    }

    fn is_empty(&self) -> bool {
        self.operation.cells().is_empty() && self.operation.fills().is_none_or(<[Fill]>::is_empty)
    }
}

impl<'a> Call<'a> {
    /// Appends the values, each with its length, as in a frame.
    pub fn write_values(&self, out: &mut Vec<u8>) -> Result<(), CellOverflowError> {
        self.write_all(&mut RowWriter::new(out))
    }

    /// The generated rows of a request.
    pub fn made(&self) -> Vec<MadeRow<'a>> {
        let fills = self.operation.fills().unwrap_or_default();
        let rows = self.operation.make(self.taken, self.seed, self.number);
        rows.into_iter().map(|row| MadeRow { row, fills }).collect()
    }

    fn write_all(&self, writer: &mut RowWriter) -> Result<(), CellOverflowError> {
        if self.operation.fills().is_some() {
            return self.made().first().map_or(Ok(()), |row| row.write(writer));
        }
        self.operation.cells().iter().try_for_each(|cell| self.write(cell, writer.make_cell_writer()))
    }

    /// The rows of a batch, each with a number of its own; for a plain request, the request itself.
    pub fn rows(&self) -> impl Iterator<Item = Call<'a>> + use<'a> {
        let (call, rows) = (*self, self.operation.rows());
        (0..rows).map(move |row| Call {
            number: call.number * rows + row,
            sequence: match call.sequence {
                Sequence::Populate(place) => Sequence::Populate(place * rows + row),
                Sequence::Distributed => Sequence::Distributed,
            },
            ..call
        })
    }

    fn write(&self, cell: &Cell, writer: CellWriter<'_>) -> Result<(), CellOverflowError> {
        let number = match cell.per_request {
            true => self.number - self.number % self.operation.rows(),
            false => self.number,
        };
        let mut draw = Draw::new(self.seed, number, cell.stream);
        let Some((min_items, max_items)) = cell.items else {
            return self.write_single(cell, number, &mut draw, writer);
        };
        // A list is encoded as the number of items, followed by each item with its length (CQL protocol, section 6.12).
        let items = min_items + draw.below(u64::from(max_items - min_items) + 1) as u32;
        let mut list = writer.into_value_builder();
        list.append_bytes(&items.to_be_bytes());
        for _ in 0..items {
            self.write_single(cell, number, &mut draw, list.make_sub_writer())?;
        }
        list.finish().map(drop)
    }

    fn write_single(
        &self,
        cell: &Cell,
        number: u64,
        draw: &mut Draw,
        writer: CellWriter<'_>,
    ) -> Result<(), CellOverflowError> {
        match &cell.source {
            Source::Bytes(bytes) => writer.set_value(bytes).map(drop),
            Source::Value { min_bytes, sizes, content } => {
                let length = *min_bytes as usize + sizes.draw(number, draw) as usize;
                writer.set_value(self.pool.slice(*content, length, draw)).map(drop)
            }
            Source::Integer { min, numbers } => {
                let whole = min.wrapping_add(numbers.draw(number, draw) as i64);
                write_integer(whole, cell.shape, writer)
            }
            Source::Time { before_ns, truncate_ns } => {
                let time_ns = self.intended_start_ns - before_ns;
                write_time(time_ns - time_ns.rem_euclid(*truncate_ns), cell.shape, draw, writer)
            }
            Source::Key { numbers, before, prefix, size_bytes } => {
                let key = match self.sequence {
                    Sequence::Populate(place) if !numbers.is_fixed() => (place / before) % numbers.count(),
                    _ => numbers.draw(number, draw),
                };
                write_key(key, cell.shape, prefix, *size_bytes, writer)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::workload::Workload;
    use scylla::frame::response::result::{CollectionType, ColumnSpec, ColumnType, NativeType, TableSpec};

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
        [parameters.ttl]
        kind = "integer"
        min = 60
        max = 90
        [parameters.tags]
        kind = "key"
        population = 7
        min_items = 1
        max_items = 3
        [operations.write]
        cql = "INSERT"
        [operations.fill]
        cql = "INSERT :a :b :value"
        batch = 5
        batch_by = ["a"]
        weight = 0
    "#;

    fn workload() -> Workload {
        Workload::from_toml("test", "test.toml", COLUMNS).unwrap()
    }

    fn bind(columns: &[(&'static str, NativeType)]) -> Result<BoundOperation, Error> {
        let native = |(name, native): &(&'static str, NativeType)| (*name, ColumnType::Native(native.clone()));
        bind_for("write", columns.iter().map(native))
    }

    fn bind_for(
        operation: &str,
        columns: impl Iterator<Item = (&'static str, ColumnType<'static>)>,
    ) -> Result<BoundOperation, Error> {
        let table = TableSpec::borrowed("ks", "t");
        let specs: Vec<ColumnSpec<'_>> =
            columns.map(|(name, typ)| ColumnSpec::borrowed(name, typ, table.clone())).collect();
        BoundOperation::new(&workload(), operation, specs.iter())
    }

    /// The values of a request, without their lengths.
    fn values(operation: &BoundOperation, number: u64, sequence: Sequence) -> Vec<Vec<u8>> {
        static POOL: std::sync::OnceLock<Pool> = std::sync::OnceLock::new();
        let pool = POOL.get_or_init(|| Pool::new(1, &workload().parameters));
        let taken = PartitionRange::default();
        let intended_start_ns = 1_700_000_000_123_456_789;
        cells(Call { operation, pool, seed: 1, number, sequence, intended_start_ns, taken })
    }

    fn cells(call: Call<'_>) -> Vec<Vec<u8>> {
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
    fn whole_numbers_lie_in_their_range_whatever_the_type() {
        let operation = bind(&[("ttl", NativeType::Int), ("ttl", NativeType::TinyInt), ("ttl", NativeType::Double)]);
        let operation = operation.unwrap();
        for number in 0..100 {
            let cells = values(&operation, number, Sequence::Distributed);
            let whole = i32::from_be_bytes(cells[0].as_slice().try_into().unwrap());
            assert!((60..=90).contains(&whole));
            assert_eq!(
                (cells[1].as_slice(), cells[2].as_slice()),
                (&[whole as u8][..], &f64::from(whole).to_be_bytes()[..])
            );
        }
    }

    #[test]
    fn lists_and_sets_are_their_length_and_items() {
        let item = Box::new(ColumnType::Native(NativeType::SmallInt));
        let list = |typ| ("tags", ColumnType::Collection { frozen: false, typ });
        let columns = [list(CollectionType::List(item.clone())), list(CollectionType::Set(item))];
        let operation = bind_for("write", columns.into_iter()).unwrap();
        let mut lengths = std::collections::BTreeSet::new();
        for number in 0..50 {
            let cells = values(&operation, number, Sequence::Populate(number));
            assert_eq!(cells[0], cells[1]);
            let items = cells[0][3];
            lengths.insert(items);
            assert_eq!(cells[0].len(), 4 + usize::from(items) * 6);
            assert!(cells[0][4..].chunks(6).all(|item| item[..5] == [0, 0, 0, 2, 0] && item[5] < 7));
        }
        assert_eq!(lengths.into_iter().collect::<Vec<u8>>(), [1, 2, 3]);
        assert!(bind(&[("tags", NativeType::SmallInt)]).is_err());
    }

    #[test]
    fn the_rows_of_a_batch_share_what_it_is_by_and_nothing_else() {
        let native = |name, native| (name, ColumnType::Native(native));
        let columns =
            || [native("a", NativeType::BigInt), native("b", NativeType::BigInt), native("value", NativeType::Text)];
        let operation = bind_for("fill", columns().into_iter()).unwrap();
        let pool = Pool::new(1, &workload().parameters);
        let request = |number, sequence| {
            let taken = PartitionRange::default();
            let call =
                Call { operation: &operation, pool: &pool, seed: 1, number, sequence, intended_start_ns: 0, taken };
            call.rows().map(cells).collect::<Vec<_>>()
        };
        for number in 0..20 {
            let rows = request(number, Sequence::Distributed);
            assert_eq!(rows.len(), 5);
            assert!(rows.iter().all(|row| row[0] == rows[0][0]));
            // `b` is sequential, so that each row of each request differs.
            let wanted: Vec<Vec<u8>> = (0..5).map(|row| ((number * 5 + row) % 100).to_be_bytes().to_vec()).collect();
            assert_eq!(rows.iter().map(|row| row[1].clone()).collect::<Vec<_>>(), wanted);
            assert_ne!(rows[0][2], rows[1][2]);
        }
        // Populating still writes each combination exactly once.
        let keys = (0..60).flat_map(|place| request(place, Sequence::Populate(place)));
        let distinct: std::collections::HashSet<_> = keys.map(|row| (row[0].clone(), row[1].clone())).collect();
        assert_eq!(distinct.len(), 300);
    }

    #[test]
    fn a_reader_takes_the_keys_of_the_writer() {
        let writer = bind(&[("b", NativeType::BigInt), ("a", NativeType::BigInt)]).unwrap();
        let reader = bind(&[("a", NativeType::BigInt)]).unwrap().with_keys_of(&writer).unwrap();
        for place in 0..300 {
            let (wrote, reads) =
                [&writer, &reader].map(|operation| values(operation, 0, Sequence::Populate(place))).into();
            assert_eq!(wrote[1], reads[0]);
        }
        let stranger = bind(&[("value", NativeType::Text)]).unwrap();
        assert_eq!(bind(&[("b", NativeType::Int)]).unwrap().with_keys_of(&stranger).unwrap_err(), 1);
    }

    #[test]
    fn what_cannot_be_encoded_is_refused_by_name() {
        let refused = [
            ("b", NativeType::TinyInt),
            ("value", NativeType::Int),
            ("time", NativeType::Text),
            ("fixed", NativeType::Text),
            ("a", NativeType::Inet),
            ("ttl", NativeType::Boolean),
            ("tags", NativeType::Int),
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
