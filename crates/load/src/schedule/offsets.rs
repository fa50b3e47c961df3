//! The intended starts of an open loop's requests.

use super::{Arrivals, Load, Phase, Trace, Until};
use crate::draw::Draw;
use rand_distr::{Distribution, Exp1, Poisson};
use std::sync::Arc;

/// The stream of random numbers that schedules use.
const ARRIVALS: u64 = u64::MAX - 2;

/// Intended starts of a phase in open loop, in ns from the start of the phase. They are ascending; evenly spaced ones
/// begin at 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Offsets {
    shape: Shape,
    count: u64,
    lasts_ns: i64,
    /// Poisson arrivals: their stream of random numbers, and the expected number of arrivals in the phase.
    poisson: Option<(u64, f64)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Even {
        per_s: f64,
    },
    /// The rate is `from_per_s + slope · t`.
    Linear {
        from_per_s: f64,
        slope_per_s2: f64,
    },
    Trace(Arc<Trace>),
}

impl Offsets {
    /// Returns None for a closed loop, whose requests start when others end.
    pub fn of(phase: &Phase) -> Option<Offsets> {
        let shape = match (&phase.load, phase.until) {
            (Load::InFlight(_) | Load::Surge { .. }, _) => return None,
            (Load::Rate { per_s }, _) => Shape::Even { per_s: *per_s },
            (Load::Ramp { from_per_s, to_per_s }, Until::Elapsed(lasts)) => {
                Shape::Linear { from_per_s: *from_per_s, slope_per_s2: (to_per_s - from_per_s) / lasts.as_secs_f64() }
            }
            // `Phase::check` has refused this case.
            (Load::Ramp { from_per_s, .. }, Until::Count(_)) => Shape::Even { per_s: *from_per_s },
            (Load::Trace(trace), _) => Shape::Trace(Arc::clone(trace)),
        };
        let (count, lasts_ns) = match phase.until {
            Until::Count(count) => shape.first(count),
            Until::Elapsed(lasts) => {
                let lasts_ns = i64::try_from(lasts.as_nanos()).unwrap_or(i64::MAX);
                (shape.starts_before(lasts_ns), lasts_ns)
            }
        };
        let even = Offsets { shape, count, lasts_ns, poisson: None };
        Some(match (phase.arrivals, &even.shape) {
            (Arrivals::Even, _) | (_, Shape::Trace(_)) => even,
            (Arrivals::Poisson { seed }, _) => even.poisson(seed, matches!(phase.until, Until::Count(_))),
        })
    }

    /// The same mean rate with Poisson arrivals. Given that a Poisson process has n arrivals in an interval, these are
    /// distributed as n independent uniform numbers. So the count is drawn first, and then the times one after the
    /// other (see [`Places`]), which is exact and needs no list. A phase that ends by count has exactly that count.
    fn poisson(self, seed: u64, counted: bool) -> Offsets {
        let mean = self.shape.passed(self.lasts_ns as f64 / 1e9);
        let drawn = || Poisson::new(mean).map_or(0.0, |counts| counts.sample(&mut Draw::new(seed, 0, ARRIVALS)));
        let count = if counted { self.count } else { drawn() as u64 };
        Offsets { count, poisson: Some((seed, mean)), ..self }
    }

    /// Number of requests in the phase.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Length of the phase.
    pub fn lasts_ns(&self) -> i64 {
        self.lasts_ns
    }

    pub fn iter(&self) -> impl Iterator<Item = i64> + use<> {
        self.each(0, 1)
    }

    /// The starts with the indices `first`, `first + step` and so on. Those of a Poisson process that lie between are
    /// drawn and dropped, at some 5 ns each.
    pub(super) fn each(&self, first: u64, step: u64) -> impl Iterator<Item = i64> + use<> {
        let offsets = self.clone();
        let mut places = self.poisson.map(|(seed, _)| Places::new(seed, self.count));
        (first..self.count).step_by(step as usize).map(move |index| match (&mut places, offsets.poisson) {
            (Some(places), Some((_, mean))) => {
                offsets.shape.offset_ns(places.at(index) * mean).min(offsets.lasts_ns - 1)
            }
            _ => offsets.shape.offset_ns(index as f64),
        })
    }
}

