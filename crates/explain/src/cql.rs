//! Reads kind, tables and columns from the text of a CQL statement.

/// The tables that the DELETE statements of a statement or batch name.
pub(crate) fn deleted_from(statement: &str) -> Vec<String> {
    let words: Vec<&str> = statement.split(|letter: char| letter.is_ascii_whitespace() || letter == ';').collect();
    let mut tables = Vec::new();
    for (at, word) in words.iter().enumerate() {
        // A word inside a text literal counts as well, so the result may name a table that is not deleted from, but
        // never misses one.
        if word.eq_ignore_ascii_case("DELETE")
            && let Some(from) = words[at..].iter().position(|word| word.eq_ignore_ascii_case("FROM"))
        {
            let names = words[at + from + 1..].iter().find(|word| !word.is_empty());
            tables.extend(names.map(|name| plain_name(name)));
        }
    }
    tables
}

pub(crate) fn is_select(statement: &str) -> bool {
    statement.split_ascii_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("SELECT"))
}

/// The number of columns that a SELECT reads.
pub(crate) fn columns_asked(statement: &str, columns: &[&str]) -> usize {
    let asked = names(statement).take_while(|name| !name.eq_ignore_ascii_case("FROM")).collect::<Vec<_>>();
    if asked.iter().any(|name| name == "*") {
        return columns.len();
    }
    let is = |name: &str, column: &str| match name.strip_prefix('"') {
        Some(quoted) => quoted.trim_end_matches('"') == column,
        None => name.to_lowercase() == column,
    };
    columns.iter().filter(|column| asked.iter().any(|name| is(name, column))).count()
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

/// The table of a statement, in the statement's own spelling.
pub(crate) fn table_of_statement(statement: &str) -> Option<String> {
    table_word(statement).map(plain_name)
}

/// The name under which equal statements are counted: the text without keyspace. The name of a batch leaves out the
/// number of statements.
pub(crate) fn operation(statement: &str, keyspace: Option<&str>) -> String {
    let batch = first_of_batch(statement);
    let text = batch.map_or(statement.to_string(), |first| format!("batch: {first}"));
    let (Some(keyspace), Some(table)) = (keyspace, table_word(&text)) else { return text };
    if plain_name(table).contains('.') {
        return text;
    }
    let is_plain =
        keyspace.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    let keyspace = if is_plain { keyspace.to_string() } else { format!("\"{keyspace}\"") };
    let at = table.as_ptr().addr() - text.as_ptr().addr();
    format!("{}{keyspace}.{}", &text[..at], &text[at..])
}

/// Older recordings have the number of statements in the text of a batch.
fn first_of_batch(statement: &str) -> Option<&str> {
    let after = statement.strip_prefix("batch of ").and_then(|batch| batch.split_once(": ")).map(|(_, first)| first);
    after.or_else(|| statement.strip_prefix("batch: "))
}

/// The table's name within the text.
fn table_word(statement: &str) -> Option<&str> {
    let statement = first_of_batch(statement).unwrap_or(statement);
    let mut words = statement.split_ascii_whitespace();
    let first = words.next()?.to_ascii_uppercase();
    let before = match first.as_str() {
        "SELECT" | "DELETE" => "FROM",
        "INSERT" => "INTO",
        "UPDATE" => return words.next(),
        _ => return None,
    };
    words.find(|word| word.eq_ignore_ascii_case(before))?;
    words.next()
}

/// Keyspace and table of a statement, if it names them.
pub(crate) fn split_table(statement: &str) -> (Option<String>, Option<String>) {
    match table_of_statement(statement) {
        Some(name) => match name.split_once('.') {
            Some((keyspace, table)) => (Some(keyspace.to_string()), Some(table.to_string())),
            None => (None, Some(name)),
        },
        None => (None, None),
    }
}

/// The kind of request that a statement makes; None if its text is not known.
pub(crate) fn kind(statement: &str) -> Option<&'static str> {
    if statement.is_empty() || statement.starts_with("prepared ") {
        return None;
    }
    let upper = statement.to_ascii_uppercase();
    let first = upper.split(|letter: char| !letter.is_ascii_alphabetic()).find(|word| !word.is_empty())?;
    // Finds the IF of a lightweight transaction outside of quoted names.
    let has = |wanted: &str| upper.split_ascii_whitespace().any(|word| word == wanted);
    Some(match first {
        "SELECT" if !has("WHERE") || upper.contains("TOKEN(") => "range read",
        "SELECT" => "read",
        "INSERT" | "UPDATE" | "DELETE" if has("IF") => "lightweight transaction",
        "INSERT" | "UPDATE" | "DELETE" => "write",
        "BEGIN" | "BATCH" => "batch",
        "CREATE" | "ALTER" | "DROP" | "TRUNCATE" => "schema change",
        _ => "other",
    })
}

/// Whether `name`, with or without a keyspace, names the table `table` (`keyspace.table`).
pub(crate) fn is_name_of(name: &str, table: &str) -> bool {
    table == name || (!name.contains('.') && table.rsplit_once('.').is_some_and(|(_, last)| last == name))
}

/// The name at the start of a word: without quotes, and without characters that cannot be part of a name.
fn plain_name(word: &str) -> String {
    let name: String =
        word.chars().take_while(|letter| letter.is_alphanumeric() || ['_', '.', '"'].contains(letter)).collect();
    if name.contains('"') { name.replace('"', "") } else { name.to_lowercase() }
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
        ] {
            assert_eq!(operation(statement, keyspace), expected);
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
