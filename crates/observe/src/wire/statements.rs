//! Statements of requests, without literals, with keyspace and id.

use super::keys::Keys;
use super::normalized::{BATCH, Normalized, keyword_alone, normalized};
use super::parameters::{Parameters, batch, prepare_keyspace};
use super::partition_key::PartitionKey;
use super::replicas::Replicas;
use crate::bounded::Kept;
use foldhash::fast::RandomState;
use helenus_cassandra::cql::frame::{BodyReader, opcode};
use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

/// The most bytes of a statement that are read; literals after them are never read.
pub(super) const READ: usize = 4 << 10;
/// The most bytes of prepared statements that are kept: about 100,000, and Cassandra's own cache holds fewer.
const PREPARED: usize = 32 << 20;
/// The longest id of a prepared statement; Cassandra's are digests of 16 bytes.
const LONGEST_ID: usize = 64;
/// The longest name of a keyspace that Cassandra allows.
const LONGEST_KEYSPACE: usize = 222;
/// The most statements that one recording distinguishes.
pub(super) const MOST: usize = 10_000;
/// The begin of the name of a prepared statement whose text is not known; its id follows.
const UNKNOWN: &str = "prepared ";
/// The text that stands for all further statements.
pub(super) const OTHERS: &str = "other statements";

/// A statement that a node has prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prepared {
    pub(super) statement: Rc<str>,
    pub(super) keyspace: Option<Rc<str>>,
    /// The partition key; None if the node did not report which values it consists of.
    pub(super) key: Option<Rc<PartitionKey>>,
}

/// The content of a request: statement and parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) statement: Rc<str>,
    /// The keyspace for names without one: that of the request, or else that of the connection.
    pub(super) keyspace: Option<Rc<str>>,
    pub(super) consistency: Option<&'static str>,
    pub(super) serial_consistency: Option<&'static str>,
    pub(super) is_further_page: bool,
    pub(super) page_size: Option<i32>,
    pub(super) timestamp_us: Option<i64>,
    /// Number of statements in a batch.
    pub(super) batch_size: Option<u16>,
    /// The token of the partition; None if there is none, or it is unknown.
    pub(super) token: Option<i64>,
    /// Whether the node is a replica of that partition; None if that is not known.
    pub(super) to_replica: Option<bool>,
}

/// The texts of statements, and of prepared statements by their ids, which are the same on every connection.
#[derive(Debug)]
pub(super) struct Statements {
    prepared: Kept<Rc<[u8]>, Prepared>,
    texts: HashSet<Rc<str>, RandomState>,
    keyspaces: HashSet<Rc<str>, RandomState>,
    others: Rc<str>,
    /// Texts of partition keys; None if they are not requested.
    pub(super) keys: Option<Keys>,
    pub(super) replicas: Replicas,
    /// Number of requests since the last call whose statement exceeded the limit of distinct statements.
    pub(super) untold: u64,
}

impl Default for Statements {
    fn default() -> Statements {
        Statements {
            prepared: Kept::new(PREPARED),
            texts: HashSet::default(),
            keyspaces: HashSet::default(),
            others: OTHERS.into(),
            keys: None,
            replicas: Replicas::default(),
            untold: 0,
        }
    }
}

impl Statements {
    /// Adds a statement that was prepared before the recording.
    pub(super) fn learn(&mut self, id: &[u8], text: &str, keyspace: Option<&str>, key: Option<PartitionKey>) {
        let (statement, keyspace) = (self.normalized(text), keyspace.and_then(|name| self.keyspace(name)));
        self.insert(id, Prepared { statement, keyspace, key: key.map(Rc::new) });
    }

    /// The name of the node's partitioner, if its tokens can't be computed.
    pub(super) fn other_partitioner(&self) -> Option<&str> {
        self.replicas.partitioner().filter(|class| !class.ends_with("Murmur3Partitioner"))
    }

    pub(super) fn insert(&mut self, id: &[u8], prepared: Prepared) {
        if id.len() <= LONGEST_ID {
            let bytes = id.len() + prepared.key.as_ref().map_or(0, |key| key.bytes());
            self.prepared.insert(id.into(), prepared, bytes);
        }
    }

