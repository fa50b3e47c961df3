use super::{Generated, NOTICE};
use crate::schema::{Column, Table, Type};
use std::fmt::Write;

/// How an engine spells a table over the Parquet files of a recording.
struct Dialect {
    path: &'static str,
    int64: &'static str,
    double: &'static str,
    string: &'static str,
    bool: &'static str,
    quote: char,
    /// Whether a null is allowed by wrapping the type.
    wraps_nullable: bool,
    /// Text after the columns; `{table}` is the name of the table, `{recording}` stays for the user to replace.
    tail: &'static str,
}

const DIALECTS: &[Dialect] = &[
    Dialect {
        path: "docs/sql/clickhouse.sql",
        int64: "Int64",
        double: "Float64",
        string: "String",
        bool: "Bool",
        quote: '`',
        wraps_nullable: true,
        tail: "ENGINE = File(Parquet, '{recording}/{table}/*.parquet')",
    },
    Dialect {
        path: "docs/sql/spark.sql",
        int64: "BIGINT",
        double: "DOUBLE",
        string: "STRING",
        bool: "BOOLEAN",
        quote: '`',
        wraps_nullable: false,
        tail: "USING PARQUET LOCATION '{recording}/{table}'",
    },
    Dialect {
        path: "docs/sql/trino.sql",
        int64: "BIGINT",
        double: "DOUBLE",
        string: "VARCHAR",
        bool: "BOOLEAN",
        quote: '"',
        wraps_nullable: false,
        tail: "WITH (format = 'PARQUET', external_location = '{recording}/{table}')",
    },
];

pub fn generate(tables: &[Table]) -> Vec<Generated> {
    DIALECTS.iter().map(|dialect| Generated { path: dialect.path, text: dialect.script(tables) }).collect()
}

impl Dialect {
    fn script(&self, tables: &[Table]) -> String {
        let mut out = format!("-- {NOTICE}\n-- Replace {{recording}} by the place of a recording.\n");
        for table in tables {
            let columns: Vec<String> = table
                .columns
                .iter()
                .map(|column| format!("  {0}{1}{0} {2}", self.quote, column.name, self.column_type(column)))
                .collect();
            let _ = write!(
                out,
                "\n-- {}\nCREATE TABLE {} (\n{}\n) {};\n",
                table.meaning,
                table.name,
                columns.join(",\n"),
                self.tail.replace("{table}", &table.name)
            );
        }
        out
    }

    fn column_type(&self, column: &Column) -> String {
        let plain = match column.ty {
            Type::Int64 => self.int64,
            Type::Double => self.double,
            Type::String => self.string,
            Type::Bool => self.bool,
        };
        if column.nullable && self.wraps_nullable { format!("Nullable({plain})") } else { plain.to_string() }
    }
}
