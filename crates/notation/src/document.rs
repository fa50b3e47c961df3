//! Strict reading of TOML: an unknown key is an error, with the file, the line and the key that was probably meant.
//!
//! A [`Document`] is parsed once; its tables are read through [`Section`]s, which remember what they were asked for, so
//! that [`Section::finish`] can say what is unknown.

use crate::Error;
use crate::quantity::Span;
use crate::suggestion::{did_you_mean, nearest};
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// A parsed file.
#[derive(Debug)]
pub struct Document<'t> {
    place: Place<'t>,
    table: Spanned<DeTable<'t>>,
}

/// The file's name and text, for errors.
#[derive(Debug, Clone, Copy)]
struct Place<'t> {
    file: &'t str,
    text: &'t str,
}

impl Place<'_> {
    fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let of_line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let column = 1 + String::from_utf8_lossy(of_line).chars().count();
        Error { file: self.file.to_string(), line, column: Some(column), message: message.into() }
    }

    /// Reads a value by serde. `of` is what the value is of, with a colon.
    fn read<T: DeserializeOwned>(&self, of: &str, value: Spanned<DeValue<'_>>) -> Result<T, Error> {
        let start = value.span().start;
        T::deserialize(ValueDeserializer::from(value)).map_err(|error| {
            let offset = error.span().map_or(start, |span| span.start);
            let message = error.message().replace("expected a sequence", "expected a list");
            self.error(offset, format!("{of}{message}{}", meant(&message)))
        })
    }
}

impl<'t> Document<'t> {
    /// Parses `text`; `file` is how errors name it.
    pub fn parse(file: &'t str, text: &'t str) -> Result<Document<'t>, Error> {
        let place = Place { file, text };
        let table = DeTable::parse(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            place.error(offset, format!("not TOML: {}", error.message()))
        })?;
        Ok(Document { place, table })
    }

    pub fn root(&self) -> Section<'_> {
        Section {
            place: self.place,
            table: self.table.get_ref(),
            offset: 0,
            path: String::new(),
            asked: BTreeSet::new(),
        }
    }
}

/// One table of a file while it is read.
#[derive(Debug)]
pub struct Section<'d> {
    place: Place<'d>,
    table: &'d DeTable<'d>,
    offset: usize,
    path: String,
    asked: BTreeSet<&'static str>,
}

impl<'d> Section<'d> {
    /// Its path in the file, such as `parameters.key`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Names of the keys that are there, in alphabetical order.
    pub fn keys(&self) -> impl Iterator<Item = &'d str> {
        self.table.keys().map(|key| key.get_ref().as_ref())
    }

    /// A value, or a table that serde reads as a whole.
    pub fn optional<T: DeserializeOwned>(&mut self, key: &'static str) -> Result<Option<T>, Error> {
        self.asked.insert(key);
        let Some((_, value)) = self.find(key) else { return Ok(None) };
        self.place.read(&format!("{}: ", self.name(key)), value.clone()).map(Some)
    }

    pub fn required<T: DeserializeOwned>(&mut self, key: &'static str) -> Result<T, Error> {
        match self.optional(key)? {
            Some(value) => Ok(value),
            None => Err(self.missing(key)),
        }
    }

    pub fn duration(&mut self, key: &'static str) -> Result<Option<Duration>, Error> {
        Ok(self.optional::<Span>(key)?.map(|Span(duration)| duration))
    }

    /// One of `names`, as its index among them.
    pub fn choice(&mut self, key: &'static str, names: &[&str]) -> Result<Option<usize>, Error> {
        let Some(given) = self.optional::<String>(key)? else { return Ok(None) };
        match names.iter().position(|name| *name == given) {
            Some(position) => Ok(Some(position)),
            None => {
                let meant = did_you_mean(&given, names.iter().copied());
                let known = names.join(", ");
                Err(self.error_at(key, format!("{} is `{given}`{meant} (one of {known})", self.name(key))))
            }
        }
    }

    /// A table in this one.
    pub fn section(&mut self, key: &'static str) -> Result<Option<Section<'d>>, Error> {
        self.asked.insert(key);
        self.find(key).map(|(name, value)| self.enter(name, value)).transpose()
    }

    /// All entries of this section, which must be tables, with names that the file chooses.
    pub fn named_sections(self) -> Result<Vec<(&'d str, Section<'d>)>, Error> {
        self.table.iter().map(|(name, value)| Ok((name.get_ref().as_ref(), self.enter(name, value)?))).collect()
    }

    /// All entries of this section, which must be values, with names that the file chooses.
    pub fn named_values<T: DeserializeOwned>(&self) -> Result<Vec<(&'d str, T)>, Error> {
        let each = |(name, value): (&'d Spanned<Cow<'d, str>>, &'d Spanned<DeValue<'d>>)| {
            let name = name.get_ref().as_ref();
            Ok((name, self.place.read(&format!("{}: ", self.name(name)), value.clone())?))
        };
        self.table.iter().map(each).collect()
    }

    /// All of this section, of a type that denies unknown fields. Errors about single keys can be had afterwards.
    pub fn whole<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let of = if self.path.is_empty() { String::new() } else { format!("[{}]: ", self.path) };
        let value = DeValue::Table(self.table.clone());
        self.place.read(&of, Spanned::new(self.offset..self.offset, value))
    }

    /// An array of tables, such as `[[phase]]`; empty when there is none.
    pub fn list(&mut self, key: &'static str) -> Result<Vec<Section<'d>>, Error> {
        self.asked.insert(key);
        let Some((name, value)) = self.find(key) else { return Ok(Vec::new()) };
        match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| self.enter(name, item)).collect(),
            other => {
                let found = other.type_str();
                let message =
                    format!("{} should be a list of tables, each under [[…]]; it is of type {found}", self.name(key));
                Err(self.error_at(key, message))
            }
        }
    }

    /// An error at a key of this section, or at the section where the key is not there.
    pub fn error_at(&self, key: &str, message: impl Into<String>) -> Error {
        let offset = self.find(key).map_or(self.offset, |(_, value)| value.span().start);
        self.place.error(offset, message)
    }

    /// An error about the section as a whole.
    pub fn error(&self, message: impl Into<String>) -> Error {
        self.place.error(self.offset, message)
    }

    /// Ends the reading: every key that was not read is unknown.
    pub fn finish(&self) -> Result<(), Error> {
        match self.table.keys().find(|key| !self.asked.contains(key.get_ref().as_ref())) {
            Some(unknown) => Err(self.unknown(unknown)),
            None => Ok(()),
        }
    }

    fn find(&self, key: &str) -> Option<(&'d Spanned<Cow<'d, str>>, &'d Spanned<DeValue<'d>>)> {
        self.table.iter().find(|(name, _)| name.get_ref() == key)
    }

    fn enter(&self, name: &Spanned<Cow<'d, str>>, value: &'d Spanned<DeValue<'d>>) -> Result<Section<'d>, Error> {
        let path = match self.path.as_str() {
            "" => name.get_ref().to_string(),
            path => format!("{path}.{}", name.get_ref()),
        };
        match value.get_ref() {
            DeValue::Table(table) => {
                // The header of a table has the better line; the span of one built from dotted keys can be empty.
                let offset = if name.span().is_empty() { value.span().start } else { name.span().start };
                Ok(Section { place: self.place, table, offset, path, asked: BTreeSet::new() })
            }
            _ => Err(self.place.error(value.span().start, format!("{path} should be a table"))),
        }
    }

    fn name(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => format!("`{key}`"),
            path => format!("`{key}` of [{path}]"),
        }
    }

    /// A required key, which may be present but misspelt.
    fn missing(&self, key: &'static str) -> Error {
        let others = self.table.keys().filter(|name| !self.asked.contains(name.get_ref().as_ref()));
        match nearest(key, others.map(|name| name.get_ref().as_ref())).and_then(|near| self.table.get_key_value(near)) {
            Some((near, _)) => self.unknown(near),
            None => self.error(format!("{} is missing", self.name(key))),
        }
    }

    fn unknown(&self, key: &Spanned<Cow<'_, str>>) -> Error {
        let meant = did_you_mean(key.get_ref(), self.asked.iter().copied());
        let known: Vec<&str> = self.asked.iter().copied().collect();
        let place = match self.path.as_str() {
            "" => String::new(),
            path => format!(" in [{path}]"),
        };
        let known = known.join(", ");
        self.place
            .error(key.span().start, format!("unknown key `{}`{place}{meant} (known here: {known})", key.get_ref()))
    }
}