    /// Number of prepared statements since the last call that were forgotten, because too many were kept.
    pub(super) fn forgotten(&mut self) -> u64 {
        std::mem::take(&mut self.prepared.given_up)
    }

    /// Interns a keyspace's name; None for a name that is too long, or beyond the limit of distinct names.
    pub(super) fn keyspace(&mut self, name: &str) -> Option<Rc<str>> {
        if name.len() <= LONGEST_KEYSPACE { kept(&mut self.keyspaces, name) } else { None }
    }

    fn normalized(&mut self, text: &str) -> Rc<str> {
        let is_cut = text.len() > READ;
        self.text(&normalized(&text[..text.floor_char_boundary(READ)], is_cut).text)
    }

    /// The text that is kept of a statement that the node refused as a syntax error: nobody knows where its values are.
    pub(super) fn refused(&mut self, statement: &Rc<str>) -> Rc<str> {
        let is_text =
            !statement.strip_prefix(BATCH).unwrap_or(statement).starts_with(UNKNOWN) && &**statement != OTHERS;
        if is_text { self.text(&keyword_alone(statement)) } else { Rc::clone(statement) }
    }

    /// Interns a text; beyond the limit, returns the text that stands for all further statements.
    fn text(&mut self, text: &str) -> Rc<str> {
        if let Some(text) = kept(&mut self.texts, text) {
            return text;
        }
        self.untold += 1;
        Rc::clone(&self.others)
    }

    fn executed(&mut self, id: &[u8]) -> Prepared {
        match self.prepared.get(id) {
            Some(prepared) => prepared.clone(),
            None => {
                let id = &id[..id.len().min(LONGEST_ID)];
                Prepared { statement: self.text(&format!("{UNKNOWN}{}", Hex(id))), keyspace: None, key: None }
            }
        }
    }

    /// Parses the content of a request from its body, which may be truncated.
    pub(super) fn of(&mut self, version: u8, code: u8, body: &[u8]) -> Asked {
        self.read(version, code, body).unwrap_or_default()
    }

    fn read(&mut self, version: u8, code: u8, body: &[u8]) -> Option<Asked> {
        let mut reader = BodyReader::new(body);
        let (mut token, mut batch_size) = (None, None);
        let (prepared, parameters) = match code {
            opcode::QUERY => {
                let parameters = long_string(&mut reader).map(|()| Parameters::read(&mut reader, version));
                let prepared;
                (prepared, batch_size) = self.unprepared(body)?;
                (prepared, parameters.unwrap_or_default())
            }
            opcode::PREPARE => {
                let keyspace = long_string(&mut reader).and_then(|()| prepare_keyspace(&mut reader, version));
                (self.unprepared(body)?.0, Parameters { keyspace, ..Parameters::default() })
            }
            opcode::EXECUTE => {
                let id = reader.short_bytes().ok()?;
                if version >= 5 {
                    // Skip the id of the result columns.
                    let _ = reader.short_bytes();
                }
                let (prepared, parameters) = (self.executed(id), Parameters::read(&mut reader, version));
                token = prepared.key.as_ref().and_then(|key| self.token(key, parameters.values));
                (prepared, parameters)
            }
            opcode::BATCH => {
                let mut tokens = Vec::new();
                let parameters = batch(body, version, |id, values| tokens.push(self.token_of(id, values)));
                batch_size = body.get(1..3).map(|count| u16::from_be_bytes([count[0], count[1]]));
                // A batch has a token only if all its statements are about one partition.
                token = tokens.first().copied().flatten().filter(|_| tokens.windows(2).all(|pair| pair[0] == pair[1]));
                (self.first_of_batch(body)?, parameters)
            }
            _ => return None,
        };
        let keyspace = parameters.keyspace.and_then(|name| self.keyspace(name));
        Some(Asked {
            statement: prepared.statement,
            keyspace: keyspace.or(prepared.keyspace),
            consistency: parameters.consistency,
            serial_consistency: parameters.serial_consistency,
            is_further_page: parameters.is_further_page,
            page_size: parameters.page_size,
            timestamp_us: parameters.timestamp_us,
            batch_size,
            token,
            to_replica: None,
        })
    }

    fn token_of(&self, id: Option<&[u8]>, values: &[u8]) -> Option<i64> {
        self.token(self.prepared.get(id?)?.key.as_ref()?, values)
    }

