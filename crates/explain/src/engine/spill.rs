//! How much of the disk the intermediate results of queries may take. They are in the folder for temporary files.

use std::sync::atomic::{AtomicU64, Ordering};

static MOST_BYTES: AtomicU64 = AtomicU64::new(16 << 30);

/// Bounds the intermediate results of each engine that this process opens from now on.
pub fn limit_spill_files(bytes: u64) {
    MOST_BYTES.store(bytes, Ordering::Relaxed);
}

/// All files of an engine together.
pub(super) fn most_bytes() -> u64 {
    MOST_BYTES.load(Ordering::Relaxed)
}
