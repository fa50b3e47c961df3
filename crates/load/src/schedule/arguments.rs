//! Phases from command-line arguments.

use super::spec::{self, Spec};
use super::{Load, Offsets, Phase, Trace, Until};
use crate::Error;
use helenus_notation::did_you_mean;
use helenus_notation::quantity;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const FLAGS: [&str; 14] = [
    "rate",
    "steps",
    "ramp",
    "trace",
    "surge",
    "in-flight",
    "every",
    "poisson",
    "for",
    "each",
    "count",
    "name",
    "unmeasured",
    "warm-up",
];

const BEGINNERS: &str = "--rate, --steps, --ramp, --trace, --surge or --in-flight";

/// Parses phases from flags and their values, in the order in which they were given and without their dashes.
///
/// `rate`, `steps`, `ramp`, `trace`, `surge` and `in-flight` each begin a phase, except an `in-flight` that follows a
/// surge without one; `for`, `each`, `every`, `count`, `name`, `poisson` and `unmeasured` (whose values are not looked
/// at) apply to the last phase. `warm-up DURATION`, at any position, adds an unmeasured phase before all others, with
/// the load with which the first of them begins.
///
/// ```
/// let phases = helenus_load::schedule::from_arguments([
///     ("rate", "5k"), ("for", "60s"),
///     ("steps", "2k..20k/2k"), ("each", "10s"),
///     ("ramp", "1k..10k"), ("for", "60s"),
///     ("rate", "5k"), ("poisson", ""), ("for", "60s"),
///     ("in-flight", "64"), ("for", "30s"),
///     ("surge", "20"), ("every", "15s"), ("in-flight", "20"), ("count", "1M"),
/// ])?;
/// assert_eq!(phases.len(), 1 + 10 + 1 + 1 + 1 + 1);
/// # Ok::<(), helenus_load::Error>(())
/// ```
pub fn from_arguments<'a>(arguments: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Vec<Phase>, Error> {
    let mut specs: Vec<Spec> = Vec::new();
    let mut warm_up = None;
    for (flag, value) in arguments {
        let shown = format!("--{flag}");
        let wrong = |message: String| Error::Argument { argument: shown.clone(), message };
        match flag {
            "warm-up" => {
                let lasts = quantity::duration(value).map_err(Error::argument(&shown))?;
                if warm_up.replace(lasts).is_some() {
                    return Err(wrong("given twice".to_string()));
                }
                continue;
            }
            "in-flight" if specs.last().is_some_and(|spec| spec.surge.is_some() && spec.in_flight.is_none()) => {}
            "rate" | "steps" | "ramp" | "trace" | "surge" | "in-flight" => specs.push(Spec::default()),
            _ if FLAGS.contains(&flag) => {}
            _ => return Err(wrong(format!("is unknown{}", did_you_mean(flag, FLAGS)))),
        }
        let Some(spec) = specs.last_mut() else {
            return Err(wrong(format!("comes after the phase that it is about: {BEGINNERS}")));
        };
        let twice = match flag {
            "rate" => spec.rate.replace(quantity::rate(value).map_err(Error::argument(&shown))?).is_some(),
            "steps" => spec.steps.replace(spec::steps(value).map_err(wrong)?).is_some(),
            "ramp" => spec.ramp.replace(spec::ramp(value).map_err(wrong)?).is_some(),
            "trace" => spec.trace.replace(Arc::new(Trace::read(Path::new(value))?)).is_some(),
            "surge" => spec.surge.replace(quantity::count(value).map_err(Error::argument(&shown))?).is_some(),
            "every" => spec.every.replace(quantity::duration(value).map_err(Error::argument(&shown))?).is_some(),
            "poisson" => std::mem::replace(&mut spec.poisson, true),
            "in-flight" => spec.in_flight.replace(quantity::count(value).map_err(Error::argument(&shown))?).is_some(),
            "for" => spec.lasts.replace(quantity::duration(value).map_err(Error::argument(&shown))?).is_some(),
            "each" => spec.each.replace(quantity::duration(value).map_err(Error::argument(&shown))?).is_some(),
            "count" => spec.count.replace(quantity::count(value).map_err(Error::argument(&shown))?).is_some(),
            "name" => spec.name.replace(value.to_string()).is_some(),
            _ => std::mem::replace(&mut spec.unmeasured, true),
        };
        if twice {
            return Err(Error::Argument {
                argument: shown,
                message: format!("given twice for one phase; the next begins with {BEGINNERS}"),
            });
        }
    }
    let mut phases = Vec::new();
    for spec in specs {
        let begins_with = begins_with(&spec);
        phases.extend(spec.phases().map_err(|message| Error::Argument { argument: begins_with.into(), message })?);
    }
    if let Some(lasts) = warm_up {
        let warm_up = warm_up_for(phases.first().ok_or(Error::NoPhase)?, lasts);
        phases.insert(0, warm_up);
    }
    spec::seed(&mut phases);
    if phases.is_empty() { Err(Error::NoPhase) } else { Ok(phases) }
}

