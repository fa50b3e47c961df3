//! Attributes each slow request to exactly one thing, so that shares add up and no two findings claim the same request.
//!
//! 1. The wire before statistics. If the wire shows that a request spent most of its time in the node, no stall of the
//!    driver is counted for the request. If the request spent most of its time on the way to or from the node, nothing
//!    that happened in the node is counted for it.
//! 2. Requests of a kind of work that is slow by itself, such as the statement that reads a large partition, are counted for
//!    that kind if at least half of their time is usual for it. Causes have to explain what they took beyond that.
//! 3. Stops before conditions: while nothing runs it does not matter how busy the machine is.
//! 4. Among several stops, the one that held the request up for the longest time (all pauses of a kind together).
//! 5. The client's stall goes before a longer stop if the stall took at least half as long: a request that the driver
//!    itself held up says nothing about the server, and the shares of both are in the evidence. A client that merely
//!    stutters while the server collects garbage (on one machine they share the CPUs) does not clear the server.
//! 6. Among several conditions, the one nearer to the origin: a compaction goes before the busy CPU that it makes, and the
//!    busy CPU before the queue that forms.
//! 7. Requests that no cause explains are counted for a value that slow requests have in common, such as their statement.
//! 8. The remaining requests are counted for the overload if they were due in overloaded phases. They are counted for a
//!    slow disk (if the median itself is slow), busy CPUs, or a full thread pool, if they were due in phases in which
//!    these lasted throughout. Requests that the wire shows on the way between driver and node are counted for that way.
//!    None of these can be tested against chance.
//! 9. The others are not explained.
//!
//! Only causes that chance does not explain take part, and only for requests for which they can account (see
//! `association`): at least half of what the request took longer than the median. That a request was under way while the
//! driver stood still is direct evidence, which needs no test. So is a stop of its node of a second or more, or one in which the
//! kernel showed the node as stopped: few stops cannot be told from chance by shifting them in a short recording.

use super::cause::{Blamed, Cause};
use super::common::Common;
use super::kind::CauseKind;
use super::pools::{FullPool, Pools};
use super::stops::{Stop, Stops};
use crate::association::{
    Effect, Judged, Length, Nature, Place, SlowRequest, Stretch, accountable_ns, accounts_for, affecting, effects,
};
use crate::percentiles::median;
use crate::timeline::{Interval, covered_ns, merge, within};
use std::collections::{BTreeMap, BTreeSet};

/// If at least this share of the slow requests was due in phases with busy CPUs, the findings mention it.
const BUSY_PHASES_SHARE: f64 = 0.25;
/// If at least this share of the slow requests was between driver and node, that explains them.
const BETWEEN_SHARE: f64 = 0.25;
/// Linux's TCP_RTO_MIN: a lost segment that is retransmitted after a timeout is delayed by at least this.
const RETRANSMITTED_AFTER_NS: i64 = 200_000_000;
/// A request that was sent at most this long before the end of a stall of the driver may belong to the burst that
/// follows the stall.
const SENT_AFTER_NS: i64 = 2_000_000;

/// The slow requests that are not attributed to a cause.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Account {
    /// Requests due in overloaded phases, which are judged only if there are no other phases.
    pub(crate) overload: Counted,
    /// Due in phases whose CPUs were busy for most of the time.
    pub(crate) busy_phases: Counted,
    /// Due in phases in which a disk was slow for most of the time, if the median itself is slow.
    pub(crate) slow_disk: Counted,
    /// Due in phases in which all threads of a pool were at work for most of the time.
    pub(crate) full_pool: Counted,
    /// The full pool of the phase with the most of these requests.
    pub(crate) pool: Option<FullPool>,
    /// Requests that were between driver and node for most of their time.
    pub(crate) between: Counted,
    /// Requests with a property that slow requests share beyond chance.
    pub(crate) common: Counted,
    pub(crate) unexplained: Counted,
    /// Requests without a cause that were on the way to or from the node for most of their time, as a share of the slow
    /// requests. They are part of `between`, or else of `unexplained`.
    pub(crate) between_share: f64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Counted {
    /// The requests as a share of all slow requests.
    pub(crate) share: f64,
    /// Median response time of these requests.
    pub(crate) median_ns: Option<i64>,
}

