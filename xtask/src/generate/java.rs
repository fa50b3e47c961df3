use super::NOTICE;
use crate::schema::{Column, Table, Type, fingerprint};
use std::fmt::Write;

pub fn generate(tables: &[Table]) -> String {
    let mut out = format!("// {NOTICE}\npackage io.helenus.agent.recording;\n\n");
    out += "/** The tables of a recording: their index in the agent's protocol, and how to encode a row of each. */\n";
    let _ = writeln!(
        out,
        "public final class Tables {{\n  public static final String FINGERPRINT = \"{}\";\n",
        fingerprint(tables)
    );
    for (index, table) in tables.iter().enumerate() {
        let _ = writeln!(
            out,
            "  /** {} */\n  public static final int {} = {index};\n",
            table.meaning,
            table.name.to_uppercase()
        );
    }
    out += "  private Tables() {}\n";
    for table in tables {
        let parameters: Vec<String> =
            table.columns.iter().map(|column| format!("{} {}", java_type(column), lower_camel(&column.name))).collect();
        let name = table.row[..1].to_lowercase() + &table.row[1..];
        let _ = writeln!(
            out,
            "\n  public static void {name}(\n      RowBuffer rows,\n      {}) {{",
            parameters.join(",\n      ")
        );
        let _ = writeln!(out, "    rows.row({});", table.name.to_uppercase());
        for column in &table.columns {
            let _ = writeln!(out, "    rows.{}({});", method(column), lower_camel(&column.name));
        }
        out += "  }\n";
    }
    out += "}\n";
    out
}

fn java_type(column: &Column) -> &'static str {
    match (column.ty, column.nullable) {
        (Type::Int64, false) => "long",
        (Type::Int64, true) => "Long",
        (Type::Double, false) => "double",
        (Type::Double, true) => "Double",
        (Type::String, _) => "String",
        (Type::Bool, false) => "boolean",
        (Type::Bool, true) => "Boolean",
    }
}

fn method(column: &Column) -> &'static str {
    match (column.ty, column.nullable) {
        (Type::Int64, false) => "int64",
        (Type::Int64, true) => "nullableInt64",
        (Type::Double, false) => "float64",
        (Type::Double, true) => "nullableFloat64",
        (Type::String, false) => "string",
        (Type::String, true) => "nullableString",
        (Type::Bool, false) => "bool",
        (Type::Bool, true) => "nullableBool",
    }
}

fn lower_camel(name: &str) -> String {
    let mut out = String::new();
    for (position, word) in name.split('_').enumerate() {
        if position == 0 {
            out += word;
        } else {
            out += &word[..1].to_uppercase();
            out += &word[1..];
        }
    }
    out
}
