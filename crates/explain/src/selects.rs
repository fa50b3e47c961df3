//! Which reads of a table came over the network, and how often.

use crate::Error;
use crate::engine::Engine;

/// A statement, without the values that it was sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    pub statement: String,
    pub count: u64,
}

/// The SELECTs of a table in the recordings' requests on the wire, the most frequent first.
pub fn selects(engine: &Engine, keyspace: &str, table: &str) -> Result<Vec<Select>, Error> {
    let rows = engine.sql(
        "SELECT statement, count(*) AS requests FROM wire WHERE opcode IN ('QUERY', 'EXECUTE') \
         AND lower(statement) LIKE 'select %' GROUP BY statement ORDER BY requests DESC, statement",
    )?;
    let (statements, counts) = (rows.texts("statement")?, rows.integers("requests")?);
    let of_table = statements.into_iter().zip(counts).filter(|(statement, _)| is_of(statement, keyspace, table));
    Ok(of_table.map(|(statement, count)| Select { statement, count: count.unsigned_abs() }).collect())
}

/// Whether a statement selects from the table, which it may name alone.
fn is_of(statement: &str, keyspace: &str, table: &str) -> bool {
    let mut words = statement.split_ascii_whitespace().skip_while(|word| !word.eq_ignore_ascii_case("from"));
    let name = words.nth(1).unwrap_or_default().trim_end_matches(';').replace('"', "");
    name == table || name.strip_suffix(table).and_then(|rest| rest.strip_suffix('.')) == Some(keyspace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_of_the_table_that_they_name() {
        let of = |statement: &str| is_of(statement, "shop", "orders");
        for statement in ["SELECT * FROM shop.orders WHERE a = ?", "select b from \"orders\";", "SELECT a FROM orders"]
        {
            assert!(of(statement), "{statement}");
        }
        for statement in
            ["SELECT * FROM shop.orders2", "SELECT * FROM other.orders", "SELECT orders", "UPDATE shop.orders"]
        {
            assert!(!of(statement), "{statement}");
        }
    }
}
