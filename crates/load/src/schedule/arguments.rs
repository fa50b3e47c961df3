//! Phases from command-line arguments.

use super::spec::{self, Spec};
use super::{Load, Phase, Until};
use crate::Error;
use crate::error::did_you_mean;
use crate::quantity;

const FLAGS: [&str; 10] =
    ["rate", "steps", "ramp", "in-flight", "for", "each", "count", "name", "unmeasured", "warm-up"];

/// Reads phases from flags and their values, in the order in which they were given and without their dashes.
///
/// `rate`, `steps`, `ramp` and `in-flight` each begin a phase; `for`, `each`, `count`, `name` and `unmeasured` (whose
/// value is not looked at) say more about the last one. `warm-up DURATION`, anywhere, puts a phase that isn't measured
/// before all others, at the load that the first of them begins with.
///
/// ```
/// let phases = helenus_load::schedule::from_arguments([
///     ("rate", "5k"), ("for", "60s"),
///     ("steps", "2k..20k/2k"), ("each", "10s"),
///     ("ramp", "1k..10k"), ("for", "60s"),
///     ("in-flight", "64"), ("for", "30s"),
/// ])?;
/// assert_eq!(phases.len(), 1 + 10 + 1 + 1);
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
            "rate" | "steps" | "ramp" | "in-flight" => specs.push(Spec::default()),
            _ if FLAGS.contains(&flag) => {}
            _ => return Err(wrong(format!("is unknown{}", did_you_mean(flag, FLAGS)))),
        }
        let Some(spec) = specs.last_mut() else {
            return Err(wrong("comes after the phase that it is about: --rate, --steps, --ramp or --in-flight".into()));
        };
        let twice = match flag {
            "rate" => spec.rate.replace(quantity::rate(value).map_err(Error::argument(&shown))?).is_some(),
            "steps" => spec.steps.replace(spec::steps(value).map_err(wrong)?).is_some(),
            "ramp" => spec.ramp.replace(spec::ramp(value).map_err(wrong)?).is_some(),
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
                message: "given twice for one phase; --rate, --steps, --ramp and --in-flight begin the next".into(),
            });
        }
    }
    let mut phases = Vec::new();
    for spec in specs {
        let begins_with = begins_with(&spec);
        phases.extend(spec.phases().map_err(|message| Error::Argument { argument: begins_with.into(), message })?);
    }
    if let Some(lasts) = warm_up {
        let first = phases.first().ok_or(Error::NoPhase)?;
        let until = Until::Elapsed(lasts);
        let warm_up = match first.load {
            Load::Rate { per_s } | Load::Ramp { from_per_s: per_s, .. } => Phase::rate(per_s, until),
            Load::InFlight(requests) => Phase::in_flight(requests, until),
        };
        phases.insert(0, warm_up.named("warm-up").unmeasured());
    }
    if phases.is_empty() { Err(Error::NoPhase) } else { Ok(phases) }
}

fn begins_with(spec: &Spec) -> &'static str {
    match (&spec.rate, &spec.steps, &spec.ramp) {
        (Some(_), ..) => "--rate",
        (_, Some(_), _) => "--steps",
        (.., Some(_)) => "--ramp",
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
        let phases =
            parse("rate 5k for 1s name calm warm-up 2s steps 1..3/1 each 1s name up in-flight 4 count 9").unwrap();
        let shown: Vec<String> = phases
            .iter()
            .map(|phase| format!("{}: {:?}, {:?}, measured {}", phase.name, phase.load, phase.until, phase.measured))
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
