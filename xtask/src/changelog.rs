//! Assembles the changelog from the fragments in `changelog.d/`: prints it, or moves it to `CHANGELOG.md` under a version.

use crate::root;
use anyhow::{Context, Result, bail};
use std::fmt::Write;
use std::path::PathBuf;

const KINDS: [&str; 4] = ["Added", "Changed", "Fixed", "Removed"];
/// Where entries without a kind are listed.
const OTHER: &str = "Also";
/// The heading in `CHANGELOG.md` after which versions follow, the newest first.
const MARK: &str = "<!-- versions -->\n";

/// Prints what has changed since the last version.
pub fn print() -> Result<()> {
    print!("{}", section("Unreleased", &entries()?));
    Ok(())
}

/// Moves the fragments into `CHANGELOG.md`.
pub fn release(version: &str) -> Result<()> {
    let entries = entries()?;
    if entries.is_empty() {
        bail!("there is no fragment in changelog.d/");
    }
    let path = root().join("CHANGELOG.md");
    let text = std::fs::read_to_string(&path).context("cannot read CHANGELOG.md")?;
    let Some((before, after)) = text.split_once(MARK) else { bail!("CHANGELOG.md has no line {}", MARK.trim()) };
    if after.contains(&format!("\n## {version}\n")) {
        bail!("CHANGELOG.md has the version {version} already");
    }
    std::fs::write(&path, format!("{before}{MARK}\n{}{after}", section(version, &entries)))?;
    for fragment in fragments()? {
        std::fs::remove_file(&fragment).with_context(|| format!("cannot remove {}", fragment.display()))?;
    }
    Ok(())
}

fn fragments() -> Result<Vec<PathBuf>> {
    let folder = std::fs::read_dir(root().join("changelog.d")).context("cannot list changelog.d/")?;
    let mut paths: Vec<PathBuf> = folder.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
    paths.sort();
    Ok(paths)
}

fn entries() -> Result<Vec<String>> {
    let mut entries = Vec::new();
    for path in fragments()? {
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        entries.extend(of_fragment(&text));
    }
    Ok(entries)
}

/// The entries of a fragment, each in one line: items of a list, and paragraphs.
fn of_fragment(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim_end) {
        let item = line.strip_prefix("- ");
        match entries.last_mut() {
            Some(last) if is_open && item.is_none() && !line.is_empty() => {
                last.push(' ');
                last.push_str(line.trim_start());
            }
            _ if line.is_empty() => {}
            _ => entries.push(item.unwrap_or(line).trim_start().to_string()),
        }
        is_open = !line.is_empty();
    }
    entries
}

/// A version's entries by their kinds.
fn section(version: &str, entries: &[String]) -> String {
    let kind_of = |entry: &str| KINDS.into_iter().find(|kind| entry.starts_with(&format!("{kind}: "))).unwrap_or(OTHER);
    let mut out = format!("## {version}\n");
    for kind in KINDS.into_iter().chain([OTHER]) {
        let mut of_kind = entries.iter().filter(|entry| kind_of(entry) == kind).peekable();
        if of_kind.peek().is_some() {
            let _ = write!(out, "\n### {kind}\n\n");
        }
        for entry in of_kind {
            let _ = writeln!(out, "- {}", entry.strip_prefix(&format!("{kind}: ")).unwrap_or(entry));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_grouped_by_their_kinds() {
        let text =
            "- Fixed: A number\n  over two lines.\n- Added: `helenus licenses`.\n\nA paragraph\nwithout a kind.\n";
        assert_eq!(
            section("0.2.0", &of_fragment(text)),
            "## 0.2.0\n\n### Added\n\n- `helenus licenses`.\n\n### Fixed\n\n- A number over two lines.\n\
             \n### Also\n\n- A paragraph without a kind.\n"
        );
    }
}
