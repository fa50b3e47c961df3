//! Finds the partition key among the values of a prepared statement: its token, and its text for users who may see it.

use super::keys::Keys;
use helenus_cassandra::cql::frame::{BodyReader, Malformed};
use helenus_cassandra::cql::{Type, read_columns, read_value};
use helenus_cassandra::murmur3_token;

/// The most columns of a partition key that are supported; tables usually have fewer.
const MOST_COLUMNS: usize = 64;
/// The most characters of a key's text.
const LONGEST_TEXT: usize = 200;
/// The node's local keyspaces, which use another partitioner.
const LOCAL: [&str; 4] = ["system", "system_schema", "system_views", "system_virtual_schema"];

/// Indices and types of the values that make up the partition key, in the order of its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartitionKey {
    columns: Vec<(u16, Type)>,
}

impl PartitionKey {
    /// From the node's description of a prepared statement. None if the partition key is not bound, or bound several
    /// times.
    pub(super) fn of(
        keyspace: Option<&str>,
        Described { places, markers }: &Described,
        statement: &str,
    ) -> Option<PartitionKey> {
        // A statement may have tens of thousands of markers, but each is compared with each column of the key.
        if places.len() > MOST_COLUMNS {
            return None;
        }
        let columns: Vec<_> =
            places.iter().map(|place| Some((*place, markers.get(usize::from(*place))?))).collect::<Option<_>>()?;
        // For `key IN (?, ?)` the node lists only the last marker as the key.
        let is_one_of_several = |(place, (name, _)): &(u16, &(String, Type))| {
            markers.iter().enumerate().any(|(other, (same, _))| other != usize::from(*place) && same == name)
        };
        if columns.iter().any(is_one_of_several) {
            return None;
        }
        let columns = columns.into_iter().map(|(place, (_, of))| (place, of.clone()));
        PartitionKey::new(keyspace, columns.collect(), statement)
    }

    /// Made from the indices of the values alone; the types, and so the text of a key, are unknown.
    pub(super) fn at(keyspace: Option<&str>, places: &[u16], statement: &str) -> Option<PartitionKey> {
        const BLOB: Type = Type::Simple(3);
        PartitionKey::new(keyspace, places.iter().map(|place| (*place, BLOB)).collect(), statement)
    }

    fn new(keyspace: Option<&str>, columns: Vec<(u16, Type)>, statement: &str) -> Option<PartitionKey> {
        let is_local = keyspace.is_some_and(|name| LOCAL.contains(&name));
        // Named markers do not show their column, so two of them may belong to a list of `IN`.
        let has_lists =
            statement.contains(':') && statement.split_whitespace().any(|word| word.eq_ignore_ascii_case("in"));
        let is_known = (1..=MOST_COLUMNS).contains(&columns.len()) && !is_local && !has_lists;
        is_known.then_some(PartitionKey { columns })
    }

    /// The bytes that it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<PartitionKey>()
            + self.columns.iter().map(|(_, of)| size_of::<(u16, Type)>() + of.bytes()).sum::<usize>()
    }

    /// The token of a request's values, each a length and its bytes. None if the key is null or was not captured. With
    /// `keys`, the text of the key is stored.
    pub(super) fn token(&self, values: &[u8], keys: Option<&Keys>) -> Option<i64> {
        let values = self.columns.iter().map(|(place, of)| Some((value(values, *place)?, of)));
        let values: Vec<(&[u8], &Type)> = values.collect::<Option<_>>()?;
        let token = match values.as_slice() {
            [(value, _)] => murmur3_token(value),
            several => {
                let mut whole = Vec::with_capacity(several.iter().map(|(value, _)| value.len() + 3).sum());
                for (value, _) in several {
                    whole.extend(u16::try_from(value.len()).ok()?.to_be_bytes());
                    whole.extend(*value);
                    whole.push(0);
                }
                murmur3_token(&whole)
            }
        };
        if let Some(keys) = keys {
            keys.note(token, || text(&values));
        }
        Some(token)
    }
}

/// The value at an index; None if it is truncated or null.
fn value(values: &[u8], place: u16) -> Option<&[u8]> {
    let mut reader = BodyReader::new(values);
    for _ in 0..place {
        reader.bytes().ok()?;
    }
    reader.bytes().ok()?
}

