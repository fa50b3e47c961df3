//! Questions about recordings run in processes of their own, within limits, so that no question can end, fill or slow down a process
//! that records a node or holds changes of it.
//!
//! ```text
//! serve, top ─▶ ask ──(socket: question, answer)──▶ child ─▶ explain
//! sql, explain, report … ─▶ again ──(its own stdin, stdout, stderr)──▶ the same command
//! ```

mod again;
mod ask;
mod child;
mod ending;
mod limits;
#[cfg(test)]
mod tests;

pub(crate) use again::again;
pub(crate) use ask::{Reply, ask};
pub(crate) use child::{arguments, in_deep_thread, is_apart};
pub(crate) use limits::Limits;

use crate::search::Wanted;
use crate::serve::PageQuestion;
use serde::{Deserialize, Serialize};

/// A question that a child answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    Page(PageQuestion),
    Findings(Wanted),
}
