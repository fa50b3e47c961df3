//! The rows of a query.

use crate::Error;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type, SchemaRef};
use arrow::record_batch::RecordBatch;

/// The result rows of a query, in Arrow batches.
#[derive(Debug, Clone)]
pub struct Batches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Batches {
    pub(super) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Batches {
        Batches { schema, batches }
    }

    /// The columns, in the order of the query; known even if there is no row.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// The number of rows in all batches.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// A column of whole numbers, in which NULL is None.
    pub(crate) fn integers_or_null(&self, column: &str) -> Result<Vec<Option<i64>>, Error> {
        self.read(column, &DataType::Int64, "whole numbers", |array, values| {
            values.extend(array.as_primitive::<Int64Type>().iter());
        })
    }

    /// A column of whole numbers, in which NULL is 0; only older recordings have NULL in it.
    pub(crate) fn integers(&self, column: &str) -> Result<Vec<i64>, Error> {
        Ok(self.integers_or_null(column)?.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// A column of floating-point numbers, in which NULL is None.
    pub(crate) fn numbers_or_null(&self, column: &str) -> Result<Vec<Option<f64>>, Error> {
        self.read(column, &DataType::Float64, "numbers", |array, values| {
            values.extend(array.as_primitive::<Float64Type>().iter());
        })
    }

    /// A column of floating-point numbers, in which NULL is 0.
    pub(crate) fn numbers(&self, column: &str) -> Result<Vec<f64>, Error> {
        Ok(self.numbers_or_null(column)?.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// A column of texts, in which NULL is empty.
    pub(crate) fn texts(&self, column: &str) -> Result<Vec<String>, Error> {
        self.read(column, &DataType::Utf8, "texts", |array, values| {
            values.extend(array.as_string::<i32>().iter().map(|text| text.unwrap_or_default().to_string()));
        })
    }

    /// A column of booleans, in which NULL is false.
    pub(crate) fn booleans(&self, column: &str) -> Result<Vec<bool>, Error> {
        self.read(column, &DataType::Boolean, "truth values", |array, values| {
            values.extend(array.as_boolean().iter().map(Option::unwrap_or_default));
        })
    }

    fn read<T>(
        &self,
        column: &str,
        ty: &DataType,
        expected: &'static str,
        mut take: impl FnMut(&dyn Array, &mut Vec<T>),
    ) -> Result<Vec<T>, Error> {
        let missing = || Error::Column { column: column.to_string(), expected };
        let index = self.schema.index_of(column).map_err(|_| missing())?;
        let mut values = Vec::with_capacity(self.rows());
        for batch in &self.batches {
            let array = cast(batch.column(index), ty).map_err(|_| missing())?;
            take(&array, &mut values);
        }
        Ok(values)
    }
}

/// An integer column of a batch.
pub(crate) fn integers(batch: &RecordBatch, column: &str) -> Result<ArrayRef, Error> {
    typed(batch, column, &DataType::Int64, "whole numbers")
}

/// A text column of a batch.
pub(crate) fn texts(batch: &RecordBatch, column: &str) -> Result<ArrayRef, Error> {
    typed(batch, column, &DataType::Utf8, "texts")
}

/// A float column of a batch.
pub(crate) fn numbers(batch: &RecordBatch, column: &str) -> Result<Float64Array, Error> {
    Ok(typed(batch, column, &DataType::Float64, "numbers")?.as_primitive::<Float64Type>().clone())
}

/// A boolean column of a batch.
pub(crate) fn booleans(batch: &RecordBatch, column: &str) -> Result<BooleanArray, Error> {
    Ok(typed(batch, column, &DataType::Boolean, "truth values")?.as_boolean().clone())
}

fn typed(batch: &RecordBatch, column: &str, ty: &DataType, expected: &'static str) -> Result<ArrayRef, Error> {
    let missing = || Error::Column { column: column.to_string(), expected };
    cast(batch.column_by_name(column).ok_or_else(missing)?, ty).map_err(|_| missing())
}
