//! Arranges phases one after the other.
//!
//! Consecutive open-loop phases form one segment on one timeline: each begins at the planned end of the one before,
//! whatever is still in flight. A closed loop is a segment of its own and begins with nothing in flight. So an
//! overloaded step is never cut short.

use super::{Offsets, Phase};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Segment {
    Open(OpenLoop),
    /// Position of the phase among all phases.
    Closed(usize),
}

/// Consecutive phases in open loop.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenLoop {
    stretches: Vec<Stretch>,
}

#[derive(Debug, Clone, PartialEq)]
struct Stretch {
    phase: usize,
    start_ns: i64,
    /// Number of its first request in the segment.
    first: u64,
    offsets: Offsets,
}

/// A request of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    /// Position of the request's phase.
    pub phase: usize,
    /// The request's number in the segment.
    pub number: u64,
    /// Its intended start, from the start of the segment.
    pub offset_ns: i64,
}

pub(crate) fn segments(phases: &[Phase]) -> Vec<Segment> {
    let mut segments = Vec::new();
    for (phase, offsets) in phases.iter().map(Offsets::of).enumerate() {
        match (offsets, segments.last_mut()) {
            (None, _) => segments.push(Segment::Closed(phase)),
            (Some(offsets), Some(Segment::Open(open))) => open.push(phase, offsets),
            (Some(offsets), _) => {
                let mut open = OpenLoop { stretches: Vec::new() };
                open.push(phase, offsets);
                segments.push(Segment::Open(open));
            }
        }
    }
    segments
}

impl OpenLoop {
    fn push(&mut self, phase: usize, offsets: Offsets) {
        let first = self.requests();
        let start_ns = self.lasts_ns();
        self.stretches.push(Stretch { phase, start_ns, first, offsets });
    }

    /// Number of requests.
    pub fn requests(&self) -> u64 {
        self.stretches.last().map_or(0, |last| last.first + last.offsets.count())
    }

    pub fn lasts_ns(&self) -> i64 {
        self.stretches.last().map_or(0, |last| last.start_ns + last.offsets.lasts_ns())
    }

    /// Position, start and end of each phase, from the start of the segment.
    pub fn phases(&self) -> impl Iterator<Item = (usize, i64, i64)> {
        let each = |stretch: &Stretch| (stretch.phase, stretch.start_ns, stretch.start_ns + stretch.offsets.lasts_ns());
        self.stretches.iter().map(each)
    }

    /// The requests of one of `shares` equal shares: those whose number modulo `shares` is `share`.
    pub fn share(&self, share: u64, shares: u64) -> impl Iterator<Item = Due> + use<> {
        self.stretches.clone().into_iter().flat_map(move |Stretch { phase, start_ns, first, offsets }| {
            let skipped = (share + shares - first % shares) % shares;
            let numbers = (first + skipped..).step_by(shares as usize);
            let due = move |(number, offset_ns)| Due { phase, number, offset_ns: start_ns + offset_ns };
            numbers.zip(offsets.each(skipped, shares)).map(due)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Until;
    use proptest::prelude::*;
    use std::time::Duration;

    fn lasting(per_s: f64) -> Phase {
        Phase::rate(per_s, Until::Elapsed(Duration::from_secs(1)))
    }

    fn open(phases: &[Phase]) -> OpenLoop {
        match segments(phases).remove(0) {
            Segment::Open(open) => open,
            closed => panic!("{closed:?}"),
        }
    }

    #[test]
    fn open_phases_in_a_row_are_one_timeline_and_a_closed_one_stands_alone() {
        let closed = Phase::in_flight(2, Until::Count(5));
        let phases = [lasting(2.0), lasting(4.0), closed.clone(), closed, lasting(1.0)];
        let kinds: Vec<String> = segments(&phases)
            .iter()
            .map(|segment| match segment {
                Segment::Open(open) => format!("open {:?}", open.phases().collect::<Vec<_>>()),
                Segment::Closed(phase) => format!("closed {phase}"),
            })
            .collect();
        insta::assert_snapshot!(kinds.join("\n"));
    }

    #[test]
    fn the_next_phase_starts_when_the_one_before_was_meant_to_end() {
        let starts: Vec<Due> = open(&[lasting(2.0), lasting(1.0)]).share(0, 1).collect();
        let due = |phase, number, ms: i64| Due { phase, number, offset_ns: ms * 1_000_000 };
        assert_eq!(starts, [due(0, 0, 0), due(0, 1, 500), due(1, 2, 1000)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn shares_are_a_partition(
            rates in prop::collection::vec((1.0f64..500.0, any::<bool>()), 1..5),
            shares in 1u64..5,
        ) {
            let phase = |(per_s, random)| if random { lasting(per_s).poisson(1) } else { lasting(per_s) };
            let phases: Vec<Phase> = rates.into_iter().map(phase).collect();
            let open = open(&phases);
            let mut parts: Vec<Due> = (0..shares).flat_map(|share| open.share(share, shares)).collect();
            parts.sort_by_key(|due| due.number);
            prop_assert_eq!(&parts, &open.share(0, 1).collect::<Vec<_>>());
            prop_assert!(parts.is_sorted_by_key(|due| due.offset_ns));
            prop_assert_eq!(parts.len() as u64, open.requests());
        }
    }
}
