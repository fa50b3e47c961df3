//! Reads columns of a batch, from a growing stream or from a closed table. Texts may be dictionary-encoded, and a
//! column of another version may be missing.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};
use arrow::record_batch::RecordBatch;

fn column(batch: &RecordBatch, name: &str, ty: &DataType) -> Option<ArrayRef> {
    let column = batch.column_by_name(name)?;
    if column.data_type() == ty { Some(column.clone()) } else { cast(column, ty).ok() }
}

/// A column of integers. A null is None; if the column is missing, every row is None.
pub(super) struct Integers(Option<Int64Array>);

impl Integers {
    pub(super) fn of(batch: &RecordBatch, name: &str) -> Integers {
        Integers(column(batch, name, &DataType::Int64).and_then(|array| array.as_primitive_opt().cloned()))
    }

    pub(super) fn get(&self, row: usize) -> Option<i64> {
        self.0.as_ref().filter(|array| array.is_valid(row)).map(|array| array.value(row))
    }

    pub(super) fn or_zero(&self, row: usize) -> i64 {
        self.get(row).unwrap_or_default()
    }

    /// Adds the value of a row to a sum.
    pub(super) fn add(&self, row: usize, sum: &mut i64) {
        *sum = sum.saturating_add(self.or_zero(row));
    }
}

/// A column of floating-point numbers, with nulls as in the integer column.
pub(super) struct Numbers(Option<Float64Array>);

impl Numbers {
    pub(super) fn of(batch: &RecordBatch, name: &str) -> Numbers {
        Numbers(column(batch, name, &DataType::Float64).and_then(|array| array.as_primitive_opt().cloned()))
    }

    pub(super) fn get(&self, row: usize) -> Option<f64> {
        self.0.as_ref().filter(|array| array.is_valid(row)).map(|array| array.value(row))
    }
}

/// A column of texts, in which a null is empty.
pub(super) enum Texts {
    Missing,
    Plain(StringArray),
    Dictionary { keys: arrow::array::Int32Array, values: StringArray },
}

impl Texts {
    pub(super) fn of(batch: &RecordBatch, name: &str) -> Texts {
        let dictionary = batch.column_by_name(name).and_then(|column| column.as_dictionary_opt::<Int32Type>());
        if let Some(dictionary) = dictionary
            && let Some(values) = dictionary.values().as_string_opt::<i32>()
        {
            return Texts::Dictionary { keys: dictionary.keys().clone(), values: values.clone() };
        }
        let plain = column(batch, name, &DataType::Utf8).and_then(|array| array.as_string_opt::<i32>().cloned());
        plain.map_or(Texts::Missing, Texts::Plain)
    }

    pub(super) fn get(&self, row: usize) -> &str {
        match self {
            Texts::Missing => "",
            Texts::Plain(values) if values.is_valid(row) => values.value(row),
            Texts::Plain(_) => "",
            Texts::Dictionary { values, .. } => match self.key(row).filter(|key| values.is_valid(*key)) {
                Some(key) => values.value(key),
                None => "",
            },
        }
    }

    /// Index of a row's text in the dictionary.
    pub(super) fn key(&self, row: usize) -> Option<usize> {
        match self {
            Texts::Dictionary { keys, values } if keys.is_valid(row) => {
                usize::try_from(keys.value(row)).ok().filter(|key| *key < values.len())
            }
            _ => None,
        }
    }

    /// Texts of the dictionary.
    pub(super) fn distinct(&self) -> usize {
        match self {
            Texts::Dictionary { values, .. } => values.len(),
            _ => 0,
        }
    }
}
