//! The SQL view `all_requests`: the requests of all clients, in one shape.
//!
//! If a load driver recorded its requests, those are judged, from their intended start, because a user waits from then
//! on. Otherwise the requests on the wire are judged, from their arrival at the node. Never both, because they are the
//! same requests.

use crate::error::Error;
use crate::{cql, workloads};
use arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::prelude::SessionContext;
use helenus_recording::Manifest;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

pub(super) const VIEW: &str = "all_requests";

const OF_THE_LOAD: &str = include_str!("../../queries/views/requests_of_the_load.sql");
const OF_THE_WIRE: &str = include_str!("../../queries/views/requests_of_the_wire.sql");

/// The provider of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Provider {
    /// The load driver, which knows when each request was due.
    #[default]
    Load,
    /// The node's network: packets are captured outside of the JVM.
    Wire,
    /// The server's own connections, read inside its JVM.
    Jvm,
}

impl Provider {
    /// The load driver if any recording has its requests.
    pub(super) fn of(manifests: &[Manifest]) -> Provider {
        match (rows_of("requests", manifests), rows_of("wire", manifests)) {
            (0, 1..) if is_inside_the_jvm(manifests) => Provider::Jvm,
            (0, 1..) => Provider::Wire,
            _ => Provider::Load,
        }
    }

    /// The table that holds the provider's requests.
    pub(crate) fn table(self) -> &'static str {
        match self {
            Provider::Load => "requests",
            Provider::Wire | Provider::Jvm => "wire",
        }
    }

    /// A sentence on what the response time covers, and on what this provider can't see.
    pub fn meaning(self) -> &'static str {
        match self {
            Provider::Load => "requests of the load driver, from their intended start to the answer",
            Provider::Wire => {
                "requests seen on the wire, from arrival at the node to the answer; what a client waited before that is not in it"
            }
            Provider::Jvm => {
                "requests read inside the JVM, from when the server read them to the answer; what they waited in their sockets or in a client is not in it"
            }
        }
    }
}

/// Whether all recorded requests were read inside the JVM, and none from a node's network.
fn is_inside_the_jvm(manifests: &[Manifest]) -> bool {
    let mut providers =
        manifests.iter().flat_map(|manifest| &manifest.sources).filter(|source| source.name == "wire").peekable();
    providers.peek().is_some() && providers.all(|source| source.provider == "jvm")
}

pub(super) fn rows_of(table: &str, manifests: &[Manifest]) -> u64 {
    manifests.iter().filter_map(|manifest| manifest.tables.get(table)).map(|table| table.rows).sum()
}

/// The SQL text of the view. `more` are additional columns, passed through unchanged.
pub(super) fn view(provider: Provider, manifests: &[Manifest], more: &[&str]) -> String {
    let text = match provider {
        Provider::Load => OF_THE_LOAD.replace("$statement", &statement_of_operation(manifests)),
        Provider::Wire => OF_THE_WIRE.to_string(),
        Provider::Jvm => OF_THE_WIRE.replace("'wire' AS provider", "'jvm' AS provider"),
    };
    more.iter().fold(text, |text, column| text.replacen("SELECT\n", &format!("SELECT\n  {column},\n"), 1))
}

/// The statement of each operation of the load, from its workload.
fn statement_of_operation(manifests: &[Manifest]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let statements = workloads::statements(manifests);
    if statements.is_empty() {
        return "CAST(NULL AS VARCHAR)".to_string();
    }
    let cases = statements.iter().map(|(name, cql)| format!("WHEN {} THEN {}", quoted(name), quoted(cql)));
    format!("CASE operation {} END", cases.collect::<Vec<_>>().join(" "))
}

/// An SQL function that extracts a part of a statement's text.
type Part = fn(&str) -> Option<String>;

/// Registers the SQL functions of the view; users may call them, too.
pub(super) fn register_functions(context: &SessionContext) {
    let functions: [(&str, Part); 3] = [
        ("statement_kind", |text| cql::kind(text).map(str::to_string)),
        ("statement_keyspace", |text| cql::split_table(text).0),
        ("statement_table", |text| cql::split_table(text).1),
    ];
    for (name, function) in functions {
        let apply = move |arguments: &[ColumnarValue]| each_text(arguments, function);
        let udf = create_udf(name, vec![DataType::Utf8], DataType::Utf8, Volatility::Immutable, Arc::new(apply));
        context.register_udf(udf);
    }
    let texts = vec![DataType::Utf8, DataType::Utf8];
    let operation = create_udf("operation_of", texts, DataType::Utf8, Volatility::Immutable, Arc::new(each_operation));
    context.register_udf(operation);
}

/// The operation of each statement and keyspace.
fn each_operation(arguments: &[ColumnarValue]) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(arguments)?;
    let [statements, keyspaces] = arrays.as_slice() else {
        return Err(DataFusionError::Plan("a statement and a keyspace are asked for".to_string()));
    };
    let [statements, keyspaces] = [statements, keyspaces].map(|array| array.as_string_opt::<i32>());
    let (statements, keyspaces) = statements.zip(keyspaces).ok_or_else(no_text)?;
    let mut results = StringBuilder::with_capacity(statements.len(), statements.len() * 8);
    let mut known: HashMap<(&str, Option<&str>), String, foldhash::fast::RandomState> = HashMap::default();
    for (statement, keyspace) in statements.iter().zip(keyspaces) {
        results.append_option(
            statement.map(|text| &*known.entry((text, keyspace)).or_insert_with(|| cql::operation(text, keyspace))),
        );
    }
    Ok(ColumnarValue::Array(Arc::new(results.finish()) as ArrayRef))
}

fn no_text() -> DataFusionError {
    DataFusionError::Plan("a text is asked for".to_string())
}

/// Caches the result for the previous text, because rows often repeat a statement.
fn each_text(arguments: &[ColumnarValue], function: Part) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(arguments)?;
    let texts = arrays.first().and_then(|array| array.as_string_opt::<i32>());
    let texts = texts.ok_or_else(no_text)?;
    let mut results = StringBuilder::with_capacity(texts.len(), texts.len() * 8);
    let mut last: Option<(&str, Option<String>)> = None;
    for text in texts.iter() {
        let Some(text) = text else {
            results.append_null();
            continue;
        };
        if last.as_ref().is_none_or(|(of, _)| *of != text) {
            last = Some((text, function(text)));
        }
        results.append_option(last.as_ref().and_then(|(_, result)| result.as_deref()));
    }
    Ok(ColumnarValue::Array(Arc::new(results.finish()) as ArrayRef))
}

/// Registers the view. It reads rows only when queried.
pub(super) async fn register(
    context: &SessionContext,
    provider: Provider,
    manifests: &[Manifest],
    more: &[&str],
) -> std::result::Result<(), Error> {
    register_functions(context);
    let frame = context.sql(&view(provider, manifests, more)).await.map_err(super::message::of)?;
    context.register_table(VIEW, frame.into_view()).map_err(super::message::of)?;
    Ok(())
}
