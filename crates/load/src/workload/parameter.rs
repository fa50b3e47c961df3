//! How the value of a bind marker is generated, and its notation in a file.

use super::distribution::{self, Distribution};
use helenus_notation::{Bytes, Count, Error, Section};
use std::time::Duration;

/// A named generator of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The name of the parameter and of its bind markers.
    pub name: String,
    pub generator: Generator,
}

/// The generator of a bind marker's values. The type of the column decides how a value is encoded: key 7 is the number
/// 7 for a bigint, text that ends in 7 for a text, and a unique UUID for a uuid.
#[derive(Debug, Clone, PartialEq)]
pub enum Generator {
    /// A key: a number from 0 to below `population`.
    Key {
        population: u64,
        distribution: Distribution,
        /// Text before the digits, for text columns.
        prefix: String,
        /// Length for text and blob; a length shorter than prefix and digits has no effect.
        size_bytes: u32,
        /// Whether [`super::Workload::set_population`] changes the population.
        scale: bool,
    },
    /// Random bytes or text. The distribution is that of the sizes.
    Value { min_bytes: u32, max_bytes: u32, sizes: Distribution, content: Content },
    /// An integer from `min` to `max`, such as an amount or a time to live.
    Integer { min: i64, max: i64, distribution: Distribution },
    /// The intended start of the request minus `before`, rounded down to a multiple of `truncate`.
    Timestamp { before: Duration, truncate: Option<Duration> },
    /// A constant.
    Fixed(Literal),
    /// A list or set, each item from the inner generator.
    List { of: Box<Generator>, min_items: u32, max_items: u32 },
}

/// The content of a value's bytes, which determines how well they compress. Ratios were measured with LZ4 on chunks of
/// 16 KiB, the default of tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Content {
    /// Incompressible bytes.
    Random,
    /// Bytes that compress to this share of their size, from 0.05 to 1, as `nodetool tablestats` shows it.
    Compressible { ratio: f64 },
    /// Words, which compress to about 0.75 of their size.
    Text,
    /// JSON records, cut at any point, which compress to about 0.49 of their size.
    Json,
}

#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(untagged, expecting = "not a string, a number, true or false")]
pub enum Literal {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
}

impl Generator {
    /// The name of the generator's kind in a file.
    pub fn kind(&self) -> &'static str {
        match self {
            Generator::Key { .. } => "key",
            Generator::Value { content: Content::Random | Content::Compressible { .. }, .. } => "value of random bytes",
            Generator::Value { content: Content::Text, .. } => "value of text",
            Generator::Value { content: Content::Json, .. } => "value of json",
            Generator::Integer { .. } => "integer",
            Generator::Timestamp { .. } => "timestamp",
            Generator::Fixed(Literal::Text(_)) => "fixed text",
            Generator::Fixed(Literal::Integer(_)) => "fixed whole number",
            Generator::Fixed(Literal::Float(_)) => "fixed number",
            Generator::Fixed(Literal::Boolean(_)) => "fixed true or false",
            Generator::List { .. } => "list",
        }
    }

    /// The generator of single values; for a list, that of its items.
    pub fn single(&self) -> &Generator {
        match self {
            Generator::List { of, .. } => of.single(),
            single => single,
        }
    }

    pub(super) fn single_mut(&mut self) -> &mut Generator {
        match self {
            Generator::List { of, .. } => of.single_mut(),
            single => single,
        }
    }
}

const LARGEST_VALUE_BYTES: u64 = 128 << 20;
const MOST_ITEMS: i64 = 65_535;