/// The text of a key: its values joined by `:`, as nodetool writes them.
fn text(values: &[(&[u8], &Type)]) -> String {
    let each = values.iter().map(|(value, of)| match read_value(Some(value), of) {
        Ok(value) => value.to_string(),
        Err(Malformed(_)) => "?".to_string(),
    });
    each.collect::<Vec<_>>().join(":").chars().take(LONGEST_TEXT).collect()
}

/// Parses the metadata of the values in a PREPARED answer, from its flags on: name and type of each value, and the
/// indices of the partition key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) places: Vec<u16>,
    pub(super) markers: Vec<(String, Type)>,
}

impl Described {
    pub(super) fn of(version: u8, mut reader: BodyReader<'_>) -> Option<Described> {
        // Before version 4 there are no indices of the partition key.
        if version < 4 { None } else { Described::read(&mut reader).ok() }
    }

    fn read(reader: &mut BodyReader<'_>) -> Result<Described, Malformed> {
        let (flags, markers) = (reader.int()?, reader.int()?);
        let places = (0..reader.int()?).map(|_| reader.short()).collect::<Result<_, _>>()?;
        Ok(Described { places, markers: read_columns(reader, flags, markers)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INT: Type = Type::Simple(9);
    const TEXT: Type = Type::Simple(13);

    fn key(keyspace: &str, places: &[u16], names: &[(&str, Type)], statement: &str) -> Option<PartitionKey> {
        let markers = names.iter().map(|(name, of)| ((*name).to_string(), of.clone())).collect();
        PartitionKey::of(Some(keyspace), &Described { places: places.to_vec(), markers }, statement)
    }

    #[test]
    fn a_key_of_several_columns_is_read_in_their_order() {
        let markers = [("note", TEXT), ("country", TEXT), ("id", INT)];
        let both = key("shop", &[2, 1], &markers, "INSERT").unwrap();
        let values = [&[255, 255, 255, 255, 0, 0, 0, 2][..], b"de", &[0, 0, 0, 4, 0, 0, 0, 17]].concat();
        let keys = Keys::default();
        // Of 00 04 00000011 00 00 02 6465 00.
        assert_eq!(both.token(&values, Some(&keys)), Some(-2_294_979_412_346_716_263));
        assert_eq!(keys.text(-2_294_979_412_346_716_263).as_deref(), Some("17:de"));
        assert_eq!(both.token(&values[..values.len() - 1], None), None, "cut off");
        let single = key("shop", &[2], &markers, "SELECT").unwrap();
        assert_eq!(single.token(&values, None), Some(murmur3_token(&17_i32.to_be_bytes())));
        let of_null = key("shop", &[0], &markers, "SELECT").unwrap();
        assert_eq!(of_null.token(&values, None), None);
    }

    #[test]
    fn several_keys_and_the_nodes_own_tables_have_no_token() {
        let twice = [("id", INT), ("id", INT)];
        assert_eq!(key("shop", &[1], &twice, "SELECT a FROM t WHERE id IN ?"), None);
        let named = [("a", INT), ("b", INT)];
        assert_eq!(key("shop", &[1], &named, "SELECT a FROM t WHERE id IN (:a, :b)"), None);
        assert_eq!(key("system", &[0], &named, "SELECT a FROM local WHERE key = ?"), None);
        assert_eq!(key("shop", &[7], &named, "SELECT a FROM t WHERE id = ?"), None);
    }

    #[test]
    fn a_key_is_found_among_60000_markers() {
        let markers: Vec<(String, Type)> = (0..60_000).map(|number| (format!("c{number}"), INT)).collect();
        let described = |places: Vec<u16>| Described { places, markers: markers.clone() };
        let found = PartitionKey::of(Some("shop"), &described(vec![59_999]), "INSERT").unwrap();
        assert_eq!(found.columns, [(59_999, INT)]);
        // A node that says that all markers are the key.
        assert_eq!(PartitionKey::of(Some("shop"), &described((0..60_000).collect()), "INSERT"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, place in 0u16..9) {
            let key = PartitionKey { columns: vec![(place, TEXT), (0, Type::List(Box::new(INT)))] };
            let _ = key.token(&bytes, Some(&Keys::default()));
            let _ = Described::read(&mut BodyReader::new(&bytes));
        }
    }
}
