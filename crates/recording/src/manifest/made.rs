//! The manifest of a recording whose own can't be read, made of its files.

use super::{ClockFacts, FILE_NAME, Host, Loss, Manifest, State};
use crate::kept::{self, Kept};
use crate::private::Folder;
use crate::{Clock, FORMAT, TABLES, parquet, salvage, stream};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

/// In place of a table's name in the loss that says that the manifest can't be read.
pub(crate) const TABLE: &str = "the manifest";

/// None if there is nothing that is a recording's.
pub(crate) fn of(folder: &Folder, why: &str) -> Option<Manifest> {
    let has = |extension: &str| {
        let dataset = |name: &str| folder.inner(name).ok().flatten();
        let mut datasets = TABLES.iter().filter_map(|table| dataset(table.name));
        datasets.any(|dataset| dataset.stems(extension).is_ok_and(|stems| !stems.is_empty()))
    };
    let is_kept = kept::names(folder).is_ok_and(|names| !names.is_empty());
    let has_streams = has(stream::EXTENSION);
    if !is_kept && !has_streams && !has(parquet::EXTENSION) {
        return None;
    }
    let facts = folder.path().metadata().ok()?;
    let name = folder.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let created_ns = match kept::begin_of(&name) {
        0 => facts.mtime().saturating_mul(1_000_000_000).saturating_add(facts.mtime_nsec()),
        begin_ns => begin_ns,
    };
    let reason = format!("{FILE_NAME} is skipped: {why}; what it said of nodes, sources and losses is not known");
    let is_written = salvage::is_written(folder);
    let unknown = || "unknown".to_string();
    Some(Manifest {
        format: FORMAT,
        // The same each time, so that two copies of one recording are known as such.
        id: format!("without-manifest-{}-{}", facts.dev(), facts.ino()),
        title: name,
        question: None,
        command: unknown(),
        helenus: unknown(),
        state: if has_streams || is_written { State::Writing } else { State::Salvaged },
        writer_pid: 0,
        created_ns,
        closed_ns: None,
        clock: if is_written { Clock::measure().facts() } else { unknown_clock() },
        host: Host { name: unknown(), kernel: unknown(), arch: unknown(), cpus: 0 },
        nodes: Vec::new(),
        load: None,
        sources: Vec::new(),
        tables: BTreeMap::new(),
        losses: vec![Loss { table: TABLE.to_string(), rows: None, reason }],
        merged: Vec::new(),
        kept: is_kept.then_some(Kept { keep_ns: i64::MAX, max_bytes: None }),
        remarks: Vec::new(),
    })
}

/// The clock of a recording of an unknown boot.
pub(crate) fn unknown_clock() -> ClockFacts {
    ClockFacts { epoch_offset_ns: 0, error_ns: 0, boot_id: String::new() }
}