/// The name that was meant, where serde's message says that one is unknown, and which there are, all in backticks.
fn meant(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    match names.next() {
        Some(given) if message.starts_with("unknown ") => did_you_mean(given, names),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Count;

    fn read(text: &str) -> Result<(u64, Option<Duration>), Error> {
        let document = Document::parse("file.toml", text)?;
        let mut root = document.root();
        let mut inner = root.section("inner")?.ok_or_else(|| root.missing("inner"))?;
        root.finish()?;
        let count = inner.required::<Count>("count")?.0;
        let lasts = inner.duration("for")?;
        inner.finish()?;
        Ok((count, lasts))
    }

    #[test]
    fn what_is_there_is_read() {
        let read = read("[inner]\ncount = \"10k\"\nfor = \"2m\"\n").unwrap();
        assert_eq!(read, (10_000, Some(Duration::from_secs(120))));
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Whole {
        #[serde(deserialize_with = "crate::quantity::of_count")]
        count: u32,
        #[serde(rename = "for", deserialize_with = "crate::quantity::of_span")]
        lasts: Duration,
    }

    #[test]
    fn serde_reads_a_whole_table_with_the_same_errors() {
        let read = |text: &str| -> Result<Whole, String> {
            let document = Document::parse("file.toml", text).unwrap();
            let section = document.root().section("whole").unwrap().unwrap();
            section.whole().map_err(|error| error.to_string())
        };
        let lasts = Duration::from_secs(120);
        assert_eq!(read("[whole]\ncount = \"10k\"\nfor = \"2m\"\n"), Ok(Whole { count: 10_000, lasts }));
        let wrong = ["count = 1\nfro = \"2m\"", "count = \"5G\"\nfor = \"2m\"", "count = 1\n  for = 90", "count = 1"];
        let errors = wrong.map(|text| read(&format!("[whole]\n{text}\n")).unwrap_err());
        insta::assert_snapshot!(errors.join("\n"));
    }

    #[test]
    fn errors_have_file_line_and_suggestion() {
        let errors: Vec<String> = [
            "[inner]\nx = 1\ncount = 1\n",
            "[inner]\n\ncuont = 1\n",
            "[inner]\ncount = 1\nfro = \"2m\"\n",
            "[inner]\ncount = true\n",
            "[inner]\ncount = -5\n",
            "[inner]\ncount = 5\nfor = \"soon\"\n",
            "[iner]\ncount = 5\n",
            "inner = 5\n",
            "[inner]\ncount = \n",
            "[inner]\n",
            "",
        ]
        .iter()
        .map(|text| read(text).unwrap_err().to_string())
        .collect();
        insta::assert_snapshot!(errors.join("\n"));
    }
}
