//! The workloads of the recorded loads.

use helenus_recording::Manifest;
use std::collections::BTreeMap;

/// The statements of the recorded loads by operation. A workload that can't be parsed has none.
pub(crate) fn statements(manifests: &[Manifest]) -> BTreeMap<String, String> {
    let workloads = manifests.iter().filter_map(|manifest| manifest.load.as_ref());
    let parsed = workloads.filter_map(|load| load.text.parse::<toml::Table>().ok());
    parsed
        .filter_map(|mut workload| match workload.remove("operations") {
            Some(toml::Value::Table(operations)) => Some(operations),
            _ => None,
        })
        .flatten()
        .filter_map(|(name, operation)| {
            let cql = operation.get("cql")?.as_str()?;
            let statement = match operation.get("batch") {
                Some(_) => format!("BEGIN BATCH {cql}"),
                None => cql.to_string(),
            };
            Some((name, statement))
        })
        .collect()
}
