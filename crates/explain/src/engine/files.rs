//! Registers the files of recordings as tables of the engine.

use super::growing::Stream;
use super::message;
use crate::Error;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::object_store::local::LocalFileSystem;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::SessionContext;
use helenus_recording::schema::Table;
use helenus_recording::{HELD, Part, Recording};
use std::path::Path;
use std::sync::Arc;
use url::Url;

/// The object store of each recording's files.
///
/// Each recording has a store of its own, in which its files are named from its folder on. So the folder's path may
/// hold characters that an object store does not accept. Files of growing recordings are named by their file
/// descriptors.
pub(super) struct Stores {
    recordings: Vec<Url>,
    held: Url,
}

impl Stores {
    pub(super) fn of(context: &SessionContext, recordings: &[Recording]) -> Result<Stores, Error> {
        let store = |name: &str, folder: &Path| {
            let url = Url::parse(&format!("recording://{name}/")).map_err(|_| Error::Path(folder.to_path_buf()))?;
            let store = LocalFileSystem::new_with_prefix(folder).map_err(|error| message::of(error.into()))?;
            context.register_object_store(&url, Arc::new(store));
            Ok::<Url, Error>(url)
        };
        let numbered = recordings.iter().enumerate();
        let stores = numbered.map(|(number, recording)| store(&number.to_string(), recording.folder()));
        Ok(Stores { recordings: stores.collect::<Result<_, _>>()?, held: store("held", Path::new(HELD))? })
    }

    /// A table of a recording: its Parquet files and streams together.
    pub(super) fn provider(
        &self,
        context: &SessionContext,
        number: usize,
        recording: &Recording,
        table: &'static Table,
    ) -> Result<Arc<dyn TableProvider>, Error> {
        let parts = recording.parts(table.name)?;
        let (whole, streams): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(|part| part.parquet().is_some());
        let schema = table.nullable_schema();
        if streams.is_empty() && whole.is_empty() {
            return Ok(Arc::new(EmptyTable::new(schema)));
        }
        let closed = match whole.is_empty() {
            true => None,
            false => {
                let urls = whole.iter().map(|part| self.url(number, recording, part));
                let urls = urls.collect::<Result<Vec<_>, Error>>()?;
                // Files of growing recordings are held open and named by their file descriptors.
                let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension("");
                let config = ListingTableConfig::new_with_multi_paths(urls)
                    .with_listing_options(options)
                    .with_schema(Arc::clone(&schema));
                Some(ListingTable::try_new(config).map_err(message::of)?)
            }
        };
        let growing = match streams.is_empty() {
            true => None,
            false => {
                let streams = streams.into_iter().map(|part| Arc::new(Stream::of(table, part)) as _);
                let streams: Vec<Arc<dyn PartitionStream>> = streams.collect();
                Some(StreamingTable::try_new(schema, streams).map_err(message::of)?)
            }
        };
        match (closed, growing) {
            (Some(closed), None) => Ok(Arc::new(closed)),
            (None, Some(growing)) => Ok(Arc::new(growing)),
            (closed, growing) => {
                let read = |provider: Arc<dyn TableProvider>| context.read_table(provider).map_err(message::of);
                let both = closed.map(|closed| read(Arc::new(closed))).into_iter();
                let mut both = both.chain(growing.map(|growing| read(Arc::new(growing))));
                let (first, second) =
                    (both.next().ok_or(Error::NoRecording)??, both.next().ok_or(Error::NoRecording)??);
                Ok(first.union(second).map_err(message::of)?.into_view())
            }
        }
    }

    fn url(&self, number: usize, recording: &Recording, part: &Part) -> Result<ListingTableUrl, Error> {
        let bad = || Error::Path(part.path().to_path_buf());
        let path = part.parquet().ok_or_else(bad)?;
        let (mut url, names) = match path.strip_prefix(HELD) {
            Ok(name) => (self.held.clone(), name),
            Err(_) => {
                let within = path.strip_prefix(recording.folder()).map_err(|_| bad())?;
                (self.recordings.get(number).ok_or_else(bad)?.clone(), within)
            }
        };
        let names = names.iter().map(|name| name.to_str().ok_or_else(bad)).collect::<Result<Vec<_>, Error>>()?;
        // Add names as path segments instead of text, so that `*` or `[` in a name is not taken as a pattern.
        url.path_segments_mut().map_err(|()| bad())?.extend(names);
        ListingTableUrl::try_new(url, None).map_err(message::of)
    }
}
