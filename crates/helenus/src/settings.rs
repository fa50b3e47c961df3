//! Settings of tables and nodes: parsing, printing, and writing as CQL.

use crate::terminal;
use anyhow::{Result, bail, ensure};
use chrono::{Local, TimeZone};
use clap::{Args, Command, FromArgMatches};
use helenus_control::Setting;
use helenus_explain::SettingChoice;
use helenus_lab::COMPACTION_STRATEGIES;
use helenus_notation::{did_you_mean, quantity};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use std::time::Duration;

/// Cassandra's default of `max_hint_window`, the time for which hints are kept.
const HINT_WINDOW: Duration = Duration::from_secs(3 * 3600);
/// The stages whose number of threads can be changed.
const STAGES: [&str; 5] = ["native-transport", "read", "mutation", "counter-mutation", "view-mutation"];
const PACKAGE: &str = "org.apache.cassandra.db.compaction.";

/// Settings of one node.
#[derive(Debug, Args)]
pub struct OfNode {
    /// The table
    #[arg(long, value_name = "KEYSPACE.TABLE")]
    pub table: Option<String>,
    /// Compaction parameters of a table on that node: JSON with a class, as in CREATE TABLE but with double quotes
    #[arg(long, value_name = "JSON")]
    pub compaction: Option<String>,
    /// MiB/s that all compactions of the node may write; 0 for no bound
    #[arg(long, value_name = "N")]
    pub compaction_throughput: Option<u32>,
    /// Compactions that may run at once
    #[arg(long, value_name = "N")]
    pub concurrent_compactors: Option<u32>,
    /// Requests a second that the node takes from its clients, others wait; 0 for no limit. From Cassandra 4.1 on
    #[arg(long, value_name = "N")]
    pub requests_per_second: Option<u32>,
    /// Bytes of requests that were read and not answered yet
    #[arg(long, value_name = "N")]
    pub concurrent_request_bytes: Option<u64>,
    /// The same limit for each client address
    #[arg(long, value_name = "N")]
    pub concurrent_request_bytes_per_ip: Option<u64>,
    /// Largest number of threads of a stage: native-transport, read, mutation, counter-mutation, view-mutation (may be given
    /// again)
    #[arg(long, value_name = "STAGE=N", value_parser = stage)]
    pub threads: Vec<(String, u32)>,
}

impl OfNode {
    /// The settings, as they are named in options.
    pub fn choices() -> &'static [SettingChoice] {
        static CHOICES: LazyLock<Vec<SettingChoice>> = LazyLock::new(|| {
            let command = OfNode::augment_args(Command::new("settings"));
            let settings = command.get_arguments().filter_map(|argument| {
                let name = argument.get_long().filter(|name| *name != "table")?;
                Some(SettingChoice {
                    name: name.to_string(),
                    what: argument.get_help()?.to_string(),
                    form: argument.get_value_names()?.first()?.to_string(),
                    is_of_table: name == "compaction",
                })
            });
            settings.collect()
        });
        &CHOICES
    }

    /// The settings that an option changes: one of each stage for `threads`.
    pub fn settings(name: &str, table: Option<&str>) -> Result<Vec<Setting>> {
        ensure!(OfNode::choices().iter().any(|choice| choice.name == name), "there is no setting {name}");
        Ok(match (name, table) {
            ("compaction", Some(table)) => vec![Setting::compaction(table)],
            ("compaction", None) => bail!("name the table as KEYSPACE.TABLE"),
            ("requests-per-second", _) => vec![Setting::requests_per_second(0).0],
            ("threads", _) => STAGES.iter().map(|stage| Setting::of_node(&format!("{stage}-threads"))).collect(),
            (name, _) => vec![Setting::of_node(name)],
        })
    }

    /// Parses one option with its value, as the command line does; a table for `compaction`.
    pub fn parse(name: &str, value: &str, table: Option<&str>) -> Result<(Setting, Value)> {
        let mut words = vec![format!("--{name}={value}")];
        words.extend(table.map(|table| format!("--table={table}")));
        let command = OfNode::augment_args(Command::new("settings").no_binary_name(true).disable_help_flag(true));
        let parsed = command.try_get_matches_from(words).and_then(|matches| OfNode::from_arg_matches(&matches));
        let first_line = |error: clap::Error| {
            let text = error.to_string();
            anyhow::Error::msg(text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_string())
        };
        let mut wanted = parsed.map_err(first_line)?.read()?;
        match (wanted.pop(), wanted.pop()) {
            (Some(one), None) => Ok(one),
            _ => bail!("say one setting, such as compaction-throughput"),
        }
    }

    /// Each setting with its new value.
    pub fn read(&self) -> Result<Vec<(Setting, Value)>> {
        let mut wanted = Vec::new();
        match (&self.table, &self.compaction) {
            (Some(table), Some(text)) => wanted.push((Setting::compaction(table), compaction(text)?)),
            (None, Some(_)) => bail!("--compaction is of a table: name it with --table KEYSPACE.TABLE"),
            (Some(_), None) | (None, None) => {}
        }
        let numbers = [
            ("compaction-throughput", self.compaction_throughput.map(u64::from)),
            ("concurrent-compactors", self.concurrent_compactors.map(u64::from)),
            ("concurrent-request-bytes", self.concurrent_request_bytes),
            ("concurrent-request-bytes-per-ip", self.concurrent_request_bytes_per_ip),
        ];
        wanted.extend(numbers.iter().filter_map(|(name, number)| Some((Setting::of_node(name), json!((*number)?)))));
        wanted.extend(self.requests_per_second.map(|limit| Setting::requests_per_second(limit.into())));
        let threads = |(stage, number): &(String, u32)| (Setting::of_node(&format!("{stage}-threads")), json!(number));
        wanted.extend(self.threads.iter().map(threads));
        Ok(wanted)
    }
}

