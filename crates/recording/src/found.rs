//! Finds the files of a recording's tables. A file that can't be read is skipped and noted, and keeps no other from being
//! read.

use crate::manifest::{Loss, Manifest};
use crate::part::{Damage, Part, Parts};
use crate::private::Folder;
use crate::schema::Table;
use crate::{Error, TABLES, TableFacts, parquet, reader, stream};
use std::collections::BTreeMap;

/// The parts that can be read, and the files that can't.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) parts: Parts,
    pub(crate) facts: BTreeMap<String, TableFacts>,
    pub(crate) skipped: Vec<Skipped>,
}

/// A file of a table, or the folder of all its files, that can't be read.
#[derive(Debug, Clone)]
pub(crate) struct Skipped {
    pub(crate) table: &'static Table,
    /// Its name in the table's folder; None for that folder.
    pub(crate) file: Option<String>,
    /// Number of rows in it; None if it is unknown.
    pub(crate) rows: Option<u64>,
    pub(crate) why: String,
    /// Whether its other rows are read.
    pub(crate) leaves_rest: bool,
}

/// How files are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    /// Nobody deletes them: each is opened when it is read.
    Closed,
    /// They may be deleted, and stay open. Their recorder has ended, or writes into other files.
    Ended,
    /// As before, and they are being written: a file that is empty was just created.
    Growing,
}

impl Found {
    /// Opens all parts in a folder of tables, closed or not, and counts the rows of each table.
    ///
    /// # Errors
    /// If the machine lacks something, or the folder is being deleted.
    pub(crate) fn in_folder(folder: &Folder, files: Files) -> Result<Found, Error> {
        let mut found = Found::default();
        for table in TABLES {
            let dataset = match folder.inner(table.name) {
                Ok(Some(dataset)) => dataset,
                Ok(None) => continue,
                Err(error) => {
                    found.skip(table, None, error)?;
                    continue;
                }
            };
            // A stream may have become a Parquet file meanwhile, so the dataset is listed again.
            match found.add(&dataset, table, files) {
                Err(error) if error.is_not_found() => found.add(&dataset, table, files)?,
                added => added?,
            }
        }
        found.facts = facts_of(&found.parts);
        Ok(found)
    }

    fn add(&mut self, dataset: &Folder, table: &'static Table, files: Files) -> Result<(), Error> {
        let (mut parts, mut skipped) = (Vec::new(), Found::default());
        let whole = match dataset.stems(parquet::EXTENSION) {
            Ok(whole) => whole,
            Err(error) => return self.skip(table, None, error),
        };
        let mut read = Vec::new();
        for stem in &whole {
            let name = format!("{stem}.{}", parquet::EXTENSION);
            let path = dataset.path().join(&name);
            let opened = dataset.open_file(&name).and_then(|file| Ok((parquet::facts_of_file(&file, &path)?, file)));
            match opened {
                Ok((facts, file)) => {
                    read.push(stem.clone());
                    parts.push(Part::of_parquet(table, path, facts, (files != Files::Closed).then_some(file)));
                }
                Err(error) => skipped.skip(table, Some(name), error)?,
            }
        }
        // If the Parquet file of a stream is damaged, the stream may still be there.
        for stem in dataset.stems(stream::EXTENSION)?.into_iter().filter(|stem| !read.contains(stem)) {
            let name = format!("{stem}.{}", stream::EXTENSION);
            let path = dataset.path().join(&name);
            match dataset.open_file(&name).and_then(|file| Ok((reader::whole(&file, &path)?, file))) {
                Ok(((0, 0), _)) if files != Files::Growing => {
                    let why = "no row of it can be read".to_string();
                    skipped.skipped.push(Skipped { table, file: Some(name), rows: None, why, leaves_rest: false });
                }
                Ok(((bytes, rows), file)) => {
                    let rest = file.metadata().map_or(0, |facts| facts.len()).saturating_sub(bytes);
                    if rest > 0 && files != Files::Growing {
                        let why = format!("its last {rest} bytes are cut off or damaged");
                        skipped.skipped.push(Skipped { table, file: Some(name), rows: None, why, leaves_rest: true });
                    }
                    parts.push(Part::of_stream(table, path, TableFacts { rows, bytes }, file));
                }
                Err(error) => skipped.skip(table, Some(name), error)?,
            }
        }
        self.skipped.append(&mut skipped.skipped);
        parts.retain(|part: &Part| part.facts().rows > 0);
        if !parts.is_empty() {
            self.parts.entry(table.name).or_default().extend(parts);
        }
        Ok(())
    }

