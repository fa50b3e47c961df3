//! The recording: a folder with a manifest and one Parquet dataset per table, all on one clock.
//!
//! While it is written, each table is an append-only Arrow IPC stream, so that a crash of the writer loses at most the
//! last second; closing turns the streams into Parquet, and [`salvage`] does the same for a recording that was never
//! closed. A [`Recording`] is closed, or still grows: then its rows are those of the moment it was opened, and a
//! [`Tail`] has those that come later. A recording that is kept ([`Keeper`]) has segments, which are recordings.
//!
//! ```text
//! append(row) ─▶ BatchBuilder ─▶ stream (every 200 ms) ─▶ Parquet (close, salvage) ─▶ Recording, merge
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod batch;
mod checksum;
mod clock;
mod closing;
pub mod descriptors;
mod encoded;
mod error;
mod found;
mod freeze;
mod generated;
mod kept;
mod limit;
mod manifest;
mod merge;
mod message;
mod once;
mod parquet;
mod part;
pub mod private;
mod reader;
mod recorder;
mod recording;
mod repeated;
mod salvage;
pub mod schema;
mod seal;
mod stream;
mod tail;

pub use batch::BatchBuilder;
pub use clock::{Clock, cpu_time_of_this_thread_ns};
pub use encoded::decode_rows;
pub use error::Error;
pub use freeze::freeze;
pub use generated::{FINGERPRINT, FORMAT, TABLES, rows};
pub use kept::{Keeper, Kept};
pub use manifest::{ClockFacts, Host, LoadFacts, Loss, Manifest, NodeFacts, SourceFacts, State, TableFacts};
pub use merge::{merge, merge_while};
pub use part::{Batches, HELD, Part};
pub use recorder::{CLOSE_FOR, Health, Recorder, Summary, Waiting};
pub use recording::Recording;
pub use repeated::{Repeated, repeated};
pub use salvage::{Salvaged, salvage};
pub use tail::Tail;
