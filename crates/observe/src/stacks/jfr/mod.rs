//! Reads the samples in JFR files: those of the profiler, and what others recorded.
//!
//! A file is one chunk after the other, each whole in itself: a header, events, constant pools that the events refer to,
//! and metadata that says what the fields of each are. Nothing is taken for granted but what the metadata says, and the
//! bytes are not trusted.
//!
//! Source: OpenJDK, jdk.jfr.internal.consumer.

mod format;
mod samples;

pub use format::{HEADER, Malformed, announced_size, chunk_size, count_events};
pub use samples::{Sample, SampleEvent, Samples, read_chunk};
