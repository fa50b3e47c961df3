//! Changes settings, records each change in the journal, reports its state, and undoes it.

use super::entry::now_ms;
use super::setting::millis;
use super::{Entry, Outcome, Setting, Tuning, Undone};
use crate::{Error, Link};
use helenus_cassandra::journal::Journal;
use helenus_cassandra::target::{self, Target, TargetName};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Whether a change in the journal is in force.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum State {
    /// The node has the changed value.
    Applied {
        /// Time until its lease ends.
        left_ms: Option<u64>,
    },
    /// The change was entered in the journal but not made, because its helenus process ended before.
    NotMade,
    /// The node has its former value again.
    Undone {
        /// Its lease has ended.
        by_lease: bool,
    },
    /// The setting was changed again since.
    Altered {
        now: Value,
        /// The setting was changed in the schema, and so for all nodes.
        in_schema: bool,
    },
    /// The process has ended, and the change with it.
    Restarted,
    /// The node can't be reached.
    Unknown { reason: String },
}

/// Changes settings of nodes, with a journal entry for each change.
#[derive(Debug)]
pub struct Tuner {
    pub journal: Journal<Entry>,
    /// The agent's jar.
    pub agent: &'static [u8],
}

impl Tuner {
    /// Changes a setting of the node that the link is connected to. The change is in the journal before it is made.
    ///
    /// # Errors
    /// [`Error::Refused`]: nothing has changed, and nothing is left in the journal. After [`Error::Broken`] it
    /// is not known whether the change was made, and the entry stays.
    pub fn apply(
        &self,
        (node, target, link): (&str, &Target, &mut Link),
        setting: Setting,
        wanted: Value,
        lease: Option<Duration>,
        figures: BTreeMap<String, super::Measured>,
    ) -> Result<Entry, Error> {
        let process = (target.pid, target.start_ticks);
        let is_same = |entry: &Entry| (entry.pid, entry.start_ticks) == process && entry.setting == setting;
        if self.journal.entries()?.iter().any(is_same) {
            return Err(Error::Tuned { what: format!("{setting} on {node}") });
        }
        let reading = link.read_setting(&setting)?;
        let mut entry = Entry {
            before: reading.value,
            schema: reading.schema,
            host_id: reading.host_id,
            lease_ms: lease.map_or(0, millis),
            figures,
            ..Entry::new(node, process, setting, wanted)
        };
        self.journal.write(&entry)?;
        match link.apply_setting(&entry.id, &entry.setting, (&entry.before, &entry.wanted), lease) {
            Ok(tuning) => entry.set = Some(tuning.set),
            Err(refused @ Error::Refused { .. }) => {
                self.journal.remove(&entry)?;
                return Err(refused);
            }
            Err(error) => return Err(error),
        }
        self.journal.write(&entry)?;
        Ok(entry)
    }

    /// Whether the change is in force, according to the node's current value.
    pub fn state(&self, entry: &Entry) -> State {
        let found = process_of(entry).and_then(|target| match target {
            None => Ok(State::Restarted),
            Some(target) => state(&mut Link::open(&target, self.agent)?, entry),
        });
        found.unwrap_or_else(|error| State::Unknown { reason: error.to_string() })
    }

    /// Renews the lease of a change and stores that in the journal. Returns the new entry.
    ///
    /// # Errors
    /// [`Error::NotInForce`] when the node does not have the change any more; then nothing is changed.
    pub fn renew(&self, entry: &Entry, lease: Duration) -> Result<Entry, Error> {
        let gone = |why: &str| Error::NotInForce {
            what: format!("{} on {}", entry.setting, entry.node),
            why: why.to_string(),
        };
        let target = process_of(entry)?.ok_or_else(|| gone("the process of the node has ended"))?;
        let mut link = Link::open(&target, self.agent)?;
        if !link.tunings()?.iter().any(|tuning| tuning.id == entry.id) {
            return Err(gone("it was undone, or its lease has ended"));
        }
        let tuning = link.renew_tuning(&entry.id, Some(lease))?;
        // The entry of this change is in another journal, which must not be written here.
        let is_ours = self.journal.entries()?.iter().any(|known| known.id == entry.id);
        let renewed = Entry { lease_ms: tuning.lease_ms, renewed_ms: Some(now_ms()), ..entry.clone() };
        if is_ours {
            self.journal.write(&renewed)?;
        }
        Ok(renewed)
    }

    /// Restores the former value, unless it was changed since, and removes the entry from the journal.
    ///
    /// # Errors
    /// When the node can't be asked; the entry stays.
    pub fn undo(&self, entry: &Entry) -> Result<Undone, Error> {
        let undone = match process_of(entry)? {
            None => Undone { outcome: Outcome::Restarted, now: None },
            Some(target) => undo(&mut Link::open(&target, self.agent)?, entry)?,
        };
        self.journal.remove(entry)?;
        Ok(undone)
    }

