//! How numbers are drawn from a range: keys, whole numbers, sizes.

use crate::draw::Draw;
use crate::weibull::Weibull;
use helenus_notation::{Error, Section};
use rand::distr::Distribution as _;
use rand_distr::{StandardNormal, Zipf};

/// A distribution over a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// Sequential: the number of the request modulo the size of the range.
    Sequential,
    Uniform,
    /// Zipf: the number at index k of the range has a probability proportional to 1 / (k + 1)^exponent.
    Zipf {
        exponent: f64,
    },
    /// Normal distribution, drawn again if outside of the range. By default the mean is the middle of the range, and
    /// the standard deviation a sixth of the range, so that both ends are three deviations away.
    Gaussian {
        mean: Option<f64>,
        deviation: Option<f64>,
    },
    /// Weibull: falls from the start of the range, with shape 1 exponentially, below 1 more steeply at first, above 1 with a
    /// hump. Scaled as [`Weibull`] says. With steps, the range is divided into
    /// that many parts with equal probability, and numbers are uniform within each.
    /// Inverted: falls from the end of the range.
    Weibull {
        shape: f64,
        steps: Option<u32>,
        inverted: bool,
    },
    /// A share of the requests uses a share of the numbers, which are the first of the range; uniform within both
    /// parts.
    Hotspot {
        keys: f64,
        requests: f64,
    },
    /// Latest: keys that [`Distribution::Sequential`] has given to recent requests. The key of the request r before
    /// this one has a probability proportional to 1 / r^exponent.
    Latest {
        exponent: f64,
    },
    /// Always this number.
    Fixed {
        key: u64,
    },
}

/// The names in a workload file. The first five are for any range, the others only for keys.
const NAMES: [&str; 8] = ["sequential", "uniform", "zipf", "gaussian", "weibull", "hotspot", "latest", "fixed"];
const OF_ANY_RANGE: usize = 5;
const ZIPF: usize = 2;
const GAUSSIAN: usize = 3;
const WEIBULL: usize = 4;
const HOTSPOT: usize = 5;
const LATEST: usize = 6;
const FIXED: usize = 7;

/// The default exponent of YCSB (Cooper et al., "Benchmarking cloud serving systems with YCSB", 2010).
const USUAL_EXPONENT: f64 = 0.99;

