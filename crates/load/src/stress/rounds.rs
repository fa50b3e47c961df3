//! Rounds with more and more threads, until the throughput stops growing.

/// The number of threads of the next round: twice as many up to 16, then half as many more.
pub(super) fn after(threads: u32) -> u32 {
    if threads < 16 { threads.saturating_mul(2) } else { threads.saturating_add(threads / 2) }
}

/// Whether another round is worthwhile after rounds with these rates: the mean gain of the last three must not be below
/// 0, and that of the last five not below `least_gain`.
pub(super) fn gains(rates_per_s: &[f64], least_gain: f64) -> bool {
    let gain = |rounds: usize| {
        let gains = rates_per_s.windows(2).map(|pair| (pair[1] - pair[0]) / pair[0]);
        let last: Vec<f64> = gains.skip((rates_per_s.len() - 1).saturating_sub(rounds)).collect();
        last.iter().sum::<f64>() / rounds as f64
    };
    let enough = |rounds: usize, least: f64| rates_per_s.len() <= rounds || gain(rounds) >= least;
    enough(3, 0.0) && enough(5, least_gain)
}

/// The gain of the last round over the one before, as a share.
pub(super) fn last_gain(rates_per_s: &[f64]) -> Option<f64> {
    match rates_per_s {
        [.., before, last] => Some((last - before) / before),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_rise_as_there() {
        let threads: Vec<u32> = std::iter::successors(Some(4), |threads| Some(after(*threads))).take(14).collect();
        assert_eq!(threads, [4, 8, 16, 24, 36, 54, 81, 121, 181, 271, 406, 609, 913, 1369]);
    }

    #[test]
    fn rounds_end_when_the_last_three_gained_nothing() {
        assert!(gains(&[100.0], -1.0));
        assert!(gains(&[100.0, 90.0, 80.0], -1.0));
        assert!(gains(&[100.0, 200.0, 300.0, 310.0], -1.0));
        assert!(!gains(&[100.0, 200.0, 195.0, 190.0, 189.0], -1.0));
        // The rate still grows, but by less than the requested gain.
        let flat = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0];
        assert!(gains(&flat, -1.0) && !gains(&flat, 0.02));
        assert_eq!(last_gain(&[50.0, 75.0]), Some(0.5));
    }
}
