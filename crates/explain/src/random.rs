//! Random numbers that stay the same in all versions, so that p-values are reproducible.

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A uniform random number in 0 ≤ x < `bound`; 0 for a bound below 1. The bias of the modulus, below 2⁻²⁰ for spans
    /// of hours in ns, does not matter here.
    pub(crate) fn below(&mut self, bound: i64) -> i64 {
        if bound < 1 { 0 } else { (self.next() % bound.unsigned_abs()) as i64 }
    }
}
