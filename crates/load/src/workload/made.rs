//! Matches the columns of generated rows with the markers of a prepared statement. The node has named the markers after
//! the columns, whatever the statement's text is.

use super::{Made, Operation, PartitionRange, Pool, Workload};
use crate::Error;
use crate::draw::Draw;
use crate::rows::{Insert, Row, Rows, Shape, ValueType, append};
use scylla::frame::response::result::{CollectionType, ColumnSpec, ColumnType, NativeType};

/// The generated rows that an operation inserts or reads.
#[derive(Debug)]
pub(super) struct BoundRows {
    rows: Rows,
    made: Made,
    markers: Vec<Fill>,
    /// The columns of the markers, by index.
    columns: Vec<usize>,
}

/// What fills a marker.
#[derive(Debug, PartialEq)]
pub(super) enum Fill {
    /// The value of a column, by its index.
    Column(usize),
    /// A list of one item, for `IN ?`.
    List(Box<Fill>),
    /// A tuple, for `(a, b) > ?`.
    Tuple(Vec<Fill>),
    /// The index 0, for `l[?] = …`.
    First,
}

impl BoundRows {
    pub fn new<'s>(
        workload: &Workload,
        operation: &Operation,
        markers: impl Iterator<Item = &'s ColumnSpec<'s>>,
    ) -> Result<Option<BoundRows>, Error> {
        let Some((rows, made)) = workload.tables.get(operation.table).zip(operation.made) else { return Ok(None) };
        let mut bound = BoundRows { rows: (**rows).clone(), made, markers: Vec::new(), columns: Vec::new() };
        for marker in markers {
            let fill = bound.fill(marker.name(), marker.typ()).map_err(|why| Error::Marker {
                operation: operation.name.clone(),
                marker: marker.name().to_string(),
                why: why.unwrap_or_else(|| nothing_fills(marker.name(), &bound.rows)),
                cql: operation.cql.clone(),
            })?;
            bound.markers.push(fill);
        }
        Ok(Some(bound))
    }

    /// What fills a marker with this name and type; the error says why nothing does, if it is not its name.
    fn fill(&mut self, name: &str, typ: &ColumnType<'_>) -> Result<Fill, Option<String>> {
        if let Some(column) = self.rows.position(name) {
            return self.column(column, typ).map(Fill::Column);
        }
        if let Some(names) = name.strip_prefix('(').and_then(|name| name.strip_suffix(')')) {
            return match typ {
                ColumnType::Tuple(types) => self.tuple(names, types),
                _ => Err(None),
            };
        }
        let (function, inside) = name.strip_suffix(')').and_then(|name| name.split_once('(')).ok_or(None)?;
        if function == "in" {
            let ColumnType::Collection { typ: CollectionType::List(item), .. } = typ else { return Err(None) };
            let item = match item.as_ref() {
                ColumnType::Tuple(types) if self.rows.position(inside).is_none() => self.tuple(inside, types),
                single => self.fill(inside, single),
            };
            return Ok(Fill::List(Box::new(item?)));
        }
        let column = self.rows.position(inside).ok_or(None)?;
        let skips = match function {
            "idx" => return Ok(Fill::First),
            "key" => 0,
            // The value of a map follows its key. Whether it is a map is known by another marker alone, and does not
            // matter otherwise.
            "value" if self.markers.iter().any(|marker| self.is_key_of(marker, column)) => 1,
            "value" => 0,
            _ => return Err(None),
        };
        let shape = shape(typ).ok_or_else(|| Some(cannot_make(typ)))?;
        let part = self.rows.part(column, shape, skips);
        self.columns.push(part);
        Ok(Fill::Column(part))
    }

    /// Whether a marker is a key within the column, which is a map.
    fn is_key_of(&self, marker: &Fill, column: usize) -> bool {
        let columns = self.rows.columns();
        matches!(marker, Fill::Column(part) if *part != column && columns[*part].name == columns[column].name)
    }

    fn tuple(&mut self, names: &str, types: &[ColumnType<'_>]) -> Result<Fill, Option<String>> {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        if names.len() != types.len() {
            return Err(None);
        }
        names.iter().zip(types).map(|(name, typ)| self.fill(name, typ)).collect::<Result<_, _>>().map(Fill::Tuple)
    }

    /// Takes a column for a marker. The type that the node tells counts, except for columns of the key, whose values are
    /// the seed of the others.
    fn column(&mut self, column: usize, typ: &ColumnType<'_>) -> Result<usize, Option<String>> {
        let shape = shape(typ).ok_or_else(|| Some(cannot_make(typ)))?;
        let known = &self.rows.columns()[column];
        let fits = match shape {
            // Hexadecimal digits are a content of blobs.
            Shape::Single(told) => {
                told == known.value_type || (told, known.value_type) == (ValueType::Blob, ValueType::Hex)
            }
            _ => false,
        };
        if !fits && known.role != crate::rows::Role::Regular {
            let told = cql_name(typ);
            return Err(Some(format!("the table of the node has the type {told}, and the workload another one")));
        }
        if !fits {
            self.rows.shape(column, shape);
        }
        self.columns.push(column);
        Ok(column)
    }

    /// The partitions of request `number`.
    pub fn take(&self, pool: &Pool, run: u64, number: u64) -> PartitionRange {
        match self.made {
            Made::Inserts { insert, .. } if insert.visits.only() != Some(1) => self.visit(&insert, pool, run, number),
            Made::Inserts { insert, .. } => pool.take(insert.partitions(run, number)),
            Made::Queries(_) => pool.take(1),
            Made::Ranges { .. } => PartitionRange::default(),
        }
    }

    /// The next visit of partitions that are not complete, or the first one of new partitions.
    fn visit(&self, insert: &Insert, pool: &Pool, run: u64, number: u64) -> PartitionRange {
        const STREAM: u64 = u64::MAX - 5;
        let mut draw = Draw::new(run, number, STREAM);
        pool.revisits().take(insert, &mut draw, |draw| {
            let taken = pool.take(insert.partitions(run, number));
            (taken, insert.visits(draw).min(self.rows.expected(taken.first, run)))
        })
    }

    /// The rows of request `number`; for a query, the row with its values.
    pub fn make(&self, taken: PartitionRange, run: u64, number: u64) -> Vec<Row> {
        const STREAM: u64 = u64::MAX - 3;
        let mut draw = Draw::new(run, number, STREAM);
        let places = taken.first..taken.first + taken.count;
        match &self.made {
            Made::Inserts { insert, .. } => self.rows.inserted(insert, places, taken.visit, run, &mut draw),
            Made::Queries(fields) => vec![self.rows.queried(*fields, &self.columns, (taken.first, run), &mut draw)],
            Made::Ranges { .. } => Vec::new(),
        }
    }

    pub fn markers(&self) -> &[Fill] {
        &self.markers
    }

    /// Number of rows that a plain request writes; None for a query.
    pub fn writes(&self) -> Option<u64> {
        matches!(self.made, Made::Inserts { .. }).then_some(1)
    }
}

