use anyhow::Result;
use helenus_explain::Engine;
use helenus_recording::Recording;
use std::path::Path;

/// Opens recordings, to be queried together.
pub fn opened<P: AsRef<Path>>(recordings: &[P]) -> Result<Engine> {
    let recordings = recordings.iter().map(|path| Recording::open(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
    Ok(Engine::open(&recordings)?)
}
