//! A table when it is closed: a Parquet file of a dataset.

use crate::schema::{Table, Type};
use crate::{Error, private, stream};
use arrow::array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::path::{Path, PathBuf};

pub(crate) const EXTENSION: &str = "parquet";

/// Writes one Parquet file; nobody sees it under its name before it is whole and on the disk.
pub(crate) struct ParquetFile {
    path: PathBuf,
    unfinished: PathBuf,
    writer: ArrowWriter<File>,
    rows: u64,
}

impl ParquetFile {
    pub(crate) fn create(
        path: &Path,
        table: &Table,
        schema: arrow::datatypes::SchemaRef,
    ) -> Result<ParquetFile, Error> {
        let unfinished = path.with_extension("unfinished");
        let file = private::create_file(&unfinished)?;
        let options = ArrowWriterOptions::new()
            .with_properties(properties(table))
            // Other readers, and our own, shall see plain strings whatever they were in memory.
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, schema, options)?;
        Ok(ParquetFile { path: path.to_path_buf(), unfinished, writer, rows: 0 })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.rows += batch.num_rows() as u64;
        Ok(self.writer.write(batch)?)
    }

    /// Number of rows written.
    pub(crate) fn finish(self) -> Result<u64, Error> {
        let file = self.writer.into_inner()?;
        file.sync_all().map_err(Error::io("sync", &self.unfinished))?;
        std::fs::rename(&self.unfinished, &self.path).map_err(Error::io("rename", &self.unfinished))?;
        private::sync_folder(&self.path)?;
        Ok(self.rows)
    }
}

/// What became of a stream when it was turned into Parquet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Converted {
    pub(crate) rows: u64,
    pub(crate) ended: stream::Ended,
}

/// Turns a stream into the Parquet file beside it, and then removes the stream. Whenever this is cut off, the stream
/// or the whole Parquet file is there.
pub(crate) fn convert(stream_path: &Path, table: &Table) -> Result<Converted, Error> {
    let path = stream_path.with_extension(EXTENSION);
    let mut file = ParquetFile::create(&path, table, table.stream_schema())?;
    let result = stream::read(stream_path, |batch| file.write(&batch))
        .and_then(|ended| file.finish().map(|rows| Converted { rows, ended }));
    match result {
        Ok(converted) => {
            if converted.rows == 0 {
                std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
            }
            std::fs::remove_file(stream_path).map_err(Error::io("remove", stream_path))?;
            Ok(converted)
        }
        Err(error) => {
            // The room may be what is missing; the stream still has everything.
            let _ = std::fs::remove_file(path.with_extension("unfinished"));
            Err(error)
        }
    }
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