    /// Notes a file that can't be read, unless that is not the file's fault.
    fn skip(&mut self, table: &'static Table, file: Option<String>, error: Error) -> Result<(), Error> {
        if error.is_of_the_machine() || error.is_not_found() {
            return Err(error);
        }
        self.skipped.push(Skipped { table, file, rows: None, why: error.why(), leaves_rest: false });
        Ok(())
    }

    /// Compares all bytes with their checksums, and skips what is damaged.
    pub(crate) fn verify(&mut self) {
        let skipped = &mut self.skipped;
        verify(
            &mut self.parts,
            |_| true,
            |part, damage| {
                let file = part.path().file_name().map(|name| name.to_string_lossy().into_owned());
                let (rows, why, leaves_rest) = (damage.rows, damage.why, damage.leaves_rest);
                skipped.push(Skipped { table: part.table(), file, rows, why, leaves_rest });
            },
        );
        self.facts = facts_of(&self.parts);
    }

    /// Notes the rows that are missing in the tables, of which the manifest counted `expected`.
    pub(crate) fn compare(&mut self, expected: &BTreeMap<String, TableFacts>) {
        for table in TABLES {
            let rows = |facts: &BTreeMap<String, TableFacts>| facts.get(table.name).map_or(0, |facts| facts.rows);
            let Some(missing) = rows(expected).checked_sub(rows(&self.facts)).filter(|rows| *rows > 0) else {
                continue;
            };
            let mut of_it = self.skipped.iter_mut().filter(|skipped| skipped.table.name == table.name);
            match (of_it.next(), of_it.next()) {
                (None, _) => {
                    let why = format!("{} of its {} rows are there", rows(&self.facts), rows(expected));
                    self.skipped.push(Skipped { table, file: None, rows: Some(missing), why, leaves_rest: true });
                }
                (Some(one), None) => one.rows = Some(missing),
                // Nobody knows how they are divided among several files.
                _ => {}
            }
        }
    }

    /// The skipped files, as losses. `before` comes before the names of the files.
    pub(crate) fn losses(&self, before: &str) -> Vec<Loss> {
        self.skipped.iter().map(|skipped| skipped.loss(before)).collect()
    }
}

impl Skipped {
    pub(crate) fn loss(&self, before: &str) -> Loss {
        let name = self.file.as_ref().map_or(String::new(), |file| format!("/{file}"));
        let skipped = if self.leaves_rest { "" } else { " is skipped" };
        let reason = format!("{before}{}{name}{skipped}: {}", self.table.name, self.why);
        Loss { table: self.table.name.to_string(), rows: self.rows, reason }
    }
}

/// Compares the bytes of parts with their checksums, and removes what is damaged.
pub(crate) fn verify(parts: &mut Parts, is_wanted: impl Fn(&Part) -> bool, mut note: impl FnMut(&Part, Damage)) {
    for of_table in parts.values_mut() {
        of_table.retain_mut(|part| {
            let Some(damage) = is_wanted(part).then(|| part.damage()).flatten() else { return true };
            let leaves_rest = damage.leaves_rest;
            part.lose(damage.rows.unwrap_or(0));
            note(part, damage);
            leaves_rest
        });
    }
    parts.retain(|_, of_table| !of_table.is_empty());
}

/// Rows and bytes of each table.
pub(crate) fn facts_of(parts: &Parts) -> BTreeMap<String, TableFacts> {
    let sum = |of_table: &[Part]| {
        of_table.iter().map(Part::facts).fold(TableFacts::default(), |sum, facts| TableFacts {
            rows: sum.rows.saturating_add(facts.rows),
            bytes: sum.bytes.saturating_add(facts.bytes),
        })
    };
    parts.iter().map(|(table, of_table)| ((*table).to_string(), sum(of_table))).collect()
}

/// Adds losses that are not among the known ones.
pub(crate) fn add_losses(manifest: &mut Manifest, losses: &[Loss]) {
    for loss in losses {
        if !manifest.losses.contains(loss) {
            manifest.losses.push(loss.clone());
        }
    }
}
