//! Schedules: phases of load, and the start times of their requests. Nothing here reads a clock.

mod arguments;
mod offsets;
mod spec;
mod timeline;
mod trace;

pub use arguments::from_arguments;
pub use offsets::Offsets;
pub use spec::from_toml;
pub use trace::Trace;

pub(crate) use timeline::{Due, OpenLoop, Segment, segments};

use crate::Error;
use helenus_notation::quantity::show_rate;
use std::sync::Arc;
use std::time::Duration;

/// A phase of the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    pub name: String,
    pub load: Load,
    /// How arrivals are distributed, in open loop at a rate.
    pub arrivals: Arrivals,
    pub until: Until,
    /// False for a phase that only warms up or prepares: it is recorded and shown, but not judged.
    pub measured: bool,
    pub work: Work,
}

/// The trigger of a phase's requests: a clock, or the end of earlier requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// Open loop: requests start on a schedule, whether earlier ones have ended or not.
    Rate { per_s: f64 },
    /// Open loop at a rate that rises or falls linearly. Such a phase ends by time, not by count.
    Ramp { from_per_s: f64, to_per_s: f64 },
    /// Closed loop: this many requests in flight, the next one starts when one has ended.
    InFlight(u32),
    /// Open loop with the start times of a file.
    Trace(Arc<Trace>),
    /// Closed loops that join one after another at intervals of `every`, each with its own requests in flight. Each
    /// ends after `count` requests, and the phase when all have ended.
    Surge { groups: u32, every: Duration, in_flight: u32, count: u64 },
}

/// The distribution of the start times of an open loop at a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly spaced.
    Even,
    /// Arrivals of many independent clients: a Poisson process with exponential gaps. The same in every run with the
    /// same seed, for any number of threads.
    Poisson { seed: u64 },
}

/// When a phase ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    Elapsed(Duration),
    /// After this many requests.
    Count(u64),
}

/// The kind of requests in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Operations of the workload's mix.
    Mix,
    /// The workload's populate operation, with keys in sequence.
    Populate,
}

impl Phase {
    pub fn rate(per_s: f64, until: Until) -> Phase {
        Phase::new(show_rate(per_s), Load::Rate { per_s }, until)
    }

    pub fn ramp(from_per_s: f64, to_per_s: f64, lasts: Duration) -> Phase {
        let name = format!("{} to {}", show_rate(from_per_s), show_rate(to_per_s));
        Phase::new(name, Load::Ramp { from_per_s, to_per_s }, Until::Elapsed(lasts))
    }

    pub fn in_flight(requests: u32, until: Until) -> Phase {
        Phase::new(format!("{requests} in flight"), Load::InFlight(requests), until)
    }

    /// All requests of a trace, at its times.
    pub fn trace(trace: Arc<Trace>) -> Phase {
        let count = trace.offsets_ns().len() as u64;
        Phase::new(format!("trace {}", trace.name()), Load::Trace(trace), Until::Count(count))
    }

    /// `groups` closed loops of `count` requests each, one joining every `every`.
    pub fn surge(groups: u32, every: Duration, in_flight: u32, count: u64) -> Phase {
        let name = format!("surge of {groups} × {in_flight} in flight");
        let until = Until::Count(count.saturating_mul(u64::from(groups)));
        Phase::new(name, Load::Surge { groups, every, in_flight, count }, until)
    }

    /// A phase for each of the rates `from`, `from + step`, … up to `to`, or down to it if `to` is lower.
    pub fn steps(from_per_s: f64, to_per_s: f64, step_per_s: f64, each: Duration) -> Vec<Phase> {
        // A tolerance of a share of a step, so that rounding errors do not drop the last step.
        let steps = ((to_per_s - from_per_s).abs() / step_per_s.abs() + 1e-9).floor() as u64;
        let step_per_s = step_per_s.abs().copysign(to_per_s - from_per_s);
        (0..=steps).map(|step| Phase::rate(from_per_s + step as f64 * step_per_s, Until::Elapsed(each))).collect()
    }

    fn new(name: String, load: Load, until: Until) -> Phase {
        Phase { name, load, arrivals: Arrivals::Even, until, measured: true, work: Work::Mix }
    }

    pub fn named(mut self, name: &str) -> Phase {
        self.name = name.to_string();
        self
    }

    pub fn unmeasured(mut self) -> Phase {
        self.measured = false;
        self
    }

    pub fn poisson(mut self, seed: u64) -> Phase {
        self.arrivals = Arrivals::Poisson { seed };
        self
    }

    /// Intended rate at its start and at its end in requests/s, for open loop at a rate.
    pub fn rates_per_s(&self) -> Option<(f64, f64)> {
        match self.load {
            Load::Rate { per_s } => Some((per_s, per_s)),
            Load::Ramp { from_per_s, to_per_s } => Some((from_per_s, to_per_s)),
            Load::Trace(_) | Load::InFlight(_) | Load::Surge { .. } => None,
        }
    }

    /// Requests in flight in a closed loop; for a surge, the number when all groups have joined and none has ended.
    pub fn in_flight_at_most(&self) -> Option<u32> {
        match self.load {
            Load::InFlight(requests) => Some(requests),
            Load::Surge { groups, in_flight, .. } => Some(groups.saturating_mul(in_flight)),
            _ => None,
        }
    }

    /// Fails with the reason if the schedule is invalid, which the constructors can't always prevent.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |message: &str| Err(Error::Phase { phase: self.name.clone(), message: message.to_string() });
        let in_range = |per_s: f64| per_s > 0.0 && per_s <= 1e9;
        match (&self.load, self.until) {
            (Load::Rate { per_s }, _) if !in_range(*per_s) => wrong("a rate is more than 0 and at most 1G requests/s"),
            (Load::Ramp { from_per_s, to_per_s }, _) if !in_range(*from_per_s) || !in_range(*to_per_s) => {
                wrong("a rate is more than 0 and at most 1G requests/s")
            }
            (Load::Ramp { .. }, Until::Count(_)) => {
                wrong("a ramp needs a time: say for how long, not how many requests")
            }
            (Load::InFlight(0), _) => wrong("a closed loop has at least 1 request in flight"),
            (Load::Surge { groups, in_flight, count, .. }, _) if *groups == 0 || *in_flight == 0 || *count == 0 => {
                wrong("a surge has at least 1 group, and each at least 1 request in flight and 1 to do")
            }
            (Load::Surge { count, groups, .. }, until)
                if until != Until::Count(count.saturating_mul(u64::from(*groups))) =>
            {
                wrong("a surge ends when all its groups have done their count")
            }
            (_, Until::Count(0)) => wrong("a count is at least 1"),
            (_, Until::Elapsed(lasts)) if lasts.is_zero() => wrong("a phase lasts longer than no time"),
            _ => Ok(()),
        }
    }
}