impl Fill {
    /// The value for a row, without its length.
    pub fn cell(&self, row: &Row) -> Vec<u8> {
        let nested = |fills: &[Fill], out: &mut Vec<u8>| fills.iter().for_each(|fill| append(out, &fill.cell(row)));
        match self {
            Fill::Column(column) => row.get(*column).map_or_else(Vec::new, |value| value.cell.clone()),
            Fill::First => vec![0; size_of::<i32>()],
            Fill::List(item) => {
                let mut out = 1i32.to_be_bytes().to_vec();
                nested(std::slice::from_ref(item.as_ref()), &mut out);
                out
            }
            Fill::Tuple(fields) => {
                let mut out = Vec::new();
                nested(fields, &mut out);
                out
            }
        }
    }
}

/// Why no column fills a marker that the node has named so, and what to write.
fn nothing_fills(name: &str, rows: &Rows) -> String {
    match name {
        "[limit]" | "[per_partition_limit]" | "[ttl]" | "[timestamp]" => {
            "it is no value of a column; write a number in its place".to_string()
        }
        "partition key token" => "no column has tokens; write token(?)".to_string(),
        name if name.starts_with("arg") && name.contains('(') => {
            "it is the argument of a function; write :column for the column whose values it takes".to_string()
        }
        _ => {
            let columns: Vec<&str> = rows.columns().iter().map(|column| column.name.as_str()).collect();
            format!("no column has this name (there are {})", columns.join(", "))
        }
    }
}

