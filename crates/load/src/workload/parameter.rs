//! How the value of a bind marker comes about, and how it is written in a file.

use crate::Error;
use crate::strict::{Bytes, Count, FromValue, Section};
use std::time::Duration;
use toml::de::DeValue;

/// A named generator of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The name of the bind markers that it fills.
    pub name: String,
    pub generator: Generator,
}

/// What fills a bind marker. The type of the column decides how it is written: key 7 is the number 7 for a bigint, text
/// that ends in 7 for a text, and a UUID of its own for a uuid.
#[derive(Debug, Clone, PartialEq)]
pub enum Generator {
    /// A number from 0 to below `population`.
    Key {
        population: u64,
        distribution: Distribution,
        /// Before the digits, for text.
        prefix: String,
        /// Length for text and blob; shorter than prefix and digits leaves them as they are.
        size_bytes: u32,
    },
    /// Bytes or text without meaning.
    Value { min_bytes: u32, max_bytes: u32, content: Content },
    /// The intended start of the request, earlier by `before`, rounded down to a multiple of `truncate`.
    Timestamp { before: Duration, truncate: Option<Duration> },
    /// Always the same.
    Fixed(Literal),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// One after the other by the number of the request, and from the start again after the last.
    Sequential,
    Uniform,
    /// Key k is drawn with a probability proportional to 1 / (k + 1)^exponent.
    Zipf {
        exponent: f64,
    },
    /// Always this one.
    Fixed {
        key: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Does not compress.
    Random,
    /// Compresses about as prose does.
    Text,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
}

impl Generator {
    /// The name of its kind in a file.
    pub fn kind(&self) -> &'static str {
        match self {
            Generator::Key { .. } => "key",
            Generator::Value { content: Content::Random, .. } => "value of random bytes",
            Generator::Value { content: Content::Text, .. } => "value of text",
            Generator::Timestamp { .. } => "timestamp",
            Generator::Fixed(Literal::Text(_)) => "fixed text",
            Generator::Fixed(Literal::Integer(_)) => "fixed whole number",
            Generator::Fixed(Literal::Float(_)) => "fixed number",
            Generator::Fixed(Literal::Boolean(_)) => "fixed true or false",
        }
    }
}

const LARGEST_VALUE_BYTES: u64 = 128 << 20;

pub(super) fn read(name: &str, mut section: Section<'_>) -> Result<Parameter, Error> {
    let kind = section.choice("kind", &["key", "value", "timestamp", "fixed"])?;
    let generator = match kind {
        Some(0) => read_key(&mut section)?,
        Some(1) => read_value(&mut section)?,
        Some(2) => Generator::Timestamp {
            before: section.optional("before")?.unwrap_or_default(),
            truncate: section.optional("truncate")?,
        },
        Some(_) => Generator::Fixed(section.required("value")?),
        None => return Err(section.required::<String>("kind").err().unwrap_or_else(|| section.error("no kind"))),
    };
    section.finish()?;
    Ok(Parameter { name: name.to_string(), generator })
}

fn read_key(section: &mut Section<'_>) -> Result<Generator, Error> {
    let population = section.required::<Count>("population")?.0;
    let chosen = section.choice("distribution", &["sequential", "uniform", "zipf", "fixed"])?;
    let exponent = section.optional::<f64>("exponent")?;
    let key = section.optional::<i64>("key")?;
    if exponent.is_some() && chosen != Some(2) {
        return Err(section.error_at("exponent", "`exponent` is for distribution = \"zipf\" only"));
    }
    if key.is_some() && chosen != Some(3) {
        return Err(section.error_at("key", "`key` is for distribution = \"fixed\" only"));
    }
    let distribution = match chosen {
        Some(0) => Distribution::Sequential,
        Some(2) => {
            // YCSB's constant.
            let exponent = exponent.unwrap_or(0.99);
            if !(exponent > 0.0 && exponent <= 10.0) {
                return Err(section.error_at("exponent", "`exponent` is more than 0 and at most 10"));
            }
            Distribution::Zipf { exponent }
        }
        Some(3) => match u64::try_from(key.unwrap_or(0)) {
            Ok(key) if key < population => Distribution::Fixed { key },
            _ => return Err(section.error_at("key", "`key` is from 0 to below `population`")),
        },
        _ => Distribution::Uniform,
    };
    let prefix = section.optional("prefix")?.unwrap_or_default();
    let size_bytes = size(section, "size_bytes")?.unwrap_or(12);
    Ok(Generator::Key { population, distribution, prefix, size_bytes })
}

fn read_value(section: &mut Section<'_>) -> Result<Generator, Error> {
    let exact = size(section, "size_bytes")?;
    let (min, max) = (size(section, "min_bytes")?, size(section, "max_bytes")?);
    let (min_bytes, max_bytes) = match (exact, min, max) {
        (Some(bytes), None, None) => (bytes, bytes),
        (None, Some(min), Some(max)) if min <= max => (min, max),
        (None, Some(_), Some(_)) => return Err(section.error_at("max_bytes", "`max_bytes` is less than `min_bytes`")),
        _ => return Err(section.error("a value has either `size_bytes` or both `min_bytes` and `max_bytes`")),
    };
    let content = match section.choice("content", &["random", "text"])? {
        Some(1) => Content::Text,
        _ => Content::Random,
    };
    Ok(Generator::Value { min_bytes, max_bytes, content })
}

fn size(section: &mut Section<'_>, key: &'static str) -> Result<Option<u32>, Error> {
    match section.optional::<Bytes>(key)? {
        Some(Bytes(bytes)) if bytes > LARGEST_VALUE_BYTES => {
            Err(section.error_at(key, format!("`{key}` is at most 128MiB")))
        }
        found => Ok(found.map(|Bytes(bytes)| bytes as u32)),
    }
}

impl FromValue for Literal {
    const EXPECTED: &'static str = "a string, a number, true or false";

    fn from_value(value: &DeValue<'_>) -> Option<Result<Literal, String>> {
        match value {
            DeValue::String(text) => Some(Ok(Literal::Text(text.to_string()))),
            DeValue::Boolean(boolean) => Some(Ok(Literal::Boolean(*boolean))),
            DeValue::Integer(_) => Some(i64::from_value(value)?.map(Literal::Integer)),
            DeValue::Float(_) => Some(f64::from_value(value)?.map(Literal::Float)),
            _ => None,
        }
    }
}
