use crate::assets;
use crate::terminal;
use anyhow::{Context, Result};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

/// Print the licenses of Helenus and of all parts by other authors
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  helenus licenses | less")]
pub struct Arguments {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// The file that `cargo xtask licenses` wrote.
#[derive(Debug, Deserialize, Serialize)]
struct List {
    part: Vec<Part>,
    /// License texts by their keys.
    text: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Part {
    name: String,
    version: String,
    license: String,
    of: String,
    texts: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let list = list()?;
    if arguments.json {
        terminal::json(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = terminal::lines();
    writeln!(out, "{}\n", include_str!("../../../../NOTICE"))?;
    writeln!(out, "{} parts by other authors:\n", list.part.len())?;
    for Part { name, version, license, of, .. } in &list.part {
        writeln!(out, "{} ({of}): {license}", format!("{name} {version}").trim())?;
    }
    for (key, text) in &list.text {
        let parts = list.part.iter().filter(|part| part.texts.contains(key));
        let names: Vec<&str> = parts.map(|part| part.name.as_str()).collect();
        writeln!(out, "\n{}\nOf {}:\n\n{}", "-".repeat(80), names.join(", "), text.trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<List> {
    let text = std::io::read_to_string(flate2::read::DeflateDecoder::new(assets::THIRD_PARTY))
        .context("the binary's list of licenses is damaged")?;
    Ok(toml::from_str(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_license_and_its_text() {
        let list = list().unwrap();
        for name in ["arrow", "libbpf", "org.ow2.asm:asm", "tools.profiler:async-profiler", "uplot"] {
            assert!(list.part.iter().any(|part| part.name == name), "{name}");
        }
        for part in &list.part {
            assert!(!part.license.is_empty() && !part.texts.is_empty(), "{}", part.name);
            assert!(part.texts.iter().all(|key| list.text.contains_key(key)), "{}", part.name);
        }
    }
}
