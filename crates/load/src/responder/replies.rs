//! The responder's fixed answers to drivers' queries of the node, and to all other requests.

use super::metadata::{metadata, type_id};
use super::{Behaviour, node};
use helenus_cassandra::cql::frame::opcode;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

const HEADER_BYTES: usize = 9;

const VOID: [u8; 4] = [0, 0, 0, 1];
const SET_KEYSPACE: [u8; 4] = [0, 0, 0, 3];
const OVERLOADED: i32 = 0x1001;
const INVALID: i32 = 0x2200;
const UNPREPARED: i32 = 0x2500;

/// The answers, and the state needed for them.
pub(super) struct Replies {
    address: SocketAddr,
    /// Column types by table, in lower case.
    tables: HashMap<String, Vec<(String, String)>>,
    /// Statements by their id, and whether they are reads.
    prepared: HashMap<Vec<u8>, bool>,
    /// The text of prepared queries of the node's system tables, by their id.
    system: HashMap<Vec<u8>, String>,
    forgotten: HashSet<Vec<u8>>,
    was_forgetful: bool,
}

/// Summary of the answers to a client's bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Answered {
    /// Number of bytes in complete frames.
    pub bytes: usize,
    pub executed: u64,
    pub hang_up: bool,
}

impl Replies {
    pub fn new(address: SocketAddr) -> Replies {
        let (tables, prepared, forgotten) = (HashMap::new(), HashMap::new(), HashSet::new());
        Replies { address, tables, prepared, system: HashMap::new(), forgotten, was_forgetful: false }
    }

