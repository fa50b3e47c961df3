//! Reads the samples in JFR files: those of the profiler, and what others recorded.
//!
//! A file is a sequence of independent chunks: a header, events, constant pools that the events refer to, and metadata
//! that describes the fields of all types. Nothing is assumed beyond the metadata, and the bytes are not trusted: a
//! chunk's memory and time are proportional to its bytes, whatever they unpack to.
//!
//! Source: OpenJDK, jdk.jfr.internal.consumer.

mod bytes;
mod format;
mod metadata;
mod samples;
mod settings;
mod stacks;
#[cfg(test)]
mod tests;

pub use bytes::Malformed;
pub use format::{HEADER, LARGEST_CHUNK, announced_size, chunk_size, count_events};
pub use samples::{ChunkSamples, Sample, SampleEvent};
