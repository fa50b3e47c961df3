//! Rows as the agent sends them: row by row, little endian.
//!
//! INT64 and DOUBLE are 8 bytes, BOOL one, STRING a `u32` length and UTF-8. A nullable column begins with one byte: 0
//! for null, which ends it, or 1. The bytes come from another process and are not trusted.

use crate::generated::TABLES;
use crate::schema::{Column, Type};
use crate::{BatchBuilder, Error};
use arrow::array::RecordBatch;

/// Reads exactly `count` rows of the table at `table` of [`TABLES`], or none.
///
/// Fails when the table is unknown, the bytes end early or go on, a text is no UTF-8 or a flag is neither 0 nor 1.
pub fn decode_rows(table: usize, count: u32, bytes: &[u8]) -> Result<RecordBatch, Error> {
    let Some(declared) = TABLES.get(table) else {
        return Err(Error::Encoded { table: format!("table {table}"), reason: "there is no such table".into() });
    };
    let wrong = |reason: &str| Error::Encoded { table: declared.name.to_string(), reason: reason.to_string() };
    // Every row has at least one byte, so that a large count over few bytes fails here and not in the allocator.
    if u64::from(count) > bytes.len() as u64 {
        return Err(wrong("it has fewer bytes than rows"));
    }
    let mut batch = BatchBuilder::new(table);
    let mut bytes = Bytes(bytes);
    for _ in 0..count {
        for (position, column) in declared.columns.iter().enumerate() {
            bytes.column(column, position, &mut batch).map_err(wrong)?;
        }
        batch.end_row();
    }
    if !bytes.0.is_empty() {
        return Err(wrong("bytes are left after the last row"));
    }
    Ok(batch.take()?)
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn column(&mut self, column: &Column, position: usize, batch: &mut BatchBuilder) -> Result<(), &'static str> {
        let present = !column.nullable || self.flag()?;
        match column.ty {
            Type::Int64 => {
                let value = if present { Some(i64::from_le_bytes(self.array()?)) } else { None };
                batch.int64(position, value);
            }
            Type::Double => {
                let value = if present { Some(f64::from_le_bytes(self.array()?)) } else { None };
                batch.double(position, value);
            }
            Type::Bool => {
                let value = if present { Some(self.flag()?) } else { None };
                batch.bool(position, value);
            }
            Type::String => {
                let value = if present { Some(self.text()?) } else { None };
                batch.string(position, value);
            }
        }
        Ok(())
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("the bytes end within a row")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or("the bytes end within a row")?;
        self.0 = rest;
        Ok(*taken)
    }

    fn flag(&mut self) -> Result<bool, &'static str> {
        match self.array::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err("a flag is neither 0 nor 1"),
        }
    }

    fn text(&mut self) -> Result<&'a str, &'static str> {
        let length = u32::from_le_bytes(self.array()?) as usize;
        std::str::from_utf8(self.take(length)?).map_err(|_| "a text is not UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Table;
    use arrow::array::{Array, AsArray};
    use proptest::prelude::*;

    fn index_of(name: &str) -> usize {
        TABLES.iter().position(|table| table.name == name).unwrap()
    }

    fn stall(start_ns: i64, node: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(start_ns.to_le_bytes());
        bytes.extend(7i64.to_le_bytes());
        for text in ["server", node, "watcher"] {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        // Only stalls of the load driver have the kernel's counters; here they are null.
        bytes.extend([0; 3]);
        bytes
    }

    #[test]
    fn rows_come_back_as_they_were_sent() {
        let bytes = [stall(1, "127.0.0.1"), stall(2, "ü")].concat();
        let batch = decode_rows(index_of("stalls"), 2, &bytes).unwrap();
        assert_eq!(batch.num_rows(), 2);
        assert_eq!(batch.column(0).as_primitive::<arrow::datatypes::Int64Type>().values(), &[1, 2]);
        let nodes = arrow::compute::cast(batch.column(3), &arrow::datatypes::DataType::Utf8).unwrap();
        assert_eq!(nodes.as_string::<i32>().value(1), "ü");
    }

    #[test]
    fn a_null_needs_no_value() {
        let table = Table::named("marks").unwrap();
        let mut bytes = Vec::new();
        bytes.extend(1i64.to_le_bytes());
        bytes.extend(2i64.to_le_bytes());
        for text in ["phase", "warm-up"] {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes.extend([0, 0, 0, 1, 0]);
        let batch = decode_rows(index_of("marks"), 1, &bytes).unwrap();
        assert_eq!(batch.num_columns(), table.columns.len());
        assert!(batch.column_by_name("rate_per_s").unwrap().is_null(0));
    }

    #[test]
    fn what_is_cut_or_goes_on_is_refused_whole() {
        let bytes = stall(1, "n");
        let table = index_of("stalls");
        assert!(decode_rows(table, 1, &bytes[..bytes.len() - 1]).is_err());
        assert!(decode_rows(table, 2, &bytes).is_err());
        assert!(decode_rows(table, 1, &[bytes.clone(), vec![0]].concat()).is_err());
        assert!(decode_rows(250, 0, &[]).is_err());
        assert!(decode_rows(table, u32::MAX, &bytes).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(table in 0usize..12, count in 0u32..40, bytes: Vec<u8>) {
            if let Ok(batch) = decode_rows(table, count, &bytes) {
                prop_assert_eq!(batch.num_rows(), count as usize);
            }
        }
    }
}
