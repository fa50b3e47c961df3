//! Rewords DataFusion's errors for the author of the query.

use crate::Error;
use datafusion::error::DataFusionError;
use helenus_recording::schema::TABLES;

/// Texts of errors about a limit.
const NO_MEMORY: &str = "memory allocation failed";
const NO_DISK: &str = "used disk space during the spilling process";

fn too_much(resource: &str, what: &str) -> Error {
    let what = what.lines().next().unwrap_or_default();
    Error::Query(format!(
        "the query needs more {resource} than it may have ({what}); ask for a shorter time, fewer columns or a LIMIT"
    ))
}

/// Makes a short error: without the engine's layers, and with a hint if there is one.
pub(super) fn of(error: DataFusionError) -> Error {
    let root = error.find_root();
    if let DataFusionError::ResourcesExhausted(what) = root {
        return too_much("memory", what);
    }
    if let DataFusionError::SQL(parser, _) = root {
        return Error::Query(parser.to_string());
    }
    let said = root.strip_backtrace();
    // These come as errors of other kinds.
    for (text, resource) in [(NO_MEMORY, "memory"), (NO_DISK, "disk space for intermediate results")] {
        if said.contains(text) {
            return too_much(resource, &said);
        }
    }
    let said = ["Error during planning: ", "Schema error: ", "Error during execution: "]
        .iter()
        .fold(said.as_str(), |text, prefix| text.strip_prefix(prefix).unwrap_or(text))
        .replace("datafusion.public.", "");
    if said.starts_with("DDL not supported")
        || said.starts_with("DML not supported")
        || said.starts_with("Statement not supported")
    {
        return Error::Query(format!("a recording is only read; use SELECT, WITH or EXPLAIN ({said})"));
    }
    if said.starts_with("table ") && said.ends_with(" not found") {
        let tables: Vec<&str> = TABLES.iter().map(|table| table.name).chain([super::traffic::VIEW]).collect();
        return Error::Query(format!("{said}; the tables are {}", tables.join(", ")));
    }
    Error::Query(said)
}
