//! Do slow requests meet a cause more often than expected by chance?
//!
//! The timeline of the cause is shifted circularly by random offsets, and each time the same figures are computed
//! as for the true timeline. Requests that one pause held up together, and causes that cluster, stay together,
//! because the timeline moves as a whole: one pause is one piece of evidence, however many requests it hit. Each judged
//! stretch (a phase of the load) is shifted by its own offset, so that a high rate, which has both more
//! pauses and slower requests, does not pass for a connection between the two.
//!
//! p = (1 + shifts that explain at least as much) / (1 + shifts): Phipson and Smyth, Permutation p-values should never
//! be zero, 2010. It is valid for any figure; the figure here is *explained time*, because it is sharp. The mere number
//! of overlapping requests hardly changes when a pause of 1 s is moved by 0.5 s. A condition that lasts for long, in one or a
//! few episodes, can be moved without explaining less; `episode` has the test for it.

mod effects;
mod episode;
mod judged;
mod slow_request;

pub(crate) use effects::{Effect, Nature, accountable_ns, accounts_for, affecting, effects};
pub(crate) use judged::{Judged, Stretch};
pub(crate) use slow_request::{Length, Place, SlowRequest};

use crate::random::Random;
use crate::timeline::{Bursts, Interval, shift_circularly};
use serde::Serialize;

/// Times of a stop are known to about a millisecond (GC notifications are): a request that ended this much before the
/// stop's end was still held by it.
const EDGE_NS: i64 = 2_000_000;

/// If there are more slow requests than this, they are thinned out evenly before shifting, to bound the time it takes. A
/// share by chance is then known to 0.7 percentage points (one standard error).
const MOST_SHIFTED: usize = 5_000;

/// How a cause and the slow requests go together. Shares are of the slow requests, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Association {
    pub slow_requests: usize,
    /// Share for which the cause can account: it explains at least half of their excess over the median.
    pub share: f64,
    /// The same share when the cause is shifted to other times: the mean over the shifts.
    pub chance_share: f64,
    /// Share that overlapped the cause, or arrived while its backlog drained, however short the overlap was.
    pub overlap_share: f64,
    /// Share of the requests that were not slow that overlapped the cause.
    pub others_share: f64,
    /// `overlap_share` / `others_share`; None when no other request overlapped the cause.
    pub lift: Option<f64>,
    /// Share of the slow requests' time above the median that lies within the cause.
    pub time_share: f64,
    pub chance_time_share: f64,
    /// How often chance alone explains at least as much time. For conditions in few episodes it is the smaller p-value
    /// of two tests, doubled.
    pub p_value: f64,
    pub shifts: usize,
}

impl Association {
    #[cfg(test)]
    pub(crate) fn never_by_chance() -> Association {
        Association {
            slow_requests: 1,
            share: 1.0,
            chance_share: 0.0,
            overlap_share: 1.0,
            others_share: 0.0,
            lift: None,
            time_share: 1.0,
            chance_time_share: 0.0,
            p_value: 0.0005,
            shifts: 2000,
        }
    }

    /// The share of slow requests that overlap the cause, less the share expected by chance.
    pub fn excess_share(&self) -> f64 {
        (self.share - self.chance_share).max(0.0)
    }

    /// The part of the requests with this cause that is no coincidence. With x the share that the cause is responsible
    /// for, the rest meets the cause by chance: share = x + (1 − x) · chance.
    pub(crate) fn credit(&self) -> f64 {
        if self.share > self.chance_share { self.excess_share() / (1.0 - self.chance_share) / self.share } else { 0.0 }
    }

