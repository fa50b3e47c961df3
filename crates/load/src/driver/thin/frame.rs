//! Frames of the CQL binary protocol, versions 4 and 5: those that the driver writes, and the parts of responses that
//! it reads. Incoming bytes are not trusted.
//!
//! Source: Apache Cassandra, doc/native_protocol_v4.spec and doc/native_protocol_v5.spec.

use crate::access::Protocol;
use crate::{Access, Outcome};
use helenus_cassandra::cql::frame::{BodyReader, Malformed, opcode, skip_extras};
use helenus_cassandra::cql::{Compression, Packing, read_type};

pub(super) const HEADER_BYTES: usize = 9;
/// The largest frame that the protocol allows (section 2.4 of the specification).
const LARGEST_BODY_BYTES: u32 = 256 << 20;
/// The flag of a frame whose body is compressed, in version 4.
pub(super) const COMPRESSED: u8 = 0x01;

/// How frames travel on a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Framing {
    pub protocol: Protocol,
    pub compression: Option<Compression>,
}

impl Framing {
    pub fn of(access: &Access) -> Framing {
        Framing { protocol: access.protocol, compression: access.compression }
    }

    /// The compression of single frame bodies; None if bodies are not compressed.
    pub fn of_bodies(self) -> Option<Compression> {
        self.compression.filter(|_| self.protocol == Protocol::V4)
    }

    /// The compression of the segments that frames travel in after the handshake.
    pub fn of_segments(self) -> Option<Packing> {
        match (self.protocol, self.compression) {
            (Protocol::V4, _) => None,
            (Protocol::V5, None) => Some(Packing::Plain),
            (Protocol::V5, Some(_)) => Some(Packing::Lz4),
        }
    }
}

/// The header of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub stream: i16,
    pub opcode: u8,
    flags: u8,
    pub body_bytes: usize,
}

impl Header {
    /// Parses the header at the start of the bytes; None if it is incomplete.
    pub fn read(bytes: &[u8], protocol: Protocol) -> Result<Option<Header>, Malformed> {
        let Some((head, _)) = bytes.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let [version, flags, stream_high, stream_low, opcode, length @ ..] = *head;
        // A node that does not support a version answers in a version that it supports.
        let refuses = opcode == opcode::ERROR && (0x83..=0x86).contains(&version);
        if version != protocol.number() | 0x80 && !refuses {
            return Err(Malformed(if version == protocol.number() {
                "a request where an answer should be"
            } else {
                "another version of the protocol, or no CQL at all"
            }));
        }
        let body_bytes = u32::from_be_bytes(length);
        if body_bytes > LARGEST_BODY_BYTES {
            return Err(Malformed("a frame of more than 256 MiB"));
        }
        let stream = i16::from_be_bytes([stream_high, stream_low]);
        Ok(Some(Header { stream, opcode, flags, body_bytes: body_bytes as usize }))
    }

    pub fn is_compressed(&self) -> bool {
        self.flags & COMPRESSED != 0
    }

    /// The body without the fields that flags announce: tracing id, warnings, custom payload (section 2.2).
    pub fn message<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], Malformed> {
        if self.flags & 0x0e == 0 {
            return Ok(body);
        }
        Ok(&body[skip_extras(body, self.flags)?..])
    }
}

/// The header of a request, with the length still open.
pub(super) fn header(protocol: Protocol, opcode: u8, stream: i16) -> [u8; HEADER_BYTES] {
    let [high, low] = stream.to_be_bytes();
    [protocol.number(), 0, high, low, opcode, 0, 0, 0, 0]
}

pub(super) fn startup(compression: Option<Compression>) -> Vec<u8> {
    let mut options =
        vec![("CQL_VERSION", "3.0.0"), ("DRIVER_NAME", "helenus"), ("DRIVER_VERSION", env!("CARGO_PKG_VERSION"))];
    options.extend(compression.map(|compression| ("COMPRESSION", compression.name())));
    let mut body = (options.len() as u16).to_be_bytes().to_vec();
    for (name, value) in options {
        for text in [name, value] {
            body.extend((text.len() as u16).to_be_bytes());
            body.extend(text.as_bytes());
        }
    }
    body
}

