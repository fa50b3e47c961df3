//! Distributions in the notation of cassandra-stress: `FIXED(34)`, `uniform(-100..100)`, `seq(1..1M)`, `~EXP(1..10)`.

use crate::weibull::Weibull;
use std::fmt;

/// A distribution of whole numbers from `min` to `max`, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Distribution {
    pub shape: Shape,
    pub min: i64,
    pub max: i64,
    /// Inverted (written `~`): the most frequent values become the least frequent.
    pub inverted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    Fixed,
    Uniform,
    Gaussian {
        mean: f64,
        deviation: f64,
    },
    Exponential,
    /// Weibull, with its shape.
    Extreme {
        shape: f64,
    },
    /// A Weibull distribution whose range is divided into steps, uniform within each step.
    Stepped {
        shape: f64,
        steps: u32,
    },
    /// Consecutive numbers from a start that the seed determines.
    Sequence,
}

const KNOWN: &str =
    "FIXED(n), UNIFORM(min..max), GAUSSIAN(min..max), EXP(min..max), EXTREME(min..max,shape) or SEQ(min..max)";

impl Distribution {
    pub const fn fixed(value: i64) -> Distribution {
        Distribution { shape: Shape::Fixed, min: value, max: value, inverted: false }
    }

    pub const fn uniform(min: i64, max: i64) -> Distribution {
        Distribution { shape: Shape::Uniform, min, max, inverted: false }
    }

    /// Three standard deviations from the middle to either end, the default of cassandra-stress.
    pub fn gaussian(min: i64, max: i64) -> Distribution {
        let (min_f, max_f) = (min as f64, max as f64);
        let shape = Shape::Gaussian { mean: (min_f + max_f) / 2.0, deviation: (max_f - min_f) / 6.0 };
        Distribution { shape: if min == max { Shape::Fixed } else { shape }, min, max, inverted: false }
    }

    pub fn parse(text: &str) -> Result<Distribution, String> {
        let wrong = || format!("`{text}` is not a distribution; write {KNOWN}");
        let (name, inside) = text.trim().strip_suffix(')').and_then(|text| text.split_once('(')).ok_or_else(wrong)?;
        let (inverted, name) = match name.strip_prefix('~') {
            Some(name) => (true, name),
            None => (false, name),
        };
        let arguments: Vec<&str> = inside.split(',').map(str::trim).collect();
        let decimal = |position: usize| match arguments.get(position).map(|text| text.parse::<f64>()) {
            Some(Ok(number)) if number.is_finite() => Ok(Some(number)),
            None => Ok(None),
            _ => Err(wrong()),
        };
        let positive = |position: usize| match decimal(position)? {
            Some(number) if number <= 0.0 => Err(wrong()),
            number => Ok(number),
        };
        let most = |count: usize| if arguments.len() <= count { Ok(()) } else { Err(wrong()) };
        let name = name.trim().to_ascii_lowercase();
        if name == "fixed" {
            most(1)?;
            return Ok(Distribution::fixed(whole(inside)?));
        }
        let (min, max) = range(arguments.first().copied().unwrap_or_default())?;
        let shape = match name.as_str() {
            "uniform" => {
                most(1)?;
                Shape::Uniform
            }
            "seq" => {
                most(1)?;
                Shape::Sequence
            }
            "gaussian" | "gauss" | "normal" | "norm" => {
                most(3)?;
                let (first, second) = (decimal(1)?, positive(2)?);
                let (mean, deviation) = match (first, second) {
                    (Some(mean), Some(deviation)) => (mean, deviation),
                    (deviations, _) => {
                        let half = (max as f64 - min as f64) / 2.0;
                        (min as f64 + half, half / positive(1)?.or(deviations).unwrap_or(3.0))
                    }
                };
                Shape::Gaussian { mean, deviation }
            }
            "exp" => {
                most(1)?;
                Shape::Exponential
            }
            "extr" | "extreme" | "weibull" => {
                most(2)?;
                Shape::Extreme { shape: positive(1)?.ok_or_else(wrong)? }
            }
            "qextr" | "qextreme" | "qweibull" => {
                most(3)?;
                let steps = arguments.get(2).and_then(|steps| steps.parse::<u32>().ok()).ok_or_else(wrong)?;
                Shape::Stepped { shape: positive(1)?.ok_or_else(wrong)?, steps: steps.max(1) }
            }
            _ => return Err(wrong()),
        };
        let shape = if min == max { Shape::Fixed } else { shape };
        Ok(Distribution { shape, min, max, inverted })
    }

    /// The value if there is only one.
    pub fn only(&self) -> Option<i64> {
        (self.min == self.max).then_some(self.min)
    }

