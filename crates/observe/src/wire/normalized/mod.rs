//! Removes the values from statements: values may be secrets, and statements that differ only in values are counted
//! together.
//!
//! A statement is read by the grammar of CQL, which tells where its literals are. If a text does not parse, nobody knows where
//! its values are: a program that puts texts together sends `'O'Brien'`, or a name without quotes. Then only the keyword is
//! kept.

mod definition;
mod lexer;
mod reader;
mod statement;
mod terms;

#[cfg(test)]
mod tests;

use reader::{Reader, Stop};

/// The most characters of a statement that are kept.
const LONGEST: usize = 1000;
/// The name of a text that does not begin with a keyword.
const UNREADABLE: &str = "unreadable statement";
/// The begin of a batch's name; the first of its statements follows.
pub(super) const BATCH: &str = "batch: ";

/// The first words of statements.
const KEYWORDS: [&str; 19] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "USE", "TRUNCATE", "CREATE", "ALTER", "DROP", "GRANT", "REVOKE",
    "LIST", "ADD", "DESCRIBE", "DESC", "COMMENT", "SECURITY", "BATCH",
];
/// The words behind CREATE, ALTER and DROP.
const DEFINED: [&str; 16] = [
    "KEYSPACE",
    "SCHEMA",
    "TABLE",
    "COLUMNFAMILY",
    "INDEX",
    "CUSTOM",
    "TYPE",
    "FUNCTION",
    "AGGREGATE",
    "MATERIALIZED",
    "TRIGGER",
    "ROLE",
    "USER",
    "IDENTITY",
    "GENERATED",
    "SUPERUSER",
];
/// Of statements about these, no name is kept: they are those of people and programs.
const PRIVATE: [&str; 5] = ["ROLE", "USER", "IDENTITY", "GENERATED", "SUPERUSER"];

/// A statement without its values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Normalized {
    pub(super) text: String,
    /// Number of statements of a batch; None for other statements, and where the end of the batch was not read.
    pub(super) batch_size: Option<u16>,
}

/// A statement with `?` in place of each literal, of a whole collection, and of a list of `IN` of any length; of a batch
/// `batch: ` and its first statement. With `is_cut` the end of the text is missing: its last word may be part of a literal
/// and is dropped. If a text does not parse, only its keyword is kept.
pub(super) fn normalized(statement: &str, is_cut: bool) -> Normalized {
    let text = if is_cut { lexer::without_last_word(statement) } else { statement };
    read(text, is_cut).unwrap_or_else(|| Normalized { text: keyword_alone(statement), batch_size: None })
}

/// The keyword of a statement and nothing else.
pub(super) fn keyword_alone(statement: &str) -> String {
    if let Some(first) = statement.strip_prefix(BATCH) {
        return format!("{BATCH}{}", keyword_alone(first));
    }
    let mut words = statement.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let begins = statement.trim_start().starts_with(|letter: char| letter.is_ascii_alphabetic());
    let mut known = |among: &'static [&'static str]| {
        let word = words.next()?;
        among.iter().find(|known| known.eq_ignore_ascii_case(word)).copied()
    };
    match known(&KEYWORDS).filter(|_| begins) {
        None => UNREADABLE.to_string(),
        Some(keyword @ ("CREATE" | "ALTER" | "DROP")) => match known(&DEFINED) {
            Some(defined) => format!("{keyword} {defined} …"),
            None => format!("{keyword} …"),
        },
        Some(keyword) => format!("{keyword} …"),
    }
}

/// None if the text does not parse.
fn read(text: &str, is_cut: bool) -> Option<Normalized> {
    let mut reader = Reader::new(lexer::tokens(text, is_cut).ok()?, is_cut);
    let mut batch_size = None;
    let mut is_shortened = match statement(&mut reader, &mut batch_size) {
        Ok(()) => false,
        Err(Stop::Cut) => {
            reader.cut_off();
            true
        }
        Err(Stop::Unsure) => return None,
    };
    // A batch is named by its first statement, which is all there.
    is_shortened |= is_cut && !reader.out.starts_with(BATCH);
    let mut text = reader.out;
    text.truncate(text.trim_end().len());
    let longest = text.char_indices().nth(LONGEST).map(|(at, _)| at);
    text.truncate(longest.unwrap_or(text.len()));
    if is_shortened || longest.is_some() {
        text.push('…');
    }
    Some(Normalized { text, batch_size })
}

fn statement(reader: &mut Reader<'_>, batch_size: &mut Option<u16>) -> Result<(), Stop> {
    if reader.is_word("SELECT") {
        reader.select()?;
    } else if reader.is_word("INSERT") {
        reader.insert()?;
    } else if reader.is_word("UPDATE") {
        reader.update()?;
    } else if reader.is_word("DELETE") {
        reader.delete()?;
    } else if reader.is_word("BEGIN") {
        *batch_size = reader.batch()?;
        if batch_size.is_none() {
            return Ok(());
        }
    } else if reader.may_word("USE") {
        reader.name()?;
    } else if reader.may_word("TRUNCATE") {
        if !reader.may_word("TABLE") {
            reader.may_word("COLUMNFAMILY");
        }
        reader.qualified_name()?;
    } else if reader.is_any(&["CREATE", "ALTER", "DROP"]) {
        if PRIVATE.iter().any(|word| reader.is_word_at(1, word)) {
            return Err(Stop::Unsure);
        }
        reader.definition()?;
    } else if reader.is_any(&["DESCRIBE", "DESC"]) {
        reader.definition()?;
    } else {
        return Err(Stop::Unsure);
    }
    let end = reader.out.len();
    while reader.may_sign(";") {}
    reader.out.truncate(end);
    if reader.is_at_end() { Ok(()) } else { Err(Stop::Unsure) }
}
