//! The parts of the command line that all commands share: examples that can be copied, and numbers with signs.

use super::Arguments;
use crate::terminal;
use clap::{CommandFactory, FromArgMatches};
use std::ffi::OsString;

/// Names of values that are numbers. A negative number for them is taken as a value and not as an option, and refused
/// with the name.
const NUMBERS: [&str; 8] = ["DURATION", "N", "PERCENT", "RATE", "SIZE", "GHZ", "BOUND", "COUNT"];
/// The largest width of the help, which is also its width without a terminal.
pub const WIDEST: usize = 100;
const EXAMPLE: &str = "  helenus ";

/// Commands by purpose, the most used first.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Observe", &["record", "top", "statements", "clients", "partitions", "tables", "gc", "probes", "points"]),
    ("Explain", &["explain", "report", "serve", "advise", "flame", "io", "spectrogram", "sql"]),
    ("Load", &["load", "stress", "verify", "responder"]),
    ("Lab", &["compare", "lab"]),
    ("Control", &["valve", "tune", "try", "pin", "unpin", "executor"]),
    ("Recordings", &["recording", "freeze", "export", "import"]),
    ("Setup", &["doctor", "up", "down", "ps", "agent", "completions", "licenses"]),
];
/// The text above and below the list of commands.
const TEMPLATE: (&str, &str) = ("{about-with-newline}\n{usage-heading} {usage}\n", "\nOptions:\n{options}");

/// Builds the command line.
pub fn command() -> clap::Command {
    let width = terminal::width().map_or(WIDEST, |width| width.clamp(40, WIDEST));
    let command = Arguments::command().term_width(width);
    let template = format!("{}{}{}", TEMPLATE.0, listed(&command, width), TEMPLATE.1);
    adapted(command.help_template(template), width)
}

/// Lists the commands under the headings of their groups.
fn listed(command: &clap::Command, width: usize) -> String {
    let about = |name: &str| {
        let found = command.find_subcommand(name).and_then(clap::Command::get_about);
        found.map(ToString::to_string).unwrap_or_default()
    };
    let mut list = String::new();
    for (heading, names) in GROUPS {
        list.push_str(&format!("\n{heading}:\n"));
        for name in names {
            let about = about(name);
            let gap = if 15 + about.chars().count() <= width {
                " ".repeat(13_usize.saturating_sub(name.len()))
            } else {
                "\n      ".to_string()
            };
            list.push_str(&format!("  {name}{gap}{about}\n"));
        }
    }
    list
}

/// Parses a command line; exits if it is invalid.
pub fn parse(words: Vec<OsString>) -> Arguments {
    let mut command = command();
    let parsed = command.try_get_matches_from_mut(words).and_then(|found| Arguments::from_arg_matches(&found));
    parsed.unwrap_or_else(|error| refuse(&command, error))
}

/// Exits with clap's error, wrapped at the terminal's width, or with the help that the user asked for.
fn refuse(command: &clap::Command, mut error: clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    nearest_first(&mut error);
    let text = error.render().to_string();
    let (first, rest) = text.trim_end().split_once('\n').unwrap_or((text.trim_end(), ""));
    terminal::error(&anyhow::Error::msg(first.trim_start_matches("error: ").to_string()));
    let (missing, usage) = rest.split_at(rest.find("\nUsage:").unwrap_or(rest.len()));
    let tip = of_running_nodes(command, &error).map(|tip| format!("\n  tip: {tip}\n")).unwrap_or_default();
    let rest = format!("{missing}{tip}{usage}");
    if !rest.is_empty() {
        terminal::talk(rest);
    }
    std::process::exit(2)
}

