//! Causes of slow requests: when each one acted, and its association with the slow requests.

use super::kind::CauseKind;
use super::machine::Machine;
use super::pools::Pools;
use super::shortage::Shortage;
use super::stops::{Stop, Stops, times};
use crate::association::{Association, Judged};
use crate::options::Options;
use crate::timeline::{Interval, covered_ns};
use serde::Serialize;
use std::collections::BTreeMap;

/// A cause is named only if its p-value is below this and it explains [`EXCESS_BOUND`] more than chance. Twelve causes
/// are tested: with 0.01 each, one of nine runs would name one by chance, were it not for the second bound.
const P_BOUND: f64 = 0.01;
/// A cause whose p-value is below this bound stays a suspect.
const SUSPECT_P_BOUND: f64 = 0.1;
pub(crate) const EXCESS_BOUND: f64 = 0.05;

#[derive(Debug)]
pub(crate) struct Cause {
    pub(crate) kind: CauseKind,
    /// When the cause was present: a merged set.
    pub(crate) times: Vec<Interval>,
    /// None when the cause did not occur in the judged time, or when no request was slow.
    pub(crate) association: Option<Association>,
    /// Number of slow requests that are attributed to this cause alone.
    pub(crate) attributed: usize,
    /// `attributed` as a share of the slow requests.
    pub(crate) attributed_share: f64,
    /// Median response time of the attributed requests, ns.
    pub(crate) attributed_median_ns: Option<i64>,
    /// The interval from the first attributed request to the last.
    pub(crate) attributed_window: Option<Interval>,
    /// The stops that delayed these requests; empty for a condition.
    pub(crate) blamed: Blamed,
}

/// The stops that delayed the requests attributed to a cause, without other stops.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blamed {
    pub(crate) stops: Vec<Stop>,
    /// The nodes that stopped; the one that delayed the most requests comes first.
    pub(crate) nodes: Vec<String>,
}

/// The verdict on a cause. All texts about the cause follow from it, so that findings agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Slow requests are attributed to the cause.
    Explains,
    /// Slow requests overlap the cause more than by chance, but something else delayed each of them more.
    Outweighed,
    /// Slow requests overlap the cause more than by chance, but too few to attribute any.
    Slight,
    /// The cause occurred too seldom to tell it from chance.
    Suspect,
    /// Chance explains the whole overlap.
    Cleared,
    /// The cause did not occur.
    Absent,
}

impl Cause {
    pub(super) fn new(kind: CauseKind, times: Vec<Interval>, association: Option<Association>) -> Cause {
        Cause {
            kind,
            times,
            association,
            attributed: 0,
            attributed_share: 0.0,
            attributed_median_ns: None,
            attributed_window: None,
            blamed: Blamed::default(),
        }
    }

    pub(crate) fn all(
        judged: &Judged,
        stops: &Stops,
        machine: &Machine,
        (pools, shortage): (&Pools, &Shortage),
        busy: Vec<Interval>,
        options: &Options,
    ) -> Vec<Cause> {
        [
            (CauseKind::ClientStall, times(&stops.client)),
            (CauseKind::GcPause, times(&stops.gc)),
            (CauseKind::Safepoint, times(&stops.safepoints)),
            (CauseKind::ServerStall, times(&stops.server)),
            (CauseKind::CpuWait, times(&stops.waits)),
            (CauseKind::Throttling, times(&stops.throttled)),
            (CauseKind::CompactionOrFlush, machine.background()),
            (CauseKind::DiskWait, shortage.disk_times()),
            (CauseKind::PageFaults, shortage.fault_times()),
            (CauseKind::Retransmission, shortage.retransmission_times()),
            (CauseKind::CpuSaturation, busy),
            (CauseKind::PoolQueue, pools.queues()),
        ]
        .into_iter()
        .map(|(kind, times)| {
            let association = Association::test(judged, &times, kind.nature(), options.shifts, options.seed);
            Cause::new(kind, times, association)
        })
        .collect()
    }

    /// Whether slow requests overlap the cause more often than expected by chance.
    pub(crate) fn is_significant(&self) -> bool {
        self.goes_together(P_BOUND)
    }

    /// Whether it may be a cause, but occurred too seldom to exclude coincidence.
    pub(crate) fn is_suspect(&self) -> bool {
        !self.is_significant() && self.goes_together(SUSPECT_P_BOUND)
    }

    pub(crate) fn standing(&self) -> Standing {
        match &self.association {
            _ if self.attributed > 0 => Standing::Explains,
            None => Standing::Absent,
            Some(_) if self.is_significant() => Standing::Outweighed,
            Some(_) if self.is_suspect() => Standing::Suspect,
            Some(association) if association.p_value < P_BOUND => Standing::Slight,
            Some(_) => Standing::Cleared,
        }
    }

    /// The part of `attributed_share` that is expected by chance: of the requests that the cause could explain, the
    /// expected share is the same for attributed and other ones.
    pub(crate) fn attributed_chance_share(&self) -> f64 {
        let by_chance = |association: &Association| {
            if association.share > 0.0 { (association.chance_share / association.share).min(1.0) } else { 0.0 }
        };
        self.attributed_share * self.association.as_ref().map_or(0.0, by_chance)
    }

    fn goes_together(&self, p_bound: f64) -> bool {
        self.association
            .as_ref()
            .is_some_and(|association| association.p_value < p_bound && association.excess_share() >= EXCESS_BOUND)
    }

    /// Share of the slow requests that the cause accounts for, less the share expected by chance.
    pub(crate) fn accounted_share(&self) -> f64 {
        match &self.association {
            Some(association) if self.is_significant() => self.attributed_share * association.credit(),
            // The wire measured this share directly, so none of it is chance.
            _ => self.attributed_share,
        }
    }

    /// Share of the judged time in which the cause was present.
    pub(crate) fn judged_time_share(&self, judged: &Judged) -> f64 {
        let covered: i64 = judged.stretches.iter().map(|stretch| covered_ns(&self.times, stretch.window)).sum();
        if judged.length_ns() > 0 { covered as f64 / judged.length_ns() as f64 } else { 0.0 }
    }
}

/// Count and lengths of the cause's stops in the judged time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct StopTotals {
    pub(crate) stops: usize,
    pub(crate) total_ms: f64,
    pub(crate) longest_ms: f64,
    /// The node that was stopped for the longest time in total.
    pub(crate) node: String,
    pub(crate) nodes: usize,
    /// Milliseconds by label, such as a collector with the cause of its collections.
    pub(crate) ms_by_label: BTreeMap<String, f64>,
}

impl StopTotals {
    pub(crate) fn of<'a>(stops: impl IntoIterator<Item = &'a Stop>, judged: &Judged) -> StopTotals {
        let mut totals = StopTotals::default();
        let mut by_node: BTreeMap<&str, f64> = BTreeMap::new();
        let inside = |stop: &&Stop| judged.stretches.iter().any(|stretch| stretch.window.overlaps(stop.window));
        for stop in stops.into_iter().filter(inside) {
            let ms = stop.window.length() as f64 / 1e6;
            totals.stops += 1;
            totals.total_ms += ms;
            totals.longest_ms = totals.longest_ms.max(ms);
            *by_node.entry(&stop.node).or_default() += ms;
            *totals.ms_by_label.entry(stop.label.clone()).or_default() += ms;
        }
        totals.nodes = by_node.len();
        totals.node = by_node
            .into_iter()
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(node, _)| node.to_string())
            .unwrap_or_default();
        totals
    }
}
