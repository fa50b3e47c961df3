//! cassandra-stress: its arguments, profiles and output, on this driver.
//!
//! ```text
//! arguments ─▶ words ─▶ command, options ─┐
//!                                         ├─▶ draft ─▶ Workload (TOML) ─┐
//! profile (YAML) ─▶ table, columns ───────┘                             ├─▶ run ─▶ recording
//!                                              rounds of threads ───────┘     └──▶ table, results, HdrHistogram log
//! ```
//!
//! Unsupported arguments are refused by name, with a replacement. Arguments that have another meaning here give a note.
//! `docs/stress.md` has both lists. The meaning of the arguments is from the help and the manual of cassandra-stress 3.11
//! to 5.0.

mod command;
mod draft;
mod figures;
mod keys;
mod options;
mod predefined;
mod profile;
mod rounds;
mod run;
mod screen;
mod words;

pub use run::{Ran, run};

use crate::{Error, Plan, Tls, Workload};
use command::{Command, Kind, Length};
use draft::{Draft, Effect};
use options::{Failures, Keys, Log, Rate, Target};
use std::path::Path;
use words::Words;

/// A run as cassandra-stress's arguments describe it.
#[derive(Debug, Clone)]
pub struct Stress {
    command: Command,
    rate: Rate,
    target: Target,
    log: Log,
    failures: Failures,
    /// The number of partitions to send, if seeds must not repeat.
    most_partitions: Option<u64>,
    draft: Draft,
    workload: Workload,
    notes: Vec<String>,
}

/// The number of threads for writes with a given number of requests and without `-rate`.
const DEFAULT_WRITE_THREADS: u32 = 200;

impl Stress {
    /// Parses the arguments that follow `cassandra-stress`, and the profiles that they name. A node is asked for the
    /// columns of a table that a profile does not define.
    pub fn parse(arguments: &[String], tls: Option<Tls>) -> Result<Stress, Error> {
        let mut notes = Vec::new();
        let mut groups = words::groups(arguments).into_iter();
        let mut first = groups.next().unwrap_or_else(|| Words::none(""));
        let mut groups: Vec<Words> = groups.collect();
        let command = Command::read(&mut first, &mut notes)?;
        if let Some((name, instead)) = groups.iter().find_map(|group| refused(&group.group)) {
            let (argument, message) = (name.to_string(), format!("is not taken: {instead}"));
            return Err(Error::Argument { argument, message });
        }
        let mut take = |name: &str| match groups.iter().position(|group| group.group == name) {
            Some(position) => groups.remove(position),
            None => Words::none(name),
        };
        let rate = Rate::read(&mut take("-rate"), &mut notes)?;
        let keys = Keys::read(&mut take("-pop"), &mut notes)?;
        let (mut node, mut port, mut mode) = (take("-node"), take("-port"), take("-mode"));
        let mut target = Target::read(&mut node, &mut port, &mut mode, &mut notes)?;
        target.access.tls = tls;
        let log = Log::read(&mut take("-log"), &mut take("-graph"), &mut take("-reporting"))?;
        let failures = Failures::read(&mut take("-errors"), &mut notes)?;
        let (mut columns, mut schema, mut inserts) = (take("-col"), take("-schema"), take("-insert"));
        let mut ranges = take("-tokenrange");
        if let Some(left) = groups.first() {
            return Err(unknown(&left.group));
        }

        let writes = command.writes_only();
        let (seeds, most_partitions) = keys::seeds(keys, &command);
        let draft = match &command.kind {
            Kind::Predefined(operations) => {
                for (words, instead) in [
                    (&inserts, "the writes of the other commands are one row each"),
                    (&ranges, "the other commands have no token range queries"),
                ] {
                    if !words.is_empty() {
                        let message = format!("is for `user`; {instead}");
                        return Err(Error::Argument { argument: words.group.clone(), message });
                    }
                }
                let columns = predefined::Columns::read(&mut columns)?;
                let schema = predefined::Schema::read(&mut schema)?;
                predefined::draft(&command, operations, seeds, (&columns, &schema))
            }
            Kind::Profile { paths, operations } => {
                for (words, instead) in
                    [(&schema, "keyspace_definition and table_definition"), (&columns, "columnspec")]
                {
                    if !words.is_empty() {
                        let message = format!("is not for `user`; the profile says it in {instead}");
                        return Err(Error::Argument { argument: words.group.clone(), message });
                    }
                }
                let inserts = profile::Inserts::read(&mut inserts)?;
                let split = options::split(&mut ranges)?;
                let ask = |keyspace: &str, table: &str| {
                    crate::driver::columns(&target.nodes, &target.access, (keyspace, table))
                };
                profile::draft(&command, (paths, operations), (seeds, split), &inserts, &ask, &mut notes)?
            }
        };
        let name = match &command.kind {
            Kind::Predefined(_) => first.group.clone(),
            Kind::Profile { paths, .. } => {
                let stem = paths.first().and_then(|path| path.file_stem());
                stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
            }
        };
        // An error in this generated text is a bug of Helenus, so it has a position.
        let workload = Workload::from_toml(&name, "the translation of the arguments", &draft.to_string())?;
        let counted = matches!(command.length, Length::Count(_));
        let rate = rate.unwrap_or(match counted && writes && matches!(command.kind, Kind::Predefined(_)) {
            true => Rate::Threads { threads: DEFAULT_WRITE_THREADS, per_s: None },
            false => Rate::Rising { from: 4, to: 1000, until_saturated: true },
        });
        Ok(Stress { command, rate, target, log, failures, most_partitions, draft, workload, notes })
    }

