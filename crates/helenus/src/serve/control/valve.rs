//! Valves, which open by themselves after some time.

use super::{LONGEST_MINUTES, Undo, Wanted, lease, link, process};
use crate::serve::asked::Asked;
use anyhow::{Result, bail, ensure};
use helenus_control::{Change, Error, Site};
use helenus_recording::NodeFacts;

const LONGEST_NAME: usize = 40;

/// A valve as the page asks for it.
#[derive(Debug)]
pub(crate) struct WantedValve {
    name: String,
    at: Option<String>,
    stage: Option<String>,
    law: String,
    /// Of the law `fixed` the limit, of others the largest one.
    limit: Option<u32>,
    /// Until it opens by itself.
    minutes: Option<u64>,
}

#[derive(Debug)]
struct Valve {
    name: String,
}

impl Wanted for WantedValve {
    fn make(&self, node: &NodeFacts) -> Result<(String, Box<dyn Undo>)> {
        let (site, change) = self.settings()?;
        let added = link(&process(node)?)?.add_valve(&self.name, &site, &change).map_err(|error| match error {
            // The text of the agent is for the command line.
            Error::Refused { hint, .. } if hint.contains("--cold") => anyhow::anyhow!(
                "this JVM was started without an agent, and the first valve at a class of requests would deoptimize all of its code: \
                 choose a stage, or restart the node with -javaagent:helenus-agent.jar=ready (helenus agent writes the jar)"
            ),
            error => error.into(),
        })?;
        Ok((self.said(), Box::new(Valve { name: added.valve })))
    }
}

impl Undo for Valve {
    fn undo(&mut self, node: &NodeFacts) -> Result<&'static str> {
        let target = match process(node) {
            Ok(target) => target,
            // The valve ended with its process.
            Err(_) if node.pid.is_some() => return Ok("no longer there; noticed"),
            Err(error) => return Err(error),
        };
        let mut link = link(&target)?;
        if link.valves()?.iter().all(|valve| valve.valve != self.name) {
            return Ok("no longer there; noticed");
        }
        link.remove_valve(Some(&self.name))?;
        Ok("undone")
    }

    fn by_hand(&self, node: &NodeFacts) -> Option<String> {
        Some(format!("helenus valve remove --node {} {}", node.address, self.name))
    }
}

impl WantedValve {
    pub(crate) fn of(asked: &Asked) -> Result<WantedValve> {
        Ok(WantedValve {
            name: asked.needed("name")?.to_string(),
            at: asked.owned("at"),
            stage: asked.owned("stage"),
            law: asked.needed("law")?.to_string(),
            limit: asked.whole("limit")?,
            minutes: asked.whole("minutes")?.map(u64::from),
        })
    }

    fn settings(&self) -> Result<(Site, Change)> {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let is_fine = (1..=LONGEST_NAME).contains(&self.name.len()) && self.name.chars().all(is_name);
        ensure!(is_fine, "`{}` is no name for a valve: give letters, digits, dots, dashes and underscores", self.name);
        let site = match (&self.at, &self.stage) {
            (Some(at), None) => Site::At(vec![at.clone()]),
            (None, Some(stage)) => Site::Stage(stage.clone()),
            _ => bail!("say where the valve is to be: at= a point, or stage="),
        };
        let minutes = lease(self.minutes)?;
        let is_fixed = self.law == "fixed";
        let limit = self.limit.filter(|_| is_fixed).map(|limit| ("limit".to_string(), limit.to_string()));
        let change = Change {
            law: Some(self.law.clone()),
            parameters: limit.into_iter().collect(),
            max: self.limit.filter(|_| !is_fixed),
            lease_ms: Some(minutes * 60_000),
            ..Change::default()
        };
        change.check(Some(&site)).map_err(anyhow::Error::msg)?;
        Ok((site, change))
    }

    /// The change as text.
    fn said(&self) -> String {
        let site = self.at.as_ref().or(self.stage.as_ref()).map_or("", String::as_str);
        let limit = match (self.limit, self.law.as_str()) {
            (Some(limit), "fixed") => format!(", limit {limit}"),
            (Some(limit), _) => format!(", limit up to {limit}"),
            (None, _) => String::new(),
        };
        let minutes = self.minutes.unwrap_or(LONGEST_MINUTES);
        format!("added the valve {} at {site}: law {}{limit}; opens by itself after {minutes} min", self.name, self.law)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(name: &str, law: &str, limit: Option<u32>) -> WantedValve {
        WantedValve {
            name: name.to_string(),
            at: Some("lwt".to_string()),
            stage: None,
            law: law.to_string(),
            limit,
            minutes: Some(15),
        }
    }

    #[test]
    fn a_valve_has_a_limit_and_ends_by_itself() {
        let (site, change) = wanted("lwt", "fixed", Some(8)).settings().unwrap();
        assert_eq!(site, Site::At(vec!["lwt".to_string()]));
        assert_eq!((change.lease_ms, change.max), (Some(900_000), None));
        assert_eq!(change.parameters["limit"], "8");
        assert_eq!(wanted("lwt", "throughput", Some(64)).settings().unwrap().1.max, Some(64));
        for wrong in [wanted("a b", "fixed", None), wanted("", "fixed", None), wanted("lwt", "fixd", None)] {
            assert!(wrong.settings().is_err(), "{wrong:?}");
        }
        assert!(WantedValve { minutes: Some(0), ..wanted("lwt", "fixed", None) }.settings().is_err());
        assert!(WantedValve { stage: Some("read".into()), ..wanted("lwt", "fixed", None) }.settings().is_err());
    }
}
