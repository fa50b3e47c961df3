//! The recording: a folder with a manifest and one Parquet dataset per table, all on one clock.
//!
//! While it is written, each table is an append-only Arrow IPC stream, so that whatever ends the writer costs at most
//! the last second; closing turns the streams into Parquet, and [`salvage`] does the same for a recording that was
//! never closed. Everything that reads takes a closed [`Recording`].
//!
//! ```text
//! append(row) ─▶ BatchBuilder ─▶ stream (every 200 ms) ─▶ Parquet (close, salvage) ─▶ Recording, merge
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod batch;
mod clock;
mod closing;
mod encoded;
mod error;
mod generated;
mod limit;
mod manifest;
mod merge;
mod message;
mod parquet;
pub mod private;
mod reader;
mod recorder;
mod recording;
mod repeated;
mod salvage;
pub mod schema;
mod seal;
mod stream;

pub use batch::BatchBuilder;
pub use clock::{Clock, cpu_time_of_this_thread_ns};
pub use encoded::decode_rows;
pub use error::Error;
pub use generated::{FINGERPRINT, FORMAT, TABLES, rows};
pub use manifest::{ClockFacts, Host, LoadFacts, Loss, Manifest, NodeFacts, SourceFacts, State, TableFacts};
pub use merge::merge;
pub use recorder::{CLOSE_FOR, Health, Recorder, Summary, Waiting};
pub use recording::Recording;
pub use repeated::{Repeated, repeated};
pub use salvage::{Salvaged, salvage};
