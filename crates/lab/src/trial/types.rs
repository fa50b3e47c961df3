//! The user-defined types that a table needs, from the live schema.
//!
//! Cassandra writes into a snapshot's `schema.cql` only those types that are the type of a column, or the type of a field of
//! one of them (`TableMetadata.getReferencedUserTypes`, 4.0 to 5.0): a type within a collection or a tuple is left out.

use super::Error;
use super::options::quoted;
use helenus_cassandra::CqlType;
use helenus_control::{Original, UserType};

/// User-defined types of the columns, each after the types that it contains; None if the node's types are unknown.
///
/// # Errors
/// [`Error::Schema`] when a type can't be read.
pub(super) fn needed<'o>(original: &'o Original, table: &str) -> Result<Option<Vec<&'o UserType>>, Error> {
    let (Some(types), Some(columns)) = (&original.types, &original.columns) else { return Ok(None) };
    let mut order = Order { table, types, begun: vec![false; types.len()], needed: Vec::new() };
    for column in columns {
        order.follow(&column.cql_type)?;
    }
    Ok(Some(order.needed))
}

/// The statement that creates a type.
pub(super) fn create(keyspace: &str, user_type: &UserType) -> String {
    let fields = user_type.field_names.iter().zip(&user_type.field_types);
    let fields: Vec<String> = fields.map(|(name, cql_type)| format!("{} {cql_type}", quoted(name))).collect();
    format!("CREATE TYPE IF NOT EXISTS {}.{} ({})", quoted(keyspace), quoted(&user_type.name), fields.join(", "))
}

/// A depth-first walk through the types.
struct Order<'o, 't> {
    table: &'t str,
    types: &'o [UserType],
    begun: Vec<bool>,
    needed: Vec<&'o UserType>,
}

impl<'o> Order<'o, '_> {
    fn follow(&mut self, cql_type: &str) -> Result<(), Error> {
        let read = CqlType::parse(cql_type).map_err(|_| Error::Schema {
            table: self.table.to_string(),
            why: "this is no type of CQL",
            text: cql_type.chars().take(200).collect(),
        })?;
        for name in read.names() {
            let Some(at) = self.types.iter().position(|known| known.name == name) else { continue };
            if !std::mem::replace(&mut self.begun[at], true) {
                let found = &self.types[at];
                for field in &found.field_types {
                    self.follow(field)?;
                }
                self.needed.push(found);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_control::TypedColumn;
    use proptest::prelude::*;
    use serde_json::json;

    fn user_type(name: &str, fields: &[&str]) -> UserType {
        UserType {
            name: name.into(),
            field_names: (0..fields.len()).map(|number| format!("f{number}")).collect(),
            field_types: fields.iter().map(ToString::to_string).collect(),
        }
    }

    fn original(types: Vec<UserType>, columns: &[&str]) -> Original {
        let reply = json!({"release": "5.0.9", "live_disk_bytes": 0, "data": [], "settings": {}});
        Original {
            types: Some(types),
            columns: Some(columns.iter().map(|text| TypedColumn { cql_type: text.to_string() }).collect()),
            ..serde_json::from_value(reply).unwrap()
        }
    }

    fn names(original: &Original) -> Vec<&str> {
        let needed = needed(original, "ks.t").unwrap().unwrap();
        needed.iter().map(|user_type| user_type.name.as_str()).collect()
    }

    #[test]
    fn types_within_collections_and_tuples_come_before_what_has_them() {
        let types = vec![
            user_type("log", &["bigint", "frozen<list<frozen<pair>>>"]),
            user_type("pair", &["text", "frozen<tuple<int, frozen<\"Unit\">>>"]),
            user_type("Unit", &["text"]),
            user_type("unit", &["text"]),
        ];
        let columns = ["int", "list<frozen<log>>", "frozen<map<text, frozen<pair>>>"];
        assert_eq!(names(&original(types, &columns)), ["Unit", "pair", "log"]);
    }

    #[test]
    fn names_are_quoted() {
        let mut wanted = user_type("Odd \"one\"", &["frozen<map<text, int>>", "\"Unit\""]);
        wanted.field_names[0] = "In Use".into();
        let cql = "CREATE TYPE IF NOT EXISTS \"Shop\".\"Odd \"\"one\"\"\" (\"In Use\" frozen<map<text, int>>, \"f1\" \"Unit\")";
        assert_eq!(create("Shop", &wanted), cql);
    }

    #[test]
    fn a_node_that_does_not_tell_its_types_has_none_known() {
        let silent = Original { types: None, ..original(Vec::new(), &["int"]) };
        assert_eq!(needed(&silent, "ks.t").unwrap(), None);
        let broken = original(Vec::new(), &["list<"]);
        assert!(needed(&broken, "ks.t").unwrap_err().to_string().contains("no type of CQL"));
    }

    proptest! {
        /// Each type may contain those with smaller numbers, in any form that CQL has, and they are listed in any
        /// order.
        #[test]
        fn each_type_is_made_once_and_after_its_parts(
            uses in prop::collection::vec(prop::collection::vec((any::<prop::sample::Index>(), 0..5_usize), 0..4), 1..12),
            shuffled in any::<prop::sample::Index>(),
        ) {
            let within = |name: &str, way: usize| match way {
                0 => format!("frozen<{name}>"),
                1 => format!("list<frozen<{name}>>"),
                2 => format!("map<text, frozen<tuple<int, {name}>>>"),
                3 => format!("frozen<set<frozen<map<{name}, {name}>>>>"),
                _ => format!("vector<{name}, 3>"),
            };
            let mut types: Vec<UserType> = Vec::new();
            for (number, uses) in uses.iter().enumerate() {
                let mut fields = vec!["int".to_string()];
                if number > 0 {
                    fields.extend(uses.iter().map(|(of, way)| within(&format!("t{}", of.index(number)), *way)));
                }
                types.push(user_type(&format!("t{number}"), &fields.iter().map(String::as_str).collect::<Vec<_>>()));
            }
            let columns: Vec<String> = (0..types.len()).map(|number| within(&format!("t{number}"), number % 5)).collect();
            let by = shuffled.index(types.len());
            types.rotate_left(by);
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let original = original(types, &columns);
            let needed = needed(&original, "ks.t").unwrap().unwrap();
            prop_assert_eq!(needed.len(), uses.len());
            for (at, user_type) in needed.iter().enumerate() {
                for field in &user_type.field_types {
                    for name in CqlType::parse(field).unwrap().names() {
                        let is_made = needed[..at].iter().any(|made| made.name == name);
                        prop_assert!(is_made || !name.starts_with('t') || name == "text", "{} before {}", user_type.name, name);
                    }
                }
            }
        }
    }
}
