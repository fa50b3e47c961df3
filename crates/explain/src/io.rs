//! I/O accounting: bytes read and written by file and table, and the bytes that clients received from them.

use crate::cql::table_of_statement;
use crate::engine::Engine;
use crate::{Error, query};
use serde::Serialize;
use std::collections::BTreeMap;
use std::rc::Rc;

/// I/O by file, table and statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Io {
    /// Files by bytes, the most first.
    pub files: Vec<FileIo>,
    pub tables: Vec<TableIo>,
    pub statements: Vec<StatementIo>,
}

/// A file; for others than SSTables, a description of the kind of file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileIo {
    pub node: String,
    pub file: String,
    /// The table as `keyspace.table`, for an SSTable.
    pub table: Option<String>,
    /// The SSTable component, such as Data.db.
    pub component: Option<String>,
    /// I/O of the threads that serve requests.
    pub reads: Traffic,
    /// Mean number of bytes that the threads that serve requests read in order, from one jump in the file to the next. None where no
    /// call says where it read (`read`), and where calls were only summed up.
    pub run_bytes: Option<f64>,
    /// I/O of all other threads: compaction, flushes, streams.
    pub background_reads: Traffic,
    pub writes: Traffic,
    /// I/O through memory mappings, by the threads that serve requests.
    pub mapped_reads: MappedReads,
    pub background_mapped_reads: MappedReads,
    /// Bytes read from the disk, including readahead, for all reads of the file by calls and through mappings.
    pub from_disk_bytes: i64,
}

/// Page faults on mapped memory that waited for the disk, and the bytes read for them. Hits in the page cache don't count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MappedReads {
    pub faults: i64,
    pub bytes: i64,
}

/// Number of calls, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Traffic {
    pub calls: i64,
    pub bytes: i64,
    pub total_ms: f64,
}

/// I/O of a table, on all recorded nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TableIo {
    /// `keyspace.table`.
    pub table: String,
    pub reads: Traffic,
    pub background_reads: Traffic,
    pub writes: Traffic,
    pub mapped_reads: MappedReads,
    pub background_mapped_reads: MappedReads,
    pub from_disk_bytes: i64,
    /// Requests on the wire that were answered with rows of the table.
    pub requests: i64,
    /// Bytes of the responses to them.
    pub returned_bytes: i64,
    /// Bytes read for requests, by calls and through mappings, for each byte that was returned. None where nothing was returned.
    pub amplification: Option<f64>,
}

/// A statement as it was seen on the wire.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatementIo {
    pub node: String,
    pub statement: String,
    /// The table in the statement's spelling, with a keyspace if it names one.
    pub table: Option<String>,
    pub requests: i64,
    pub request_bytes: i64,
    pub response_bytes: i64,
    pub p50_ms: f64,
    pub max_ms: f64,
    /// Bytes read from the table's files for each byte that its statements returned. For all statements together,
    /// because reads don't say for which statement they are.
    pub amplification: Option<f64>,
}

impl Io {
    /// Sums up all I/O of the recording; the result is cached.
    pub(crate) fn of(engine: &Engine) -> Result<Rc<Io>, Error> {
        engine.once(Io::load)
    }

    pub fn load(engine: &Engine) -> Result<Io, Error> {
        let mut io = Io { files: files(engine)?, ..Io::default() };
        let mut tables: BTreeMap<String, TableIo> = BTreeMap::new();
        for file in &io.files {
            let Some(name) = &file.table else { continue };
            let table =
                tables.entry(name.clone()).or_insert_with(|| TableIo { table: name.clone(), ..TableIo::default() });
            table.reads.add(file.reads);
            table.background_reads.add(file.background_reads);
            table.writes.add(file.writes);
            table.mapped_reads.add(file.mapped_reads);
            table.background_mapped_reads.add(file.background_mapped_reads);
            table.from_disk_bytes += file.from_disk_bytes;
        }
        let rows = engine.sql(&query::STATEMENT_IO.fill(&[]))?;
        let integers = |column| rows.integers(column);
        let (node, p50_ms, max_ms) = (rows.texts("node")?, rows.numbers("p50_ms")?, rows.numbers("max_ms")?);
        let (requests, with_rows) = (integers("requests")?, integers("answered_with_rows")?);
        let (request_bytes, response_bytes) = (integers("request_bytes")?, integers("response_bytes")?);
        for (row, statement) in rows.texts("statement")?.into_iter().enumerate() {
            let table = table_of_statement(&statement).map(|named| whole_name(&named, &tables));
            if let (Some(name), 1..) = (&table, with_rows[row]) {
                let table =
                    tables.entry(name.clone()).or_insert_with(|| TableIo { table: name.clone(), ..TableIo::default() });
                table.requests += with_rows[row];
                table.returned_bytes += response_bytes[row];
            }
            io.statements.push(StatementIo {
                node: node[row].clone(),
                statement,
                table,
                requests: requests[row],
                request_bytes: request_bytes[row],
                response_bytes: response_bytes[row],
                p50_ms: p50_ms[row],
                max_ms: max_ms[row],
                amplification: None,
            });
        }
        for table in tables.values_mut() {
            table.amplification =
                (table.returned_bytes > 0).then(|| table.read_bytes() as f64 / table.returned_bytes as f64);
        }
        for statement in &mut io.statements {
            let table = statement.table.as_ref().and_then(|name| tables.get(name));
            statement.amplification = table.and_then(|table| table.amplification);
        }
        io.tables = tables.into_values().collect();
        io.tables.sort_by_key(|table| std::cmp::Reverse((table.read_bytes(), table.returned_bytes)));
        Ok(io)
    }
}

impl Traffic {
    fn add(&mut self, more: Traffic) {
        self.calls += more.calls;
        self.bytes += more.bytes;
        self.total_ms += more.total_ms;
    }
}

