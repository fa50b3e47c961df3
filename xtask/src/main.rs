//! Chores of the repository. `cargo xtask generate` makes everything that follows from `schema/`, `licenses` the list of
//! parts by other authors, `changelog` the changelog of a version.

mod changelog;
mod generate;
mod licenses;
mod schema;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["generate"] => write_all(),
        ["changelog"] => changelog::print(),
        ["changelog", version] if !version.starts_with('-') => changelog::release(version),
        ["licenses"] => licenses::run(false),
        ["licenses", "--check"] => licenses::run(true),
        _ => bail!("usage: cargo xtask generate | licenses [--check] | changelog [VERSION]"),
    }
}

fn root() -> &'static Path {
    // Where Cargo runs it: it may have been built in another clone that shares the target folder.
    static HERE: LazyLock<PathBuf> = LazyLock::new(|| {
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
    });
    HERE.parent().unwrap_or(Path::new("."))
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
