//! How long a cause affects requests, and whether it can account for the length of one.

use super::slow_request::{Length, SlowRequest};
use crate::timeline::{Bursts, Interval};

/// How a cause slows requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Nothing runs meanwhile (a pause, a stall). It delays a request from the request's arrival until the end of the
    /// stop, and also requests that arrive while the backlog drains.
    Stop,
    /// Things are slower meanwhile (a busy CPU, a queue): no more than the overlap counts.
    Condition,
}

/// An interval of a cause, and until when requests are slower for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effect {
    pub(crate) interval: Interval,
    /// Its end, or for a stop the end of the backlog that it left.
    pub(crate) until: i64,
    /// The latest `until` up to this entry: ascending, for a binary search.
    furthest: i64,
}

/// The effect of each interval of a merged set within a stretch.
pub(crate) fn effects(cause: &[Interval], bursts: &Bursts, nature: Nature) -> Vec<Effect> {
    let mut furthest = i64::MIN;
    cause
        .iter()
        .map(|interval| {
            let until = match nature {
                Nature::Stop => bursts.drained_at(*interval),
                Nature::Condition => interval.end,
            };
            furthest = furthest.max(until);
            Effect { interval: *interval, until, furthest }
        })
        .collect()
}

/// Index of the first effect that may last beyond `time`. For ascending times, pass the last result as `from`.
pub(super) fn first_effect(effects: &[Effect], from: usize, time: i64) -> usize {
    let mut first = from;
    while effects.get(first).is_some_and(|effect| effect.furthest <= time) {
        first += 1;
    }
    first
}

/// Whether a request overlaps an effect; `first` is the result of [`first_effect`] for its start.
pub(super) fn meets(effects: &[Effect], first: usize, end: i64) -> bool {
    // The first one lasts beyond the start of the request: only its own start has to be compared.
    effects.get(first).is_some_and(|effect| effect.interval.start < end)
}

/// How much of a request the cause can account for. For a condition this is the overlap. For a stop it is its whole length,
/// because a request that arrives while the backlog drains waits up to that long without overlapping the stop itself.
pub(crate) fn accountable_ns(effects: &[Effect], request: &SlowRequest, nature: Nature) -> i64 {
    let first = effects.partition_point(|effect| effect.furthest <= request.start);
    accountable_from(effects, first, request, nature)
}

/// Indices of the effects that a request met.
pub(crate) fn affecting<'a>(effects: &'a [Effect], request: &SlowRequest) -> impl Iterator<Item = usize> + 'a {
    let (start, end) = (request.start, request.end);
    let first = effects.partition_point(|effect| effect.furthest <= start);
    (first..effects.len())
        .take_while(move |index| effects[*index].interval.start < end)
        .filter(move |index| effects[*index].until > start)
}

pub(super) fn accountable_from(effects: &[Effect], first: usize, request: &SlowRequest, nature: Nature) -> i64 {
    let part = |effect: &Effect| match nature {
        Nature::Stop => effect.interval.length(),
        Nature::Condition => Interval { start: request.start, end: request.end }.clip(effect.interval).length(),
    };
    effects[first.min(effects.len())..]
        .iter()
        .take_while(|effect| effect.interval.start < request.end)
        .filter(|effect| effect.until > request.start)
        .map(part)
        .sum()
}

/// A pause of 10 ms does not account for a request that took a second, although they overlap: a cause must be able to
/// explain at least half of what the request took longer than the median, or than is usual for its kind of work.
pub(crate) fn accounts_for(accountable_ns: i64, request: &SlowRequest) -> bool {
    accountable_ns > 0 && request.length != Length::Usual && accountable_ns.saturating_mul(2) >= request.excess_ns
}
