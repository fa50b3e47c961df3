//! Rows in memory on their way to a stream.

use crate::generated::TABLES;
use crate::schema::{Table, Type};
use arrow::array::{ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, RecordBatch, StringDictionaryBuilder};
use arrow::datatypes::Int32Type;
use arrow::error::ArrowError;
use std::sync::Arc;

/// Collects the rows of one table, column by column.
///
/// The columns of a row are appended in any order, each once, and [`BatchBuilder::end_row`] ends it; generated rows do
/// just that. A column of another type, or a null where none may be, is a mistake in the caller and panics.
pub struct BatchBuilder {
    table: &'static Table,
    columns: Vec<ColumnBuilder>,
    rows: usize,
}

enum ColumnBuilder {
    Int64(Int64Builder),
    Double(Float64Builder),
    String(StringDictionaryBuilder<Int32Type>),
    Bool(BooleanBuilder),
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
                Type::String => ColumnBuilder::String(StringDictionaryBuilder::new()),
                Type::Bool => ColumnBuilder::Bool(BooleanBuilder::new()),
            })
            .collect();
        BatchBuilder { table, columns, rows: 0 }
    }

    pub(crate) fn table(&self) -> &'static Table {
        self.table
    }

    /// Complete rows so far.
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
            ColumnBuilder::String(builder) => builder.append_option(value),
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

    /// Takes the rows out and leaves the builder empty.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        self.rows = 0;
        let arrays = self
            .columns
            .iter_mut()
            .map(|column| -> ArrayRef {
                match column {
                    ColumnBuilder::Int64(builder) => Arc::new(builder.finish()),
                    ColumnBuilder::Double(builder) => Arc::new(builder.finish()),
                    ColumnBuilder::String(builder) => Arc::new(builder.finish()),
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
