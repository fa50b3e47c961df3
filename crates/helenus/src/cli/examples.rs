//! Tests that every example in the help, README and docs is a valid command line.

use super::help::command;
use std::path::{Path, PathBuf};

/// Words before a command that do not belong to it.
const BEFORE: [&str; 4] = ["sudo", "time", "nohup", "$"];
/// Words that end a command in a shell.
const AFTER: [&str; 11] = ["|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1", "2>/dev/null", "2>"];

/// Finds the helenus command lines in shell text.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for line in text.replace("\\\n", " ").lines().filter(|line| line.contains("helenus ")) {
        let words = shlex::split(line).unwrap_or_else(|| panic!("quotes do not match: {line}"));
        for part in words.split(|word| AFTER.contains(&word.as_str())) {
            let part: Vec<String> = part.iter().skip_while(|word| BEFORE.contains(&word.as_str())).cloned().collect();
            if part.first().is_some_and(|first| first == "helenus") {
                found.push(part);
            }
        }
    }
    found
}

/// Collects the examples in the help of a command and its subcommands.
fn of_help(command: &clap::Command, all: &mut Vec<Vec<String>>) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    all.extend(commands(&help));
    command.get_subcommands().for_each(|below| of_help(below, all));
}

/// The text within code fences in Markdown.
fn fenced(text: &str) -> String {
    text.split("```").skip(1).step_by(2).collect::<Vec<_>>().join("\n")
}

/// README.md, CONTRIBUTING.md, and the pages in docs/ and docs/results/.
fn documents() -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["docs", "docs/results"].map(|folder| std::fs::read_dir(top.join(folder)).unwrap());
    let pages = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let front = ["README.md", "CONTRIBUTING.md"].map(|name| top.join(name));
    pages.filter(|path| path.extension().is_some_and(|end| end == "md")).chain(front).collect()
}

/// The anchor of a heading, as links use it.
fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    heading.trim().to_lowercase().chars().filter(kept).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn has_heading(document: &Path, wanted: &str) -> bool {
    let text = std::fs::read_to_string(document).unwrap();
    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line.trim_start_matches('#')) == wanted)
}

fn refused(words: &[String]) -> Option<String> {
    let error = command().try_get_matches_from(words).err()?;
    let wanted = matches!(error.kind(), clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion);
    (!wanted).then(|| format!("{}: {error}", words.join(" ")))
}

#[test]
fn the_helps_examples_are_understood() {
    let mut all = Vec::new();
    of_help(&command(), &mut all);
    assert!(all.len() > 100, "{} examples", all.len());
    let refused: Vec<String> = all.iter().filter_map(|words| refused(words)).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn the_documents_examples_are_understood() {
    let mut count = 0;
    let mut refused_all = Vec::new();
    for document in documents() {
        let text = fenced(&std::fs::read_to_string(&document).unwrap());
        for words in commands(&text) {
            count += 1;
            refused_all.extend(refused(&words).map(|error| format!("{}: {error}", document.display())));
        }
    }
    assert!(count > 60, "{count} examples");
    assert!(refused_all.is_empty(), "{}", refused_all.join("\n"));
}

#[test]
fn the_documents_links_lead_somewhere() {
    let mut broken = Vec::new();
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
        for link in links.filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            if !target.exists() || !heading.is_empty() && !has_heading(&target, heading) {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn the_book_has_each_page_once() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let summary = std::fs::read_to_string(top.join("docs/book/SUMMARY.md")).unwrap();
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| top.join(link));
    let mut listed: Vec<PathBuf> = links.map(|page| page.canonicalize().unwrap()).collect();
    let more = ["SECURITY.md", "agent/PROTOCOL.md"].map(|name| top.join(name));
    let mut pages: Vec<PathBuf> =
        documents().into_iter().chain(more).map(|page| page.canonicalize().unwrap()).collect();
    listed.sort();
    pages.sort();
    assert_eq!(listed, pages);
}

/// Commands without --json, because they only write files or formats for other programs, or show pages on a terminal.
const WITHOUT_JSON: [&str; 2] = ["completions", "top"];

#[test]
fn every_command_can_tell_as_json_what_it_did() {
    fn without(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        let path = format!("{path} {}", command.get_name());
        let has_json = command.get_arguments().any(|argument| argument.get_long() == Some("json"));
        if !command.has_subcommands() && !has_json && !WITHOUT_JSON.contains(&command.get_name()) {
            found.push(path.clone());
        }
        command.get_subcommands().for_each(|below| without(below, &path, found));
    }
    let mut found = Vec::new();
    without(&command(), "", &mut found);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_number_with_a_minus_is_refused_by_its_name() {
    let error = |line: &str| {
        let words = shlex::split(line).unwrap();
        command().try_get_matches_from(words).unwrap_err().to_string()
    };
    for (line, text) in [
        ("helenus record --node 127.0.0.1 --for -3s", "`-3s` is not a duration"),
        ("helenus load keyvalue/mixed --for 3s --timeout -1s", "`-1s` is not a duration"),
        ("helenus flame run.helenus --from -3s", "`-3s` is not a duration"),
    ] {
        assert!(error(line).contains(text), "{line}: {}", error(line));
    }
}

#[test]
fn a_cluster_is_stopped_by_the_option_that_named_it() {
    for line in ["helenus down wide", "helenus down --name wide"] {
        assert!(command().try_get_matches_from(line.split(' ')).is_ok(), "{line}");
    }
}
