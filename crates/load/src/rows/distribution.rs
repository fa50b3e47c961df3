//! Distributions as cassandra-stress writes them: `FIXED(34)`, `uniform(1..1M)`, `~EXP(1..10)`.

use super::words::{number, range};
use crate::workload::Weibull;
use std::fmt;

/// A distribution of whole numbers from `min` to `max`, both among them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Distribution {
    pub shape: Shape,
    pub min: u64,
    pub max: u64,
    /// With `~`: what was most often is least often.
    pub inverted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
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
    /// Weibull in so many steps, each of them even.
    Stepped {
        shape: f64,
        steps: u64,
    },
}

const KNOWN: &str = "FIXED(n), UNIFORM(min..max), GAUSSIAN(min..max), EXP(min..max) or EXTREME(min..max,shape)";

impl Distribution {
    pub fn fixed(value: u64) -> Distribution {
        Distribution { shape: Shape::Fixed, min: value, max: value, inverted: false }
    }

    pub fn uniform(min: u64, max: u64) -> Distribution {
        Distribution { shape: Shape::Uniform, min, max, inverted: false }
    }

    /// Three standard deviations from the middle to either end, the default of cassandra-stress.
    pub fn gaussian(min: u64, max: u64) -> Distribution {
        let (min_f, max_f) = (min as f64, max as f64);
        let shape = Shape::Gaussian { mean: (min_f + max_f) / 2.0, deviation: (max_f - min_f) / 6.0 };
        Distribution { shape, min, max, inverted: false }
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
            Some(Ok(number)) if number.is_finite() && number > 0.0 => Ok(Some(number)),
            None => Ok(None),
            _ => Err(wrong()),
        };
        let most = |count: usize| if arguments.len() <= count { Ok(()) } else { Err(wrong()) };
        let name = name.trim().to_ascii_lowercase();
        if name == "fixed" || name == "seq" {
            most(1)?;
            return match name.as_str() {
                "fixed" => Ok(Distribution::fixed(number(inside)?)),
                _ => Err("SEQ is for -pop alone, as seq=1..N".to_string()),
            };
        }
        let (min, max) = range(arguments.first().copied().unwrap_or_default())?;
        let shape = match name.as_str() {
            "uniform" => {
                most(1)?;
                Shape::Uniform
            }
            "gaussian" | "gauss" | "normal" | "norm" => {
                most(3)?;
                let (first, second) = (decimal(1)?, decimal(2)?);
                let (mean, deviation) = match (first, second) {
                    (Some(mean), Some(deviation)) => (mean, deviation),
                    (deviations, _) => {
                        let half = (max - min) as f64 / 2.0;
                        (min as f64 + half, half / deviations.unwrap_or(3.0))
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
                Shape::Extreme { shape: decimal(1)?.ok_or_else(wrong)? }
            }
            "qextr" | "qextreme" | "qweibull" => {
                most(3)?;
                let steps = number(arguments.get(2).copied().unwrap_or_default())?.max(1);
                Shape::Stepped { shape: decimal(1)?.ok_or_else(wrong)?, steps }
            }
            _ => return Err(wrong()),
        };
        let shape = if min == max { Shape::Fixed } else { shape };
        Ok(Distribution { shape, min, max, inverted })
    }

    /// The one value, where there is only one.
    pub fn only(&self) -> Option<u64> {
        (self.min == self.max).then_some(self.min)
    }

    /// The mean of what is drawn, with what lies outside of the range counted at its ends.
    pub fn mean(&self) -> f64 {
        let (min, max) = (self.min as f64, self.max as f64);
        let mean = match self.shape {
            Shape::Fixed => min,
            Shape::Uniform => (min + max) / 2.0,
            Shape::Gaussian { mean, .. } => mean.clamp(min, max),
            Shape::Exponential => min + weibull_mean(1.0, max - min),
            Shape::Extreme { shape } | Shape::Stepped { shape, .. } => min + weibull_mean(shape, max - min),
        };
        if self.inverted { min + max - mean } else { mean }
    }

    /// What the name of the shape is.
    pub fn name(&self) -> &'static str {
        match self.shape {
            Shape::Fixed => "FIXED",
            Shape::Uniform => "UNIFORM",
            Shape::Gaussian { .. } => "GAUSSIAN",
            Shape::Exponential => "EXP",
            Shape::Extreme { .. } => "EXTREME",
            Shape::Stepped { .. } => "QEXTREME",
        }
    }
}

/// The mean of a Weibull distribution over a range, with what lies beyond its end counted at the end: of 1000 evenly spaced
/// quantiles, since the mean that Γ gives is of a distribution that is not cut off.
fn weibull_mean(shape: f64, range: f64) -> f64 {
    if range <= 1.0 {
        return range / 2.0;
    }
    let weibull = Weibull::over(range, shape);
    (0..1000).map(|step| weibull.quantile((f64::from(step) + 0.5) / 1000.0).min(range)).sum::<f64>() / 1000.0
}

impl fmt::Display for Distribution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inverted = if self.inverted { "~" } else { "" };
        match self.shape {
            Shape::Fixed => write!(formatter, "{inverted}FIXED({})", self.min),
            _ => write!(formatter, "{inverted}{}({}..{})", self.name(), self.min, self.max),
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
            "gaussian(1..100)",
            "norm(1..100,5)",
            "GAUSS(1..1000, 500, 10)",
            "exp(1..10)",
            "~EXP(1..10)",
            "extreme(1..100,0.6)",
            "QEXTR(1..100,2,10)",
            "uniform(3..3)",
        ]
        .iter()
        .map(|text| {
            let read = Distribution::parse(text).unwrap();
            format!("{text} → {read} {:?}, mean {:.1}", read.shape, read.mean())
        })
        .collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn what_is_none_is_told_what_there_is() {
        let errors: Vec<String> =
            ["", "34", "FIXED", "FIXED(x)", "UNIFORM(9..1)", "zipf(1..10)", "extr(1..10)", "seq(1..5)"]
                .iter()
                .map(|text| Distribution::parse(text).unwrap_err())
                .collect();
        insta::assert_snapshot!(errors.join("\n"));
    }

    proptest! {
        #[test]
        fn means_lie_within(min in 0u64..1000, more in 0u64..100_000, shape in 0.2f64..5.0) {
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