    fn token(&self, key: &PartitionKey, values: &[u8]) -> Option<i64> {
        if self.other_partitioner().is_some() { None } else { key.token(values, self.keys.as_ref()) }
    }

    /// A statement that comes as text, and the number of its statements if it is a batch.
    fn unprepared(&mut self, body: &[u8]) -> Option<(Prepared, Option<u16>)> {
        let (text, is_cut) = text(body)?;
        let Normalized { text, batch_size } = normalized(&text, is_cut);
        Some((Prepared { statement: self.text(&text), keyspace: None, key: None }, batch_size))
    }

    /// The first statement of a batch, by which the batch is named.
    fn first_of_batch(&mut self, body: &[u8]) -> Option<Prepared> {
        const PREPARED: u8 = 1;
        let &[_, _, _, kind, ref rest @ ..] = body else { return None };
        let (first, keyspace) = match kind {
            PREPARED => {
                let Prepared { statement, keyspace, .. } = self.executed(BodyReader::new(rest).short_bytes().ok()?);
                (statement.to_string(), keyspace)
            }
            _ => {
                let (text, is_cut) = text(rest)?;
                (normalized(&text, is_cut).text, None)
            }
        };
        // A prepared statement may itself be a batch.
        let first = first.strip_prefix(BATCH).unwrap_or(&first);
        Some(Prepared { statement: self.text(&format!("{BATCH}{first}")), keyspace, key: None })
    }
}

/// Interns a text; None if the limit is reached.
fn kept(texts: &mut HashSet<Rc<str>, RandomState>, text: &str) -> Option<Rc<str>> {
    if let Some(known) = texts.get(text) {
        return Some(Rc::clone(known));
    }
    if texts.len() >= MOST {
        return None;
    }
    let text: Rc<str> = text.into();
    texts.insert(Rc::clone(&text));
    Some(text)
}

fn long_string(reader: &mut BodyReader<'_>) -> Option<()> {
    reader.bytes().ok().map(drop)
}

