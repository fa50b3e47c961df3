//! The intended starts of an open loop's requests.

use super::{Load, Phase, Until};

/// Intended starts of a phase in open loop, in ns from the start of the phase. Ascending; the first is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offsets {
    shape: Shape,
    count: u64,
    lasts_ns: i64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Even {
        per_s: f64,
    },
    /// The rate is `from_per_s + slope · t`.
    Linear {
        from_per_s: f64,
        slope_per_s2: f64,
    },
}

impl Offsets {
    /// None for a closed loop, whose requests start when others end.
    pub fn of(phase: &Phase) -> Option<Offsets> {
        let shape = match (phase.load, phase.until) {
            (Load::InFlight(_), _) => return None,
            (Load::Rate { per_s }, _) => Shape::Even { per_s },
            (Load::Ramp { from_per_s, to_per_s }, Until::Elapsed(lasts)) => {
                Shape::Linear { from_per_s, slope_per_s2: (to_per_s - from_per_s) / lasts.as_secs_f64() }
            }
            // Refused by Phase::check.
            (Load::Ramp { from_per_s, .. }, Until::Count(_)) => Shape::Even { per_s: from_per_s },
        };
        Some(match phase.until {
            Until::Count(count) => Offsets { shape, count, lasts_ns: shape.offset_ns(count) },
            Until::Elapsed(lasts) => {
                let lasts_ns = i64::try_from(lasts.as_nanos()).unwrap_or(i64::MAX);
                Offsets { shape, count: shape.starts_before(lasts_ns), lasts_ns }
            }
        })
    }

    /// Number of requests.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Length of the phase.
    pub fn lasts_ns(&self) -> i64 {
        self.lasts_ns
    }

    /// Intended start of request `index`, counted from 0; none past the last.
    pub fn get(&self, index: u64) -> Option<i64> {
        (index < self.count).then(|| self.shape.offset_ns(index))
    }

    pub fn iter(&self) -> impl Iterator<Item = i64> + use<> {
        let offsets = *self;
        (0..self.count).map(move |index| offsets.shape.offset_ns(index))
    }
}

impl Shape {
    /// From the index alone and not from the offset before, so that rounding never adds up.
    fn offset_ns(self, index: u64) -> i64 {
        let index = index as f64;
        let seconds = match self {
            Shape::Even { per_s } => index / per_s,
            // `index` starts have passed when from·t + slope·t²/2 = index; this form of its root holds for a slope of
            // 0 and loses no digits when the slope is small.
            Shape::Linear { from_per_s, slope_per_s2 } => {
                let root = (from_per_s * from_per_s + 2.0 * slope_per_s2 * index).max(0.0).sqrt();
                2.0 * index / (from_per_s + root)
            }
        };
        (seconds * 1e9).round() as i64
    }

    /// How many starts lie before `end_ns`.
    fn starts_before(self, end_ns: i64) -> u64 {
        let seconds = end_ns as f64 / 1e9;
        let estimate = match self {
            Shape::Even { per_s } => per_s * seconds,
            Shape::Linear { from_per_s, slope_per_s2 } => (from_per_s + slope_per_s2 * seconds / 2.0) * seconds,
        };
        // The estimate is off by one at most, where a start is rounded over the end.
        let mut count = estimate.round() as u64;
        while count > 0 && self.offset_ns(count - 1) >= end_ns {
            count -= 1;
        }
        while (count as f64) < estimate && self.offset_ns(count) < end_ns {
            count += 1;
        }
        count
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
        let half = ramp.get(2500).unwrap() as f64 / 1e10;
        assert!((half - 0.5f64.sqrt()).abs() < 1e-3, "{half}");
    }

    #[test]
    fn a_day_at_a_high_rate_stays_exact() {
        let day = offsets(Phase::rate(50_000.0, Until::Elapsed(Duration::from_secs(86_400))));
        assert_eq!(day.count(), 4_320_000_000);
        assert_eq!(day.get(4_319_999_999), Some(86_400_000_000_000 - 20_000));
        assert_eq!(day.get(4_320_000_000), None);
    }

    #[test]
    fn a_closed_loop_has_none() {
        assert_eq!(Offsets::of(&Phase::in_flight(8, Until::Count(5))), None);
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
        fn gaps_of_a_ramp_follow_its_rate(from in 10.0f64..5000.0, to in 10.0f64..5000.0) {
            let offsets = offsets(Phase::ramp(from, to, Duration::from_secs(10)));
            let middle = offsets.count() / 2;
            let gap_s = (offsets.get(middle).unwrap() - offsets.get(middle - 1).unwrap()) as f64 / 1e9;
            let at_s = offsets.get(middle).unwrap() as f64 / 1e9;
            let rate = from + (to - from) * at_s / 10.0;
            prop_assert!((gap_s * rate - 1.0).abs() < 0.1, "gap {gap_s} s at {rate}/s");
        }
    }
}