pub(super) fn read(name: &str, mut section: Section<'_>) -> Result<Parameter, Error> {
    let kind = section.choice("kind", &["key", "value", "integer", "timestamp", "fixed"])?;
    let single = match kind {
        Some(0) => read_key(&mut section)?,
        Some(1) => read_value(&mut section)?,
        Some(2) => read_integer(&mut section)?,
        Some(3) => Generator::Timestamp {
            before: section.duration("before")?.unwrap_or_default(),
            truncate: section.duration("truncate")?,
        },
        Some(_) => Generator::Fixed(section.required("value")?),
        None => return Err(section.required::<String>("kind").err().unwrap_or_else(|| section.error("no kind"))),
    };
    let generator = match read_items(&mut section)? {
        None => single,
        Some((min_items, max_items)) => Generator::List { of: Box::new(single), min_items, max_items },
    };
    section.finish()?;
    Ok(Parameter { name: name.to_string(), generator })
}

fn read_key(section: &mut Section<'_>) -> Result<Generator, Error> {
    let population = section.required::<Count>("population")?.0;
    let distribution = distribution::read(section, "distribution", Some(population))?;
    let prefix = section.optional("prefix")?.unwrap_or_default();
    let size_bytes = size(section, "size_bytes")?.unwrap_or(12);
    let scale = section.optional("scale")?.unwrap_or(true);
    Ok(Generator::Key { population, distribution, prefix, size_bytes, scale })
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
    let sizes = distribution::read(section, "sizes", None)?;
    if sizes != Distribution::Uniform && exact.is_some() {
        return Err(section.error_at("sizes", "`sizes` needs `min_bytes` and `max_bytes`; `size_bytes` is one size"));
    }
    let content = section.choice("content", &["random", "text", "json"])?;
    let content = match (content, section.optional::<f64>("compression_ratio")?) {
        (Some(0) | None, Some(ratio)) if (0.05..=1.0).contains(&ratio) => Content::Compressible { ratio },
        (Some(0) | None, Some(_)) => {
            let message = "`compression_ratio` is the compressed share of the size: at least 0.05 and at most 1";
            return Err(section.error_at("compression_ratio", message));
        }
        (Some(_), Some(_)) => {
            let message = "`compression_ratio` is for content = \"random\": text and json compress as they do";
            return Err(section.error_at("compression_ratio", message));
        }
        (Some(1), None) => Content::Text,
        (Some(2), None) => Content::Json,
        _ => Content::Random,
    };
    Ok(Generator::Value { min_bytes, max_bytes, sizes, content })
}

fn read_integer(section: &mut Section<'_>) -> Result<Generator, Error> {
    let (min, max) = (section.optional("min")?.unwrap_or(0), section.required("max")?);
    if min > max {
        return Err(section.error_at("max", "`max` is less than `min`"));
    }
    let distribution = distribution::read(section, "distribution", None)?;
    Ok(Generator::Integer { min, max, distribution })
}

/// The number of items of a list: `items`, or `min_items` and `max_items`.
fn read_items(section: &mut Section<'_>) -> Result<Option<(u32, u32)>, Error> {
    let mut items = |key| match section.optional::<i64>(key)? {
        Some(items) if !(0..=MOST_ITEMS).contains(&items) => {
            Err(section.error_at(key, format!("`{key}` is from 0 to 65,535")))
        }
        found => Ok(found.map(|items| items as u32)),
    };
    match (items("items")?, items("min_items")?, items("max_items")?) {
        (None, None, None) => Ok(None),
        (Some(items), None, None) => Ok(Some((items, items))),
        (None, Some(min), Some(max)) if min <= max => Ok(Some((min, max))),
        _ => {
            let message = "a list has either `items` or both `min_items` and `max_items`, and the latter is no less";
            Err(section.error(message))
        }
    }
}

fn size(section: &mut Section<'_>, key: &'static str) -> Result<Option<u32>, Error> {
    match section.optional::<Bytes>(key)? {
        Some(Bytes(bytes)) if bytes > LARGEST_VALUE_BYTES => {
            Err(section.error_at(key, format!("`{key}` is at most 128MiB")))
        }
        found => Ok(found.map(|Bytes(bytes)| bytes as u32)),
    }
}
