//! Settings in a workload file for reading rows back.

use super::{Operation, Populate, markers};
use helenus_notation::{Error, Section};

/// How rows are read back and compared with what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Index of the operation that reads a row.
    pub operation: usize,
    /// Index of the operation that wrote it.
    pub written_by: usize,
    /// Columns of the answer, each with the parameter that it was written with. If empty: the columns that are named
    /// like a parameter of the writing operation.
    pub columns: Vec<(String, String)>,
}

pub(super) fn read(
    mut section: Section<'_>,
    operations: &[Operation],
    populate: Option<Populate>,
) -> Result<Verification, Error> {
    let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
    let Some(operation) = section.choice("operation", &names)? else {
        return Err(section.error("[verify] says which `operation` reads a row back"));
    };
    let written_by = section.choice("written_by", &names)?.or(populate.map(|populate| populate.operation));
    let columns = section.section("columns")?;
    section.finish()?;
    if !markers::begins_with(&operations[operation].cql, "SELECT") {
        return Err(section.error_at("operation", "the `operation` of [verify] is a SELECT"));
    }
    let Some(written_by) = written_by else {
        return Err(
            section.error("[verify] says with `written_by` which operation wrote the rows, or has a [populate]")
        );
    };
    let markers = markers::markers(&operations[written_by].cql).unwrap_or_default();
    let mut compared = Vec::new();
    if let Some(columns) = columns {
        for (column, parameter) in columns.named_values::<String>()? {
            if !markers.contains(&parameter) {
                let message = format!("operation {} has no marker `:{parameter}`", names[written_by]);
                return Err(columns.error_at(column, message));
            }
            compared.push((column.to_string(), parameter));
        }
    }
    Ok(Verification { operation, written_by, columns: compared })
}
