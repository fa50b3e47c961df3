//! YAML read strictly, with the file and the line in each error.

use crate::Error;
use helenus_notation::did_you_mean;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::HashMap;

/// A profile has four levels; the rest is room for mistakes that deserve a better error.
const DEEPEST: usize = 16;

/// A node of a document.
#[derive(Debug)]
pub(super) struct Node {
    line: usize,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// Empty for `~`, `null` and nothing at all.
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// A mapping that is being read.
#[derive(Debug)]
pub(super) struct Map<'y> {
    file: &'y str,
    path: String,
    line: usize,
    entries: Vec<Entry<'y>>,
    /// Entries that a later one of the same name replaces, with the lines of both.
    replaced: Vec<(String, usize, usize)>,
    asked: Vec<&'static str>,
}

#[derive(Debug)]
struct Entry<'y> {
    /// Keys in lower case, because cassandra-stress ignores case.
    key: String,
    line: usize,
    value: &'y Node,
}

/// A scalar with its line number.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub text: String,
    pub line: usize,
}

/// Parses a file with one document.
pub(super) fn parse(file: &str, text: &str) -> Result<Node, Error> {
    let error = |line: usize, message: String| Error::File(helenus_notation::Error::at_line(file, line, message));
    let too_deep = |line| error(line, format!("nested more than {DEEPEST} deep; a profile has 4 levels"));
    let mut open: Vec<Node> = Vec::new();
    let mut document = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|wrong| {
            let line = wrong.marker().line();
            // The parser also limits the depth to which it reads ahead.
            if wrong.info().contains("recursion limit") {
                return too_deep(line);
            }
            let written = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            let key = written.trim_start_matches([' ', '-']).split_once(':');
            let key = key.map(|(key, _)| format!("`{}`: ", short(key.trim())));
            error(line, format!("{}not YAML: {}", key.unwrap_or_default(), wrong.info()))
        })?;
        let line = span.start.line();
        let begun = |content| Node { line, content };
        let done = match event {
            Event::Alias(_) => {
                return Err(error(line, "aliases (`*name`) are not taken; repeat the text".to_string()));
            }
            Event::DocumentStart(_) if document.is_some() => {
                return Err(error(line, "a profile is one document".to_string()));
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= DEEPEST => {
                return Err(too_deep(line));
            }
            Event::Scalar(text, style, ..) => begun(Content::Scalar(scalar_text(&text, style))),
            Event::SequenceStart(..) => {
                open.push(begun(Content::List(Vec::new())));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(begun(Content::Map(Vec::new())));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(node) => node,
                None => continue,
            },
            _ => continue,
        };
        match open.last_mut().map(|parent| &mut parent.content) {
            None => document = Some(done),
            Some(Content::List(items)) => items.push(done),
            Some(Content::Map(entries)) => match entries.last_mut() {
                Some((_, value)) if value.line == UNREAD => *value = done,
                _ => entries.push((done, Node { line: UNREAD, content: Content::Scalar(String::new()) })),
            },
            Some(Content::Scalar(_)) => {}
        }
    }
    document.ok_or_else(|| error(1, "the profile is empty".to_string()))
}

/// The line of a value whose key alone has been read; lines count from 1.
const UNREAD: usize = 0;

fn scalar_text(text: &str, style: ScalarStyle) -> String {
    match (style, text) {
        (ScalarStyle::Plain, "~" | "null" | "Null" | "NULL") => String::new(),
        _ => text.to_string(),
    }
}

/// The start of a text from the file, for an error.
fn short(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

impl<'y> Map<'y> {
    pub fn root(file: &'y str, document: &'y Node) -> Result<Map<'y>, Error> {
        Map::of(file, String::new(), document)
    }

    /// Of two entries with one name the last one counts, as in cassandra-stress.
    fn of(file: &'y str, path: String, node: &'y Node) -> Result<Map<'y>, Error> {
        let line = node.line;
        let Content::Map(pairs) = &node.content else {
            let what = if path.is_empty() { "the profile" } else { &path };
            return Err(helenus_notation::Error::at_line(file, line, format!("{what} should be a mapping")).into());
        };
        let mut entries: Vec<Entry<'y>> = Vec::with_capacity(pairs.len());
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut replaced = Vec::new();
        for (key, value) in pairs {
            let entry = Entry { key: scalar(key).unwrap_or_default().to_lowercase(), line: key.line, value };
            match known.get(&entry.key) {
                Some(place) => {
                    replaced.push((entry.key.clone(), entries[*place].line, entry.line));
                    entries[*place] = entry;
                }
                None => {
                    known.insert(entry.key.clone(), entries.len());
                    entries.push(entry);
                }
            }
        }
        Ok(Map { file, path, line, entries, replaced, asked: Vec::new() })
    }

    /// A sentence for each entry that a later one of the same name replaces.
    fn replaced(&self) -> impl Iterator<Item = String> {
        const MOST: usize = 20;
        self.replaced.iter().take(MOST).map(|(key, first, second)| {
            let (name, file) = (short(&self.path_of(key)), self.file);
            format!("{file} has `{name}` twice, in line {first} and line {second}; the last one counts")
        })
    }

    /// Adds the index of a list element to its errors.
    pub fn named(&mut self, name: &str) {
        self.path = format!("{} {}", self.path, short(name));
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
            let line = item.line;
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
        match scalar(entry.value).is_some_and(|text| text.is_empty()) {
            true => Ok(None),
            false => Map::of(self.file, path, entry.value).map(Some),
        }
    }

    /// All entries, as mappings whose keys are chosen by the file.
    pub fn named_maps(self, notes: &mut Vec<String>) -> Result<Vec<(Text, Map<'y>)>, Error> {
        notes.extend(self.replaced());
        let each = |entry: &Entry<'y>| {
            let map = Map::of(self.file, short(&self.path_of(&entry.key)), entry.value)?;
            Ok((Text { text: entry.key.clone(), line: entry.line }, map))
        };
        self.entries.iter().map(each).collect()
    }

    /// Fails if there is an entry that was not read.
    pub fn finish(&self, notes: &mut Vec<String>) -> Result<(), Error> {
        notes.extend(self.replaced());
        let Some(unknown) = self.entries.iter().find(|entry| !self.asked.contains(&entry.key.as_str())) else {
            return Ok(());
        };
        let key = short(&unknown.key);
        let meant = did_you_mean(&key, self.asked.iter().copied());
        let place = if self.path.is_empty() { String::new() } else { format!(" in {}", self.path) };
        let known = self.asked.join(", ");
        Err(self.error(unknown.line, format!("unknown key `{key}`{place}{meant} (known here: {known})")))
    }

    pub fn error(&self, line: usize, message: impl Into<String>) -> Error {
        helenus_notation::Error::at_line(self.file, line, message).into()
    }

    pub fn line(&self) -> usize {
        self.line
    }

    fn items(&mut self, key: &'static str) -> Result<Vec<&'y Node>, Error> {
        let Some(entry) = self.find(key) else { return Ok(Vec::new()) };
        match &entry.value.content {
            Content::List(items) => Ok(items.iter().collect()),
            Content::Scalar(text) if text.is_empty() => Ok(Vec::new()),
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

fn scalar(node: &Node) -> Option<String> {
    match &node.content {
        Content::Scalar(text) => Some(text.clone()),
        _ => None,
    }
}
