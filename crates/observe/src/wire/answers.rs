//! Parses responses: their kind, number of rows, and error.

use super::partition_key::Described;
use helenus_cassandra::cql;
use helenus_cassandra::cql::frame::{BodyReader, Malformed, opcode};
use std::borrow::Cow;

const GLOBAL_TABLE: i32 = 0x01;
const MORE_PAGES: i32 = 0x02;
const NO_METADATA: i32 = 0x04;
const METADATA_CHANGED: i32 = 0x08;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answer<'a> {
    pub(super) kind: &'static str,
    pub(super) error: Option<Cow<'static, str>>,
    /// Number of rows; None if the response has none, or if the number lies behind the bytes that were read.
    pub(super) rows: Option<i64>,
    pub(super) has_more_pages: bool,
    pub(super) prepared: Option<PreparedAnswer<'a>>,
    /// The keyspace that the connection uses from now on (USE).
    pub(super) keyspace: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PreparedAnswer<'a> {
    pub(super) id: &'a [u8],
    pub(super) keyspace: Option<&'a str>,
    /// The indices of the partition key's values; None before version 4, and if they lie behind the bytes that were
    /// read.
    pub(super) values: Option<Described>,
}

impl<'a> Answer<'a> {
    /// Parses a body, which may be truncated.
    pub(super) fn read(version: u8, code: u8, body: &'a [u8]) -> Answer<'a> {
        let mut answer = Answer { kind: kind(code), ..Answer::default() };
        match code {
            opcode::ERROR => {
                let code = BodyReader::new(body).int();
                answer.error = Some(code.map_or(Cow::Borrowed("unknown"), error_name));
            }
            // If parsing fails, the fields read so far are kept.
            opcode::RESULT => drop(answer.read_result(version, &mut BodyReader::new(body))),
            _ => {}
        }
        answer
    }

    fn read_result(&mut self, version: u8, reader: &mut BodyReader<'a>) -> Result<(), Malformed> {
        match reader.int()? {
            1 => self.kind = "void",
            2 => {
                self.kind = "rows";
                self.read_rows(reader)?;
            }
            3 => {
                self.kind = "set_keyspace";
                self.keyspace = Some(reader.text()?);
            }
            4 => {
                self.kind = "prepared";
                let id = reader.short_bytes()?;
                if version >= 5 {
                    // Skip the id of the result columns.
                    reader.short_bytes()?;
                }
                let described = BodyReader::new(reader.rest());
                let keyspace = prepared_keyspace(version, reader).ok().flatten();
                self.prepared = Some(PreparedAnswer { id, keyspace, values: Described::of(version, described) });
            }
            5 => self.kind = "schema_change",
            _ => {}
        }
        Ok(())
    }

    fn read_rows(&mut self, reader: &mut BodyReader<'_>) -> Result<(), Malformed> {
        let (flags, columns) = (reader.int()?, reader.int()?);
        self.has_more_pages = flags & MORE_PAGES != 0;
        if self.has_more_pages {
            reader.bytes()?;
        }
        if flags & METADATA_CHANGED != 0 {
            reader.short_bytes()?;
        }
        if flags & NO_METADATA == 0 {
            cql::read_columns(reader, flags, columns)?;
        }
        self.rows = Some(i64::from(reader.int()?)).filter(|rows| *rows >= 0);
        Ok(())
    }
}

/// The keyspace of a prepared statement's table, from the metadata of its bound values or of its result columns.
fn prepared_keyspace<'a>(version: u8, reader: &mut BodyReader<'a>) -> Result<Option<&'a str>, Malformed> {
    let (flags, values) = (reader.int()?, reader.int()?);
    if version >= 4 {
        for _ in 0..reader.int()? {
            reader.short()?;
        }
    }
    // The keyspace is given once for all values, or with the first value.
    if flags & GLOBAL_TABLE != 0 || values > 0 {
        return reader.text().map(Some);
    }
    let (flags, columns) = (reader.int()?, reader.int()?);
    let has_table = flags & NO_METADATA == 0 && (flags & GLOBAL_TABLE != 0 || columns > 0);
    if has_table { reader.text().map(Some) } else { Ok(None) }
}

fn kind(code: u8) -> &'static str {
    match code {
        opcode::ERROR => "error",
        opcode::READY => "ready",
        opcode::AUTHENTICATE => "authenticate",
        opcode::SUPPORTED => "supported",
        opcode::AUTH_CHALLENGE => "auth_challenge",
        opcode::AUTH_SUCCESS => "auth_success",
        opcode::RESULT => "result",
        _ => "other",
    }
}

/// The node's error for a text that does not parse as CQL.
pub(super) const SYNTAX_ERROR: &str = "syntax_error";

/// Error codes from section 9 of the protocol's specification.
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
        0x2000 => SYNTAX_ERROR,
        0x2100 => "unauthorized",
        0x2200 => "invalid",
        0x2300 => "config_error",
        0x2400 => "already_exists",
        0x2500 => "unprepared",
        code => return Cow::Owned(format!("0x{code:04x}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn string(text: &str) -> Vec<u8> {
        [&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat()
    }

    #[test]
    fn rows_are_counted_behind_what_describes_them() {
        let described = [
            &[0, 0, 0, 2, 0, 0, 0, 0x03, 0, 0, 0, 1, 0, 0, 0, 2, 7, 7][..],
            &string("shop"),
            &string("orders"),
            &string("amounts"),
            // A list of int.
            &[0, 0x20, 0, 9],
            &[0, 0, 19, 136],
        ]
        .concat();
        let answer = Answer::read(4, opcode::RESULT, &described);
        assert_eq!((answer.kind, answer.rows, answer.has_more_pages), ("rows", Some(5000), true));
        let cut = Answer::read(4, opcode::RESULT, &described[..30]);
        assert_eq!((cut.kind, cut.rows, cut.has_more_pages), ("rows", None, true));
        let bare = Answer::read(4, opcode::RESULT, &[0, 0, 0, 2, 0, 0, 0, 0x04, 0, 0, 0, 1, 0, 0, 0, 3]);
        assert_eq!((bare.rows, bare.has_more_pages), (Some(3), false));
    }

    #[test]
    fn a_prepared_statement_and_a_connection_have_a_keyspace() {
        let id = [0, 0, 0, 4, 0, 1, 9];
        let of_values = [&id[..], &[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0], &string("shop")].concat();
        let found = Answer::read(4, opcode::RESULT, &of_values).prepared.unwrap();
        assert_eq!((found.id, found.keyspace), (&[9][..], Some("shop")));
        let no_values = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let of_rows = [&id[..], &[0, 1, 8], &no_values, &[0, 0, 0, 1, 0, 0, 0, 1], &string("shop")].concat();
        assert_eq!(Answer::read(5, opcode::RESULT, &of_rows).prepared.unwrap().keyspace, Some("shop"));
        let no_rows = [&id[..], &no_values, &[0, 0, 0, 4, 0, 0, 0, 0]].concat();
        assert_eq!(Answer::read(4, opcode::RESULT, &no_rows).prepared.unwrap().keyspace, None);
        let used = [&[0, 0, 0, 3][..], &string("shop")].concat();
        assert_eq!(Answer::read(4, opcode::RESULT, &used).keyspace, Some("shop"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, code in 0u8..17, kind in 0u8..7, version in 3u8..7) {
            let _ = Answer::read(version, code, &bytes);
            let _ = Answer::read(version, opcode::RESULT, &[&[0, 0, 0, kind][..], &bytes].concat());
        }
    }
}
