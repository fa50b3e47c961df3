use crate::terminal;
use anyhow::Result;
use helenus_explain::Engine;
use helenus_recording::{Loss, Recording};
use std::path::Path;

/// The most skipped files that are named.
const MOST_NAMED: usize = 5;

/// Opens recordings, to be queried together, and prints which of their files can't be read.
pub fn opened<P: AsRef<Path>>(recordings: &[P]) -> Result<Engine> {
    let recordings = recordings.iter().map(|path| Recording::open(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
    let engine = Engine::open(&recordings)?;
    say_skipped(&engine.skipped().collect::<Vec<_>>());
    Ok(engine)
}

/// Says which files can't be read.
pub fn say_skipped(skipped: &[&Loss]) {
    for loss in skipped.iter().take(MOST_NAMED) {
        let rows = loss.rows.map_or(String::new(), |rows| format!(" ({} rows)", terminal::count(rows)));
        terminal::warn(format_args!("{}{rows}", loss.reason));
    }
    if let Some(more) = skipped.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        terminal::warn(format_args!("{more} more files can't be read; `helenus recording info` names all"));
    }
}
