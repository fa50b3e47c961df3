//! Packages of npm that the pages carry, without packages that only build or test the pages.

use super::Part;
use super::texts::Texts;
use crate::root;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
struct Lock {
    packages: BTreeMap<String, Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    version: String,
    license: Option<String>,
    #[serde(default)]
    dev: bool,
}

pub fn parts(texts: &mut Texts) -> Result<Vec<Part>> {
    let web = root().join("web");
    let lock = std::fs::read(web.join("package-lock.json")).context("cannot read web/package-lock.json")?;
    let lock: Lock = serde_json::from_slice(&lock)?;
    let carried = lock.packages.iter().filter(|(path, package)| !path.is_empty() && !package.dev);
    let part = |(path, package): (&String, &Package)| {
        let folder = web.join(path);
        let found = texts.of_folder(&folder).context("run `npm --prefix web ci` first")?;
        let name = path.rsplit_once("node_modules/").map_or(path.as_str(), |(_, name)| name);
        let license = package.license.clone().with_context(|| format!("the package {name} names no license"))?;
        Ok(Part { name: name.to_string(), version: package.version.clone(), license, of: "pages", texts: found })
    };
    carried.map(part).collect()
}