    /// Notes about arguments whose meaning differs from that in cassandra-stress, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The text of an equivalent workload file for `helenus load`.
    pub fn workload_toml(&self) -> String {
        self.draft.to_string()
    }

    /// The nodes given in the arguments.
    pub fn nodes(&self) -> &[String] {
        &self.target.nodes
    }

    /// The HTML file that `-graph file=` asks for.
    pub fn report(&self) -> Option<&Path> {
        self.log.report.as_deref()
    }

    /// The file of `-log file=`, which receives everything that is printed.
    pub fn log_file(&self) -> Option<&Path> {
        self.log.file.as_deref()
    }

    /// Names of the operations, in the order of the workload.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.draft.operations.iter().map(|operation| operation.name.as_str())
    }

    fn effects(&self) -> Vec<Effect> {
        self.draft.operations.iter().map(|operation| operation.effect).collect()
    }

    /// The part of the plan that is the same in all rounds.
    fn plan(&self, schema: Vec<String>) -> Plan {
        let mut plan = Plan::new(self.workload.clone(), Vec::new(), self.target.nodes.clone());
        plan.create_schema = !schema.is_empty();
        plan.workload.schema = schema;
        plan.access = self.target.access.clone();
        plan.connections_per_node = self.target.connections_per_node;
        plan
    }
}

fn refused(group: &str) -> Option<(&'static str, &'static str)> {
    options::REFUSED.into_iter().find(|(name, _)| *name == group)
}

const KNOWN: [&str; 13] = [
    "-rate",
    "-pop",
    "-node",
    "-port",
    "-mode",
    "-log",
    "-graph",
    "-reporting",
    "-errors",
    "-col",
    "-schema",
    "-insert",
    "-tokenrange",
];

fn unknown(group: &str) -> Error {
    let message = match group {
        known if KNOWN.contains(&known) => "is given twice; put all of it after one of them".to_string(),
        "-o" | "--output" | "--workload" => "is for helenus itself, and goes before the command".to_string(),
        _ => {
            let meant = helenus_notation::did_you_mean(group, KNOWN);
            format!("is unknown{meant} (options are {})", KNOWN.join(", "))
        }
    };
    Error::Argument { argument: group.to_string(), message }
}

/// The arguments without the password, for display and for the recording.
pub fn without_password(arguments: &[String]) -> Vec<String> {
    let hidden = |argument: &String| {
        let words = argument.split(' ').map(|word| match word.get(..9) {
            Some(head) if head.eq_ignore_ascii_case("password=") => format!("{head}…"),
            _ => word.to_string(),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    arguments.iter().map(hidden).collect()
}

#[cfg(test)]
mod tests;
