//! The command, which is the first argument: what to send, how much, and what to do first.

use super::words::{Words, number};
use crate::Error;
use crate::rows::Distribution;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Command {
    pub kind: Kind,
    pub length: Length,
    /// The level's name in CQL.
    pub consistency: String,
    /// The level of the Paxos rounds of conditional statements, if it is given.
    pub serial_consistency: Option<String>,
    pub warm_up: bool,
    pub truncate: Truncate,
    /// Length of keys in cassandra-stress's built-in tables.
    pub key_bytes: u64,
    /// The increment of counters.
    pub add: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Operations on the built-in tables of cassandra-stress, with their weights.
    Predefined(Vec<(Operation, f64)>),
    /// Operations of a profile, with their weights.
    Profile { paths: Vec<PathBuf>, operations: Vec<(String, f64)> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Write,
    Read,
    CounterWrite,
    CounterRead,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Length {
    Count(u64),
    Elapsed(Duration),
    /// Run until the standard error of the mean of the rows per second is below a share of that mean, with a least and
    /// a largest number of intervals.
    Converged {
        error: f64,
        least: u64,
        most: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truncate {
    Never,
    Once,
    Always,
}

const COMMANDS: [(&str, &[Operation]); 11] = [
    ("write", &[Operation::Write]),
    ("insert", &[Operation::Write]),
    ("read", &[Operation::Read]),
    ("mixed", &[Operation::Read, Operation::Write]),
    ("counter_write", &[Operation::CounterWrite]),
    ("counterwrite", &[Operation::CounterWrite]),
    ("counter_add", &[Operation::CounterWrite]),
    ("counter_read", &[Operation::CounterRead]),
    ("counterread", &[Operation::CounterRead]),
    ("counter_get", &[Operation::CounterRead]),
    ("user", &[]),
];

const CONSISTENCIES: [&str; 11] = [
    "ONE",
    "QUORUM",
    "LOCAL_QUORUM",
    "EACH_QUORUM",
    "ALL",
    "ANY",
    "TWO",
    "THREE",
    "LOCAL_ONE",
    "SERIAL",
    "LOCAL_SERIAL",
];

impl Operation {
    /// The name that cassandra-stress prints.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Write => "WRITE",
            Operation::Read => "READ",
            Operation::CounterWrite => "COUNTER_WRITE",
            Operation::CounterRead => "COUNTER_READ",
        }
    }

    pub fn writes(self) -> bool {
        matches!(self, Operation::Write | Operation::CounterWrite)
    }
}

impl Command {
    pub fn read(words: &mut Words, notes: &mut Vec<String>) -> Result<Command, Error> {
        let name = words.group.clone();
        let kind = match COMMANDS.iter().find(|(known, _)| *known == name) {
            Some(("user", _)) => read_profile(words)?,
            Some(("mixed", operations)) => read_ratio(words, operations)?,
            Some((_, operations)) => Kind::Predefined(operations.iter().map(|operation| (*operation, 1.0)).collect()),
            None => return Err(no_command(&name)),
        };
        if words.value("clustering=")?.is_some() {
            notes.push(format!("{name} clustering= changes nothing: each request draws its operation for itself"));
        }
        let add = words.parsed("add=", Distribution::parse)?.map(|add| (add, add.only()));
        let add = match add {
            Some((add, None)) => {
                return Err(words.wrong("add=", &format!("is one number for all requests here, not {add}: FIXED(1)")));
            }
            Some((_, Some(add))) => add,
            None => 1,
        };
        let key_bytes = words.parsed("keysize=", number)?.unwrap_or(10);
        if !(1..=65_535).contains(&key_bytes) {
            return Err(words.wrong("keysize=", "is from 1 to 65535 bytes"));
        }
        let length = read_length(words)?;
        let consistency = words.parsed("cl=", consistency)?.unwrap_or_else(|| "LOCAL_ONE".to_string());
        let serial_consistency = words.parsed("serial-cl=", self::serial_consistency)?;
        let warm_up = !(words.flag("no-warmup") | words.flag("no_warmup"));
        let truncate = match words.value("truncate=")?.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("never") => Truncate::Never,
            Some("once") => Truncate::Once,
            Some("always") => Truncate::Always,
            Some(_) => return Err(words.wrong("truncate=", "is one of never, once and always")),
        };
        words.refuse(&[
            ("tries=", "requests are not retried; failures are counted"),
            ("ignore_errors", "write -errors ignore"),
            ("at-once=", "multigets are long gone from Cassandra"),
        ])?;
        words.finish()?;
        Ok(Command { kind, length, consistency, serial_consistency, warm_up, truncate, key_bytes, add })
    }

    pub fn writes_only(&self) -> bool {
        match &self.kind {
            Kind::Predefined(operations) => operations.iter().all(|(operation, _)| operation.writes()),
            Kind::Profile { operations, .. } => operations.iter().all(|(name, _)| name == "insert"),
        }
    }
}

/// Parses a consistency level.
pub(super) fn consistency(text: &str) -> Result<String, String> {
    level(text, &CONSISTENCIES)
}

/// Parses the consistency level of a conditional statement.
pub(super) fn serial_consistency(text: &str) -> Result<String, String> {
    level(text, &["SERIAL", "LOCAL_SERIAL"])
}

fn level(text: &str, known: &[&str]) -> Result<String, String> {
    let level = text.to_uppercase();
    match known.contains(&level.as_str()) {
        true => Ok(level),
        false => Err(format!("`{level}` is not a consistency level (one of {})", known.join(", "))),
    }
}

fn no_command(given: &str) -> Error {
    let argument = given.to_string();
    let message = match given {
        "" => "no command; begin with one of write, read, mixed, counter_write, counter_read and user".to_string(),
        "print" | "legacy" | "version" | "help" | "-?" => {
            "is not taken: see `helenus stress --help` and docs/stress.md".to_string()
        }
        "range_slice" | "rangeslice" | "indexed_range_slice" | "multi_get" | "readmulti" => {
            "is not taken: it is gone from Cassandra with Thrift; use `user` with a query of your own".to_string()
        }
        given if given.starts_with('-') => {
            "options follow the command; begin with write, read, mixed, counter_write, counter_read or user".to_string()
        }
        given => {
            let known = || COMMANDS.iter().map(|(name, _)| *name);
            let meant = helenus_notation::did_you_mean(given, known());
            format!("is no command{meant} (one of write, read, mixed, counter_write, counter_read and user)")
        }
    };
    Error::Argument { argument, message }
}

fn read_ratio(words: &mut Words, defaults: &[Operation]) -> Result<Kind, Error> {
    let Some(inside) = words.inside("ratio")? else {
        return Ok(Kind::Predefined(defaults.iter().map(|operation| (*operation, 1.0)).collect()));
    };
    let mut operations: Vec<(Operation, f64)> = Vec::new();
    for (name, weight) in weights(words, "ratio", &inside)? {
        let known = COMMANDS.iter().find(|(known, _)| *known == name);
        let Some([operation]) = known.map(|(_, operations)| *operations) else {
            let message = format!("`{name}` is none of write, read, counter_write and counter_read");
            return Err(words.wrong("ratio", &message));
        };
        operations.push((*operation, weight));
    }
    // The operations in the order in which cassandra-stress prints them.
    operations.sort_by_key(|(operation, _)| operation.name());
    Ok(Kind::Predefined(operations))
}

fn read_profile(words: &mut Words) -> Result<Kind, Error> {
    let Some(path) = words.value("profile=")? else {
        return Err(words.wrong("profile=", "is missing: the YAML file that says what to do"));
    };
    let paths: Vec<&str> = path.split(',').filter(|path| !path.is_empty()).collect();
    if paths.iter().any(|path| path.starts_with("http://") || path.starts_with("https://")) {
        return Err(words.wrong("profile=", "is a file; download it first"));
    }
    let Some(inside) = words.inside("ops")? else {
        return Err(words.wrong("ops", "is missing: which operations of the profile, such as 'ops(insert=1,read=2)'"));
    };
    let mut operations: Vec<(String, f64)> =
        weights(words, "ops", &inside)?.into_iter().map(|(name, weight)| (name.to_ascii_lowercase(), weight)).collect();
    operations.sort_by(|(left, _), (right, _)| left.cmp(right));
    let paths = paths.into_iter().map(|path| PathBuf::from(path.strip_prefix("file://").unwrap_or(path)));
    Ok(Kind::Profile { paths: paths.collect(), operations })
}

/// Parses `write=1,read=3`; operations without weight are left out.
fn weights(words: &Words, name: &'static str, inside: &str) -> Result<Vec<(String, f64)>, Error> {
    let wrong = |message: &str| words.wrong(name, message);
    let mut weights: Vec<(String, f64)> = Vec::new();
    for part in inside.split(',').filter(|part| !part.is_empty()) {
        let (operation, weight) = part.split_once('=').unwrap_or((part, ""));
        let weight = weight.parse::<f64>().ok().filter(|weight| weight.is_finite() && *weight >= 0.0);
        let weight =
            weight.ok_or_else(|| wrong(&format!("`{part}` is not an operation with a weight, as in read=3")))?;
        if weights.iter().any(|(known, _)| known == operation) {
            return Err(wrong(&format!("has `{operation}` twice")));
        }
        weights.push((operation.to_string(), weight));
    }
    weights.retain(|(_, weight)| *weight > 0.0);
    if weights.is_empty() { Err(wrong("has no operation with a weight above 0")) } else { Ok(weights) }
}

fn read_length(words: &mut Words) -> Result<Length, Error> {
    let count = words.parsed("n=", number)?;
    let lasts = words.parsed("duration=", duration)?;
    let share = |text: &str| match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(format!("`{text}` is not a share such as 0.02")),
    };
    let error = words.parsed("err<", share)?;
    let (least, most) = (words.parsed("n>", number)?, words.parsed("n<", number)?);
    match (count, lasts) {
        (Some(0), _) => Err(words.wrong("n=", "is at least 1; `helenus load` creates a schema and its rows alone")),
        (Some(_), Some(_)) => Err(words.wrong("n=", "and duration= exclude each other; leave one of them")),
        (Some(_), None) | (None, Some(_)) if error.is_some() || least.is_some() || most.is_some() => {
            Err(words.wrong("err<", "is for runs without n= and duration=; leave one of them"))
        }
        (Some(count), None) => Ok(Length::Count(count)),
        (None, Some(lasts)) => Ok(Length::Elapsed(lasts)),
        (None, None) => {
            let (least, most) = (least.unwrap_or(30), most.unwrap_or(200));
            Ok(Length::Converged { error: error.unwrap_or(0.02), least, most: most.max(least) })
        }
    }
}

/// `90s`, `5m`, `1h` or `1d`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration such as 90s, 5m or 1h");
    let lower = text.to_ascii_lowercase();
    let (digits, factor) = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]
        .into_iter()
        .find_map(|(unit, factor)| lower.strip_suffix(unit).map(|digits| (digits, factor)))
        .ok_or_else(wrong)?;
    let seconds = digits.parse::<u32>().map_err(|_| wrong())?;
    if seconds == 0 { Err(wrong()) } else { Ok(Duration::from_secs(u64::from(seconds) * factor)) }
}
