//! Reads the rows of a recording as they come.

use anyhow::Result;
use helenus_explain::{Engine, Live, LiveOptions};
use helenus_recording::{Recording, Tail};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Follows a recording.
pub(super) struct Feed {
    tail: Tail,
    path: PathBuf,
    grows: bool,
}

impl Feed {
    /// Opens a recording, and makes the bins for its rows. For an ended recording they cover all of it; for a growing
    /// one the last 15 minutes, second by second.
    pub(super) fn open(path: &Path) -> Result<(Feed, Live)> {
        let probe = Tail::open(path, 0)?;
        let grows = probe.is_growing();
        let options = match grows {
            true => LiveOptions::default(),
            false => {
                let (from_ns, to_ns) = Engine::open(&[Recording::open(path)?])?.recorded_ns()?;
                LiveOptions::over(from_ns, to_ns)
            }
        };
        let kept_ns = options.bin_ns.saturating_mul(i64::try_from(options.bins).unwrap_or(i64::MAX));
        let since_ns = if grows { now_ns().saturating_sub(kept_ns) } else { 0 };
        let feed = Feed { tail: Tail::open(path, since_ns)?, path: path.to_path_buf(), grows };
        Ok((feed, Live::new(options)))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn grows(&self) -> bool {
        self.grows
    }

    /// Reads the rows that came since the last call.
    pub(super) fn take(&mut self, live: &mut Live) -> Result<()> {
        // Checked before reading, so that the last rows before the end are read below.
        let grows = self.grows && self.tail.is_growing();
        live.follow(&mut self.tail, Live::TABLES)?;
        if !grows {
            live.end();
        }
        self.grows = grows;
        Ok(())
    }
}

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}