impl Counted {
    fn of(mut responses: Vec<i64>, slow: usize) -> Counted {
        let share = if slow > 0 { responses.len() as f64 / slow as f64 } else { 0.0 };
        Counted { share, median_ns: median(&mut responses) }
    }
}

/// Conditions that can last throughout a phase. The phase then has no requests to compare with.
#[derive(Clone, Copy)]
pub(super) struct Throughout<'a> {
    pub(super) busy: &'a [Interval],
    pub(super) slow_disk: &'a [Interval],
    pub(super) pools: &'a Pools,
}

/// The requests attributed to one cause so far, and the stops that delayed them.
#[derive(Default)]
struct Taken {
    responses: Vec<i64>,
    window: Option<Interval>,
    /// Indices of the stops of the cause.
    stops: BTreeSet<usize>,
    by_node: BTreeMap<String, usize>,
}

/// Attributes each slow request to one of the causes, or to one of the kinds in [`Account`].
pub(super) fn attribute(
    judged: &Judged,
    stops: &Stops,
    causes: &mut [Cause],
    throughout: Throughout<'_>,
    judges_overload: bool,
    common: &Common,
) -> Account {
    let mut taken: Vec<Taken> = causes.iter().map(|_| Taken::default()).collect();
    let (mut rest, mut in_busy_phases, mut in_common) = (Vec::new(), Vec::new(), Vec::new());
    let (mut in_full_pools, mut full_pool, mut between) = (Vec::new(), None, Vec::new());
    let mut in_slow_disk = Vec::new();
    let lasts =
        |times: &[Interval], stretch: &Stretch| covered_ns(times, stretch.window) * 2 >= stretch.window.length();
    let certain: Vec<Vec<&Stop>> =
        causes.iter().map(|cause| stops.of(cause.kind).iter().filter(|stop| stop.is_certain()).collect()).collect();
    let rows = &judged.all().rows;
    for stretch in &judged.stretches {
        let mostly_busy = lasts(throughout.busy, stretch);
        let is_slow_disk = judged.is_slow_throughout() && lasts(throughout.slow_disk, stretch);
        let pool = throughout.pools.full_throughout(stretch.window);
        let effects: Vec<Vec<Effect>> = causes.iter().map(|cause| affecting_in(cause, stretch)).collect();
        let single: Vec<Single<'_>> = causes.iter().map(|cause| Single::of(cause, stops, stretch)).collect();
        for request in &stretch.slow {
            let accountable: Vec<i64> = causes
                .iter()
                .zip(&effects)
                .map(|(cause, effects)| match (cause.kind, accountable_to(cause, effects, request)) {
                    (CauseKind::PoolQueue, ns) => throughout.pools.waited_ns(request, ns),
                    (_, ns) => ns,
                })
                .zip(&certain)
                .map(|(ns, certain)| match ns {
                    0 => in_certain_stops(certain, request, judged.node(request.node)),
                    ns => ns,
                })
                .map(|ns| if accounts_for(ns, request) { ns } else { 0 })
                .collect();
            match choose(causes, &accountable) {
                None if request.length == Length::Usual && !judges_overload => in_common.push(request),
                Some(index) => taken[index].take(request, &single[index], judged.node(request.node)),
                None if !judges_overload && common.has(&rows[request.row]) => in_common.push(request),
                None if is_slow_disk && !judges_overload && request.place != Some(Place::Between) => {
                    in_slow_disk.push(request)
                }
                None if mostly_busy && !judges_overload => in_busy_phases.push(request),
                None if pool.is_some() && !judges_overload => in_full_pools.push(request),
                None if request.place == Some(Place::Between) && !judges_overload => between.push(request),
                None => rest.push(request),
            }
        }
        full_pool = full_pool.or(pool);
    }
    let slow = judged.slow_requests();
    for (cause, taken) in causes.iter_mut().zip(taken) {
        taken.settle(cause, stops, slow);
    }
    let share = |requests: usize| if slow > 0 { requests as f64 / slow as f64 } else { 0.0 };
    let counted =
        |requests: &[&SlowRequest]| Counted::of(requests.iter().map(|request| request.response_ns).collect(), slow);
    if judges_overload {
        return Account { overload: counted(&rest), ..Account::default() };
    }
    let is_of_cpus = |cause: &&Cause| matches!(cause.kind, CauseKind::CpuWait | CauseKind::CpuSaturation);
    let of_cpus: f64 = causes.iter().filter(is_of_cpus).map(|cause| cause.attributed_share).sum();
    if of_cpus + share(in_busy_phases.len()) < BUSY_PHASES_SHARE {
        rest.append(&mut in_busy_phases);
    }
    if share(in_slow_disk.len()) < BUSY_PHASES_SHARE {
        rest.append(&mut in_slow_disk);
    }
    if share(in_full_pools.len()) < BUSY_PHASES_SHARE {
        rest.append(&mut in_full_pools);
    }
    let unexplained_between = between.len();
    if share(between.len()) < BETWEEN_SHARE {
        rest.append(&mut between);
    }
    Account {
        overload: Counted::default(),
        slow_disk: counted(&in_slow_disk),
        busy_phases: counted(&in_busy_phases),
        full_pool: counted(&in_full_pools),
        pool: full_pool,
        between: counted(&between),
        common: counted(&in_common),
        between_share: share(unexplained_between),
        unexplained: counted(&rest),
    }
}

