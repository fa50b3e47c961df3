//! Names and ranges of the agent's valves and executors, to check arguments before an agent is loaded.
//!
//! The only declaration is `declared/controls.json`. The agent's tests (`DeclaredLawsTest`, `DeclaredSettingsTest`)
//! compare it with the agent's code. Named points come from the agent's own files.

use helenus_cassandra::Line;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Declared names and ranges.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// Parameters of each law.
    pub laws: BTreeMap<String, BTreeMap<String, Parameter>>,
    /// Integer settings of a valve.
    pub valve: BTreeMap<String, Range>,
    /// Orders in which waiting calls enter a gate.
    pub orders: Vec<String>,
    /// Stages that a valve can limit.
    pub stages: Vec<String>,
    /// Integer settings of an executor.
    pub executor: BTreeMap<String, Range>,
    /// Names of the kinds of executors.
    pub executors: Vec<String>,
    /// Stages whose executor can be replaced.
    pub executor_stages: Vec<String>,
}

/// A parameter of a law.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    pub default: Bound,
    pub least: Bound,
    pub most: Bound,
    #[serde(default)]
    pub whole: bool,
}

/// A number, or a bound of the valve's limit.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Bound {
    Number(f64),
    LimitBound(LimitBound),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitBound {
    Min,
    Max,
}

/// The range of an integer setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    pub default: Option<i64>,
    pub least: i64,
    pub most: i64,
}

/// Bounds of a valve's limit; `max` is missing if only the node knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub min: i64,
    pub max: Option<i64>,
}

/// The use of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Probe,
    Gate,
    /// A gate that refuses with Overloaded.
    Refusal,
}

static DECLARED: LazyLock<Declared> =
    LazyLock::new(|| serde_json::from_str(include_str!("../declared/controls.json")).unwrap_or_default());

macro_rules! preset {
    ($line:literal) => {
        include_str!(concat!("../../../agent/src/main/resources/io/helenus/agent/presets/cassandra-", $line))
    };
}

impl Declared {
    pub fn get() -> &'static Declared {
        &DECLARED
    }

    /// Checks a parameter of a law.
    ///
    /// # Errors
    /// Fails with a sentence that names the error and the allowed values.
    pub fn check_parameter(&self, law: &str, name: &str, value: &str, limits: Limits) -> Result<(), String> {
        let Some(parameters) = self.laws.get(law) else { return Err(format!("there is no law {law:?}")) };
        let Some(parameter) = parameters.get(name) else {
            let there: Vec<&str> = parameters.keys().map(String::as_str).collect();
            return Err(format!("the law {law} has no parameter `{name}`; it has {}", there.join(", ")));
        };
        let (least, most) = (parameter.least.of(limits), parameter.most.of(limits));
        let is_within = value.trim().parse().is_ok_and(|number: f64| {
            least.is_none_or(|least| number >= least)
                && most.is_none_or(|most| number <= most)
                && (!parameter.whole || number.fract() == 0.0)
                && number.is_finite()
        });
        if is_within {
            return Ok(());
        }
        let kind = if parameter.whole { "a whole number" } else { "a number" };
        let range = match (least, most) {
            (Some(least), Some(most)) => format!(" from {least} to {most}"),
            (Some(least), None) => format!(" from {least} on"),
            (None, Some(most)) => format!(" up to {most}"),
            (None, None) => String::new(),
        };
        Err(format!("the law {law} takes for {name} {kind}{range}, not {value:?}"))
    }
}

impl Bound {
    /// The value; None if only the node knows it.
    fn of(self, limits: Limits) -> Option<f64> {
        match self {
            Bound::Number(number) => Some(number),
            Bound::LimitBound(LimitBound::Min) => Some(limits.min as f64),
            Bound::LimitBound(LimitBound::Max) => limits.max.map(|max| max as f64),
        }
    }
}

impl Range {
    /// # Errors
    /// A sentence with the range.
    pub fn check(&self, number: i64) -> Result<(), String> {
        match (self.least..=self.most).contains(&number) {
            true => Ok(()),
            false => Err(format!("{number} is not a whole number from {} to {}", self.least, self.most)),
        }
    }
}

/// A named point of a release line, and whether probes and gates are allowed there.
fn points(line: Line) -> impl Iterator<Item = (&'static str, &'static str)> {
    let preset = match line {
        Line::V4_0 => preset!("4.0"),
        Line::V4_1 => preset!("4.1"),
        Line::V5_0 => preset!("5.0"),
    };
    let rows = preset.lines().filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| {
        let mut cells = row.split('|').map(str::trim);
        Some((cells.next().filter(|name| !name.is_empty())?, cells.next()?))
    })
}

