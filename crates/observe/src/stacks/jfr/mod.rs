//! Reads the samples in JFR files of the profiler and of other recorders.
//!
//! A file is a sequence of independent chunks: a header, events, constant pools that the events refer to, and metadata
//! that describes the fields of all types. Nothing is assumed beyond the metadata, and the bytes are not trusted:
//! decoding a chunk takes memory and time in proportion to its bytes, however much data they unpack to.
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
pub use samples::{ChunkSamples, LeftOut, Sample, SampleEvent};
