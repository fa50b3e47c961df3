//! The verdict that a ratio with its interval allows.

use super::bootstrap::{Bounds, FEWEST, relative_width};
use super::family::FAMILY_ERROR;
use super::metric::Better;
use serde::Serialize;

/// A larger number of runs than this is not suggested.
const MOST: usize = 1000;

/// The verdict on one figure of a variant, against the baseline's. Better and worse hold for all figures together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Better,
    Worse,
    /// The interval contains 1 and lies within the margin: differences smaller than the margin do not matter to the user.
    NoDifference,
    /// The interval would tell, but a JVM was still compiling during the runs, and so slower than it will be.
    StillCompiling,
    /// There is no interval, or it contains 1 and exceeds the margin, or the difference may be chance among this many
    /// figures.
    NotEnough,
}

impl Verdict {
    /// `margin` is the share below which differences count as none, such as 0.05. `p` is the p-value of the difference,
    /// corrected for the number of figures.
    pub(crate) fn of(bounds: Option<Bounds>, better: Better, margin: f64, p: f64) -> Verdict {
        let Some(Bounds { low, high }) = bounds else { return Verdict::NotEnough };
        match better {
            _ if low <= 1.0 && 1.0 <= high => {
                if low >= 1.0 / (1.0 + margin) && high <= 1.0 + margin {
                    Verdict::NoDifference
                } else {
                    Verdict::NotEnough
                }
            }
            _ if p > FAMILY_ERROR => Verdict::NotEnough,
            Better::Lower if high < 1.0 => Verdict::Better,
            Better::Higher if low > 1.0 => Verdict::Better,
            _ => Verdict::Worse,
        }
    }

    /// The verdict on a figure that was one and the same number in all runs of both sides: more runs would add nothing.
    pub(crate) fn of_constant(values: &[f64], base: &[f64]) -> Option<Verdict> {
        let first = values.first()?;
        let is_constant = values.len() > 1 && base.len() > 1 && values.iter().chain(base).all(|value| value == first);
        is_constant.then_some(Verdict::NoDifference)
    }

    pub fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NoDifference => "no difference",
            Verdict::StillCompiling => "can't tell: a JVM was still compiling",
            Verdict::NotEnough => "not enough runs",
        }
    }
}

/// The number of runs for a verdict if ratio and spread stay as they are: with that many runs, the interval either
/// excludes 1, even when it is `widened` to hold for all figures at once, or lies within the margin. Always more than
/// the present runs; None for more than 1000.
///
/// On a logarithmic scale, the width of the interval falls as t(n−1)/√n.
pub(crate) fn needed(ratio: f64, bounds: Option<Bounds>, runs: usize, (margin, widened): (f64, f64)) -> Option<usize> {
    let Some(Bounds { low, high }) = bounds else { return Some(FEWEST.max(runs + 1)) };
    let half = (high / low).ln() / 2.0;
    let off = ratio.ln().abs();
    let enough = (off / widened).max((1.0 + margin).ln() - off);
    if !half.is_finite() || !off.is_finite() {
        return None;
    }
    let of_one = half / relative_width(runs);
    (FEWEST.max(runs + 1)..=MOST).find(|runs| of_one * relative_width(*runs) <= enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(low: f64, high: f64, better: Better) -> Verdict {
        Verdict::of(Some(Bounds { low, high }), better, 0.05, 0.01)
    }

    #[test]
    fn an_interval_has_one_verdict() {
        assert_eq!(of(1.08, 1.16, Better::Higher), Verdict::Better);
        assert_eq!(of(1.08, 1.16, Better::Lower), Verdict::Worse);
        assert_eq!(of(0.6, 0.85, Better::Lower), Verdict::Better);
        assert_eq!(of(0.6, 0.85, Better::Higher), Verdict::Worse);
        assert_eq!(of(0.98, 1.03, Better::Lower), Verdict::NoDifference);
        assert_eq!(of(0.9, 1.03, Better::Lower), Verdict::NotEnough);
        assert_eq!(of(f64::INFINITY, f64::INFINITY, Better::Lower), Verdict::Worse);
        assert_eq!(Verdict::of(None, Better::Lower, 0.05, 0.01), Verdict::NotEnough);
        // With this many figures the difference may be chance.
        let chance = |low, high| Verdict::of(Some(Bounds { low, high }), Better::Lower, 0.05, 0.06);
        assert_eq!([chance(0.6, 0.85), chance(0.98, 1.03)], [Verdict::NotEnough, Verdict::NoDifference]);
    }

    #[test]
    fn a_figure_that_never_changes_needs_no_more_runs() {
        let of = Verdict::of_constant;
        assert_eq!(of(&[0.0, 0.0], &[0.0, 0.0]), Some(Verdict::NoDifference));
        assert_eq!(of(&[7.0, 7.0, 7.0], &[7.0, 7.0, 7.0]), Some(Verdict::NoDifference));
        assert_eq!(of(&[0.0, 0.0], &[0.0, 0.1]), None);
        assert_eq!(of(&[1.0, 1.0], &[2.0, 2.0]), None);
        assert_eq!((of(&[0.0], &[0.0]), of(&[], &[])), (None, None), "one run shows no constant");
    }

    #[test]
    fn more_runs_are_asked_for_the_less_they_tell() {
        let of = |ratio: f64, low, high, widened| needed(ratio, Some(Bounds { low, high }), 8, (0.05, widened));
        let needed_of = |ratio: f64, low, high| of(ratio, low, high, 1.0);
        let (near, far) = (needed_of(1.02, 0.90, 1.15).unwrap(), needed_of(1.10, 0.97, 1.24).unwrap());
        assert!(near > 3 * far && far > 8, "{near} {far}");
        assert_eq!(needed_of(1.0, 0.01, 100.0), None);
        assert_eq!(needed_of(f64::INFINITY, 0.5, f64::INFINITY), None);
        assert_eq!(needed(1.3, None, 2, (0.05, 1.0)), Some(FEWEST));
        // The returned number of runs is the smallest that is enough with the same spread.
        let enough = 1.02_f64.ln().max(1.05_f64.ln() - 1.02_f64.ln());
        let half = |runs: usize| (1.15_f64 / 0.90).ln() / 2.0 * relative_width(runs) / relative_width(8);
        assert!(half(near) <= enough && half(near - 1) > enough);
        // With more figures, more runs are needed.
        assert!(of(1.10, 0.97, 1.24, 2.0).unwrap() > 2 * far);
    }

    #[test]
    fn no_more_runs_than_there_are_is_no_answer() {
        // The interval nearly decides: by its width alone, the present number of runs would be enough.
        for runs in [6, 8, 20] {
            for (ratio, low, high) in [(1.10, 0.999, 1.20), (0.80, 0.65, 0.95), (1.01, 0.94, 1.051)] {
                let needed = needed(ratio, Some(Bounds { low, high }), runs, (0.05, 1.3));
                assert!(needed.is_none_or(|needed| needed > runs), "{needed:?} of {runs} at {ratio}");
            }
        }
    }
}
