//! What requests ask, in words: statements without the values in them.

use super::packet::Side;
use foldhash::fast::RandomState;
use helenus_cassandra::cql::Compression;
use helenus_cassandra::cql::frame::{self, Malformed, Reader, opcode};
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

/// Characters of a statement that are kept.
const LONGEST: usize = 1000;
/// Prepared statements that are known at once; Cassandra's own cache holds fewer.
const MOST: usize = 100_000;

/// The texts of prepared statements by their ids, which are the same on every connection.
#[derive(Debug, Default)]
pub(super) struct Statements {
    prepared: HashMap<Box<[u8]>, Rc<str>, RandomState>,
}

impl Statements {
    pub(super) fn learn(&mut self, id: &[u8], text: &str) {
        self.insert(id, without_values(text, Values::Texts).into());
    }

    pub(super) fn insert(&mut self, id: &[u8], text: Rc<str>) {
        if self.prepared.len() >= MOST {
            self.prepared.clear();
        }
        self.prepared.insert(id.into(), text);
    }

    fn executed(&self, id: &[u8]) -> Rc<str> {
        match self.prepared.get(id) {
            Some(text) => Rc::clone(text),
            None => format!("prepared {}", Hex(id)).into(),
        }
    }

    /// The statement of a request, by its body, which may be cut off.
    pub(super) fn of(&self, code: u8, body: &[u8]) -> Rc<str> {
        match code {
            opcode::QUERY => text(body).map(|text| without_values(&text, Values::All).into()),
            opcode::PREPARE => text(body).map(|text| without_values(&text, Values::Texts).into()),
            opcode::EXECUTE => Reader::new(body).short_bytes().ok().map(|id| self.executed(id)),
            opcode::BATCH => self.batch(body),
            _ => None,
        }
        .unwrap_or_default()
    }

    /// A batch goes by the first of its statements.
    fn batch(&self, body: &[u8]) -> Option<Rc<str>> {
        const PREPARED: u8 = 1;
        let &[_, high, low, kind, ref rest @ ..] = body else { return None };
        let first: Rc<str> = match kind {
            PREPARED => self.executed(Reader::new(rest).short_bytes().ok()?),
            _ => without_values(&text(rest)?, Values::All).into(),
        };
        Some(format!("batch of {}: {first}", u16::from_be_bytes([high, low])).into())
    }
}

/// `[long string]`, of which the end may not be there.
fn text(body: &[u8]) -> Option<Cow<'_, str>> {
    let (length, text) = body.split_first_chunk()?;
    let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
    Some(String::from_utf8_lossy(&text[..length.min(text.len())]))
}

/// The body proper: not compressed, and without what may stand before it.
pub(super) fn proper<'a>(
    side: Side,
    flags: u8,
    compressed: Option<Option<Compression>>,
    body: &'a [u8],
) -> Option<Cow<'a, [u8]>> {
    let body = match compressed {
        None => Cow::Borrowed(body),
        Some(Some(compression)) => Cow::Owned(compression.decompress_body(body).ok()?),
        // The begin of the connection, which says it, was not seen.
        Some(None) => {
            let any = [Compression::Lz4, Compression::Snappy];
            Cow::Owned(any.iter().find_map(|compression| compression.decompress_body(body).ok())?)
        }
    };
    // In a request, the flags of tracing and warnings stand for nothing in the body.
    let flags = if side == Side::Client { flags & 0x04 } else { flags };
    let start = frame::skip_extras(&body, flags).ok()?;
    Some(match body {
        Cow::Borrowed(body) => Cow::Borrowed(&body[start..]),
        Cow::Owned(mut body) => {
            body.drain(..start);
            Cow::Owned(body)
        }
    })
}

