//! Tests which of many figures differ, with a correction for their number.
//!
//! Of twenty-nine figures that are equal in truth, some interval of 95 % leaves 1 out in most comparisons. The p-values here
//! are corrected for that: the step-down maxT procedure (Westfall, Young: Resampling-based multiple testing, 1993,
//! algorithm 4.1) keeps the probability of any false verdict below 5 %, whichever figures differ in truth. It
//! compares the statistic of each figure with the largest one that the figures reach when the runs swap sides at random, so
//! figures that vary together cost little.

use super::bootstrap::{Design, student};
use crate::random::Random;

/// The probability of any false verdict in a comparison.
pub(crate) const FAMILY_ERROR: f64 = 0.05;
/// If there are at most this many ways to swap sides, all are tried; otherwise this many are drawn at random.
const ARRANGEMENTS: usize = 10_000;
/// Two statistics that differ by less than this, which is rounding, count as equal.
const EQUAL: f64 = 1e-9;

/// One figure of the runs of both sides; None for a run without that figure. If paired, run `i` of one side is compared
/// with run `i` of the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) values: &'a [Option<f64>],
    pub(crate) base: &'a [Option<f64>],
}

/// The p-values of a family of figures that are judged together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Together {
    /// A p-value for each figure, in the given order.
    pub(crate) p_values: Vec<f64>,
    /// Width of the simultaneous interval over all figures, relative to the figure's own interval: at least 1.
    pub(crate) widened: f64,
}