/// The token for AUTHENTICATE: SASL PLAIN.
pub(super) fn plain_credentials(user: &str, password: &str) -> Vec<u8> {
    let token = [b"\0", user.as_bytes(), b"\0", password.as_bytes()].concat();
    let mut body = (token.len() as i32).to_be_bytes().to_vec();
    body.extend(token);
    body
}

pub(super) fn prepare(cql: &str, protocol: Protocol) -> Vec<u8> {
    const NO_FLAGS: [u8; 4] = [0; 4];
    let mut body = (cql.len() as i32).to_be_bytes().to_vec();
    body.extend(cql.as_bytes());
    if protocol == Protocol::V5 {
        body.extend(NO_FLAGS);
    }
    body
}

/// How a statement is executed, apart from its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExecuteParameters {
    pub consistency: u16,
    pub serial_consistency: Option<u16>,
    /// Number of bound values.
    pub values: u16,
}

/// The parts of EXECUTE around the values: the same for every request of a statement.
pub(super) fn execute(prepared: &Prepared, terms: ExecuteParameters) -> Execute {
    const VALUES: u8 = 0x01;
    const SKIP_METADATA: u8 = 0x02;
    const SERIAL_CONSISTENCY: u8 = 0x10;
    let mut head = Vec::new();
    for id in std::iter::once(&prepared.id).chain(&prepared.metadata_id) {
        head.extend((id.len() as u16).to_be_bytes());
        head.extend(id);
    }
    head.extend(terms.consistency.to_be_bytes());
    if prepared.metadata_id.is_some() {
        // In version 5 the flags are four bytes.
        head.extend([0; 3]);
    }
    let with_values = if terms.values > 0 { VALUES } else { 0 };
    head.push(SKIP_METADATA | with_values | terms.serial_consistency.map_or(0, |_| SERIAL_CONSISTENCY));
    if terms.values > 0 {
        head.extend(terms.values.to_be_bytes());
    }
    let tail = terms.serial_consistency.map_or(Vec::new(), |serial| serial.to_be_bytes().to_vec());
    Execute { head, tail }
}

/// The bytes before and after the values of an EXECUTE.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Execute {
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
}

/// The content of an answer to an EXECUTE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// Success, with the number of rows if the response can have rows.
    Done {
        rows: Option<u64>,
    },
    /// The node does not know the prepared statement any more.
    Unprepared,
    Failed {
        outcome: Outcome,
        message: &'a str,
    },
}

impl Answer<'_> {
    pub fn read(opcode: u8, message: &[u8]) -> Result<Answer<'_>, Malformed> {
        match opcode {
            opcode::RESULT => result(message),
            opcode::ERROR => {
                let (code, message) = error(message)?;
                Ok(match outcome_of(code) {
                    None => Answer::Unprepared,
                    Some(outcome) => Answer::Failed { outcome, message },
                })
            }
            _ => Err(Malformed("neither a result nor an error")),
        }
    }
}

fn result(message: &[u8]) -> Result<Answer<'_>, Malformed> {
    const ROWS: i32 = 2;
    let mut reader = BodyReader::new(message);
    let kind = reader.int()?;
    if kind != ROWS {
        return if (1..=5).contains(&kind) {
            Ok(Answer::Done { rows: None })
        } else {
            Err(Malformed("a result of an unknown kind"))
        };
    }
    skip_metadata(&mut reader)?;
    Ok(Answer::Done { rows: u64::try_from(reader.int()?).ok() })
}

/// Code and text of an ERROR.
pub(super) fn error(message: &[u8]) -> Result<(i32, &str), Malformed> {
    let mut reader = BodyReader::new(message);
    let code = reader.int()?;
    Ok((code, reader.text()?))
}

