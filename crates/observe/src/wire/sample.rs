//! The connections that are followed: all, or those from some client ports.
//!
//! A connection is followed from its first packet to its last, or not at all, since requests could not be paired
//! otherwise. The same ports are chosen here and by the filter in the kernel.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How often the connections are to be halved at least; a budget for the whole recorder changes it while they are followed.
#[derive(Debug, Clone, Default)]
pub struct Halvings(Arc<AtomicU32>);

impl Halvings {
    pub(crate) fn set(&self, halvings: u32) {
        self.0.store(halvings, Ordering::Relaxed);
    }

    pub(crate) fn wanted(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Two are the same if they have the same number now and later.
impl PartialEq for Halvings {
    fn eq(&self, other: &Halvings) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Halvings {}

/// A share of all client ports: a power of one half.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// How many times the number of followed connections was halved.
    pub(super) level: u32,
    /// Selects which ports are followed.
    pub(super) salt: u16,
}

/// Multiplicative hashing: Knuth, The Art of Computer Programming, volume 3, section 6.4.
pub(super) const FACTOR: u32 = 0x9E37_79B1;
/// The most halvings: at least about one in a thousand connections is followed.
pub(super) const MOST_HALVINGS: u32 = 10;

impl Sample {
    pub(super) fn follows(self, port: u16) -> bool {
        self.level == 0 || u32::from(port ^ self.salt).wrapping_mul(FACTOR) >> (32 - self.level) == 0
    }

    pub(super) fn one_in(self) -> u32 {
        1 << self.level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_sample_is_a_part_of_the_larger() {
        for salt in [0, 4711] {
            let ports = |level| (1024..=u16::MAX).filter(move |port| Sample { level, salt }.follows(*port));
            assert_eq!(ports(0).count(), 64_512);
            for level in 1..=MOST_HALVINGS {
                let share = ports(level).count() as f64 / 64_512.0 * f64::from(1 << level);
                assert!((0.8..1.2).contains(&share), "{level}: {share}");
                assert!(ports(level).all(|port| Sample { level: level - 1, salt }.follows(port)));
            }
        }
    }
}
