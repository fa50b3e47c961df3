//! Tests that every command that an error, a note, a finding or an advice proposes is a valid command line: they look at
//! all string literals of all crates.

use super::help::command;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Values that a place for a value may have in a command.
const VALUES: [&str; 7] = ["1", "127.0.0.1", "run.helenus", "10s", "word", "127.0.0.1:9042", "--pid 1"];
/// Other programs whose options a text may name.
const OTHERS: [&str; 7] = ["nodetool", "docker", "blockdev", "journalctl", "cqlsh", "taskset", "mount"];
/// Files that consist of tests.
const TESTS: [&str; 4] = ["tests.rs", "examples.rs", "proposed.rs", "typescript.rs"];
/// Texts that people read who want to know what to do next: a command in them has to be whole.
const PROPOSING: [&str; 3] = ["explain/src/findings", "explain/src/advice", "explain/src/evidence"];

/// A string literal, with the file that it is in.
struct Text {
    file: String,
    text: String,
    is_proposing: bool,
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            sources(&path, found);
        } else if name.ends_with(".rs") && !TESTS.contains(&name) {
            found.push(path);
        }
    }
}

/// The string literals of all crates, without doc comments and tests.
fn texts() -> Vec<Text> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for one in std::fs::read_dir(&crates).unwrap() {
        let source = one.unwrap().path().join("src");
        if source.is_dir() {
            sources(&source, &mut files);
        }
    }
    let mut texts = Vec::new();
    for path in files {
        let file = path.strip_prefix(&crates).unwrap().display().to_string();
        let is_proposing = PROPOSING.iter().any(|folder| file.starts_with(folder));
        let tokens: TokenStream = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let mut found = Vec::new();
        literals(tokens, &mut found);
        texts.extend(found.into_iter().map(|text| Text { file: file.clone(), text, is_proposing }));
    }
    texts
}

fn literals(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut place = 0;
    while let Some(token) = tokens.get(place) {
        place += 1;
        // An inner attribute has an exclamation mark.
        let is_bang = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '!');
        let is_hash = matches!(token, TokenTree::Punct(punct) if punct.as_char() == '#');
        place += usize::from(is_hash && tokens.get(place).is_some_and(is_bang));
        match (token, tokens.get(place)) {
            (TokenTree::Punct(hash), Some(TokenTree::Group(group)))
                if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
            {
                let attribute = group.stream().to_string().replace(' ', "");
                if attribute.starts_with("doc=") {
                    place += 1;
                } else if attribute == "cfg(test)" {
                    // What is only in tests ends with its braces, or with a semicolon.
                    let is_end = |token: &TokenTree| match token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        TokenTree::Punct(punct) => punct.as_char() == ';',
                        _ => false,
                    };
                    place += tokens[place..].iter().position(is_end).map_or(0, |end| end + 1);
                }
            }
            (TokenTree::Group(group), _) => literals(group.stream(), found),
            (TokenTree::Literal(literal), _) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    found.push(text.value());
                }
            }
            _ => {}
        }
    }
}

/// The commands of a text: between backticks, or at the end of a line after a colon.
fn commands(text: &str) -> Vec<&str> {
    // "helenus reads" is no command.
    let is_known = |line: &str| line.split(' ').nth(1).is_some_and(|name| command().find_subcommand(name).is_some());
    let mut found = Vec::new();
    for (place, _) in text.match_indices("helenus ") {
        let (before, rest) = text.split_at(place);
        let line = rest.lines().next().unwrap_or_default().trim_end_matches('.');
        if before.ends_with('`') {
            found.extend(rest.split_once('`').map(|(line, _)| line));
        } else if before.ends_with(": ") && is_known(line) {
            found.push(line);
        }
    }
    found
}

/// The command with each place for a value filled in, in all ways.
fn filled(command: &str) -> Vec<String> {
    let Some(start) = command.find('{') else { return vec![command.to_string()] };
    let Some(end) = command[start..].find('}') else { return vec![command.to_string()] };
    let (before, after) = (&command[..start], &command[start + end + 1..]);
    VALUES.iter().flat_map(|value| filled(&format!("{before}{value}{after}"))).collect()
}

