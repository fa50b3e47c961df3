//! Random numbers that depend on a request's number and on nothing else.

use std::convert::Infallible;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). A number takes a few ns,
/// and the numbers of any request can be computed without those of earlier requests.
#[derive(Debug, Clone)]
pub(crate) struct Draw {
    state: u64,
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl Draw {
    /// The random numbers of `stream` (one stream per parameter) for request `number` of a run with `seed`.
    pub fn new(seed: u64, number: u64, stream: u64) -> Draw {
        let state = mix(seed ^ GOLDEN_GAMMA.wrapping_mul(stream.wrapping_add(1)));
        Draw { state: mix(state ^ number.wrapping_mul(GOLDEN_GAMMA)) }
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        mix(self.state)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in 0..bound, by multiplication (Lemire 2019, without the rejection: its bias is below bound / 2⁶⁴).
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// The finalizer of SplitMix64: a bijection whose output bits each depend on every input bit.
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl rand::TryRng for Draw {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn draws_repeat_and_stay_in_their_bounds(seed: u64, number: u64, bound in 1u64..) {
            let (mut one, mut two) = (Draw::new(seed, number, 3), Draw::new(seed, number, 3));
            prop_assert_eq!(one.next(), two.next());
            prop_assert!(one.below(bound) < bound);
            prop_assert!((0.0..1.0).contains(&two.unit()));
        }
    }

    #[test]
    fn neighbours_are_unlike() {
        let firsts = |stream| (0..1000).map(move |number| Draw::new(1, number, stream).unit());
        let mean = firsts(0).sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
        let equal = firsts(0).zip(firsts(1)).filter(|(left, right)| (left - right).abs() < 1e-9).count();
        assert_eq!(equal, 0);
    }
}