impl MappedReads {
    fn add(&mut self, more: MappedReads) {
        self.faults += more.faults;
        self.bytes += more.bytes;
    }
}

impl TableIo {
    /// Bytes read for requests, by system calls and through memory mappings.
    pub fn read_bytes(&self) -> i64 {
        self.reads.bytes + self.mapped_reads.bytes
    }
}

impl FileIo {
    fn new(node: &str, path: &str) -> FileIo {
        let sstable = sstable(path);
        FileIo {
            node: node.to_string(),
            table: sstable.as_ref().map(|(table, _)| table.clone()),
            component: sstable.map(|(_, component)| component),
            file: path.to_string(),
            ..FileIo::default()
        }
    }
}

fn files(engine: &Engine) -> Result<Vec<FileIo>, Error> {
    let rows = engine.sql(&query::FILE_IO.fill(&[]))?;
    let (node, calls, bytes) = (rows.texts("node")?, rows.integers("calls")?, rows.integers("bytes")?);
    let (is_read, is_request) = (rows.booleans("is_read")?, rows.booleans("is_request")?);
    let total_ms = rows.numbers("total_ms")?;
    let mut files: BTreeMap<(String, String), FileIo> = BTreeMap::new();
    for (row, path) in rows.texts("file")?.into_iter().enumerate() {
        let file = files.entry((node[row].clone(), path.clone())).or_insert_with(|| FileIo::new(&node[row], &path));
        let traffic = match (is_read[row], is_request[row]) {
            (true, true) => &mut file.reads,
            (true, false) => &mut file.background_reads,
            (false, _) => &mut file.writes,
        };
        traffic.add(Traffic { calls: calls[row], bytes: bytes[row], total_ms: total_ms[row] });
    }
    let rows = engine.sql(&query::DISK_READS.fill(&[]))?;
    let (node, faults, bytes) = (rows.texts("node")?, rows.integers("faults")?, rows.integers("bytes")?);
    let (is_mapped, is_request) = (rows.booleans("is_mapped")?, rows.booleans("is_request")?);
    for (row, path) in rows.texts("file")?.into_iter().enumerate() {
        let file = files.entry((node[row].clone(), path.clone())).or_insert_with(|| FileIo::new(&node[row], &path));
        file.from_disk_bytes += bytes[row];
        if is_mapped[row] {
            let reads = if is_request[row] { &mut file.mapped_reads } else { &mut file.background_mapped_reads };
            reads.add(MappedReads { faults: faults[row], bytes: bytes[row] });
        }
    }
    let rows = engine.sql(&query::READ_RUNS.fill(&[]))?;
    let (runs, bytes) = (rows.integers("runs")?, rows.integers("bytes")?);
    for (row, name) in rows.texts("node")?.into_iter().zip(rows.texts("file")?).enumerate() {
        if let Some(file) = files.get_mut(&name) {
            file.run_bytes = Some(bytes[row] as f64 / runs[row].max(1) as f64);
        }
    }
    let mut files: Vec<FileIo> = files.into_values().collect();
    files.sort_by_key(|file| {
        let mapped = file.mapped_reads.bytes + file.background_mapped_reads.bytes;
        std::cmp::Reverse(file.reads.bytes + file.background_reads.bytes + file.writes.bytes + mapped)
    });
    Ok(files)
}

/// Table and component of an SSTable's path: `…/KEYSPACE/TABLE-ID/[folders/]VERSION-NUMBER-FORMAT-COMPONENT`.
fn sstable(path: &str) -> Option<(String, String)> {
    const ID: usize = 32;
    let (folders, name) = path.rsplit_once('/')?;
    let mut parts = name.splitn(4, '-');
    let (version, _, _, component) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if version.len() != 2 {
        return None;
    }
    let mut folders = folders.rsplit('/');
    let is_id = |id: &str| id.len() == ID && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let table = folders.find_map(|folder| folder.rsplit_once('-').filter(|(_, id)| is_id(id)).map(|(name, _)| name))?;
    Some((format!("{}.{table}", folders.next()?), component.to_string()))
}

/// The table's name with its keyspace, if only one keyspace has files of a table of that name.
fn whole_name(named: &str, tables: &BTreeMap<String, TableIo>) -> String {
    if named.contains('.') {
        return named.to_string();
    }
    let mut same = tables.keys().filter(|known| known.rsplit_once('.').is_some_and(|(_, table)| table == named));
    match (same.next(), same.next()) {
        (Some(only), None) => only.clone(),
        _ => named.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sstables_are_told_from_other_files() {
        let id = "5a1c395e1b6911eebe560242ac120002";
        let some = |table: &str, component: &str| Some((table.to_string(), component.to_string()));
        assert_eq!(sstable(&format!("/d/data/ks/t-{id}/nb-1-big-Data.db")), some("ks.t", "Data.db"));
        assert_eq!(sstable(&format!("/d/ks/my_t-{id}/.i_idx/da-3gx-bti-Rows.db")), some("ks.my_t", "Rows.db"));
        assert_eq!(sstable(&format!("/d/ks/t-{id}/manifest.json")), None);
        assert_eq!(sstable("/d/commitlog/CommitLog-7-1.log"), None);
        assert_eq!(sstable("/d/a-b/nb-1-big-Data.db"), None);
    }

    #[test]
    fn a_table_has_its_keyspace_where_the_files_know_one() {
        let tables = ["a.t", "a.u", "b.u"].map(|name| (name.to_string(), TableIo::default())).into();
        assert_eq!(whole_name("t", &tables), "a.t");
        assert_eq!(whole_name("u", &tables), "u", "there are two");
        assert_eq!(whole_name("x.t", &tables), "x.t");
    }
}
