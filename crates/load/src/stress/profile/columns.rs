//! The columns of a profile's table: their bind markers, and how their values are generated.

use super::Spec;
use super::table::{Column, CqlType, Table};
use crate::Error;
use crate::rows::{self, Given, Rows, Seeds};
use crate::stress::draft::marker_name;

/// The prefix that cassandra-stress adds to a column's name in the seed of its values.
const SALT: &str = "seed for stress";

/// The table's columns and their settings in the profile.
#[derive(Debug)]
pub(super) struct Columns<'p> {
    pub table: &'p Table,
    pub specs: &'p [Spec],
}

impl Columns<'_> {
    /// The rows of the table.
    pub fn rows(&self, seeds: Seeds) -> Result<Rows, Error> {
        let mut columns = Vec::new();
        for column in &self.table.columns {
            let value_type = match column.cql_type.made() {
                Ok(value_type) => value_type,
                Err(_) if column.role == rows::Role::Regular => continue,
                Err(kind) => {
                    let message = format!("the driver makes no {kind}, which {} of the primary key is", column.name);
                    return Err(Error::Argument { argument: "profile".to_string(), message });
                }
            };
            let spec = self.specs.iter().find(|spec| spec.name == column.name);
            let given = spec.map_or(Given::default(), |spec| spec.given);
            let salt = format!("{SALT}{}", column.name);
            columns.push(rows::Column::new(&marker_name(&column.name), column.role, value_type, &salt, given));
        }
        Ok(Rows::new(seeds, columns))
    }
}

/// A column's value in a statement: a marker, or a literal. The error names what can't be generated.
pub(super) fn value(column: &Column) -> Result<String, &'static str> {
    match column.cql_type {
        CqlType::Duration => Ok("1h30m".to_string()),
        other => other.made().map(|_| format!(":{}", marker_name(&column.name))),
    }
}