/// Outcomes by error code (section 9); None for an unprepared statement.
fn outcome_of(code: i32) -> Option<Outcome> {
    Some(match code {
        0x2500 => return None,
        0x1000 | 0x1002 => Outcome::Unavailable,
        0x1001 => Outcome::Overloaded,
        0x1100 => Outcome::WriteTimeout,
        0x1200 => Outcome::ReadTimeout,
        0x1300 => Outcome::ReadFailure,
        0x1500 => Outcome::WriteFailure,
        0x0100 | 0x2000 | 0x2100 | 0x2200 | 0x2300 | 0x2400 => Outcome::Invalid,
        _ => Outcome::Other,
    })
}

/// The ids that a node gives to a prepared statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prepared {
    pub id: Vec<u8>,
    /// The node's id of the result's columns, in version 5.
    pub metadata_id: Option<Vec<u8>>,
}

impl Prepared {
    /// Reads the answer to PREPARE.
    pub fn read(message: &[u8], protocol: Protocol) -> Result<Prepared, Malformed> {
        const PREPARED: i32 = 4;
        let mut reader = BodyReader::new(message);
        if reader.int()? != PREPARED {
            return Err(Malformed("no prepared statement in answer to PREPARE"));
        }
        let id = reader.short_bytes()?.to_vec();
        let metadata_id = match protocol {
            Protocol::V4 => None,
            Protocol::V5 => Some(reader.short_bytes()?.to_vec()),
        };
        Ok(Prepared { id, metadata_id })
    }
}

/// The class that AUTHENTICATE names.
pub(super) fn authenticator(message: &[u8]) -> Result<&str, Malformed> {
    BodyReader::new(message).text()
}