impl Shape {
    /// The time by which this many starts have passed. It is computed from the number and not from the previous time,
    /// so that rounding errors do not add up.
    fn offset_ns(&self, passed: f64) -> i64 {
        let seconds = match self {
            Shape::Even { per_s } => passed / per_s,
            // `passed` starts have passed when from·t + slope·t²/2 = passed; this form of its root also holds for a
            // slope of 0, and is precise when the slope is small.
            Shape::Linear { from_per_s, slope_per_s2 } => {
                let root = (from_per_s * from_per_s + 2.0 * slope_per_s2 * passed).max(0.0).sqrt();
                2.0 * passed / (from_per_s + root)
            }
            Shape::Trace(trace) => return trace.offsets_ns()[passed as usize],
        };
        (seconds * 1e9).round() as i64
    }

    /// How many starts lie within a time.
    fn passed(&self, seconds: f64) -> f64 {
        match self {
            Shape::Even { per_s } => per_s * seconds,
            Shape::Linear { from_per_s, slope_per_s2 } => (from_per_s + slope_per_s2 * seconds / 2.0) * seconds,
            Shape::Trace(trace) => trace.starts_before((seconds * 1e9) as i64) as f64,
        }
    }

    /// The number of requests if the phase has `count` of them, and how long they last.
    fn first(&self, count: u64) -> (u64, i64) {
        match self {
            Shape::Trace(trace) => {
                let count = count.min(trace.offsets_ns().len() as u64);
                (count, trace.lasts_ns(count))
            }
            shape => (count, shape.offset_ns(count as f64)),
        }
    }

    /// How many starts lie before `end_ns`.
    fn starts_before(&self, end_ns: i64) -> u64 {
        if let Shape::Trace(trace) = self {
            return trace.starts_before(end_ns);
        }
        let estimate = self.passed(end_ns as f64 / 1e9);
        // Rounding may make the estimate wrong by one.
        let mut count = estimate.round() as u64;
        while count > 0 && self.offset_ns((count - 1) as f64) >= end_ns {
            count -= 1;
        }
        while (count as f64) < estimate && self.offset_ns(count as f64) < end_ns {
            count += 1;
        }
        count
    }
}

/// Independent uniform numbers in [0, 1) in ascending order, generated one after the other: the smallest of m numbers
/// that are uniform above a is 1 − (1 − a) · V^(1/m) (Bentley and Saxe, "Generating sorted lists of random numbers",
/// 1980). The state is ln(1 − a), to which each step adds −E/m with E from the standard exponential distribution.
#[derive(Debug)]
struct Places {
    draw: Draw,
    left: u64,
    drawn: u64,
    log_above: f64,
}

impl Places {
    fn new(seed: u64, count: u64) -> Places {
        Places { draw: Draw::new(seed, 1, ARRIVALS), left: count, drawn: 0, log_above: 0.0 }
    }

