use super::NOTICE;
use crate::schema::{FORMAT, Subject, Table};
use std::fmt::Write;

pub fn generate(tables: &[Table]) -> String {
    let mut out = format!(
        "<!-- {NOTICE} -->\n# The tables of a recording\n\nFormat {FORMAT}. How a recording is laid out, written and salvaged: [recording.md](recording.md).\n"
    );
    for table in tables {
        let _ = write!(
            out,
            "\n## {}\n\n{} Ordered and windowed by `{}`.{}\n\n| column | type | unit | null | meaning |\n|---|---|---|---|---|\n",
            table.name,
            table.meaning,
            table.time,
            seen(table)
        );
        for column in &table.columns {
            let ty = column.ty.name();
            let null = if column.nullable { "yes" } else { "" };
            let _ = writeln!(out, "| `{}` | {ty} | {} | {null} | {} |", column.name, column.unit, column.meaning);
        }
    }
    out
}

fn seen(table: &Table) -> String {
    table.seen.as_ref().map_or(String::new(), |seen| {
        let of = match seen.of {
            Subject::Machine => "machine",
            Subject::Node => "node",
        };
        let sources: Vec<String> = seen.sources.iter().map(|source| format!("`{source}`")).collect();
        format!(
            " Rows that two recorders have of one {of} at the same time count once. Written by {}.",
            sources.join(" and ")
        )
    })
}