fn cannot_make(typ: &ColumnType<'_>) -> String {
    format!("there are no values of the type {}", cql_name(typ))
}

pub(super) fn cql_name(typ: &ColumnType<'_>) -> String {
    match typ {
        ColumnType::Native(native) => format!("{native:?}").to_lowercase(),
        ColumnType::Collection { .. } => "a collection".to_string(),
        _ => "a tuple, vector or type of your own".to_string(),
    }
}

/// The shape of a type's values; None if none are made.
fn shape(typ: &ColumnType<'_>) -> Option<Shape> {
    let of = |typ: &ColumnType<'_>| shape(typ).map(Box::new);
    Some(match typ {
        ColumnType::Native(native) => Shape::Single(single(native)?),
        ColumnType::Collection { typ: CollectionType::List(item), .. } => Shape::List(of(item)?),
        ColumnType::Collection { typ: CollectionType::Set(item), .. } => Shape::Set(of(item)?),
        ColumnType::Collection { typ: CollectionType::Map(key, value), .. } => Shape::Map(of(key)?, of(value)?),
        ColumnType::Tuple(fields) => Shape::Fields(fields.iter().map(shape).collect::<Option<_>>()?),
        ColumnType::UserDefinedType { definition, .. } => {
            Shape::Fields(definition.field_types.iter().map(|(_, field)| shape(field)).collect::<Option<_>>()?)
        }
        ColumnType::Vector { typ, dimensions } => Shape::Vector {
            sized: typ.type_size_for_vector().is_some(),
            of: of(typ)?,
            dimensions: usize::from(*dimensions),
        },
        _ => return None,
    })
}

