//! A sample of a table: some token ranges of all its SSTables, so that overlaps are kept.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Number of ranges of a sample. A node has some ranges of the ring, and a few ranges of the sample might miss or hit
/// all of them.
const SPANS: i128 = 64;
const LEAST: i128 = i64::MIN as i128;
/// All tokens of Murmur3Partitioner except the smallest, which no key has.
const TOKENS: i128 = (1 << 64) - 1;

/// A range of tokens: after the first one, up to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub after: i64,
    pub to: i64,
}

impl Span {
    pub const ALL: Span = Span { after: i64::MIN, to: i64::MAX };
}

/// Evenly spaced ranges that together have this share of all tokens: 0 < `share` < 1.
pub(super) fn spans(share: f64, seed: u64) -> Vec<Span> {
    let each = TOKENS / SPANS;
    let width = ((each as f64 * share) as i128).max(1);
    let shift = StdRng::seed_from_u64(seed).random_range(0..(each - width).max(1));
    let token = |at: i128| i64::try_from(LEAST + at).unwrap_or(i64::MAX);
    (0..SPANS).map(|span| span * each + shift).map(|at| Span { after: token(at), to: token(at + width) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_do_not_overlap_and_make_up_the_share() {
        for (share, seed) in [(0.5, 1), (0.01, 2), (0.99, 3), (1e-9, 4)] {
            let spans = spans(share, seed);
            assert_eq!(spans.len() as i128, SPANS);
            assert!(spans.windows(2).all(|pair| pair[0].to < pair[1].after), "{share}");
            let covered: i128 = spans.iter().map(|span| i128::from(span.to) - i128::from(span.after)).sum();
            assert!((covered as f64 / TOKENS as f64 / share - 1.0).abs() < 0.001, "{share}");
            assert!(spans.iter().all(|span| span.after < span.to));
        }
        assert_ne!(spans(0.1, 1), spans(0.1, 2));
    }
}
