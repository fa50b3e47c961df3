//! Rows in memory on their way to a stream.

use crate::generated::TABLES;
use crate::schema::{Table, Type};
use arrow::array::{
    ArrayRef, BooleanBuilder, DictionaryArray, Float64Builder, Int64Builder, RecordBatch, StringDictionaryBuilder,
};
use arrow::datatypes::Int32Type;
use arrow::error::ArrowError;
use std::sync::Arc;

/// Collects the rows of one table, column by column.
///
/// The columns of a row are appended in any order, each once, and [`BatchBuilder::end_row`] ends it; generated rows do
/// exactly that. A column of another type, or a null in a column without nulls, is a bug in the caller and panics.
pub struct BatchBuilder {
    table: &'static Table,
    columns: Vec<ColumnBuilder>,
    rows: usize,
}

enum ColumnBuilder {
    Int64(Int64Builder),
    Double(Float64Builder),
    String(Strings),
    Bool(BooleanBuilder),
}

/// Most text columns, such as the node, repeat one value row after row: compare with the last value before looking it
/// up.
#[derive(Default)]
struct Strings {
    builder: StringDictionaryBuilder<Int32Type>,
    last: String,
    /// Number of rows that repeat `last` and are not in the builder yet.
    repeated: usize,
}

impl Strings {
    fn append(&mut self, value: Option<&str>) {
        match value {
            Some(value) if self.repeated > 0 && value == self.last => self.repeated += 1,
            Some(value) => {
                self.hand_on();
                self.last.clear();
                self.last.push_str(value);
                self.repeated = 1;
            }
            None => {
                self.hand_on();
                self.builder.append_null();
            }
        }
    }

    fn hand_on(&mut self) {
        if self.repeated > 0 {
            self.builder.append_values(&self.last, std::mem::take(&mut self.repeated));
        }
    }

    fn finish(&mut self) -> DictionaryArray<Int32Type> {
        self.hand_on();
        self.builder.finish()
    }
}

impl BatchBuilder {
    pub fn new(table: usize) -> BatchBuilder {
        let table = &TABLES[table];
        let columns = table
            .columns
            .iter()
            .map(|column| match column.ty {
                Type::Int64 => ColumnBuilder::Int64(Int64Builder::new()),
                Type::Double => ColumnBuilder::Double(Float64Builder::new()),
                Type::String => ColumnBuilder::String(Strings::default()),
                Type::Bool => ColumnBuilder::Bool(BooleanBuilder::new()),
            })
            .collect();
        BatchBuilder { table, columns, rows: 0 }
    }

    pub(crate) fn table(&self) -> &'static Table {
        self.table
    }

    /// Number of complete rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn int64(&mut self, column: usize, value: Option<i64>) {
        match &mut self.columns[column] {
            ColumnBuilder::Int64(builder) => builder.append_option(value),
            _ => self.wrong_type(column),
        }
    }

    pub fn double(&mut self, column: usize, value: Option<f64>) {
        match &mut self.columns[column] {
            ColumnBuilder::Double(builder) => builder.append_option(value),
            _ => self.wrong_type(column),
        }
    }

    pub fn string(&mut self, column: usize, value: Option<&str>) {
        match &mut self.columns[column] {
            ColumnBuilder::String(strings) => strings.append(value),
            _ => self.wrong_type(column),
        }
    }

    pub fn bool(&mut self, column: usize, value: Option<bool>) {
        match &mut self.columns[column] {
            ColumnBuilder::Bool(builder) => builder.append_option(value),
            _ => self.wrong_type(column),
        }
    }

    pub fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Returns the rows and leaves the builder empty.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        self.rows = 0;
        let arrays = self
            .columns
            .iter_mut()
            .map(|column| -> ArrayRef {
                match column {
                    ColumnBuilder::Int64(builder) => Arc::new(builder.finish()),
                    ColumnBuilder::Double(builder) => Arc::new(builder.finish()),
                    ColumnBuilder::String(strings) => Arc::new(strings.finish()),
                    ColumnBuilder::Bool(builder) => Arc::new(builder.finish()),
                }
            })
            .collect();
        RecordBatch::try_new(self.table.stream_schema(), arrays)
    }

    #[cold]
    fn wrong_type(&self, column: usize) {
        panic!("{}.{} is {:?}", self.table.name, self.table.columns[column].name, self.table.columns[column].ty);
    }
}

impl std::fmt::Debug for BatchBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchBuilder")
            .field("table", &self.table.name)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, StringArray};

    #[test]
    fn text_that_repeats_is_what_it_was() {
        let rows = [Some("a"), Some("a"), None, Some("a"), Some(""), Some(""), None, None, Some("b"), Some("a")];
        let mut strings = Strings::default();
        // The second time, after the builder was emptied.
        for _ in 0..2 {
            rows.iter().for_each(|row| strings.append(*row));
            let array = strings.finish();
            let values = array.downcast_dict::<StringArray>().unwrap();
            let got: Vec<Option<&str>> = values.into_iter().collect();
            assert_eq!(got, rows);
            assert_eq!(array.values().len(), 3);
        }
        assert!(strings.finish().is_empty());
    }
}
