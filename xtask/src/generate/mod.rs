//! One file per language that the schema is generated into.

mod docs;
mod java;
mod rust;
mod sql;

use crate::schema::Table;

/// A generated file, with its path from the root of the repository.
pub struct Generated {
    pub path: &'static str,
    pub text: String,
}

const NOTICE: &str = "Generated from schema/ by `cargo xtask generate`. Do not edit.";

pub fn all(tables: &[Table]) -> Vec<Generated> {
    let mut files = vec![
        Generated { path: "crates/recording/src/generated.rs", text: rust::generate(tables) },
        Generated { path: "agent/src/main/java/io/helenus/agent/recording/Tables.java", text: java::generate(tables) },
        Generated { path: "docs/recording-tables.md", text: docs::generate(tables) },
    ];
    files.extend(sql::generate(tables));
    files
}
