use super::opened::opened;
use crate::terminal;
use anyhow::{Context, Result, bail};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int64Type, SchemaRef, UInt64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use clap::Args;
use serde_json::{Map, Value};
use std::io::Write;
use std::process::ExitCode;

/// Ask a recording a question in SQL
///
/// Every table of the recording format is there, also those without rows; docs/recording-tables.md names them all.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus sql run.helenus \"select operation, count(*), max(end_ns - intended_start_ns) / 1e6 as max_ms from requests group by 1\"
  helenus sql run.helenus \"select * from pauses order by duration_ns desc limit 10\" --json
  helenus sql a.helenus b.helenus \"select recording, count(*) from requests group by 1\" --csv")]
pub struct Arguments {
    /// One recording or more, and then the query in the SQL of Apache DataFusion
    #[arg(required = true, num_args = 1.., value_names = ["RECORDING", "QUERY"])]
    recordings_and_query: Vec<String>,
    /// Rows as JSON objects, one a line
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Rows as CSV with a header
    #[arg(long)]
    csv: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let (query, recordings) =
        arguments.recordings_and_query.split_last().context("a recording and a query are missing")?;
    if recordings.is_empty() {
        bail!("name a recording before the query: helenus sql run.helenus \"select * from sources\"");
    }
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
        let batches = engine.sql(query)?;
        let mut rows = Vec::new();
        for batch in batches.batches() {
            texts(batch, "–", |row| {
                rows.push(row.to_vec());
                Ok(())
            })?;
        }
        let schema = batches.schema();
        let is_number = schema.fields().iter().map(|field| field.data_type().is_numeric());
        terminal::print(terminal::table(&names(schema), rows, usize::MAX).aligned_right(is_number));
        terminal::talk(terminal::dim(format_args!("{} rows", batches.rows())));
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
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
