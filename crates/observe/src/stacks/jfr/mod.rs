//! Reads the samples in JFR files: those of the profiler, and what others recorded.
//!
//! A file is one chunk after the other, each whole in itself: a header, events, constant pools that the events refer to,
//! and metadata that says what the fields of each are. Nothing is taken for granted but what the metadata says, and the
//! bytes are not trusted: what a chunk takes of memory and time is in proportion to its bytes, whatever they unpack to.
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
