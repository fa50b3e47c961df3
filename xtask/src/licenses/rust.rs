//! Crates that are linked into the binary, and C sources inside them.

use super::Part;
use super::texts::Texts;
use crate::root;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// One fixed platform, so that every machine makes the same list.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// C sources that a crate carries.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    name: String,
    #[serde(rename = "crate")]
    of: String,
    license: String,
    /// The license's text, in the crate.
    file: String,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    authors: Vec<String>,
    manifest_path: std::path::PathBuf,
    /// Where the crate comes from; None for a crate of this repository.
    source: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    /// The kind of dependency; None for a normal one, a word for those of tests and build scripts.
    kind: Option<String>,
}

pub fn parts(sources: &[Source], texts: &mut Texts) -> Result<Vec<Part>> {
    let metadata = metadata()?;
    let linked = linked(&metadata)?;
    let mut parts = vec![Part {
        name: "Rust standard library".into(),
        version: String::new(),
        license: "MIT OR Apache-2.0".into(),
        of: "binary",
        texts: vec![texts.standard("MIT OR Apache-2.0", "")?],
    }];
    for package in metadata.packages.iter().filter(|package| linked.contains(&package.id)) {
        let folder = folder(package);
        let license = package.license.clone();
        let license = license.with_context(|| format!("the crate {} names no license", package.name))?;
        let mut found = texts.of_folder(folder)?;
        if found.is_empty() {
            let copyright = match license.contains("Apache-2.0") {
                true => String::new(),
                false => format!("Copyright (c) {}", package.authors.join(", ")),
            };
            found.push(texts.standard(&license, &copyright).with_context(|| package.name.clone())?);
        }
        parts.push(Part {
            name: package.name.clone(),
            version: package.version.clone(),
            license,
            of: "binary",
            texts: found,
        });
    }
    for source in sources {
        let package = metadata.packages.iter().find(|package| package.name == source.of);
        let Some(package) = package else { bail!("there is no crate {} that carries {}", source.of, source.name) };
        parts.push(Part {
            name: source.name.clone(),
            version: format!("in {} {}", package.name, package.version),
            license: source.license.clone(),
            of: "binary",
            texts: vec![texts.of_file(&folder(package).join(&source.file))?],
        });
    }
    Ok(parts)
}

fn folder(package: &Package) -> &Path {
    package.manifest_path.parent().unwrap_or(Path::new("/"))
}

fn metadata() -> Result<Metadata> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--locked", "--format-version", "1", "--filter-platform", PLATFORM])
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cargo metadata failed");
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Crates of others that the binary links, by their ids.
fn linked(metadata: &Metadata) -> Result<BTreeSet<String>> {
    let nodes: BTreeMap<&str, &Node> = metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let binary = metadata.packages.iter().find(|package| package.source.is_none() && package.name == "helenus");
    let mut next = vec![binary.context("there is no crate helenus")?.id.as_str()];
    let mut seen = BTreeSet::new();
    while let Some(id) = next.pop() {
        if seen.insert(id) {
            let dependencies = nodes.get(id).map(|node| node.deps.as_slice()).unwrap_or_default();
            let is_linked = |of: &&Dependency| of.dep_kinds.iter().any(|kind| kind.kind.is_none());
            next.extend(dependencies.iter().filter(is_linked).map(|of| of.pkg.as_str()));
        }
    }
    let of_others = metadata.packages.iter().filter(|package| package.source.is_some());
    Ok(of_others.map(|package| package.id.clone()).filter(|id| seen.contains(id.as_str())).collect())
}