/// Settings that can only be the same on all nodes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus tune cql --table shop.orders --compaction '{\"class\":\"LeveledCompactionStrategy\"}' --gc-grace 24h
  helenus tune cql --table shop.orders --compression '{\"class\":\"LZ4Compressor\",\"chunk_length_in_kb\":4}'")]
pub struct OfAll {
    /// The table
    #[arg(long, value_name = "KEYSPACE.TABLE")]
    table: String,
    /// Compaction parameters of the table, as JSON
    #[arg(long, value_name = "JSON")]
    compaction: Option<String>,
    /// How long tombstones are kept
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    gc_grace: Option<Duration>,
    /// Compression parameters of the table, as JSON
    #[arg(long, value_name = "JSON")]
    compression: Option<String>,
    /// Print the statement as JSON
    #[arg(long)]
    json: bool,
}

impl OfAll {
    pub fn print(&self) -> Result<()> {
        let mut options = Vec::new();
        if let Some(text) = &self.compaction {
            options.push(("compaction", literal(&compaction(text)?)));
        }
        if let Some(text) = &self.compression {
            options.push(("compression", literal(&parameters("--compression", text)?)));
        }
        if let Some(gc_grace) = self.gc_grace {
            options.push(("gc_grace_seconds", gc_grace.as_secs().to_string()));
            terminal::warn(
                "a delete that a node has missed comes back once its tombstone is gone: repair every node more often than gc_grace",
            );
            if gc_grace < HINT_WINDOW {
                terminal::warn(format_args!(
                    "{} is below the hint window, 3h unless max_hint_window says otherwise: hints that come later bring deleted rows back",
                    length(gc_grace)
                ));
            }
        }
        ensure!(!options.is_empty(), "say what is to be set: --compaction, --compression or --gc-grace");
        ensure!(self.table.contains('.'), "{} is no table: write KEYSPACE.TABLE", self.table);
        let statement = alter(&self.table, &options);
        match self.json {
            true => terminal::json(&json!({ "cql": statement }))?,
            false => terminal::data(statement),
        }
        Ok(())
    }
}

fn stage(text: &str) -> Result<(String, u32), String> {
    let wrong = || format!("`{text}` is no STAGE=N, such as read=64");
    let (stage, number) = text.split_once('=').ok_or_else(wrong)?;
    Ok((stage.to_string(), number.parse().map_err(|_| wrong())?))
}

/// Parameters of a compaction: JSON with a class, all values as text.
pub fn compaction(text: &str) -> Result<Value> {
    let parameters = parameters("--compaction", text)?;
    let Some(class) = parameters.get("class").and_then(Value::as_str) else {
        bail!("--compaction has no class: write {{\"class\":\"LeveledCompactionStrategy\"}}")
    };
    let short = class.strip_prefix(PACKAGE).unwrap_or(class);
    // A class of another package is the user's own.
    if !short.contains('.') && !COMPACTION_STRATEGIES.contains(&short) {
        bail!("Cassandra has no compaction strategy {short}{}", did_you_mean(short, COMPACTION_STRATEGIES));
    }
    Ok(parameters)
}

/// Parameters by name: JSON, all values as text.
pub fn parameters(option: &str, text: &str) -> Result<Value> {
    let given: Map<String, Value> = match serde_json::from_str(text) {
        Ok(Value::Object(given)) => given,
        Ok(_) => bail!("{option} takes parameters by name: write {{\"class\":\"…\"}}"),
        Err(error) => bail!("{option} is no JSON ({error}): write {{\"class\":\"…\"}}, with double quotes"),
    };
    let each = given.into_iter().map(|(name, value)| {
        let text = match value {
            Value::String(text) => text,
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => bail!("{option}: {name} is {value}, and takes a text, a number, true or false"),
        };
        Ok((name, Value::String(text)))
    });
    Ok(Value::Object(each.collect::<Result<_>>()?))
}