/// How much of a request's time a cause can account for, given where the wire shows that the request was.
fn accountable_to(cause: &Cause, effects: &[Effect], request: &SlowRequest) -> i64 {
    let is_client = cause.kind == CauseKind::ClientStall;
    let all = || accountable_ns(effects, request, cause.kind.nature());
    match cause.kind {
        // Work that is slow by itself keeps CPUs busy, in the node and in the client, so busy CPUs are no cause of its
        // slowness.
        CauseKind::CpuSaturation if request.length != Length::Unusual => return 0,
        CauseKind::Retransmission if request.excess_ns < RETRANSMITTED_AFTER_NS => return 0,
        _ => {}
    }
    match request.place {
        // A stall of the driver does not slow down the node, except by the burst that follows it.
        Some(Place::Node) if is_client && cause.is_significant() => affecting(effects, request)
            .map(|index| effects[index].interval)
            .filter(|stall| stall.end <= request.sent.saturating_add(SENT_AFTER_NS))
            .map(|stall| stall.length())
            .sum(),
        Some(Place::Between) if is_client => all(),
        // These causes can hold up the driver or the network; all others act in the node.
        Some(Place::Between)
            if !matches!(cause.kind, CauseKind::CpuSaturation | CauseKind::CpuWait | CauseKind::Retransmission) =>
        {
            0
        }
        _ if cause.is_significant() => all(),
        // Throttling needs no test, because no thread of the node runs beyond its quota. A quota may be exhausted in
        // every period, which leaves nothing to compare with.
        _ if cause.kind == CauseKind::Throttling => accountable_ns(effects, request, Nature::Condition),
        _ => 0,
    }
}

/// How long the request's own node stood still in stops of one kind that need no test, while the request was under way.
fn in_certain_stops(certain: &[&Stop], request: &SlowRequest, node: &str) -> i64 {
    if certain.is_empty() || request.place == Some(Place::Between) {
        return 0;
    }
    let of_node = certain.iter().filter(|stop| stop.node == node).map(|stop| stop.window);
    covered_ns(&merge(of_node.collect()), Interval { start: request.sent, end: request.end })
}

/// The index of the cause that a request is attributed to. `accountable` holds how much of the request each cause can
/// account for, 0 for too little.
fn choose(causes: &[Cause], accountable: &[i64]) -> Option<usize> {
    let met = || causes.iter().zip(accountable).enumerate().filter(|(_, (_, ns))| **ns > 0);
    let stops = || met().filter(|(_, (cause, _))| cause.kind.nature() == Nature::Stop);
    let client = stops().find(|(_, (cause, _))| cause.kind == CauseKind::ClientStall);
    let server = stops()
        .filter(|(_, (cause, _))| cause.kind != CauseKind::ClientStall)
        // Of equal causes, take the first.
        .reduce(|longest, next| if next.1.1 > longest.1.1 { next } else { longest });
    let stop = match (client, server) {
        (Some(client), Some(server)) => Some(if *client.1.1 >= *server.1.1 / 2 { client } else { server }),
        (client, server) => client.or(server),
    };
    stop.or_else(|| met().next()).map(|(index, _)| index)
}

