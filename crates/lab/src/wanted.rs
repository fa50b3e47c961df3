//! The valves and executors that a variant requests, checked as far as possible without a node.

use helenus_cassandra::Line;
use helenus_control::{Declared, Limits, Range, Use, check_point};
use helenus_notation::{Error, Section};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Valves in the agent's form: for each the members of `valve.add`, without `do`.
pub(crate) fn valves(variant: &str, sections: Vec<Section<'_>>, line: Line) -> Result<Vec<Value>, Error> {
    let mut valves: Vec<Value> = Vec::new();
    for mut section in sections {
        let default = if valves.is_empty() { variant.to_string() } else { format!("{variant} {}", valves.len() + 1) };
        let valve = valve(default, &mut section, line)?;
        if valves.iter().any(|known| known["name"] == valve["name"]) {
            return Err(section.error_at("name", format!("two valves of a variant are named {}", valve["name"])));
        }
        valves.push(valve);
    }
    Ok(valves)
}

/// Executors in the agent's form: for each the members of `executor.set`, without `do`.
pub(crate) fn executors(sections: Vec<Section<'_>>) -> Result<Vec<Value>, Error> {
    let mut executors: Vec<Value> = Vec::new();
    for mut section in sections {
        let executor = executor(&mut section)?;
        if executors.iter().any(|known| known["stage"] == executor["stage"]) {
            return Err(section.error_at("stage", format!("two executors of a variant are of {}", executor["stage"])));
        }
        executors.push(executor);
    }
    Ok(executors)
}

/// Checks the points of the probes.
pub(crate) fn check_probes(section: &Section<'_>, key: &str, at: &[String], line: Line) -> Result<(), Error> {
    at.iter().try_for_each(|at| check_point(at, Some(line), Use::Probe)).map_err(|reason| section.error_at(key, reason))
}

fn valve(default: String, section: &mut Section<'_>, line: Line) -> Result<Value, Error> {
    let declared = Declared::get();
    let mut valve = section.whole::<Map<String, Value>>()?;
    let laws: Vec<&str> = declared.laws.keys().map(String::as_str).collect();
    let Some(law) = section.choice("law", &laws)?.map(|position| laws[position]) else {
        return Err(section.error("a valve has a `law`, such as \"throughput\" or \"fixed\""));
    };
    let at = section.optional::<Value>("at")?.map(|at| texts(&at));
    let stage = section.choice("stage", &names(&declared.stages))?;
    let Some(points) = at.xor(stage.map(|_| Some(Vec::new()))) else {
        return Err(section.error("a valve stands either `at` a point or on a `stage`"));
    };
    let Some(points) = points.filter(|points| stage.is_some() || !points.is_empty()) else {
        return Err(section.error_at("at", "`at` is a point or a list of them"));
    };
    section.choice("order", &names(&declared.orders))?;
    let refuses = section.optional::<bool>("refuse")?.unwrap_or(false);
    let wanted = if refuses { Use::Refusal } else { Use::Gate };
    let wrong = |reason| section.error_at("at", reason);
    points.iter().try_for_each(|at| check_point(at, Some(line), wanted)).map_err(wrong)?;
    let limits = limits(section, stage.is_some())?;
    for key in ["max_wait_ms", "watchdog_ms", "lease_ms", "at_most"] {
        whole(section, key, &declared.valve)?;
    }
    if let Some(parameters) = section.section("parameters")? {
        for (name, value) in parameters.named_values::<Value>()? {
            let checked = declared.check_parameter(law, name, &text(&value), limits);
            checked.map_err(|reason| parameters.error_at(name, reason))?;
        }
    }
    if let Some(weights) = section.section("weights")? {
        for (point, weight) in weights.named_values::<f64>()? {
            if !points.iter().any(|known| known == point) {
                return Err(weights.error_at(point, format!("the valve does not stand at `{point}`")));
            }
            if !(weight > 0.0 && weight <= 1e6) {
                return Err(weights.error_at(point, format!("the weight of {point} is a number above 0, not {weight}")));
            }
        }
    }
    let name = section.optional::<String>("name")?.unwrap_or(default);
    section.optional::<bool>("cold")?;
    section.finish()?;
    valve.insert("name".to_string(), Value::String(name));
    Ok(Value::Object(valve))
}

/// Bounds of the valve's limit.
fn limits(section: &mut Section<'_>, is_stage: bool) -> Result<Limits, Error> {
    let ranges = &Declared::get().valve;
    let default = |key: &str| ranges.get(key).and_then(|range| range.default);
    let min = whole(section, "min", ranges)?.or(default("min")).unwrap_or(1);
    let max = whole(section, "max", ranges)?.or(if is_stage { None } else { default("max") });
    match max {
        Some(max) if max < min => {
            Err(section.error(format!("the limit of a valve is from `min` {min} to `max` {max}")))
        }
        _ => Ok(Limits { min, max }),
    }
}

fn executor(section: &mut Section<'_>) -> Result<Value, Error> {
    let declared = Declared::get();
    let executor = section.whole::<Map<String, Value>>()?;
    let missing =
        |section: &Section<'_>, key| section.error(format!("an executor has a `{key}`; see docs/placement.md"));
    if section.choice("stage", &names(&declared.executor_stages))?.is_none() {
        return Err(missing(section, "stage"));
    }
    let Some(kind) = section.choice("kind", &names(&declared.executors))? else {
        return Err(missing(section, "kind"));
    };
    for key in ["workers", "lease_ms"] {
        whole(section, key, &declared.executor)?;
    }
    if declared.executors[kind] == "batched-drain" {
        whole(section, "batch", &declared.executor)?;
    } else {
        section.optional::<bool>("stealing")?;
    }
    section.finish()?;
    Ok(Value::Object(executor))
}

