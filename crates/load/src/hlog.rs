//! HdrHistogram interval logs: one line of text per operation, kind of time and interval, which HistogramLogAnalyzer and
//! the HistogramLogProcessor read.
//!
//! ```text
//! Tag=READ-st,12.000,1.000,3.215,HISTFAAAAB…
//!   tag, start since the base time in s, length in s, maximum in ms, histogram in ns (V2, deflated, base64)
//! ```
//!
//! Tags end in `-st` (service time), `-rt` (response time, from the intended start) and `-wt` (wait between the intended
//! and the actual start), as those of cassandra-stress do; the latter two are only there in open loop. The format is that
//! of HistogramLogWriter 1.3 (HdrHistogram, Java).

use crate::{Error, OperationTimes};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use helenus_recording::private;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LEGEND: &str = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";

/// A log that is being written.
pub struct Log {
    path: PathBuf,
    file: BufWriter<File>,
    serializer: V2DeflateSerializer,
    base_ns: i64,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Log").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Log {
    /// Begins a log at a time in ns since the Unix epoch; a file of that name is replaced.
    pub fn create(path: &Path, start_ns: i64) -> Result<Log, Error> {
        let failed = |source| Error::Write { path: path.to_path_buf(), source };
        let mut file = BufWriter::new(private::create(path).map_err(failed)?);
        // Rounded to the whole second, so that the starts of intervals are easy to read.
        let base_s = start_ns.div_euclid(1_000_000_000);
        let head = format!(
            "#[Times of requests by operation, logged by helenus]\n#[Histogram log format version 1.3]\n\
             #[BaseTime: {base_s}.000 (seconds since epoch)]\n#[StartTime: {base_s}.000 (seconds since epoch)]\n{LEGEND}\n"
        );
        file.write_all(head.as_bytes()).map_err(failed)?;
        let base_ns = base_s * 1_000_000_000;
        Ok(Log { path: path.to_path_buf(), file, serializer: V2DeflateSerializer::new(), base_ns })
    }

    /// Appends an interval with the times of each operation, which `names` has in the same order. Only complete lines
    /// are written, so that the log of a killed run is readable.
    pub fn append<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str>,
        times: &[OperationTimes],
        (start_ns, end_ns): (i64, i64),
    ) -> Result<(), Error> {
        for (name, times) in names.zip(times) {
            for (kind, histogram) in [("st", &times.service), ("rt", &times.response), ("wt", &times.wait)] {
                if !histogram.is_empty() {
                    let line = self.line(&format!("{name}-{kind}"), histogram, start_ns, end_ns);
                    self.file.write_all(&line).map_err(|source| self.failed(source))?;
                }
            }
        }
        self.file.flush().map_err(|source| self.failed(source))
    }

    fn line(&mut self, tag: &str, histogram: &Histogram<u64>, start_ns: i64, end_ns: i64) -> Vec<u8> {
        let after = |from_ns: i64, to_ns: i64| Duration::from_nanos((to_ns - from_ns).max(0) as u64);
        // A comma or a line break in a tag would break the line.
        let tag = tag.replace([',', '\n', '\r', ' '], "_");
        let mut lines = Vec::new();
        let mut builder = IntervalLogWriterBuilder::new();
        // The format has the maximum in ms and the histogram in ns. The writer writes a header about this, which is
        // removed.
        if let Ok(mut writer) = builder.with_max_value_divisor(1e6).begin_log_with(&mut lines, &mut self.serializer) {
            // Writing to memory does not fail, and histograms of times are within the limits of the format.
            let (start, length) = (after(self.base_ns, start_ns), after(start_ns, end_ns));
            let _ = writer.write_histogram(histogram, start, length, Tag::new(&tag));
        }
        let head = lines.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        lines.split_off(head)
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    const SECOND_NS: i64 = 1_000_000_000;

    #[test]
    fn what_is_logged_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.hlog");
        let mut log = Log::create(&path, 1_700_000_000 * SECOND_NS + 250_000_000).unwrap();
        let mut read = OperationTimes::new();
        (1..=1000).for_each(|ms| read.service.record(ms * 1_000_000).unwrap());
        let mut write = OperationTimes::new();
        for times in [&mut write.service, &mut write.response, &mut write.wait] {
            times.record(5_000_000).unwrap();
        }
        let start_ns = 1_700_000_001 * SECOND_NS;
        log.append(["READ", "a, b"].into_iter(), &[read, write], (start_ns, start_ns + SECOND_NS / 2)).unwrap();

        let text = std::fs::read(&path).unwrap();
        let mut entries = Vec::new();
        for entry in IntervalLogIterator::new(&text) {
            match entry.unwrap() {
                LogEntry::BaseTime(base) => entries.push(format!("base {base:?}")),
                LogEntry::StartTime(start) => entries.push(format!("start {start:?}")),
                LogEntry::Interval(interval) => {
                    use base64::Engine as _;
                    let bytes = base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).unwrap();
                    let times: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
                    entries.push(format!(
                        "{} at {:?} for {:?}: {} times, median {:.0} ms, at most {:.0} ms",
                        interval.tag().unwrap().as_str(),
                        interval.start_timestamp(),
                        interval.duration(),
                        times.len(),
                        times.value_at_quantile(0.5) as f64 / 1e6,
                        interval.max(),
                    ));
                }
            }
        }
        insta::assert_snapshot!(entries.join("\n"));
    }
}
