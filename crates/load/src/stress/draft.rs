//! A workload while it comes together, and its text.

use super::distribution::{Distribution, Shape};
use std::fmt::{self, Display};

/// What becomes a workload file, and what the driver does not need to know of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub description: String,
    pub consistency: String,
    pub schema: Vec<String>,
    pub truncate: Vec<String>,
    pub parameters: Vec<(String, Filler)>,
    pub operations: Vec<OperationDraft>,
}

#[derive(Debug, Clone)]
pub(super) struct OperationDraft {
    pub name: String,
    pub cql: String,
    pub weight: f64,
    pub effect: Effect,
}

/// What a request of an operation touches, for the rates of partitions and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Effect {
    pub partitions: u64,
    /// Rows written; none for a query, whose rows are counted in its answer.
    pub rows: Option<u64>,
    /// It asks for a row that must be there.
    pub must_find: bool,
}

/// What fills a bind marker.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filler {
    Key {
        population: u64,
        draw: KeyDraw,
        size_bytes: Option<u64>,
    },
    Value {
        min_bytes: u64,
        max_bytes: u64,
        sizes: KeyDraw,
        text: bool,
    },
    /// When the request was meant to start.
    Time,
    Whole(u64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum KeyDraw {
    Sequential,
    Uniform,
    /// Mean and deviation of keys that begin at 0.
    Gaussian {
        mean: f64,
        deviation: f64,
    },
    /// As the workload's own, from the start of the range or from its end.
    Weibull {
        shape: f64,
        steps: Option<u64>,
        inverted: bool,
    },
    Fixed(u64),
}

impl KeyDraw {
    /// What a distribution draws, counted from the start of its range.
    pub fn of(distribution: Distribution) -> KeyDraw {
        let Distribution { shape, min, max, inverted } = distribution;
        match shape {
            Shape::Fixed => KeyDraw::Fixed(0),
            Shape::Uniform => KeyDraw::Uniform,
            // Its mirror image is one with the mean on the other side.
            Shape::Gaussian { mean, deviation } => {
                let mean = if inverted { (min + max) as f64 - mean } else { mean };
                KeyDraw::Gaussian { mean: mean - min as f64, deviation }
            }
            Shape::Exponential => KeyDraw::Weibull { shape: 1.0, steps: None, inverted },
            Shape::Extreme { shape } => KeyDraw::Weibull { shape, steps: None, inverted },
            Shape::Stepped { shape, steps } => KeyDraw::Weibull { shape, steps: Some(steps), inverted },
        }
    }

    /// Over a population that is so many times as large.
    pub fn scaled(self, times: f64) -> KeyDraw {
        match self {
            KeyDraw::Gaussian { mean, deviation } => {
                KeyDraw::Gaussian { mean: mean * times, deviation: deviation * times }
            }
            other => other,
        }
    }
}

impl Filler {
    /// Bytes or text whose sizes are drawn.
    pub fn value(size: Distribution, text: bool) -> Filler {
        Filler::Value { min_bytes: size.min, max_bytes: size.max, sizes: KeyDraw::of(size), text }
    }
}

impl Draft {
    /// Adds a parameter unless it is there, and returns its bind marker.
    pub fn marker(&mut self, name: &str, filler: Filler) -> String {
        let name = marker_name(name);
        if !self.parameters.iter().any(|(known, _)| *known == name) {
            self.parameters.push((name.clone(), filler));
        }
        format!(":{name}")
    }
}

/// A name that a bind marker can have.
fn marker_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("p{plain}") }
}

/// A name in CQL, in quotes where it needs them.
pub(super) fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A text in CQL.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The text of the workload file.
impl Display for Draft {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "description = {}", text(&self.description))?;
        writeln!(out, "consistency = {}", text(&self.consistency))?;
        writeln!(out, "schema = [")?;
        for statement in &self.schema {
            writeln!(out, "  {},", text(statement))?;
        }
        writeln!(out, "]")?;
        for (name, filler) in &self.parameters {
            writeln!(out, "\n[parameters.{}]\n{filler}", key(name))?;
        }
        for operation in &self.operations {
            writeln!(out, "\n[operations.{}]", key(&operation.name))?;
            writeln!(out, "cql = {}\nweight = {:?}", text(&operation.cql), operation.weight)?;
        }
        Ok(())
    }
}

/// The name of the distribution, and the keys that go with it on lines of their own.
impl Display for KeyDraw {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyDraw::Sequential => write!(out, "\"sequential\""),
            KeyDraw::Uniform => write!(out, "\"uniform\""),
            KeyDraw::Gaussian { mean, deviation } => {
                write!(out, "\"gaussian\"\nmean = {mean:?}\ndeviation = {deviation:?}")
            }
            KeyDraw::Weibull { shape, steps, inverted } => {
                write!(out, "\"weibull\"\nshape = {shape:?}")?;
                steps.map_or(Ok(()), |steps| write!(out, "\nsteps = {steps}"))?;
                if *inverted { write!(out, "\ninverted = true") } else { Ok(()) }
            }
            KeyDraw::Fixed(key) => write!(out, "\"fixed\"\nkey = {key}"),
        }
    }
}

impl Display for Filler {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Filler::Key { population, draw, size_bytes } => {
                write!(out, "kind = \"key\"\npopulation = {population}\ndistribution = {draw}")?;
                size_bytes.map_or(Ok(()), |bytes| write!(out, "\nsize_bytes = {bytes}"))
            }
            Filler::Value { min_bytes, max_bytes, sizes, text } => {
                let content = if *text { "text" } else { "random" };
                writeln!(out, "kind = \"value\"")?;
                match min_bytes == max_bytes {
                    true => write!(out, "size_bytes = {min_bytes}")?,
                    false => write!(out, "min_bytes = {min_bytes}\nmax_bytes = {max_bytes}")?,
                }
                match *sizes {
                    KeyDraw::Uniform | KeyDraw::Fixed(_) => {}
                    // The mean of sizes is in bytes, that of keys is counted from the first.
                    KeyDraw::Gaussian { mean, deviation } => {
                        let mean = mean + *min_bytes as f64;
                        write!(out, "\nsizes = {}", KeyDraw::Gaussian { mean, deviation })?;
                    }
                    other => write!(out, "\nsizes = {other}")?,
                }
                write!(out, "\ncontent = \"{content}\"")
            }
            Filler::Time => write!(out, "kind = \"timestamp\""),
            Filler::Whole(number) => write!(out, "kind = \"fixed\"\nvalue = {number}"),
        }
    }
}

fn text(value: &str) -> String {
    toml::Value::String(value.to_string()).to_string()
}

/// A key of TOML, in quotes where it needs them.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_string() } else { text(name) }
}
