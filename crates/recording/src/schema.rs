//! The columns and types of a recording's tables. The tables themselves are generated from `schema/`.

use arrow::array::{RecordBatch, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use std::sync::Arc;

pub use crate::generated::TABLES;

/// The four types of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Int64,
    Double,
    String,
    Bool,
}

/// A table: its name, its time column, and its columns.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    pub name: &'static str,
    /// The format version that introduced the table.
    pub since: u32,
    pub time: &'static str,
    pub meaning: &'static str,
    /// Whether two recorders may have the same rows. None for tables that only one recorder can write, such as the
    /// requests that it sent.
    pub seen: Option<Seen>,
    pub columns: &'static [Column],
}

/// How the same rows of two recorders are recognized, so that they are counted once ([`crate::repeated`]).
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    pub of: Subject,
    /// The sources that write this table, by their names in the table `sources`: their reports tell when a recorder was
    /// watching.
    pub sources: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Rows are about the machine, whichever node they name.
    Machine,
    /// Rows are about the node that they name. A row that names none is about the recorder's own process.
    Node,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub ty: Type,
    pub unit: &'static str,
    /// A point in time: nanoseconds since the Unix epoch, moved when recordings with different clocks are merged.
    pub is_time: bool,
    pub nullable: bool,
    pub meaning: &'static str,
}

impl Table {
    /// The table with this name.
    pub fn named(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// The schema for readers, with plain strings.
    pub fn arrow_schema(&self) -> SchemaRef {
        self.schema_with(|ty| match ty {
            Type::Int64 => DataType::Int64,
            Type::Double => DataType::Float64,
            Type::String => DataType::Utf8,
            Type::Bool => DataType::Boolean,
        })
    }

    /// The schema of the stream while it is written: strings as a dictionary per batch, because most repeat.
    pub(crate) fn stream_schema(&self) -> SchemaRef {
        self.schema_with(|ty| match ty {
            Type::Int64 => DataType::Int64,
            Type::Double => DataType::Float64,
            Type::String => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Type::Bool => DataType::Boolean,
        })
    }

    /// Converts rows to this table's schema: columns missing in another version become null, unknown columns are
    /// dropped.
    pub(crate) fn fit(&self, batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        if batch.schema_ref() == schema {
            return Ok(batch.clone());
        }
        let columns = schema.fields().iter().map(|field| match batch.column_by_name(field.name()) {
            Some(values) => cast(values, field.data_type()),
            None => Ok(new_null_array(field.data_type(), batch.num_rows())),
        });
        RecordBatch::try_new(Arc::clone(schema), columns.collect::<Result<_, _>>()?)
    }

    /// The declared columns. Each may be NULL, because an older recording may lack it.
    pub fn nullable_schema(&self) -> SchemaRef {
        let declared = self.arrow_schema();
        let fields = declared.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        Arc::new(Schema::new(fields.collect::<Vec<Field>>()))
    }

    /// Rows with plain strings, and a null for each missing column.
    pub fn plain(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        self.fit(batch, &self.nullable_schema())
    }

    fn schema_with(&self, data_type: impl Fn(Type) -> DataType) -> SchemaRef {
        let fields: Vec<Field> =
            self.columns.iter().map(|column| Field::new(column.name, data_type(column.ty), column.nullable)).collect();
        Arc::new(Schema::new(fields))
    }
}
