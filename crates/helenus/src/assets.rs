//! What the binary carries with it.

/// The agent that is loaded into a node's JVM.
pub const AGENT_JAR: &[u8] = include_bytes!(env!("HELENUS_AGENT_JAR"));

/// The report's page, whose script element with the id `report` takes the data.
pub const REPORT_HTML: &str = include_str!(env!("HELENUS_REPORT_HTML"));
