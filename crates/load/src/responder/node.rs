//! The responder's answers to the queries with which drivers read the cluster and its schema.

use super::metadata::{metadata, type_id};
use std::net::SocketAddr;

/// The columns of `SELECT *` from system.local, which Java drivers send.
const LOCAL: [&str; 13] = [
    "key",
    "broadcast_address",
    "cluster_name",
    "cql_version",
    "data_center",
    "host_id",
    "native_protocol_version",
    "partitioner",
    "rack",
    "release_version",
    "rpc_address",
    "schema_version",
    "tokens",
];

/// The answer to a query of the node, its peers or its schema: the responder is a single node without peers or tables.
pub(super) fn answer(address: SocketAddr, lower: &str) -> Vec<u8> {
    let columns = columns(lower);
    let local = lower.contains("system.local");
    let mut body = 2i32.to_be_bytes().to_vec();
    metadata(&mut body, "system", if local { "local" } else { "peers" }, &columns, None);
    body.extend(i32::from(local).to_be_bytes());
    for (name, _) in columns.iter().filter(|_| local) {
        let value = value(address, name);
        body.extend((value.len() as i32).to_be_bytes());
        body.extend(value);
    }
    body
}

/// A value of system.local.
fn value(address: SocketAddr, column: &str) -> Vec<u8> {
    match column {
        "host_id" | "schema_version" => vec![7; 16],
        "rpc_address" | "broadcast_address" | "listen_address" => match address.ip() {
            std::net::IpAddr::V4(ip) => ip.octets().to_vec(),
            std::net::IpAddr::V6(ip) => ip.octets().to_vec(),
        },
        "tokens" => [&1i32.to_be_bytes()[..], &1i32.to_be_bytes(), b"0"].concat(),
        "partitioner" => b"org.apache.cassandra.dht.Murmur3Partitioner".to_vec(),
        "release_version" => b"5.0.0".to_vec(),
        "data_center" => b"datacenter1".to_vec(),
        "rack" => b"rack1".to_vec(),
        "key" => b"local".to_vec(),
        "cql_version" => b"3.4.7".to_vec(),
        "native_protocol_version" => b"4".to_vec(),
        _ => b"responder".to_vec(),
    }
}

/// The columns that a statement (in lower case) selects, with their types.
pub(super) fn columns(lower: &str) -> Vec<(&str, Vec<u8>)> {
    selected(lower).into_iter().map(|name| (name, type_of(name))).collect()
}

/// The names between SELECT and FROM; `*` is replaced by the columns that it stands for.
fn selected(lower: &str) -> Vec<&str> {
    let names =
        lower.split_once("select ").and_then(|(_, rest)| rest.split_once(" from ")).map_or("", |(names, _)| names);
    match names.trim() {
        "*" => LOCAL.to_vec(),
        names => names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(),
    }
}

fn type_of(name: &str) -> Vec<u8> {
    let varchar = type_id("varchar");
    match name {
        "host_id" | "schema_version" => type_id("uuid"),
        "rpc_address" | "broadcast_address" | "listen_address" => type_id("inet"),
        "tokens" => [&0x22u16.to_be_bytes()[..], &varchar].concat(),
        "durable_writes" => type_id("boolean"),
        "position" => type_id("int"),
        "field_names" | "field_types" => [&0x20u16.to_be_bytes()[..], &varchar].concat(),
        "replication" => [&0x21u16.to_be_bytes()[..], &varchar, &varchar].concat(),
        _ => varchar,
    }
}
