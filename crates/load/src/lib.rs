//! The load: which requests to send, when to send them, and how long they took.
//!
//! ```text
//! Workload (TOML) ─┐
//!                  ├─▶ run ─▶ driver threads ─▶ rows of requests, stalls, marks and sources in the recording
//! Phases ──────────┘                └────────▶ Progress while it runs, Summary at the end
//! ```
//!
//! Response time counts from the intended start of a request, service time from its actual start, and both are kept.
//! Requests that the driver itself sent late or not at all are counted and named.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod access;
mod cancel;
mod cut;
mod draw;
mod driver;
mod error;
pub mod hlog;
mod intervals;
mod outcome;
mod plan;
mod precision;
mod progress;
pub mod responder;
mod rows;
mod run;
pub mod schedule;
mod setup;
mod stalls;
pub mod stress;
mod summary;
mod tls;
pub mod verify;
mod weibull;
pub mod workload;

pub use access::{Access, Compression, Login, Protocol};
pub use cancel::Cancel;
pub use error::Error;
pub use intervals::{Intervals, OperationTimes};
pub use outcome::Outcome;
pub use plan::{DriverKind, Plan};
pub use precision::{Bounds, Confidence};
pub use progress::{ErrorCount, Event, Lag, Percentiles, PhaseProgress, Progress, Recent};
pub use run::run;
pub use schedule::{Arrivals, Load, Phase, Until, Work};
pub use summary::{ErrorSummary, PhaseSummary, StallSummary, Summary};
pub use tls::{Tls, TlsFiles, Verify as VerifyTls};
pub use verify::{Acknowledged, Verified, Verify, verify};
pub use workload::Workload;
