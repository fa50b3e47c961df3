//! The parts of the command line that all commands share: examples that can be copied, and numbers with signs.

use super::Arguments;
use crate::terminal;
use clap::{CommandFactory, FromArgMatches};

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

/// Parses the arguments of this process; exits if they are invalid.
pub fn parse() -> Arguments {
    Arguments::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit())
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
        let lines: Vec<String> = help.lines().map(|line| continued(line, width)).collect();
        command = command.after_help(lines.join("\n"));
    }
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_string()).collect();
    for name in names {
        command = command.mut_subcommand(name, |below| adapted(below, width));
    }
    command
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
