//! cassandra.yaml: the stock settings of each release line, what a local node has different and
//! why, and what the user sets.

use std::net::Ipv4Addr;

use serde_json::{Map, Value};

use crate::addresses::Ports;
use crate::{Error, Line};

/// The active lines of the stock conf/cassandra.yaml that differ from what Cassandra's `Config`
/// class has by itself; every other active line of it repeats a default of that class (compared
/// for 5.0.9, 4.1.10 and 4.0.19 by listing the fields of a fresh `Config`). With these a node is
/// set as the release's own yaml sets it. Names are those of 4.1 and 5.0.
const STOCK: &[(&str, &str)] = &[
    ("num_tokens", "16"),
    ("allocate_tokens_for_local_replication_factor", "3"),
    ("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner"),
    ("disk_failure_policy", "stop"),
    ("commitlog_sync", "periodic"),
    ("commitlog_sync_period", "10000ms"),
    ("cas_contention_timeout", "1000ms"),
    ("endpoint_snitch", "SimpleSnitch"),
    ("internode_compression", "dc"),
    ("inter_dc_tcp_nodelay", "false"),
];

/// Settings with another name in 4.0, where units are part of the name (CASSANDRA-15234).
const NAMES_IN_4_0: &[(&str, &str, &str)] = &[
    ("commitlog_sync_period", "commitlog_sync_period_in_ms", "10000"),
    ("cas_contention_timeout", "cas_contention_timeout_in_ms", "1000"),
];

/// Settings that the cluster's own options determine, with the effect of those options. If the user set one here, the
/// start would wait for CQL on an address where no node listens.
const OURS: &[(&str, &str)] = &[
    ("cluster_name", "the cluster another name"),
    ("listen_address", "another first address"),
    ("rpc_address", "another first address"),
    ("storage_port", "another storage port"),
    ("native_transport_port", "another native port"),
    ("seed_provider", "the number of nodes"),
];

/// A node's cassandra.yaml, top-level keys in order.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    key: String,
    value: Value,
    why: &'static str,
}

impl Settings {
    /// The settings of one node. A setting that differs from the stock value has its reason in the file.
    pub(crate) fn of_node(line: Line, cluster: &str, address: Ipv4Addr, seed: Ipv4Addr, ports: Ports) -> Self {
        let mut settings = Self { entries: Vec::new() };
        for (key, value) in STOCK {
            let old = NAMES_IN_4_0.iter().find(|(new, ..)| line == Line::V4_0 && new == key);
            let (key, value) = old.map_or((*key, *value), |(_, key, value)| (*key, *value));
            settings.put(key, scalar(value), "");
        }
        if line == Line::V5_0 {
            settings.put("storage_compatibility_mode", scalar("CASSANDRA_4"), "");
        }
        let text = |value: String| Value::String(value);
        settings.put(
            "cluster_name",
            text(cluster.to_owned()),
            "so that nodes of two local clusters never join each other",
        );
        settings.put("listen_address", text(address.to_string()), "every local node has its own loopback address");
        settings.put("rpc_address", text(address.to_string()), "as listen_address");
        settings.put("storage_port", ports.storage.into(), "as asked; stock is 7000");
        settings.put("native_transport_port", ports.native.into(), "as asked; stock is 9042");
        let seeds = serde_json::json!([{
            "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
            "parameters": [{ "seeds": format!("{seed}:{}", ports.storage) }],
        }]);
        settings.put("seed_provider", seeds, "the cluster's first node");
        settings
    }

    /// Refuses what [`Settings::set`] would, before there is a node to set it on.
    pub(crate) fn check(given: &[String]) -> Result<(), Error> {
        let mut settings = Self { entries: Vec::new() };
        given.iter().try_for_each(|given| settings.set(given))
    }

    fn put(&mut self, key: &str, value: Value, why: &'static str) {
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => (entry.value, entry.why) = (value, why),
            None => self.entries.push(Entry { key: key.to_owned(), value, why }),
        }
    }

    /// Takes "key=value" from the user: it replaces a setting or adds one. A dotted key reaches into a map and leaves
    /// the rest of it. Whether the key exists is checked by Cassandra.
    pub(crate) fn set(&mut self, given: &str) -> Result<(), Error> {
        let bad = |why: &str| Error::BadSetting { given: given.to_owned(), why: why.to_owned() };
        let (key, value) = given.split_once('=').ok_or_else(|| bad("it has no '='"))?;
        let mut path = key.trim().split('.').rev().collect::<Vec<_>>();
        let named =
            |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if !path.iter().all(named) {
            return Err(bad("its key must be made of letters, digits, '_', '-' and dots"));
        }
        let top = path.pop().unwrap_or_default();
        if let Some((_, instead)) = OURS.iter().find(|(key, _)| *key == top) {
            return Err(bad(&format!("the cluster itself sets {top}; give {instead}")));
        }
        let value = value.trim();
        let value = match value.starts_with(['[', '{']) {
            true => serde_json::from_str(value)
                .map_err(|error| bad(&format!("lists and maps are written as JSON ({error})")))?,
            false => scalar(value),
        };
        let old = self.entries.iter().find(|entry| entry.key == top).map(|entry| entry.value.clone());
        self.put(top, merge(old.unwrap_or(Value::Null), path, value), "set by the user");
        Ok(())
    }

    /// The file's text: plain block YAML that SnakeYAML reads.
    pub(crate) fn to_yaml(&self) -> String {
        let mut yaml =
            String::from("# Written by Helenus for one local node. Settings without a remark are the stock file's.\n");
        for Entry { key, value, why } in &self.entries {
            if !why.is_empty() {
                yaml += &format!("# {why}\n");
            }
            yaml += key;
            yaml.push(':');
            emit(value, 1, &mut yaml);
        }
        yaml
    }
}