/// Decodes a `[long string]`, and whether its end is missing.
fn text(body: &[u8]) -> Option<(Cow<'_, str>, bool)> {
    let (length, text) = body.split_first_chunk()?;
    let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
    let read = length.min(text.len()).min(READ);
    Some((String::from_utf8_lossy(&text[..read]), read < length))
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

struct Hex<'a>(&'a [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::partition_key::Described;
    use super::*;
    use helenus_cassandra::cql::Type;
    use proptest::prelude::*;

    fn query(text: &str) -> Vec<u8> {
        let mut body = (text.len() as u32).to_be_bytes().to_vec();
        body.extend(text.as_bytes());
        body.extend([0, 4, 0]);
        body
    }

    #[test]
    fn many_different_statements_are_counted_as_others() {
        let mut statements = Statements::default();
        for number in 0..MOST + 10 {
            statements.of(4, opcode::QUERY, &query(&format!("SELECT c{number} FROM t WHERE id = {number}")));
        }
        let of = |statements: &mut Statements, text: &str| statements.of(4, opcode::QUERY, &query(text)).statement;
        assert_eq!(&*of(&mut statements, "SELECT new FROM t"), OTHERS);
        assert_eq!(&*of(&mut statements, "SELECT c7 FROM t WHERE id = 99"), "SELECT c7 FROM t WHERE id = ?");
        assert_eq!(statements.untold, 11);
        assert!(statements.texts.len() == MOST);
    }

    #[test]
    fn a_long_statement_is_cut_without_its_literals() {
        let mut statements = Statements::default();
        let long =
            format!("INSERT INTO t (a, b) VALUES ('{}', 'secret', '{}')", "x".repeat(READ - 40), "f".repeat(1 << 20));
        let asked = statements.of(4, opcode::QUERY, &query(&long)[..READ + 4]);
        assert_eq!(&*asked.statement, "INSERT INTO t (a, b) VALUES (?, ?…");
        assert_eq!(asked.consistency, None, "it stands beyond what is read");
    }

    #[test]
    fn a_prepared_statement_has_its_keyspace() {
        let mut statements = Statements::default();
        statements.learn(&[1, 2], "SELECT a FROM t WHERE b = ? LIMIT 5", Some("shop"), None);
        let asked = statements.of(4, opcode::EXECUTE, &[0, 2, 1, 2, 0, 6, 0x08, 0, 0, 0, 1, 9]);
        assert_eq!(&*asked.statement, "SELECT a FROM t WHERE b = ? LIMIT ?");
        assert_eq!((asked.keyspace.as_deref(), asked.consistency), (Some("shop"), Some("LOCAL_QUORUM")));
        assert!(asked.is_further_page);
        let batch = statements.of(4, opcode::BATCH, &[0, 0, 1, 1, 0, 2, 1, 2, 0, 0, 0, 1, 0x10, 0, 9]);
        assert_eq!(batch.batch_size, Some(1));
        assert_eq!(&*batch.statement, "batch: SELECT a FROM t WHERE b = ? LIMIT ?");
        assert_eq!((batch.keyspace.as_deref(), batch.consistency), (Some("shop"), Some("ONE")));
        assert_eq!(batch.serial_consistency, Some("LOCAL_SERIAL"));
    }

    #[test]
    fn a_batch_of_text_is_one_as_a_batch_of_the_protocol_is() {
        let mut statements = Statements::default();
        let one = statements.of(4, opcode::QUERY, &query("BEGIN BATCH INSERT INTO t (a) VALUES (1); APPLY BATCH"));
        let insert = query("INSERT INTO t (a) VALUES (7)");
        let body = [&[0, 0, 1, 0][..], &insert[..insert.len() - 3], &[0, 0, 0, 1, 0]].concat();
        let other = statements.of(4, opcode::BATCH, &body);
        assert_eq!((&*one.statement, one.batch_size), ("batch: INSERT INTO t (a) VALUES (?)", Some(1)));
        assert_eq!((other.statement, other.batch_size), (one.statement, Some(1)));
    }

    #[test]
    fn of_a_refused_text_the_keyword_is_kept() {
        let mut statements = Statements::default();
        let mut refused = |text: &str| statements.refused(&Rc::from(text)).to_string();
        assert_eq!(refused("SELECT brien FROM t"), "SELECT …");
        assert_eq!(refused("batch: INSERT INTO brien (a) VALUES (?)"), "batch: INSERT …");
        for text in ["prepared 0a0b", "batch: prepared 0a0b", OTHERS] {
            assert_eq!(refused(text), text);
        }
    }

    /// A node or a client that makes up ids, keyspaces and partition keys without end.
    #[test]
    fn prepared_statements_without_end_take_no_memory_without_end() {
        let mut statements = Statements::default();
        let insert = |statements: &mut Statements, id: &[u8]| {
            let statement = statements.text("SELECT a FROM t");
            let keyspace = statements.keyspace(&format!("{}{}", id[0], "k".repeat(1 << 16)));
            assert_eq!(keyspace, None, "no keyspace has such a name");
            let markers = vec![("a".to_string(), Type::Tuple(vec![Type::Simple(9); 5_000]))];
            let key = PartitionKey::of(None, &Described { places: vec![0], markers }, "");
            statements.insert(id, Prepared { statement, keyspace, key: key.map(Rc::new) });
        };
        for number in 0..1_000_u32 {
            insert(&mut statements, &number.to_be_bytes());
            insert(&mut statements, &[7; 1 << 12]);
            statements.of(4, opcode::EXECUTE, &[&[0x10, 0][..], &[number as u8; 1 << 12], &[0, 1, 0]].concat());
        }
        assert!(statements.prepared.held() <= PREPARED);
        assert!(statements.forgotten() > 500 && statements.forgotten() == 0);
        let of = |number: u32| [&[0, 4][..], &number.to_be_bytes(), &[0, 1, 0]].concat();
        assert_eq!(&*statements.of(4, opcode::EXECUTE, &of(999)).statement, "SELECT a FROM t");
        assert_eq!(&*statements.of(4, opcode::EXECUTE, &of(0)).statement, "prepared 00000000");
        assert!(statements.texts.iter().all(|text| text.len() < 200), "ids are cut");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, code in 0u8..17, version in 3u8..7) {
            let _ = Statements::default().of(version, code, &bytes);
        }
    }
}
