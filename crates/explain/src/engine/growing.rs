//! A table that is still being written, as one partition of an engine table.

use arrow::datatypes::SchemaRef;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use helenus_recording::Part;
use helenus_recording::schema::Table;
use std::sync::Arc;

/// A stream as far as it was written when its recording was opened. One group of its rows is in memory at a time.
#[derive(Debug)]
pub(super) struct Stream {
    table: &'static Table,
    part: Part,
    schema: SchemaRef,
}

impl Stream {
    pub(super) fn of(table: &'static Table, part: Part) -> Stream {
        Stream { table, part, schema: table.nullable_schema() }
    }
}

impl PartitionStream for Stream {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let table = self.table;
        let external = |error: helenus_recording::Error| DataFusionError::External(Box::new(error));
        let batches: Box<dyn Iterator<Item = _> + Send> = match self.part.batches() {
            Ok(batches) => Box::new(batches.map(move |batch| {
                let batch = batch.map_err(external)?;
                Ok(table.plain(&batch)?)
            })),
            Err(error) => Box::new(std::iter::once(Err(external(error)))),
        };
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::iter(batches)))
    }
}
