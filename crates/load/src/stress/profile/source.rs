//! A profile, as its file has it.

use super::insert::Inserts;
use super::table::Table;
use super::yaml::{self, Map, Text};
use super::{cql, names};
use crate::Error;
use crate::driver::KnownColumn;
use crate::rows::{Distribution, Fields, Given};
use crate::stress::draft::quoted;
use helenus_notation::{did_you_mean, given};
use std::path::Path;

/// The most bytes of a profile.
const LARGEST: u64 = 4 << 20;

/// Asks a node for the columns of a table, by keyspace and table.
pub(in crate::stress) type AskColumns<'a> = dyn Fn(&str, &str) -> Result<Vec<KnownColumn>, Error> + 'a;

#[derive(Debug)]
pub(super) struct Profile {
    pub file: String,
    /// The name before the dot in `ops(name.insert=1)`: `specname`, or the keyspace and the table.
    pub names: Vec<String>,
    /// The name of the keyspace, as the server stores it.
    pub keyspace: String,
    pub table: Table,
    pub specs: Vec<Spec>,
    pub inserts: Inserts,
    pub queries: Vec<Query>,
    pub scans: Vec<TokenRangeQuery>,
    /// The statements that create the schema.
    pub schema: Vec<String>,
}

/// A column's settings in a profile.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    /// The name of the column, as the server stores it.
    pub name: String,
    pub given: Given,
}