/// A whole number within its declared range.
fn whole(section: &mut Section<'_>, key: &'static str, ranges: &BTreeMap<String, Range>) -> Result<Option<i64>, Error> {
    let number = section.optional::<i64>(key)?;
    if let Some((number, range)) = number.zip(ranges.get(key)) {
        range.check(number).map_err(|reason| section.error_at(key, format!("`{key}`: {reason}")))?;
    }
    Ok(number)
}

fn names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// A text or a list of texts; None for other values.
pub(crate) fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_string)).collect(),
        _ => None,
    }
}

/// Converted to the form that the agent reads.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    const HEAD: &str = "title = \"t\"\nquestion = \"q\"\nworkload = \"keyvalue\"\n[[phase]]\nrate = 5\nfor = \"5s\"\n\
                        [[variant]]\nname = \"none\"\n[[variant]]\nname = \"v\"\n";

    fn parsed(text: &str) -> Result<Experiment, String> {
        Experiment::parse("x.toml", &format!("{HEAD}{text}")).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn refused(text: &str, line: usize, says: &str) {
        let error = parsed(text).unwrap_err();
        assert!(error.starts_with(&format!("x.toml:{line}:")) && error.contains(says), "{error}");
    }

    #[test]
    fn a_wrong_valve_is_refused_where_it_is_written() {
        let of = |rest: &str| format!("[[variant.valve]]\nat = \"lwt\"\n{rest}");
        assert!(parsed(&of("law = \"fixed\"\nparameters = { limit = \"2\" }\n")).is_ok());
        assert!(parsed(&of("law = \"fixed\"\nparameters = { limit = 2 }\nmax = 4\nmin = 2\nrefuse = true\n")).is_ok());
        refused(&of("law = \"trougput\"\n"), 13, "did you mean `throughput`");
        refused(&of("law = \"fixed\"\nparameters = { limits = \"2\" }\n"), 14, "it has limit");
        refused(&of("law = \"fixed\"\nparameters = { limit = \"200\" }\n"), 14, "from 1 to 128");
        refused(&of("law = \"throughput\"\nparameters = { gain = 7 }\n"), 14, "from 0.005 to 0.5");
        refused(&of("law = \"fixed\"\nmax_wait = 5\n"), 14, "did you mean `max_wait_ms`");
        refused(&of("law = \"fixed\"\nmax = 0\n"), 14, "from 1 to");
        refused(&of("law = \"fixed\"\nmin = 200\n"), 11, "from `min` 200 to `max` 128");
        refused(&of("law = \"fixed\"\norder = \"filo\"\n"), 14, "did you mean `fifo`");
        refused(&of("law = \"fixed\"\nweights = { scans = 2 }\n"), 14, "does not stand at `scans`");
        refused(&of("law = \"fixed\"\nstage = \"read\"\n"), 11, "either `at` a point");
        refused("[[variant.valve]]\nat = 7\nlaw = \"fixed\"\n", 12, "a point or a list");
        refused("[[variant.valve]]\nat = [\"lwt\", \"lwtt\"]\nlaw = \"fixed\"\n", 12, "no point \"lwtt\"");
        refused("[[variant.valve]]\nat = \"commit-log\"\nlaw = \"fixed\"\n", 12, "for probes");
        refused("[[variant.valve]]\nat = \"replica-read\"\nlaw = \"fixed\"\nrefuse = true\n", 12, "can't be refused");
        refused("[[variant.valve]]\nstage = \"reads\"\nlaw = \"fixed\"\n", 12, "did you mean `read`");
        let twice = "[[variant.valve]]\nname = \"a\"\nat = \"lwt\"\nlaw = \"fixed\"\n".repeat(2);
        refused(&twice, 16, "two valves");
    }

    #[test]
    fn a_wrong_executor_is_refused_where_it_is_written() {
        let of = |rest: &str| format!("[[variant.executor]]\nstage = \"read\"\n{rest}");
        assert!(parsed(&of("kind = \"batched-drain\"\nbatch = 8\n")).is_ok());
        refused(&of("kind = \"batched\"\n"), 13, "did you mean `batched-drain`");
        refused(&of("kind = \"batched-drain\"\nstealing = true\n"), 14, "unknown key `stealing`");
        refused(&of("kind = \"queue-per-thread\"\nworkers = 0\n"), 14, "from 1 to 1024");
        refused(
            "[[variant.executor]]\nstage = \"compaction\"\nkind = \"batched-drain\"\n",
            12,
            "one of native-transport",
        );
        refused(&of("kind = \"batched-drain\"\n").repeat(2), 15, "two executors");
    }

    #[test]
    fn what_a_release_lacks_is_refused() {
        let of_4_0 = format!("{HEAD}requests_per_second = 5\n[node]\nversion = \"4.0\"\n");
        let error = Experiment::parse("x.toml", &of_4_0).unwrap_err().to_string();
        assert!(error.starts_with("x.toml:11:") && error.contains("came with 4.1"), "{error}");
        let unknown = format!("{HEAD}[node]\nversion = \"3.11\"\n");
        assert!(Experiment::parse("x.toml", &unknown).unwrap_err().to_string().starts_with("x.toml:12:"));
        let probes = format!("{HEAD}[observe]\nprobes = [\"lwtt\"]\n");
        let error = Experiment::parse("x.toml", &probes).unwrap_err().to_string();
        assert!(error.starts_with("x.toml:12:") && error.contains("no point \"lwtt\""), "{error}");
    }
}
