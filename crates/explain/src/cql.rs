//! Reads kind, tables and columns from the text of a CQL statement.

use std::collections::HashSet;
use std::iter::Peekable;

/// The tokens of a statement outside of literals and comments: words, names in quotes, and signs. Each is a slice of the text.
fn tokens(statement: &str) -> impl Iterator<Item = &str> {
    let mut rest = statement;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            let until = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
            let (length, is_token) = match first {
                '\'' => (until("'", 1), false),
                '"' => (until("\"", 1), true),
                '$' if rest.starts_with("$$") => (until("$$", 2), false),
                '-' if rest.starts_with("--") => (until("\n", 2), false),
                '/' if rest.starts_with("//") => (until("\n", 2), false),
                '/' if rest.starts_with("/*") => (until("*/", 2), false),
                _ if is_of_word(first) => (rest.find(|next| !is_of_word(next)).unwrap_or(rest.len()), true),
                _ => (first.len_utf8(), !first.is_whitespace()),
            };
            let (token, after) = rest.split_at(length);
            rest = after;
            if is_token {
                return Some(token);
            }
        }
    })
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is(token: &str, word: &str) -> bool {
    token.eq_ignore_ascii_case(word)
}

/// The tables that the DELETE statements of a statement or batch name.
pub(crate) fn deleted_from(statement: &str) -> Vec<String> {
    let mut tables = Vec::new();
    let mut tokens = tokens(statement).peekable();
    let mut deletes = false;
    while let Some(token) = tokens.next() {
        deletes |= is(token, "DELETE");
        if deletes && is(token, "FROM") {
            deletes = false;
            tables.extend(name(&mut tokens).map(|named| named.text()));
        }
    }
    tables
}

pub(crate) fn is_select(statement: &str) -> bool {
    statement.split_ascii_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("SELECT"))
}

/// The number of columns that a SELECT reads.
pub(crate) fn columns_asked(statement: &str, columns: &[&str]) -> usize {
    let asked: HashSet<String> =
        names(statement).take_while(|name| !is(name, "FROM")).map(|name| unquoted(&name)).collect();
    if asked.contains("*") {
        return columns.len();
    }
    columns.iter().filter(|column| asked.contains(**column)).count()
}

/// A name as the node has it: in lower case without quotes.
fn unquoted(name: &str) -> String {
    match name.strip_prefix('"') {
        Some(quoted) => quoted.trim_end_matches('"').to_string(),
        None => name.to_lowercase(),
    }
}

/// Splits a statement into names and asterisks.
fn names(statement: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = statement;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|letter: char| !letter.is_alphanumeric() && !['_', '"', '*'].contains(&letter));
        let end = match rest.chars().next()? {
            '*' => 1,
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            _ => rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len()),
        };
        let (name, after) = rest.split_at(end);
        rest = after;
        // count(*) reads no column.
        (name != "*" || !after.starts_with(')')).then(|| name.to_string()).or_else(|| Some(String::new()))
    })
}

/// A table, or another object of a keyspace, by its name.
#[derive(Debug, PartialEq, Eq)]
struct Named<'s> {
    /// The begin of the name in the text.
    begin: &'s str,
    keyspace: Option<String>,
    name: String,
}

impl Named<'_> {
    fn text(&self) -> String {
        let keyspace = self.keyspace.as_deref();
        keyspace.map_or_else(|| self.name.clone(), |keyspace| format!("{keyspace}.{}", self.name))
    }
}

/// The name that comes next, with or without a keyspace; spaces may be around its point.
fn name<'s>(tokens: &mut Peekable<impl Iterator<Item = &'s str>>) -> Option<Named<'s>> {
    let is_name = |token: &&str| token.starts_with(|first| is_of_word(first) || first == '"');
    let begin = tokens.next_if(is_name)?;
    if tokens.next_if_eq(&".").is_none() {
        return Some(Named { begin, keyspace: None, name: unquoted(begin) });
    }
    let name = tokens.next_if(is_name).map_or(String::new(), unquoted);
    Some(Named { begin, keyspace: Some(unquoted(begin)), name })
}

/// The object that a statement names, and whether it is a table. Names without a keyspace belong to that of the connection.
fn about(statement: &str) -> Option<(Named<'_>, bool)> {
    let statement = first_of_batch(statement).unwrap_or(statement);
    let mut tokens = tokens(statement).peekable();
    let mut first = tokens.next()?;
    if is(first, "BEGIN") {
        first = tokens.find(|token| ["INSERT", "UPDATE", "DELETE"].iter().any(|word| is(token, word)))?;
    }
    match first.to_ascii_uppercase().as_str() {
        "SELECT" | "DELETE" => tokens.find(|token| is(token, "FROM")).map(drop)?,
        "INSERT" => tokens.find(|token| is(token, "INTO")).map(drop)?,
        "UPDATE" => {}
        "TRUNCATE" => drop(tokens.next_if(|token| is(token, "TABLE") || is(token, "COLUMNFAMILY"))),
        "CREATE" | "ALTER" | "DROP" => return defined(&mut tokens),
        _ => return None,
    }
    Some((name(&mut tokens)?, true))
}

