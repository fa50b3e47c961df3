//! A change of a node's setting, as the journal stores it.

use super::{Measured, Setting, Tuning};
use helenus_cassandra::journal::Journaled;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// A change of one setting of one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub id: String,
    /// The node's name in the command that made the change.
    pub node: String,
    /// The node's process. The change does not survive the process.
    pub pid: i32,
    pub start_ticks: u64,
    pub host_id: Option<String>,
    #[serde(flatten)]
    pub setting: Setting,
    pub before: Value,
    /// The value in the schema before the change.
    pub schema: Option<Value>,
    pub wanted: Value,
    /// The value that the node reports after the change; None until the node has confirmed it.
    pub set: Option<Value>,
    /// Time of the change, since the Unix epoch.
    pub made_ms: u64,
    /// Length of the lease; 0 for none.
    pub lease_ms: u64,
    /// When the lease was last renewed, in ms since the Unix epoch; None if it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewed_ms: Option<u64>,
    /// The figures before the change by node, if they will be compared.
    #[serde(default)]
    pub figures: BTreeMap<String, Measured>,
}

impl Entry {
    pub(super) fn new(node: &str, (pid, start_ticks): (i32, u64), setting: Setting, wanted: Value) -> Entry {
        let made_ms = now_ms();
        Entry {
            // The id is unique, because each entry waits for the disk, so a process makes at most one in a millisecond.
            id: format!("{made_ms}-{}", std::process::id()),
            node: node.to_string(),
            pid,
            start_ticks,
            host_id: None,
            setting,
            before: Value::Null,
            schema: None,
            wanted,
            set: None,
            made_ms,
            lease_ms: 0,
            renewed_ms: None,
            figures: BTreeMap::new(),
        }
    }

    /// Whether the lease has ended by that time.
    pub(super) fn has_lapsed(&self, now_ms: u64) -> bool {
        self.lease_ms > 0 && now_ms > self.renewed_ms.unwrap_or(self.made_ms).saturating_add(self.lease_ms)
    }

    /// Makes an entry for a tuning that an agent holds and this journal lacks, because it was made elsewhere or the
    /// journal was lost.
    pub(super) fn of_agent(node: &str, (pid, start_ticks): (i32, u64), tuning: Tuning) -> Entry {
        Entry {
            id: tuning.id,
            before: tuning.before,
            schema: tuning.schema,
            set: Some(tuning.set.clone()),
            lease_ms: tuning.lease_ms,
            made_ms: 0,
            ..Entry::new(node, (pid, start_ticks), tuning.setting, tuning.set)
        }
    }
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Journaled for Entry {
    const FOLDER: &'static str = "tunings";
    const WAY_OUT: &'static str =
        "it says what was set on a node and what was before: put that back by hand, then remove it";

    /// The time comes first, so that ids sort by age.
    fn id(&self) -> String {
        self.id.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_cassandra::journal::Journal;
    use serde_json::json;

    #[test]
    fn an_entry_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::within(folder.path());
        let setting = Setting::compaction("shop.orders");
        let mut entry = Entry::new("127.0.0.1", (41, 7), setting, json!({"class": "leveled"}));
        entry.before = json!({"class": "tiered"});
        entry.set = Some(json!({"class": "org.leveled"}));
        journal.write(&entry).unwrap();
        assert_eq!(journal.entries().unwrap(), [entry]);
    }
}