/// clap lists the names that are like an unknown one with the nearest at the end, and measures by beginnings, so that `recrod` is nearer to
/// `responder` than to `record`.
fn nearest_first(error: &mut clap::Error) {
    use clap::error::{ContextKind, ContextValue};
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let Some(given) = text(ContextKind::InvalidSubcommand) else { return };
    if let Some(ContextValue::Strings(names)) = error.get(ContextKind::SuggestedSubcommand).cloned() {
        let mut names = names;
        names.sort_by_key(|name| strsim::damerau_levenshtein(&given, name));
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
}

/// Where a recording or process is missing: how to name a running node, if the command takes one.
fn of_running_nodes(command: &clap::Command, error: &clap::Error) -> Option<String> {
    if error.kind() != clap::error::ErrorKind::MissingRequiredArgument {
        return None;
    }
    let mut of = command;
    let mut line = "helenus".to_string();
    for word in std::env::args().skip(1) {
        let Some(below) = of.find_subcommand(&word) else { break };
        of = below;
        line.push_str(&format!(" {word}"));
    }
    let takes_node = of.get_arguments().any(|argument| argument.get_long() == Some("node"));
    let text = error.render().to_string();
    let is_missing = ["<RECORDING>", "<PID>"].iter().any(|name| text.contains(name));
    (takes_node && is_missing).then(|| format!("for a node that runs on this machine: {line} --node 127.0.0.1"))
}

fn adapted(command: clap::Command, width: usize) -> clap::Command {
    let is_number = |argument: &clap::Arg| {
        let mut names = argument.get_value_names().unwrap_or_default().iter();
        !argument.is_positional() && names.any(|name| NUMBERS.contains(&name.as_str()))
    };
    let mut command = command.mut_args(|argument| match is_number(&argument) {
        true => argument.allow_hyphen_values(true),
        false => argument,
    });
    if let Some(help) = command.get_after_help().map(ToString::to_string) {
        // An example of several lines is one command.
        let help = help.replace(" \\\n", "\u{0}");
        let folded: Vec<String> = help.lines().map(|line| example(line, width)).collect();
        command = command.after_help(folded.join("\n"));
    }
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_string()).collect();
    for name in names {
        command = command.mut_subcommand(name, |below| adapted(below, width));
    }
    command
}

/// An example with the line breaks of its author if they fit, and with others otherwise. A NUL stands for a backslash at the end of a line.
fn example(line: &str, width: usize) -> String {
    if line.split('\u{0}').all(|part| part.chars().count() + 2 <= width) {
        return line.replace('\u{0}', " \\\n");
    }
    let parts: Vec<&str> = line.split('\u{0}').map(str::trim).collect();
    continued(&format!("  {}", parts.join(" ")), width)
}

/// Breaks an example that is wider than the terminal into shell lines with backslashes, so that it can be copied.
fn continued(line: &str, width: usize) -> String {
    if !line.starts_with(EXAMPLE) || line.chars().count() <= width {
        return line.to_string();
    }
    let (command, comment) = line.split_once(" # ").map_or((line, None), |(command, comment)| (command, Some(comment)));
    let mut out = comment.map_or(String::new(), |comment| format!("  # {}\n", comment.trim()));
    let mut used = 0;
    for word in words(command.trim()) {
        // Leaves room for the space and the backslash.
        if used > 0 && used + 1 + word.chars().count() + 2 > width {
            out.push_str(" \\\n     ");
            used = 5;
        }
        let gap = if used == 0 { "  " } else { " " };
        out.push_str(gap);
        out.push_str(&word);
        used += gap.len() + word.chars().count();
    }
    out
}

/// Parts of a line between spaces that are not within quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (None, ' ') => words.push(String::new()),
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
        if let Some(word) = words.last_mut().filter(|_| quote.is_some() || character != ' ') {
            word.push(character);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group_and_fits_a_line() {
        let command = Arguments::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
        for one in command.get_subcommands() {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            assert!((1..=70).contains(&about.chars().count()), "{}: {about}", one.get_name());
        }
        let help = listed(&command, 80);
        assert!(help.lines().all(|line| line.chars().count() <= 85), "{help}");
    }

    #[test]
    fn an_example_of_several_lines_wraps_as_one_command() {
        let written =
            "  helenus try --table shop.orders --gc-grace 24h \u{0}      --compaction '{\"class\":\"A\"}' --for 2h";
        assert_eq!(example(written, 100), written.replace('\u{0}', " \\\n"));
        let folded = example(written, 44);
        let joined = folded.replace("\\\n", " ");
        assert!(folded.lines().all(|line| line.chars().count() <= 44), "{folded}");
        assert_eq!(shlex::split(&joined).unwrap(), shlex::split(&written.replace('\u{0}', " ")).unwrap());
    }

    #[test]
    fn the_nearest_command_is_proposed_first() {
        let mut error = command().try_get_matches_from(["helenus", "recrod"]).unwrap_err();
        nearest_first(&mut error);
        let text = error.render().to_string();
        assert!(text.contains("'record', "), "{text}");
    }

    #[test]
    fn long_examples_are_continued_as_a_shell_continues_them() {
        let long = "  helenus sql a.helenus \"select recording, count(*) from requests\" --csv # by recording";
        let folded = continued(long, 50);
        assert_eq!(
            folded,
            "  # by recording\n  helenus sql a.helenus \\\n      \"select recording, count(*) from requests\" \\\n      --csv"
        );
        assert_eq!(continued(long, 100), long);
        let (whole, joined) = (shlex::split(long).unwrap(), folded.replace("\\\n", " "));
        assert_eq!(shlex::split(joined.lines().nth(1).unwrap()).unwrap(), whole);
    }
}