fn affecting_in(cause: &Cause, stretch: &Stretch) -> Vec<Effect> {
    if !cause.is_significant() && !matches!(cause.kind, CauseKind::ClientStall | CauseKind::Throttling) {
        return Vec::new();
    }
    effects(&within(&cause.times, stretch.window), &stretch.bursts, cause.kind.nature())
}

/// The individual stops of a cause in a stretch. The cause itself has only their merged times.
struct Single<'a> {
    stops: &'a [Stop],
    /// Indices in `stops`, with the effect of each stop.
    places: Vec<usize>,
    effects: Vec<Effect>,
}

impl<'a> Single<'a> {
    fn of(cause: &Cause, stops: &'a Stops, stretch: &Stretch) -> Single<'a> {
        let stops = stops.of(cause.kind);
        let places: Vec<usize> =
            (0..stops.len()).filter(|place| stops[*place].window.overlaps(stretch.window)).collect();
        let windows: Vec<Interval> = places.iter().map(|place| stops[*place].window.clip(stretch.window)).collect();
        Single { stops, effects: effects(&windows, &stretch.bursts, Nature::Stop), places }
    }

    /// The node whose stops delayed a request, and the fewest stops that explain the delay. The request's coordinator
    /// is preferred if it stopped for at least half as long as any other node, because other nodes may not have served
    /// the request.
    fn blame(&self, request: &SlowRequest, coordinator: &str) -> Option<(&'a str, Vec<usize>)> {
        let mut by_node: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for effect in affecting(&self.effects, request) {
            let place = self.places[effect];
            by_node.entry(self.stops[place].node.as_str()).or_default().push(place);
        }
        let length = |places: &[usize]| places.iter().map(|place| self.stops[*place].window.length()).sum::<i64>();
        let (longest, _) = by_node.iter().max_by_key(|(_, places)| length(places))?;
        let own = by_node.get_key_value(coordinator).filter(|(_, own)| length(own) * 2 >= length(&by_node[longest]));
        let node = own.map_or(*longest, |(node, _)| *node);
        let mut places = by_node.remove(node)?;
        places.sort_by_key(|place| std::cmp::Reverse(self.stops[*place].window.length()));
        let mut accounted = 0;
        places.retain(|place| {
            let is_needed = !accounts_for(accounted, request);
            accounted += self.stops[*place].window.length();
            is_needed
        });
        Some((node, places))
    }
}

impl Taken {
    fn take(&mut self, request: &SlowRequest, single: &Single<'_>, coordinator: &str) {
        self.responses.push(request.response_ns);
        let so_far = self.window.unwrap_or(Interval { start: request.start, end: request.end });
        self.window = Some(Interval { start: so_far.start.min(request.start), end: so_far.end.max(request.end) });
        if let Some((node, places)) = single.blame(request, coordinator) {
            *self.by_node.entry(node.to_string()).or_default() += 1;
            self.stops.extend(places);
        }
    }

