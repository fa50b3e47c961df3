//! Settings of a node, as `helenus tune` changes them: with a journal, and a lease after which the former value is restored.

use super::{Undo, Wanted, lease, link, process};
use crate::assets::AGENT_JAR;
use crate::serve::asked::Asked;
use crate::settings::{OfNode, text};
use anyhow::Result;
use helenus_cassandra::Places;
use helenus_cassandra::journal::Journal;
use helenus_control::{Entry, Outcome, Tuner};
use helenus_explain::SettingNow;
use helenus_recording::NodeFacts;
use std::collections::BTreeMap;
use std::time::Duration;

/// A new value of a setting.
#[derive(Debug)]
pub(crate) struct WantedSetting {
    /// A name of [`OfNode`].
    name: String,
    value: String,
    /// For `compaction`.
    table: Option<String>,
    minutes: Option<u64>,
}

#[derive(Debug)]
struct Tuned(Box<Entry>);

fn tuner() -> Result<Tuner> {
    Ok(Tuner { journal: Journal::within(&Places::of_user()?.state), agent: AGENT_JAR })
}

impl WantedSetting {
    pub(crate) fn of(asked: &Asked) -> Result<WantedSetting> {
        Ok(WantedSetting {
            name: asked.needed("name")?.to_string(),
            value: asked.needed("value")?.to_string(),
            table: asked.owned("table"),
            minutes: asked.whole("minutes")?.map(u64::from),
        })
    }
}

/// Reads the current value of a setting; one for each stage for `threads`.
pub(super) fn now(node: &NodeFacts, name: &str, table: Option<&str>) -> Result<SettingNow> {
    let settings = OfNode::settings(name, table)?;
    let mut link = link(&process(node)?)?;
    let mut values = Vec::new();
    for setting in &settings {
        let value = text(&link.read_setting(setting)?.value);
        values.push(match settings.len() {
            1 => value,
            _ => format!("{}={value}", setting.name.trim_end_matches("-threads")),
        });
    }
    Ok(SettingNow { value: values.join(", ") })
}

impl Wanted for WantedSetting {
    fn make(&self, node: &NodeFacts) -> Result<(String, Box<dyn Undo>)> {
        let (setting, value) = OfNode::parse(&self.name, &self.value, self.table.as_deref())?;
        let minutes = lease(self.minutes)?;
        let target = process(node)?;
        let mut link = link(&target)?;
        let lasts = Some(Duration::from_secs(60 * minutes));
        let reached = (node.address.as_str(), &target, &mut link);
        let entry = tuner()?.apply(reached, setting, value, lasts, BTreeMap::new())?;
        let now = entry.set.as_ref().unwrap_or(&entry.wanted);
        let (before, now) = (text(&entry.before), text(now));
        let said = format!("set {} from {before} to {now}; set back by itself after {minutes} min", entry.setting);
        Ok((said, Box::new(Tuned(Box::new(entry)))))
    }
}

impl Undo for Tuned {
    fn undo(&mut self, _node: &NodeFacts) -> Result<&'static str> {
        Ok(match tuner()?.undo(&self.0)?.outcome {
            Outcome::Undone => "undone",
            Outcome::Gone => "set back already; noticed",
            Outcome::Altered => "set by somebody else since, and left so; noticed",
            Outcome::Dropped => "gone with its table; noticed",
            Outcome::Restarted => "gone with the node's process; noticed",
        })
    }

    fn by_hand(&self, node: &NodeFacts) -> Option<String> {
        Some(format!("helenus tune undo --node {}", node.address))
    }
}
