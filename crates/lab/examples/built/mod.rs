//! The files that `make build` produced for a node to load.

use std::path::Path;

/// The agent's jar.
pub fn agent() -> Result<&'static [u8], Box<dyn std::error::Error>> {
    read("helenus-agent.jar")
}

/// A file of the agent's build.
pub fn read(path: &str) -> Result<&'static [u8], Box<dyn std::error::Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agent/target").join(path);
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}; `make build` first", path.display()))?;
    Ok(Vec::leak(bytes))
}
