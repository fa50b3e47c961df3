//! The definition of a table, as its snapshot has it: statements that make the same table elsewhere.

use super::Error;

/// Where the compressors are that a Cassandra has.
const OURS: &str = "org.apache.cassandra.";

/// What makes a table, in the order in which it is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    statements: Vec<String>,
    /// Indexes that a shadow is without.
    pub indexes: usize,
}

impl Schema {
    /// Reads a `schema.cql`. `table` is for messages, as `keyspace.table`.
    ///
    /// # Errors
    /// [`Error::Schema`], [`Error::Foreign`].
    pub fn read(text: &str, table: &str) -> Result<Schema, Error> {
        let mut schema = Schema { statements: Vec::new(), indexes: 0 };
        for statement in statements(text) {
            let words: Vec<String> = statement.split_ascii_whitespace().map(str::to_ascii_uppercase).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["CREATE", "INDEX", ..] | ["CREATE", "CUSTOM", "INDEX", ..] => schema.indexes += 1,
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

    /// The statements, those of the keyspace before them.
    pub fn statements<'s>(&'s self, keyspace: &str) -> impl Iterator<Item = String> + use<'s> {
        // One node has all replicas; what the keyspace has elsewhere would wait for more.
        let keyspace = format!(
            "CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}",
            quoted(keyspace)
        );
        std::iter::once(keyspace).chain(self.statements.iter().cloned())
    }
}

/// A name as CQL wants it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn is_table(statement: &str) -> bool {
    statement.trim_start().get(..12).is_some_and(|start| start.eq_ignore_ascii_case("CREATE TABLE"))
}

/// Split at semicolons that are in no text, name or comment.
fn statements(text: &str) -> Vec<String> {
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
                // Remarks of Cassandra's about what is in no statement.
                let mut last = ' ';
                while let Some(next) = letters.next_if(|next| !(last == '*' && *next == '/')) {
                    last = next;
                }
                letters.next();
                continue;
            }
            (None, '\'' | '"') => within = Some(letter),
            // A quote that is doubled ends and begins again.
            (Some(quote), _) if quote == letter => within = None,
            _ => {}
        }
        if let Some(statement) = statements.last_mut() {
            statement.push(letter);
        }
    }
    statements.iter().map(|statement| statement.trim().to_string()).filter(|statement| !statement.is_empty()).collect()
}

/// The class of `compression = {…}`, where one is named.
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

    #[test]
    fn statements_end_where_they_end() {
        let schema = Schema::read(TEXT, "shop.orders").unwrap();
        let statements: Vec<String> = schema.statements("Shop").collect();
        assert_eq!((statements.len(), schema.indexes), (4, 2));
        assert!(statements[0].starts_with("CREATE KEYSPACE IF NOT EXISTS \"Shop\" WITH"));
        assert!(statements[2].ends_with("LZ4Compressor'}") && statements[2].contains("'it''s; all'"));
        assert_eq!(statements[3], "ALTER TABLE shop.orders DROP old USING TIMESTAMP 12");
    }

    #[test]
    fn a_compressor_that_no_cassandra_has_is_named() {
        let text = TEXT.replace("org.apache.cassandra.io.compress.LZ4Compressor", "com.bank.EncryptingCompressor");
        let error = Schema::read(&text, "shop.orders").unwrap_err().to_string();
        assert!(error.contains("com.bank.EncryptingCompressor") && error.contains("encrypted"), "{error}");
        assert!(Schema::read(&TEXT.replace("org.apache.cassandra.io.compress.", ""), "shop.orders").is_ok());
        assert!(Schema::read("", "shop.orders").unwrap_err().to_string().contains("no table"));
        assert!(Schema::read("/* open", "shop.orders").is_err());
    }
}
