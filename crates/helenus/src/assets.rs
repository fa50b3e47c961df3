//! Files that are embedded in the binary.

/// The parts by other authors, with their licenses and the license texts: TOML, deflated.
pub const THIRD_PARTY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/third-party.toml.deflate"));

/// The agent that is loaded into a node's JVM.
pub const AGENT_JAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agent.jar"));

/// async-profiler for this architecture, which is loaded into a node's JVM.
pub const PROFILER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/profiler.so"));

/// The report's page, whose script element with the id `report` takes the data.
pub const REPORT_HTML: &str = include_str!(concat!(env!("OUT_DIR"), "/report.html"));

/// The page of a flame graph, whose script element with the id `flame` takes the data.
pub const FLAME_HTML: &str = include_str!(concat!(env!("OUT_DIR"), "/flame.html"));

/// The workbench's page, its script and its styles.
pub const WORKBENCH_HTML: &str = include_str!(concat!(env!("OUT_DIR"), "/workbench.html"));
pub const WORKBENCH_JS: &str = include_str!(concat!(env!("OUT_DIR"), "/workbench.js"));
pub const WORKBENCH_CSS: &str = include_str!(concat!(env!("OUT_DIR"), "/workbench.css"));

/// The names of the files that are stubs in a binary built for `make check`.
const MISSING: Option<&str> = option_env!("HELENUS_MISSING");

/// # Errors
/// Fails if the binary was built with stubs instead of these files.
pub fn all_there() -> anyhow::Result<()> {
    match MISSING {
        None => Ok(()),
        Some(missing) => anyhow::bail!(
            "this helenus was built for `make check`, without {missing}; run `make build` for one that carries them"
        ),
    }
}