/// The load at the beginning of a phase; for a trace, its mean rate.
fn warm_up_for(first: &Phase, lasts: Duration) -> Phase {
    let until = Until::Elapsed(lasts);
    let phase = match &first.load {
        Load::Rate { per_s } | Load::Ramp { from_per_s: per_s, .. } => Phase::rate(*per_s, until),
        Load::InFlight(requests) | Load::Surge { in_flight: requests, .. } => Phase::in_flight(*requests, until),
        Load::Trace(_) => {
            let mean_per_s = Offsets::of(first).map(|all| all.count() as f64 * 1e9 / all.lasts_ns() as f64);
            Phase::rate(mean_per_s.unwrap_or(1.0), until)
        }
    };
    Phase { arrivals: first.arrivals, ..phase }.named("warm-up").unmeasured()
}

fn begins_with(spec: &Spec) -> &'static str {
    match spec {
        Spec { rate: Some(_), .. } => "--rate",
        Spec { steps: Some(_), .. } => "--steps",
        Spec { ramp: Some(_), .. } => "--ramp",
        Spec { trace: Some(_), .. } => "--trace",
        Spec { surge: Some(_), .. } => "--surge",
        _ => "--in-flight",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(line: &str) -> Result<Vec<Phase>, Error> {
        let words: Vec<&str> = line.split(' ').collect();
        from_arguments(words.chunks(2).map(|pair| (pair[0], pair[1])))
    }

    #[test]
    fn flags_about_a_phase_follow_it() {
        let phases = parse(
            "rate 5k for 1s name calm poisson . warm-up 2s steps 1..3/1 each 1s name up in-flight 4 count 9 \
                 surge 3 in-flight 2 every 1s count 5 in-flight 7 for 1s",
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
    fn mistakes_name_the_flag() {
        let errors: Vec<String> = [
            "for 5s",
            "rate fast for 5s",
            "rate 5 for 5",
            "rate 5 for 5s for 6s",
            "rate 5 for 5s count 6",
            "rate 5",
            "steps 5..6 each 5s",
            "steps 1..9/1 for 5s",
            "ramp 5 for 5s",
            "ramp 5..9 count 5",
            "in-flight 0 for 5s",
            "in-flight 5 each 5s",
            "rat 5 for 5s",
            "in-flight 5 for 5s poisson .",
            "surge 5 every 5s count 5",
            "rate 5 for 5s every 5s",
            "trace /nowhere/trace.txt",
            "warm-up 5s",
        ]
        .iter()
        .map(|line| parse(line).unwrap_err().to_string())
        .collect();
        insta::assert_snapshot!(errors.join("\n"));
    }

    proptest! {
        #[test]
        fn steps_reach_their_end(from in 1u32..50, steps in 0u32..50, step in 1u32..50) {
            let to = from + steps * step;
            let phases = parse(&format!("steps {from}..{to}/{step} each 1s")).unwrap();
            prop_assert_eq!(phases.len() as u32, steps + 1);
            prop_assert_eq!(phases.last().unwrap().rates_per_s().unwrap().0, f64::from(to));
            let down = parse(&format!("steps {to}..{from}/{step} each 1s")).unwrap();
            prop_assert_eq!(down.last().unwrap().rates_per_s().unwrap().0, f64::from(from));
        }

        #[test]
        fn nothing_makes_the_parser_panic(words in prop::collection::vec(("[a-z-]{1,9}", "\\PC{0,9}"), 0..5)) {
            let _ = from_arguments(words.iter().map(|(flag, value)| (flag.as_str(), value.as_str())));
        }
    }
}
