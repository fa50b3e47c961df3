//! Whether the recordings that are compared had the same load.

use crate::engine::Engine;
use crate::text::count;
use crate::{Error, query};
use helenus_recording::LoadFacts;
use std::collections::BTreeSet;

/// At most this many phases are listed.
const LISTED: usize = 4;

/// A sentence on how the loads of two sets differ; None if the recordings show no difference.
///
/// `rates`: the requests/s that each side answered, for traffic without phases.
pub(super) fn differ(
    (baseline, baselines): (&str, &[Engine]),
    (variant, variants): (&str, &[Engine]),
    rates: Option<(f64, f64)>,
    margin: f64,
) -> Result<Option<String>, Error> {
    let loads = |engines: &[Engine]| engines.iter().map(Load::of).collect::<Result<BTreeSet<Load>, Error>>();
    let (of_baseline, of_variant) = (loads(baselines)?, loads(variants)?);
    let difference = |first: String, second: String| {
        format!(
            "The loads differ: {first} in {baseline}, {second} in {variant}. Part of each difference can come from the load; \
             compare runs of one load."
        )
    };
    if of_baseline != of_variant {
        let texts = |loads: &BTreeSet<Load>| loads.iter().map(Load::text).collect::<Vec<_>>().join(" and ");
        let (first, second) = (texts(&of_baseline), texts(&of_variant));
        return Ok(Some(match first == second {
            true => difference(format!("one workload file named {first}"), "another one of that name".to_string()),
            false => difference(first, second),
        }));
    }
    let has_phases = of_baseline.iter().any(|load| !load.phases.is_empty());
    let beyond = |(first, second): &(f64, f64)| (first / second).ln().abs() > (1.0 + margin).ln();
    Ok(rates.filter(|rates| !has_phases && beyond(rates)).map(|(first, second)| {
        difference(
            format!("{} requests/s", count(first.round() as usize)),
            format!("{} requests/s", count(second.round() as usize)),
        )
    }))
}

/// The load of a recording: its workload and phases.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Load {
    /// Name, mix, number of keys and text of the workload; empty if the recording has no workload.
    workload: (String, String, Option<u64>, String),
    /// The measured phases.
    phases: Vec<String>,
}

impl Load {
    fn of(engine: &Engine) -> Result<Load, Error> {
        let facts = engine.manifests().iter().find_map(|manifest| manifest.load.clone());
        let LoadFacts { workload, text, mix, population } = facts.unwrap_or_default();
        let rows = engine.sql(&query::MARKS.fill(&[]))?;
        let measured = rows.booleans("measured")?;
        let (rates, ends) = (rows.numbers_or_null("rate_per_s")?, rows.numbers_or_null("end_rate_per_s")?);
        let in_flight = rows.numbers_or_null("in_flight")?;
        let per_s = |rate: f64| count(rate.round() as usize);
        let phase = |row: usize| match (rates[row], ends[row], in_flight[row]) {
            (Some(from), Some(to), _) if from != to => format!("{} to {} requests/s", per_s(from), per_s(to)),
            (Some(rate), ..) => format!("{} requests/s", per_s(rate)),
            (.., Some(in_flight)) => format!("{in_flight} requests in flight"),
            _ => "a phase".to_string(),
        };
        let phases = (0..rows.rows()).filter(|row| measured[*row]).map(phase).collect();
        Ok(Load { workload: (workload, mix.unwrap_or_default(), population, text), phases })
    }

    fn text(&self) -> String {
        let (name, mix, keys, _) = &self.workload;
        let mut workload =
            [name.as_str(), mix].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        if let Some(keys) = keys {
            workload.push_str(&format!(" of {} keys", count(usize::try_from(*keys).unwrap_or(usize::MAX))));
        }
        let mut phases = self.phases.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
        if self.phases.len() > LISTED {
            phases.push_str(&format!(" and {} more phases", self.phases.len() - LISTED));
        }
        match (workload.is_empty(), phases.is_empty()) {
            (true, true) => "no load of ours".to_string(),
            (true, false) => phases,
            (false, true) => workload,
            (false, false) => format!("{workload} at {phases}"),
        }
    }
}
