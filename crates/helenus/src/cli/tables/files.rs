//! SSTables of a node that is not running, read from their files.

use crate::scratch::{Purpose, Scratch};
use crate::{interrupt, terminal};
use anyhow::Result;
use helenus_cassandra::{Places, sstable_files};
use helenus_explain::Engine;
use helenus_recording::{Manifest, Recorder, rows};
use std::path::Path;

use crate::cli::nodes;
use crate::cli::opened::opened;

pub const SOURCE: &str = "source: Cassandra's own sstablemetadata, on the files; tombstones are droppable as of now, by \
                          Cassandra's default gc_grace_seconds of 10 days, as the files do not have the table's own";

/// The metadata of the files as a recording, which is removed together with its folder.
pub struct Recorded {
    engine: Engine,
    _folder: Scratch,
}

impl Recorded {
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

/// Reads the SSTables under a folder of tables whose `keyspace.table` contains the text.
pub fn recorded(folder: &Path, table: Option<&str>) -> Result<Recorded> {
    let cancel = interrupt::cancel_on_signals()?;
    let mut steps = terminal::Steps::new();
    let found = sstable_files::find(folder)?;
    let wanted: Vec<_> = found
        .into_iter()
        .filter(|file| table.is_none_or(|text| format!("{}.{}", file.keyspace, file.table).contains(text)))
        .collect();
    steps.step(format_args!("reading the statistics of {} SSTable(s)", wanted.len()));
    let read =
        sstable_files::read(&Places::of_user()?, &wanted, &mut |progress| nodes::show(&mut steps, &progress), &cancel)?;
    for unreadable in &read.unreadable {
        steps.keep(|| terminal::warn(format_args!("{}: {}", unreadable.file.display(), unreadable.why)));
    }
    drop(steps);
    let temporary = Scratch::new(Purpose::Files)?;
    let path = temporary.path().join("files.helenus");
    let recorder = Recorder::create(&path, Manifest::new("files", &crate::cli::command_line()))?;
    let time_ns = recorder.clock().now_ns();
    for one in &read.sstables {
        recorder.append(rows::Sstable {
            time_ns,
            node: "",
            keyspace: &one.at.keyspace,
            table_name: &one.at.table,
            file: &one.at.file.to_string_lossy(),
            live: true,
            written_ns: one.written_ns,
            level: one.level,
            disk_bytes: Some(one.disk_bytes),
            data_bytes: Some(one.data_bytes()),
            compression_ratio: one.compression_ratio,
            partitions: one.partitions,
            row_count: one.rows,
            cells: one.cells,
            mean_partition_bytes: one.mean_partition_bytes,
            max_partition_bytes: one.max_partition_bytes,
            droppable_ratio: one.droppable_ratio,
            min_timestamp_us: one.min_timestamp_us,
            max_timestamp_us: one.max_timestamp_us,
            min_ttl_s: one.min_ttl_s,
            max_ttl_s: one.max_ttl_s,
            repaired_at_ms: one.repaired_at_ms,
            first_token: one.first_token.as_deref(),
            last_token: one.last_token.as_deref(),
            source: "sstablemetadata",
        });
    }
    recorder.close()?;
    let engine = opened(&[&path])?;
    Ok(Recorded { engine, _folder: temporary })
}
