//! Evaluates conditions on the live figures, second by second.

use super::condition::{Condition, Figure, RequestKind};
use super::traffic::Added;
use super::{Live, LiveWindow, SECOND_NS, parts};
use std::collections::BTreeSet;

/// A second is judged this much later, when the rows of all sources have come.
const LATE_NS: i64 = 3 * SECOND_NS;
/// Seconds further back than this are not judged, because the machine was asleep.
const MISSED_NS: i64 = 60 * SECOND_NS;
/// Collections are judged over this time, because one of them may stop a node for longer than a second.
const GC_OVER_NS: i64 = 10 * SECOND_NS;
/// Thread pools are read about once a second.
const POOLS_WITHIN_NS: i64 = 3 * SECOND_NS;

/// The conditions, with how long each has been true.
#[derive(Debug)]
pub struct Triggers {
    conditions: Vec<(Condition, Option<i64>)>,
    /// All seconds before this one are judged.
    judged_ns: i64,
}

impl Triggers {
    /// Judges seconds from `now_ns` on, in ns since the Unix epoch.
    pub fn new(conditions: Vec<Condition>, now_ns: i64) -> Triggers {
        let judged_ns = now_ns.div_euclid(SECOND_NS).saturating_add(1).saturating_mul(SECOND_NS);
        Triggers { conditions: conditions.into_iter().map(|condition| (condition, None)).collect(), judged_ns }
    }

    /// The tables that the conditions need; pass their rows to [`Live`].
    pub fn tables(&self) -> BTreeSet<&'static str> {
        self.conditions.iter().filter_map(|(condition, _)| condition.table()).collect()
    }

    /// The numbers of the conditions that have been true for long enough at the end of any second that was not judged
    /// before.
    pub fn judge(&mut self, live: &Live, now_ns: i64) -> BTreeSet<usize> {
        let until_ns = now_ns.saturating_sub(LATE_NS);
        if until_ns.saturating_sub(self.judged_ns) > MISSED_NS {
            *self = Triggers::new(self.conditions.drain(..).map(|(condition, _)| condition).collect(), until_ns);
        }
        let mut fired = BTreeSet::new();
        while self.judged_ns.saturating_add(SECOND_NS) <= until_ns {
            let second = LiveWindow::of_all(self.judged_ns, self.judged_ns + SECOND_NS);
            for (number, (condition, since_ns)) in self.conditions.iter_mut().enumerate() {
                let is_true = live.figure(&condition.figure, second).is_some_and(|figure| figure > condition.above);
                *since_ns = is_true.then(|| since_ns.unwrap_or(second.from_ns));
                let lasts_ns = i64::try_from(condition.lasts.as_nanos()).unwrap_or(i64::MAX);
                if since_ns.is_some_and(|since_ns| second.to_ns - since_ns >= lasts_ns) {
                    fired.insert(number);
                }
            }
            self.judged_ns = second.to_ns;
        }
        fired
    }
}

impl Live {
    /// The figure of a second; None without data.
    fn figure(&self, figure: &Figure, second: LiveWindow) -> Option<f64> {
        let bins = || self.within(second).map(|(_, bin)| bin);
        Some(match figure {
            Figure::Latency(quantile, kind) => return self.latency_ms_of(second, *quantile, *kind),
            Figure::Errors => bins().map(|bin| bin.requests.all.sum.errors).sum::<f64>() / self.seconds(second),
            Figure::Timeouts => {
                let outcomes = bins().flat_map(|bin| bin.requests.all.outcomes.iter());
                let is_timeout = |number: u16| self.names.outcomes.name(number).contains("timeout");
                let timeouts = outcomes.filter(|(number, _)| is_timeout(*number)).map(|(_, count)| count);
                timeouts.sum::<f64>() / self.seconds(second)
            }
            Figure::Gc => {
                let over = LiveWindow { from_ns: second.to_ns - GC_OVER_NS, ..second };
                let stopped_ns: i64 = self.within(over).map(|(_, bin)| bin.stopped(None).gc_ns).sum();
                stopped_ns as f64 / GC_OVER_NS as f64
            }
            Figure::Pending(wanted) => {
                let within = LiveWindow { from_ns: second.to_ns - POOLS_WITHIN_NS, ..second };
                let of_bin = |(_, bin): (i64, &super::bin::Bin)| {
                    let pools =
                        bin.pools.iter().filter(|(number, _)| parts(self.names.pools.name(*number)).1 == wanted);
                    pools.map(|(_, pool)| pool.most_pending).max()
                };
                self.within(within).rev().find_map(of_bin)? as f64
            }
            Figure::Log(wanted) => {
                let events = bins().flat_map(|bin| &bin.events);
                events.filter(|event| format!("{} {}", event.kind, event.what).to_lowercase().contains(wanted)).count()
                    as f64
            }
            Figure::Exit => return None,
        })
    }

    /// A quantile of the response times of one kind of requests.
    fn latency_ms_of(&self, window: LiveWindow, quantile: f64, kind: RequestKind) -> Option<f64> {
        let mut added = Added::default();
        for (_, bin) in self.within(window) {
            match kind {
                RequestKind::All => added.add(&bin.requests.all.sum),
                _ => {
                    let statements = bin.requests.all.statements.iter();
                    let wanted = statements.filter(|(number, _)| kind.has(self.names.statements.name(*number)));
                    wanted.for_each(|(_, cell)| added.add(cell));
                }
            }
        }
        added.quantile_ms(quantile)
    }
}
