//! Writes a table as a Parquet file when it is closed.

use crate::checksum::{self, Summed};
use crate::private::Folder;
use crate::reader::{self, Unread};
use crate::schema::{Table, Type};
use crate::stream::DAMAGED;
use crate::{Error, TableFacts};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::path::Path;

pub(crate) const EXTENSION: &str = "parquet";
/// The extension of a Parquet file until it is complete.
pub(crate) const UNFINISHED: &str = "unfinished";

/// Writes one Parquet file under a temporary name, and renames it once it is complete and on the disk.
pub(crate) struct ParquetFile<'a> {
    folder: &'a Folder,
    stem: &'a str,
    schema: SchemaRef,
    table: &'a Table,
    writer: ArrowWriter<Summed>,
    rows: u64,
}

impl<'a> ParquetFile<'a> {
    pub(crate) fn create(
        folder: &'a Folder,
        stem: &'a str,
        table: &'a Table,
        schema: SchemaRef,
    ) -> Result<ParquetFile<'a>, Error> {
        let file = folder.create_file(&format!("{stem}.{UNFINISHED}"))?;
        let options = ArrowWriterOptions::new()
            .with_properties(properties(table))
            // Other readers, and our own, should see plain strings, whatever encoding was used in memory.
            .with_skip_arrow_metadata(true);
        let mut writer = ArrowWriter::try_new_with_options(Summed::new(file), schema.clone(), options)?;
        writer.append_key_value_metadata(checksum::entry());
        Ok(ParquetFile { folder, stem, schema, table, writer, rows: 0 })
    }

    /// Writes rows; rows of an older version may lack columns.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let batch = self.table.fit(batch, &self.schema)?;
        self.rows += batch.num_rows() as u64;
        Ok(self.writer.write(&batch)?)
    }

    /// Renames the file to its final name. Without rows there is no file.
    pub(crate) fn finish(self) -> Result<TableFacts, Error> {
        let unfinished = format!("{}.{UNFINISHED}", self.stem);
        if self.rows == 0 {
            self.folder.remove(&format!("{}.{EXTENSION}", self.stem))?;
            self.folder.remove(&unfinished)?;
            return Ok(TableFacts::default());
        }
        let path = self.folder.path().join(&unfinished);
        let file = self.writer.into_inner()?.finish().map_err(Error::io("write", &path))?;
        file.sync_all().map_err(Error::io("write", &path))?;
        let bytes = file.metadata().map_err(Error::io("read", &path))?.len();
        self.folder.rename(&unfinished, &format!("{}.{EXTENSION}", self.stem))?;
        Ok(TableFacts { rows: self.rows, bytes })
    }
}

/// The result of converting a stream to Parquet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Converted {
    pub(crate) facts: TableFacts,
    pub(crate) unread: Option<Unread>,
}

/// Converts a stream to the Parquet file beside it. Then the stream is removed or, if it is damaged, kept as
/// `.damaged`. If this is interrupted at any point, the stream or the complete Parquet file exists.
pub(crate) fn convert(folder: &Folder, stem: &str, extension: &str, table: &Table) -> Result<Converted, Error> {
    let name = format!("{stem}.{extension}");
    let file = folder.open_file(&name)?;
    let mut out = ParquetFile::create(folder, stem, table, table.stream_schema())?;
    let converted = reader::read(&file, table, |batch| out.write(&batch)).and_then(|unread| {
        let is_damaged = unread.is_some_and(|unread| !unread.is_cut);
        // Rename the stream first: a Parquet file with its final name would mean that the stream is not needed.
        if is_damaged && extension != DAMAGED {
            folder.rename(&name, &format!("{stem}.{DAMAGED}"))?;
        }
        let facts = out.finish()?;
        if !is_damaged {
            folder.remove(&name)?;
        }
        Ok(Converted { facts, unread })
    });
    if converted.is_err() {
        // The disk may be full; the stream still has all rows.
        let _ = folder.remove(&format!("{stem}.{UNFINISHED}"));
    }
    converted
}

/// The part of a damaged stream that could not be read when its Parquet file was made.
pub(crate) fn unread(folder: &Folder, stem: &str, table: &Table) -> Result<Option<Unread>, Error> {
    let file = folder.open_file(&format!("{stem}.{DAMAGED}"))?;
    reader::read(&file, table, |_| Ok(()))
}

/// Rows and bytes of a dataset, from the footers of its files.
pub(crate) fn facts_of(dataset: &Folder) -> Result<TableFacts, Error> {
    let mut facts = TableFacts::default();
    for stem in dataset.stems(EXTENSION)? {
        let name = format!("{stem}.{EXTENSION}");
        let of_file = facts_of_file(&dataset.open_file(&name)?, &dataset.path().join(&name))?;
        facts.bytes += of_file.bytes;
        facts.rows = facts.rows.saturating_add(of_file.rows);
    }
    Ok(facts)
}

/// Rows and bytes of one file, from its footer.
pub(crate) fn facts_of_file(file: &File, path: &Path) -> Result<TableFacts, Error> {
    let bytes = file.metadata().map_err(Error::io("read", path))?.len();
    let damaged = |reason: String| Error::Damaged { path: path.to_path_buf(), reason };
    if bytes == 0 {
        return Err(damaged("it is empty".to_string()));
    }
    if !checksum::has_footer(file).map_err(Error::io("read", path))? {
        return Err(damaged("it does not end as a Parquet file does".to_string()));
    }
    let footer = ParquetMetaDataReader::new().parse_and_finish(file).map_err(|error| damaged(error.to_string()))?;
    let rows = u64::try_from(footer.file_metadata().num_rows()).unwrap_or(0);
    Ok(TableFacts { rows, bytes })
}

fn properties(table: &Table) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(1 << 18));
    for column in table.columns.iter().filter(|column| column.ty == Type::Int64) {
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}
