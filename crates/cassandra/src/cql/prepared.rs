//! Statements with values in them, prepared once and run often, and rows as the bytes that they came as.

use super::frame::{self, BodyReader, Malformed, opcode};
use super::{Connection, Error, Rows, Type, skip_table_name, value};

/// The number of rows of a page; only the first page of an answer is read.
const PAGE_ROWS: i32 = 5000;

/// A statement prepared on one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    id: Vec<u8>,
    /// Name and type of each bind marker: a column, or `[limit]`.
    pub markers: Vec<(String, Type)>,
    /// Indices of the markers that make up the partition key, in its order; empty if the statement does not bind the
    /// whole key.
    pub key_places: Vec<u16>,
    /// Keyspace of its table; None without bind markers.
    pub keyspace: Option<String>,
    /// Name and type of each column of its rows; none if it returns no rows.
    pub columns: Vec<(String, Type)>,
    /// Keyspace and table of these columns.
    pub table: Option<(String, String)>,
}

/// How a statement is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecuteTerms {
    pub consistency: u16,
    pub serial_consistency: Option<u16>,
}

/// The result of a query with its values not decoded, so that they can be bound to another statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawRows {
    pub columns: Vec<(String, Type)>,
    /// One value per column in each row; none for null.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl RawRows {
    /// Decodes each value by its type.
    pub(super) fn decode(self) -> Result<Rows, Malformed> {
        let row = |row: Vec<Option<Vec<u8>>>| {
            let both = row.iter().zip(&self.columns);
            both.map(|(bytes, (_, of))| value::read_value(bytes.as_deref(), of)).collect::<Result<Vec<_>, _>>()
        };
        Ok(Rows { rows: self.rows.into_iter().map(row).collect::<Result<_, _>>()?, columns: self.columns })
    }
}

impl Connection {
    /// Like [`Connection::query`], with undecoded values.
    ///
    /// # Errors
    /// As [`Connection::query`].
    pub fn query_raw(&mut self, statement: &str) -> Result<RawRows, Error> {
        let mut body = Vec::new();
        frame::put_long_string(&mut body, statement);
        body.extend([0x00, 0x01, 0x00]); // consistency ONE, no flags
        self.rows(opcode::QUERY, &body)
    }

    /// Prepares a statement on this node.
    ///
    /// # Errors
    /// [`Error::Refused`] with the server's words, or the connection's failure.
    pub fn prepare(&mut self, statement: &str) -> Result<Prepared, Error> {
        let mut body = Vec::new();
        frame::put_long_string(&mut body, statement);
        let answer = self.ask(opcode::PREPARE, &body)?;
        if answer.opcode != opcode::RESULT {
            return Err(self.not_cql("no RESULT in answer to PREPARE"));
        }
        read_prepared(&mut answer.reader()).map_err(|Malformed(why)| self.not_cql(why))
    }

    /// Runs a prepared statement at consistency ONE with a value for each marker, and gives the first page of its rows.
    ///
    /// # Errors
    /// As [`Connection::query`].
    pub fn execute(&mut self, prepared: &Prepared, values: &[Option<Vec<u8>>]) -> Result<RawRows, Error> {
        const VALUES: u8 = 0x01;
        const PAGE_SIZE: u8 = 0x04;
        let mut body = (prepared.id.len() as u16).to_be_bytes().to_vec();
        body.extend(&prepared.id);
        body.extend([0x00, 0x01, VALUES | PAGE_SIZE]); // consistency ONE
        body.extend((values.len() as u16).to_be_bytes());
        for value in values {
            match value {
                None => body.extend((-1_i32).to_be_bytes()),
                Some(bytes) => {
                    body.extend((bytes.len() as u32).to_be_bytes());
                    body.extend(bytes);
                }
            }
        }
        body.extend(PAGE_ROWS.to_be_bytes());
        self.rows(opcode::EXECUTE, &body)
    }

    /// Runs a prepared statement with values that are encoded already, each after its length, and calls back for each row
    /// with its values. All rows are in one page.
    ///
    /// # Errors
    /// As [`Connection::query`].
    pub fn execute_each(
        &mut self,
        prepared: &Prepared,
        terms: ExecuteTerms,
        (count, values): (u16, &[u8]),
        each: impl FnMut(&[Option<&[u8]>]),
    ) -> Result<(), Error> {
        const VALUES: u8 = 0x01;
        const SERIAL_CONSISTENCY: u8 = 0x10;
        let mut body = (prepared.id.len() as u16).to_be_bytes().to_vec();
        body.extend(&prepared.id);
        body.extend(terms.consistency.to_be_bytes());
        body.push(if count > 0 { VALUES } else { 0 } | terms.serial_consistency.map_or(0, |_| SERIAL_CONSISTENCY));
        if count > 0 {
            body.extend(count.to_be_bytes());
            body.extend(values);
        }
        body.extend(terms.serial_consistency.map(u16::to_be_bytes).into_iter().flatten());
        let answer = self.ask(opcode::EXECUTE, &body)?;
        if answer.opcode != opcode::RESULT {
            return Err(self.not_cql("no RESULT in answer to a statement"));
        }
        read_each_row(&mut answer.reader(), each).map(drop).map_err(|Malformed(why)| self.not_cql(why))
    }

