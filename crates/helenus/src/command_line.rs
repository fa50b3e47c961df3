//! The command line that a recording keeps: the arguments of helenus, and of a command after `--` its name and the names
//! of its options, without any value.

use std::borrow::Cow;

/// Own options whose value is a text of the user, which may be a secret: commands, settings of a JVM.
const FREE: [&str; 3] = ["--exec", "--jvm-opt", "--set"];

const HIDDEN: &str = "…";

/// The longest name of a program or an option.
const LONGEST: usize = 60;

/// The given command line without the values that may be secrets.
pub fn command_line() -> String {
    // A path need not be UTF-8.
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    shown("helenus", &words)
}

fn shown(program: &str, words: &[String]) -> String {
    let (own, command) = match words.iter().position(|word| word == "--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[][..]),
    };
    let mut shown = program.to_string();
    let mut add = |word: &str| {
        let is_quoted = word.contains(char::is_whitespace);
        shown.push_str(if is_quoted { " '" } else { " " });
        shown.push_str(word);
        shown.push_str(if is_quoted { "'" } else { "" });
    };
    let mut is_free = false;
    for word in own {
        if std::mem::take(&mut is_free) {
            add(HIDDEN);
            continue;
        }
        is_free = FREE.contains(&word.as_str());
        match word.split_once('=') {
            Some((option, _)) if FREE.contains(&option) => add(&format!("{option}={HIDDEN}")),
            _ => add(&without_secrets(word)),
        }
    }
    if let Some((command, arguments)) = command.split_first() {
        add("--");
        names(command, arguments).iter().for_each(|name| add(name));
    }
    shown
}

/// The name of a program and of its options. Nobody knows which values of a foreign program are secrets, so that each
/// run of other words is a single `…`.
fn names<'w>(command: &'w str, arguments: &'w [String]) -> Vec<Cow<'w, str>> {
    let program = command.rsplit('/').next().unwrap_or_default();
    let is_name = |name: &str| {
        (1..=LONGEST).contains(&name.len())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || ['.', '_', '-', '+'].contains(&letter))
    };
    let mut names = vec![Cow::Borrowed(if is_name(program) { program } else { HIDDEN })];
    // All words after a second `--` are values.
    let mut may_be_options = true;
    for argument in arguments {
        may_be_options &= argument != "--";
        match if may_be_options { option(argument) } else { None } {
            Some(option) => names.push(option),
            None if names.last().is_some_and(|last| last == HIDDEN) => {}
            None => names.push(HIDDEN.into()),
        }
    }
    names
}

/// The name of an option, without its value. A single dash may have a value right behind its letter, as `-pSECRET` has,
/// so that only the letter is kept. None for other words.
fn option(word: &str) -> Option<Cow<'_, str>> {
    let Some(long) = word.strip_prefix("--") else {
        let letter = word.strip_prefix('-')?.chars().next().filter(char::is_ascii_alphabetic)?;
        let whole = &word[..1 + letter.len_utf8()];
        return Some(if word.len() > whole.len() { format!("{whole}{HIDDEN}").into() } else { whole.into() });
    };
    let name = long.split_once('=').map_or(long, |(name, _)| name);
    let is_name = (1..=LONGEST).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphabetic() || ['.', '_', '-'].contains(&letter));
    match is_name {
        true if name.len() < long.len() => Some(format!("--{name}={HIDDEN}").into()),
        true => Some(word.into()),
        false => None,
    }
}

