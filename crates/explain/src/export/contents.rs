//! Options and summary of an export, and helpers that all formats share.

use crate::{Engine, Error, Flame, FlameOptions};

/// The most individual samples that a browser can show from one file.
pub(super) const MOST_SAMPLES: usize = 2_000_000;
/// The most samples that are added up in memory, at 24 bytes each.
pub(super) const MOST_ADDED_UP: usize = 20_000_000;

/// Selects the contents of the file.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    /// Selects samples by event, thread group and window; `reversed` is ignored.
    pub selection: FlameOptions,
    /// Only samples taken while requests were slow.
    pub only_slow: bool,
    /// Only system calls at least this long.
    pub syscalls_over_ns: i64,
}

/// Summary of the file that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    pub samples: u64,
    /// Marks of the other kinds: pauses, phases, requests and the like.
    pub moments: u64,
    /// Sentences about data that the file lacks, and about limits of the data that it has.
    pub notes: Vec<String>,
}

/// The error for a selection without samples, which lists the events that exist.
pub(super) fn nothing(engine: &Engine, options: &ExportOptions) -> Result<Error, Error> {
    let selection = &options.selection;
    let events = Flame::events(engine)?;
    let event = &selection.event;
    let slow = if options.only_slow { " while requests were slow" } else { "" };
    let of = selection.group.as_ref().map_or(String::new(), |group| format!(" of {group}"));
    Ok(Error::Nothing(if events.is_empty() {
        "there are no samples of stacks: record with `helenus record --stacks cpu`, or `helenus import` some"
            .to_string()
    } else if events.iter().any(|(known, _)| known == event) {
        format!("there are no {event} samples{of}{slow} in that time: choose another --group, --from, --to or --slow")
    } else {
        let known: Vec<&str> = events.iter().map(|(event, _)| event.as_str()).collect();
        format!("there are no {event} samples: the recording has {}; choose with --event", known.join(", "))
    }))
}

/// The unit of the weights of an event.
pub(super) fn unit(event: &str) -> &'static str {
    match event {
        "cpu" | "wall" | "lock" | "native" => "nanoseconds",
        "alloc" => "bytes",
        _ => "count",
    }
}

/// Turns a JSON error into the writer's I/O error if it is one.
pub(super) fn json_error(error: serde_json::Error) -> Error {
    if error.is_io() { Error::Write(error.into()) } else { Error::Json(error) }
}
