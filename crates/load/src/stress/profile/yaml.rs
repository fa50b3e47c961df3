//! YAML read strictly, with the file and the line in each error.

use crate::Error;
use helenus_notation::did_you_mean;
use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};

/// A mapping that is being read.
#[derive(Debug)]
pub(super) struct Map<'y> {
    file: &'y str,
    path: String,
    line: usize,
    entries: Vec<Entry<'y>>,
    asked: Vec<&'static str>,
}

#[derive(Debug)]
struct Entry<'y> {
    /// Keys in lower case, because cassandra-stress ignores case.
    key: String,
    line: usize,
    value: &'y MarkedYaml<'y>,
}

/// A scalar with its line number.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub text: String,
    pub line: usize,
}

/// Parses a file with one document.
pub(super) fn parse<'y>(file: &str, text: &'y str) -> Result<MarkedYaml<'y>, Error> {
    let error = |line: usize, message: String| Error::File(helenus_notation::Error::at_line(file, line, message));
    let documents = MarkedYaml::load_from_str(text).map_err(|wrong| {
        let line = wrong.marker().line();
        let written = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let key = written.trim_start_matches([' ', '-']).split_once(':').map(|(key, _)| format!("`{}`: ", key.trim()));
        error(line, format!("{}not YAML: {}", key.unwrap_or_default(), wrong.info()))
    })?;
    let mut documents = documents.into_iter();
    match (documents.next(), documents.next()) {
        (Some(document), None) => Ok(document),
        (None, _) => Err(error(1, "the profile is empty".to_string())),
        (Some(_), Some(second)) => Err(error(second.span.start.line(), "a profile is one document".to_string())),
    }
}

impl<'y> Map<'y> {
    pub fn root(file: &'y str, document: &'y MarkedYaml<'y>) -> Result<Map<'y>, Error> {
        Map::of(file, String::new(), document)
    }

    fn of(file: &'y str, path: String, node: &'y MarkedYaml<'y>) -> Result<Map<'y>, Error> {
        let line = node.span.start.line();
        let YamlData::Mapping(mapping) = &node.data else {
            let what = if path.is_empty() { "the profile" } else { &path };
            return Err(helenus_notation::Error::at_line(file, line, format!("{what} should be a mapping")).into());
        };
        let entry = |(key, value): (&'y MarkedYaml<'y>, &'y MarkedYaml<'y>)| Entry {
            key: scalar(key).unwrap_or_default().to_lowercase(),
            line: key.span.start.line(),
            value,
        };
        Ok(Map { file, path, line, entries: mapping.iter().map(entry).collect(), asked: Vec::new() })
    }

    /// Adds the index of a list element to its errors.
    pub fn named(&mut self, name: &str) {
        self.path = format!("{} {name}", self.path);
    }

    pub fn optional(&mut self, key: &'static str) -> Result<Option<Text>, Error> {
        let Some(entry) = self.find(key) else { return Ok(None) };
        match scalar(entry.value) {
            // A key without a value counts as absent.
            Some(text) if text.is_empty() => Ok(None),
            Some(text) => Ok(Some(Text { text, line: entry.line })),
            None => Err(self.error(entry.line, format!("{} should be a text", self.name(key)))),
        }
    }

    pub fn required(&mut self, key: &'static str) -> Result<Text, Error> {
        self.optional(key)?.ok_or_else(|| self.error(self.line, format!("{} is missing", self.name(key))))
    }

    /// A text that is parsed further, with its line for errors.
    pub fn parsed<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Error> {
        let Some(text) = self.optional(key)? else { return Ok(None) };
        let parsed = parse(&text.text);
        parsed.map(Some).map_err(|message| self.error(text.line, format!("{}: {message}", self.name(key))))
    }

    /// A list of texts.
    pub fn texts(&mut self, key: &'static str) -> Result<Vec<Text>, Error> {
        let texts = self.items(key)?.into_iter().map(|item| {
            let line = item.span.start.line();
            scalar(item)
                .map(|text| Text { text, line })
                .ok_or_else(|| self.error(line, format!("{} should be a list of texts", self.name(key))))
        });
        texts.collect()
    }

    /// A list of mappings.
    pub fn maps(&mut self, key: &'static str) -> Result<Vec<Map<'y>>, Error> {
        let path = self.path_of(key);
        self.items(key)?.into_iter().map(|item| Map::of(self.file, path.clone(), item)).collect()
    }

    pub fn map(&mut self, key: &'static str) -> Result<Option<Map<'y>>, Error> {
        let path = self.path_of(key);
        let Some(entry) = self.find(key) else { return Ok(None) };
        match entry.value.data.is_null() {
            true => Ok(None),
            false => Map::of(self.file, path, entry.value).map(Some),
        }
    }

    /// All entries, as mappings whose keys are chosen by the file.
    pub fn named_maps(self) -> Result<Vec<(Text, Map<'y>)>, Error> {
        let each = |entry: &Entry<'y>| {
            let map = Map::of(self.file, format!("{}.{}", self.path, entry.key), entry.value)?;
            Ok((Text { text: entry.key.clone(), line: entry.line }, map))
        };
        self.entries.iter().map(each).collect()
    }

    /// The keys of the mapping.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }

    /// Fails if there is an entry that was not read.
    pub fn finish(&self) -> Result<(), Error> {
        let Some(unknown) = self.entries.iter().find(|entry| !self.asked.contains(&entry.key.as_str())) else {
            return Ok(());
        };
        let meant = did_you_mean(&unknown.key, self.asked.iter().copied());
        let place = if self.path.is_empty() { String::new() } else { format!(" in {}", self.path) };
        let known = self.asked.join(", ");
        Err(self.error(unknown.line, format!("unknown key `{}`{place}{meant} (known here: {known})", unknown.key)))
    }

    pub fn error(&self, line: usize, message: impl Into<String>) -> Error {
        helenus_notation::Error::at_line(self.file, line, message).into()
    }

    pub fn line(&self) -> usize {
        self.line
    }

    fn items(&mut self, key: &'static str) -> Result<Vec<&'y MarkedYaml<'y>>, Error> {
        let Some(entry) = self.find(key) else { return Ok(Vec::new()) };
        match &entry.value.data {
            YamlData::Sequence(items) => Ok(items.iter().collect()),
            data if data.is_null() => Ok(Vec::new()),
            _ => Err(self.error(entry.line, format!("{} should be a list", self.name(key)))),
        }
    }

    fn find(&mut self, key: &'static str) -> Option<Entry<'y>> {
        self.asked.push(key);
        let found = self.entries.iter().find(|entry| entry.key == key)?;
        Some(Entry { key: found.key.clone(), line: found.line, value: found.value })
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    fn name(&self, key: &str) -> String {
        format!("`{}`", self.path_of(key))
    }
}

fn scalar(node: &MarkedYaml<'_>) -> Option<String> {
    match &node.data {
        YamlData::Value(Scalar::String(text)) => Some(text.to_string()),
        YamlData::Value(Scalar::Integer(whole)) => Some(whole.to_string()),
        YamlData::Value(Scalar::FloatingPoint(number)) => Some(number.to_string()),
        YamlData::Value(Scalar::Boolean(truth)) => Some(truth.to_string()),
        YamlData::Value(Scalar::Null) => Some(String::new()),
        _ => None,
    }
}
