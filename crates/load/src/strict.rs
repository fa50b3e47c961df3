//! TOML read strictly: a key that nobody asked for is an error, with the file, the line and the key that was meant.
//!
//! A [`Document`] is parsed once; its tables are read through [`Section`]s, which remember what they were asked for, so
//! that [`Section::finish`] can say what is unknown.

use crate::Error;
use crate::error::nearest;
use crate::quantity;
use std::collections::BTreeSet;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A parsed file.
#[derive(Debug)]
pub struct Document<'t> {
    place: Place<'t>,
    table: Spanned<DeTable<'t>>,
}

/// Where errors point to.
#[derive(Debug, Clone, Copy)]
struct Place<'t> {
    file: &'t str,
    text: &'t str,
}

impl Place<'_> {
    fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Error::File { file: self.file.to_string(), line, message: message.into() }
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

/// A value that a section can hold.
pub trait FromValue: Sized {
    /// What it is, for an error: "a whole number".
    const EXPECTED: &'static str;

    /// None when it is something else; an error text when it is nearly right.
    fn from_value(value: &DeValue<'_>) -> Option<Result<Self, String>>;
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

    pub fn optional<T: FromValue>(&mut self, key: &'static str) -> Result<Option<T>, Error> {
        self.asked.insert(key);
        let Some((_, value)) = self.find(key) else { return Ok(None) };
        match T::from_value(value.get_ref()) {
            Some(Ok(found)) => Ok(Some(found)),
            Some(Err(reason)) => Err(self.place.error(value.span().start, format!("{}: {reason}", self.name(key)))),
            None => Err(self.wrong(key, T::EXPECTED)),
        }
    }

    pub fn required<T: FromValue>(&mut self, key: &'static str) -> Result<T, Error> {
        match self.optional(key)? {
            Some(value) => Ok(value),
            None => Err(self.missing(key)),
        }
    }

    /// One of `names`, as its position among them.
    pub fn choice(&mut self, key: &'static str, names: &[&str]) -> Result<Option<usize>, Error> {
        let Some(given) = self.optional::<String>(key)? else { return Ok(None) };
        match names.iter().position(|name| *name == given) {
            Some(position) => Ok(Some(position)),
            None => {
                let meant = crate::error::did_you_mean(&given, names.iter().copied());
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

    /// All of what is in this section as tables with names that the file chooses.
    pub fn named_sections(self) -> Result<Vec<(&'d str, Section<'d>)>, Error> {
        self.table.iter().map(|(name, value)| Ok((name.get_ref().as_ref(), self.enter(name, value)?))).collect()
    }

    /// All of what is in this section as values with names that the file chooses.
    pub fn named_values<T: FromValue>(&self) -> Result<Vec<(&'d str, T)>, Error> {
        let each = |(name, value): (&'d Spanned<_>, &'d Spanned<DeValue<'d>>)| {
            let name: &'d std::borrow::Cow<'d, str> = name.get_ref();
            match T::from_value(value.get_ref()) {
                Some(Ok(found)) => Ok((name.as_ref(), found)),
                Some(Err(reason)) => {
                    Err(self.place.error(value.span().start, format!("{}: {reason}", self.name(name))))
                }
                None => Err(self.wrong(name, T::EXPECTED)),
            }
        };
        self.table.iter().map(each).collect()
    }

    /// An array of tables, such as `[[phase]]`; empty when there is none.
    pub fn list(&mut self, key: &'static str) -> Result<Vec<Section<'d>>, Error> {
        self.asked.insert(key);
        let Some((name, value)) = self.find(key) else { return Ok(Vec::new()) };
        match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| self.enter(name, item)).collect(),
            _ => Err(self.wrong(key, "a list of tables, each under [[…]]")),
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

    /// Ends the reading: whatever was not asked for is unknown.
    pub fn finish(&self) -> Result<(), Error> {
        match self.table.keys().find(|key| !self.asked.contains(key.get_ref().as_ref())) {
            Some(unknown) => Err(self.unknown(unknown)),
            None => Ok(()),
        }
    }

    fn find(&self, key: &str) -> Option<(&'d Spanned<std::borrow::Cow<'d, str>>, &'d Spanned<DeValue<'d>>)> {
        self.table.iter().find(|(name, _)| name.get_ref() == key)
    }

    fn enter(
        &self,
        name: &Spanned<std::borrow::Cow<'d, str>>,
        value: &'d Spanned<DeValue<'d>>,
    ) -> Result<Section<'d>, Error> {
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

    fn wrong(&self, key: &str, expected: &str) -> Error {
        let found = self.find(key).map_or("nothing", |(_, value)| value.get_ref().type_str());
        self.error_at(key, format!("{} should be {expected}, not {}", self.name(key), with_article(found)))
    }

    /// A key that must be there: perhaps it is, and misspelt.
    fn missing(&self, key: &'static str) -> Error {
        let others = self.table.keys().filter(|name| !self.asked.contains(name.get_ref().as_ref()));
        match nearest(key, others.map(|name| name.get_ref().as_ref())).and_then(|near| self.table.get_key_value(near)) {
            Some((near, _)) => self.unknown(near),
            None => self.error(format!("{} is missing", self.name(key))),
        }
    }

    fn unknown(&self, key: &Spanned<std::borrow::Cow<'_, str>>) -> Error {
        let meant = crate::error::did_you_mean(key.get_ref(), self.asked.iter().copied());
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

fn with_article(kind: &str) -> String {
    match kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        true => format!("an {kind}"),
        false => format!("a {kind}"),
    }
}

impl FromValue for String {
    const EXPECTED: &'static str = "a string";

    fn from_value(value: &DeValue<'_>) -> Option<Result<String, String>> {
        value.as_str().map(|text| Ok(text.to_string()))
    }
}

impl FromValue for bool {
    const EXPECTED: &'static str = "true or false";

    fn from_value(value: &DeValue<'_>) -> Option<Result<bool, String>> {
        value.as_bool().map(Ok)
    }
}

impl FromValue for i64 {
    const EXPECTED: &'static str = "a whole number";

    fn from_value(value: &DeValue<'_>) -> Option<Result<i64, String>> {
        let integer = value.as_integer()?;
        let parsed = i64::from_str_radix(integer.as_str(), integer.radix());
        Some(parsed.map_err(|_| format!("{integer} is too large")))
    }
}

impl FromValue for f64 {
    const EXPECTED: &'static str = "a number";

    fn from_value(value: &DeValue<'_>) -> Option<Result<f64, String>> {
        match value {
            DeValue::Float(float) => {
                Some(float.as_str().parse().map_err(|_| format!("{} is not a number", float.as_str())))
            }
            _ => Some(i64::from_value(value)?.map(|whole| whole as f64)),
        }
    }
}

impl FromValue for Vec<String> {
    const EXPECTED: &'static str = "a list of strings";

    fn from_value(value: &DeValue<'_>) -> Option<Result<Vec<String>, String>> {
        let items = value.as_array()?.iter();
        items.map(|item| item.get_ref().as_str().map(str::to_string)).collect::<Option<_>>().map(Ok)
    }
}

impl FromValue for Duration {
    const EXPECTED: &'static str = "a duration such as \"90s\"";

    fn from_value(value: &DeValue<'_>) -> Option<Result<Duration, String>> {
        value.as_str().map(|text| quantity::duration(text).map_err(|bad| bad.to_string()))
    }
}

/// A positive whole number, plain or as text such as `"10k"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub u64);

impl FromValue for Count {
    const EXPECTED: &'static str = "a count such as 1000 or \"10k\"";

    fn from_value(value: &DeValue<'_>) -> Option<Result<Count, String>> {
        as_text(value).map(|text| quantity::count(&text).map(Count).map_err(|bad| bad.to_string()))
    }
}

/// A positive rate in requests per second, plain or as text such as `"10k"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate(pub f64);

impl FromValue for Rate {
    const EXPECTED: &'static str = "a rate such as 1000 or \"10k\"";

    fn from_value(value: &DeValue<'_>) -> Option<Result<Rate, String>> {
        as_text(value).map(|text| quantity::rate(&text).map(Rate).map_err(|bad| bad.to_string()))
    }
}

/// A size in bytes, plain or as text such as `"4KiB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl FromValue for Bytes {
    const EXPECTED: &'static str = "a size such as 100 or \"4KiB\"";

    fn from_value(value: &DeValue<'_>) -> Option<Result<Bytes, String>> {
        as_text(value).map(|text| quantity::bytes(&text).map(Bytes).map_err(|bad| bad.to_string()))
    }
}

fn as_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(whole) => Some(whole.to_string()),
        DeValue::Float(float) => Some(float.as_str().to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(u64, Option<Duration>), Error> {
        let document = Document::parse("file.toml", text)?;
        let mut root = document.root();
        let mut inner = root.section("inner")?.ok_or_else(|| root.missing("inner"))?;
        root.finish()?;
        let count = inner.required::<Count>("count")?.0;
        let lasts = inner.optional("for")?;
        inner.finish()?;
        Ok((count, lasts))
    }

    #[test]
    fn what_is_there_is_read() {
        let read = read("[inner]\ncount = \"10k\"\nfor = \"2m\"\n").unwrap();
        assert_eq!(read, (10_000, Some(Duration::from_secs(120))));
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