/// An argument of helenus without the secrets of a URL: user and password, and parameters, which may be a signature.
fn without_secrets(word: &str) -> Cow<'_, str> {
    let hidden = || {
        let (scheme, rest) = word.split_once("://")?;
        let (rest, parameters) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?…"));
        let end = rest.find(['/', '#']).unwrap_or(rest.len());
        let (user, host) = rest[..end].rsplit_once('@').map_or(("", &rest[..end]), |(_, host)| ("…@", host));
        Some(format!("{scheme}://{user}{host}{}{parameters}", &rest[end..]))
    };
    hidden().map_or(word.into(), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(line: &[&str]) -> String {
        shown("helenus", &line.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn of_a_command_the_names_of_program_and_options_are_kept() {
        for (line, expected) in [
            (
                &["record", "--", "cassandra-stress", "write", "-mode", "native", "password=hunter2"][..],
                "helenus record -- cassandra-stress … -m… …",
            ),
            (&["record", "--", "sh", "-c", "tool --password hunter2 | x"], "helenus record -- sh -c …"),
            (&["record", "--", "/home/me/bin/cqlsh", "-u", "me", "-phunter2"], "helenus record -- cqlsh -u … -p…"),
            (
                &["record", "--", "tool", "--key=hunter2", "--dry-run", "a", "b", "c"],
                "helenus record -- tool --key=… --dry-run …",
            ),
            (&["record", "--", "env", "DB=hunter2", "run", "https://me:hunter2@db/x"], "helenus record -- env …"),
            (&["record", "--", "DB=hunter2 run"], "helenus record -- …"),
            (&["record", "--", "java", "-Dx.password=hunter2", "-jar", "x"], "helenus record -- java -D… -j… …"),
            (&["record", "--", "run", "--", "--hunter"], "helenus record -- run …"),
            (&["record", "--", "run", "--hunter2", "---x", "-", "-1"], "helenus record -- run …"),
            (&["record", "--"], "helenus record"),
        ] {
            assert_eq!(keeps(line), expected);
        }
    }

    #[test]
    fn our_own_arguments_are_kept_without_texts_that_may_be_secrets() {
        for line in [
            &["load", "keyvalue/mixed", "--node", "127.0.0.1:9042", "--rate", "100/s", "-p", "x"][..],
            &["record", "--password-file", "/etc/x", "--user", "me"],
            &["explain", "s3://bucket/key", "--at=10:30:00"],
        ] {
            assert_eq!(keeps(line), format!("helenus {}", line.join(" ")));
        }
        for (line, expected) in [
            (
                &["record", "--exec", "curl https://alerts.example/hunter2", "--keep", "30m"][..],
                "helenus record --exec … --keep 30m",
            ),
            (&["record", "--exec=curl hunter2"], "helenus record --exec=…"),
            (&["up", "--jvm-opt", "-Dpassword=hunter2", "--set", "key=hunter2"], "helenus up --jvm-opt … --set …"),
            (
                &["explain", "s3://key:hunter2@bucket/a", "https://b/c?signature=hunter2"],
                "helenus explain s3://…@bucket/a https://b/c?…",
            ),
            (&["freeze", "a b"], "helenus freeze 'a b'"),
        ] {
            assert_eq!(keeps(line), expected);
        }
    }

    /// However a value is given to a command, nothing of it is kept.
    #[test]
    fn no_value_of_a_command_is_kept() {
        let secrets = ["7", "hunter7", "7&'x", "a7=b", "a:7", "-7", "--7", "é7", "a b 7"];
        let ways = [
            "",
            "-p",
            "-D",
            "-p=",
            "--option=",
            "--option:",
            "KEY=",
            "--",
            "user:",
            "https://me:",
            "a b ",
            "-",
            "'",
            "--x-",
            "é",
            "--option ",
            "-u me -p ",
            "{\"a\": \"",
            "@",
            "--a=b=",
            "+",
            "/opt/",
        ];
        let around = ["a", "--b", "-c", "sh", "--d=e"];
        let is_name = |word: &str| word.chars().all(|c| c.is_ascii_alphabetic() || "-._=…".contains(c));
        for (secret, way) in secrets.iter().flat_map(|secret| ways.iter().map(move |way| (secret, way))) {
            for at in 0..=around.len() {
                let mut line = vec!["record", "--", "program"];
                line.extend(around);
                let value = format!("{way}{secret}");
                line.insert(3 + at, &value);
                let kept = keeps(&line);
                assert!(!kept.contains('7') && kept.split(' ').all(is_name), "{value}: {kept}");
            }
        }
    }
}
