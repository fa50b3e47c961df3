//! The YAML profiles of `cassandra-stress user`.

mod columns;
mod cql;
mod insert;
mod queries;
mod table;
mod yaml;

pub(super) use insert::Inserts;

use super::command::Command;
use super::draft::{Draft, quoted};
use crate::Error;
use crate::rows::{Distribution, Fields, Given, Seeds};
use columns::Columns;
use helenus_notation::{did_you_mean, given};
use std::path::Path;
use table::Table;
use yaml::Map;

/// A column's settings in a profile.
#[derive(Debug, Clone)]
struct Spec {
    name: String,
    given: Given,
}

#[derive(Debug, Clone)]
struct Query {
    name: String,
    cql: String,
    fields: Fields,
    line: usize,
}

/// The workload of a profile's operations.
pub(super) fn draft(
    command: &Command,
    path: &Path,
    operations: &[(String, f64)],
    seeds: Seeds,
    inserts: Inserts,
    notes: &mut Vec<String>,
) -> Result<Draft, Error> {
    let text = given::read_text(path, given::WRITTEN_AT_MOST).map_err(|source| Error::Argument {
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
    let specs = root.maps("columnspec")?.into_iter().map(read_spec).collect::<Result<Vec<_>, Error>>()?;
    let inserts = inserts.or_of_profile(root.map("insert")?)?;
    let queries = root.map("queries")?.map_or(Ok(Vec::new()), read_queries)?;
    let token_range_queries: Vec<String> =
        root.map("token_range_queries")?.map_or(Vec::new(), |map| map.keys().map(str::to_string).collect());
    root.finish()?;

    let Some(definition) = table_definition else {
        let message = "`table_definition` is missing: helenus reads the columns and their types from it";
        return Err(root.error(root.line(), message));
    };
    let table = Table::parse(&definition.text).map_err(|message| root.error(definition.line, message))?;
    let same = |left: &str, right: &str| left.eq_ignore_ascii_case(right);
    let of_other = table.keyspace.as_ref().is_some_and(|of_table| !same(of_table, &keyspace.text));
    if !same(&table.name, &table_name.text) || of_other {
        let message = format!("`table_definition` is of {}, and `table` is {}", table.name, table_name.text);
        return Err(root.error(definition.line, message));
    }
    if let Some(unknown) = specs.iter().find(|spec| !table.columns.iter().any(|column| column.name == spec.name)) {
        let meant = did_you_mean(&unknown.name, table.columns.iter().map(|column| column.name.as_str()));
        return Err(root.error(definition.line, format!("columnspec: there is no column `{}`{meant}", unknown.name)));
    }

    let space = quoted(&keyspace.text);
    let full_name = format!("{space}.{}", quoted(&table.name));
    let mut schema = Vec::new();
    schema.extend(keyspace_definition.map(|text| cql::if_not_exists(&text.text, "KEYSPACE")));
    let created = cql::if_not_exists(&definition.text, "TABLE");
    schema.push(cql::created_in(&created, &space));
    if !extra.is_empty() {
        // Statements may name the table without its keyspace.
        schema.push(format!("USE {space}"));
        schema.extend(extra.iter().map(|text| cql::trimmed(&text.text).to_string()));
    }
    let columns = Columns { table: &table, specs: &specs };
    let mut draft = Draft {
        description: format!("The cassandra-stress profile {file}"),
        consistency: command.consistency.clone(),
        keyspace: None,
        schema,
        truncate: vec![format!("TRUNCATE {full_name}")],
        rows: columns.rows(seeds)?,
        operations: Vec::new(),
    };
    for (given, weight) in operations {
        let prefixes =
            [spec_name.as_ref().map(|name| name.text.clone()), Some(format!("{}.{}", keyspace.text, table.name))];
        let mut of_spec = prefixes.into_iter().flatten().filter_map(|prefix| {
            let rest = given.strip_prefix(&prefix.to_ascii_lowercase())?;
            rest.strip_prefix('.').map(str::to_string)
        });
        let name = of_spec.next().unwrap_or_else(|| given.clone());
        if name == "insert" {
            let insert = insert::operation(&columns, &draft.rows, &inserts, &full_name, *weight, notes)?;
            draft.operations.push(insert);
        } else if let Some(query) = queries.iter().find(|query| query.name == name) {
            if !cql::names_keyspace(&query.cql) {
                draft.keyspace = Some(keyspace_name(&keyspace.text));
            }
            draft.operations.push(queries::operation(&columns, (&file, &space), query, *weight)?);
        } else {
            return Err(no_operation(&name, &queries, &token_range_queries));
        }
    }
    Ok(draft)
}

/// The name as the server stores it: lower case, unless quoted.
fn keyspace_name(text: &str) -> String {
    cql::tokens(text).first().and_then(cql::Token::name).unwrap_or_else(|| text.to_string())
}

fn no_operation(name: &str, queries: &[Query], token_range_queries: &[String]) -> Error {
    let message = if token_range_queries.iter().any(|query| query == name) {
        format!("`{name}` is a token range query, which are not taken; leave it out")
    } else if name == "validate" {
        "`validate` is not taken: answers are not compared with what was written; leave it out".to_string()
    } else {
        let known = || std::iter::once("insert").chain(queries.iter().map(|query| query.name.as_str()));
        let meant = did_you_mean(name, known());
        format!("the profile has no operation `{name}`{meant} (it has {})", known().collect::<Vec<_>>().join(", "))
    };
    Error::Argument { argument: "user ops".to_string(), message }
}

fn read_spec(mut map: Map<'_>) -> Result<Spec, Error> {
    let name = map.required("name")?.text;
    map.named(&name);
    let size = map.parsed("size", Distribution::parse)?;
    let population = map.parsed("population", Distribution::parse)?;
    let cluster = map.parsed("cluster", Distribution::parse)?;
    map.finish()?;
    Ok(Spec { name, given: Given { population, size, cluster } })
}

fn read_queries(map: Map<'_>) -> Result<Vec<Query>, Error> {
    let each = map.named_maps()?.into_iter().map(|(name, mut map)| {
        let cql = map.required("cql")?;
        let fields = match map.optional("fields")?.map(|fields| fields.text.to_lowercase()).as_deref() {
            None | Some("multirow") => Fields::MultiRow,
            Some("samerow") => Fields::SameRow,
            Some(_) => {
                return Err(map.error(name.line, format!("`queries.{}.fields` is samerow or multirow", name.text)));
            }
        };
        map.finish()?;
        Ok(Query { name: name.text, cql: cql.text, fields, line: cql.line })
    });
    each.collect()
}

#[cfg(test)]
mod tests;