/// The metadata of rows (section 4.2.5.2), up to the number of rows.
fn skip_metadata(reader: &mut BodyReader<'_>) -> Result<(), Malformed> {
    const GLOBAL_TABLE: i32 = 0x01;
    const MORE_PAGES: i32 = 0x02;
    const NO_METADATA: i32 = 0x04;
    const CHANGED: i32 = 0x08;
    let flags = reader.int()?;
    let columns = reader.int()?;
    if flags & MORE_PAGES != 0 {
        reader.bytes()?;
    }
    if flags & CHANGED != 0 {
        // Skip the new id of the result's columns.
        reader.short_bytes()?;
    }
    if flags & NO_METADATA != 0 {
        return Ok(());
    }
    let skip_table = |reader: &mut BodyReader<'_>| reader.short_bytes().and_then(|_| reader.short_bytes()).map(drop);
    if flags & GLOBAL_TABLE != 0 {
        skip_table(reader)?;
    }
    for _ in 0..columns {
        if flags & GLOBAL_TABLE == 0 {
            skip_table(reader)?;
        }
        reader.short_bytes()?;
        read_type(reader)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(opcode: u8, body: &[u8]) -> Vec<u8> {
        let mut frame = header(Protocol::V4, opcode, 7).to_vec();
        frame[0] |= 0x80;
        frame[8] = body.len() as u8;
        frame.extend(body);
        frame
    }

    fn read(bytes: &[u8]) -> Result<Option<Header>, Malformed> {
        Header::read(bytes, Protocol::V4)
    }

    fn rows(flags: i32, metadata: &[u8], count: i32) -> Vec<u8> {
        [&2i32.to_be_bytes()[..], &flags.to_be_bytes(), &1i32.to_be_bytes(), metadata, &count.to_be_bytes()].concat()
    }

    #[test]
    fn a_frame_has_its_length_and_stream() {
        let frame = answer(opcode::RESULT, &[0, 0, 0, 1]);
        let header = read(&frame).unwrap().unwrap();
        assert_eq!((header.stream, header.opcode, header.body_bytes), (7, opcode::RESULT, 4));
        assert_eq!(read(&frame[..8]), Ok(None));
        assert_eq!(header.message(&frame[9..]), Ok(&[0, 0, 0, 1][..]));
    }

    #[test]
    fn what_is_no_answer_is_told_apart() {
        assert!(read(b"HTTP/1.1 400 Bad Request").is_err());
        assert!(read(&header(Protocol::V4, opcode::STARTUP, 0)).is_err());
        let mut huge = answer(opcode::RESULT, &[]);
        huge[5] = 0x7f;
        assert!(read(&huge).is_err());
        // A node that does not support version 5 says so in version 4.
        assert!(Header::read(&answer(opcode::ERROR, &[]), Protocol::V5).is_ok());
        assert!(Header::read(&answer(opcode::RESULT, &[]), Protocol::V5).is_err());
    }

    #[test]
    fn warnings_stand_before_the_message() {
        let mut frame = answer(opcode::RESULT, &[0, 1, 0, 2, b'h', b'o', 0, 0, 0, 1]);
        frame[1] = 0x08;
        let header = read(&frame).unwrap().unwrap();
        assert_eq!(header.message(&frame[9..]), Ok(&[0, 0, 0, 1][..]));
    }

    #[test]
    fn rows_are_empty_or_not_with_and_without_metadata() {
        let read = |body: &[u8]| match Answer::read(opcode::RESULT, body)? {
            Answer::Done { rows } => Ok(rows),
            other => panic!("{other:?}"),
        };
        assert_eq!(read(&1i32.to_be_bytes()), Ok::<_, Malformed>(None));
        assert_eq!(read(&rows(4, &[], 0)), Ok(Some(0)));
        assert_eq!(read(&rows(4, &[], 3)), Ok(Some(3)));
        // The metadata of keyspace k, table t, and a column l of type list<int>.
        let metadata = [0, 1, b'k', 0, 1, b't', 0, 1, b'l', 0, 0x20, 0, 9];
        assert_eq!(read(&rows(1, &metadata, 0)), Ok(Some(0)));
        assert!(read(&rows(1, &metadata[..9], 0)[..20]).is_err());
        assert!(read(&9i32.to_be_bytes()).is_err());
    }

    #[test]
    fn errors_have_their_outcome() {
        let body = |code: i32| [&code.to_be_bytes()[..], &[0, 2], b"no"].concat();
        let overloaded = Answer::Failed { outcome: Outcome::Overloaded, message: "no" };
        assert_eq!(Answer::read(opcode::ERROR, &body(0x1001)), Ok(overloaded));
        assert_eq!(Answer::read(opcode::ERROR, &body(0x2500)), Ok(Answer::Unprepared));
        assert!(Answer::read(opcode::READY, &[]).is_err());
    }

    #[test]
    fn an_execute_is_what_the_specification_says() {
        let terms = ExecuteParameters { consistency: 0x000a, serial_consistency: Some(9), values: 2 };
        let mut prepared = Prepared { id: vec![0xab, 0xcd], metadata_id: None };
        let in_four = execute(&prepared, terms);
        assert_eq!(in_four.head, [0, 2, 0xab, 0xcd, 0, 0x0a, 0x13, 0, 2]);
        assert_eq!(in_four.tail, [0, 9]);
        prepared.metadata_id = Some(vec![0xef]);
        let in_five = execute(&prepared, terms);
        assert_eq!(in_five.head, [0, 2, 0xab, 0xcd, 0, 1, 0xef, 0, 0x0a, 0, 0, 0, 0x13, 0, 2]);
    }

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(bytes: Vec<u8>, opcode in 0u8..17) {
            if let Ok(Some(header)) = read(&bytes) {
                let _ = header.message(&bytes[HEADER_BYTES..]);
            }
            let _ = Answer::read(opcode, &bytes);
            let _ = Answer::read(opcode::RESULT, &[&[0, 0, 0, 2], &bytes[..]].concat());
            let _ = Prepared::read(&bytes, Protocol::V5);
            let _ = authenticator(&bytes);
        }
    }
}
