//! Helenus as a user runs it, where other work of the machine would change the outcome: one test at a time.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code, reason = "other tests need more of it")]
#[path = "../harness/mod.rs"]
mod harness;
mod heap;
mod honesty;
mod stalls;
mod walkthrough;

use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps the other tests from the machine.
fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Findings that name a cause, in order of rank.
fn blamed(explanation: &Value) -> Vec<&str> {
    let findings = explanation["findings"].as_array().unwrap().iter();
    let blaming = findings.filter(|finding| finding["severity"] != "information");
    blaming.map(|finding| finding["finding"].as_str().unwrap()).collect()
}
