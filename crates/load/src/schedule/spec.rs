//! Phases from a TOML file, and what the command line shares with it.

use super::{Load, Phase, Until, Work};
use crate::Error;
use crate::quantity::{self, BadQuantity};
use crate::strict::{Count, Rate, Section};
use std::time::Duration;

/// A phase as it was written, before it is known to make sense.
#[derive(Debug, Default, Clone)]
pub(super) struct Spec {
    pub rate: Option<f64>,
    pub steps: Option<Steps>,
    pub ramp: Option<(f64, f64)>,
    pub in_flight: Option<u64>,
    pub lasts: Option<Duration>,
    pub each: Option<Duration>,
    pub count: Option<u64>,
    pub name: Option<String>,
    pub unmeasured: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    pub from_per_s: f64,
    pub to_per_s: f64,
    pub step_per_s: f64,
}

impl Spec {
    /// The phases that it means: several for steps, one otherwise. The error is the way out alone.
    pub fn phases(self) -> Result<Vec<Phase>, String> {
        let kinds = [self.rate.is_some(), self.steps.is_some(), self.ramp.is_some(), self.in_flight.is_some()];
        if kinds.iter().filter(|given| **given).count() != 1 {
            return Err("a phase has exactly one of rate, steps, ramp and in_flight".to_string());
        }
        if self.each.is_some() && self.steps.is_none() {
            return Err("`each` is the length of each of the steps; the length of any other phase is `for`".to_string());
        }
        let mut phases = if let Some(steps) = self.steps {
            let each = match (self.each, self.lasts, self.count) {
                (Some(each), None, None) => each,
                (None, ..) => return Err("steps need `each`: how long each of them lasts".to_string()),
                _ => {
                    return Err("steps have no `for` and no `count`; `each` is how long each of them lasts".to_string());
                }
            };
            if ((steps.to_per_s - steps.from_per_s) / steps.step_per_s).abs() > 10_000.0 {
                return Err("these are more than 10,000 steps; make the step larger".to_string());
            }
            Phase::steps(steps.from_per_s, steps.to_per_s, steps.step_per_s, each)
        } else {
            let until = match (self.lasts, self.count) {
                (Some(lasts), None) => Until::Elapsed(lasts),
                (None, Some(count)) => Until::Count(count),
                (None, None) => return Err("a phase needs `for` (how long) or `count` (how many requests)".to_string()),
                (Some(_), Some(_)) => return Err("a phase has either `for` or `count`, not both".to_string()),
            };
            let load = match (self.rate, self.ramp, self.in_flight) {
                (Some(per_s), ..) => Load::Rate { per_s },
                (_, Some((from_per_s, to_per_s)), _) => Load::Ramp { from_per_s, to_per_s },
                (.., in_flight) => match u32::try_from(in_flight.unwrap_or(0)) {
                    Ok(in_flight) if (1..=1_000_000).contains(&in_flight) => Load::InFlight(in_flight),
                    _ => return Err("in flight are at least 1 and at most 1,000,000 requests".to_string()),
                },
            };
            vec![match load {
                Load::Rate { per_s } => Phase::rate(per_s, until),
                Load::InFlight(requests) => Phase::in_flight(requests, until),
                Load::Ramp { from_per_s, to_per_s } => match until {
                    Until::Elapsed(lasts) => Phase::ramp(from_per_s, to_per_s, lasts),
                    Until::Count(_) => return Err("a ramp needs `for`, not `count`".to_string()),
                },
            }]
        };
        for phase in &mut phases {
            phase.measured = !self.unmeasured;
            if let Some(name) = &self.name {
                phase.name = match self.steps {
                    Some(_) => format!("{name} {}", phase.name),
                    None => name.clone(),
                };
            }
        }
        Ok(phases)
    }
}

/// `2k..20k/2k`: from, to, step.
pub(super) fn steps(text: &str) -> Result<Steps, String> {
    let wrong = || format!("`{text}` are no steps; write FROM..TO/STEP, such as 2k..20k/2k");
    let (range, step) = text.split_once('/').ok_or_else(wrong)?;
    let (from_per_s, to_per_s) = range_of_rates(range).map_err(|_| wrong())?;
    let step_per_s = quantity::rate(step).map_err(|_| wrong())?;
    Ok(Steps { from_per_s, to_per_s, step_per_s })
}

