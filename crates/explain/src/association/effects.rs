//! How long a cause affects requests, and whether it can account for the length of a request.

use super::slow_request::{Length, SlowRequest};
use crate::timeline::{Bursts, Interval};

/// How a cause slows requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Nothing runs during a stop (a pause, a stall). A stop delays a request from the request's arrival until the end
    /// of the stop, and also requests that arrive while the backlog drains.
    Stop,
    /// Requests are slower during a condition (a busy CPU, a queue); a condition accounts for no more than its overlap
    /// with the request.
    Condition,
}

/// An interval of a cause, and the time until which requests are slower because of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effect {
    pub(crate) interval: Interval,
    /// The end of the interval; for a stop, the end of the backlog that the stop left.
    pub(crate) until: i64,
    /// The largest `until` of the entries up to this one. It never decreases, so it can be searched.
    furthest: i64,
}

/// The effect of each interval of a merged set of causes within a judged stretch.
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

/// Index of the first effect that may last beyond `time`. For ascending times, pass the previous result as `from`.
pub(super) fn first_effect(effects: &[Effect], from: usize, time: i64) -> usize {
    let mut first = from;
    while effects.get(first).is_some_and(|effect| effect.furthest <= time) {
        first += 1;
    }
    first
}

/// Whether a request overlaps an effect. `first` is the result of [`first_effect`] for the request's start.
pub(super) fn meets(effects: &[Effect], first: usize, end: i64) -> bool {
    // The first effect ends after the request's start, so only the effect's own start has to be compared.
    effects.get(first).is_some_and(|effect| effect.interval.start < end)
}

/// How much of a request the cause can account for. For a condition this is the overlap. For a stop it is its whole length,
/// because a request that arrives while the backlog drains waits up to that long without overlapping the stop itself.
pub(crate) fn accountable_ns(effects: &[Effect], request: &SlowRequest, nature: Nature) -> i64 {
    let first = effects.partition_point(|effect| effect.furthest <= request.start);
    accountable_from(effects, first, request, nature)
}

/// Indices of the effects that a request overlaps.
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

/// A pause of 10 ms does not account for a request that took a second, although they overlap. A cause must be able to
/// explain at least half of the request's excess over the median, or over the usual time of its kind of work.
pub(crate) fn accounts_for(accountable_ns: i64, request: &SlowRequest) -> bool {
    accountable_ns > 0 && request.length != Length::Usual && accountable_ns.saturating_mul(2) >= request.excess_ns
}
