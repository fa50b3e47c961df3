//! A chunk's recording settings, and the meaning that they give to its samples.

use super::format::{Chunk, Object};
use super::samples::SampleEvent;
use std::collections::{HashMap, HashSet};

/// async-profiler's default interval.
const CPU_INTERVAL_NS: i64 = 10_000_000;
const WALL_INTERVAL_NS: i64 = 50_000_000;

pub(super) const EXECUTION_SAMPLE: &str = "jdk.ExecutionSample";
/// The class of CPU time samples of JDK 25 and later, each of which has the CPU time that it represents.
pub(super) const CPU_TIME_SAMPLE: &str = "jdk.CPUTimeSample";
/// The class that has the sampling intervals of Datadog's profiler.
pub(super) const DATADOG_CONFIG: &str = "datadog.DatadogProfilerConfig";
pub(super) const ALLOCATION_SAMPLE: &str = "jdk.ObjectAllocationSample";
pub(super) const IN_NEW_TLAB: &str = "jdk.ObjectAllocationInNewTLAB";
pub(super) const OUTSIDE_TLAB: &str = "jdk.ObjectAllocationOutsideTLAB";

#[derive(Debug, Default)]
pub(super) struct Settings {
    /// Whether async-profiler wrote the chunk.
    is_async_profiler: bool,
    /// The `event` of async-profiler: cpu, wall, the name of an event of perf, a method.
    engine: Option<String>,
    /// async-profiler's settings `interval` and `wall`, both of which belong to ExecutionSample; 0 if async-profiler
    /// chose them.
    interval: Option<i64>,
    wall: Option<i64>,
    /// The JDK's setting `period`.
    periods_ns: HashMap<SampleEvent, i64>,
    /// Sample classes that occur in the chunk.
    seen: HashSet<&'static str>,
    /// These classes, and the classes that were requested.
    recorded: HashSet<&'static str>,
    /// Whether there are samples of waiting threads.
    saw_waiting: bool,
}

impl Settings {
    /// Reads settings from an event, if it describes other events.
    pub(super) fn take(&mut self, chunk: &Chunk<'_>, class: &str, event: Object<'_>) {
        match class {
            "jdk.ActiveRecording" => {
                self.is_async_profiler |= event.text("name").is_some_and(|name| name.starts_with("async-profiler"));
            }
            "jdk.ActiveSetting" => self.set(chunk, event),
            DATADOG_CONFIG => {
                for (name, of) in [("cpuInterval", SampleEvent::Cpu), ("wallInterval", SampleEvent::Wall)] {
                    if let Some(ms) = event.number(name).filter(|ms| *ms > 0) {
                        self.periods_ns.insert(of, ms.saturating_mul(1_000_000));
                    }
                }
            }
            EXECUTION_SAMPLE => self.saw_waiting = self.saw_waiting || is_waiting(&state(event)),
            _ => {
                self.seen.extend(sampled(class));
                self.recorded.extend(sampled(class));
            }
        }
    }

    fn set(&mut self, chunk: &Chunk<'_>, event: Object<'_>) {
        let (Some(name), value) = (event.text("name"), event.text("value")) else { return };
        let Some(class) = event.number("id").and_then(|id| chunk.class_name(id)) else { return };
        let value = value.as_deref().unwrap_or_default();
        match (class, &*name) {
            ("jdk.ActiveRecording", "event") => {
                self.is_async_profiler = true;
                self.engine = Some(value.to_string()).filter(|engine| !engine.is_empty());
            }
            (EXECUTION_SAMPLE, "interval") => self.interval = duration_ns(value),
            (EXECUTION_SAMPLE, "wall") => self.wall = duration_ns(value),
            (_, "period") => {
                if let (Some(event), Some(ns)) = (SampleEvent::of(class), duration_ns(value).filter(|ns| *ns > 0)) {
                    self.periods_ns.insert(event, ns);
                }
            }
            (_, "enabled") if value == "true" => self.recorded.extend(sampled(class)),
            _ => {}
        }
    }