/// What kind of answer it is, and which error.
pub(super) fn answer(code: u8, body: &[u8]) -> (&'static str, Option<Cow<'static, str>>) {
    let kind = match code {
        opcode::ERROR => "error",
        opcode::READY => "ready",
        opcode::AUTHENTICATE => "authenticate",
        opcode::SUPPORTED => "supported",
        opcode::AUTH_CHALLENGE => "auth_challenge",
        opcode::AUTH_SUCCESS => "auth_success",
        opcode::RESULT => match Reader::new(body).int() {
            Ok(1) => "void",
            Ok(2) => "rows",
            Ok(3) => "set_keyspace",
            Ok(4) => "prepared",
            Ok(5) => "schema_change",
            _ => "result",
        },
        _ => "other",
    };
    let error = (code == opcode::ERROR).then(|| Reader::new(body).int().map_or(Cow::Borrowed("unknown"), error_name));
    (kind, error)
}

/// The id that an answer of the kind prepared gives.
pub(super) fn prepared_id(body: &[u8]) -> Result<&[u8], Malformed> {
    let mut reader = Reader::new(body);
    reader.int()?;
    reader.short_bytes()
}

/// Section 9 of the protocol's specification.
fn error_name(code: i32) -> Cow<'static, str> {
    Cow::Borrowed(match code {
        0x0000 => "server_error",
        0x000A => "protocol_error",
        0x0100 => "bad_credentials",
        0x1000 => "unavailable",
        0x1001 => "overloaded",
        0x1002 => "is_bootstrapping",
        0x1003 => "truncate_error",
        0x1100 => "write_timeout",
        0x1200 => "read_timeout",
        0x1300 => "read_failure",
        0x1400 => "function_failure",
        0x1500 => "write_failure",
        0x1600 => "cdc_write_failure",
        0x1700 => "cas_write_unknown",
        0x2000 => "syntax_error",
        0x2100 => "unauthorized",
        0x2200 => "invalid",
        0x2300 => "config_error",
        0x2400 => "already_exists",
        0x2500 => "unprepared",
        code => return Cow::Owned(format!("0x{code:04x}")),
    })
}

pub(super) fn opcode_name(code: u8) -> &'static str {
    match code {
        opcode::STARTUP => "STARTUP",
        opcode::OPTIONS => "OPTIONS",
        opcode::QUERY => "QUERY",
        opcode::PREPARE => "PREPARE",
        opcode::EXECUTE => "EXECUTE",
        opcode::REGISTER => "REGISTER",
        opcode::BATCH => "BATCH",
        opcode::AUTH_RESPONSE => "AUTH_RESPONSE",
        _ => "other",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    /// Texts alone: a statement that is prepared has its other values on purpose.
    Texts,
    All,
}

/// A statement with `?` for the values in it, which may be secrets, and are not what tells statements apart.
fn without_values(statement: &str, values: Values) -> String {
    let mut out = String::with_capacity(statement.len().min(LONGEST));
    let mut left = statement;
    let mut taken = 0;
    while let Some(first) = left.chars().next() {
        if taken >= LONGEST {
            out.push('…');
            break;
        }
        taken += 1;
        let after_word = out.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let (skip, shown): (usize, &str) = match first {
            '\'' => (quoted(left, "'"), "?"),
            '$' if left.starts_with("$$") => (2 + left[2..].find("$$").map_or(left.len() - 2, |end| end + 2), "?"),
            // A name: as it is.
            '"' => {
                let end = quoted(left, "\"");
                (end, &left[..end])
            }
            '-' if left.starts_with("--") => (left.find('\n').unwrap_or(left.len()), ""),
            '/' if left.starts_with("//") => (left.find('\n').unwrap_or(left.len()), ""),
            '/' if left.starts_with("/*") => (left.find("*/").map_or(left.len(), |end| end + 2), " "),
            first if values == Values::All && !after_word && first.is_ascii_digit() => (number(left), "?"),
            first if values == Values::All && !after_word && first.is_ascii_hexdigit() && is_uuid(left) => (36, "?"),
            first if first.is_whitespace() => {
                let end = left.find(|next: char| !next.is_whitespace()).unwrap_or(left.len());
                (end, if out.is_empty() { "" } else { " " })
            }
            first => (first.len_utf8(), &left[..first.len_utf8()]),
        };
        // One space is as good as several.
        out.push_str(if shown == " " && out.ends_with(' ') { "" } else { shown });
        left = &left[skip..];
    }
    out.truncate(out.trim_end().len());
    out
}

