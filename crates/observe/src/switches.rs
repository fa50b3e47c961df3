//! Starts and stops sources while a recording runs, at the request of another thread.

use crate::sources::Options;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The options that can be changed, with their usual values; the first one stops the source.
const SWITCHABLE: [(&str, &[&str]); 4] = [
    ("requests", &["off", "auto"]),
    ("stacks", &["off", "cpu", "wall", "cpu,wall"]),
    ("syscalls", &["off", "summary", "full"]),
    ("sched", &["off", "on"]),
];
/// Loading eBPF programs into a busy kernel takes some seconds.
const LONGEST: Duration = Duration::from_secs(60);

/// An option that can be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceState {
    pub name: &'static str,
    pub value: String,
    pub values: &'static [&'static str],
}

/// The side that asks. Clones ask the same recorder. One change is asked for at a time.
#[derive(Debug, Clone)]
pub struct SourceSwitches {
    /// The values that were asked for, by name; others have their default.
    changed: Arc<Mutex<BTreeMap<&'static str, String>>>,
    ask: Sender<SwitchRequest>,
}

/// A request to go on with other options.
#[derive(Debug)]
pub struct SwitchRequest {
    /// The options of the sources; those that nobody changed have their defaults.
    pub options: Box<Options>,
    /// Takes the outcome: the sources that are missing or replaced by another provider, or an error.
    pub answer: Sender<Result<Vec<String>, String>>,
}

/// An option that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switched {
    pub before: String,
    /// Sources that are missing, or run only as their fallback, each with its reason.
    pub missing: Vec<String>,
}

impl SourceSwitches {
    /// Switches of a recorder with default options, which reads the requests.
    pub fn new() -> (SourceSwitches, Receiver<SwitchRequest>) {
        let (ask, asked) = channel();
        (SourceSwitches { changed: Arc::default(), ask }, asked)
    }

    /// The options that can be changed, with their values now.
    pub fn states(&self) -> Vec<SourceState> {
        let changed = self.changed();
        let state = |(name, values): &(&'static str, &'static [&'static str])| SourceState {
            name,
            value: changed.get(name).cloned().unwrap_or_else(|| Options::default_value(name)),
            values,
        };
        SWITCHABLE.iter().map(state).collect()
    }

    /// Sets an option, and waits until the recorder goes on with it.
    ///
    /// # Errors
    /// A sentence: why the option cannot have this value, or why the sources did not start. After the latter the former value is
    /// in force again.
    pub fn set(&self, name: &str, value: &str) -> Result<Switched, String> {
        let (name, _) = SWITCHABLE.iter().find(|(known, _)| *known == name).ok_or_else(|| {
            let names: Vec<&str> = SWITCHABLE.iter().map(|(name, _)| *name).collect();
            format!("there is no source `{name}` to change; there are {}", names.join(", "))
        })?;
        let changed = self.changed();
        let before = changed.get(name).cloned().unwrap_or_else(|| Options::default_value(name));
        let mut wanted = changed.clone();
        wanted.insert(name, value.to_string());
        match self.ask(parse(&wanted)?) {
            Ok(missing) => {
                *self.changed.lock().unwrap_or_else(PoisonError::into_inner) = wanted;
                Ok(Switched { before, missing })
            }
            Err(error) => {
                // The sources that were stopped for it start again. If that fails as well, the first error says why.
                let _ = parse(&changed).and_then(|options| self.ask(options));
                Err(error)
            }
        }
    }

    fn changed(&self) -> BTreeMap<&'static str, String> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ask(&self, options: Options) -> Result<Vec<String>, String> {
        let (answer, answered) = channel();
        let ended = |_| "the recorder has ended".to_string();
        self.ask
            .send(SwitchRequest { options: Box::new(options), answer })
            .map_err(|error| ended(error.to_string()))?;
        match answered.recv_timeout(LONGEST) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("the recorder did not change its sources within {LONGEST:?}"))
            }
            Err(error) => Err(ended(error.to_string())),
        }
    }
}

fn parse(given: &BTreeMap<&'static str, String>) -> Result<Options, String> {
    let named: Vec<(&str, String)> = given.iter().map(|(name, value)| (*name, value.clone())).collect();
    Options::from_named(&named).map_err(|wrong| match wrong.name {
        Some(name) => format!("{name} {}", wrong.reason),
        None => wrong.reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option_values::Switch;

    /// A recorder that refuses scheduling, and keeps what it was asked for.
    fn recorder(asked: Receiver<SwitchRequest>) -> std::thread::JoinHandle<Vec<Options>> {
        std::thread::spawn(move || {
            let mut all = Vec::new();
            for request in asked {
                let refused = request.options.sched.sched == Switch::On;
                request.answer.send(if refused { Err("no eBPF here".to_string()) } else { Ok(Vec::new()) }).unwrap();
                all.push(*request.options);
            }
            all
        })
    }

    #[test]
    fn a_source_that_does_not_start_leaves_the_options_as_they_were() {
        let (switches, asked) = SourceSwitches::new();
        let recorder = recorder(asked);
        let value = |name: &str| switches.states().into_iter().find(|state| state.name == name).unwrap().value;
        assert_eq!((value("stacks"), value("sched")), ("cpu".to_string(), "off".to_string()));
        assert_eq!(switches.set("stacks", "off").unwrap().before, "cpu");
        assert_eq!(switches.set("sched", "on"), Err("no eBPF here".to_string()));
        assert_eq!((value("stacks"), value("sched")), ("off".to_string(), "off".to_string()));
        assert!(switches.set("calls", "fsync").unwrap_err().contains("requests, stacks"));
        assert!(switches.set("syscalls", "ful").unwrap_err().contains("did you mean `full`"));
        drop(switches);
        let all = recorder.join().unwrap();
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!(all[2], all[0]);
    }

    #[test]
    fn all_offered_values_can_be_set() {
        let (switches, asked) = SourceSwitches::new();
        std::thread::spawn(move || asked.iter().for_each(|request| request.answer.send(Ok(Vec::new())).unwrap()));
        for SourceState { name, value, values } in switches.states() {
            assert!(values.contains(&value.as_str()), "{name} {value}");
            values.iter().for_each(|value| drop(switches.set(name, value).unwrap()));
        }
    }

    #[test]
    fn without_a_recorder_nothing_changes() {
        let (switches, asked) = SourceSwitches::new();
        drop(asked);
        assert_eq!(switches.set("sched", "on"), Err("the recorder has ended".to_string()));
    }
}
