//! For whom a slow request is counted that met several causes. Each is counted once, so that shares add up.
//!
//! 1. Stops before conditions: while everything stands still it does not matter how busy it was.
//! 2. Of the stops, the one that stood longest while it was felt (all pauses of a kind together).
//! 3. But for the client if it stood at least half as long: a request that the driver itself held up says nothing
//!    about the server, and the shares of both are in the evidence. A client that merely stutters while the server
//!    collects garbage (on one machine they share the CPUs) does not clear the server.
//! 4. Of the conditions the one nearer to the origin: a compaction before the busy CPU that it makes, and that before
//!    the queue that forms.
//!
//! Only causes that chance does not explain take part, and only for requests for which they can account (see
//! `association`): at least half of what the request took longer than the median.

use super::{Cause, CauseKind};
use crate::association::{Felt, Judged, Nature, Stretch, accountable_ns, accounts_for, felt};
use crate::percentiles::median;
use crate::timeline::{Interval, within};

/// What is left over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rest {
    /// Share of the slow requests, those included that met a cause by chance.
    pub(super) share: f64,
    pub(super) median_ns: Option<i64>,
}

pub(super) fn attribute(judged: &Judged, causes: &mut [Cause]) -> Rest {
    let mut taken: Vec<(Vec<i64>, Option<Interval>)> = vec![(Vec::new(), None); causes.len()];
    let mut rest = Vec::new();
    for stretch in &judged.stretches {
        let felt: Vec<Vec<Felt>> = causes.iter().map(|cause| felt_in(cause, stretch)).collect();
        for request in &stretch.slow {
            let accountable: Vec<i64> = causes
                .iter()
                .zip(&felt)
                .map(|(cause, felt)| accountable_ns(felt, request, cause.kind.nature()))
                .map(|ns| if accounts_for(ns, request) { ns } else { 0 })
                .collect();
            match choose(causes, &accountable) {
                Some(index) => {
                    let (responses, window) = &mut taken[index];
                    responses.push(request.response_ns);
                    let so_far = window.unwrap_or(Interval { start: request.start, end: request.end });
                    *window =
                        Some(Interval { start: so_far.start.min(request.start), end: so_far.end.max(request.end) });
                }
                None => rest.push(request.response_ns),
            }
        }
    }
    let slow = judged.slow_requests();
    for (cause, (mut responses, window)) in causes.iter_mut().zip(taken) {
        cause.attributed = responses.len();
        cause.attributed_share = if slow > 0 { responses.len() as f64 / slow as f64 } else { 0.0 };
        cause.attributed_median_ns = median(&mut responses);
        cause.attributed_window = window;
    }
    let accounted: f64 = causes.iter().map(Cause::accounted_share).sum();
    Rest { share: if slow > 0 { (1.0 - accounted).clamp(0.0, 1.0) } else { 0.0 }, median_ns: median(&mut rest) }
}

/// The cause, by index, that a request is counted for; `accountable` is for how much of it each can
/// account, 0 for too little.
fn choose(causes: &[Cause], accountable: &[i64]) -> Option<usize> {
    let met = || causes.iter().zip(accountable).enumerate().filter(|(_, (_, ns))| **ns > 0);
    let stops = || met().filter(|(_, (cause, _))| cause.kind.nature() == Nature::Stop);
    let client = stops().find(|(_, (cause, _))| cause.kind == CauseKind::ClientStall);
    let server = stops()
        .filter(|(_, (cause, _))| cause.kind != CauseKind::ClientStall)
        // The first of equals.
        .reduce(|longest, next| if next.1.1 > longest.1.1 { next } else { longest });
    let stop = match (client, server) {
        (Some(client), Some(server)) => Some(if *client.1.1 >= *server.1.1 / 2 { client } else { server }),
        (client, server) => client.or(server),
    };
    stop.or_else(|| met().next()).map(|(index, _)| index)
}

fn felt_in(cause: &Cause, stretch: &Stretch) -> Vec<Felt> {
    if !cause.is_significant() {
        return Vec::new();
    }
    felt(&within(&cause.times, stretch.window), &stretch.bursts, cause.kind.nature())
}

#[cfg(test)]
mod tests {
    use super::*;
    use CauseKind::{ClientStall, CompactionOrFlush, CpuSaturation, GcPause, ServerStall};

    fn chosen(met: &[(CauseKind, i64)]) -> Option<CauseKind> {
        let causes: Vec<Cause> = met
            .iter()
            .map(|(kind, _)| Cause {
                kind: *kind,
                times: Vec::new(),
                association: None,
                attributed: 0,
                attributed_share: 0.0,
                attributed_median_ns: None,
                attributed_window: None,
            })
            .collect();
        let lengths: Vec<i64> = met.iter().map(|(_, length)| *length).collect();
        choose(&causes, &lengths).map(|index| causes[index].kind)
    }

    #[test]
    fn a_request_is_counted_for_one_cause() {
        assert_eq!(chosen(&[(ClientStall, 0), (GcPause, 0)]), None);
        assert_eq!(chosen(&[(ClientStall, 1000), (GcPause, 20)]), Some(ClientStall));
        // A stutter of the client does not clear the server.
        assert_eq!(chosen(&[(ClientStall, 5), (GcPause, 200)]), Some(GcPause));
        assert_eq!(chosen(&[(ClientStall, 100), (GcPause, 200)]), Some(ClientStall));
        assert_eq!(chosen(&[(ClientStall, 0), (GcPause, 20), (ServerStall, 1000)]), Some(ServerStall));
        assert_eq!(chosen(&[(GcPause, 20), (ServerStall, 20)]), Some(GcPause));
        assert_eq!(chosen(&[(GcPause, 20), (CpuSaturation, 900)]), Some(GcPause));
        assert_eq!(chosen(&[(CompactionOrFlush, 20), (CpuSaturation, 900)]), Some(CompactionOrFlush));
    }
}
