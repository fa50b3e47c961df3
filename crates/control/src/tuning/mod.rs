//! Settings of one node that are changed while it runs, and restored.
//!
//! ```text
//! before ─▶ Entry in the Journal ─▶ the node ─▶ Entry with what the node made of it ─▶ undo, lease or restart
//! ```

mod entry;
mod figures;
mod setting;
mod tuner;

pub use entry::Entry;
pub use figures::{Compacting, Figures, Level, Measured, PeerComparison};
pub use setting::{Outcome, Reading, Setting, Tuning, Undone};
pub use tuner::{State, Tuner};