/// The object that a CREATE, ALTER or DROP names, and whether it is a table.
fn defined<'s>(tokens: &mut Peekable<impl Iterator<Item = &'s str>>) -> Option<(Named<'s>, bool)> {
    const BEFORE: [&str; 4] = ["OR", "REPLACE", "CUSTOM", "MATERIALIZED"];
    let kind = tokens.find(|token| !BEFORE.iter().any(|word| is(token, word)))?.to_ascii_uppercase();
    const IF: [&str; 3] = ["IF", "NOT", "EXISTS"];
    while tokens.next_if(|token| IF.iter().any(|word| is(token, word))).is_some() {}
    match kind.as_str() {
        "TABLE" | "COLUMNFAMILY" | "VIEW" => Some((name(tokens)?, true)),
        "TYPE" | "FUNCTION" | "AGGREGATE" => Some((name(tokens)?, false)),
        "INDEX" | "TRIGGER" => {
            let own = match tokens.peek() {
                Some(next) if is(next, "ON") => None,
                _ => name(tokens),
            };
            match tokens.next_if(|token| is(token, "ON")) {
                Some(_) => Some((name(tokens)?, true)),
                None => Some((own?, false)),
            }
        }
        _ => None,
    }
}

/// The table of a statement, in the statement's own spelling.
pub(crate) fn table_of_statement(statement: &str) -> Option<String> {
    about(statement).filter(|(_, is_table)| *is_table).map(|(named, _)| named.text())
}

/// The name under which equal statements are counted: the text with its keyspace, so that statements of several keyspaces
/// are never counted together. The name of a batch leaves out the number of statements.
pub(crate) fn operation(statement: &str, keyspace: Option<&str>) -> String {
    let batch = first_of_batch(statement);
    let text = batch.map_or(statement.to_string(), |first| format!("batch: {first}"));
    let Some(keyspace) = keyspace else { return text };
    let is_plain = keyspace.starts_with(|first: char| first.is_ascii_lowercase())
        && keyspace.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    let keyspace = if is_plain { keyspace.to_string() } else { format!("\"{}\"", keyspace.replace('"', "\"\"")) };
    match about(&text) {
        Some((Named { keyspace: Some(_), .. }, _)) => text,
        Some((Named { begin, .. }, _)) => {
            let at = begin.as_ptr().addr() - text.as_ptr().addr();
            format!("{}{keyspace}.{}", &text[..at], &text[at..])
        }
        // The keyword alone is known.
        None if text.ends_with('…') && !has_own_keyspace(&text) => format!("{text} in {keyspace}"),
        None => text,
    }
}

/// Whether a statement is about a keyspace, or about something that belongs to none.
fn has_own_keyspace(statement: &str) -> bool {
    const OWN: [&str; 10] = ["KEYSPACE", "SCHEMA", "ROLE", "USER", "IDENTITY", "GRANT", "REVOKE", "LIST", "ADD", "USE"];
    tokens(statement).take(2).any(|token| OWN.iter().any(|word| is(token, word)))
}

/// Older recordings have the number of statements in the text of a batch.
fn first_of_batch(statement: &str) -> Option<&str> {
    let after = statement.strip_prefix("batch of ").and_then(|batch| batch.split_once(": ")).map(|(_, first)| first);
    after.or_else(|| statement.strip_prefix("batch: "))
}

/// Keyspace and table of a statement, if it names them.
pub(crate) fn split_table(statement: &str) -> (Option<String>, Option<String>) {
    match about(statement) {
        Some((Named { keyspace, name, .. }, true)) => (keyspace, Some(name)),
        Some((Named { keyspace, .. }, false)) => (keyspace, None),
        None => (None, None),
    }
}

/// The kind of request that a statement makes; None if its text is not known.
pub(crate) fn kind(statement: &str) -> Option<&'static str> {
    if statement.is_empty() || statement.starts_with("prepared ") {
        return None;
    }
    let mut tokens = tokens(statement).peekable();
    let first = tokens.next()?.to_ascii_uppercase();
    Some(match first.as_str() {
        "SELECT" => match tokens.find(|token| is(token, "WHERE")) {
            Some(_) if !has_token(&mut tokens) => "read",
            // Only the keyword is known.
            None if statement.ends_with("SELECT …") => "read",
            _ => "range read",
        },
        "INSERT" | "UPDATE" | "DELETE" if tokens.any(|token| is(token, "IF")) => "lightweight transaction",
        "INSERT" | "UPDATE" | "DELETE" => "write",
        "BEGIN" | "BATCH" => "batch",
        "CREATE" | "ALTER" | "DROP" if tokens.next().is_some_and(|next| is(next, "ROLE") || is(next, "USER")) => {
            "other"
        }
        "CREATE" | "ALTER" | "DROP" | "TRUNCATE" => "schema change",
        _ => "other",
    })
}