/// The length of what is in quotes, which are doubled within.
fn quoted(text: &str, quote: &str) -> usize {
    let mut at = 1;
    loop {
        match text[at..].find(quote) {
            None => return text.len(),
            Some(end) if text[at + end + 1..].starts_with(quote) => at += end + 2,
            Some(end) => return at + end + 1,
        }
    }
}

/// The length of a number, a blob, a duration or a uuid that begins with a digit.
fn number(text: &str) -> usize {
    if is_uuid(text) {
        return 36;
    }
    let is_part = |next: char| next.is_ascii_alphanumeric() || next == '.';
    text.find(|next: char| !is_part(next)).unwrap_or(text.len())
}

fn is_uuid(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_right = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    bytes.len() >= 36
        && bytes[..36].iter().enumerate().all(is_right)
        && !bytes.get(36).is_some_and(u8::is_ascii_alphanumeric)
}

struct Hex<'a>(&'a [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_go_and_names_stay() {
        for (statement, all, texts) in [
            ("SELECT * FROM t WHERE id = 5", "SELECT * FROM t WHERE id = ?", "SELECT * FROM t WHERE id = 5"),
            ("SELECT v1 FROM ks2.t3 LIMIT 10;", "SELECT v1 FROM ks2.t3 LIMIT ?;", "SELECT v1 FROM ks2.t3 LIMIT 10;"),
            (
                "CREATE ROLE a WITH PASSWORD = 'it''s'  AND x=1.5e3",
                "CREATE ROLE a WITH PASSWORD = ? AND x=?",
                "CREATE ROLE a WITH PASSWORD = ? AND x=1.5e3",
            ),
            (
                "INSERT INTO \"T'1\" (a) VALUES (0xcafe, f47ac10b-58cc-4372-a567-0e02b2c3d479, $$o'x$$)",
                "INSERT INTO \"T'1\" (a) VALUES (?, ?, ?)",
                "INSERT INTO \"T'1\" (a) VALUES (0xcafe, f47ac10b-58cc-4372-a567-0e02b2c3d479, ?)",
            ),
            ("select 1 -- it's\n from /* ' */ t", "select ? from t", "select 1 from t"),
            ("x = 'open", "x = ?", "x = ?"),
        ] {
            assert_eq!(without_values(statement, Values::All), all);
            assert_eq!(without_values(statement, Values::Texts), texts);
        }
        let long = without_values(&"x".repeat(5000), Values::All);
        assert_eq!(long.chars().count(), LONGEST + 1);
    }

    proptest! {
        #[test]
        fn any_text_and_any_bytes_are_read(text: String, bytes: Vec<u8>, code in 0u8..17, flags: u8) {
            let _ = without_values(&text, Values::All);
            let _ = Statements::default().of(code, &bytes);
            let _ = answer(code, &bytes);
            let _ = prepared_id(&bytes);
            for compressed in [None, Some(None), Some(Some(Compression::Lz4)), Some(Some(Compression::Snappy))] {
                let _ = proper(Side::Node, flags, compressed, &bytes);
            }
        }

        #[test]
        fn what_is_in_quotes_is_never_shown(secret in "[a-z]{8}", before in "[ a-z'=]{0,20}") {
            // With an even number of quotes before it, the secret is in quotes.
            prop_assume!(before.matches('\'').count() % 2 == 0 && !before.ends_with('\''));
            let shown = without_values(&format!("{before}'{secret}Q' AND a = 1"), Values::Texts);
            prop_assert!(!shown.contains("Q"), "{}", shown);
        }
    }
}