    /// The number with this index, which must increase from call to call and be below the count.
    fn at(&mut self, index: u64) -> f64 {
        while self.drawn <= index {
            let exponential: f64 = Exp1.sample(&mut self.draw);
            self.log_above -= exponential / self.left as f64;
            self.left -= 1;
            self.drawn += 1;
        }
        -self.log_above.exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn offsets(phase: Phase) -> Offsets {
        Offsets::of(&phase).unwrap()
    }

    #[test]
    fn a_fixed_rate_is_even() {
        let starts: Vec<i64> = offsets(Phase::rate(4.0, Until::Elapsed(Duration::from_secs(1)))).iter().collect();
        assert_eq!(starts, [0, 250_000_000, 500_000_000, 750_000_000]);
        let counted = offsets(Phase::rate(4.0, Until::Count(2)));
        assert_eq!((counted.count(), counted.lasts_ns()), (2, 500_000_000));
    }

    #[test]
    fn a_ramp_from_nearly_nothing_has_half_of_its_requests_after_0_7_of_its_time() {
        let ramp = offsets(Phase::ramp(1e-6, 1000.0, Duration::from_secs(10)));
        assert_eq!(ramp.count().abs_diff(5000), 1);
        let half = ramp.iter().nth(2500).unwrap() as f64 / 1e10;
        assert!((half - 0.5f64.sqrt()).abs() < 1e-3, "{half}");
    }

    #[test]
    fn a_day_at_a_high_rate_stays_exact() {
        let day = offsets(Phase::rate(50_000.0, Until::Elapsed(Duration::from_secs(86_400))));
        assert_eq!(day.count(), 4_320_000_000);
        assert_eq!(day.each(4_319_999_999, 1).collect::<Vec<_>>(), [86_400_000_000_000 - 20_000]);
    }

    #[test]
    fn a_closed_loop_has_none() {
        assert_eq!(Offsets::of(&Phase::in_flight(8, Until::Count(5))), None);
    }

    /// The Kolmogorov-Smirnov distance between a sample and the exponential distribution of a rate.
    fn distance_from_exponential(mut gaps_s: Vec<f64>, per_s: f64) -> f64 {
        gaps_s.sort_unstable_by(f64::total_cmp);
        let count = gaps_s.len() as f64;
        let at = |(position, gap_s): (usize, &f64)| {
            let expected = 1.0 - (-gap_s * per_s).exp();
            (expected - position as f64 / count).abs().max((expected - (position + 1) as f64 / count).abs())
        };
        gaps_s.iter().enumerate().map(at).fold(0.0, f64::max)
    }

    #[test]
    fn poisson_arrivals_have_exponential_gaps_and_are_the_same_each_time() {
        let phase = Phase::rate(1000.0, Until::Elapsed(Duration::from_secs(50))).poisson(7);
        let offsets = Offsets::of(&phase).unwrap();
        let starts: Vec<i64> = offsets.iter().collect();
        assert_eq!(starts, Offsets::of(&phase).unwrap().iter().collect::<Vec<_>>());
        assert_ne!(starts, Offsets::of(&phase.poisson(8)).unwrap().iter().collect::<Vec<_>>());
        // The count is random: within 4 standard deviations of 50,000, and not exactly that.
        assert!(offsets.count().abs_diff(50_000) < 900 && offsets.count() != 50_000, "{}", offsets.count());
        let gaps_s: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect();
        // One of 100 samples exceeds 1.63 / √n by chance; the seed makes this sample always the same.
        let distance = distance_from_exponential(gaps_s, 1000.0);
        assert!(distance < 1.63 / 50_000f64.sqrt(), "{distance}");
        // Counts per second: for a Poisson process the variance equals the mean, for evenly spaced starts it is 0.
        let mut counts = vec![0.0; 50];
        starts.iter().for_each(|ns| counts[(ns / 1_000_000_000) as usize] += 1.0);
        let variance = counts.iter().map(|count: &f64| (count - 1000.0).powi(2)).sum::<f64>() / 50.0;
        assert!((500.0..1700.0).contains(&variance), "{variance}");
    }

    #[test]
    fn poisson_arrivals_by_count_are_that_many_in_the_time_of_even_ones() {
        let offsets = offsets(Phase::rate(500.0, Until::Count(1000)).poisson(1));
        assert_eq!((offsets.count(), offsets.lasts_ns()), (1000, 2_000_000_000));
        assert_eq!(offsets.iter().count(), 1000);
    }

    #[test]
    fn a_poisson_ramp_follows_its_rate() {
        let ramp = offsets(Phase::ramp(1e-6, 2000.0, Duration::from_secs(10)).poisson(3));
        let early = ramp.iter().filter(|ns| *ns < 5_000_000_000).count() as f64 / ramp.count() as f64;
        assert!((early - 0.25).abs() < 0.02, "{early}");
    }

    #[test]
    fn a_trace_is_cut_by_time_or_count() {
        let trace = Arc::new(Trace::parse("t", "0\n1s\n1.5\n4\n").unwrap());
        let load = |until| offsets(Phase { load: Load::Trace(Arc::clone(&trace)), ..Phase::rate(1.0, until) });
        assert_eq!(load(Until::Elapsed(Duration::from_millis(1500))).iter().count(), 2);
        let counted = load(Until::Count(9));
        assert_eq!(counted.iter().collect::<Vec<_>>(), [0, 1_000_000_000, 1_500_000_000, 4_000_000_000]);
        assert_eq!(counted.lasts_ns(), 5_333_333_333);
    }

    fn any_phase() -> impl Strategy<Value = Phase> {
        let rate = 0.5f64..2_000.0;
        let lasts = (1u64..10_000).prop_map(Duration::from_millis);
        prop_oneof![
            (rate.clone(), lasts.clone()).prop_map(|(rate, lasts)| Phase::rate(rate, Until::Elapsed(lasts))),
            (rate.clone(), 1u64..50_000).prop_map(|(rate, count)| Phase::rate(rate, Until::Count(count))),
            (rate.clone(), rate, lasts).prop_map(|(from, to, lasts)| Phase::ramp(from, to, lasts)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn starts_ascend_from_zero_and_end_before_the_phase_does(phase in any_phase()) {
            let offsets = offsets(phase);
            let starts: Vec<i64> = offsets.iter().collect();
            prop_assert_eq!(starts.first(), Some(&0));
            prop_assert!(starts.is_sorted());
            prop_assert!(*starts.last().unwrap() < offsets.lasts_ns());
            prop_assert_eq!(starts.len() as u64, offsets.count());
        }

        #[test]
        fn a_phase_sends_what_its_rate_says(phase in any_phase()) {
            let offsets = offsets(phase.clone());
            let (from, to) = phase.rates_per_s().unwrap();
            let implied = (from + to) / 2.0 * offsets.lasts_ns() as f64 / 1e9;
            // The first start is at 0, so that the count is the implied one rounded up.
            prop_assert!((offsets.count() as f64 - implied).abs() <= 1.0 + implied * 1e-9, "{} {}", offsets.count(), implied);
        }

        #[test]
        fn poisson_arrivals_ascend_within_the_phase_and_shares_are_a_partition(
            phase in any_phase(),
            seed: u64,
            shares in 1u64..5,
        ) {
            let offsets = offsets(phase.poisson(seed));
            let starts: Vec<i64> = offsets.iter().collect();
            prop_assert!(starts.is_sorted());
            prop_assert!(starts.iter().all(|ns| (0..offsets.lasts_ns()).contains(ns)));
            for share in 0..shares {
                let own: Vec<i64> = offsets.each(share, shares).collect();
                let part: Vec<i64> = starts.iter().copied().skip(share as usize).step_by(shares as usize).collect();
                prop_assert_eq!(own, part);
            }
        }

        #[test]
        fn gaps_of_a_ramp_follow_its_rate(from in 10.0f64..5000.0, to in 10.0f64..5000.0) {
            let offsets = offsets(Phase::ramp(from, to, Duration::from_secs(10)));
            let middle = offsets.count() / 2;
            let around: Vec<i64> = offsets.each(middle - 1, 1).take(2).collect();
            let gap_s = (around[1] - around[0]) as f64 / 1e9;
            let at_s = around[1] as f64 / 1e9;
            let rate = from + (to - from) * at_s / 10.0;
            prop_assert!((gap_s * rate - 1.0).abs() < 0.1, "gap {gap_s} s at {rate}/s");
        }
    }
}
