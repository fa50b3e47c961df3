//! Ctrl-C: the first one asks everything to end cleanly, the second one ends the process at once.

use anyhow::{Context, Result};
use helenus_cassandra::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A flag that the first signal sets. Nodes that are tied to this process end with it, however it ends.
pub fn cancel_on_signals() -> Result<Cancel> {
    let cancel = Cancel::new();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order, because at the first signal the flag is not set yet, and the default action is not taken.
        signal_hook::flag::register_conditional_default(signal, cancel.flag())
            .and_then(|_| signal_hook::flag::register(signal, cancel.flag()))
            .context("cannot take signals")?;
    }
    Ok(cancel)
}
