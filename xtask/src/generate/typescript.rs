use super::NOTICE;
use crate::schema::{FORMAT, Table};
use std::fmt::Write;

pub fn generate(tables: &[Table]) -> String {
    let mut out = format!("// {NOTICE}\n\nexport const format = {FORMAT};\n\n");
    out += "export interface Column {\n  readonly name: string;\n  readonly type: \"INT64\" | \"DOUBLE\" | \"STRING\" | \"BOOL\";\n  readonly unit: string;\n  readonly nullable: boolean;\n  readonly meaning: string;\n}\n\n";
    out += "export interface Table {\n  readonly name: string;\n  readonly time: string;\n  readonly meaning: string;\n  readonly columns: readonly Column[];\n}\n\n";
    out += "export const tables: readonly Table[] = [\n";
    for table in tables {
        let _ = writeln!(
            out,
            "  {{\n    name: {:?},\n    time: {:?},\n    meaning: {:?},\n    columns: [",
            table.name, table.time, table.meaning
        );
        for column in &table.columns {
            let ty = column.ty.name();
            let _ = writeln!(
                out,
                "      {{ name: {:?}, type: {ty:?}, unit: {:?}, nullable: {}, meaning: {:?} }},",
                column.name, column.unit, column.nullable, column.meaning
            );
        }
        out += "    ],\n  },\n";
    }
    out += "];\n";
    out
}
