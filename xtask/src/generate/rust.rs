use super::NOTICE;
use crate::schema::{Column, FORMAT, TIME_UNIT, Table, Type, fingerprint};
use std::fmt::Write;

pub fn generate(tables: &[Table]) -> String {
    let mut out = format!("// {NOTICE}\n#![cfg_attr(rustfmt, rustfmt_skip)]\n\n");
    out += "use crate::batch::BatchBuilder;\nuse crate::schema::{Column, Seen, Subject, Table, Type};\n\n";
    let _ = writeln!(out, "/// Version of the recording format.\npub const FORMAT: u32 = {FORMAT};\n");
    let _ = writeln!(
        out,
        "/// One number for the whole schema; the agent must have the same.\npub const FINGERPRINT: &str = \"{}\";\n",
        fingerprint(tables)
    );
    let _ =
        writeln!(out, "/// Every table of a recording, in the order of their names.\npub static TABLES: &[Table] = &[");
    for table in tables {
        let _ = writeln!(
            out,
            "    Table {{\n        name: {:?}, since: {}, time: {:?},\n        meaning: {:?},\n        seen: {},\n        columns: &[",
            table.name,
            table.since,
            table.time,
            table.meaning,
            seen(table)
        );
        for column in &table.columns {
            let _ = writeln!(
                out,
                "            Column {{ name: {:?}, ty: Type::{:?}, unit: {:?}, is_time: {}, nullable: {}, meaning: {:?} }},",
                column.name,
                column.ty,
                column.unit,
                column.unit == TIME_UNIT,
                column.nullable,
                column.meaning
            );
        }
        out += "        ],\n    },\n";
    }
    out += "];\n\n/// One struct per table: a row of it.\npub mod rows {\n    use super::BatchBuilder;\n";
    out += "\n    /// A row that knows its table.\n    pub trait Row {\n        /// Index of the table in [`super::TABLES`].\n        const TABLE: usize;\n        /// Appends the row's columns.\n        fn append_to(&self, batch: &mut BatchBuilder);\n    }\n";
    for (index, table) in tables.iter().enumerate() {
        row(&mut out, index, table);
    }
    out += "}\n";
    out
}

fn seen(table: &Table) -> String {
    table.seen.as_ref().map_or("None".to_string(), |seen| {
        format!("Some(Seen {{ of: Subject::{:?}, sources: &{:?} }})", seen.of, seen.sources)
    })
}

fn row(out: &mut String, index: usize, table: &Table) {
    let borrows = table.columns.iter().any(|column| column.ty == Type::String);
    let (declared, elided) = if borrows { ("<'a>", "<'_>") } else { ("", "") };
    let _ = writeln!(
        out,
        "\n    /// {}\n    #[derive(Debug, Clone, Copy, Default, PartialEq)]\n    pub struct {}{declared} {{",
        table.meaning, table.row
    );
    for column in &table.columns {
        let unit = if column.unit.is_empty() { String::new() } else { format!(" [{}]", column.unit) };
        let _ = writeln!(
            out,
            "        /// {}{}\n        pub {}: {},",
            column.meaning,
            unit.replace('[', "(").replace(']', ")"),
            column.name,
            rust_type(column)
        );
    }
    let _ = writeln!(
        out,
        "    }}\n\n    impl Row for {}{elided} {{\n        const TABLE: usize = {index};\n\n        fn append_to(&self, batch: &mut BatchBuilder) {{",
        table.row
    );
    for (position, column) in table.columns.iter().enumerate() {
        let method = match column.ty {
            Type::Int64 => "int64",
            Type::Double => "double",
            Type::String => "string",
            Type::Bool => "bool",
        };
        let value =
            if column.nullable { format!("self.{}", column.name) } else { format!("Some(self.{})", column.name) };
        let _ = writeln!(out, "            batch.{method}({position}, {value});");
    }
    out.push_str("            batch.end_row();\n        }\n    }\n");
}

fn rust_type(column: &Column) -> String {
    let plain = match column.ty {
        Type::Int64 => "i64",
        Type::Double => "f64",
        Type::String => "&'a str",
        Type::Bool => "bool",
    };
    if column.nullable { format!("Option<{plain}>") } else { plain.to_string() }
}
