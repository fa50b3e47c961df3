//! Java's random number generators, so that a seed gives the same values as in cassandra-stress.

/// `java.util.Random`: a linear congruential generator of 48 bits, as its documentation specifies it.
#[derive(Debug, Clone)]
pub(super) struct Random {
    state: u64,
    /// The polar method makes two normal numbers at a time; this is the second one.
    next_gaussian: Option<f64>,
}

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

impl Random {
    pub fn new(seed: i64) -> Random {
        Random { state: (seed as u64 ^ MULTIPLIER) & MASK, next_gaussian: None }
    }

    fn next(&mut self, bits: u32) -> i32 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        (self.state >> (48 - bits)) as i32
    }

    pub fn next_i64(&mut self) -> i64 {
        let high = i64::from(self.next(32)) << 32;
        high.wrapping_add(i64::from(self.next(32)))
    }

    /// Uniform in [0, 1).
    pub fn next_f64(&mut self) -> f64 {
        let high = i64::from(self.next(26)) << 27;
        (high + i64::from(self.next(27))) as f64 / (1u64 << 53) as f64
    }

    /// A number of the standard normal distribution, by Marsaglia's polar method.
    pub fn next_gaussian(&mut self) -> f64 {
        if let Some(gaussian) = self.next_gaussian.take() {
            return gaussian;
        }
        loop {
            let (one, two) = (2.0 * self.next_f64() - 1.0, 2.0 * self.next_f64() - 1.0);
            let square = one * one + two * two;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.next_gaussian = Some(two * factor);
                return one * factor;
            }
        }
    }
}

/// The generator for the bytes of values: a xorshift with signed shifts, reseeded from [`Random`] every 31 numbers.
#[derive(Debug)]
pub(super) struct ByteRandom {
    state: i64,
    drawn: u32,
}

impl ByteRandom {
    const SEEDED_EVERY: u32 = 32;

    pub fn new(seed: i64) -> ByteRandom {
        ByteRandom { state: Random::new(seed).next_i64(), drawn: 0 }
    }

    pub fn next(&mut self) -> i64 {
        self.drawn += 1;
        if self.drawn == Self::SEEDED_EVERY {
            *self = ByteRandom::new(self.state);
        }
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(2_685_821_657_736_338_717)
    }

    /// The next `count` bytes, from the lowest byte of each number on.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count.next_multiple_of(8));
        while bytes.len() < count {
            bytes.extend(self.next().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by OpenJDK 17: `new Random(seed)`, then nextLong(), nextDouble() and nextGaussian() twice each.
    #[test]
    fn numbers_are_those_of_the_jdk() {
        for (seed, whole, unit, gaussians) in [
            (0, -4_962_768_465_676_381_896, 0.24053641567148587, [2.080920790428163, 0.7637707684364894]),
            (1, -4_964_420_948_893_066_024, 0.41008081149220166, [-1.0912278829447088, -0.6245401364066232]),
            (-5, 4_967_725_915_334_898_755, 0.33409239863837237, [-0.8282939255209294, -1.4790545268090487]),
            (123_456_789_012, 255_228_109_917_356_495, 0.5246133121787082, [-2.1573478266652293, 0.8539756804275254]),
        ] {
            let mut random = Random::new(seed);
            assert_eq!((random.next_i64(), random.next_f64()), (whole, unit), "{seed}");
            let drawn = [random.next_gaussian(), random.next_gaussian()];
            assert!(drawn.iter().zip(gaussians).all(|(drawn, known)| (drawn - known).abs() < 1e-14), "{drawn:?}");
        }
    }
}
