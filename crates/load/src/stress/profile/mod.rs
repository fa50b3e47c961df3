//! The YAML profiles of `cassandra-stress user`.

mod columns;
mod cql;
mod insert;
mod names;
mod queries;
mod source;
mod table;
mod yaml;

pub(super) use insert::Inserts;

use super::command::Command;
use super::draft::Draft;
use crate::Error;
use crate::rows::Seeds;
use crate::workload::Operation;
use columns::Columns;
use helenus_notation::did_you_mean;
use source::{AskColumns, Profile};
use std::path::PathBuf;

/// The workload of operations of one or more profiles. `split` is the number of parts of each range of tokens.
pub(super) fn draft(
    command: &Command,
    (paths, operations): (&[PathBuf], &[(String, f64)]),
    (seeds, split): (Seeds, u64),
    inserts: &Inserts,
    columns: &AskColumns<'_>,
    notes: &mut Vec<String>,
) -> Result<Draft, Error> {
    let profiles: Vec<Profile> =
        paths.iter().map(|path| Profile::read(path, inserts, columns, notes)).collect::<Result<_, Error>>()?;
    for (position, profile) in profiles.iter().enumerate() {
        if let Some(first) = profiles[..position].iter().find(|first| first.names[0] == profile.names[0]) {
            let message = format!(
                "{} and {} are both for {}; give each a `specname`",
                first.file, profile.file, profile.names[0]
            );
            return Err(Error::Argument { argument: "user profile=".to_string(), message });
        }
    }
    let files: Vec<&str> = profiles.iter().map(|profile| profile.file.as_str()).collect();
    let mut draft = Draft {
        description: format!("The cassandra-stress profile {}", files.join(", ")),
        consistency: command.consistency.clone(),
        keyspace: None,
        schema: profiles.iter().flat_map(|profile| profile.schema.iter().cloned()).collect(),
        truncate: profiles.iter().map(|profile| format!("TRUNCATE {}", profile.full_name())).collect(),
        tables: profiles.iter().map(|profile| Columns::of(profile).rows(seeds)).collect::<Result<_, Error>>()?,
        operations: Vec::new(),
    };
    for (given, weight) in operations {
        let (table, name) = resolve(given, &profiles)?;
        let profile = &profiles[table];
        let mut operation = if name == "insert" {
            insert::operation(&Columns::of(profile), &draft.tables[table], profile, notes)?
        } else if let Some(query) = profile.queries.iter().find(|query| query.name == name) {
            if !cql::names_keyspace(&query.cql) {
                enter(&mut draft, profile, &query.name)?;
            }
            queries::query(profile, query)
        } else if let Some(scan) = profile.scans.iter().find(|scan| scan.name == name) {
            queries::scan(profile, scan, split)
        } else {
            return Err(no_operation(name, profile));
        };
        if Operation::new(given, &operation.cql).is_conditional() {
            let level = command.serial_consistency.as_ref();
            operation.serial_consistency = operation.serial_consistency.or_else(|| level.cloned());
        } else {
            operation.serial_consistency = None;
        }
        (operation.name, operation.weight, operation.table) = (given.clone(), *weight, table);
        draft.operations.push(operation);
    }
    Ok(draft)
}

/// Lets the connections be in the keyspace of a profile.
fn enter(draft: &mut Draft, profile: &Profile, query: &str) -> Result<(), Error> {
    if let Some(other) = draft.keyspace.replace(profile.keyspace.clone()).filter(|other| *other != profile.keyspace) {
        let message =
            format!("query {query} names no keyspace, and the profiles have {other} and {}", profile.keyspace);
        return Err(Error::Argument { argument: "user profile=".to_string(), message });
    }
    Ok(())
}

/// The profile of an operation and its name there: `name.insert` for the profile with that name, and otherwise the first
/// profile.
fn resolve<'g>(given: &'g str, profiles: &[Profile]) -> Result<(usize, &'g str), Error> {
    let Some((name, operation)) = given.rsplit_once('.') else { return Ok((0, given)) };
    match profiles.iter().position(|profile| profile.names.iter().any(|own| own == name)) {
        Some(position) => Ok((position, operation)),
        None => {
            let known = || profiles.iter().map(|profile| profile.names[0].as_str());
            let (meant, all) = (did_you_mean(name, known()), known().collect::<Vec<_>>().join(", "));
            let message = format!("`{given}`: no profile is named `{name}`{meant} (there are {all})");
            Err(Error::Argument { argument: "user ops".to_string(), message })
        }
    }
}

fn no_operation(name: &str, profile: &Profile) -> Error {
    let message = if name == "validate" {
        "`validate` is not taken: answers are not compared with what was written; leave it out".to_string()
    } else {
        let (queries, scans) = (profile.queries.iter(), profile.scans.iter());
        let names = queries.map(|query| query.name.as_str()).chain(scans.map(|scan| scan.name.as_str()));
        let known: Vec<&str> = std::iter::once("insert").chain(names).collect();
        let meant = did_you_mean(name, known.iter().copied());
        format!("the profile has no operation `{name}`{meant} (it has {})", known.join(", "))
    };
    Error::Argument { argument: "user ops".to_string(), message }
}

#[cfg(test)]
mod tests;
