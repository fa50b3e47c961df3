//! Keeps the cost of recording under a budget: measures what the recorder takes, and records less while that is too much.
//!
//! ```text
//! CPU time of the recorder and the agent ─▶ share of the CPUs ─▶ ladder ─▶ steps taken ─▶ options of the sources
//! ```

mod cost;
mod ladder;
mod steps;

use crate::Watched;
use crate::sources::Options;
use cost::Cost;
use helenus_recording::Recorder;
use helenus_recording::rows::SourceReport;
use ladder::{Ladder, Move};
use std::time::{Duration, Instant};
use steps::Steps;

const SOURCE: &str = "budget";
const PROVIDER: &str = "proc";

const MEASURE_EVERY: Duration = Duration::from_secs(5);

/// The share of the CPUs that a recorder may use, and the steps that it has taken to keep to it.
#[derive(Debug)]
pub struct Budget {
    /// Of the time of the CPUs that the nodes may run on.
    share: f64,
    cost: Cost,
    ladder: Ladder,
    steps: Steps,
    measured: Instant,
    /// Of the last measurement.
    last_share: f64,
    kept: Kept,
}

/// How a budget was kept so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Kept {
    /// Mean share of the CPUs.
    pub share: f64,
    pub lasted: Duration,
    /// Time in which something was left out.
    pub thinned: Duration,
}

/// The result of a measurement that calls for a change.
#[derive(Debug, Clone, PartialEq)]
pub enum BudgetChange {
    /// The sources are to go on with these options.
    Options(Box<Options>),
    /// The recorder costs too much, and nothing is left that could be left out.
    Exhausted,
}

impl Budget {
    /// A budget for sources with these options, as a share of the CPUs that the nodes may run on.
    pub fn new(share: f64, options: &Options) -> Budget {
        let steps = Steps::of(options);
        Budget {
            share,
            cost: Cost::default(),
            ladder: Ladder::new(steps.len()),
            steps,
            measured: Instant::now(),
            last_share: 0.0,
            kept: Kept::default(),
        }
    }

    /// The options to start the sources with.
    pub fn options(&self) -> Options {
        self.steps.options(self.ladder.level())
    }

    /// Measures from now on: attaching is no part of what recording costs.
    pub fn begin(&mut self, watched: &[Watched]) {
        self.cost = Cost::begin(watched);
        self.measured = Instant::now();
    }

    pub fn is_due(&self) -> bool {
        self.measured.elapsed() >= MEASURE_EVERY
    }

    /// Measures the cost since the last call, records it, and returns what to change.
    pub fn measure(&mut self, recorder: &Recorder, watched: &[Watched]) -> Option<BudgetChange> {
        let interval = std::mem::replace(&mut self.measured, Instant::now()).elapsed();
        let cpu_ns = self.cost.since_last(watched);
        recorder.append(SourceReport {
            time_ns: recorder.clock().now_ns(),
            interval_ns: i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX),
            source: SOURCE,
            node: "",
            provider: PROVIDER,
            lost_reason: &self.left_out(),
            cpu_ns: Some(cpu_ns),
            ..SourceReport::default()
        });
        let available_ns = interval.as_nanos() as f64 * cost::cpus(watched) as f64;
        self.last_share = cpu_ns as f64 / available_ns.max(1.0);
        self.kept.add(self.last_share, interval, self.ladder.level() > 0);
        match self.ladder.judge(self.last_share, interval, self.share)? {
            Move::Thinner | Move::Fuller => Some(BudgetChange::Options(Box::new(self.options()))),
            Move::Exhausted => Some(BudgetChange::Exhausted),
        }
    }

    /// The steps taken now, as text; empty for none.
    pub fn left_out(&self) -> String {
        self.steps.text(self.ladder.level())
    }

    /// The share of the CPUs at the last measurement.
    pub fn last_share(&self) -> f64 {
        self.last_share
    }

    /// The share that recording may take.
    pub fn share(&self) -> f64 {
        self.share
    }

    pub fn kept(&self) -> Kept {
        self.kept
    }
}

impl Kept {
    fn add(&mut self, share: f64, interval: Duration, is_thinned: bool) {
        let before_s = self.lasted.as_secs_f64();
        self.lasted += interval;
        let all_s = self.lasted.as_secs_f64();
        if all_s > 0.0 {
            self.share = (self.share * before_s + share * interval.as_secs_f64()) / all_s;
        }
        if is_thinned {
            self.thinned += interval;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_time() {
        let mut kept = Kept::default();
        kept.add(0.04, Duration::from_secs(5), false);
        kept.add(0.01, Duration::from_secs(10), true);
        assert!((kept.share - 0.02).abs() < 1e-12, "{kept:?}");
        assert_eq!((kept.lasted, kept.thinned), (Duration::from_secs(15), Duration::from_secs(10)));
    }
}
