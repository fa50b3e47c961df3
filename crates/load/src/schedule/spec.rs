//! Phases in a TOML file, and the parsing that is shared with the command line.

use super::{Arrivals, Phase, Trace, Until, Work};
use crate::Error;
use helenus_notation::quantity::{self, BadQuantity};
use helenus_notation::{Count, Rate, Section};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A phase as it was written, before it is validated.
#[derive(Debug, Default, Clone)]
pub(super) struct Spec {
    pub rate: Option<f64>,
    pub steps: Option<Steps>,
    pub ramp: Option<(f64, f64)>,
    pub trace: Option<Arc<Trace>>,
    pub in_flight: Option<u64>,
    pub surge: Option<u64>,
    pub every: Option<Duration>,
    pub poisson: bool,
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
    /// The phases that this one stands for: several for steps, otherwise one. The error is only the advice.
    pub fn phases(self) -> Result<Vec<Phase>, String> {
        self.check_keys()?;
        let mut phases = if let Some(steps) = self.steps {
            self.steps(steps)?
        } else if let Some(groups) = self.surge {
            vec![self.surge(groups)?]
        } else {
            vec![self.single()?]
        };
        for phase in &mut phases {
            phase.measured = !self.unmeasured;
            if self.poisson {
                // The position among all phases is added when it is known.
                phase.arrivals = Arrivals::Poisson { seed: 0 };
            }
            if let Some(name) = &self.name {
                phase.name = match self.steps {
                    Some(_) => format!("{name} {}", phase.name),
                    None => name.clone(),
                };
            }
        }
        Ok(phases)
    }

    /// Which keys may be combined.
    fn check_keys(&self) -> Result<(), String> {
        let closed = self.in_flight.is_some() && self.surge.is_none();
        let at_a_rate = [self.rate.is_some(), self.steps.is_some(), self.ramp.is_some()];
        let kinds = at_a_rate.into_iter().chain([self.trace.is_some(), self.surge.is_some(), closed]);
        if kinds.filter(|given| *given).count() != 1 {
            return Err("a phase has exactly one of rate, steps, ramp, trace, surge and in_flight".to_string());
        }
        if self.each.is_some() && self.steps.is_none() {
            return Err("`each` is the length of each of the steps; the length of any other phase is `for`".to_string());
        }
        if self.every.is_some() && self.surge.is_none() {
            return Err("`every` is the time between the groups of a surge, which this phase is not".to_string());
        }
        if self.poisson && !at_a_rate.contains(&true) {
            return Err("poisson arrivals are for rate, steps and ramp: any other phase has its own times".to_string());
        }
        Ok(())
    }

    fn steps(&self, steps: Steps) -> Result<Vec<Phase>, String> {
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
        Ok(Phase::steps(steps.from_per_s, steps.to_per_s, steps.step_per_s, each))
    }

    fn surge(&self, groups: u64) -> Result<Phase, String> {
        let (every, in_flight, count) = match (self.every, self.in_flight, self.count, self.lasts) {
            (.., Some(_)) => {
                return Err("a surge has no `for`: it ends when all its groups have done their `count`".to_string());
            }
            (Some(every), Some(in_flight), Some(count), None) => (every, in_flight, count),
            _ => {
                return Err("a surge needs `every` (the time between two groups that join), and for each group \
                            `in_flight` and `count`"
                    .to_string());
            }
        };
        let in_flight = requests_in_flight(in_flight)?;
        if groups.saturating_mul(u64::from(in_flight)) > u64::from(MOST_IN_FLIGHT) {
            return Err("the groups of a surge have at most 1,000,000 requests in flight together".to_string());
        }
        Ok(Phase::surge(groups as u32, every, in_flight, count))
    }

    fn single(&self) -> Result<Phase, String> {
        let until = match (self.lasts, self.count) {
            (Some(lasts), None) => Some(Until::Elapsed(lasts)),
            (None, Some(count)) => Some(Until::Count(count)),
            (None, None) => None,
            (Some(_), Some(_)) => return Err("a phase has either `for` or `count`, not both".to_string()),
        };
        if let Some(trace) = &self.trace {
            let whole = Phase::trace(Arc::clone(trace));
            return Ok(Phase { until: until.unwrap_or(whole.until), ..whole });
        }
        let until = until.ok_or("a phase needs `for` (how long) or `count` (how many requests)")?;
        Ok(match (self.rate, self.ramp, until) {
            (Some(per_s), ..) => Phase::rate(per_s, until),
            (_, Some((from_per_s, to_per_s)), Until::Elapsed(lasts)) => Phase::ramp(from_per_s, to_per_s, lasts),
            (_, Some(_), Until::Count(_)) => return Err("a ramp needs `for`, not `count`".to_string()),
            (None, None, _) => Phase::in_flight(requests_in_flight(self.in_flight.unwrap_or(0))?, until),
        })
    }
}

const MOST_IN_FLIGHT: u32 = 1_000_000;

fn requests_in_flight(given: u64) -> Result<u32, String> {
    match u32::try_from(given) {
        Ok(in_flight) if (1..=MOST_IN_FLIGHT).contains(&in_flight) => Ok(in_flight),
        _ => Err("in flight are at least 1 and at most 1,000,000 requests".to_string()),
    }
}