    /// Tests a merged set of causes against the judged requests. None without slow requests or without a cause in the
    /// judged time.
    pub(crate) fn test(
        judged: &Judged,
        cause: &[Interval],
        nature: Nature,
        shifts: usize,
        seed: u64,
    ) -> Option<Association> {
        let slow_requests = judged.slow_requests();
        let thin = slow_requests.div_ceil(MOST_SHIFTED).max(1);
        let thinned = |thin: usize| -> Vec<ShiftedStretch> {
            judged.stretches.iter().map(|stretch| ShiftedStretch::new(stretch, cause, thin)).collect()
        };
        let stretches = thinned(thin);
        if slow_requests == 0 || stretches.iter().all(|stretch| stretch.cause.is_empty()) {
            return None;
        }
        let statistics_at = |offset: &mut dyn FnMut(i64) -> i64| {
            let mut all = Statistics::default();
            for stretch in &stretches {
                all += stretch.statistics_at(offset(stretch.window.length()), nature);
            }
            all
        };
        let observed = statistics_at(&mut |_| 0);
        let mut random = Random::new(seed);
        let (mut reached, mut chance) = (0usize, Statistics::default());
        for _ in 0..shifts {
            let shifted = statistics_at(&mut |length| random.below(length));
            reached += usize::from(shifted.explained_ns >= observed.explained_ns);
            chance += shifted;
        }
        let every_one = if thin == 1 { Vec::new() } else { thinned(1) };
        let mut of_all = if thin == 1 { observed } else { Statistics::default() };
        every_one.iter().for_each(|stretch| of_all += stretch.statistics_at(0, nature));
        let tested: usize = stretches.iter().map(|stretch| stretch.slow.len()).sum();
        let excess_ns = |stretches: &[ShiftedStretch]| -> f64 {
            stretches.iter().flat_map(|stretch| &stretch.slow).map(|request| request.excess_ns as f64).sum()
        };
        let smallest = 1.0 / (1 + shifts) as f64;
        let by_shifts = (1 + reached) as f64 * smallest;
        let p_value = match nature {
            // The smaller p-value of two tests is doubled (Bonferroni).
            Nature::Condition => episode::p_value(judged, cause)
                .map_or(by_shifts, |by_episodes| (2.0 * by_shifts.min(by_episodes)).clamp(smallest, 1.0)),
            Nature::Stop => by_shifts,
        };
        let every = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let (mut slow_met, mut others, mut others_met) = (0, 0, 0);
        for stretch in &judged.stretches {
            let met = judged.met(stretch, cause, nature);
            slow_met += met.slow;
            others_met += met.others;
            others += stretch.requests - stretch.slow.len();
        }
        let overlap_share = every(slow_met as f64, slow_requests as f64);
        let others_share = every(others_met as f64, others as f64);
        Some(Association {
            slow_requests,
            share: every(of_all.accounted as f64, slow_requests as f64),
            chance_share: every(chance.accounted as f64, (tested * shifts) as f64),
            overlap_share,
            others_share,
            lift: (others_share > 0.0).then(|| overlap_share / others_share),
            time_share: every(of_all.explained_ns as f64, excess_ns(if thin == 1 { &stretches } else { &every_one })),
            chance_time_share: every(chance.explained_ns as f64, excess_ns(&stretches) * shifts as f64),
            p_value,
            shifts,
        })
    }
}

/// A judged stretch, and the intervals of the cause within it, which are shifted.
struct ShiftedStretch<'a> {
    window: Interval,
    slow: Vec<SlowRequest>,
    bursts: &'a Bursts,
    cause: Vec<Interval>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Statistics {
    accounted: usize,
    explained_ns: i64,
}

impl std::ops::AddAssign for Statistics {
    fn add_assign(&mut self, other: Statistics) {
        self.accounted += other.accounted;
        self.explained_ns = self.explained_ns.saturating_add(other.explained_ns);
    }
}

impl<'a> ShiftedStretch<'a> {
    fn new(stretch: &'a Stretch, cause: &[Interval], thin: usize) -> ShiftedStretch<'a> {
        ShiftedStretch {
            window: stretch.window,
            slow: stretch.slow.iter().step_by(thin).copied().collect(),
            bursts: &stretch.bursts,
            cause: crate::timeline::within(cause, stretch.window),
        }
    }

    /// The statistics with the cause shifted circularly by `offset`: one pass over requests and causes.
    fn statistics_at(&self, offset: i64, nature: Nature) -> Statistics {
        if self.cause.is_empty() || self.slow.is_empty() {
            return Statistics::default();
        }
        let cause = shift_circularly(&self.cause, self.window, offset);
        let effects = effects(&cause, self.bursts, nature);
        let mut statistics = Statistics::default();
        let (mut first, mut first_held) = (0, 0);
        for request in &self.slow {
            first = effects::first_effect(&effects, first, request.start);
            let accountable = effects::accountable_from(&effects, first, request, nature);
            statistics.accounted += usize::from(accounts_for(accountable, request));
            while cause.get(first_held).is_some_and(|cause| cause.end <= request.start) {
                first_held += 1;
            }
            let held: i64 = cause[first_held..]
                .iter()
                .take_while(|cause| cause.start < request.end)
                .map(|cause| held_ns(request, *cause, nature))
                .sum();
            statistics.explained_ns += held.min(request.excess_ns);
        }
        statistics
    }
}

/// How long a cause delayed a request. A stop does not count for a request that ended well before the stop did, because
/// nothing finishes during a stop. This distinguishes the true time of a pause from one a little later, in the drain.
fn held_ns(request: &SlowRequest, cause: Interval, nature: Nature) -> i64 {
    if nature == Nature::Stop && request.end < cause.end - EDGE_NS.min(cause.length() / 2) {
        return 0;
    }
    Interval { start: request.start, end: request.end }.clip(cause).length()
}

#[cfg(test)]
mod tests;
