//! Sets of CPUs, in the kernel's notation: `0-3,8`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// An upper bound for CPU numbers; the kernel's own bound is 8192 (NR_CPUS).
const BOUND: u32 = 1 << 13;
const BITS: u32 = usize::BITS;

/// A set of CPUs of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CpuSet(BTreeSet<u32>);

/// The error of a text that is no list of CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no list of CPUs; write one such as 0-3,8")]
pub struct NoCpuList(String);

impl CpuSet {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    pub fn is_subset(&self, of: &CpuSet) -> bool {
        self.0.is_subset(&of.0)
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    #[must_use]
    pub fn and(&self, other: &CpuSet) -> CpuSet {
        CpuSet(&self.0 & &other.0)
    }

    #[must_use]
    pub fn without(&self, other: &CpuSet) -> CpuSet {
        CpuSet(&self.0 - &other.0)
    }

    /// The mask for system calls: a bit for each CPU, from the lowest.
    pub(super) fn mask(&self) -> Vec<usize> {
        let mut mask = vec![0; self.0.last().map_or(1, |last| (last / BITS + 1) as usize)];
        for cpu in &self.0 {
            mask[(cpu / BITS) as usize] |= 1 << (cpu % BITS);
        }
        mask
    }

    pub(super) fn from_mask(mask: &[usize]) -> CpuSet {
        let bits = |(word, start): (&usize, u32)| {
            let word = *word;
            (0..BITS).filter(move |bit| word & (1 << bit) != 0).map(move |bit| start + bit)
        };
        let words = mask.iter().zip((0..).step_by(BITS as usize)).filter(|(word, _)| **word != 0);
        CpuSet(words.flat_map(bits).collect())
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<T: IntoIterator<Item = u32>>(cpus: T) -> CpuSet {
        CpuSet(cpus.into_iter().collect())
    }
}

impl FromStr for CpuSet {
    type Err = NoCpuList;

    /// An empty text is an empty set.
    fn from_str(text: &str) -> Result<CpuSet, NoCpuList> {
        let wrong = || NoCpuList(text.trim().to_string());
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|cpu| *cpu < BOUND).ok_or_else(wrong);
        let mut cpus = BTreeSet::new();
        for part in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(wrong());
            }
            cpus.extend(first..=last);
        }
        Ok(CpuSet(cpus))
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.0.iter().copied().peekable();
        let mut first_range = true;
        while let Some(first) = cpus.next() {
            let mut last = first;
            while cpus.next_if_eq(&(last + 1)).is_some() {
                last += 1;
            }
            let comma = if std::mem::take(&mut first_range) { "" } else { "," };
            match last - first {
                0 => write!(formatter, "{comma}{first}")?,
                _ => write!(formatter, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl TryFrom<String> for CpuSet {
    type Error = NoCpuList;

    fn try_from(text: String) -> Result<CpuSet, NoCpuList> {
        text.parse()
    }
}

impl From<CpuSet> for String {
    fn from(cpus: CpuSet) -> String {
        cpus.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        let read = |text: &str| text.parse::<CpuSet>().map(|cpus| cpus.iter().collect::<Vec<_>>());
        assert_eq!(read("0-2,8\n"), Ok(vec![0, 1, 2, 8]));
        assert_eq!(read(""), Ok(vec![]));
        for wrong in ["3-1", "a", "1,,2", "0-", "-1", "99999", "0-3:1/2"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(cpus in proptest::collection::btree_set(0_u32..300, 0..40)) {
            let set: CpuSet = cpus.iter().copied().collect();
            prop_assert_eq!(set.to_string().parse::<CpuSet>(), Ok(set.clone()));
            prop_assert_eq!(CpuSet::from_mask(&set.mask()), set);
        }

        #[test]
        fn no_text_can_make_it_panic(text: String) {
            let _ = text.parse::<CpuSet>();
        }
    }
}
