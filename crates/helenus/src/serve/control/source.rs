//! Sources of the recorder that runs in this process. They end with it.

use super::{Undo, Wanted};
use crate::serve::asked::Asked;
use anyhow::Result;
use helenus_explain::SourceChoice;
use helenus_observe::{SourceState, SourceSwitches, Switched};
use helenus_recording::NodeFacts;

/// An option of `helenus record` with its new value.
#[derive(Debug)]
pub(crate) struct WantedSource<'a> {
    name: String,
    value: String,
    switches: &'a SourceSwitches,
}

#[derive(Debug)]
struct FormerValue {
    name: String,
    before: String,
    switches: SourceSwitches,
}

pub(super) fn shown(state: SourceState) -> SourceChoice {
    let SourceState { name, value, values } = state;
    SourceChoice { name: name.to_string(), value, values: values.iter().map(|value| (*value).to_string()).collect() }
}

impl<'a> WantedSource<'a> {
    pub(crate) fn of(asked: &Asked, switches: &'a SourceSwitches) -> Result<WantedSource<'a>> {
        Ok(WantedSource {
            name: asked.needed("name")?.to_string(),
            value: asked.needed("value")?.to_string(),
            switches,
        })
    }
}

impl Wanted for WantedSource<'_> {
    fn make(&self, _node: &NodeFacts) -> Result<(String, Box<dyn Undo>)> {
        let Switched { before, missing } = self.switches.set(&self.name, &self.value).map_err(anyhow::Error::msg)?;
        let mut said = format!("changed what is recorded: {} from {before} to {}", self.name, self.value);
        if !missing.is_empty() {
            said += &format!(" (not everything runs: {})", missing.join("; "));
        }
        Ok((said, Box::new(FormerValue { name: self.name.clone(), before, switches: self.switches.clone() })))
    }
}

impl Undo for FormerValue {
    fn undo(&mut self, _node: &NodeFacts) -> Result<&'static str> {
        self.switches.set(&self.name, &self.before).map_err(anyhow::Error::msg)?;
        Ok("undone")
    }

    fn by_hand(&self, _node: &NodeFacts) -> Option<String> {
        None
    }
}