/// Whether a condition is about tokens of partitions, and so about a range of them.
fn has_token<'s>(tokens: &mut Peekable<impl Iterator<Item = &'s str>>) -> bool {
    let mut is_left = true;
    while let Some(token) = tokens.next() {
        if is_left && is(token, "TOKEN") && tokens.peek() == Some(&"(") {
            return true;
        }
        is_left = is(token, "AND") || is(token, "OR") || (is_left && token == "(");
    }
    false
}

/// Whether `name`, with or without a keyspace, names the table `table` (`keyspace.table`).
pub(crate) fn is_name_of(name: &str, table: &str) -> bool {
    table == name || (!name.contains('.') && table.rsplit_once('.').is_some_and(|(_, last)| last == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_has_the_keyspace_of_its_table() {
        for (statement, keyspace, expected) in [
            ("SELECT a FROM t WHERE b = ?", Some("shop"), "SELECT a FROM shop.t WHERE b = ?"),
            ("SELECT a FROM own.t WHERE b = ?", Some("shop"), "SELECT a FROM own.t WHERE b = ?"),
            ("INSERT INTO \"T\" (k) VALUES (?)", Some("Shop"), "INSERT INTO \"Shop\".\"T\" (k) VALUES (?)"),
            ("UPDATE t SET a = ? WHERE b = ?", None, "UPDATE t SET a = ? WHERE b = ?"),
            ("batch of 3: INSERT INTO t(k) VALUES (?)", Some("shop"), "batch: INSERT INTO shop.t(k) VALUES (?)"),
            ("batch: DELETE FROM t WHERE k = ?", Some("shop"), "batch: DELETE FROM shop.t WHERE k = ?"),
            ("prepared 0a0b", Some("shop"), "prepared 0a0b"),
            ("other statements", None, "other statements"),
            ("TRUNCATE people", Some("shop"), "TRUNCATE shop.people"),
            ("TRUNCATE TABLE \"People\"", Some("1shop"), "TRUNCATE TABLE \"1shop\".\"People\""),
            ("BEGIN BATCH DELETE FROM t WHERE k = ?", Some("shop"), "BEGIN BATCH DELETE FROM shop.t WHERE k = ?"),
            ("CREATE TABLE IF NOT EXISTS t (a int)", Some("shop"), "CREATE TABLE IF NOT EXISTS shop.t (a int)"),
            ("CREATE TABLE own . t (a int)", Some("shop"), "CREATE TABLE own . t (a int)"),
            ("ALTER TABLE t ADD a int", Some("shop"), "ALTER TABLE shop.t ADD a int"),
            ("drop materialized view if exists v", Some("shop"), "drop materialized view if exists shop.v"),
            ("CREATE INDEX ON t (a)", Some("shop"), "CREATE INDEX ON shop.t (a)"),
            ("CREATE CUSTOM INDEX i ON t (a)", Some("shop"), "CREATE CUSTOM INDEX i ON shop.t (a)"),
            ("DROP INDEX i", Some("shop"), "DROP INDEX shop.i"),
            ("CREATE TRIGGER x ON t USING ?", Some("shop"), "CREATE TRIGGER x ON shop.t USING ?"),
            ("CREATE OR REPLACE FUNCTION f (a int)", Some("shop"), "CREATE OR REPLACE FUNCTION shop.f (a int)"),
            ("DROP TYPE u", Some("shop"), "DROP TYPE shop.u"),
            ("DROP KEYSPACE other", Some("shop"), "DROP KEYSPACE other"),
            ("SELECT \"from\", a FROM \"a b.c\"", Some("shop"), "SELECT \"from\", a FROM shop.\"a b.c\""),
            ("SELECT …", Some("shop"), "SELECT … in shop"),
            ("batch: INSERT …", Some("shop"), "batch: INSERT … in shop"),
            ("CREATE TABLE …", Some("shop"), "CREATE TABLE … in shop"),
            ("CREATE ROLE …", Some("shop"), "CREATE ROLE …"),
        ] {
            assert_eq!(operation(statement, keyspace), expected);
            // No statement is the same in another keyspace.
            if expected.contains("shop") {
                assert_ne!(operation(statement, Some("bank")), expected);
            }
        }
        assert_eq!(split_table("batch: INSERT INTO shop.t(k) VALUES (?)").1.as_deref(), Some("t"));
    }

    #[test]
    fn columns_are_those_between_select_and_from() {
        let columns = ["a", "b", "Big"];
        for (statement, asked) in [
            ("SELECT a FROM ks.t WHERE b = ?", 1),
            ("select A, \"Big\", k from t", 2),
            ("SELECT * FROM t", 3),
            ("SELECT count(*) FROM t", 0),
            ("SELECT writetime(a), big FROM t", 1),
            ("SELECT DISTINCT k FROM t", 0),
            ("SELECT JSON b AS \"a b\" FROM t", 1),
        ] {
            assert_eq!(columns_asked(statement, &columns), asked, "{statement}");
        }
    }

    #[test]
    fn deletes_are_found_in_batches_too() {
        let of = |statement: &str| deleted_from(statement).join(" ");
        assert_eq!(of("DELETE FROM ks.T WHERE a = ?"), "ks.t");
        assert_eq!(of("delete a, b[?] from \"Ks\".\"T\" where a = ?"), "Ks.T");
        assert_eq!(of("BEGIN BATCH INSERT INTO a (b) VALUES (?);DELETE FROM c WHERE d = ?; APPLY BATCH"), "c");
        assert_eq!(of("batch of 2: DELETE FROM a WHERE b = ?; DELETE\nFROM c WHERE d = ?"), "a c");
        assert_eq!(of("SELECT deleted FROM a"), "");
    }

    #[test]
    fn statements_have_a_kind() {
        for (statement, is) in [
            ("select a from t where k = ?", Some("read")),
            ("SELECT * FROM t", Some("range read")),
            ("SELECT * FROM people WHERE token ( id ) > ? LIMIT ?", Some("range read")),
            ("SELECT * FROM people WHERE a = ? AND (TOKEN(id) > ?)", Some("range read")),
            ("SELECT token(id) FROM people WHERE id = ?", Some("read")),
            ("SELECT \"where\" FROM people", Some("range read")),
            ("SELECT a FROM t WHERE \"token\" = ? AND b = token(?)", Some("read")),
            ("SELECT …", Some("read")),
            ("UPDATE t SET \"if\" = ? WHERE k = ?", Some("write")),
            ("CREATE ROLE …", Some("other")),
            ("unreadable statement", Some("other")),
            ("INSERT INTO t (k) VALUES (?) IF NOT EXISTS", Some("lightweight transaction")),
            ("UPDATE t SET a = ? WHERE k = ?", Some("write")),
            ("batch of 3: INSERT INTO ks.t (k) VALUES (?)", Some("batch")),
            ("CREATE TABLE t (k int PRIMARY KEY)", Some("schema change")),
            ("USE ks", Some("other")),
            ("prepared 00ff", None),
            ("", None),
        ] {
            assert_eq!(kind(statement), is, "{statement}");
        }
        assert_eq!(split_table("SELECT a FROM ks.t"), (Some("ks".into()), Some("t".into())));
        assert_eq!(split_table("SELECT a FROM t"), (None, Some("t".into())));
    }

    /// Statements come from recordings of others.
    #[test]
    fn statements_of_any_length_are_read_at_once() {
        let columns: Vec<String> = (0..60_000).map(|number| format!("c{number}")).collect();
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let select = format!("SELECT {} FROM t WHERE {}", columns.join(", "), vec!["a = ?"; 60_000].join(" AND "));
        assert_eq!(columns_asked(&select, &names), 60_000);
        assert_eq!((kind(&select), table_of_statement(&select).as_deref()), (Some("read"), Some("t")));
        assert!(operation(&select, Some("shop")).contains("FROM shop.t WHERE"));
        assert!(deleted_from(&"DELETE ".repeat(500_000)).is_empty());
        assert_eq!(deleted_from(&"DELETE FROM t;".repeat(60_000)).len(), 60_000);
    }

    #[test]
    fn a_statement_may_name_its_table_alone() {
        for (name, is_it) in [("shop.orders", true), ("orders", true), ("shop.orders2", false), ("other.orders", false)]
        {
            assert_eq!(is_name_of(name, "shop.orders"), is_it, "{name}");
        }
    }

    #[test]
    fn statements_say_their_table() {
        for (statement, table) in [
            ("SELECT a, b FROM ks.t WHERE k = ?", Some("ks.t")),
            ("select * from T;", Some("t")),
            ("INSERT INTO ks.t(k) VALUES (?)", Some("ks.t")),
            ("UPDATE \"Ks\".\"T\" SET a = ?", Some("Ks.T")),
            ("DELETE a FROM ks.t WHERE k = ?", Some("ks.t")),
            ("batch of 3: INSERT INTO ks.t (k) VALUES (?)", Some("ks.t")),
            ("prepared 00ff", None),
            ("", None),
        ] {
            assert_eq!(table_of_statement(statement).as_deref(), table, "{statement}");
        }
    }
}
