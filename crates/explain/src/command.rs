//! Commands of Helenus in the texts of findings and advice.
//!
//! A text has a command between backticks, with `RECORDING` and `ADDRESS` where a recording or a node belongs. Both are
//! filled in here, so that the command can be pasted. Tests of the binary parse all of them.

use crate::engine::Engine;
use serde::{Deserialize, Serialize};

const BEGINNING: &str = "`helenus ";
const RECORDING: &str = "RECORDING";
const ADDRESS: &str = "ADDRESS";

/// A command that a text proposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Command {
    /// Its name, such as `tables`.
    pub name: String,
    /// The command as a shell takes it, such as `helenus tables run.helenus`. The text has it between backticks.
    pub line: String,
}

/// The recording and the node that are filled into commands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Site {
    recording: Option<String>,
    /// The node that is meant where a text is about none.
    node: Option<String>,
}

impl Site {
    pub(crate) fn of(engine: &Engine) -> Site {
        let node = engine.manifests().iter().flat_map(|manifest| &manifest.nodes).next();
        Site {
            recording: engine.folder().map(|folder| quoted(&folder.display().to_string())),
            node: node.map(|node| node.address.clone()),
        }
    }

    /// The text with its commands filled in; `node` is the node that the text is about, if any.
    pub(crate) fn fill(&self, text: &str, node: &str) -> String {
        let node = Some(node).filter(|node| !node.is_empty()).map(quoted).or_else(|| self.node.as_deref().map(quoted));
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, command, after)) = next_command(rest) {
            let words = command.split(' ').map(|word| match word {
                RECORDING => self.recording.as_deref().unwrap_or(word),
                ADDRESS => node.as_deref().unwrap_or(word),
                word => word,
            });
            let words: Vec<&str> = words.collect();
            filled.push_str(&format!("{before}`{}`", words.join(" ")));
            rest = after;
        }
        filled + rest
    }
}

/// The text with its commands filled in for a recording.
pub fn filled_in(engine: &Engine, text: &str) -> String {
    Site::of(engine).fill(text, "")
}

/// The commands that a text proposes, each once.
pub(crate) fn commands(text: &str) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let mut rest = text;
    while let Some((_, line, after)) = next_command(rest) {
        let name = line.split(' ').nth(1).unwrap_or_default().to_string();
        let command = Command { name, line: line.to_string() };
        if !found.contains(&command) {
            found.push(command);
        }
        rest = after;
    }
    found
}

/// The first command of a text, without its backticks, and the texts before and behind it.
fn next_command(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(BEGINNING)?;
    let (command, after) = text[start + 1..].split_once('`')?;
    Some((&text[..start], command, after))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:@%+=,[]".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(recording: &str) -> Site {
        Site { recording: Some(quoted(recording)), node: Some("10.0.0.1".into()) }
    }

    #[test]
    fn commands_are_filled_in_and_other_words_are_left() {
        let text = "see `helenus tables RECORDING`, the RECORDING or `RECORDING`; then `helenus record --node ADDRESS --sched on`.";
        let filled = site("run.helenus").fill(text, "");
        let wanted = "see `helenus tables run.helenus`, the RECORDING or `RECORDING`; then `helenus record --node 10.0.0.1 --sched on`.";
        assert_eq!(filled, wanted);
        assert_eq!(site("run.helenus").fill(&filled, "10.0.0.9"), wanted, "what is filled in stays");
        let lines: Vec<(String, String)> = commands(&filled).into_iter().map(|one| (one.name, one.line)).collect();
        let named = |name: &str, line: &str| (name.to_string(), line.to_string());
        assert_eq!(
            lines,
            [
                named("tables", "helenus tables run.helenus"),
                named("record", "helenus record --node 10.0.0.1 --sched on")
            ]
        );
        assert!(site("x").fill("`helenus record --node ADDRESS`", "10.0.0.9").contains("--node 10.0.0.9"));
    }

    #[test]
    fn a_name_is_quoted_as_a_shell_needs_it() {
        assert_eq!(site("a b's.helenus").fill("`helenus gc RECORDING`", ""), r"`helenus gc 'a b'\''s.helenus'`");
        assert_eq!(site("").fill("`helenus gc RECORDING`", ""), "`helenus gc ''`");
        // Without a recording or node, the names stay.
        assert_eq!(Site::default().fill("`helenus gc RECORDING`", ""), "`helenus gc RECORDING`");
    }

    #[test]
    fn odd_texts_stay_as_they_are() {
        for text in ["", "`helenus tables", "a ` b", "`SELECT RECORDING`", "helenus tables RECORDING"] {
            assert_eq!(site("x").fill(text, ""), text);
            assert_eq!(commands(text), []);
        }
    }
}
