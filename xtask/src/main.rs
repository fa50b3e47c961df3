//! Chores of the repository. `cargo xtask generate` makes everything that follows from `schema/`.

mod generate;
mod schema;

use anyhow::{Context, Result, bail};
use std::path::Path;

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("generate") => write_all(),
        _ => bail!("usage: cargo xtask generate"),
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

fn write_all() -> Result<()> {
    for file in generate::all(&schema::read(&root().join("schema"))?) {
        let path = root().join(file.path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        std::fs::write(&path, file.text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", file.path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_committed_is_what_the_schema_generates() -> Result<()> {
        for file in generate::all(&schema::read(&root().join("schema"))?) {
            let committed = std::fs::read_to_string(root().join(file.path)).unwrap_or_default();
            assert!(committed == file.text, "{} differs from schema/; run `cargo xtask generate`", file.path);
        }
        Ok(())
    }
}
