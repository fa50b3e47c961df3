//! Checks the responder's answers to the drivers of other load generators, byte by byte.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use helenus_load::responder::Responder;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

const ERROR: u8 = 0x00;
const QUERY: u8 = 0x07;
const RESULT: u8 = 0x08;
const PREPARE: u8 = 0x09;
const EXECUTE: u8 = 0x0a;
const LOCAL: &str = "SELECT * FROM system.local WHERE key='local'";

fn responder(last: u8) -> Responder {
    Responder::start(SocketAddr::from((Ipv4Addr::new(127, 0, 23, last), 0))).unwrap()
}

/// The opcode and the body of the responder's answer.
fn ask(node: &mut TcpStream, opcode: u8, body: &[u8]) -> (u8, Vec<u8>) {
    node.write_all(&[&[4, 0, 0, 3, opcode][..], &(body.len() as u32).to_be_bytes(), body].concat()).unwrap();
    let mut header = [0; 9];
    node.read_exact(&mut header).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(*header.last_chunk().unwrap()) as usize];
    node.read_exact(&mut answer).unwrap();
    (header[4], answer)
}

fn long(cql: &str) -> Vec<u8> {
    [&(cql.len() as u32).to_be_bytes()[..], cql.as_bytes()].concat()
}

fn query(node: &mut TcpStream, cql: &str) -> (u8, Vec<u8>) {
    ask(node, QUERY, &[&long(cql)[..], &[0, 1, 0]].concat())
}

#[test]
fn the_node_is_told_of_alike_to_a_query_and_to_a_prepared_statement() {
    let responder = responder(1);
    let mut node = TcpStream::connect(responder.address()).unwrap();
    let (kind, queried) = query(&mut node, LOCAL);
    let (_, prepared) = ask(&mut node, PREPARE, &long(LOCAL));
    // The id, with its length, follows the kind of the result.
    let (_, executed) = ask(&mut node, EXECUTE, &[&prepared[4..22], &[0, 1, 0]].concat());

    assert_eq!(kind, RESULT);
    assert_eq!(queried, executed);
    for text in ["cluster_name", "datacenter1", "org.apache.cassandra.dht.Murmur3Partitioner"] {
        assert!(queried.windows(text.len()).any(|bytes| bytes == text.as_bytes()), "{text}");
    }
    assert_eq!(responder.executed(), 0);
}

#[test]
fn a_keyspace_that_is_used_is_told_back() {
    let responder = responder(2);
    let mut node = TcpStream::connect(responder.address()).unwrap();
    let answer = query(&mut node, "USE \"stress\"");
    assert_eq!(answer, (RESULT, [&[0, 0, 0, 3, 0, 6][..], b"stress"].concat()));
}

#[test]
fn what_only_scylladb_has_is_not_there() {
    let responder = responder(3);
    let mut node = TcpStream::connect(responder.address()).unwrap();
    assert_eq!(query(&mut node, "SELECT version, build_id FROM system.versions").0, ERROR);
}
