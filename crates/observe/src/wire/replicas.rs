//! The ring as a node sees it: its partitioner, and whether the node is a replica of a partition, by the tokens of the
//! ring and the replication of the keyspace when the recording begins.
//!
//! Source: Apache Cassandra, `SimpleStrategy` and `NetworkTopologyStrategy.calculateNaturalReplicas`.

use crate::bounded::Kept;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The largest ring that is read.
const MOST_NODES: usize = 5_000;
const MOST_TOKENS: usize = 2_000_000;
const MOST_KEYSPACES: usize = 10_000;
const MOST_REPLICAS: usize = 1_000;
/// The longest row of a keyspace, and the longest name of a datacenter or a rack.
const LONGEST_KEYSPACE: usize = 8 << 10;
const LONGEST_NAME: usize = 256;
/// The most bytes for the replicas of keyspaces: a byte for each keyspace and each token of the ring.
const KNOWN: usize = 64 << 20;

/// A table to query, with each row as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RingTable {
    /// The node itself, from `system.local`.
    Own,
    /// The other nodes, from `system.peers_v2`.
    Peer,
    /// The keyspaces, from `system_schema.keyspaces`.
    Keyspace,
}

/// The ring as one node sees it.
#[derive(Debug)]
pub(super) struct Replicas {
    nodes: Vec<Place>,
    /// Tokens with their nodes; sorted when first used.
    tokens: Vec<(i64, u32)>,
    own: Option<u32>,
    partitioner: Option<String>,
    replication: HashMap<String, BTreeMap<String, String>>,
    /// By keyspace and index in the ring, whether the node itself is a replica. None if unknown.
    known: Kept<String, Option<Vec<bool>>>,
    /// Whether a row could not be parsed, or there were too many.
    is_incomplete: bool,
}

