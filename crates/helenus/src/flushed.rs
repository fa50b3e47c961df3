//! A recording with all of its rows, also those that its recorder has not written yet.

use helenus_recording::{Error, Recording};
use std::path::Path;
use std::time::Duration;

/// Rows are on the disk after this time.
const FLUSHED_AFTER: Duration = Duration::from_millis(400);

/// Opens a recording with the rows of up to now.
pub fn recording(path: &Path) -> Result<Recording, Error> {
    let recording = Recording::open(path)?;
    if !recording.is_growing() {
        return Ok(recording);
    }
    std::thread::sleep(FLUSHED_AFTER);
    Recording::open(path)
}
