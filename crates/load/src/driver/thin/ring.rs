//! The nodes of the ring, and the replicas of each partition.

use scylla::cluster::ClusterState;
use scylla::routing::partitioner::{Murmur3Partitioner, Partitioner, PartitionerHasher};
use scylla::statement::prepared::PreparedStatement;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A table of a keyspace.
pub(super) type TableName = (String, String);

/// Tokens in ascending order, each with the replicas of the range that ends at it.
type Replicas = Vec<(i64, Vec<u16>)>;

/// The state of the ring at one time. The numbers of nodes do not change between states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ring {
    pub nodes: Vec<SocketAddr>,
    /// Replicas of each requested table.
    tables: Vec<(TableName, Replicas)>,
}

impl Ring {
    /// The ring as the driver crate knows it. `before` determines the numbers of known nodes.
    pub fn of(state: &ClusterState, tables: &[TableName], before: &Ring) -> Ring {
        let mut nodes = before.nodes.clone();
        // Nodes that are disabled in the driver crate get no requests.
        let driven = state.get_nodes_info().iter().filter(|node| node.is_enabled());
        let present: Vec<SocketAddr> =
            driven.map(|node| SocketAddr::new(node.address.ip(), node.address.port())).collect();
        nodes.extend(present.iter().filter(|address| !before.nodes.contains(address)));
        let number = |address: SocketAddr| nodes.iter().position(|known| *known == address).map(|at| at as u16);
        let replicas = |table: &TableName| -> Replicas {
            let tokens = state.replica_locator().ring().iter().map(|(token, _)| *token);
            tokens
                .map(|token| {
                    let of = state.get_token_endpoints(&table.0, &table.1, token);
                    let addresses = of.iter().map(|(node, _)| SocketAddr::new(node.address.ip(), node.address.port()));
                    (token.value(), addresses.filter_map(number).collect())
                })
                .collect()
        };
        // With one node there is nothing to choose.
        let tables = match present.len() {
            0 | 1 => Vec::new(),
            _ => tables.iter().map(|table| (table.clone(), replicas(table))).collect(),
        };
        Ring { nodes, tables }
    }

    /// The index of a table's replicas; None if any node will do.
    pub fn table(&self, name: &TableName) -> Option<usize> {
        self.tables.iter().position(|(known, replicas)| known == name && !replicas.is_empty())
    }

    /// The replicas of a token, for a table given by its index.
    pub fn replicas(&self, table: usize, token: i64) -> &[u16] {
        let Some((_, ring)) = self.tables.get(table) else { return &[] };
        let at = ring.partition_point(|(up_to, _)| *up_to < token);
        // The ring wraps around: the first token follows the last.
        ring.get(at).or(ring.first()).map_or(&[], |(_, nodes)| nodes)
    }
}

/// The current ring, shared by all threads.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared {
    ring: Arc<Mutex<Arc<Ring>>>,
    version: Arc<AtomicU64>,
}

impl Shared {
    pub fn set(&self, ring: Ring) {
        *self.ring.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(ring);
        self.version.fetch_add(1, Ordering::Release);
    }

    pub fn get(&self) -> Arc<Ring> {
        Arc::clone(&self.ring.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A number that changes whenever the ring changes.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }
}

/// Indices of the partition key's columns among a statement's values, in the order of the key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PartitionKey {
    positions: Vec<usize>,
}

impl PartitionKey {
    pub fn of(prepared: &PreparedStatement) -> PartitionKey {
        let mut columns: Vec<(u16, u16)> =
            prepared.get_variable_pk_indexes().iter().map(|index| (index.sequence, index.index)).collect();
        columns.sort_unstable();
        PartitionKey { positions: columns.into_iter().map(|(_, position)| usize::from(position)).collect() }
    }

    /// The token of encoded values, each a length and its bytes; None if the key is not among them.
    pub fn token(&self, values: &[u8]) -> Option<i64> {
        let mut hasher = Murmur3Partitioner.build_hasher();
        match self.positions[..] {
            [] => return None,
            [position] => hasher.write(value(values, position)?),
            _ => {
                for position in &self.positions {
                    let part = value(values, *position)?;
                    hasher.write(&u16::try_from(part.len()).ok()?.to_be_bytes());
                    hasher.write(part);
                    hasher.write(&[0]);
                }
            }
        }
        Some(hasher.finish().value())
    }
}

fn value(mut values: &[u8], position: usize) -> Option<&[u8]> {
    for place in 0..=position {
        let (length, rest) = values.split_first_chunk::<4>()?;
        let length = usize::try_from(i32::from_be_bytes(*length)).ok();
        let (value, rest) = rest.split_at_checked(length.unwrap_or(0))?;
        if place == position {
            // A null value is no valid key.
            return length.map(|_| value);
        }
        values = rest;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(values: &[&[u8]]) -> Vec<u8> {
        values.iter().flat_map(|value| [&(value.len() as i32).to_be_bytes()[..], value].concat()).collect()
    }

    #[test]
    fn a_token_belongs_to_the_next_on_the_ring_and_after_the_last_to_the_first() {
        let name = ("k".to_string(), "t".to_string());
        let replicas = vec![(-100, vec![0]), (0, vec![1]), (100, vec![2, 0])];
        let ring = Ring { nodes: Vec::new(), tables: vec![(name.clone(), replicas)] };
        let table = ring.table(&name).unwrap();
        let nodes: Vec<&[u16]> =
            [-500, -100, -99, 100, 101].map(|token| ring.replicas(table, token)).into_iter().collect();
        assert_eq!(nodes, [&[0][..], &[0], &[1], &[2, 0], &[0]]);
        assert_eq!(ring.table(&("k".to_string(), "other".to_string())), None);
    }

    #[test]
    fn a_partition_key_is_found_among_the_values() {
        let values = encoded(&[b"value", b"key", b""]);
        let single = PartitionKey { positions: vec![1] };
        // Expected value from cqlsh: SELECT token(key) for the text 'key'.
        assert_eq!(single.token(&values), PartitionKey { positions: vec![0] }.token(&encoded(&[b"key"])));
        let composite = PartitionKey { positions: vec![1, 0] };
        assert_ne!(composite.token(&values), single.token(&values));
        assert_eq!(PartitionKey { positions: vec![7] }.token(&values), None);
        assert_eq!(PartitionKey::default().token(&values), None);
    }
}
