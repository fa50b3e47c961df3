//! What to send: schema, operations with weights, and how the values of their parameters are generated. Read from TOML.

mod bind;
mod builtin;
mod distribution;
mod encode;
mod file;
mod made;
mod markers;
mod mix;
mod operation;
mod parameter;
mod pool;
mod values;
mod verification;

pub use distribution::Distribution;
pub use mix::Mix;
pub(crate) use operation::Made;
pub use operation::{Batch, BatchKind, Operation};
pub use parameter::{Content, Generator, Literal, Parameter};
pub use scylla::frame::types::{Consistency, SerialConsistency};
pub use verification::Verification;

pub(crate) use bind::BoundOperation;
pub(crate) use encode::{Call, MadeRow, Sequence};
pub(crate) use pool::{PartitionRange, Pool};

use crate::Error;
use crate::draw::Draw;
use crate::rows::Rows;
use helenus_notation::given;
use helenus_recording::LoadFacts;
use std::path::Path;
use std::sync::Arc;

/// A workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    pub name: String,
    /// Where the workload came from, for the recording.
    pub origin: LoadFacts,
    /// A description in one sentence, for the list of workloads.
    pub description: String,
    pub consistency: Consistency,
    /// The seed: in every run with the same seed, request number n has the same operation and the same values.
    pub seed: u64,
    /// Replaces `${replication_factor}` in the schema.
    pub replication_factor: u64,
    /// The connections' keyspace, for statements that name a table without its keyspace.
    pub keyspace: Option<String>,
    /// CQL statements, run in this order before the load.
    pub schema: Vec<String>,
    pub parameters: Vec<Parameter>,
    /// The rows that operations insert and read, if they are generated from seeds: those of each table.
    pub(crate) tables: Vec<Arc<Rows>>,
    pub operations: Vec<Operation>,
    /// The named mixes of the file; each operation alone is a mix as well.
    pub mixes: Vec<(String, Mix)>,
    /// The mix that is run.
    pub mix: Mix,
    pub populate: Option<Populate>,
    pub verify: Option<Verification>,
}

/// How an empty table is filled before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Populate {
    /// Index of the operation.
    pub operation: usize,
    /// Number of requests. By default, one for each key of the population.
    pub count: u64,
    /// Requests in flight while populating.
    pub in_flight: u32,
}