    fn settle(mut self, cause: &mut Cause, stops: &Stops, slow: usize) {
        cause.attributed = self.responses.len();
        cause.attributed_share = if slow > 0 { self.responses.len() as f64 / slow as f64 } else { 0.0 };
        cause.attributed_median_ns = median(&mut self.responses);
        cause.attributed_window = self.window;
        let mut nodes: Vec<(String, usize)> = self.by_node.into_iter().collect();
        nodes.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
        let all = stops.of(cause.kind);
        cause.blamed = Blamed {
            stops: self.stops.into_iter().map(|place| all[place].clone()).collect(),
            nodes: nodes.into_iter().map(|(node, _)| node).collect(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::association::Association;
    use CauseKind::{ClientStall, CompactionOrFlush, CpuSaturation, GcPause, ServerStall};

    fn chosen(met: &[(CauseKind, i64)]) -> Option<CauseKind> {
        let causes: Vec<Cause> = met.iter().map(|(kind, _)| Cause::new(*kind, Vec::new(), None)).collect();
        let lengths: Vec<i64> = met.iter().map(|(_, length)| *length).collect();
        choose(&causes, &lengths).map(|index| causes[index].kind)
    }

    #[test]
    fn a_request_is_counted_for_one_cause() {
        assert_eq!(chosen(&[(ClientStall, 0), (GcPause, 0)]), None);
        assert_eq!(chosen(&[(ClientStall, 1000), (GcPause, 20)]), Some(ClientStall));
        // A short stall of the client does not clear the server.
        assert_eq!(chosen(&[(ClientStall, 5), (GcPause, 200)]), Some(GcPause));
        assert_eq!(chosen(&[(ClientStall, 100), (GcPause, 200)]), Some(ClientStall));
        assert_eq!(chosen(&[(ClientStall, 0), (GcPause, 20), (ServerStall, 1000)]), Some(ServerStall));
        assert_eq!(chosen(&[(GcPause, 20), (ServerStall, 20)]), Some(GcPause));
        assert_eq!(chosen(&[(GcPause, 20), (CpuSaturation, 900)]), Some(GcPause));
        assert_eq!(chosen(&[(CompactionOrFlush, 20), (CpuSaturation, 900)]), Some(CompactionOrFlush));
    }

    const S: i64 = 1_000_000_000;

    fn stop(start: i64, end: i64, node: &str) -> Stop {
        Stop { window: Interval { start, end }, node: node.into(), label: "watcher".into() }
    }

    fn request(place: Option<Place>) -> SlowRequest {
        SlowRequest {
            start: S / 2,
            sent: S,
            end: 2 * S,
            excess_ns: S,
            length: Length::Unusual,
            response_ns: 3 * S / 2,
            node: 0,
            row: 0,
            place,
        }
    }

    fn blamed(stops: &[Stop], coordinator: &str) -> (String, Vec<usize>) {
        let windows: Vec<Interval> = stops.iter().map(|stop| stop.window).collect();
        let effects = effects(&windows, &crate::timeline::Bursts::default(), Nature::Stop);
        let single = Single { stops, places: (0..stops.len()).collect(), effects };
        let (node, places) = single.blame(&request(None), coordinator).unwrap();
        (node.to_string(), places)
    }

    #[test]
    fn the_node_that_was_stopped_is_blamed_and_no_stop_of_another() {
        let stops = [
            stop(0, S / 10, "a"),
            stop(S / 2, S / 2 + S / 50, "a"),
            stop(S, 2 * S, "b"),
            stop(S + S / 10, S + S / 5, "a"),
            stop(S + S / 2, S + S / 2 + S / 100, "c"),
        ];
        assert_eq!(blamed(&stops, "a"), ("b".to_string(), vec![2]));
        assert_eq!(blamed(&stops, "b"), ("b".to_string(), vec![2]));
        // Both nodes stopped: the coordinator of the request is blamed.
        let both = [stop(S, 2 * S, "b"), stop(S, S + S * 7 / 10, "a")];
        assert_eq!(blamed(&both, "a"), ("a".to_string(), vec![1]));
    }

    #[test]
    fn what_was_measured_of_a_request_goes_before_statistics() {
        let (before, meanwhile) = (Interval { start: S / 4, end: S }, Interval { start: S, end: 2 * S });
        let significant = |kind| Cause::new(kind, Vec::new(), Some(Association::never_by_chance()));
        let counted = |cause: &Cause, times: &[Interval], place| {
            let effects = effects(times, &crate::timeline::Bursts::default(), Nature::Stop);
            accountable_to(cause, &effects, &request(place)) > 0
        };
        // The driver stalled while the node had the request, or before it was sent.
        let client = significant(ClientStall);
        assert!(!counted(&client, &[meanwhile], Some(Place::Node)) && counted(&client, &[before], Some(Place::Node)));
        assert!(counted(&client, &[meanwhile], None) && counted(&client, &[meanwhile], Some(Place::Between)));
        // For requests that were between driver and node, the driver's stalls count without a test, and causes in the
        // node don't count.
        assert!(counted(&Cause::new(ClientStall, Vec::new(), None), &[meanwhile], Some(Place::Between)));
        assert!(!counted(&Cause::new(ClientStall, Vec::new(), None), &[meanwhile], None));
        let gc = significant(GcPause);
        assert!(!counted(&gc, &[meanwhile], Some(Place::Between)) && counted(&gc, &[meanwhile], Some(Place::Node)));
    }
}