/// The named points of all release lines at which a valve can be, in their order.
pub fn gates() -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, kinds) in Line::ALL.iter().rev().flat_map(|line| points(*line)) {
        if kinds.split(' ').any(|kind| kind == "gate") && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Checks the site of a probe or gate: a named point of the release line, or a pattern of methods, which only the node
/// can find. Without a line the names of all lines are taken.
///
/// # Errors
/// Fails with a sentence that names the error and the allowed values.
pub fn check_point(at: &str, line: Option<Line>, wanted: Use) -> Result<(), String> {
    let lines = line.map_or(Line::ALL.to_vec(), |line| vec![line]);
    let known = || lines.iter().flat_map(|line| points(*line));
    let Some((name, kinds)) = known().find(|(name, _)| *name == at.trim()) else {
        return check_pattern(at, &known().map(|(name, _)| name).collect::<Vec<_>>());
    };
    let kinds: Vec<&str> = kinds.split(' ').collect();
    match wanted {
        Use::Gate if !kinds.contains(&"gate") => Err(format!("no valve may stand at {name}, which is for probes")),
        Use::Refusal if !kinds.contains(&"refuse") => {
            Err(format!("a request can't be refused at {name}: leave out `refuse`"))
        }
        _ => Ok(()),
    }
}

/// Whether the text has the form `package.Class.method` or `package.Class.method(arguments)`, with or without `when`
/// and conditions after it.
fn check_pattern(at: &str, known: &[&str]) -> Result<(), String> {
    let method = at.split(" when ").next().unwrap_or_default().trim();
    let (name, arguments) = method.split_once('(').map_or((method, ")"), |(name, rest)| (name.trim(), rest));
    match name.rsplit_once('.') {
        Some((class, method)) if !class.is_empty() && !method.is_empty() && arguments.ends_with(')') => Ok(()),
        Some(_) => Err(format!("{at:?} is no point: write package.Class.method or package.Class.method(types)")),
        None => {
            let mut names = known.to_vec();
            names.sort_unstable();
            names.dedup();
            Err(format!("there is no point {at:?}; there are {}, and patterns of methods", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_POINTS: Limits = Limits { min: 1, max: Some(128) };

    #[test]
    fn valves_stand_at_points_for_gates() {
        let names = gates();
        assert_eq!(names.first(), Some(&"request"), "{names:?}");
        assert!(names.contains(&"lwt") && !names.contains(&"commit-log"), "{names:?}");
        assert!(names.iter().all(|name| check_point(name, None, Use::Gate).is_ok()), "{names:?}");
    }

    #[test]
    fn the_declaration_can_be_read() {
        let declared: Declared = serde_json::from_str(include_str!("../declared/controls.json")).unwrap();
        assert!(declared.laws.contains_key("throughput") && declared.laws["fixed"]["limit"].whole);
        for (law, parameters) in &declared.laws {
            for (name, parameter) in parameters {
                let Some(default) = parameter.default.of(AT_POINTS) else { panic!("{law} {name}") };
                let default = default.to_string();
                assert_eq!(declared.check_parameter(law, name, &default, AT_POINTS), Ok(()), "{law} {name}");
            }
        }
        for (name, range) in declared.valve.iter().chain(&declared.executor) {
            assert!(range.default.is_none_or(|default| range.check(default).is_ok()), "{name}");
        }
    }

    #[test]
    fn the_documentation_has_every_parameter() {
        let documented = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/valves.md")).unwrap();
        let bound = |bound: Bound| match bound {
            Bound::Number(number) => number.to_string(),
            Bound::LimitBound(LimitBound::Min) => "`min`".to_string(),
            Bound::LimitBound(LimitBound::Max) => "`max`".to_string(),
        };
        let mut rows = 0;
        for (law, parameters) in &Declared::get().laws {
            for (name, parameter) in parameters {
                let Parameter { default, least, most, whole } = *parameter;
                let whole = if whole { ", whole" } else { "" };
                let (default, least, most) = (bound(default), bound(least), bound(most));
                let row = format!("| `{law}` | `{name}` | {default} | {least} to {most}{whole} |\n");
                assert!(documented.contains(&row), "docs/valves.md has no {row}");
                rows += 1;
            }
        }
        let table = documented.split_once("#### Parameters").unwrap().1.split_once("\n####").unwrap().0;
        assert_eq!(table.lines().filter(|line| line.starts_with("| `")).count(), rows);
    }

    #[test]
    fn parameters_are_checked_against_their_law() {
        let check =
            |law: &str, name: &str, value: &str, limits| Declared::get().check_parameter(law, name, value, limits);
        assert_eq!(check("fixed", "limit", "8", AT_POINTS), Ok(()));
        let of_stage = Limits { min: 2, max: None };
        assert_eq!(check("fixed", "limit", "100000", of_stage), Ok(()), "only the node knows how large its stage is");
        for (law, name, value, limits, says) in [
            ("fixed", "limit", "200", AT_POINTS, "a whole number from 1 to 128"),
            ("fixed", "limit", "1", of_stage, "from 2 on"),
            ("fixed", "limit", "2.5", AT_POINTS, "a whole number"),
            ("fixed", "limits", "2", AT_POINTS, "it has limit"),
            ("throughput", "gain", "much", AT_POINTS, "not \"much\""),
            ("throughput", "gain", "NaN", AT_POINTS, "from 0.005 to 0.5"),
            ("trougput", "gain", "0.1", AT_POINTS, "no law"),
        ] {
            let error = check(law, name, value, limits).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn points_are_named_or_patterns() {
        for line in Line::ALL {
            assert_eq!(check_point("lwt", Some(line), Use::Refusal), Ok(()), "{line}");
            assert!(points(line).all(|(name, kinds)| !name.contains(' ') && !kinds.is_empty()));
        }
        let wrong = |at: &str, wanted| check_point(at, Some(Line::V5_0), wanted).unwrap_err();
        assert!(wrong("lwtt", Use::Gate).contains("there are batches"), "{}", wrong("lwtt", Use::Gate));
        assert!(wrong("commit-log", Use::Gate).contains("for probes"));
        assert!(wrong("replica-read", Use::Refusal).contains("can't be refused"));
        assert!(wrong("StorageProxy.", Use::Probe).contains("is no point"));
        for pattern in ["StorageProxy.*", "a.b.C.d(int, ..)", "a.B.c(X) when not x.isY()"] {
            assert_eq!(check_point(pattern, None, Use::Probe), Ok(()), "{pattern}");
        }
        assert_eq!(check_point("memtable-trie", None, Use::Probe), Ok(()));
        assert!(check_point("memtable-trie", Some(Line::V4_0), Use::Probe).is_err());
    }
}
