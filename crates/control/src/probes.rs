//! Probes: the performance model of a running server.

use crate::{Error, Link, Point};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Settings of the probes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProbeOptions {
    /// Points by name or pattern; empty for all points of the preset.
    pub at: Vec<String>,
    /// The most methods that each point may match.
    pub at_most: Option<u32>,
    /// Whether to measure CPU time and allocated bytes of each call as well, which costs a microsecond a call.
    pub cpu: bool,
    pub allocation: bool,
    /// The largest overhead of metering, in percent of all CPUs.
    pub bound_percent: Option<f64>,
    /// A probe whose own time for a call is below this is the first to be switched off.
    pub threshold_ns: Option<u64>,
    /// Whether to proceed even if this deoptimizes the whole JVM.
    pub cold: bool,
}

/// The measurements of the probes since they were started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Time of the measurement: System.nanoTime() of the server.
    pub read_ns: i64,
    /// The cost of metering one call, as measured in the JVM.
    pub cost_ns: f64,
    /// The overhead of metering in the last second, as a share of all CPUs.
    pub share: f64,
    pub bound_share: f64,
    pub threshold_ns: i64,
    pub cpu: bool,
    pub allocation: bool,
    /// Number of failures of the agent, which did not affect the server.
    #[serde(default)]
    pub faults: i64,
    pub probes: Vec<Probe>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    pub probe: String,
    pub method: String,
    pub on: bool,
    pub off_reason: Option<String>,
    #[serde(default)]
    pub calls: Vec<Calls>,
}

/// The calls of a probe from one caller and one thread group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    /// The calling metered point; None if there is none.
    pub caller: Option<String>,
    /// Whether the method called itself; the outer call's time includes these calls.
    #[serde(default)]
    pub itself: bool,
    pub thread_group: String,
    pub calls: i64,
    pub failed: i64,
    pub total_ns: i64,
    /// Own time, without metered callees.
    pub inherent_ns: i64,
    pub max_ns: i64,
    pub cpu_ns: Option<i64>,
    pub allocated_bytes: Option<i64>,
    /// The histogram: lowest and highest time of a bin, and the calls in it.
    #[serde(default)]
    pub bins: Vec<(i64, i64, i64)>,
}

impl Link {
    /// Starts the probes and returns their points. They run until [`Link::stop_probes`], also after this link is
    /// closed.
    pub fn start_probes(&mut self, options: &ProbeOptions) -> Result<Vec<Point>, Error> {
        let mut with = json!({"cpu": options.cpu, "allocation": options.allocation, "cold": options.cold});
        if !options.at.is_empty() {
            with["at"] = json!(options.at);
        }
        for (name, value) in [
            ("at_most", options.at_most.map(Value::from)),
            ("bound_percent", options.bound_percent.map(Value::from)),
            ("threshold_ns", options.threshold_ns.map(Value::from)),
        ] {
            if let Some(value) = value {
                with[name] = value;
            }
        }
        self.ask("probes.start", with)
    }

    /// The current measurements; None if no probes are running.
    pub fn read_probes(&mut self) -> Result<Option<Model>, Error> {
        self.ask("probes.read", json!({}))
    }

    /// Stops the probes and returns their final counts. The server's classes have their original bytecode again.
    pub fn stop_probes(&mut self) -> Result<Model, Error> {
        self.ask("probes.stop", json!({}))
    }
}