/// Gives each phase with Poisson arrivals a seed of its own; with a common seed their bursts would be alike.
pub(super) fn seed(phases: &mut [Phase]) {
    for (position, phase) in phases.iter_mut().enumerate() {
        if let Arrivals::Poisson { seed } = &mut phase.arrivals {
            *seed = position as u64;
        }
    }
}

/// Parses `2k..20k/2k`: from, to, step.
pub(super) fn steps(text: &str) -> Result<Steps, String> {
    let wrong = || format!("`{text}` are no steps; write FROM..TO/STEP, such as 2k..20k/2k");
    let (range, step) = text.split_once('/').ok_or_else(wrong)?;
    let (from_per_s, to_per_s) = range_of_rates(range).map_err(|_| wrong())?;
    let step_per_s = quantity::rate(step).map_err(|_| wrong())?;
    Ok(Steps { from_per_s, to_per_s, step_per_s })
}

/// Parses `1k..10k`: from, to.
pub(super) fn ramp(text: &str) -> Result<(f64, f64), String> {
    range_of_rates(text).map_err(|_| format!("`{text}` is no ramp; write FROM..TO, such as 1k..10k"))
}

fn range_of_rates(text: &str) -> Result<(f64, f64), BadQuantity> {
    let (from, to) = text.split_once("..").unwrap_or((text, ""));
    Ok((quantity::rate(from)?, quantity::rate(to)?))
}

/// Reads the phases of a file: one `[[phase]]` each, with the keys rate, steps, ramp, trace, surge or in_flight; for,
/// count, each or every; arrivals, name, measured and work. Steps become a phase each. A trace is read at once.
pub fn from_toml(sections: Vec<Section<'_>>) -> Result<Vec<Phase>, Error> {
    let mut phases = Vec::new();
    for mut section in sections {
        let text = |section: &mut Section<'_>, key| section.optional::<String>(key);
        let steps = text(&mut section, "steps")?.map(|text| steps(&text)).transpose();
        let ramp = text(&mut section, "ramp")?.map(|text| ramp(&text)).transpose();
        let trace = text(&mut section, "trace")?.map(|path| Trace::read(Path::new(&path))).transpose();
        // Errors within the trace keep the line number of the trace.
        let trace = trace.map_err(|error| match error {
            Error::ReadTrace { .. } => section.error_at("trace", error.to_string()).into(),
            other => other,
        })?;
        let spec = Spec {
            rate: section.optional::<Rate>("rate")?.map(|rate| rate.0),
            steps: steps.map_err(|message| section.error_at("steps", message))?,
            ramp: ramp.map_err(|message| section.error_at("ramp", message))?,
            trace: trace.map(Arc::new),
            in_flight: section.optional::<Count>("in_flight")?.map(|count| count.0),
            surge: section.optional::<Count>("surge")?.map(|count| count.0),
            every: section.duration("every")?,
            poisson: section.choice("arrivals", &["even", "poisson"])? == Some(1),
            lasts: section.duration("for")?,
            each: section.duration("each")?,
            count: section.optional::<Count>("count")?.map(|count| count.0),
            name: section.optional("name")?,
            unmeasured: section.optional("measured")? == Some(false),
        };
        let work = section.choice("work", &["mix", "populate"])?;
        // Unknown keys are reported first, because a misspelt key may be the one that the phase lacks.
        section.finish()?;
        let mut made = spec.phases().map_err(|message| section.error(message))?;
        if work == Some(1) {
            made.iter_mut().for_each(|phase| phase.work = Work::Populate);
        }
        phases.extend(made);
    }
    seed(&mut phases);
    Ok(phases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_notation::Document;

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
            [[phase]]
            rate = "5k"
            arrivals = "poisson"
            for = "10s"
            [[phase]]
            surge = 20
            every = "15s"
            in_flight = 20
            count = "1M"
            "#,
        )
        .unwrap();
        let shown: Vec<String> = phases
            .iter()
            .map(|phase| {
                let (load, arrivals, until) = (&phase.load, phase.arrivals, phase.until);
                format!("{}: {load:?}, {arrivals:?}, {until:?}, measured {}", phase.name, phase.measured)
            })
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
            "[[phase]]\nin_flight = 5\nfor = \"5s\"\narrivals = \"poisson\"\n",
            "[[phase]]\nrate = 5\nfor = \"5s\"\narrivals = \"poison\"\n",
            "[[phase]]\nrate = 5\nfor = \"5s\"\nevery = \"1s\"\n",
            "[[phase]]\nsurge = 5\nin_flight = 5\ncount = 5\n",
            "[[phase]]\nsurge = 5\nin_flight = 5\ncount = 5\nevery = \"1s\"\nfor = \"1m\"\n",
            "[[phase]]\nsurge = 5000\nin_flight = 5000\ncount = 5\nevery = \"1s\"\n",
            "[[phase]]\ntrace = \"nowhere.txt\"\n",
        ]
        .iter()
        .map(|text| read(text).unwrap_err().to_string())
        .collect();
        insta::assert_snapshot!(errors.join("\n"));
    }
}