fn error(line: &str) -> Option<String> {
    let Some(words) = shlex::split(line) else { return Some("quotes do not match".to_string()) };
    let error = super::help::command().try_get_matches_from(words).err()?;
    let is_help = matches!(error.kind(), clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion);
    (!is_help).then(|| error.to_string())
}

/// Whether the words are nothing but the name of a command, which is there.
fn is_name(line: &str) -> bool {
    let mut known = command();
    line.split(' ').skip(1).all(|word| match known.find_subcommand(word).cloned() {
        Some(below) => {
            known = below;
            true
        }
        None => false,
    })
}

#[test]
fn every_command_that_a_text_proposes_is_understood() {
    let (mut count, mut wrong) = (0, Vec::new());
    for Text { file, text, is_proposing } in texts() {
        for command in commands(&text) {
            count += 1;
            if is_name(command) && !is_proposing {
                continue;
            }
            let errors: Vec<Option<String>> = filled(command).iter().map(|line| error(line)).collect();
            if errors.iter().all(Option::is_some) {
                wrong.push(format!("{file}: {command}: {}", errors[0].as_deref().unwrap_or_default()));
            }
        }
        let names_one = |place: usize| {
            is_name(
                text[place..]
                    .split(['`', ' '])
                    .take(2)
                    .collect::<Vec<_>>()
                    .join(" ")
                    .trim_end_matches(['.', ',', ')', ';', ':']),
            )
        };
        let bare = text.match_indices("helenus ").filter(|(place, _)| !text[..*place].ends_with('`'));
        if is_proposing && bare.clone().any(|(place, _)| names_one(place)) {
            wrong.push(format!("{file}: a command without backticks: {text}"));
        }
    }
    assert!(count > 80, "{count} commands");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Outside of commands a text may name an option of the command that it is about, such as that of a load.
#[test]
fn every_option_that_a_finding_names_is_one() {
    fn options(command: &clap::Command, found: &mut BTreeSet<String>) {
        found.extend(command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_string)));
        command.get_subcommands().for_each(|below| options(below, found));
    }
    let mut known = BTreeSet::new();
    options(&command(), &mut known);
    let is_wrong = |text: &str| {
        let prose: String = text.split('`').step_by(2).collect();
        let named = prose.split_whitespace().filter_map(|word| word.strip_prefix("--"));
        let name = |word: &str| word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric()).to_string();
        let unknown =
            |word: String| word.starts_with(|letter: char| letter.is_ascii_lowercase()) && !known.contains(&word);
        !OTHERS.iter().any(|other| text.contains(other)) && named.map(name).any(unknown)
    };
    let texts = texts();
    let wrong: Vec<String> = texts
        .iter()
        .filter(|one| one.is_proposing && is_wrong(&one.text))
        .map(|one| format!("{}: {}", one.file, one.text))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_commands_of_a_text_are_found() {
    assert_eq!(
        commands("see `helenus gc a b`, or helenus itself: helenus reads it; start one with: helenus up."),
        ["helenus gc a b", "helenus up"]
    );
    assert_eq!(filled("helenus unpin {pid}").len(), VALUES.len());
    assert!(is_name("helenus valve add") && !is_name("helenus valve nothing") && !is_name("helenus gc --json"));
    assert!(
        error("helenus record --stacks on --node 127.0.0.1").is_some() && error("helenus gc run.helenus").is_none()
    );
    let mut found = Vec::new();
    let code = "//! `helenus z`\n/// `helenus a`\nfn f() { g(\"b\\\n  c\", r#\"d\"#, 'e', b\"f\"); }\n#[cfg(test)]\nmod tests { const A: &str = \"g\"; }";
    literals(code.parse().unwrap(), &mut found);
    assert_eq!(found, ["bc", "d"]);
}
