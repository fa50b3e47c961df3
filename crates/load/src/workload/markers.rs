//! The named bind markers of a CQL statement, so that a wrong name is found without a database.

/// Finds `:name` markers outside of strings, quoted names and comments, in order and with repetitions. The error says
/// what to write instead.
pub(super) fn markers(cql: &str) -> Result<Vec<String>, String> {
    let bytes = cql.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    // Everything that matters is ASCII, so that bytes do; what lies between is skipped as it is.
    let skip_to =
        |from: usize, end: &str| cql[from..].find(end).map_or(bytes.len(), |offset| from + offset + end.len());
    while at < bytes.len() {
        at = match (bytes[at], bytes.get(at + 1)) {
            (quote @ (b'\'' | b'"'), _) => skip_to(at + 1, if quote == b'"' { "\"" } else { "'" }),
            (b'-', Some(b'-')) | (b'/', Some(b'/')) => skip_to(at, "\n"),
            (b'/', Some(b'*')) => skip_to(at + 2, "*/"),
            (b'$', Some(b'$')) => skip_to(at + 2, "$$"),
            (b'?', _) => return Err("markers have names here: write :key instead of ?".to_string()),
            (b':', Some(first)) if first.is_ascii_alphabetic() => {
                let name = &bytes[at + 1..];
                let length = name.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
                let end = at + 1 + length.unwrap_or(name.len());
                found.push(cql[at + 1..end].to_ascii_lowercase());
                end
            }
            _ => at + 1,
        };
    }
    Ok(found)
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

    proptest! {
        #[test]
        fn nothing_makes_it_panic(cql in "\\PC{0,30}") {
            let _ = markers(&cql);
        }
    }
}
