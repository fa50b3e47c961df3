//! Archives of Maven Central in the agent's jar or beside it. `mvn verify` checks the licenses that their own POMs name.

use super::Part;
use super::texts::Texts;
use crate::root;
use anyhow::{Context, Result, bail};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// `group:artifact`.
    name: String,
    /// The property of `agent/pom.xml`.
    version: String,
    license: String,
    #[serde(default)]
    copyright: String,
}

pub fn parts(archives: &[Archive], texts: &mut Texts) -> Result<Vec<Part>> {
    let pom = std::fs::read_to_string(root().join("agent/pom.xml")).context("cannot read agent/pom.xml")?;
    for name in shaded(&pom) {
        if !archives.iter().any(|archive| archive.name == name) {
            bail!("agent/pom.xml shades {name}: describe it in xtask/src/licenses/carried.toml");
        }
    }
    let part = |archive: &Archive| {
        Ok(Part {
            name: archive.name.clone(),
            version: element(&pom, &archive.version)
                .with_context(|| format!("agent/pom.xml has no property {}", archive.version))?
                .to_string(),
            license: archive.license.clone(),
            of: "agent",
            texts: vec![texts.standard(&archive.license, &archive.copyright)?],
        })
    };
    archives.iter().map(part).collect()
}

/// The archives that the shade plugin filters, which are all that it takes.
fn shaded(pom: &str) -> impl Iterator<Item = &str> {
    pom.split("<artifact>").skip(1).filter_map(|rest| Some(rest.split_once("</artifact>")?.0))
}

fn element<'a>(pom: &'a str, name: &str) -> Option<&'a str> {
    let rest = pom.split_once(&format!("<{name}>"))?.1;
    Some(rest.split_once(&format!("</{name}>"))?.0)
}
