//! The thin driver, which costs the least CPU per request. It supports single prepared statements and nothing else.
//!
//! ```text
//! session_thread (the driver crate: schema, preparing, topology) ──▶ statements, ring
//!                                                                │
//! feed ──▶ supply ──▶ engine ──▶ connection ──▶ outbox: frames, segments ──▶ socket: one write for many requests
//!            │  ▲                    ▲
//! ledger ◀───┘  └────────────────────┴──────── inbox: segments, frames ◀── one read for many answers
//! ```
//!
//! A thread runs a loop without tasks: it builds the due requests, writes to each connection once, waits, and reads
//! each connection until it is empty. If many requests are due they share a system call, and none waits for the answer
//! of another.

mod connection;
mod engine;
mod frame;
#[cfg(test)]
mod fuzz;
mod inbox;
mod outbox;
mod ring;
mod session_thread;
mod socket;
mod streams;
mod supply;
mod thread;

pub(crate) use session_thread::{Preparation, SessionThread};
pub(super) use thread::live;
