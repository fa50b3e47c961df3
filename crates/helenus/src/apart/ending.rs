//! Why a process that answered a question ended without an answer, in words for the person who asked.

use super::Limits;
use crate::terminal;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// Texts of Rust's runtime before it aborts.
const DEEP: &str = "has overflowed its stack";
const FULL: &str = "memory allocation of";

pub(super) fn too_long(within: Duration) -> String {
    format!(
        "the question took longer than {} and was ended; ask for a shorter time or a simpler query. `helenus sql` gives a query more \
         time with --timeout",
        seconds(within)
    )
}

pub(super) fn too_large(bytes: usize) -> String {
    format!("the answer is larger than {}; ask for a shorter time", terminal::bytes(bytes as u64))
}

/// The reason for an end without an answer. `said` is what the process wrote to its standard error.
pub(super) fn why(status: ExitStatus, said: &str, limits: &Limits) -> String {
    let memory = || {
        format!(
            "the question needs more memory than the {} that it may have, and was ended; ask for a shorter time, fewer columns or a \
             LIMIT",
            terminal::bytes(limits.memory_bytes)
        )
    };
    match status.signal() {
        _ if said.contains(DEEP) => {
            "the query has too many levels or parts, so that planning it needs more stack than there is, and \
            was ended; write it with fewer nested expressions, UNIONs or joins"
                .to_string()
        }
        _ if said.contains(FULL) || is_out_of_memory(said) => memory(),
        Some(libc::SIGXCPU) => format!(
            "the question used more than {} of CPU time and was ended; ask for a shorter time or a simpler query",
            seconds(limits.cpu.unwrap_or_default())
        ),
        Some(libc::SIGKILL) => {
            "the question was ended from outside, probably by the kernel because the machine has no memory left; \
            ask for a shorter time"
                .to_string()
        }
        Some(signal) => format!("the question broke off with signal {signal}; please report this{}", first_line(said)),
        None => format!("the question broke off ({status}); please report this{}", first_line(said)),
    }
}

/// Whether a thread or a mapping failed for lack of memory, which is a panic and not an abort.
pub(super) fn is_out_of_memory(said: &str) -> bool {
    ["Cannot allocate memory", "os error 12", "failed to spawn thread", "can't spawn worker thread"]
        .iter()
        .any(|text| said.contains(text))
}

pub(super) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs())
}

fn first_line(said: &str) -> String {
    said.lines().map(str::trim).find(|line| !line.is_empty()).map(|line| format!(": {line}")).unwrap_or_default()
}
