//! Values of an experiment file, as JSON.

use helenus_load::Error;
use helenus_load::strict::{FromValue, Section};
use serde_json::{Map, Value};
use toml::de::DeValue;

/// All of a section.
pub(crate) fn json_of(section: &Section<'_>) -> Result<Map<String, Value>, Error> {
    Ok(section.named_values::<Json>()?.into_iter().map(|(key, Json(value))| (key.to_string(), value)).collect())
}

/// Any value of a file, as JSON.
pub(crate) struct Json(pub Value);

impl FromValue for Json {
    const EXPECTED: &'static str = "a value that JSON has";

    fn from_value(value: &DeValue<'_>) -> Option<Result<Json, String>> {
        let json = |value: &DeValue<'_>| Some(Json::from_value(value)?.map(|Json(value)| value));
        Some(Ok(Json(match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(truth) => Value::Bool(*truth),
            DeValue::Integer(_) => match i64::from_value(value)? {
                Ok(whole) => Value::from(whole),
                Err(reason) => return Some(Err(reason)),
            },
            DeValue::Float(_) => match f64::from_value(value)? {
                Ok(number) => serde_json::Number::from_f64(number).map(Value::Number)?,
                Err(reason) => return Some(Err(reason)),
            },
            DeValue::Array(items) => {
                let items: Option<Result<Vec<Value>, String>> = items.iter().map(|item| json(item.get_ref())).collect();
                match items? {
                    Ok(items) => Value::Array(items),
                    Err(reason) => return Some(Err(reason)),
                }
            }
            DeValue::Table(table) => {
                let each = table
                    .iter()
                    .map(|(key, value)| Some(json(value.get_ref())?.map(|value| (key.get_ref().to_string(), value))));
                match each.collect::<Option<Result<Map<String, Value>, String>>>()? {
                    Ok(table) => Value::Object(table),
                    Err(reason) => return Some(Err(reason)),
                }
            }
            DeValue::Datetime(_) => return None,
        })))
    }
}
