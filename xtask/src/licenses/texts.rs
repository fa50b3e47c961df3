//! License texts, each kept once.

use crate::root;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Prefixes of the names of files with licenses and notices.
const NAMES: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];

/// Where the terms of the Apache License end and advice on applying it begins.
const END_OF_TERMS: &str = "END OF TERMS AND CONDITIONS";

#[derive(Debug, Default)]
pub struct Texts {
    pub all: BTreeMap<String, String>,
}

impl Texts {
    /// The key of a text; texts that differ only in white space have the same key.
    pub fn add(&mut self, text: &str) -> String {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let key = format!("{:08x}", crc32fast::hash(words.as_bytes()));
        self.all.entry(key.clone()).or_insert_with(|| plain(text));
        key
    }

    /// The standard text of a license, for a package that names the license and has no file of it.
    pub fn standard(&mut self, license: &str, copyright: &str) -> Result<String> {
        let text = match license {
            _ if license.contains("Apache-2.0") => std::fs::read_to_string(root().join("LICENSE"))?,
            "BSD-3-Clause" => include_str!("BSD-3-Clause.txt").to_string(),
            _ => anyhow::bail!("there is no standard text of {license} here"),
        };
        Ok(self.add(&if copyright.is_empty() { text } else { format!("{copyright}\n\n{text}") }))
    }

    /// The texts at the top of a package's folder. Where the Apache License is one of two choices, the other's text is kept.
    pub fn of_folder(&mut self, folder: &Path) -> Result<Vec<String>> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .with_context(|| format!("cannot list {}", folder.display()))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_file() && NAMES.iter().any(|name| lower_name(path).starts_with(name)))
            .collect();
        files.sort();
        let has = |word: &str| files.iter().any(|path| lower_name(path).contains(word));
        let dropped = [("mit", "apache"), ("bsd", "lgpl")];
        let dropped: Vec<&str> = dropped.iter().filter(|(kept, _)| has(kept)).map(|(_, dropped)| *dropped).collect();
        files.retain(|path| !dropped.iter().any(|word| lower_name(path).contains(word)));
        files.iter().map(|path| self.of_file(path)).collect()
    }

    pub fn of_file(&mut self, path: &Path) -> Result<String> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        let ours = std::fs::read_to_string(root().join("LICENSE"))?;
        Ok(self.add(if is_plain_apache(&text, &ours) { &ours } else { &text }))
    }
}

/// Whether a text is the Apache License and names no owner: copies differ in layout and in the advice at their end.
fn is_plain_apache(text: &str, ours: &str) -> bool {
    let words = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_lowercase).collect() };
    let (Some((terms, advice)), Some((our_terms, our_advice))) =
        (text.split_once(END_OF_TERMS), ours.split_once(END_OF_TERMS))
    else {
        return false;
    };
    let advice = words(&advice.replace(['{', '}'], "\""));
    let our_advice = words(&our_advice.replace(['[', ']'], "\""));
    let same_terms = words(terms).iter().filter(|word| *word != "https://www.apache.org/licenses/").count();
    let our_count = words(our_terms).iter().filter(|word| *word != "http://www.apache.org/licenses/").count();
    let names_nobody = advice.is_empty()
        || advice.join(" ").replace(['[', ']'], "\"").contains("copyright \"yyyy\" \"name of copyright owner\"");
    same_terms.abs_diff(our_count) <= 3 && names_nobody && advice.len() <= our_advice.len() + 5
}

fn lower_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Without control characters, carriage returns and spaces at the ends of lines.
fn plain(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let kept: String = line.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !c.is_control()).collect();
        format!("{}\n", kept.trim_end())
    });
    lines.collect::<String>().trim_matches('\n').to_string() + "\n"
}