impl Together {
    pub(crate) fn of(figures: &[Sides<'_>], design: Design, seed: u64) -> Together {
        let columns: Vec<Vec<f64>> = figures.iter().map(|figure| column(*figure, design)).collect();
        let (Some(first), Some(runs)) = (columns.first(), figures.first().map(|figure| figure.values.len())) else {
            return Together { p_values: Vec::new(), widened: 1.0 };
        };
        let units = first.len();
        let arrangements = arrangements(units, runs, design, seed);
        // The first arrangement is the observed one.
        let own = arrangements.first().map(Vec::as_slice).unwrap_or_default();
        let observed: Vec<f64> = columns.iter().map(|column| statistic(column, own)).collect();
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by(|a, b| observed[*b].total_cmp(&observed[*a]));
        let mut as_large = vec![0_usize; columns.len()];
        let mut largest: Vec<f64> = Vec::with_capacity(arrangements.len());
        for arrangement in &arrangements {
            let mut most = 0.0_f64;
            // Step up from the figure that differs least: each figure is compared with the largest statistic among
            // itself and those that differ less.
            for (place, figure) in order.iter().enumerate().rev() {
                most = most.max(statistic(&columns[*figure], arrangement));
                if most >= observed[*figure] - EQUAL {
                    as_large[place] += 1;
                }
            }
            largest.push(most);
        }
        let mut p_values = vec![1.0; columns.len()];
        let mut least = 0.0_f64;
        for (place, figure) in order.iter().enumerate() {
            least = least.max(as_large[place] as f64 / arrangements.len() as f64);
            p_values[*figure] = least;
        }
        let degrees = if design == Design::Paired { units.max(2) - 1 } else { units.max(3) - 2 } as f64;
        Together { p_values, widened: widened(largest, degrees, scale(units, runs, design)) }
    }
}

/// How many times larger the simultaneous critical value is than the quantile of Student's t for one figure.
fn widened(mut largest: Vec<f64>, degrees: f64, scale: f64) -> f64 {
    largest.sort_unstable_by(|a, b| b.total_cmp(a));
    let above = (FAMILY_ERROR * largest.len() as f64) as usize;
    let Some(threshold) = above.checked_sub(1).and_then(|place| largest.get(place)) else { return f64::INFINITY };
    // The statistic divided by its largest possible value is the correlation of the figure with the side.
    let correlation = (threshold / scale).min(1.0);
    let t = correlation * (degrees / (1.0 - correlation * correlation).max(0.0)).sqrt();
    (t / student(degrees)).max(1.0)
}

/// A figure scaled to a vector of length 1. The sum of its elements over one side is the statistic, which is monotone
/// in Student's t of the difference.
///
/// Paired: the difference of a pair divided by its sum, so that slow and fast blocks have the same weight, and values
/// of 0 are allowed.
fn column(Sides { values, base }: Sides<'_>, design: Design) -> Vec<f64> {
    let mut column: Vec<f64> = match design {
        Design::Paired => values
            .iter()
            .zip(base)
            .map(|pair| match pair {
                (Some(value), Some(base)) if value + base != 0.0 => (value - base) / (value + base),
                _ => 0.0,
            })
            .collect(),
        Design::Unpaired => {
            let known = || values.iter().chain(base).flatten();
            let mean = known().sum::<f64>() / known().count().max(1) as f64;
            values.iter().chain(base).map(|value| value.map_or(0.0, |value| value - mean)).collect()
        }
    };
    let length = column.iter().map(|number| number * number).sum::<f64>().sqrt();
    // A difference as small as the rounding error is none.
    if length > f64::MIN_POSITIVE {
        column.iter_mut().for_each(|number| *number /= length);
    }
    column
}

fn statistic(column: &[f64], arrangement: &[f64]) -> f64 {
    column.iter().zip(arrangement).map(|(number, side)| number * side).sum::<f64>().abs()
}

/// The largest possible value of the statistic, which a figure has that differs by the same in all runs.
fn scale(units: usize, runs: usize, design: Design) -> f64 {
    match design {
        Design::Paired => (units as f64).sqrt(),
        Design::Unpaired => (runs as f64 * (units - runs) as f64 / units as f64).sqrt(),
    }
}

/// Factors of the runs for each way to swap sides, the observed one first.
fn arrangements(units: usize, runs: usize, design: Design, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    match design {
        // The other half of the sign patterns are these with all signs flipped, which give the same statistic.
        Design::Paired if units <= 14 => (0..1_usize << units.saturating_sub(1))
            .map(|ways| (0..units).map(|unit| if ways >> unit & 1 == 1 { -1.0 } else { 1.0 }).collect())
            .collect(),
        Design::Paired => (0..ARRANGEMENTS)
            .map(|number| {
                let mut sign = || if number > 0 && random.below(2) == 1 { -1.0 } else { 1.0 };
                (0..units).map(|_| sign()).collect()
            })
            .collect(),
        Design::Unpaired => {
            let own: Vec<f64> = (0..units).map(|unit| if unit < runs { 1.0 } else { 0.0 }).collect();
            let mut all = vec![own.clone()];
            if choices(units, runs) <= ARRANGEMENTS {
                while let Some(next) = all.last().and_then(|last| next_choice(last)) {
                    all.push(next);
                }
                return all;
            }
            let mut drawn = own;
            while all.len() < ARRANGEMENTS {
                // Durstenfeld's shuffle.
                for place in (1..units).rev() {
                    drawn.swap(place, random.below(place as i64 + 1) as usize);
                }
                all.push(drawn.clone());
            }
            all
        }
    }
}

/// The number of ways to choose `runs` of `units`, saturating.
fn choices(units: usize, runs: usize) -> usize {
    (0..runs.min(units - runs)).fold(1_usize, |ways, taken| ways.saturating_mul(units - taken) / (taken + 1))
}

/// The next combination in the order that begins with all chosen ones in front; None after the last.
fn next_choice(choice: &[f64]) -> Option<Vec<f64>> {
    let at = choice.windows(2).rposition(|pair| pair[0] > pair[1])?;
    let mut next = choice.to_vec();
    next.swap(at, at + 1);
    let chosen = next[at + 2..].iter().filter(|side| **side > 0.0).count();
    for (place, side) in next[at + 2..].iter_mut().enumerate() {
        *side = if place < chosen { 1.0 } else { 0.0 };
    }
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::bootstrap::normal_number;

    type Side = Vec<Option<f64>>;

    /// Runs of figures, of which every third is correlated with the one before, in blocks that differ by 20 %. The
    /// first `different` figures are `ratio` times the baseline's.
    struct World {
        runs: usize,
        figures: usize,
        different: usize,
        ratio: f64,
        design: Design,
    }

    impl World {
        fn together(&self, seed: u64) -> Together {
            let mut random = Random::new(seed * 7919 + 1);
            let mut normal = move || normal_number(&mut random);
            let blocks: Vec<f64> = (0..self.runs).map(|_| (0.2 * normal()).exp()).collect();
            let mut drawn: Vec<(Side, Side)> = Vec::new();
            for figure in 0..self.figures {
                let ratio = if figure < self.different { self.ratio } else { 1.0 };
                let mut run = |ratio: f64| -> Side {
                    blocks.iter().map(|block| Some(ratio * block * (0.05 * normal()).exp())).collect()
                };
                let pair = match drawn.last() {
                    // Correlate this figure with the one before, as throughput correlates with the mean.
                    Some((values, base)) if figure % 3 == 2 && figure != self.different => {
                        let inverse = |side: &[Option<f64>]| side.iter().map(|value| value.map(f64::recip)).collect();
                        (inverse(values), inverse(base))
                    }
                    _ => (run(ratio), run(1.0)),
                };
                drawn.push(pair);
            }
            let sides: Vec<Sides<'_>> = drawn.iter().map(|(values, base)| Sides { values, base }).collect();
            Together::of(&sides, self.design, seed)
        }

        /// The shares of experiments with a wrong verdict on one of the equal figures, and with a verdict on the first figure.
        fn rates(&self, experiments: u64) -> (f64, f64) {
            let (mut wrong, mut found) = (0, 0);
            for seed in 0..experiments {
                let p_values = self.together(seed).p_values;
                wrong += u32::from(p_values[self.different..].iter().any(|p| *p <= FAMILY_ERROR));
                found += u32::from(p_values[0] <= FAMILY_ERROR);
            }
            (f64::from(wrong) / experiments as f64, f64::from(found) / experiments as f64)
        }
    }

    #[test]
    fn equal_runs_are_rarely_called_different_in_any_figure() {
        // 33 or more of 400 experiments, or six or more of 30, are wrong with probability below 1 in 200 at a level of
        // 5 %.
        for (runs, figures, design, experiments, bound) in [
            (6, 29, Design::Paired, 400, 0.08),
            (8, 29, Design::Paired, 200, 0.095),
            (15, 5, Design::Paired, 30, 0.17),
            (6, 12, Design::Unpaired, 30, 0.17),
        ] {
            let (wrong, _) = World { runs, figures, different: 0, ratio: 1.0, design }.rates(experiments);
            assert!(wrong <= bound, "{wrong} with {runs} runs, {design:?}");
        }
    }

    #[test]
    fn what_differs_is_found_and_the_others_are_left_alone() {
        for (runs, ratio, least) in [(6, 0.7, 0.85), (8, 0.8, 0.85), (10, 0.9, 0.6)] {
            let world = World { runs, figures: 29, different: 3, ratio, design: Design::Paired };
            let (wrong, found) = world.rates(40);
            assert!(wrong <= 0.15 && found >= least, "{wrong} {found} with {runs} runs at {ratio}");
        }
    }

    #[test]
    fn every_arrangement_is_tried_once() {
        for (units, runs, design, all) in
            [(6, 3, Design::Paired, 32), (8, 3, Design::Unpaired, 56), (12, 6, Design::Unpaired, 924)]
        {
            let mut found = arrangements(units, runs, design, 1);
            assert!(design == Design::Paired || found.iter().all(|one| one.iter().sum::<f64>() == runs as f64));
            found.sort_by(|a, b| a.partial_cmp(b).unwrap());
            found.dedup();
            assert_eq!(found.len(), all);
        }
        assert_eq!(arrangements(30, 15, Design::Unpaired, 1).len(), ARRANGEMENTS);
    }

    #[test]
    fn six_blocks_that_agree_are_enough_and_what_is_0_has_an_answer() {
        let (less, more) = ([Some(1.0), Some(2.0), Some(1.5), Some(1.2), Some(1.1), Some(1.3)], [Some(3.0); 6]);
        let none = [Some(0.0); 6];
        let figure = |values, base| Sides { values, base };
        let figures = [figure(&less[..], &more[..]), figure(&none[..], &none[..]), figure(&[None; 6], &more[..])];
        let together = Together::of(&figures, Design::Paired, 1);
        assert_eq!(together.p_values, [1.0 / 32.0, 1.0, 1.0]);
        assert!(together.widened >= 1.0);
        assert_eq!(Together::of(&[], Design::Paired, 1).p_values, Vec::<f64>::new());
    }
}
