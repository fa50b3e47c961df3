//! How serious a finding or an advice is. Scripts can fail from a given severity on.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Information,
    Warning,
    Critical,
}

impl Severity {
    /// The severity as the table `findings` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Information => "information",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }
}