impl Default for Replicas {
    fn default() -> Replicas {
        Replicas {
            nodes: Vec::new(),
            tokens: Vec::new(),
            own: None,
            partitioner: None,
            replication: HashMap::new(),
            known: Kept::new(KNOWN),
            is_incomplete: false,
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Place {
    datacenter: String,
    rack: String,
}

#[derive(Deserialize)]
struct NodeRow {
    data_center: Option<String>,
    rack: Option<String>,
    tokens: Option<Vec<String>>,
    partitioner: Option<String>,
}

#[derive(Deserialize)]
struct KeyspaceRow {
    keyspace_name: String,
    replication: BTreeMap<String, String>,
}

impl RingTable {
    pub(super) const ALL: [RingTable; 3] = [RingTable::Own, RingTable::Peer, RingTable::Keyspace];

    /// Finds the source of a row by the name of its table.
    pub(super) fn by_name(name: &[u8]) -> Option<RingTable> {
        RingTable::ALL.into_iter().find(|table| table.name().as_bytes() == name)
    }

    fn name(self) -> &'static str {
        match self {
            RingTable::Own => "system.local",
            RingTable::Peer => "system.peers_v2",
            RingTable::Keyspace => "system_schema.keyspaces",
        }
    }

    /// The query for the rows of the table.
    pub(super) fn query(self) -> String {
        let columns = match self {
            RingTable::Own => "data_center, rack, tokens, partitioner",
            RingTable::Peer => "data_center, rack, tokens",
            RingTable::Keyspace => "keyspace_name, replication",
        };
        format!("SELECT JSON {columns} FROM {}", self.name())
    }
}

impl Replicas {
    /// Adds a row of one of the tables.
    pub(super) fn learn(&mut self, table: RingTable, json: &str) {
        let is_read = match table {
            RingTable::Keyspace => self.learn_keyspace(json),
            RingTable::Own | RingTable::Peer => self.learn_node(table, json),
        };
        self.is_incomplete |= is_read.is_none();
    }

    fn learn_node(&mut self, table: RingTable, json: &str) -> Option<()> {
        let row: NodeRow = serde_json::from_str(json).ok()?;
        if table == RingTable::Own {
            self.partitioner = row.partitioner;
        }
        let (Some(datacenter), Some(rack), Some(tokens)) = (row.data_center, row.rack, row.tokens) else {
            // A peer that is joining or leaving owns no part of the ring.
            return (table == RingTable::Peer).then_some(());
        };
        let node = u32::try_from(self.nodes.len()).ok()?;
        if datacenter.len().max(rack.len()) > LONGEST_NAME {
            return None;
        }
        if self.nodes.len() >= MOST_NODES || self.tokens.len() + tokens.len() > MOST_TOKENS {
            return None;
        }
        let tokens: Vec<(i64, u32)> =
            tokens.iter().map(|token| Some((token.parse().ok()?, node))).collect::<Option<_>>()?;
        self.nodes.push(Place { datacenter, rack });
        self.tokens.extend(tokens);
        self.tokens.sort_unstable();
        if table == RingTable::Own {
            self.own = Some(node);
        }
        Some(())
    }

    fn learn_keyspace(&mut self, json: &str) -> Option<()> {
        if json.len() > LONGEST_KEYSPACE {
            return None;
        }
        let row: KeyspaceRow = serde_json::from_str(json).ok()?;
        if self.replication.len() >= MOST_KEYSPACES {
            return None;
        }
        self.replication.insert(row.keyspace_name, row.replication);
        Some(())
    }

    /// The class of the node's partitioner; None if unknown.
    pub(super) fn partitioner(&self) -> Option<&str> {
        self.partitioner.as_deref()
    }

    /// Whether the node is a replica of a partition; None if that is not known.
    pub(super) fn has(&mut self, keyspace: &str, token: i64) -> Option<bool> {
        let at = self.tokens.partition_point(|(up_to, _)| *up_to < token);
        let at = if at < self.tokens.len() { at } else { 0 };
        if self.known.get(keyspace).is_none() {
            let replicas = self.all(keyspace);
            // Unknown keyspaces are not cached, because clients can make up any number of names.
            if !self.replication.contains_key(keyspace) {
                return None;
            }
            let bytes = keyspace.len() + replicas.as_ref().map_or(0, Vec::capacity);
            self.known.insert(keyspace.to_string(), replicas, bytes);
        }
        self.known.get(keyspace)?.as_ref()?.get(at).copied()
    }

    /// Computed for each token of the ring.
    fn all(&self, keyspace: &str) -> Option<Vec<bool>> {
        let own = self.own.filter(|_| !self.is_incomplete)?;
        let replication = self.replication.get(keyspace)?;
        let class = replication.get("class")?.rsplit('.').next()?;
        let factor = |text: &str| text.split('/').next()?.parse::<usize>().ok().filter(|count| *count <= MOST_REPLICAS);
        let places = 0..self.tokens.len();
        match class {
            "SimpleStrategy" => {
                let wanted = factor(replication.get("replication_factor")?)?;
                Some(places.map(|at| self.simple(at, wanted).contains(&own)).collect())
            }
            "NetworkTopologyStrategy" => {
                let datacenter = &self.nodes.get(own as usize)?.datacenter;
                // Each datacenter has replicas of its own.
                let wanted = replication.get(datacenter).map_or(Some(0), |text| factor(text))?;
                Some(places.map(|at| self.in_datacenter(at, datacenter, wanted).contains(&own)).collect())
            }
            _ => None,
        }
    }

    /// The nodes of the ring in order, from an index on; a node occurs once for each of its tokens.
    fn from(&self, at: usize) -> impl Iterator<Item = u32> + '_ {
        self.tokens[at..].iter().chain(&self.tokens[..at]).map(|(_, node)| *node)
    }

    fn simple(&self, at: usize, wanted: usize) -> Vec<u32> {
        let mut replicas = Vec::new();
        for node in self.from(at) {
            if replicas.len() >= wanted.min(self.nodes.len()) {
                break;
            }
            if !replicas.contains(&node) {
                replicas.push(node);
            }
        }
        replicas
    }

    /// Choose a node of each rack before a second one of any rack.
    fn in_datacenter(&self, at: usize, datacenter: &str, wanted: usize) -> Vec<u32> {
        let here = || self.nodes.iter().filter(|place| place.datacenter == datacenter);
        let racks = here().map(|place| &place.rack).collect::<HashSet<_>>().len();
        let (wanted, mut repeats) = (wanted.min(here().count()), wanted.saturating_sub(racks));
        let (mut replicas, mut racks) = (Vec::new(), HashSet::new());
        for node in self.from(at) {
            if replicas.len() >= wanted {
                break;
            }
            let place = &self.nodes[node as usize];
            if place.datacenter != datacenter || replicas.contains(&node) {
                continue;
            }
            if racks.insert(&place.rack) {
                replicas.push(node);
            } else if repeats > 0 {
                repeats -= 1;
                replicas.push(node);
            }
        }
        replicas
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(datacenter: &str, rack: &str, tokens: &[i64]) -> String {
        let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        serde_json::json!({"data_center": datacenter, "rack": rack, "tokens": tokens}).to_string()
    }

    fn keyspace(name: &str, replication: &serde_json::Value) -> String {
        serde_json::json!({"keyspace_name": name, "replication": replication}).to_string()
    }

    fn ring(own: &str, peers: &[String]) -> Replicas {
        let mut ring = Replicas::default();
        ring.learn(RingTable::Own, own);
        peers.iter().for_each(|peer| ring.learn(RingTable::Peer, peer));
        let class = |name: &str| format!("org.apache.cassandra.locator.{name}");
        for row in [
            keyspace("simple", &serde_json::json!({"class": class("SimpleStrategy"), "replication_factor": "2"})),
            keyspace(
                "topology",
                &serde_json::json!({"class": class("NetworkTopologyStrategy"), "dc1": "2", "dc2": "3/1"}),
            ),
            keyspace("elsewhere", &serde_json::json!({"class": class("NetworkTopologyStrategy"), "dc2": "1"})),
            keyspace("own", &serde_json::json!({"class": class("LocalStrategy")})),
        ] {
            ring.learn(RingTable::Keyspace, &row);
        }
        ring
    }

    #[test]
    fn simple_replicas_are_the_next_nodes_on_the_ring() {
        let mut ring = ring(&node("dc1", "r1", &[0, 300]), &[node("dc1", "r1", &[100]), node("dc2", "r1", &[200])]);
        let has = |ring: &mut Replicas, token| ring.has("simple", token).unwrap();
        // A token belongs to the range that ends at it; after the last token the ring wraps around.
        assert_eq!(
            [-5, 0, 1, 100, 101, 200, 201, 300, 301].map(|token| has(&mut ring, token)),
            [true, true, false, false, true, true, true, true, true]
        );
        assert_eq!(ring.has("elsewhere", 5), Some(false));
        assert_eq!((ring.has("own", 5), ring.has("made_up", 5)), (None, None));
    }

    #[test]
    fn replicas_of_a_datacenter_are_in_different_racks() {
        // In dc1 the order of the ring is a (r1), b (r1), c (r2).
        let peers = [node("dc1", "r1", &[0]), node("dc1", "r2", &[200]), node("dc2", "r1", &[50])];
        let mut of_b = ring(&node("dc1", "r1", &[100]), &peers);
        // From a on, the replicas are a and c, because b's rack already has a. From b on: b and c. From c on: c and a.
        assert_eq!(
            [0, 60, 150, 250].map(|token| of_b.has("topology", token)),
            [Some(false), Some(true), Some(false), Some(false)]
        );
    }

    #[test]
    fn a_ring_that_is_not_known_has_no_replicas() {
        let mut without_itself = Replicas::default();
        without_itself.learn(RingTable::Peer, &node("dc1", "r1", &[0]));
        assert_eq!(without_itself.has("simple", 1), None);
        let mut broken = ring(&node("dc1", "r1", &[0]), &["{".to_string()]);
        assert_eq!(broken.has("simple", 1), None);
        let mut leaving =
            ring(&node("dc1", "r1", &[0]), &["{\"data_center\": null, \"rack\": null, \"tokens\": null}".to_string()]);
        assert_eq!(leaving.has("simple", 1), Some(true));
    }
}
