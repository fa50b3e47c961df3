//! The part of CQL that a profile's statements need: words, names and their positions.

/// A token of a statement: a word, name, text, number or sign. Comments and spaces are no tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'c> {
    pub text: &'c str,
    /// Its offset in the statement, in bytes.
    pub start: usize,
}

impl<'c> Token<'c> {
    pub fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }

    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// The identifier that the token stands for: in lower case, unless it is quoted.
    pub fn name(&self) -> Option<String> {
        match self.text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(inner) => Some(inner.replace("\"\"", "\"")),
            None if self.text.starts_with(|c: char| c.is_ascii_alphabetic()) => Some(self.text.to_ascii_lowercase()),
            None => None,
        }
    }
}

/// The tokens of a statement. An unclosed comment or string extends to the end of the statement.
pub(super) fn tokens(cql: &str) -> Vec<Token<'_>> {
    let bytes = cql.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let after = |from: usize, end: &str| cql[from..].find(end).map_or(bytes.len(), |found| from + found + end.len());
    let while_in = |from: usize, inside: fn(u8) -> bool| {
        bytes[from..].iter().position(|byte| !inside(*byte)).map_or(bytes.len(), |length| from + length)
    };
    while at < bytes.len() {
        let (end, kept) = match (bytes[at], bytes.get(at + 1)) {
            (b'-', Some(b'-')) | (b'/', Some(b'/')) => (after(at, "\n"), false),
            (b'/', Some(b'*')) => (after(at + 2, "*/"), false),
            (quote @ (b'\'' | b'"'), _) => {
                let quote = if quote == b'"' { "\"" } else { "'" };
                let mut end = after(at + 1, quote);
                // A doubled quote stands for one quote.
                while cql[end..].starts_with(quote) {
                    end = after(end + 1, quote);
                }
                (end, true)
            }
            (byte, _) if byte.is_ascii_whitespace() => (at + 1, false),
            (byte, _) if byte.is_ascii_alphanumeric() || byte == b'_' => {
                (while_in(at, |byte| byte.is_ascii_alphanumeric() || byte == b'_'), true)
            }
            (b'>' | b'<' | b'!', Some(b'=')) => (at + 2, true),
            _ => (at + cql[at..].chars().next().map_or(1, char::len_utf8), true),
        };
        if kept {
            tokens.push(Token { text: &cql[at..end], start: at });
        }
        at = end;
    }
    tokens
}

/// A statement without the semicolon at its end.
pub(super) fn trimmed(cql: &str) -> &str {
    cql.trim().trim_end_matches(';').trim_end()
}

/// Adds `IF NOT EXISTS`, so that the statement can be repeated.
pub(super) fn if_not_exists(cql: &str, kind: &str) -> String {
    let cql = trimmed(cql);
    let tokens = tokens(cql);
    match tokens.as_slice() {
        [create, what, next, ..] if create.is("CREATE") && what.is(kind) && !next.is("IF") => {
            format!("{} IF NOT EXISTS{}", &cql[..what.end()], &cql[what.end()..])
        }
        _ => cql.to_string(),
    }
}

/// The name in a `CREATE KEYSPACE` or `CREATE TABLE` statement, with its keyspace if it has one, and the tokens that
/// follow.
pub(super) fn created<'t, 'c>(
    tokens: &'t [Token<'c>],
    kind: &str,
) -> Option<(Option<String>, String, &'t [Token<'c>])> {
    let rest = match tokens {
        [create, what, rest @ ..] if create.is("CREATE") && what.is(kind) => rest,
        _ => return None,
    };
    let rest = match rest {
        [first, second, third, rest @ ..] if first.is("IF") && second.is("NOT") && third.is("EXISTS") => rest,
        rest => rest,
    };
    match rest {
        [keyspace, dot, name, rest @ ..] if dot.text == "." => Some((keyspace.name(), name.name()?, rest)),
        [name, rest @ ..] => Some((None, name.name()?, rest)),
        [] => None,
    }
}

/// Keywords that are followed by the name of a table.
const TABLE_FOLLOWS: [&str; 3] = ["FROM", "INTO", "UPDATE"];

/// Adds the keyspace to the tables of a query that are named without one.
pub(super) fn qualified(cql: &str, keyspace: &str) -> String {
    insert_keyspace(cql, keyspace, &TABLE_FOLLOWS, usize::MAX)
}

/// Whether [`qualified`] finds the tables of a statement; other statements need a connection with a keyspace.
pub(super) fn names_keyspace(cql: &str) -> bool {
    tokens(cql).iter().any(|token| TABLE_FOLLOWS.iter().any(|word| token.is(word)))
}

/// Adds the keyspace to the name of the table that is created, if it has none.
pub(super) fn created_in(cql: &str, keyspace: &str) -> String {
    insert_keyspace(cql, keyspace, &["TABLE", "EXISTS"], 6)
}

/// Inserts the keyspace before a table's name that follows any of the given words, among the first `most` tokens.
fn insert_keyspace(cql: &str, keyspace: &str, before: &[&str], most: usize) -> String {
    let tokens = tokens(cql);
    let mut out = String::new();
    let mut copied = 0;
    for (position, token) in tokens.iter().enumerate().take(most).skip(1) {
        let introduced = before.iter().any(|word| tokens[position - 1].is(word));
        let has_keyspace = tokens.get(position + 1).is_some_and(|next| next.text == ".");
        if introduced && !has_keyspace && token.name().is_some() && !token.is("IF") {
            out.push_str(&cql[copied..token.start]);
            out.push_str(&format!("{keyspace}."));
            copied = token.start;
        }
    }
    out.push_str(&cql[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn statements_are_cut_where_they_should_be() {
        let cql = "SELECT \"A b\", c -- no\nFROM t /* nor */ WHERE c>=? AND d='it''s ?';";
        let texts: Vec<&str> = tokens(cql).iter().map(|token| token.text).collect();
        assert_eq!(
            texts,
            ["SELECT", "\"A b\"", ",", "c", "FROM", "t", "WHERE", "c", ">=", "?", "AND", "d", "=", "'it''s ?'", ";"]
        );
    }

    #[test]
    fn names_get_their_keyspace_once() {
        let from = |cql| qualified(cql, "ks");
        assert_eq!(from("select * from t where a = 'from x'"), "select * from ks.t where a = 'from x'");
        assert_eq!(from("SELECT * FROM other.t"), "SELECT * FROM other.t");
        assert_eq!(
            created_in("CREATE TABLE IF NOT EXISTS t (table text)", "ks"),
            "CREATE TABLE IF NOT EXISTS ks.t (table text)"
        );
        assert_eq!(if_not_exists("create table t (a int);", "TABLE"), "create table IF NOT EXISTS t (a int)");
        assert_eq!(if_not_exists("CREATE TABLE IF NOT EXISTS t", "TABLE"), "CREATE TABLE IF NOT EXISTS t");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(cql in "\\PC{0,40}") {
            let all: String = tokens(&cql).iter().map(|token| token.text).collect();
            prop_assert!(all.len() <= cql.len());
            let _ = (if_not_exists(&cql, "TABLE"), qualified(&cql, "ks"));
        }
    }
}