/// `1k..10k`: from, to.
pub(super) fn ramp(text: &str) -> Result<(f64, f64), String> {
    range_of_rates(text).map_err(|_| format!("`{text}` is no ramp; write FROM..TO, such as 1k..10k"))
}

fn range_of_rates(text: &str) -> Result<(f64, f64), BadQuantity> {
    let (from, to) = text.split_once("..").unwrap_or((text, ""));
    Ok((quantity::rate(from)?, quantity::rate(to)?))
}

/// Reads the phases of a file: one `[[phase]]` each, with the keys rate, steps, ramp or in_flight; for, count or each;
/// name and measured. Steps become a phase each.
pub fn from_toml(sections: Vec<Section<'_>>) -> Result<Vec<Phase>, Error> {
    let mut phases = Vec::new();
    for mut section in sections {
        let text = |section: &mut Section<'_>, key| section.optional::<String>(key);
        let steps = text(&mut section, "steps")?.map(|text| steps(&text)).transpose();
        let ramp = text(&mut section, "ramp")?.map(|text| ramp(&text)).transpose();
        let spec = Spec {
            rate: section.optional::<Rate>("rate")?.map(|rate| rate.0),
            steps: steps.map_err(|message| section.error_at("steps", message))?,
            ramp: ramp.map_err(|message| section.error_at("ramp", message))?,
            in_flight: section.optional::<Count>("in_flight")?.map(|count| count.0),
            lasts: section.optional("for")?,
            each: section.optional("each")?,
            count: section.optional::<Count>("count")?.map(|count| count.0),
            name: section.optional("name")?,
            unmeasured: section.optional("measured")? == Some(false),
        };
        let work = section.choice("work", &["mix", "populate"])?;
        // First what is unknown: it may be what the phase lacks.
        section.finish()?;
        let mut made = spec.phases().map_err(|message| section.error(message))?;
        if work == Some(1) {
            made.iter_mut().for_each(|phase| phase.work = Work::Populate);
        }
        phases.extend(made);
    }
    Ok(phases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strict::Document;

    fn read(text: &str) -> Result<Vec<Phase>, Error> {
        let document = Document::parse("study.toml", text)?;
        let mut root = document.root();
        let phases = from_toml(root.list("phase")?)?;
        root.finish()?;
        Ok(phases)
    }

    #[test]
    fn phases_compose() {
        let phases = read(
            r#"
            [[phase]]
            name = "warm-up"
            rate = "500"
            for = "10s"
            measured = false
            [[phase]]
            steps = "2k..6k/2k"
            each = "20s"
            [[phase]]
            name = "rise"
            ramp = "1k..10k"
            for = "1m"
            [[phase]]
            in_flight = 64
            count = "10k"
            "#,
        )
        .unwrap();
        let shown: Vec<String> = phases
            .iter()
            .map(|phase| format!("{}: {:?}, {:?}, measured {}", phase.name, phase.load, phase.until, phase.measured))
            .collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn what_makes_no_sense_says_what_would() {
        let errors: Vec<String> = [
            "[[phase]]\nrate = 5\n",
            "[[phase]]\nfor = \"5s\"\n",
            "[[phase]]\nrate = 5\nramp = \"1..2\"\nfor = \"5s\"\n",
            "[[phase]]\nrate = 5\nfor = \"5s\"\ncount = 5\n",
            "[[phase]]\nsteps = \"5..8\"\neach = \"5s\"\n",
            "[[phase]]\nsteps = \"5..8/1\"\nfor = \"5s\"\n",
            "[[phase]]\nramp = \"5\"\nfor = \"5s\"\n",
            "[[phase]]\nramp = \"5..6\"\ncount = 5\n",
            "[[phase]]\nin_fligth = 5\nfor = \"5s\"\n",
            "[[phase]]\nrate = \"quick\"\nfor = \"5s\"\n",
            "[[phase]]\nrate = 5\nfor = 5\n",
            "[phase]\nrate = 5\nfor = \"5s\"\n",
        ]
        .iter()
        .map(|text| read(text).unwrap_err().to_string())
        .collect();
        insta::assert_snapshot!(errors.join("\n"));
    }
}