/// Reads the distribution from the key `name` of a parameter, with the keys that belong to it. `population` is the
/// number of keys; None for other ranges, which support fewer distributions.
pub(super) fn read(
    section: &mut Section<'_>,
    name: &'static str,
    population: Option<u64>,
) -> Result<Distribution, Error> {
    let names = if population.is_some() { &NAMES[..] } else { &NAMES[..OF_ANY_RANGE] };
    let chosen = section.choice(name, names)?.unwrap_or(1);
    let mut number = |key, of: &[usize]| match section.optional::<f64>(key)? {
        Some(_) if !of.contains(&chosen) => {
            let of: Vec<String> = of.iter().map(|of| format!("{name} = \"{}\"", NAMES[*of])).collect();
            Err(section.error_at(key, format!("`{key}` is for {} only", of.join(" or "))))
        }
        found => Ok(found),
    };
    let exponent = number("exponent", &[ZIPF, LATEST])?;
    let (mean, deviation) = (number("mean", &[GAUSSIAN])?, number("deviation", &[GAUSSIAN])?);
    let (hot_keys, hot_requests, key) = match population {
        Some(_) => (number("hot_keys", &[HOTSPOT])?, number("hot_requests", &[HOTSPOT])?, number("key", &[FIXED])?),
        None => (None, None, None),
    };
    let (shape, steps) = (number("shape", &[WEIBULL])?, number("steps", &[WEIBULL])?);
    let inverted = section.optional::<bool>("inverted")?;
    if inverted.is_some() && chosen != WEIBULL {
        return Err(section.error_at("inverted", format!("`inverted` is for {name} = \"weibull\" only")));
    }
    if !shape.is_none_or(|shape| (0.05..=100.0).contains(&shape)) {
        return Err(section.error_at("shape", "`shape` is at least 0.05 and at most 100"));
    }
    if !steps.is_none_or(|steps| steps.fract() == 0.0 && (1.0..=1e6).contains(&steps)) {
        return Err(section.error_at("steps", "`steps` is a whole number from 1 to 1,000,000"));
    }
    if !exponent.is_none_or(|exponent| exponent > 0.0 && exponent <= 10.0) {
        return Err(section.error_at("exponent", "`exponent` is more than 0 and at most 10"));
    }
    if !mean.is_none_or(f64::is_finite) {
        return Err(section.error_at("mean", "`mean` is a number of the range"));
    }
    if !deviation.is_none_or(|deviation| deviation.is_finite() && deviation > 0.0) {
        return Err(section.error_at("deviation", "`deviation` is more than 0"));
    }
    for (key, share) in [("hot_keys", hot_keys), ("hot_requests", hot_requests)] {
        if !share.is_none_or(|share| share > 0.0 && share <= 1.0) {
            return Err(section.error_at(key, format!("`{key}` is a share: more than 0 and at most 1")));
        }
    }
    Ok(match chosen {
        0 => Distribution::Sequential,
        ZIPF => Distribution::Zipf { exponent: exponent.unwrap_or(USUAL_EXPONENT) },
        GAUSSIAN => Distribution::Gaussian { mean, deviation },
        WEIBULL => Distribution::Weibull {
            shape: shape.unwrap_or(1.0),
            steps: steps.map(|steps| steps as u32),
            inverted: inverted.unwrap_or(false),
        },
        HOTSPOT => Distribution::Hotspot { keys: hot_keys.unwrap_or(0.2), requests: hot_requests.unwrap_or(0.8) },
        LATEST => Distribution::Latest { exponent: exponent.unwrap_or(USUAL_EXPONENT) },
        FIXED => {
            let key = key.unwrap_or(0.0);
            if !(key >= 0.0 && key.fract() == 0.0 && key < population.unwrap_or(1) as f64) {
                return Err(section.error_at("key", "`key` is from 0 to below `population`"));
            }
            Distribution::Fixed { key: key as u64 }
        }
        _ => Distribution::Uniform,
    })
}

/// Draws a number from 0 to below a count.
#[derive(Debug)]
pub(super) struct Numbers {
    count: u64,
    sampler: Sampler,
}

#[derive(Debug)]
enum Sampler {
    Sequential,
    Uniform,
    Zipf(Zipf<f64>),
    Gaussian { mean: f64, deviation: f64 },
    Weibull { weibull: Weibull, steps: Option<u32>, inverted: bool },
    Hotspot { hot: u64, requests: f64 },
    Latest(Zipf<f64>),
    Fixed(u64),
}

/// How often a draw outside of the range is repeated before the end of the range is used. This happens only for a mean
/// far outside of the range.
const MOST_REDRAWS: usize = 64;

impl Numbers {
    /// `low` is the number that a draw of 0 stands for; a mean is relative to it. None if the range is empty or too
    /// large.
    pub fn new(distribution: Distribution, low: f64, count: u64) -> Option<Numbers> {
        let count = (count > 0).then_some(count)?;
        let sampler = match distribution {
            Distribution::Sequential => Sampler::Sequential,
            Distribution::Uniform => Sampler::Uniform,
            Distribution::Zipf { exponent } => Sampler::Zipf(Zipf::new(count as f64, exponent).ok()?),
            Distribution::Gaussian { mean, deviation } => Sampler::Gaussian {
                mean: mean.map_or((count - 1) as f64 / 2.0, |mean| mean - low),
                deviation: deviation.unwrap_or(count as f64 / 6.0),
            },
            Distribution::Weibull { shape, steps, inverted } => {
                Sampler::Weibull { weibull: Weibull::over((count - 1) as f64, shape), steps, inverted }
            }
            Distribution::Hotspot { keys, requests } => {
                Sampler::Hotspot { hot: ((count as f64 * keys).ceil() as u64).clamp(1, count), requests }
            }
            Distribution::Latest { exponent } => Sampler::Latest(Zipf::new(count as f64, exponent).ok()?),
            Distribution::Fixed { key } => Sampler::Fixed(key.min(count - 1)),
        };
        Some(Numbers { count, sampler })
    }

