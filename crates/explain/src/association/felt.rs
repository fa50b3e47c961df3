//! How long a cause is felt, and whether it can account for a request.

use super::slow_request::SlowRequest;
use crate::timeline::{Bursts, Interval};

/// How a cause slows requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Nothing runs meanwhile (a pause, a stall). A request is held by it from its arrival to the end, and those that
    /// come while the backlog drains suffer, too.
    Stop,
    /// Things are slower meanwhile (a busy CPU, a queue): no more than the overlap counts.
    Condition,
}

/// A time of a cause, and until when requests suffer from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Felt {
    pub(crate) interval: Interval,
    /// Its end, or for a stop the end of the backlog that it left.
    pub(crate) until: i64,
    /// The latest `until` of this and those before: ascending, so that it can be searched.
    furthest: i64,
}

/// The times of a merged set within a stretch, with how long they are felt.
pub(crate) fn felt(cause: &[Interval], bursts: &Bursts, nature: Nature) -> Vec<Felt> {
    let mut furthest = i64::MIN;
    cause
        .iter()
        .map(|interval| {
            let until = match nature {
                Nature::Stop => bursts.drained_at(*interval),
                Nature::Condition => interval.end,
            };
            furthest = furthest.max(until);
            Felt { interval: *interval, until, furthest }
        })
        .collect()
}

/// The first that may be felt at a time or later; goes on from `from`, for times that ascend.
pub(super) fn first_felt(felt: &[Felt], from: usize, time: i64) -> usize {
    let mut first = from;
    while felt.get(first).is_some_and(|felt| felt.furthest <= time) {
        first += 1;
    }
    first
}

/// Whether a request met any of them at all; `first` is what [`first_felt`] gave for its start.
pub(super) fn meets(felt: &[Felt], first: usize, end: i64) -> bool {
    // It is itself still felt at the start: else an earlier one would have been the first.
    felt.get(first).is_some_and(|felt| felt.interval.start < end)
}

/// How much of a request the cause can account for: for stops the whole length of each that it felt (a request that
/// comes while the backlog drains waits up to that, though it never met the stop itself), for conditions the overlap.
pub(crate) fn accountable_ns(felt: &[Felt], request: &SlowRequest, nature: Nature) -> i64 {
    let first = felt.partition_point(|felt| felt.furthest <= request.start);
    accountable_from(felt, first, request, nature)
}

/// Which of them a request felt, by their places.
pub(crate) fn felt_by<'a>(felt: &'a [Felt], request: &SlowRequest) -> impl Iterator<Item = usize> + 'a {
    let (start, end) = (request.start, request.end);
    let first = felt.partition_point(|felt| felt.furthest <= start);
    (first..felt.len())
        .take_while(move |index| felt[*index].interval.start < end)
        .filter(move |index| felt[*index].until > start)
}

pub(super) fn accountable_from(felt: &[Felt], first: usize, request: &SlowRequest, nature: Nature) -> i64 {
    let part = |felt: &Felt| match nature {
        Nature::Stop => felt.interval.length(),
        Nature::Condition => Interval { start: request.start, end: request.end }.clip(felt.interval).length(),
    };
    felt[first.min(felt.len())..]
        .iter()
        .take_while(|felt| felt.interval.start < request.end)
        .filter(|felt| felt.until > request.start)
        .map(part)
        .sum()
}

/// A pause of 10 ms does not account for a request that took a second, although they overlap: a cause must be able to
/// explain at least half of what the request took longer than the median.
pub(crate) fn accounts_for(accountable_ns: i64, request: &SlowRequest) -> bool {
    accountable_ns > 0 && accountable_ns.saturating_mul(2) >= request.excess_ns
}