    /// Changes that the agent in a node holds and this journal lacks: set from elsewhere, or the journal is lost.
    pub fn set_elsewhere(&self, node: &str, target: &Target) -> Result<Vec<Entry>, Error> {
        let known = self.journal.entries()?;
        let tunings = Link::open(target, self.agent)?.tunings()?;
        let unknown = tunings.into_iter().filter(|tuning| known.iter().all(|entry| entry.id != tuning.id));
        Ok(unknown.map(|tuning| Entry::of_agent(node, (target.pid, target.start_ticks), tuning)).collect())
    }
}

/// The process that was changed; None if it has ended.
fn process_of(entry: &Entry) -> Result<Option<Target>, Error> {
    match target::find(TargetName::Pid(entry.pid)) {
        Ok(target) => Ok(Some(target).filter(|target| target.start_ticks == entry.start_ticks && target.is_alive())),
        Err(target::Error::NoProcess { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn state(link: &mut Link, entry: &Entry) -> Result<State, Error> {
    let held = link.tunings()?.into_iter().find(|tuning| tuning.id == entry.id);
    let reading = link.read_setting(&entry.setting)?;
    let set = set_of(entry, held.as_ref(), &reading.value);
    let in_schema = reading.schema.is_some() && entry.schema.is_some() && reading.schema != entry.schema;
    Ok(if in_schema {
        State::Altered { now: reading.value, in_schema }
    } else if reading.value == entry.before {
        match set {
            None => State::NotMade,
            Some(_) => State::Undone { by_lease: entry.has_lapsed(now_ms()) },
        }
    } else if set.as_ref() == Some(&reading.value) {
        State::Applied { left_ms: held.and_then(|tuning| tuning.left_ms) }
    } else {
        State::Altered { now: reading.value, in_schema }
    })
}

fn undo(link: &mut Link, entry: &Entry) -> Result<Undone, Error> {
    let mut tuning = Tuning {
        id: entry.id.clone(),
        setting: entry.setting.clone(),
        before: entry.before.clone(),
        set: entry.set.clone().unwrap_or_default(),
        schema: entry.schema.clone(),
        lease_ms: 0,
        left_ms: None,
    };
    // A dropped table can't be read; the agent then reports that.
    if entry.set.is_none()
        && let Ok(reading) = link.read_setting(&entry.setting)
        && let Some(set) = set_of(entry, None, &reading.value)
    {
        tuning.set = set;
    }
    link.undo_tuning(&tuning)
}

/// The value that the change has set on the node. If helenus was killed before it could store the value, it is inferred
/// from the node's current value.
fn set_of(entry: &Entry, held: Option<&Tuning>, now: &Value) -> Option<Value> {
    let current = held.map(|tuning| tuning.set.clone()).or_else(|| entry.set.clone());
    current.or_else(|| satisfies(now, &entry.wanted).then(|| now.clone()))
}

/// Whether a reported value satisfies the requested one: the node fills in defaults and the package of a class.
fn satisfies(now: &Value, wanted: &Value) -> bool {
    let (Value::Object(now), Value::Object(wanted)) = (now, wanted) else { return now == wanted };
    wanted.iter().all(|(name, wanted)| match (now.get(name), wanted) {
        (Some(Value::String(now)), Value::String(wanted)) if name == "class" => {
            now.rsplit('.').next() == wanted.rsplit('.').next()
        }
        (now, wanted) => now == Some(wanted),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_node_says_more_than_it_was_asked_for() {
        let wanted = json!({"class": "LeveledCompactionStrategy", "sstable_size_in_mb": "64"});
        let mut now = json!({
            "class": "org.apache.cassandra.db.compaction.LeveledCompactionStrategy",
            "sstable_size_in_mb": "64",
            "min_threshold": "4"
        });
        assert!(satisfies(&now, &wanted));
        now["sstable_size_in_mb"] = json!("160");
        assert!(!satisfies(&now, &wanted));
        assert!(satisfies(&json!(64), &json!(64)) && !satisfies(&json!(64), &json!(8)));
    }

    #[test]
    fn a_process_that_has_ended_took_its_changes_along() {
        let folder = tempfile::tempdir().unwrap();
        let tuner = Tuner { journal: Journal::within(folder.path()), agent: &[] };
        // No process has this start time, because the current one started later.
        let entry = Entry::new("127.0.0.1", (std::process::id() as i32, 1), Setting::of_node("x"), json!(1));
        tuner.journal.write(&entry).unwrap();
        assert_eq!(tuner.state(&entry), State::Restarted);
        assert_eq!(tuner.undo(&entry).unwrap().outcome, Outcome::Restarted);
        assert_eq!(tuner.journal.entries().unwrap(), []);
    }
}
