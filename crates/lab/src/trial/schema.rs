//! The definition of a table from its snapshot: statements that create the same table elsewhere.

use super::options::{TableName, quoted};
use super::{Error, types};
use helenus_control::UserType;

/// The package of Cassandra's compressors.
const OURS: &str = "org.apache.cassandra.";

/// The statements that create a table, in the order of execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    statements: Vec<String>,
    /// Indexes that the trial nodes do not have.
    pub indexes: usize,
}

impl Schema {
    /// Reads a `schema.cql`. `live` are the types that the table needs, in the order in which they are to be made: they
    /// replace those of the file, which has not all of them.
    ///
    /// # Errors
    /// [`Error::Schema`], [`Error::Foreign`], [`Error::View`].
    pub fn read(text: &str, table: &TableName, live: Option<&[&UserType]>) -> Result<Schema, Error> {
        let made = live.iter().flat_map(|live| live.iter());
        let statements_of_types = made.map(|user_type| types::create(&table.keyspace, user_type)).collect();
        let mut schema = Schema { statements: statements_of_types, indexes: 0 };
        for statement in statements(text) {
            let words: Vec<String> = statement.split_ascii_whitespace().map(str::to_ascii_uppercase).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["CREATE", "INDEX", ..] | ["CREATE", "CUSTOM", "INDEX", ..] => schema.indexes += 1,
                ["CREATE", "TYPE", ..] if live.is_some() => {}
                ["CREATE", "MATERIALIZED", "VIEW", ..] => return Err(Error::View { table: table.to_string() }),
                _ => schema.statements.push(statement),
            }
        }
        let wrong = |why| Error::Schema { table: table.to_string(), why, text: text.chars().take(200).collect() };
        let created =
            schema.statements.iter().find(|statement| is_table(statement)).ok_or(wrong("no table is created"))?;
        if let Some(class) = compressor(created)
            && class.contains('.')
            && !class.starts_with(OURS)
        {
            return Err(Error::Foreign { table: table.to_string(), class });
        }
        Ok(schema)
    }

    /// The statements, with the keyspace's first.
    pub fn statements<'s>(&'s self, keyspace: &str) -> impl Iterator<Item = String> + use<'s> {
        // One node has all replicas; a read at the keyspace's own replication factor would wait for more nodes.
        let keyspace = format!(
            "CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}",
            quoted(keyspace)
        );
        std::iter::once(keyspace).chain(self.statements.iter().cloned())
    }
}

fn is_table(statement: &str) -> bool {
    statement.trim_start().get(..12).is_some_and(|start| start.eq_ignore_ascii_case("CREATE TABLE"))
}

/// Cassandra puts the statement of a table with COMPACT STORAGE into a comment (`CompactTableMetadata.appendCqlTo`, 4.0 to 5.0).
/// The statement creates the same table if the table was created by CQL; the trial node refuses all others.
fn in_comment(comment: &str) -> Vec<String> {
    match comment.find("CREATE TABLE").filter(|_| comment.contains("omitted because it has constructs")) {
        Some(at) => split(comment[at..].trim_end_matches('*'), false),
        None => Vec::new(),
    }
}

/// Splits at semicolons outside of strings, names and comments.
fn statements(text: &str) -> Vec<String> {
    split(text, true)
}

fn split(text: &str, opens_comments: bool) -> Vec<String> {
    let mut statements = vec![String::new()];
    let mut within: Option<char> = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (within, letter) {
            (None, ';') => {
                statements.push(String::new());
                continue;
            }
            (None, '/') if letters.peek() == Some(&'*') => {
                let mut comment = String::new();
                while let Some(next) =
                    letters.next_if(|next| !(comment.len() > 1 && comment.ends_with('*') && *next == '/'))
                {
                    comment.push(next);
                }
                letters.next();
                let hidden = if opens_comments { in_comment(&comment) } else { Vec::new() };
                if !hidden.is_empty() {
                    statements.extend(hidden);
                    statements.push(String::new());
                }
                continue;
            }
            (None, '\'' | '"') => within = Some(letter),
            // A doubled quote ends the string and begins it again.
            (Some(quote), _) if quote == letter => within = None,
            _ => {}
        }
        if let Some(statement) = statements.last_mut() {
            statement.push(letter);
        }
    }
    statements.iter().map(|statement| statement.trim().to_string()).filter(|statement| !statement.is_empty()).collect()
}