    fn rows(&mut self, opcode: u8, body: &[u8]) -> Result<RawRows, Error> {
        let answer = self.ask(opcode, body)?;
        if answer.opcode != opcode::RESULT {
            return Err(self.not_cql("no RESULT in answer to a statement"));
        }
        read_rows(&mut answer.reader()).map_err(|Malformed(why)| self.not_cql(why))
    }
}

/// The body of a RESULT; only its kind "rows" has any.
pub(super) fn read_rows(reader: &mut BodyReader<'_>) -> Result<RawRows, Malformed> {
    let mut rows = Vec::new();
    let columns = read_each_row(reader, |row| rows.push(row.iter().map(|value| value.map(<[u8]>::to_vec)).collect()))?;
    Ok(RawRows { columns, rows })
}

/// Calls back with the values of each row, and returns the columns.
fn read_each_row(
    reader: &mut BodyReader<'_>,
    mut each: impl FnMut(&[Option<&[u8]>]),
) -> Result<Vec<(String, Type)>, Malformed> {
    const ROWS: i32 = 2;
    if reader.int()? != ROWS {
        return Ok(Vec::new());
    }
    let (flags, count) = (reader.int()?, reader.int()?);
    if flags & MORE_PAGES != 0 {
        reader.bytes()?;
    }
    if flags & NO_METADATA != 0 {
        return Err(Malformed("rows without a description of their columns"));
    }
    let columns = read_columns(reader, flags, count)?;
    // Rows without columns take no bytes, so their count can't be trusted.
    let count = if columns.is_empty() { 0 } else { reader.int()? };
    let mut row = Vec::with_capacity(columns.len());
    for _ in 0..count {
        row.clear();
        for _ in &columns {
            row.push(reader.bytes()?);
        }
        each(&row);
    }
    Ok(columns)
}

const GLOBAL_TABLE: i32 = 1;
const MORE_PAGES: i32 = 2;
const NO_METADATA: i32 = 4;

pub(super) fn read_prepared(reader: &mut BodyReader<'_>) -> Result<Prepared, Malformed> {
    const PREPARED: i32 = 4;
    if reader.int()? != PREPARED {
        return Err(Malformed("no prepared statement in answer to PREPARE"));
    }
    let id = reader.short_bytes()?.to_vec();
    let (flags, count, keys) = (reader.int()?, reader.int()?, reader.int()?);
    if keys > MOST_COLUMNS {
        return Err(Malformed("more than 65,536 columns of a key"));
    }
    let key_places = (0..keys).map(|_| reader.short()).collect::<Result<_, _>>()?;
    // If the table is given once for all columns, it comes first.
    let keyspace = BodyReader::new(reader.rest()).string().ok().filter(|_| count > 0);
    let markers = read_columns(reader, flags, count)?;
    let (flags, count) = (reader.int()?, reader.int()?);
    if flags & MORE_PAGES != 0 {
        reader.bytes()?;
    }
    let (columns, table) = if flags & NO_METADATA != 0 || count <= 0 {
        (Vec::new(), None)
    } else {
        let mut first = BodyReader::new(reader.rest());
        let table = Some((first.string()?, first.string()?));
        (read_columns(reader, flags, count)?, table)
    };
    Ok(Prepared { id, markers, key_places, keyspace, columns, table })
}

/// The most columns or bind markers, whose numbers have 16 bits.
const MOST_COLUMNS: i32 = 1 << 16;
/// The most bytes in memory of the types of all columns of an answer.
const TYPES_BYTES: usize = 32 << 20;

/// Name and type of each column, by the flags at the begin of the metadata.
///
/// # Errors
/// [`Malformed`] when the body ends within them, or announces more than a node can have.
pub fn read_columns(reader: &mut BodyReader<'_>, flags: i32, count: i32) -> Result<Vec<(String, Type)>, Malformed> {
    if count > MOST_COLUMNS {
        return Err(Malformed("more than 65,536 columns"));
    }
    if flags & GLOBAL_TABLE != 0 {
        skip_table_name(reader)?;
    }
    let (mut columns, mut bytes) = (Vec::new(), 0);
    for _ in 0..count {
        if flags & GLOBAL_TABLE == 0 {
            skip_table_name(reader)?;
        }
        let (name, of) = (reader.string()?, value::read_type(reader)?);
        bytes += of.bytes();
        if bytes > TYPES_BYTES {
            return Err(Malformed("columns whose types take more than 32 MiB"));
        }
        columns.push((name, of));
    }
    Ok(columns)
}
