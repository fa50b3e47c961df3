use super::opened::opened;
use crate::apart::Limits;
use crate::terminal::{self, Table};
use anyhow::{Context, Result, bail};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int64Type, SchemaRef, UInt64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use clap::Args;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

/// Query a recording in SQL
///
/// All tables of the recording format exist, also those without rows; docs/recording-tables.md lists them. The query runs in a process
/// of its own, which ends when the query takes more than it may.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus sql run.helenus \"select operation, count(*), max(end_ns - start_ns) / 1e6 as max_ms from all_requests group by 1\"
  helenus sql run.helenus \"select * from pauses order by duration_ns desc limit 10\" --json
  helenus sql a.helenus b.helenus \"select recording, count(*) from all_requests group by 1\" --csv")]
pub struct Arguments {
    /// One or more recordings, then the query in the SQL of Apache DataFusion
    #[arg(required = true, num_args = 1.., value_names = ["RECORDING", "QUERY"])]
    recordings_and_query: Vec<OsString>,
    /// Rows as JSON objects, one a line
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Rows as CSV with a header
    #[arg(long)]
    csv: bool,
    /// End a query that takes longer
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = super::duration)]
    timeout: Duration,
    /// Memory that the query may take [default: half of the memory that is available]
    #[arg(long, value_name = "SIZE", value_parser = helenus_notation::quantity::bytes)]
    memory: Option<u64>,
    /// Disk space for intermediate results, in $TMPDIR or in /var/tmp
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = helenus_notation::quantity::bytes)]
    disk: u64,
}

impl Arguments {
    /// The limits of the query.
    pub fn limits(&self) -> Limits {
        let usual = Limits::of_command();
        Limits {
            memory_bytes: self.memory.unwrap_or(usual.memory_bytes),
            spill_bytes: self.disk,
            within: Some(self.timeout),
            ..usual
        }
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let (query, recordings) =
        arguments.recordings_and_query.split_last().context("a recording and a query are missing")?;
    if recordings.is_empty() {
        bail!("name a recording before the query: helenus sql run.helenus \"select * from sources\"");
    }
    let query = query.to_str().context("the query, which comes last, is not UTF-8")?;
    let engine = opened(recordings)?;
    let mut out = terminal::raw();
    if arguments.json {
        engine.each(query, |batch| write_json(&mut out, &batch))?;
    } else if arguments.csv {
        let mut csv = csv::Writer::from_writer(&mut out);
        let mut headed = false;
        let schema = engine.each(query, |batch| {
            if !std::mem::replace(&mut headed, true) {
                csv.write_record(names(&batch.schema()))?;
            }
            texts(&batch, "", |row| Ok(csv.write_record(row)?))
        })?;
        if !headed {
            csv.write_record(names(&schema))?;
        }
        csv.flush()?;
    } else {
        let mut aligned = Aligned::new(terminal::print);
        let schema = engine.each(query, |batch| texts(&batch, "–", |row| aligned.row(&batch.schema(), row)))?;
        aligned.print(&schema);
        terminal::talk(terminal::dim(format_args!("{} rows", aligned.count)));
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The most rows that are held until they are printed.
const BLOCK_ROWS: usize = 1000;

/// Prints rows in columns as they come. The first rows determine the width of the columns; a block of rows with wider
/// text gets wider columns of its own.
struct Aligned<P> {
    print: P,
    rows: Vec<Vec<String>>,
    /// Widths of the columns; None before the first block, which has the header.
    widths: Option<Vec<usize>>,
    count: u64,
}

impl<P: FnMut(Table)> Aligned<P> {
    fn new(print: P) -> Aligned<P> {
        Aligned { print, rows: Vec::new(), widths: None, count: 0 }
    }

    fn row(&mut self, schema: &SchemaRef, row: &[String]) -> Result<()> {
        self.rows.push(row.to_vec());
        self.count += 1;
        if self.rows.len() >= BLOCK_ROWS {
            self.print(schema);
        }
        Ok(())
    }

    fn print(&mut self, schema: &SchemaRef) {
        if self.rows.is_empty() && self.widths.is_some() {
            return;
        }
        let is_number = schema.fields().iter().map(|field| field.data_type().is_numeric());
        let rows = std::mem::take(&mut self.rows);
        let table = terminal::table(&names(schema), rows, usize::MAX).aligned_right(is_number);
        let table = match self.widths.clone() {
            Some(widths) => table.continuing(widths),
            None => table,
        };
        self.widths.get_or_insert_with(|| table.widths());
        (self.print)(table);
    }
}

fn names(schema: &SchemaRef) -> Vec<&str> {
    schema.fields().iter().map(|field| field.name().as_str()).collect()
}

/// Hands every row on as texts.
fn texts(batch: &RecordBatch, null: &str, mut each: impl FnMut(&[String]) -> Result<()>) -> Result<()> {
    let options = FormatOptions::new().with_null(null);
    let formatters = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options))
        .collect::<Result<Vec<_>, _>>()?;
    for row in 0..batch.num_rows() {
        let texts: Vec<String> = formatters.iter().map(|formatter| formatter.value(row).to_string()).collect();
        each(&texts)?;
    }
    Ok(())
}

fn write_json(out: &mut impl Write, batch: &RecordBatch) -> Result<()> {
    let options = FormatOptions::new();
    let schema = batch.schema();
    for row in 0..batch.num_rows() {
        let mut object = Map::new();
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            let value = match column.data_type() {
                _ if column.is_null(row) => Value::Null,
                DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
                DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
                DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
                DataType::Boolean => column.as_boolean().value(row).into(),
                _ => ArrayFormatter::try_new(column, &options)?.value(row).to_string().into(),
            };
            object.insert(field.name().clone(), value);
        }
        writeln!(out, "{}", Value::Object(object))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{Field, Schema};
    use std::sync::Arc;

    #[test]
    fn rows_are_printed_in_blocks_of_one_alignment() {
        let fields = [Field::new("text", DataType::Utf8, true), Field::new("number", DataType::Int64, true)];
        let schema: SchemaRef = Arc::new(Schema::new(fields.to_vec()));
        let mut text = String::new();
        let mut aligned = Aligned::new(|table| text += &format!("{table}\n"));
        for row in 0..2 * BLOCK_ROWS + 1 {
            let text = if row < BLOCK_ROWS { "wide text" } else { "x" };
            aligned.row(&schema, &[text.to_string(), (1_000_000 + row).to_string()]).unwrap();
            assert!(aligned.rows.len() < BLOCK_ROWS, "a block is no longer held once it is full");
        }
        aligned.print(&schema);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 * BLOCK_ROWS + 2);
        assert_eq!(lines.iter().filter(|line| line.contains("number")).count(), 1);
        assert!(lines[1..].iter().all(|line| line.trim_end().len() == lines[1].trim_end().len()), "{}", lines[1]);
    }

    #[test]
    fn a_query_without_rows_has_its_header() {
        let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("text", DataType::Utf8, true)]));
        let mut text = String::new();
        Aligned::new(|table| text += &table.to_string()).print(&schema);
        assert_eq!(text.trim(), "text");
    }
}
