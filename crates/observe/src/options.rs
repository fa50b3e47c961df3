//! Options of a recording as people give them. Each is declared once, in the options of its source: its name, default and
//! help are those of the command line, and a file has the same names without the dashes.

use crate::option_values::Switch;
use crate::sources::{Options, SOURCES};
use crate::syscalls::SyscallsMode;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgAction, Args, Command, FromArgMatches};
use std::error::Error as _;
use std::sync::LazyLock;

/// Why options in a file are invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongOption {
    /// The name of the option; None if a combination of options is invalid.
    pub name: Option<String>,
    pub reason: String,
}

static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let command = command();
    command.get_arguments().filter_map(|argument| argument.get_long()).map(String::from).collect()
});

fn command() -> Command {
    Options::augment_args(
        Command::new("options").no_binary_name(true).disable_help_flag(true).disable_version_flag(true),
    )
}

impl Options {
    /// The names of all options, without dashes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(String::as_str)
    }

    /// The default of an option on the command line; empty without one.
    pub(crate) fn default_value(name: &str) -> String {
        let command = command();
        let known = command.get_arguments().find(|argument| argument.get_long() == Some(name));
        let values = known.map(|argument| argument.get_default_values()).unwrap_or_default();
        values.first().map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Parses options by name, as in a file. Missing options get the default of the command line.
    pub fn from_named(given: &[(&str, String)]) -> Result<Options, WrongOption> {
        let command = command();
        let mut words = Vec::new();
        for (name, value) in given {
            let is_flag = command
                .get_arguments()
                .any(|known| known.get_long() == Some(name) && matches!(known.get_action(), ArgAction::SetTrue));
            match (is_flag, value.as_str()) {
                (false, _) => words.push(format!("--{name}={value}")),
                (true, "true") => words.push(format!("--{name}")),
                (true, "false") => {}
                (true, _) => {
                    let reason = "should be true or false".to_string();
                    return Err(WrongOption { name: Some((*name).to_string()), reason });
                }
            }
        }
        let matches = command.try_get_matches_from(words);
        let options = matches.and_then(|matches| Options::from_arg_matches(&matches)).map_err(|error| wrong(&error))?;
        options.check().map_err(|reason| WrongOption { name: None, reason: reason.replace("--", "") })?;
        Ok(options)
    }

    /// Rejects options that are valid alone and invalid together.
    pub fn check(&self) -> Result<(), String> {
        SOURCES.iter().try_for_each(|source| (source.check)(self))
    }

    /// The options, after each source has adjusted the options of other sources that its own require.
    pub(crate) fn settled(&self) -> Options {
        let mut settled = self.clone();
        settled.agent.requests = self.wire.requests;
        settled.wire.has_agent = self.agent.jar.is_some() && !self.agent.no_agent;
        if self.agent.no_agent {
            settled.stacks.profiler = None;
        }
        if self.syscalls.syscalls != SyscallsMode::Off {
            settled.page_cache.page_cache.get_or_insert(Switch::On);
        }
        settled
    }
}

fn wrong(error: &clap::Error) -> WrongOption {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
        _ => None,
    };
    // Formats an option as on the command line: `--syscalls <MODE>`.
    let argument = text(ContextKind::InvalidArg).and_then(|argument| argument.split_whitespace().next());
    let name = argument.map(|argument| argument.trim_start_matches('-').to_string());
    let reason = match (error.source(), error.get(ContextKind::ValidValue)) {
        (Some(source), _) => format!("is wrong: {source}"),
        (None, Some(ContextValue::Strings(known))) => {
            let given = text(ContextKind::InvalidValue).unwrap_or_default();
            let meant = text(ContextKind::SuggestedValue).map(|meant| format!("; did you mean `{meant}`?"));
            format!("is `{given}`{} (one of {})", meant.unwrap_or_default(), known.join(", "))
        }
        (None, _) => error.to_string().lines().next().unwrap_or_default().to_string(),
    };
    WrongOption { name, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn named(given: &[(&str, &str)]) -> Result<Options, String> {
        let given: Vec<(&str, String)> = given.iter().map(|(name, value)| (*name, (*value).to_string())).collect();
        Options::from_named(&given).map_err(|wrong| format!("{}: {}", wrong.name.unwrap_or_default(), wrong.reason))
    }

    #[test]
    fn without_stacks_the_defaults_of_the_command_line_are_those_of_the_code() {
        assert_eq!(named(&[("stacks", "off"), ("requests", "off")]), Ok(Options::default()));
    }

    #[test]
    fn a_file_has_the_options_of_the_command_line() {
        let options = named(&[
            ("no-agent", "true"),
            ("stacks", "wall,alloc"),
            ("syscalls", "full"),
            ("calls", "fsync"),
            ("sched", "on"),
            ("off-cpu-above", "5ms"),
            ("max-size", "2GiB"),
        ])
        .unwrap();
        assert!(options.agent.no_agent && options.stacks.stacks.wall && !options.stacks.stacks.cpu);
        assert_eq!((options.syscalls.syscalls, options.sched.sched), (SyscallsMode::Full, Switch::On));
        assert_eq!(options.sched.off_cpu_above, Some(Duration::from_millis(5)));
        assert_eq!(options.max_size, Some(2 << 30));
        assert!(Options::names().any(|name| name == "max-events-per-s"));
    }

    #[test]
    fn options_of_one_source_decide_for_another_what_that_leaves_open() {
        let page_cache = |given| named(given).unwrap().settled().page_cache.page_cache;
        assert_eq!(page_cache(&[("syscalls", "summary")]), Some(Switch::On));
        assert_eq!(page_cache(&[]), None);
        let mut options = named(&[("no-agent", "true")]).unwrap();
        options.stacks.profiler = Some(b"");
        options.page_cache.page_cache = Some(Switch::Off);
        options.syscalls.syscalls = SyscallsMode::Full;
        let settled = options.settled();
        assert_eq!((settled.stacks.profiler, settled.page_cache.page_cache), (None, Some(Switch::Off)));
    }

    #[test]
    fn wrong_values_are_named_with_what_was_meant() {
        assert_eq!(
            named(&[("syscalls", "ful")]),
            Err("syscalls: is `ful`; did you mean `full`? (one of off, summary, full)".to_string())
        );
        let reason = |given: &[(&str, &str)]| named(given).unwrap_err();
        assert!(reason(&[("interval", "soon")]).starts_with("interval: is wrong: `soon` is not a duration"));
        assert!(reason(&[("calls", "fsyn")]).contains("the nearest is fsync"));
        assert_eq!(reason(&[("no-agent", "on")]), "no-agent: should be true or false");
        let alone = reason(&[("calls", "fsync")]);
        assert!(alone.starts_with(": calls chooses among the calls that syscalls records"), "{alone}");
        assert!(reason(&[("interval", "1ms")]).contains("too short"));
    }
}