fn single(native: &NativeType) -> Option<ValueType> {
    Some(match native {
        NativeType::TinyInt => ValueType::TinyInt,
        NativeType::SmallInt => ValueType::SmallInt,
        NativeType::Int => ValueType::Int,
        NativeType::BigInt | NativeType::Counter => ValueType::BigInt,
        NativeType::Varint => ValueType::VarInt,
        NativeType::Float => ValueType::Float,
        NativeType::Double => ValueType::Double,
        NativeType::Decimal => ValueType::Decimal,
        NativeType::Boolean => ValueType::Boolean,
        NativeType::Text | NativeType::Ascii => ValueType::Text,
        NativeType::Blob => ValueType::Blob,
        NativeType::Uuid => ValueType::Uuid,
        NativeType::Timeuuid => ValueType::TimeUuid,
        NativeType::Timestamp => ValueType::Timestamp,
        NativeType::Date => ValueType::Date,
        NativeType::Time => ValueType::Time,
        NativeType::Inet => ValueType::Inet,
        NativeType::Duration => ValueType::Duration,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scylla::frame::response::result::TableSpec;

    const TABLE: &str = r#"
        [rows]
        seeds = "SEQ(1..100)"
        [[rows.columns]]
        name = "k"
        role = "partition"
        type = "text"
        [[rows.columns]]
        name = "Day"
        role = "clustering"
        type = "int"
        [[rows.columns]]
        name = "day"
        type = "bigint"
        [[rows.columns]]
        name = "tags"
        type = "compound"
        [operations.write]
        cql = "any text with ?, which is not read"
        fields = "samerow"
    "#;

    fn native(native: NativeType) -> ColumnType<'static> {
        ColumnType::Native(native)
    }

    fn list(of: ColumnType<'static>) -> ColumnType<'static> {
        ColumnType::Collection { frozen: false, typ: CollectionType::List(Box::new(of)) }
    }

    fn map() -> ColumnType<'static> {
        let (key, value) = (Box::new(native(NativeType::Text)), Box::new(native(NativeType::Int)));
        ColumnType::Collection { frozen: false, typ: CollectionType::Map(key, value) }
    }

    fn bind(markers: &[(&'static str, ColumnType<'static>)]) -> Result<BoundRows, String> {
        let workload = Workload::from_toml("test", "test.toml", TABLE).unwrap();
        let table = TableSpec::borrowed("ks", "t");
        let specs: Vec<ColumnSpec<'_>> =
            markers.iter().map(|(name, typ)| ColumnSpec::borrowed(name, typ.clone(), table.clone())).collect();
        BoundRows::new(&workload, &workload.operations[0], specs.iter())
            .map(Option::unwrap)
            .map_err(|error| error.to_string())
    }

    /// The values of the first request, by marker.
    fn cells(bound: &BoundRows) -> Vec<Vec<u8>> {
        let taken = PartitionRange { first: 3, count: 1, ..PartitionRange::default() };
        let row = bound.make(taken, 1, 1).remove(0);
        bound.markers().iter().map(|fill| fill.cell(&row)).collect()
    }

    #[test]
    fn columns_are_found_by_the_name_that_the_node_gives() {
        let (text, int, bigint) = (native(NativeType::Text), native(NativeType::Int), native(NativeType::BigInt));
        let bound =
            bind(&[("k", text.clone()), ("Day", int.clone()), ("day", bigint.clone()), ("tags", map())]).unwrap();
        assert_eq!(bound.markers, [0, 1, 2, 3].map(Fill::Column));
        let single = cells(&bound);
        assert_eq!(single[1].len() + single[2].len(), 12);

        // `IN ?`, `(k, "Day") > ?`, `(k, "Day") IN ?`
        let pair = ColumnType::Tuple(vec![text.clone(), int.clone()]);
        let bound = bind(&[("in(Day)", list(int)), ("(k,Day)", pair.clone()), ("in(k,Day)", list(pair))]).unwrap();
        let several = cells(&bound);
        assert_eq!(several[0], [&[0, 0, 0, 1, 0, 0, 0, 4], single[1].as_slice()].concat());
        let mut tuple = Vec::new();
        single[..2].iter().for_each(|cell| append(&mut tuple, cell));
        assert_eq!(several[1], tuple);
        assert_eq!(several[2][8..], tuple);
    }

    #[test]
    fn parts_of_a_collection_are_those_that_a_row_has() {
        let (text, int) = (native(NativeType::Text), native(NativeType::Int));
        // `tags[?] = ?` beside the whole map: its first entry.
        let bound = bind(&[("key(tags)", text.clone()), ("value(tags)", int.clone()), ("tags", map())]).unwrap();
        let found = cells(&bound);
        let mut entry = Vec::new();
        found[..2].iter().for_each(|cell| append(&mut entry, cell));
        assert_eq!(found[2][4..4 + entry.len()], entry);
        // `CONTAINS ?` on a list, and `l[?] = ?`: its first item.
        let bound = bind(&[("value(tags)", text.clone()), ("tags", list(text)), ("idx(tags)", int)]).unwrap();
        let found = cells(&bound);
        assert_eq!(found[1][8..8 + found[0].len()], found[0]);
        assert_eq!(found[2], [0; 4]);
    }

    #[test]
    fn a_regular_column_has_the_type_that_the_node_tells() {
        let float = native(NativeType::Float);
        assert_eq!(cells(&bind(&[("day", float.clone())]).unwrap())[0].len(), 4);
        assert!(bind(&[("k", float)]).unwrap_err().contains("has the type float"));
    }

    #[test]
    fn what_no_column_fills_is_told_with_a_way_out() {
        let int = || native(NativeType::Int);
        let errors: Vec<String> = ["[limit]", "partition key token", "arg0(system.totimestamp)", "dya", "key(dya)"]
            .into_iter()
            .map(|name| bind(&[("k", native(NativeType::Text)), (name, int())]).unwrap_err())
            .collect();
        insta::assert_snapshot!(errors.join("\n"));
    }
}
