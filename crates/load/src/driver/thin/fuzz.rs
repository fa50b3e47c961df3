//! Fuzz tests with the answers of a broken or hostile node: valid frames are damaged in a few places and parsed, some
//! ten thousand times. No bytes may make a parser panic, or allocate more memory than they fill.
//!
//! Each case follows from its number, which a failure prints. `HELENUS_FUZZ_CASES` sets a larger number of cases.

use super::frame::{Answer, Framing, Prepared, authenticator, error};
use super::inbox::{Inbox, Received};
use crate::access::Protocol;
use helenus_cassandra::cql::frame::opcode;
use helenus_cassandra::cql::{Channel, Compression, Connection, Credentials};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::time::Duration;

const CASES: u64 = 12_000;

const FRAMINGS: [Framing; 5] = [
    Framing { protocol: Protocol::V4, compression: None },
    Framing { protocol: Protocol::V4, compression: Some(Compression::Lz4) },
    Framing { protocol: Protocol::V4, compression: Some(Compression::Snappy) },
    Framing { protocol: Protocol::V5, compression: None },
    Framing { protocol: Protocol::V5, compression: Some(Compression::Lz4) },
];

fn cases() -> u64 {
    std::env::var("HELENUS_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat()
}

fn bytes(value: &[u8]) -> Vec<u8> {
    [&(value.len() as i32).to_be_bytes()[..], value].concat()
}

fn ints(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// Rows of one table: columns with their types and one value each, in two rows.
fn rows(columns: &[(&str, Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    const GLOBAL_TABLE: i32 = 1;
    const MORE_PAGES: i32 = 2;
    let mut body = ints(&[2, GLOBAL_TABLE | MORE_PAGES, columns.len() as i32]);
    body.extend([bytes(b"page"), string("system"), string("local")].concat());
    columns.iter().for_each(|(name, of, _)| body.extend([string(name), of.clone()].concat()));
    body.extend(ints(&[2]));
    (0..2).for_each(|_| columns.iter().for_each(|(.., value)| body.extend(bytes(value))));
    body
}

fn prepared(protocol: Protocol) -> Vec<u8> {
    let mut body = [ints(&[4]), string("id")].concat();
    if protocol == Protocol::V5 {
        body.extend(string("metadata"));
    }
    body.extend(ints(&[1, 1, 1]));
    body.extend([vec![0, 0], string("ks"), string("t"), string("k"), vec![0, 0x0d]].concat());
    body.extend(ints(&[4, 0]));
    body
}

/// The answer to a query of system.local, with the types of its columns.
fn local() -> Vec<u8> {
    let text = |name| (name, vec![0, 0x0d], b"text".to_vec());
    rows(&[
        text("release_version"),
        text("cluster_name"),
        ("host_id", vec![0, 0x0c], vec![7; 16]),
        text("data_center"),
        ("native_address", vec![0, 0x10], vec![127, 0, 0, 1]),
        ("native_port", vec![0, 9], ints(&[9042])),
    ])
}

/// Opcodes and bodies that a node may answer with.
fn answers(protocol: Protocol) -> Vec<(u8, Vec<u8>)> {
    let nested = [
        &[0, 0x20, 0, 0x21, 0, 0x0d, 0, 0x31, 0, 2, 0, 9, 0, 0x30][..],
        &string("ks"),
        &string("udt"),
        &[0, 1],
        &string("field"),
        &[0, 0x22, 0, 0x0b],
    ];
    let list = [ints(&[1]), bytes(&[ints(&[1]), bytes(b"key"), bytes(b"tuple")].concat())].concat();
    let error =
        |code: i32| [ints(&[code]), string("no"), vec![0, 1, 0, 0, 0, 1, 0, 0, 0, 2], string("SIMPLE")].concat();
    let mut answers = vec![
        (opcode::RESULT, ints(&[1])),
        (opcode::RESULT, [ints(&[3]), string("ks")].concat()),
        (opcode::RESULT, rows(&[("nested", nested.concat(), list), ("plain", vec![0, 2], vec![0; 8])])),
        (opcode::RESULT, local()),
        (opcode::RESULT, prepared(protocol)),
        (opcode::RESULT, [ints(&[5]), string("CREATED"), string("TABLE"), string("ks"), string("t")].concat()),
        (opcode::READY, Vec::new()),
        (opcode::AUTHENTICATE, string("org.apache.cassandra.auth.PasswordAuthenticator")),
        (opcode::AUTH_SUCCESS, bytes(b"token")),
        (opcode::SUPPORTED, [vec![0, 1], string("CQL_VERSION"), vec![0, 1], string("3.4.7")].concat()),
        (opcode::EVENT, [string("STATUS_CHANGE"), string("UP"), vec![4, 127, 0, 0, 1, 0, 0, 0x23, 0x52]].concat()),
    ];
    let codes = [0x0000, 0x0100, 0x1000, 0x1001, 0x1100, 0x1200, 0x1300, 0x1500, 0x2200, 0x2400, 0x2500];
    answers.extend(codes.map(|code| (opcode::ERROR, error(code))));
    answers
}

/// A frame with the optional fields that its flags announce, compressed if that was agreed.
fn frame((opcode, body): &(u8, Vec<u8>), framing: Framing, random: &mut StdRng) -> Vec<u8> {
    let mut flags = [0, 0, 0x02, 0x08, 0x0c][random.random_range(0..5usize)];
    let mut whole = Vec::new();
    if flags & 0x02 != 0 {
        whole.extend([9; 16]);
    }
    if flags & 0x08 != 0 {
        whole.extend([vec![0, 1], string("warning")].concat());
    }
    if flags & 0x04 != 0 {
        whole.extend([vec![0, 1], string("payload"), bytes(b"value")].concat());
    }
    whole.extend(body);
    if let Some(compression) = framing.of_bodies() {
        whole = compression.compress_body(&whole);
        flags |= 0x01;
    }
    let version = if framing.protocol == Protocol::V5 { 0x85 } else { 0x84 };
    [&[version, flags, 0, 3, *opcode][..], &(whole.len() as u32).to_be_bytes(), &whole].concat()
}

/// Damages bytes in one to four places.
fn damage(bytes: &mut Vec<u8>, random: &mut StdRng) {
    const EXTREMES: [u32; 9] = [0, 1, 0x7f, 0xff, 0xffff, 0x10_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
    for _ in 0..random.random_range(1..5) {
        if bytes.is_empty() {
            return;
        }
        let at = random.random_range(0..bytes.len());
        let to = (at + random.random_range(1..12usize)).min(bytes.len());
        match random.random_range(0..7) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => {
                let extreme = EXTREMES[random.random_range(0..EXTREMES.len())].to_be_bytes();
                let width = if random.random() { 2 } else { 4 };
                bytes.iter_mut().skip(at).zip(&extreme[4 - width..]).for_each(|(byte, new)| *byte = *new);
            }
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..to)),
            5 => {
                let again = bytes[at..to].to_vec();
                bytes.splice(at..at, again);
            }
            _ => {
                drop(bytes.splice(at..to, (0..random.random_range(0..8)).map(|_| random.random()).collect::<Vec<u8>>()))
            }
        }
    }
}

/// Frames as they arrive, damaged before or after they are sealed into segments.
fn stream(framing: Framing, random: &mut StdRng) -> Vec<u8> {
    let answers = answers(framing.protocol);
    let mut wire = Vec::new();
    for _ in 0..random.random_range(1..4) {
        wire.extend(frame(&answers[random.random_range(0..answers.len())], framing, random));
    }
    let first: bool = random.random();
    if first {
        damage(&mut wire, random);
    }
    if let Some(packing) = framing.of_segments() {
        let mut segments = Vec::new();
        packing.seal(&wire, &mut segments);
        wire = segments;
    }
    if !first {
        damage(&mut wire, random);
    }
    wire
}

#[test]
fn damaged_answers_are_read_or_refused() {
    for case in 0..cases() {
        let mut random = StdRng::seed_from_u64(case);
        let framing = FRAMINGS[(case % FRAMINGS.len() as u64) as usize];
        let wire = stream(framing, &mut random);
        let read = std::panic::catch_unwind(|| read_all(&wire, framing));
        assert!(read.is_ok(), "case {case}: {framing:?} {wire:02x?}");
    }
}

fn read_all(wire: &[u8], framing: Framing) {
    let mut inbox = Inbox::new(framing);
    if framing.of_segments().is_some() {
        inbox.begin_segments();
    }
    let mut from = wire;
    while matches!(inbox.receive(&mut from), Ok(Received::Bytes { .. })) {
        loop {
            match inbox.next() {
                Ok(None) => break,
                Err(_) => return,
                Ok(Some((header, message))) => {
                    let _ = Answer::read(header.opcode, message);
                    let _ = Prepared::read(message, framing.protocol);
                    let _ = (authenticator(message), error(message));
                }
            }
        }
        assert!(inbox.room_bytes() <= (2 * wire.len()).max(Inbox::ROOM_BYTES), "{} bytes", inbox.room_bytes());
    }
}

/// A node's fixed answer to any request.
struct FixedAnswer(io::Cursor<Vec<u8>>);

impl Read for FixedAnswer {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl Write for FixedAnswer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_client_that_asks_one_thing_at_a_time_reads_or_refuses_them_too() {
    const FRAMING: Framing = FRAMINGS[0];
    let listener = TcpListener::bind("127.0.21.15:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answers = answers(Protocol::V4);
    let credentials = Credentials { user: "u".to_string(), password: "p".to_string() };
    let answer = |wanted: u8| answers.iter().rfind(|(opcode, _)| *opcode == wanted).unwrap();
    let rows = (opcode::RESULT, local());
    for case in 0..cases() / 12 {
        let mut random = StdRng::seed_from_u64(case);
        let greeting = if random.random() {
            vec![answer(opcode::READY)]
        } else {
            vec![answer(opcode::AUTHENTICATE), answer(opcode::AUTH_SUCCESS)]
        };
        let whole = [vec![answer(opcode::SUPPORTED)], greeting, vec![&rows, &rows, &answers[4]]].concat();
        let mut answers: Vec<Vec<u8>> = whole.into_iter().map(|answer| frame(answer, FRAMING, &mut random)).collect();
        let damaged = random.random_range(0..answers.len());
        damage(&mut answers[damaged], &mut random);
        let answers = answers.concat();
        let asked = std::panic::catch_unwind(|| {
            let channel = |_| Ok(Box::new(FixedAnswer(io::Cursor::new(answers.clone()))) as Box<dyn Channel>);
            let opened = Connection::open_over(address, Duration::from_secs(5), Some(&credentials), &channel);
            let _ = opened.and_then(|mut connection| {
                connection.identify()?;
                connection.prepare("SELECT")
            });
        });
        assert!(asked.is_ok(), "case {case}: {answers:02x?}");
        let _ = listener.accept();
    }
}