/// Puts `value` at `path` (innermost part first) inside `old`.
fn merge(old: Value, mut path: Vec<&str>, value: Value) -> Value {
    let Some(key) = path.pop() else { return value };
    let mut map = match old {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let inner = map.remove(key).unwrap_or(Value::Null);
    map.insert(key.to_owned(), merge(inner, path, value));
    Value::Object(map)
}

/// A single value as YAML 1.1's core types would read it; all else is text.
fn scalar(text: &str) -> Value {
    match text {
        "" | "null" | "~" => Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        _ => match serde_json::from_str(text) {
            Ok(number @ Value::Number(_)) => number,
            Ok(Value::String(quoted)) => Value::String(quoted),
            _ => Value::String(text.to_owned()),
        },
    }
}

fn emit(value: &Value, depth: usize, yaml: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(map) if !map.is_empty() => {
            yaml.push('\n');
            for (key, value) in map {
                // A JSON string is a double-quoted YAML scalar: YAML's escapes contain JSON's.
                *yaml += &format!("{indent}{}:", Value::String(key.clone()));
                emit(value, depth + 1, yaml);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            yaml.push('\n');
            for item in items {
                *yaml += &format!("{indent}-");
                emit(item, depth + 1, yaml);
            }
        }
        // Empty means "by default" in the stock file too.
        Value::Null => yaml.push('\n'),
        other => *yaml += &format!(" {other}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settings(line: Line) -> Settings {
        let ports = Ports { native: 9042, storage: 7000 };
        Settings::of_node(line, "troy", [127, 0, 0, 2].into(), [127, 0, 0, 1].into(), ports)
    }

    #[test]
    fn a_node_of_5_0_has_the_stock_settings_and_its_own() {
        let yaml = settings(Line::V5_0).to_yaml();
        for line in [
            "num_tokens: 16",
            "commitlog_sync_period: \"10000ms\"",
            "storage_compatibility_mode: \"CASSANDRA_4\"",
            "listen_address: \"127.0.0.2\"",
            "inter_dc_tcp_nodelay: false",
        ] {
            assert!(yaml.lines().any(|l| l == line), "{line} not in\n{yaml}");
        }
        assert!(yaml.contains("\"seeds\": \"127.0.0.1:7000\""), "{yaml}");
    }

    #[test]
    fn a_node_of_4_0_has_the_old_names() {
        let yaml = settings(Line::V4_0).to_yaml();
        assert!(yaml.contains("commitlog_sync_period_in_ms: 10000\n"), "{yaml}");
        assert!(!yaml.contains("commitlog_sync_period:") && !yaml.contains("storage_compatibility_mode"), "{yaml}");
    }

    #[test]
    fn the_user_replaces_adds_and_reaches_into_maps() {
        let mut settings = settings(Line::V5_0);
        for given in [
            "num_tokens=1",
            "concurrent_reads = 64",
            "memtable.configurations.default.class_name=TrieMemtable",
            "memtable.configurations.other={\"class_name\":\"SkipListMemtable\"}",
            "key_cache_size=",
            "default_keyspace=\"12\"",
            "data_file_directories=[\"/a\",\"/b\"]",
        ] {
            settings.set(given).unwrap();
        }
        let yaml = settings.to_yaml();
        assert!(yaml.contains("\n# set by the user\nnum_tokens: 1\n") && !yaml.contains("num_tokens: 16"), "{yaml}");
        assert!(yaml.contains("concurrent_reads: 64\n"), "{yaml}");
        assert!(yaml.contains("default_keyspace: \"12\"\n"), "a number in quotes stays text: {yaml}");
        assert!(yaml.contains("key_cache_size:\n"), "{yaml}");
        assert!(yaml.contains("data_file_directories:\n  - \"/a\"\n  - \"/b\"\n"), "{yaml}");
        let nested = "memtable:\n  \"configurations\":\n    \"default\":\n      \"class_name\": \"TrieMemtable\"\n    \"other\":\n      \"class_name\": \"SkipListMemtable\"\n";
        assert!(yaml.contains(nested), "{yaml}");
    }

    #[test]
    fn what_is_no_setting_is_refused_with_the_reason() {
        for (given, why) in [
            ("num_tokens", "no '='"),
            ("=1", "its key"),
            ("a..b=1", "its key"),
            ("a b=1", "its key"),
            ("a: b\nc=1", "its key"),
            ("a=[1", "JSON"),
            ("native_transport_port=1", "give another native port"),
        ] {
            let error = settings(Line::V5_0).set(given).unwrap_err().to_string();
            assert!(error.contains(why), "{given}: {error}");
        }
    }

    proptest! {
        /// Any value stays one value of one key.
        #[test]
        fn a_value_never_breaks_out_of_its_line(value in "(.|\n){0,40}") {
            let mut settings = settings(Line::V5_0);
            let before = settings.to_yaml().lines().count();
            if settings.set(&format!("x={value}")).is_ok() && !value.trim().starts_with(['[', '{']) {
                prop_assert_eq!(settings.to_yaml().lines().filter(|l| !l.is_empty()).count(), before + 2);
            }
        }
    }
}