    /// Answers the complete frames at the start of the bytes.
    pub fn answer(&mut self, bytes: &[u8], behaviour: Behaviour, out: &mut Vec<u8>) -> Answered {
        if (behaviour == Behaviour::Forgetful) != self.was_forgetful {
            self.was_forgetful = !self.was_forgetful;
            self.forgotten = if self.was_forgetful { self.prepared.keys().cloned().collect() } else { HashSet::new() };
        }
        let mut answered = Answered::default();
        while let Some(([version, _, high, low, asked, length @ ..], rest)) =
            bytes[answered.bytes..].split_first_chunk::<HEADER_BYTES>()
        {
            let Some(body) = rest.get(..u32::from_be_bytes(*length) as usize) else { break };
            answered.bytes += HEADER_BYTES + body.len();
            let stream = [*high, *low];
            if *version != 4 {
                // The error of a node that does not support the requested version.
                error(out, stream, 0x000a, "Invalid or unsupported protocol version; highest supported is 4");
                continue;
            }
            if matches!(*asked, opcode::EXECUTE | opcode::BATCH) {
                let own = self.system.contains_key(id(body));
                answered.executed += u64::from(!own);
                // A driver that can't even read the list of nodes would test nothing, so these are always answered.
                match if own { Behaviour::AtOnce } else { behaviour } {
                    Behaviour::AtOnce | Behaviour::Forgetful | Behaviour::Stuck => {
                        self.execute(*asked, body, stream, out)
                    }
                    Behaviour::Overloaded => error(out, stream, OVERLOADED, "Request is shed"),
                    Behaviour::Silent => {}
                    Behaviour::Garbage => out.extend_from_slice(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
                    Behaviour::Hangup => answered.hang_up = true,
                }
                continue;
            }
            match *asked {
                opcode::OPTIONS => frame(out, stream, opcode::SUPPORTED, &[0, 0]),
                opcode::STARTUP | opcode::REGISTER => frame(out, stream, opcode::READY, &[]),
                opcode::QUERY if behaviour == Behaviour::Stuck && creates(text(body)) => {}
                opcode::QUERY => self.query(text(body), stream, out),
                opcode::PREPARE => self.prepare(text(body), stream, out),
                _ => error(out, stream, 0x000a, "not understood"),
            }
        }
        answered
    }

    fn execute(&mut self, asked: u8, body: &[u8], stream: [u8; 2], out: &mut Vec<u8>) {
        if asked == opcode::BATCH {
            return frame(out, stream, opcode::RESULT, &VOID);
        }
        let id = id(body);
        if !self.forgotten.is_empty() && self.forgotten.contains(id) {
            return error(out, stream, UNPREPARED, "Prepared query with that ID not found");
        }
        if let Some(asked) = self.system.get(id) {
            return frame(out, stream, opcode::RESULT, &node::answer(self.address, asked));
        }
        match self.prepared.get(id) {
            // A result of one row with one null.
            Some(true) => {
                let rows = [2, 4, 1, 1, -1i32];
                frame(out, stream, opcode::RESULT, &rows.map(i32::to_be_bytes).concat());
            }
            _ => frame(out, stream, opcode::RESULT, &VOID),
        }
    }

    fn query(&mut self, cql: &str, stream: [u8; 2], out: &mut Vec<u8>) {
        let lower = cql.to_lowercase();
        if let Some(definition) = lower.strip_prefix("create table ") {
            self.create_table(definition.strip_prefix("if not exists ").unwrap_or(definition));
        }
        if let Some(keyspace) = lower.strip_prefix("use ") {
            let keyspace = keyspace.trim_matches([' ', '"', ';']);
            let length = (keyspace.len() as u16).to_be_bytes();
            return frame(out, stream, opcode::RESULT, &[&SET_KEYSPACE[..], &length, keyspace.as_bytes()].concat());
        }
        if !lower.starts_with("select") {
            return frame(out, stream, opcode::RESULT, &VOID);
        }
        // Drivers query tables that only ScyllaDB has; they take the error as "this is Cassandra".
        if lower.contains("system.versions") {
            return error(out, stream, INVALID, "table versions does not exist");
        }
        frame(out, stream, opcode::RESULT, &node::answer(self.address, &lower));
    }

    fn create_table(&mut self, definition: &str) {
        let Some((name, columns)) = definition.split_once('(') else { return };
        let parts = split(columns);
        let typed = parts.iter().filter_map(|part| {
            let mut words = part.split_whitespace();
            Some((words.next()?.trim_matches('"').to_string(), words.next()?.to_string()))
        });
        let columns = typed.filter(|(name, _)| name != "primary").collect();
        self.tables.insert(name.trim().to_string(), columns);
    }

    fn prepare(&mut self, cql: &str, stream: [u8; 2], out: &mut Vec<u8>) {
        let lower = cql.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let reads = words.first() == Some(&"select");
        let at = words.iter().position(|word| matches!(*word, "into" | "from" | "update")).unwrap_or(0);
        let table = words.get(at + 1).map_or("", |word| word.split('(').next().unwrap_or_default());
        let known = self.tables.get(table).map_or(&[][..], Vec::as_slice);
        let typed = |name: &str| {
            let declared = known.iter().find(|(column, _)| column == name).map_or("blob", |(_, declared)| declared);
            type_id(declared)
        };
        let names = markers(&lower);
        let columns: Vec<(&str, Vec<u8>)> = names.iter().map(|name| (name.as_str(), typed(name))).collect();
        let id: Vec<u8> = lower.bytes().fold([0u8; 16], spread).to_vec();
        self.prepared.insert(id.clone(), reads);
        let of_node = reads && table.starts_with("system");
        if of_node {
            self.system.insert(id.clone(), lower.clone());
        }
        self.forgotten.remove(&id);
        let mut body = 4i32.to_be_bytes().to_vec();
        body.extend((id.len() as u16).to_be_bytes());
        body.extend(id);
        let (keyspace, table) = table.split_once('.').unwrap_or(("k", table));
        metadata(&mut body, keyspace, table, &columns, Some(u16::from(!columns.is_empty())));
        if of_node {
            metadata(&mut body, keyspace, table, &node::columns(&lower), None);
        } else if reads {
            metadata(&mut body, keyspace, table, &[("value", type_id("blob"))], None);
        } else {
            body.extend([0i32, 0].map(i32::to_be_bytes).concat());
        }
        frame(out, stream, opcode::RESULT, &body);
    }
}

/// The id of the statement in the body of an EXECUTE.
fn id(body: &[u8]) -> &[u8] {
    body.get(2..2 + usize::from(body.get(1).copied().unwrap_or(0))).unwrap_or(&[])
}

/// A simple hash; the statements of a test are few and have distinct hashes.
fn spread(mut id: [u8; 16], byte: u8) -> [u8; 16] {
    let number = u128::from_be_bytes(id).wrapping_mul(0x0100_0000_01b3).wrapping_add(u128::from(byte) + 1);
    id = number.rotate_left(5).to_be_bytes();
    id
}

fn frame(out: &mut Vec<u8>, stream: [u8; 2], answer: u8, body: &[u8]) {
    out.extend_from_slice(&[0x84, 0, stream[0], stream[1], answer]);
    out.extend_from_slice(&(body.len() as u32).to_be_bytes());
    out.extend_from_slice(body);
}

fn error(out: &mut Vec<u8>, stream: [u8; 2], code: i32, message: &str) {
    let mut body = code.to_be_bytes().to_vec();
    body.extend((message.len() as u16).to_be_bytes());
    body.extend(message.as_bytes());
    if code == UNPREPARED {
        body.extend([0, 0]);
    }
    frame(out, stream, opcode::ERROR, &body);
}

/// The [long string] at the start of a body.
fn text(body: &[u8]) -> &str {
    let Some((length, rest)) = body.split_first_chunk::<4>() else { return "" };
    let bytes = rest.get(..u32::from_be_bytes(*length) as usize).unwrap_or(rest);
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// The name of each bind marker: its own, or that of its column.
fn markers(lower: &str) -> Vec<String> {
    let columns = lower.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(columns, _)| columns);
    let inserts = lower.starts_with("insert");
    let mut inserted = columns.split(',').map(|name| name.trim().trim_matches('"').to_string());
    let mut found = Vec::new();
    for (at, character) in lower.char_indices() {
        let after = &lower[at + character.len_utf8()..];
        let own: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        match character {
            '?' if inserts => found.push(inserted.next().unwrap_or_default()),
            '?' => {
                let before = lower[..at].trim_end_matches([' ', '=', '<', '>', '(']);
                found.push(before.rsplit([' ', '(']).next().unwrap_or_default().to_string());
            }
            ':' if !own.is_empty() => found.push(own),
            _ => {}
        }
    }
    found
}

/// Splits a text at commas, up to the closing bracket; inner brackets are not split.
fn split(text: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for character in text.chars() {
        match character {
            '(' | '<' => depth += 1,
            ')' if depth == 0 => break,
            ')' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(character);
        }
    }
    parts
}

/// Whether a statement creates something.
fn creates(cql: &str) -> bool {
    cql.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("create"))
}
