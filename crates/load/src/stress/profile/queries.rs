//! Queries of a profile; bind markers get the names of their parameters.

use super::Query;
use super::columns::{self, Columns};
use super::cql::{Token, qualified, tokens, trimmed};
use crate::Error;
use crate::stress::draft::{Effect, MadeDraft, OperationDraft};

const OPERATORS: [&str; 8] = ["=", "<", ">", "<=", ">=", "!=", "IN", "CONTAINS"];

/// Builds the operation of a query.
pub(super) fn operation(
    columns: &Columns<'_>,
    (file, keyspace): (&str, &str),
    query: &Query,
    weight: f64,
) -> Result<OperationDraft, Error> {
    let wrong = |message: String| Error::File(helenus_notation::Error::at_line(file, query.line, message));
    let cql = qualified(trimmed(&query.cql), keyspace);
    let tokens = tokens(&cql);
    let mut out = String::new();
    let mut copied = 0;
    for (position, token) in tokens.iter().enumerate() {
        let (name, end) = match token.text {
            "?" => (column_of(&tokens, position), token.end()),
            ":" => {
                let Some(name) = tokens.get(position + 1).filter(|next| next.start == token.end()) else { continue };
                (name.name(), name.end())
            }
            _ => continue,
        };
        let column = name.as_ref().and_then(|name| columns.table.columns.iter().find(|column| column.name == *name));
        let Some(column) = column else {
            let unknown = name.map_or_else(
                || "a `?` does not follow a column and an operator; write :column for what fills it".to_string(),
                |name| format!("`{name}` is no column of {}, so that nothing fills its marker", columns.table.name),
            );
            return Err(wrong(format!("query {}: {unknown}", query.name)));
        };
        let value = columns::value(column)
            .map_err(|kind| wrong(format!("query {}: the driver makes no {kind} for {}", query.name, column.name)))?;
        out.push_str(&cql[copied..token.start]);
        out.push_str(&value);
        copied = end;
    }
    out.push_str(&cql[copied..]);
    let (name, made) = (query.name.clone(), MadeDraft::Queries(query.fields));
    Ok(OperationDraft { name, cql: out, weight, made, effect: Effect::Reads { must_find: false } })
}

/// The column that a `?` is compared with, assigned to or inserted into.
fn column_of(tokens: &[Token<'_>], marker: usize) -> Option<String> {
    let mut at = marker;
    // Skip back over `(?, ?` of IN (?, ?).
    while at > 0 && matches!(tokens[at - 1].text, "(" | "," | "?") {
        at -= 1;
    }
    let operator = at.checked_sub(1).map(|before| tokens[before])?;
    if OPERATORS.iter().any(|known| operator.is(known)) {
        return tokens[at.checked_sub(2)?].name();
    }
    if operator.is("VALUES") {
        return inserted(tokens, at, marker);
    }
    // `c = c + ?`
    if matches!(operator.text, "+" | "-") {
        return tokens[at.checked_sub(2)?].name();
    }
    None
}

/// The column of a marker in `INSERT INTO t (a, b) VALUES (?, ?)`.
fn inserted(tokens: &[Token<'_>], open: usize, marker: usize) -> Option<String> {
    let commas = |tokens: &[Token<'_>]| tokens.iter().filter(|token| token.text == ",").count();
    let place = commas(&tokens[open..marker]);
    let names = tokens.iter().position(|token| token.text == "(")?;
    let mut names = tokens[names + 1..open - 1].iter().take_while(|token| token.text != ")");
    names.by_ref().filter(|token| token.text != ",").nth(place)?.name()
}
