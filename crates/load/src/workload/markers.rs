//! Finds the named bind markers of a CQL statement, so that a wrong name is detected without a database.

/// A part of a statement outside of strings, quoted names and comments.
#[derive(Debug, PartialEq, Eq)]
enum Token<'c> {
    Word(&'c str),
    /// A marker `:name`.
    Marker(&'c str),
    /// `?`.
    Nameless,
}

fn tokens(cql: &str) -> impl Iterator<Item = Token<'_>> {
    let bytes = cql.as_bytes();
    let mut at = 0;
    // All significant characters are ASCII, so the text is processed as bytes and other characters are skipped.
    let skip_to =
        move |from: usize, end: &str| cql[from..].find(end).map_or(bytes.len(), |offset| from + offset + end.len());
    let end_of_word = move |from: usize| {
        let length = bytes[from..].iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        from + length.unwrap_or(bytes.len() - from)
    };
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let from = at;
            at = match (bytes[at], bytes.get(at + 1)) {
                (quote @ (b'\'' | b'"'), _) => skip_to(at + 1, if quote == b'"' { "\"" } else { "'" }),
                (b'-', Some(b'-')) | (b'/', Some(b'/')) => skip_to(at, "\n"),
                (b'/', Some(b'*')) => skip_to(at + 2, "*/"),
                (b'$', Some(b'$')) => skip_to(at + 2, "$$"),
                (b':', Some(first)) if first.is_ascii_alphabetic() => end_of_word(at + 1),
                (first, _) if first.is_ascii_alphanumeric() || first == b'_' => end_of_word(at),
                _ => at + 1,
            };
            match bytes[from] {
                b'?' => return Some(Token::Nameless),
                b':' if at > from + 1 => return Some(Token::Marker(&cql[from + 1..at])),
                first if first.is_ascii_alphanumeric() || first == b'_' => return Some(Token::Word(&cql[from..at])),
                _ => {}
            }
        }
        None
    })
}

/// Finds `:name` markers outside of strings, quoted names and comments, in order and with repetitions. The error says
/// what to write instead.
pub(super) fn markers(cql: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for token in tokens(cql) {
        match token {
            Token::Marker(name) => found.push(name.to_ascii_lowercase()),
            Token::Nameless => return Err("markers have names here: write :key instead of ?".to_string()),
            Token::Word(_) => {}
        }
    }
    Ok(found)
}

/// Whether a statement is a lightweight transaction: a write with IF, which is a reserved word.
pub(super) fn is_conditional(cql: &str) -> bool {
    !begins_with(cql, "SELECT") && tokens(cql).any(|token| matches!(token, Token::Word(word) if is(word, "IF")))
}

/// Whether a statement begins with a keyword.
pub(super) fn begins_with(cql: &str, keyword: &str) -> bool {
    matches!(tokens(cql).next(), Some(Token::Word(word)) if is(word, keyword))
}

/// The table that an INSERT or UPDATE names, such as `helenus.keyvalue`.
pub(super) fn written_table(cql: &str) -> Option<&str> {
    let mut words = tokens(cql).filter_map(|token| if let Token::Word(word) = token { Some(word) } else { None });
    let first = words.next()?;
    let before = if is(first, "UPDATE") { Some(first) } else { words.next().filter(|word| is(word, "INTO")) }?;
    // Words are slices of the statement, so their offsets are known.
    let start = before.as_ptr() as usize - cql.as_ptr() as usize + before.len();
    cql.get(start..)?.split_whitespace().next().map(|table| table.split('(').next().unwrap_or(table))
}

fn is(word: &str, keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markers_are_found_where_they_are_markers() {
        let cql = "INSERT INTO t (a, \"b:c\") VALUES (:key, 'x:y') -- :z\n USING TTL :Ttl /* :q */ {'a': 1}";
        assert_eq!(markers(cql).unwrap(), ["key", "ttl"]);
        assert_eq!(markers("SELECT a FROM t WHERE k=:k AND c>:k").unwrap(), ["k", "k"]);
        assert!(markers("SELECT a FROM t WHERE k = ?").is_err());
        assert_eq!(markers("'unclosed :a").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn conditions_are_found_where_they_are_conditions() {
        assert!(is_conditional("INSERT INTO t (a) VALUES (:a) if not exists"));
        assert!(is_conditional("/* x */ UPDATE t SET a = :a WHERE k = :k IF a = :b"));
        assert!(!is_conditional("INSERT INTO t (a, \"IF\") VALUES (:if, ' IF ') -- IF"));
        assert!(!is_conditional("SELECT a FROM iffy WHERE if_a = :a"));
        assert!(begins_with("-- reads\n select a", "SELECT") && !begins_with("", "SELECT"));
    }

    #[test]
    fn the_table_that_is_written_is_known() {
        assert_eq!(written_table("INSERT INTO ks.t (a) VALUES (:a)"), Some("ks.t"));
        assert_eq!(written_table("insert into t(a) VALUES (:a)"), Some("t"));
        assert_eq!(written_table("UPDATE \"Ks\".t SET a = :a"), Some("\"Ks\".t"));
        assert_eq!(written_table("SELECT a FROM t"), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(cql in "\\PC{0,30}") {
            let _ = (markers(&cql), is_conditional(&cql), written_table(&cql));
        }
    }
}
