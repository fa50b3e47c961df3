//! The thin driver: what the load costs at least. It carries prepared statements and nothing else.
//!
//! ```text
//! session_thread (the driver crate: schema, preparing, topology) ──▶ statements, ring
//!                                                                │
//! feed ──▶ supply ──▶ engine ──▶ connection ──▶ outbox: frames, segments ──▶ socket: one write for many requests
//!            │  ▲                    ▲
//! ledger ◀───┘  └────────────────────┴──────── inbox: segments, frames ◀── one read for many answers
//! ```
//!
//! A thread has a loop and no tasks: it sends what is due, writes each connection once, waits, and reads each connection
//! until it is empty. Many requests share a system call whenever many are due, and none waits for another.

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