    /// Whether all draws give the same number.
    pub fn is_fixed(&self) -> bool {
        matches!(self.sampler, Sampler::Fixed(_))
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number for request `number`.
    pub fn draw(&self, number: u64, draw: &mut Draw) -> u64 {
        match &self.sampler {
            Sampler::Sequential => number % self.count,
            Sampler::Uniform => draw.below(self.count),
            Sampler::Zipf(zipf) => self.rank(zipf, draw) - 1,
            Sampler::Gaussian { mean, deviation } => {
                let in_range = |drawn: &f64| (0.0..self.count as f64).contains(drawn);
                let drawn = |_| {
                    let standard: f64 = StandardNormal.sample(draw);
                    (mean + deviation * standard).round()
                };
                let found = (0..MOST_REDRAWS).map(drawn).find(in_range);
                found.unwrap_or(*mean).clamp(0.0, (self.count - 1) as f64) as u64
            }
            Sampler::Weibull { weibull, steps, inverted } => {
                let last = self.count - 1;
                let at = |share: f64| weibull.quantile(share).min(last as f64);
                let drawn = match steps {
                    None => at(draw.unit()),
                    Some(steps) => {
                        let (step, steps) = (draw.below(u64::from(*steps)) as f64, f64::from(*steps));
                        let to = if step + 1.0 < steps { at((step + 1.0) / steps) } else { self.count as f64 };
                        let from = at(step / steps);
                        from + draw.unit() * (to - from)
                    }
                };
                let place = (drawn as u64).min(last);
                if *inverted { last - place } else { place }
            }
            Sampler::Hotspot { hot, requests } => match draw.unit() < *requests || *hot == self.count {
                true => draw.below(*hot),
                false => hot + draw.below(self.count - hot),
            },
            Sampler::Latest(zipf) => (number % self.count + self.count - self.rank(zipf, draw)) % self.count,
            Sampler::Fixed(key) => *key,
        }
    }

    /// Numbers from 1 up to the count.
    fn rank(&self, zipf: &Zipf<f64>, draw: &mut Draw) -> u64 {
        (zipf.sample(draw) as u64).clamp(1, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The numbers that 1000 requests draw from a range of `count`.
    fn drawn(distribution: Distribution, count: u64) -> Vec<u64> {
        let numbers = Numbers::new(distribution, 0.0, count).unwrap();
        (1000..21_000).map(|number| numbers.draw(number, &mut Draw::new(1, number, 0))).collect()
    }

    fn share(drawn: &[u64], which: impl Fn(u64) -> bool) -> f64 {
        drawn.iter().filter(|number| which(**number)).count() as f64 / drawn.len() as f64
    }

    #[test]
    fn a_gaussian_has_its_mean_and_deviation() {
        let drawn = drawn(Distribution::Gaussian { mean: Some(400.0), deviation: Some(50.0) }, 1000);
        let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
        let variance = drawn.iter().map(|number| (*number as f64 - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
        assert!((mean - 400.0).abs() < 2.0 && (variance.sqrt() - 50.0).abs() < 1.5, "{mean} {variance}");
        // By default the range reaches over three deviations to either side: 68.3 % of the draws are within one, a
        // sixth of the range.
        let drawn = self::drawn(Distribution::Gaussian { mean: None, deviation: None }, 600);
        assert!((share(&drawn, |number| (200..400).contains(&number)) - 0.683).abs() < 0.02);
    }

    #[test]
    fn a_weibull_falls_as_its_shape_says() {
        let exponential = Distribution::Weibull { shape: 1.0, steps: None, inverted: false };
        let drawn = self::drawn(exponential, 10_001);
        // One draw in √10,000 is beyond the end, so the mean is 10,000 / ln 100, and the median is that times ln 2.
        assert!((share(&drawn, |number| number == 10_000) - 0.01).abs() < 0.003);
        assert!((share(&drawn, |number| (number as f64) < 10_000.0 / 100f64.ln() * 2f64.ln()) - 0.5).abs() < 0.015);
        let inverted = Distribution::Weibull { shape: 1.0, steps: None, inverted: true };
        assert_eq!(self::drawn(inverted, 10_001).iter().map(|number| 10_000 - number).collect::<Vec<_>>(), drawn);
        // Weibull in two steps: half of the draws are below the median, and uniform in each step.
        let steps = self::drawn(Distribution::Weibull { shape: 1.0, steps: Some(2), inverted: false }, 10_001);
        let median = 10_000.0 / 100f64.ln() * 2f64.ln();
        assert!((share(&steps, |number| (number as f64) < median) - 0.5).abs() < 0.015);
        assert!((share(&steps, |number| (number as f64) < median / 2.0) - 0.25).abs() < 0.015);
    }

    #[test]
    fn a_hotspot_gets_its_share() {
        let drawn = drawn(Distribution::Hotspot { keys: 0.1, requests: 0.9 }, 1000);
        assert!((share(&drawn, |key| key < 100) - 0.9).abs() < 0.01);
        // Uniform within both parts.
        assert!((share(&drawn, |key| key < 50) - 0.45).abs() < 0.015);
        assert!((share(&drawn, |key| key >= 550) - 0.05).abs() < 0.01);
    }

    #[test]
    fn the_latest_are_those_that_the_requests_before_wrote() {
        let numbers = Numbers::new(Distribution::Latest { exponent: 0.99 }, 0.0, 500).unwrap();
        let ages: Vec<u64> = (1000..11_000)
            .map(|number| (number % 500 + 500 - numbers.draw(number, &mut Draw::new(1, number, 0))) % 500)
            .collect();
        let (last, last_ten) = (share(&ages, |age| age == 1), share(&ages, |age| (1..=10).contains(&age)));
        // 1 / H(500, 0.99) is 0.144, and its first ten terms are 0.42.
        assert!((last - 0.144).abs() < 0.02 && (last_ten - 0.42).abs() < 0.03, "{last} {last_ten}");
    }

    proptest! {
        #[test]
        fn draws_stay_in_the_range(
            distribution in prop_oneof![
                Just(Distribution::Sequential),
                Just(Distribution::Uniform),
                (0.1f64..5.0).prop_map(|exponent| Distribution::Zipf { exponent }),
                (0.1f64..5.0).prop_map(|exponent| Distribution::Latest { exponent }),
                (-1e3f64..1e9, 1e-3f64..1e9)
                    .prop_map(|(mean, deviation)| Distribution::Gaussian { mean: Some(mean), deviation: Some(deviation) }),
                Just(Distribution::Gaussian { mean: None, deviation: None }),
                (0.05f64..=100.0, prop::option::of(1u32..1000), any::<bool>())
                    .prop_map(|(shape, steps, inverted)| Distribution::Weibull { shape, steps, inverted }),
                (1e-6f64..=1.0, 0.0f64..=1.0).prop_map(|(keys, requests)| Distribution::Hotspot { keys, requests }),
            ],
            count in 1u64..1_000_000_000,
            number: u64,
        ) {
            let numbers = Numbers::new(distribution, 0.0, count).unwrap();
            prop_assert!(numbers.draw(number, &mut Draw::new(1, number, 0)) < count);
        }
    }
}
