//! The columns of a profile's table, and how their values are generated.

use super::source::{Profile, Spec};
use super::table::Table;
use crate::Error;
use crate::rows::{self, Given, Rows, Seeds};

/// The prefix that cassandra-stress adds to a column's name in the seed of its values.
const SALT: &str = "seed for stress";

/// The table's columns and their settings in the profile.
#[derive(Debug)]
pub(super) struct Columns<'p> {
    pub table: &'p Table,
    specs: &'p [Spec],
}

impl<'p> Columns<'p> {
    pub fn of(profile: &'p Profile) -> Columns<'p> {
        Columns { table: &profile.table, specs: &profile.specs }
    }

    /// The rows of the table.
    pub fn rows(&self, seeds: Seeds) -> Result<Rows, Error> {
        let mut columns = Vec::new();
        for column in &self.table.columns {
            // Of several settings for a column the last one counts, as in cassandra-stress.
            let spec = self.specs.iter().rfind(|spec| spec.name == column.name);
            let given = spec.map_or(Given::default(), |spec| spec.given);
            let salt = format!("{SALT}{}", column.name);
            columns.push(rows::Column::new(&column.name, column.role, column.cql_type.made(), &salt, given));
        }
        let rows = Rows::new(seeds, columns);
        rows.check().map_err(|message| Error::Argument { argument: "profile".to_string(), message })?;
        Ok(rows)
    }
}
