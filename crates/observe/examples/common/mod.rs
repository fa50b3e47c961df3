//! Code shared by the measurements of sources.

use std::fs::File;
use std::path::Path;

type Failure = Box<dyn std::error::Error>;

/// A source's lost events, its reader's CPU time, and the CPU time of the thread that writes the recording.
pub fn account(folder: &Path, source: &str) -> Result<(u64, u64, u64), Failure> {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    let (mut lost, mut reader_ns, mut writer_ns) = (0, 0, 0);
    let file = File::open(folder.join("sources").join("part-0.parquet"))?;
    for batch in parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file)?.build()? {
        let batch = batch?;
        let column = |name: &str| batch.column_by_name(name).ok_or("a column is missing");
        let (names, losses, cpu) = (column("source")?, column("lost")?, column("cpu_ns")?);
        for row in 0..batch.num_rows() {
            let cpu_ns = cpu.as_primitive::<Int64Type>().value(row).unsigned_abs();
            match names.as_string::<i32>().value(row) {
                "recorder" => writer_ns += cpu_ns,
                name if name == source => {
                    lost += losses.as_primitive::<Int64Type>().value(row).unsigned_abs();
                    reader_ns += cpu_ns;
                }
                _ => {}
            }
        }
    }
    Ok((lost, reader_ns, writer_ns))
}