/// A value for display: a compaction by its strategy's short name and the options that differ from the defaults.
pub fn text(value: &Value) -> String {
    let Value::Object(parameters) = value else { return value.to_string() };
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let class = parameters.get("class").map(plain).unwrap_or_default();
    let default = |name: &str, value: &str| matches!((name, value), ("min_threshold", "4") | ("max_threshold", "32"));
    let others: Vec<String> = parameters
        .iter()
        .map(|(name, value)| (name, plain(value)))
        .filter(|(name, value)| *name != "class" && !default(name, value))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let class = class.strip_prefix(PACKAGE).unwrap_or(&class);
    if class.is_empty() {
        return others.join(", ");
    }
    if others.is_empty() { class.to_string() } else { format!("{class} ({})", others.join(", ")) }
}

/// A map of CQL.
pub fn literal(parameters: &Value) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let pairs = parameters.as_object().into_iter().flatten();
    let pairs = pairs.map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        format!("{}: {}", quoted(name), quoted(&text))
    });
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
}

/// The statement that sets options of a table on all nodes.
pub fn alter(table: &str, options: &[(&str, String)]) -> String {
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let name = |name: &str| if plain(name) { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) };
    let table = table.splitn(2, '.').map(name).collect::<Vec<_>>().join(".");
    let options: Vec<String> = options.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("ALTER TABLE {table} WITH {};", options.join(" AND "))
}

/// A duration in its two largest units.
pub fn length(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (hours, 0, _) => format!("{hours}h"),
        (hours, minutes, _) => format!("{hours}h {minutes}m"),
    }
}

/// The local time of day; empty if unknown.
pub fn since(ms: u64) -> String {
    let time = i64::try_from(ms).ok().filter(|ms| *ms > 0).and_then(|ms| Local.timestamp_millis_opt(ms).single());
    time.map_or("–".to_string(), |time| time.format("%Y-%m-%d %H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_texts_by_name() {
        let leveled = compaction("{\"class\":\"LeveledCompactionStrategy\",\"sstable_size_in_mb\":64}").unwrap();
        assert_eq!(leveled["sstable_size_in_mb"], "64");
        assert_eq!(text(&leveled), "LeveledCompactionStrategy (sstable_size_in_mb=64)");
        assert_eq!(literal(&leveled), "{'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': '64'}");
        let error = |text: &str| compaction(text).unwrap_err().to_string();
        assert!(error("{'class': 'X'}").contains("with double quotes"));
        assert!(error("{\"min_threshold\": 4}").contains("no class"));
        assert!(error("[]").contains("by name"));
        let misspelled = error("{\"class\":\"LeveledCompactionStrategie\"}");
        assert!(misspelled.contains("no compaction strategy") && misspelled.contains("`LeveledCompactionStrategy`"));
        assert!(compaction("{\"class\":\"com.example.Own\"}").is_ok());
        assert!(error("{\"class\":[1]}").contains("class is [1]"));
    }

    #[test]
    fn one_option_is_parsed_as_on_the_command_line() {
        let parse = |name: &str, value: &str, table: Option<&str>| {
            OfNode::parse(name, value, table).map_err(|error| error.to_string())
        };
        assert_eq!(
            parse("compaction-throughput", "64", None),
            Ok((Setting::of_node("compaction-throughput"), json!(64)))
        );
        assert_eq!(parse("threads", "read=8", None), Ok((Setting::of_node("read-threads"), json!(8))));
        let leveled = "{\"class\":\"LeveledCompactionStrategy\"}";
        assert_eq!(parse("compaction", leveled, Some("shop.orders")).unwrap().0, Setting::compaction("shop.orders"));
        assert!(parse("compaction", leveled, None).unwrap_err().contains("is of a table"));
        assert!(parse("compaction-throughput", "soon", None).unwrap_err().contains("soon"));
        assert!(parse("nothing", "1", None).unwrap_err().contains("nothing"));
        assert!(parse("table", "a.b", None).unwrap_err().contains("say one setting"));
        assert!(OfNode::choices().iter().any(|choice| choice.is_of_table));
        for choice in OfNode::choices() {
            let value = match choice.form.as_str() {
                "N" => "8",
                "STAGE=N" => "read=8",
                _ => leveled,
            };
            let table = choice.is_of_table.then_some("shop.orders");
            assert!(parse(&choice.name, value, table).is_ok() && !choice.what.is_empty(), "{choice:?}");
        }
    }

    #[test]
    fn statements_quote_what_needs_it() {
        let options = [("gc_grace_seconds", "3600".to_string()), ("compaction", "{'a': 'b'}".to_string())];
        let statement = "ALTER TABLE shop.\"Orders\" WITH gc_grace_seconds = 3600 AND compaction = {'a': 'b'};";
        assert_eq!(alter("shop.Orders", &options), statement);
    }

    #[test]
    fn lengths_have_two_units_at_most() {
        let of = |seconds| length(Duration::from_secs(seconds));
        assert_eq!([of(9), of(60), of(61), of(3600), of(7380)], ["9s", "1m", "1m 1s", "1h", "2h 3m"]);
    }
}