    /// The event that a sample of a class represents.
    pub(super) fn event(&self, class: &str, event: Object<'_>) -> Option<SampleEvent> {
        let of = SampleEvent::of(class)?;
        if class != EXECUTION_SAMPLE || !self.is_async_profiler {
            return Some(of);
        }
        // async-profiler up to 3.0 writes wall-clock samples as execution samples; later versions do so if told not to
        // merge samples.
        let state = state(event);
        let beside_wall = state == "STATE_RUNNABLE" && (self.wall.is_some() || self.saw_waiting);
        if self.engine.as_deref() == Some("wall") || is_waiting(&state) || beside_wall {
            return Some(SampleEvent::Wall);
        }
        Some(if self.counted().is_some() { SampleEvent::Counted } else { SampleEvent::Cpu })
    }

    /// The counted event that triggered the samples; None for samples by time.
    pub(super) fn counted(&self) -> Option<&str> {
        let is_time =
            |engine: &&str| matches!(*engine, "cpu" | "itimer" | "ctimer" | "wall" | "cpu-clock" | "task-clock");
        self.engine.as_deref().filter(|engine| !is_time(engine))
    }

    /// The sampling interval of each event, if known.
    pub(super) fn intervals(&self) -> HashMap<SampleEvent, i64> {
        let mut intervals = self.periods_ns.clone();
        let of = |setting: Option<i64>| setting.filter(|ns| *ns > 0);
        if self.is_async_profiler {
            let (cpu, wall) = match self.engine.as_deref() {
                Some("wall") => (None, of(self.wall).or(of(self.interval))),
                _ => (of(self.interval), of(self.wall)),
            };
            intervals.insert(SampleEvent::Cpu, cpu.unwrap_or(CPU_INTERVAL_NS));
            intervals.insert(SampleEvent::Wall, wall.unwrap_or(WALL_INTERVAL_NS));
            intervals.insert(SampleEvent::Counted, of(self.interval).unwrap_or(1));
        } else if let Some(ns) = of(self.interval) {
            intervals.insert(SampleEvent::Cpu, ns);
        }
        intervals
    }

    /// Whether another class has the same samples, so that both together would count twice.
    pub(super) fn is_superseded(&self, class: &str) -> bool {
        let has = |class| self.seen.contains(class);
        // The two TLAB events each have a part of the allocations, and together they have all. ObjectAllocationSample
        // also represents all, as a random sample.
        let has_both = self.recorded.contains(IN_NEW_TLAB)
            && self.recorded.contains(OUTSIDE_TLAB)
            && (has(IN_NEW_TLAB) || has(OUTSIDE_TLAB));
        match class {
            EXECUTION_SAMPLE => has(CPU_TIME_SAMPLE),
            ALLOCATION_SAMPLE => has_both,
            IN_NEW_TLAB | OUTSIDE_TLAB => has(ALLOCATION_SAMPLE) && !has_both,
            _ => false,
        }
    }
}

/// The name of a class that can duplicate another; None for other classes.
fn sampled(class: &str) -> Option<&'static str> {
    [CPU_TIME_SAMPLE, ALLOCATION_SAMPLE, IN_NEW_TLAB, OUTSIDE_TLAB].into_iter().find(|known| *known == class)
}

fn state(event: Object<'_>) -> String {
    event.text("state").unwrap_or_default().into_owned()
}

fn is_waiting(state: &str) -> bool {
    !matches!(state, "" | "STATE_DEFAULT" | "STATE_RUNNABLE")
}

/// Parses a duration in the settings: `20 ms`, or nanoseconds without a unit.
fn duration_ns(text: &str) -> Option<i64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit_ns = match unit.trim() {
        "" | "ns" => 1,
        "us" => 1000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_settings() {
        for (text, ns) in [
            ("20 ms", Some(20_000_000)),
            ("5ms", Some(5_000_000)),
            ("10000000", Some(10_000_000)),
            ("1 m", Some(60_000_000_000)),
            ("0", Some(0)),
            ("everyChunk", None),
            ("", None),
            ("99999999999 d", None),
        ] {
            assert_eq!(duration_ns(text), ns, "{text}");
        }
    }
}