impl Workload {
    /// Opens a workload by name or path, each with an optional mix: `keyvalue`, `keyvalue/read`, `mine.toml`,
    /// `mine.toml/mixed`.
    pub fn open(given: &str) -> Result<Workload, Error> {
        let (name, mix) = match given.rsplit_once(".toml/") {
            Some((path, mix)) => (format!("{path}.toml"), Some(mix)),
            None if given.ends_with(".toml") || Path::new(given).is_file() => (given.to_string(), None),
            None => match given.split_once('/') {
                Some((name, mix)) => (name.to_string(), Some(mix)),
                None => (given.to_string(), None),
            },
        };
        let mut workload = match builtin::text(&name) {
            Some(text) => Workload::from_toml(&name, &format!("built-in {name}.toml"), text)?,
            None if name.ends_with(".toml") || Path::new(&name).is_file() => {
                let path = Path::new(&name);
                let text = given::read_text(path, given::WRITTEN_AT_MOST)
                    .map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
                let stem = path.file_stem().map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned());
                Workload::from_toml(&stem, &name, &text)?
            }
            None => return Err(builtin::unknown(&name)),
        };
        if let Some(mix) = mix {
            workload.choose_mix(mix)?;
        }
        Ok(workload)
    }

    /// Parses a workload. `file` is its name in errors.
    pub fn from_toml(name: &str, file: &str, text: &str) -> Result<Workload, Error> {
        Ok(file::read(name, file, text)?)
    }

    /// The workload that a recording was made with.
    pub fn recorded(facts: &LoadFacts) -> Result<Workload, Error> {
        let mut workload =
            Workload::from_toml(&facts.workload, &format!("{} of the recording", facts.workload), &facts.text)?;
        if let Some(mix) = &facts.mix {
            workload.choose_mix(mix)?;
        }
        if let Some(keys) = facts.population {
            workload.set_population(keys);
        }
        Ok(workload)
    }

    /// Names and descriptions of the built-in workloads.
    pub fn built_in() -> Vec<(&'static str, String)> {
        builtin::list()
    }

    /// Chooses the operations to run: a mix of the file, a single operation, or weights such as `write=3,read=1`.
    pub fn choose_mix(&mut self, given: &str) -> Result<(), Error> {
        self.mix = mix::choose(self, given)?;
        self.origin.mix = Some(given.to_string());
        Ok(())
    }

    /// The names that [`Workload::choose_mix`] takes: the mixes of the file, then the operations.
    pub fn mix_names(&self) -> Vec<&str> {
        let mixes = self.mixes.iter().map(|(name, _)| name.as_str());
        let mut names: Vec<&str> = mixes.collect();
        names.extend(
            self.operations
                .iter()
                .map(|operation| operation.name.as_str())
                .filter(|name| !self.mixes.iter().any(|(mix, _)| mix == name)),
        );
        names
    }

    /// The operation of a request of the mix.
    pub(crate) fn operation_of(&self, number: u64) -> usize {
        self.mix.pick(Draw::new(self.seed, number, u64::MAX).unit())
    }

    /// Sets the number of keys of every key parameter, except those that do not scale. This changes which keys are
    /// written, read and populated.
    pub fn set_population(&mut self, keys: u64) {
        self.origin.population = Some(keys);
        let all = self.rows_to_populate();
        for parameter in &mut self.parameters {
            if let Generator::Key { population, scale: true, .. } = parameter.generator.single_mut() {
                *population = keys.max(1);
            }
        }
        self.tables.iter_mut().for_each(|rows| Arc::make_mut(rows).set_seeds(keys));
        let scaled = self.rows_to_populate();
        if let Some(populate) = &mut self.populate {
            // If the file gives a number of populating requests, it is replaced by the number of keys.
            populate.count = if Some(populate.count) == all { scaled.unwrap_or(keys) } else { keys.max(1) };
        }
    }

    /// The schema's statements, as they are sent to a node.
    pub fn schema_statements(&self) -> impl Iterator<Item = String> {
        let factor = self.replication_factor.to_string();
        self.schema.iter().map(move |statement| statement.replace("${replication_factor}", &factor))
    }

    /// Multiplies the number of keys.
    ///
    /// # Errors
    /// Fails if the scaled parameters have different numbers of keys: the population would be ambiguous in a
    /// recording.
    pub fn scale(&mut self, times: u64) -> Result<(), Error> {
        let mut populations: Vec<u64> = Vec::new();
        for parameter in &mut self.parameters {
            if let Generator::Key { population, scale: true, .. } = parameter.generator.single_mut() {
                populations.push(*population);
            }
        }
        populations.dedup();
        match populations[..] {
            [] => Ok(()),
            [population] => {
                self.set_population(population.saturating_mul(times));
                Ok(())
            }
            _ => Err(Error::Scale { workload: self.name.clone() }),
        }
    }

    /// The number of partitions of request `number` of the mix: one, unless it inserts into several.
    fn partitions_of(&self, number: u64) -> u64 {
        match self.operations[self.operation_of(number)].made {
            Some(Made::Inserts { insert, .. }) => insert.partitions(self.seed, number),
            _ => 1,
        }
    }

    /// The mean number of partitions of a request of the mix.
    pub(crate) fn mean_partitions(&self) -> f64 {
        let each = self.mix.shares().map(|(operation, share)| match self.operations[operation].made {
            Some(Made::Inserts { insert, .. }) => share * insert.partitions.mean().max(1.0),
            _ => share,
        });
        each.sum()
    }

    /// How many requests of the mix are needed for this many partitions. The last of them may exceed the number.
    pub(crate) fn requests_of(&self, partitions: u64) -> u64 {
        let mut counts = self.mix.shares().map(|(operation, _)| match self.operations[operation].made {
            Some(Made::Inserts { insert, .. }) => insert.partitions.only().and_then(|only| u64::try_from(only).ok()),
            _ => Some(1),
        });
        let first = counts.next().flatten();
        match first.filter(|first| counts.all(|count| count == Some(*first))) {
            Some(each) => partitions.div_ceil(each.max(1)),
            None => {
                let mut left = partitions;
                let mut requests = 0;
                while left > 0 {
                    left = left.saturating_sub(self.partitions_of(requests));
                    requests += 1;
                }
                requests
            }
        }
    }

    fn rows_to_populate(&self) -> Option<u64> {
        let populate = self.populate?;
        file::default_count(&self.parameters, &self.operations[populate.operation])
    }
}
