//! Nodes whose answers would take memory or stack without end. A verification ends with an error that says why.

use super::{Kind, Verified, Verify, verify};
use crate::{Cancel, Error, Workload};
use helenus_cassandra::cql::frame::opcode;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// A frame that a hostile node sends, whatever its header announces.
type Answer = fn(opcode: u8, request: &[u8]) -> Option<Vec<u8>>;

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat()
}

fn frame(opcode: u8, announced: u32, body: &[u8]) -> Vec<u8> {
    [&[0x84, 0, 0, 0, opcode][..], &announced.to_be_bytes(), body].concat()
}

fn result(body: &[u8]) -> Vec<u8> {
    frame(opcode::RESULT, body.len() as u32, body)
}

fn ints(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn columns(columns: &[(&str, &[u8])]) -> Vec<u8> {
    let each = columns.iter().flat_map(|(name, of)| [string(name), of.to_vec()].concat());
    [string("helenus"), string("keyvalue")].concat().into_iter().chain(each).collect()
}

const BIGINT: &[u8] = &[0, 2];
const BLOB: &[u8] = &[0, 3];

/// An answer to PREPARE; `of` are the columns of the rows.
fn prepared(is_read: bool, of: &[u8]) -> Vec<u8> {
    let markers: &[(&str, &[u8])] = if is_read { &[("key", BIGINT)] } else { &[("key", BIGINT), ("value", BLOB)] };
    let head = [ints(&[4]), string("id"), ints(&[1, markers.len() as i32, 1]), vec![0, 0], columns(markers)].concat();
    let rows = if is_read { [ints(&[1, 1]), of.to_vec()].concat() } else { ints(&[4, 0]) };
    result(&[head, rows].concat())
}

/// The answer of an honest node.
fn honest(asked: u8, request: &[u8]) -> Vec<u8> {
    match asked {
        opcode::OPTIONS => frame(opcode::SUPPORTED, 2, &[0, 0]),
        opcode::STARTUP => frame(opcode::READY, 0, &[]),
        opcode::PREPARE => prepared(request[4..].starts_with(b"SELECT"), &columns(&[("value", BLOB)])),
        _ => result(&ints(&[1])),
    }
}

fn serve(mut stream: TcpStream, hostile: Answer) {
    let mut header = [0; 9];
    while stream.read_exact(&mut header).is_ok() {
        let mut request = vec![0; u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize];
        if stream.read_exact(&mut request).is_err() {
            return;
        }
        let answer = hostile(header[4], &request).unwrap_or_else(|| honest(header[4], &request));
        // The other side may have gone.
        let _ = stream.write_all(&answer);
    }
}

fn verified(hostile: Answer) -> Result<Verified, Error> {
    let listener = TcpListener::bind("127.0.21.17:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || serve(stream, hostile));
        }
    });
    let mut order = Verify::new(Workload::open("keyvalue").unwrap(), vec![address]);
    (order.populated, order.in_flight) = (Some(40), 4);
    order.request_timeout = Duration::from_secs(60);
    verify(&order, &Cancel::new(), &mut |_| {})
}

fn rows(count: i32, of: &[u8]) -> Vec<u8> {
    result(&[ints(&[2, 1, count]), of.to_vec(), vec![0; 64]].concat())
}

#[test]
fn an_honest_node_without_rows_lacks_them_all() {
    let verified = verified(|_, _| None).unwrap();
    assert_eq!((verified.checked, verified.missing, verified.unreadable), (40, 40, 0));
}

#[test]
fn hostile_answers_to_the_set_up_end_it_with_a_reason() {
    const HUGE: u32 = i32::MAX as u32;
    let cases: [(Answer, &str); 6] = [
        (|asked, _| (asked == opcode::OPTIONS).then(|| frame(opcode::SUPPORTED, HUGE, &[])), "64 MiB"),
        (|asked, _| (asked == opcode::PREPARE).then(|| frame(opcode::RESULT, HUGE, &[0; 64])), "64 MiB"),
        (|asked, _| (asked == opcode::QUERY).then(|| frame(opcode::RESULT, HUGE, &[0; 64])), "64 MiB"),
        (|asked, _| (asked == opcode::QUERY).then(|| rows(i32::MAX, &columns(&[]))), "more than 65,536 columns"),
        (
            |asked, request| {
                let nested = [0, 0x20].repeat(1 << 20);
                let is_read = request.get(4..).is_some_and(|cql| cql.starts_with(b"SELECT"));
                (asked == opcode::PREPARE).then(|| prepared(is_read, &columns(&[("value", &nested)])))
            },
            "a type nests too deep",
        ),
        (
            |asked, _| {
                let count = [ints(&[4]), string("id"), ints(&[1, i32::MAX, 0]), columns(&[]), vec![0; 64]].concat();
                (asked == opcode::PREPARE).then(|| result(&count))
            },
            "more than 65,536 columns",
        ),
    ];
    for (hostile, reason) in cases {
        let error = verified(hostile).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn rows_with_hostile_answers_are_unreadable() {
    let cases: [(Answer, &str); 4] = [
        (|asked, _| (asked == opcode::EXECUTE).then(|| frame(opcode::RESULT, 32 << 20, &[0; 64])), "a larger frame"),
        (|asked, _| (asked == opcode::EXECUTE).then(|| rows(i32::MAX, &columns(&[]))), "more than 65,536 columns"),
        (
            |asked, _| {
                (asked == opcode::EXECUTE).then(|| rows(1, &columns(&[("value", &[0, 0x31, 255, 255].repeat(99))])))
            },
            "a type nests too deep",
        ),
        (|asked, _| (asked == opcode::EXECUTE).then(|| rows(1, &columns(&[("value", BLOB)]))), ""),
    ];
    for (hostile, reason) in cases {
        let verified = verified(hostile).unwrap();
        if reason.is_empty() {
            // No row at all.
            assert_eq!(verified.missing, 40);
            continue;
        }
        assert_eq!((verified.checked, verified.unreadable), (40, 40), "{reason}");
        let examples = verified.examples.iter().filter(|example| example.kind == Kind::Unreadable);
        assert!(
            examples.clone().count() == 5 && examples.clone().all(|one| one.detail.contains(reason)),
            "{verified:?}"
        );
    }
}