    /// The mean of the distribution; numbers outside of the range count as its nearest end.
    pub fn mean(&self) -> f64 {
        let (min, max) = (self.min as f64, self.max as f64);
        let mean = match self.shape {
            Shape::Fixed => min,
            Shape::Uniform | Shape::Sequence => (min + max) / 2.0,
            Shape::Gaussian { mean, .. } => mean.clamp(min, max),
            Shape::Exponential => min + weibull_mean(1.0, max - min),
            Shape::Extreme { shape } | Shape::Stepped { shape, .. } => min + weibull_mean(shape, max - min),
        };
        if self.inverted { min + max - mean } else { mean }
    }
}

/// The mean of a Weibull distribution over a range; values beyond its end count as the end. It is computed from 1000
/// evenly spaced quantiles, because the mean by Γ is that of an unbounded distribution.
fn weibull_mean(shape: f64, range: f64) -> f64 {
    if range <= 1.0 {
        return range / 2.0;
    }
    let weibull = Weibull::over(range, shape);
    (0..1000).map(|step| weibull.quantile((f64::from(step) + 0.5) / 1000.0).min(range)).sum::<f64>() / 1000.0
}

/// Parses a whole number with `k`, `m` or `b` for thousands, millions and billions.
pub(crate) fn whole(text: &str) -> Result<i64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let (digits, factor) = [("k", 1_000), ("m", 1_000_000), ("b", 1_000_000_000)]
        .into_iter()
        .find_map(|(suffix, factor)| lower.strip_suffix(suffix).map(|digits| (digits, factor)))
        .unwrap_or((&lower, 1));
    let number = digits.parse::<i64>().ok().and_then(|digits| digits.checked_mul(factor));
    number.ok_or_else(|| format!("`{text}` is not a whole number such as 1000000, 500k, 1m or 1b"))
}

/// Parses `1..1M`: both ends, the first at most the second.
pub(crate) fn range(text: &str) -> Result<(i64, i64), String> {
    let wrong = || format!("`{text}` is not a range such as 1..1M");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    // cassandra-stress also accepts more than two dots.
    let (from, to) = (whole(from)?, whole(to.trim_start_matches('.'))?);
    if from <= to { Ok((from, to)) } else { Err(format!("`{text}` ends before it begins")) }
}

/// Formats a distribution so that [`Distribution::parse`] reads it.
impl fmt::Display for Distribution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Distribution { shape, min, max, inverted } = self;
        if *inverted {
            write!(formatter, "~")?;
        }
        match shape {
            Shape::Fixed => write!(formatter, "FIXED({min})"),
            Shape::Uniform => write!(formatter, "UNIFORM({min}..{max})"),
            Shape::Gaussian { mean, deviation } => write!(formatter, "GAUSSIAN({min}..{max},{mean:?},{deviation:?})"),
            Shape::Exponential => write!(formatter, "EXP({min}..{max})"),
            Shape::Extreme { shape } => write!(formatter, "EXTREME({min}..{max},{shape:?})"),
            Shape::Stepped { shape, steps } => write!(formatter, "QEXTREME({min}..{max},{shape:?},{steps})"),
            Shape::Sequence => write!(formatter, "SEQ({min}..{max})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_scripts_have_is_read() {
        let shown: Vec<String> = [
            "FIXED(34)",
            "uniform(1..1M)",
            "UNIFORM(5...10)",
            "uniform(-100..100)",
            "gaussian(1..100)",
            "norm(1..100,5)",
            "GAUSS(1..1000, 500, 10)",
            "exp(1..10)",
            "~EXP(1..10)",
            "extreme(1..100,0.6)",
            "QEXTR(1..100,2,10)",
            "uniform(3..3)",
            "seq(1..5)",
        ]
        .iter()
        .map(|text| {
            let read = Distribution::parse(text).unwrap();
            assert_eq!(Distribution::parse(&read.to_string()), Ok(read));
            format!("{text} → {read} {:?}, mean {:.1}", read.shape, read.mean())
        })
        .collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn what_is_none_is_told_what_there_is() {
        let errors: Vec<String> =
            ["", "34", "FIXED", "FIXED(x)", "UNIFORM(9..1)", "zipf(1..10)", "extr(1..10)", "norm(1..9,0)"]
                .iter()
                .map(|text| Distribution::parse(text).unwrap_err())
                .collect();
        insta::assert_snapshot!(errors.join("\n"));
    }

    proptest! {
        #[test]
        fn means_lie_within(min in -1000i64..1000, more in 0i64..100_000, shape in 0.2f64..5.0) {
            let max = min + more;
            for name in ["uniform", "gaussian", "exp"] {
                let mean = Distribution::parse(&format!("~{name}({min}..{max})")).unwrap().mean();
                prop_assert!((min as f64..=max as f64).contains(&mean));
            }
            let mean = Distribution::parse(&format!("extr({min}..{max},{shape})")).unwrap().mean();
            prop_assert!((min as f64..=max as f64).contains(&mean));
        }

        #[test]
        fn nothing_makes_it_panic(text in "\\PC{0,20}") {
            let _ = Distribution::parse(&text);
        }
    }
}