/// The class of `compression = {…}`, if one is named.
fn compressor(statement: &str) -> Option<String> {
    let options = statement.split_once("compression = {")?.1.split_once('}')?.0;
    let class = options.split_once("'class'").or_else(|| options.split_once("'sstable_compression'"))?.1;
    class.split('\'').nth(1).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "CREATE TYPE IF NOT EXISTS shop.place (city text);\n\
        CREATE TABLE IF NOT EXISTS shop.orders (id int PRIMARY KEY, \"what;ever\" text) WITH ID = 1-2\n    \
        AND comment = 'it''s; all' AND compression = {'chunk_length_in_kb': '16', 'class': \
        'org.apache.cassandra.io.compress.LZ4Compressor'};\n\
        ALTER TABLE shop.orders DROP old USING TIMESTAMP 12;\n\
        /* a remark; of Cassandra's */\n\
        CREATE INDEX IF NOT EXISTS by_city ON shop.orders (city);\nCREATE CUSTOM INDEX x ON shop.orders (y) USING 'z';\n";

    fn read(text: &str, live: Option<&[&UserType]>) -> Result<Schema, Error> {
        Schema::read(text, &TableName { keyspace: "shop".into(), table: "orders".into() }, live)
    }

    #[test]
    fn statements_end_where_they_end() {
        let schema = read(TEXT, None).unwrap();
        let statements: Vec<String> = schema.statements("Shop").collect();
        assert_eq!((statements.len(), schema.indexes), (4, 2));
        assert!(statements[0].starts_with("CREATE KEYSPACE IF NOT EXISTS \"Shop\" WITH"));
        assert!(statements[2].ends_with("LZ4Compressor'}") && statements[2].contains("'it''s; all'"));
        assert_eq!(statements[3], "ALTER TABLE shop.orders DROP old USING TIMESTAMP 12");
    }

    #[test]
    fn live_types_replace_those_of_the_snapshot() {
        let part = UserType { name: "part".into(), field_names: vec!["a".into()], field_types: vec!["int".into()] };
        let schema = read(TEXT, Some(&[&part])).unwrap();
        let statements: Vec<String> = schema.statements("shop").collect();
        assert_eq!(statements[1], "CREATE TYPE IF NOT EXISTS \"shop\".\"part\" (\"a\" int)");
        assert!(!statements.iter().any(|statement| statement.contains("shop.place")), "{statements:?}");
        assert!(statements[2].starts_with("CREATE TABLE"));
    }

    #[test]
    fn a_compact_table_is_in_a_comment() {
        let text = "CREATE TYPE shop.place (city text);\n/*\nWarning: Table shop.orders omitted because it has constructs not \
                    compatible with CQL (was created via legacy API).\nApproximate structure, for reference:\n\n\
                    CREATE TABLE IF NOT EXISTS shop.orders (\n k blob PRIMARY KEY) WITH COMPACT STORAGE\n AND comment = 'a;b';\n*/\n\
                    CREATE INDEX i ON shop.orders (k);";
        let schema = read(text, None).unwrap();
        let statements: Vec<String> = schema.statements("shop").collect();
        assert_eq!((statements.len(), schema.indexes), (3, 1), "{statements:?}");
        assert!(
            statements[2].starts_with("CREATE TABLE") && statements[2].ends_with("AND comment = 'a;b'"),
            "{statements:?}"
        );
    }

    #[test]
    fn a_view_has_no_table_of_its_own() {
        let text = "CREATE MATERIALIZED VIEW IF NOT EXISTS shop.by_city AS SELECT * FROM shop.orders;";
        assert!(read(text, None).unwrap_err().to_string().contains("try the base table"));
    }

    #[test]
    fn a_compressor_that_no_cassandra_has_is_named() {
        let text = TEXT.replace("org.apache.cassandra.io.compress.LZ4Compressor", "com.bank.EncryptingCompressor");
        let error = read(&text, None).unwrap_err().to_string();
        assert!(error.contains("com.bank.EncryptingCompressor") && error.contains("encrypted"), "{error}");
        assert!(read(&TEXT.replace("org.apache.cassandra.io.compress.", ""), None).is_ok());
        assert!(read("", None).unwrap_err().to_string().contains("no table"));
        assert!(read("/* open", None).is_err());
    }
}
