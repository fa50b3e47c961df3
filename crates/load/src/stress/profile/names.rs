//! Names in a profile are CQL: without quotes they are in lower case, as the server stores them.

use super::cql;

/// The name that the server stores for a name in a profile.
pub(super) fn stored(text: &str) -> String {
    cql::tokens(text).first().and_then(cql::Token::name).unwrap_or_else(|| text.trim().to_string())
}

/// Whether a name in a profile means a stored one. cassandra-stress compares some names without reading them as CQL, so
/// that `C0` without quotes may also be the column `"C0"`.
pub(super) fn means(text: &str, name: &str) -> bool {
    text == name || stored(text) == name
}

/// The stored name that a name in a profile means: the one with this very text, or else the one that CQL means.
pub(super) fn find<'n>(text: &str, names: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    names.clone().find(|name| *name == text).or_else(|| {
        let wanted = stored(text);
        names.clone().find(|name| *name == wanted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_cql() {
        for (text, name) in [
            ("OrderStress", "orderstress"),
            ("\"OrderStress\"", "OrderStress"),
            ("\"a\"\"b\"", "a\"b"),
            ("orders ", "orders"),
            ("1st", "1st"),
        ] {
            assert_eq!(stored(text), name);
        }
        let columns = || ["id", "C0", "Id"].into_iter();
        assert_eq!(find("C0", columns()), Some("C0"));
        assert_eq!(find("ID", columns()), Some("id"));
        assert_eq!(find("Id", columns()), Some("Id"));
        assert_eq!(find("\"Id\"", columns()), Some("Id"));
        assert_eq!(find("c0", columns()), None);
        assert!(means("Orders", "orders") && means("Orders", "Orders") && !means("orders", "Orders"));
    }
}