#[derive(Debug, Clone)]
pub(super) struct Query {
    pub name: String,
    pub cql: String,
    pub fields: Fields,
    pub consistency: Option<String>,
    pub serial_consistency: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct TokenRangeQuery {
    pub name: String,
    pub columns: String,
    pub page_size: u64,
}

impl Profile {
    /// Reads a file. The settings of `inserts` replace those of the file. `columns` asks a node for the columns of a table.
    pub fn read(
        path: &Path,
        inserts: &Inserts,
        columns: &AskColumns<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Profile, Error> {
        let text = given::read_text(path, LARGEST).map_err(|source| Error::Argument {
            argument: "user profile=".to_string(),
            message: format!("cannot read {}: {source}", path.display()),
        })?;
        let file = path.display().to_string();
        let document = yaml::parse(&file, &text)?;
        let mut root = Map::root(&file, &document)?;
        let spec_name = root.optional("specname")?;
        let keyspace = root.required("keyspace")?;
        let keyspace_definition = root.optional("keyspace_definition")?;
        let table_name = root.required("table")?;
        let table_definition = root.optional("table_definition")?;
        let extra = root.texts("extra_definitions")?;
        let specs = root.maps("columnspec")?;
        let inserts = inserts.clone().or_of_profile(root.map("insert")?, notes)?;
        let queries = read_queries(root.map("queries")?, notes)?;
        let scans = read_scans(root.map("token_range_queries")?, notes)?;
        root.finish(notes)?;

        let line = table_definition.as_ref().map_or(table_name.line, |definition| definition.line);
        let (space, table) = match &table_definition {
            Some(definition) => {
                let table = Table::parse(&definition.text).map_err(|message| root.error(line, message))?;
                let own = table.keyspace.as_deref();
                (keyspace_of(&root, &keyspace, keyspace_definition.as_ref(), own)?, table)
            }
            None => {
                let space = keyspace_of(&root, &keyspace, keyspace_definition.as_ref(), None)?;
                let table = existing(&space, &table_name.text, columns)?;
                let missing = || qualified(&space, &names::stored(&table_name.text));
                let table = table.ok_or_else(|| {
                    root.error(line, format!("there is no `table_definition`, and the node has no table {}", missing()))
                })?;
                (space, table)
            }
        };
        if !names::means(&table_name.text, &table.name) || table.keyspace.as_ref().is_some_and(|own| *own != space) {
            let own = table.keyspace.as_ref().unwrap_or(&space);
            let message = format!(
                "`table_definition` creates {}, and `keyspace` and `table` say {}",
                qualified(own, &table.name),
                qualified(&space, &names::stored(&table_name.text))
            );
            return Err(root.error(line, message));
        }
        let mut known = Vec::new();
        for map in specs {
            known.extend(read_spec(map, &table, notes)?);
        }
        let specs = known;

        let mut schema = Vec::new();
        schema.extend(keyspace_definition.map(|text| cql::if_not_exists(&text.text, "KEYSPACE")));
        if let Some(definition) = &table_definition {
            let created = cql::if_not_exists(&definition.text, "TABLE");
            schema.push(cql::created_in(&created, &quoted(&space)));
        }
        if !extra.is_empty() {
            // Statements may name the table without its keyspace.
            schema.push(format!("USE {}", quoted(&space)));
            schema.extend(extra.iter().map(|text| cql::trimmed(&text.text).to_string()));
        }
        let full_name = format!("{space}.{}", table.name);
        let names =
            spec_name.map(|name| name.text).into_iter().chain([full_name]).map(|name| name.to_ascii_lowercase());
        Ok(Profile { file, names: names.collect(), keyspace: space, table, specs, inserts, queries, scans, schema })
    }

    /// The table with its keyspace, in CQL.
    pub fn full_name(&self) -> String {
        qualified(&self.keyspace, &self.table.name)
    }
}

/// A table that the node has, whose name the profile means; None if it has none.
fn existing(keyspace: &str, given: &str, columns: &AskColumns<'_>) -> Result<Option<Table>, Error> {
    for name in [names::stored(given), given.to_string()] {
        let known = columns(keyspace, &name)?;
        if !known.is_empty() {
            let wrong = |message| Error::Argument { argument: "user profile=".to_string(), message };
            return Table::known(keyspace, &name, &known).map(Some).map_err(wrong);
        }
    }
    Ok(None)
}

fn qualified(keyspace: &str, table: &str) -> String {
    format!("{}.{}", quoted(keyspace), quoted(table))
}

/// The keyspace that `keyspace` means: the one that a definition creates, if there is one.
fn keyspace_of(
    root: &Map<'_>,
    given: &Text,
    definition: Option<&Text>,
    of_table: Option<&str>,
) -> Result<String, Error> {
    let Some(definition) = definition else {
        let of_table = of_table.filter(|name| names::means(&given.text, name));
        return Ok(of_table.map_or_else(|| names::stored(&given.text), str::to_string));
    };
    let tokens = cql::tokens(&definition.text);
    let Some((_, created, _)) = cql::created(&tokens, "KEYSPACE") else {
        let message = "`keyspace_definition` is not a CREATE KEYSPACE statement";
        return Err(root.error(definition.line, message));
    };
    match names::means(&given.text, &created) {
        true => Ok(created),
        false => {
            let (created, given) = (quoted(&created), quoted(&names::stored(&given.text)));
            let message = format!("`keyspace_definition` creates {created}, and `keyspace` says {given}");
            Err(root.error(definition.line, message))
        }
    }
}

/// None for a column that the table does not have: cassandra-stress takes such settings, and they change nothing.
fn read_spec(mut map: Map<'_>, table: &Table, notes: &mut Vec<String>) -> Result<Option<Spec>, Error> {
    let name = map.required("name")?;
    map.named(&name.text);
    let size = map.parsed("size", Distribution::parse)?;
    let population = map.parsed("population", Distribution::parse)?;
    let cluster = map.parsed("cluster", Distribution::parse)?;
    map.finish(notes)?;
    let columns = || table.columns.iter().map(|column| column.name.as_str());
    let Some(found) = names::find(&name.text, columns()) else {
        let meant = did_you_mean(&name.text, columns());
        notes.push(format!("columnspec `{}` changes nothing: the table has no such column{meant}", name.text));
        return Ok(None);
    };
    if found != name.text && !name.text.starts_with('"') {
        notes.push(format!(
            "columnspec `{}` is for the column {found}; cassandra-stress leaves out settings for a name in another case",
            name.text
        ));
    }
    Ok(Some(Spec { name: found.to_string(), given: Given { population, size, cluster } }))
}

fn read_queries(map: Option<Map<'_>>, notes: &mut Vec<String>) -> Result<Vec<Query>, Error> {
    let Some(map) = map else { return Ok(Vec::new()) };
    let mut queries = Vec::new();
    for (name, mut map) in map.named_maps(notes)? {
        let cql = map.required("cql")?;
        let fields = match map.optional("fields")?.map(|fields| fields.text.to_lowercase()).as_deref() {
            None | Some("multirow") => Fields::MultiRow,
            Some("samerow") => Fields::SameRow,
            Some(_) => {
                return Err(map.error(name.line, format!("`queries.{}.fields` is samerow or multirow", name.text)));
            }
        };
        let consistency = map.parsed("consistencylevel", crate::stress::command::consistency)?;
        let serial_consistency = map.parsed("serialconsistencylevel", crate::stress::command::serial_consistency)?;
        map.finish(notes)?;
        queries.push(Query { name: name.text, cql: cql.text, fields, consistency, serial_consistency });
    }
    Ok(queries)
}

fn read_scans(map: Option<Map<'_>>, notes: &mut Vec<String>) -> Result<Vec<TokenRangeQuery>, Error> {
    const PAGE_ROWS: u64 = 5000;
    let Some(map) = map else { return Ok(Vec::new()) };
    let mut scans = Vec::new();
    for (name, mut map) in map.named_maps(notes)? {
        let columns = map.required("columns")?.text;
        let page_size = map.parsed("page_size", |text| match text.parse::<u64>() {
            Ok(rows @ 1..=1_000_000) => Ok(rows),
            _ => Err(format!("`{text}` is not a number of rows from 1 to 1000000")),
        })?;
        map.finish(notes)?;
        scans.push(TokenRangeQuery { name: name.text, columns, page_size: page_size.unwrap_or(PAGE_ROWS) });
    }
    Ok(scans)
}
