//! The sequence of numbers that a distribution draws from a seed.

use super::distribution::{Distribution, Shape};
use super::java::Random;
use crate::weibull::Weibull;

/// The numbers of a distribution for one seed.
#[derive(Debug)]
pub(super) struct Stream {
    distribution: Distribution,
    random: Random,
    /// For consecutive numbers: the index of the next one.
    place: i64,
}

impl Stream {
    pub fn new(distribution: Distribution, seed: i64) -> Stream {
        Stream { distribution, random: Random::new(seed), place: seed }
    }

    pub fn next(&mut self) -> i64 {
        let Distribution { shape, min, max, inverted } = self.distribution;
        let drawn = match shape {
            // The next whole number: drawn as a real number, and rounded towards 0.
            Shape::Uniform | Shape::Gaussian { .. } => (self.real() as i64).clamp(min, max),
            Shape::Exponential | Shape::Extreme { .. } => {
                min.saturating_add((self.offset() as i64).clamp(0, self.range()))
            }
            Shape::Fixed => min,
            Shape::Sequence => min.wrapping_add(self.in_sequence()),
            Shape::Stepped { shape, steps } => self.stepped(shape, steps),
        };
        if inverted { max.wrapping_sub(drawn.wrapping_sub(min)) } else { drawn }
    }

    /// The next number without rounding.
    pub fn next_real(&mut self) -> f64 {
        let Distribution { shape, min, max, inverted } = self.distribution;
        let (low, high) = (min as f64, max as f64);
        let drawn = match shape {
            Shape::Uniform | Shape::Gaussian { .. } => self.real().clamp(low, high),
            Shape::Exponential | Shape::Extreme { .. } => low + self.offset().clamp(0.0, high - low),
            Shape::Fixed => low,
            Shape::Sequence => (min.wrapping_add(self.in_sequence())) as f64,
            Shape::Stepped { shape, steps } => self.stepped(shape, steps) as f64,
        };
        if inverted { high - (drawn - low) } else { drawn }
    }

    fn range(&self) -> i64 {
        self.distribution.max.saturating_sub(self.distribution.min)
    }

    fn real(&mut self) -> f64 {
        let Distribution { shape, min, max, .. } = self.distribution;
        match shape {
            Shape::Gaussian { mean, deviation } => deviation * self.random.next_gaussian() + mean,
            _ => {
                let unit = self.random.next_f64();
                unit * max.saturating_add(1) as f64 + (1.0 - unit) * min as f64
            }
        }
    }

    /// The distance of the next number from the start of the range.
    fn offset(&mut self) -> f64 {
        let range = self.range() as f64;
        match self.distribution.shape {
            Shape::Extreme { shape } => Weibull::over(range, shape).quantile(self.random.next_f64()),
            // The scale for which one draw in the square root of the range is beyond the end.
            _ => exponential(&mut self.random) * Weibull::over(range, 1.0).quantile(1.0 - (-1.0f64).exp()),
        }
    }

    /// The start depends on the seed and may be negative: the remainder has the sign of the index.
    fn in_sequence(&mut self) -> i64 {
        let place = self.place;
        self.place = place.wrapping_add(1);
        place % self.range().saturating_add(1)
    }

    /// Uniform within one of the steps, which all have the same probability.
    fn stepped(&mut self, shape: f64, steps: u32) -> i64 {
        let (range, steps) = (self.range() as f64, f64::from(steps));
        let at =
            |step: f64| if step < steps { Weibull::over(range, shape).quantile(step / steps) } else { range + 1.0 };
        let step = (self.random.next_f64() * steps).floor();
        let (from, to) = (at(step).min(range), at(step + 1.0));
        let offset = from + self.random.next_f64() * (to - from);
        self.distribution.min.saturating_add((offset as i64).clamp(0, self.range()))
    }
}

/// A number of the exponential distribution with mean 1, by algorithm SA of Ahrens and Dieter, "Computer methods for
/// sampling from the exponential and normal distributions", 1972.
fn exponential(random: &mut Random) -> f64 {
    let half = std::f64::consts::LN_2;
    let mut unit = random.next_f64();
    if unit == 0.0 {
        return f64::MAX;
    }
    let mut whole = 0.0;
    while unit < 0.5 {
        whole += half;
        unit *= 2.0;
    }
    unit = 2.0 * unit - 1.0;
    if unit <= half {
        return whole + unit;
    }
    // Partial sums of the series of e^ln 2 - 1.
    let (mut term, mut sum) = (half, half);
    let mut least = random.next_f64();
    for count in 2..=64 {
        least = least.min(random.next_f64());
        term *= half / f64::from(count);
        sum += term;
        if unit <= sum {
            break;
        }
    }
    whole + least * half
}
