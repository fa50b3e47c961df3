//! The Firefox Profiler's processed profile: samples by track, and what happened beside them as markers.
//!
//! Source: firefox-devtools/profiler, src/types/profile.ts and docs-developer/CHANGELOG-formats.md, version 60, which all
//! later versions read.
//!
//! Samply's crate fxprof-processed-profile (0.8.1) can't write these profiles: it takes the weight of a sample as an `i32`, so
//! that a sample of 19.7 ms of CPU time would count as 19 or 20 ms, and one of 3 GiB of allocations not at all. It also rounds
//! CPU time to microseconds, sorts the threads of a process by name and not by weight, and repeats the tables of functions
//! and stacks in each thread.

mod tables;

use super::contents::{ExportOptions, Exported, MOST_SAMPLES, json_error, unit};
use super::moments::Moments;
use super::samples::{Sample, Samples, Track};
use crate::flame::SlowTimes;
use crate::{Engine, Error, Explanation};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use tables::{INTERVAL, MarkerTable, Profile, SampleTable, Shared, Thread};

const VERSION: u32 = 60;
/// Number of tracks shown at first; the user can select the others.
const VISIBLE: usize = 20;

/// Categories of code, with their colours and subcategories. The first one is for everything that fits no other.
const CATEGORIES: [(&str, &str, &[&str]); 7] = [
    ("Other", "grey", &["Other"]),
    ("Java", "green", &["Other", "Compiled", "Inlined", "Compiled by C1", "Interpreted"]),
    ("JVM", "yellow", &["Other"]),
    ("GC", "red", &["Other"]),
    ("JIT", "purple", &["Other"]),
    ("Native", "blue", &["Other"]),
    ("Kernel", "orange", &["Other"]),
];
const GC: usize = 3;

/// The category and subcategory of a frame. A frame of the JVM's own code belongs to garbage collection or compilation
/// if its thread does that.
fn category(kind: char, group: &str) -> (usize, usize) {
    let begins = |names: &[&str]| names.iter().any(|name| group.starts_with(name));
    match kind {
        'j' => (1, 1),
        'l' => (1, 2),
        '1' => (1, 3),
        'i' => (1, 4),
        'c' | 'n' if begins(&["GC Thread", "G1 ", "ParGC", "ZWorker", "ZDriver", "Shenandoah", "Concurrent Mark"]) => {
            (GC, 0)
        }
        'c' | 'n' if begins(&["C1 Compiler", "C2 Compiler", "JVMCI"]) => (4, 0),
        'c' => (2, 0),
        'n' => (5, 0),
        'k' => (6, 0),
        _ => (0, 0),
    }
}

/// The profile's threads while they are built, with times in ms since the profile's start.
struct Building {
    shared: Shared,
    threads: Vec<Thread>,
    begin_ns: i64,
    weight_type: &'static str,
    /// Whether weights are CPU time.
    is_cpu: bool,
}

impl Building {
    fn ms(&self, time_ns: i64) -> f64 {
        time_ns.saturating_sub(self.begin_ns) as f64 / 1e6
    }

    fn add(&mut self, process: &str, name: &str, tid: String, is_main: bool) -> usize {
        let samples = SampleTable {
            stack: Vec::new(),
            time: Vec::new(),
            weight: Vec::new(),
            weight_type: self.weight_type,
            cpu_ns: self.is_cpu.then(Vec::new),
            length: 0,
            last_ns: 0,
        };
        self.threads.push(Thread {
            process_type: "default",
            process_name: process.to_string(),
            process_startup_time: 0.0,
            process_shutdown_time: None,
            register_time: 0.0,
            unregister_time: None,
            paused_ranges: [],
            show_markers_in_timeline: is_main,
            name: name.to_string(),
            is_main_thread: is_main,
            pid: process.to_string(),
            tid,
            samples,
            markers: MarkerTable::default(),
        });
        self.threads.len() - 1
    }

    /// The thread that represents a process and has its markers.
    fn main(&mut self, process: &str) -> usize {
        let is_main = |thread: &Thread| thread.is_main_thread && thread.pid == process;
        match self.threads.iter().position(is_main) {
            Some(position) => position,
            None => self.add(process, process, format!("{process} 0"), true),
        }
    }

    fn mark(&mut self, process: &str, name: &str, (start_ns, end_ns): (i64, i64), category: usize, about: Value) {
        let thread = self.main(process);
        let (name, start, end) = (self.shared.string(name), self.ms(start_ns), self.ms(end_ns));
        let markers = &mut self.threads[thread].markers;
        markers.data.push(about);
        markers.name.push(name);
        markers.start_time.push(start);
        markers.end_time.push(end);
        markers.phase.push(INTERVAL);
        markers.category.push(category);
        markers.length += 1;
    }
}

pub(super) fn write(
    engine: &Engine,
    options: &ExportOptions,
    slow: Option<&SlowTimes>,
    explanation: Option<&Explanation>,
    out: &mut dyn Write,
) -> Result<Exported, Error> {
    let samples = Samples::load(engine, options, slow, MOST_SAMPLES)?;
    let moments = Moments::load(engine, options, explanation)?;
    let event = &options.selection.event;
    let is_cpu = event == "cpu";
    // A CPU sample covers the time before it. The profile's unit of time is whole milliseconds.
    let before_ns = |ns: i64| ns.saturating_sub(ns.rem_euclid(1_000_000));
    let began_ns = |sample: &Sample| match is_cpu {
        true => before_ns(sample.time_ns.saturating_sub(sample.weight)),
        false => sample.time_ns,
    };
    let first_ns = samples.rows.first().map_or(i64::MAX, began_ns);
    let (weight_type, per_unit) = match unit(event) {
        "nanoseconds" => ("tracing-ms", 1e6),
        "bytes" => ("bytes", 1.0),
        _ => ("samples", 1.0),
    };
    let begin_ns = moments.first_ns().map_or(first_ns, |first| first.min(first_ns));
    let mut building = Building { shared: Shared::default(), threads: Vec::new(), begin_ns, weight_type, is_cpu };
    building.shared.resource_table = json!({"lib": [], "name": [], "host": [], "type": [], "length": 0});
    building.shared.native_symbols =
        json!({"libIndex": [], "address": [], "name": [], "functionSize": [], "length": 0});
    building.shared.sources = json!({"uuid": [], "filename": [], "length": 0});
    add_moments(&mut building, &moments);
    let heaviest = add_samples(&mut building, &samples, per_unit);
    let mains = (0..building.threads.len()).filter(|thread| building.threads[*thread].is_main_thread);
    let mut visible: Vec<usize> = mains.chain(heaviest.into_iter().take(VISIBLE)).collect();
    visible.sort_unstable();
    let smallest = samples.rows.iter().map(|sample| sample.weight).filter(|weight| *weight > 0).min().unwrap_or(1);
    let title = engine.manifests().iter().map(|manifest| manifest.title.as_str()).collect::<Vec<_>>().join(" + ");
    let categories =
        CATEGORIES.map(|(name, color, parts)| json!({"name": name, "color": color, "subcategories": parts}));
    let meta = json!({
        "interval": if weight_type == "tracing-ms" { smallest as f64 / 1e6 } else { 1.0 },
        "startTime": begin_ns as f64 / 1e6,
        "processType": 0,
        "product": format!("{title} ({event})"),
        "stackwalk": 1,
        "debug": false,
        "version": 31,
        "preprocessedProfileVersion": VERSION,
        "categories": categories,
        "extensions": {"baseURL": [], "id": [], "name": [], "length": 0},
        "markerSchema": marker_schema(),
        "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
        "importedFrom": "Helenus",
        "symbolicated": true,
        "symbolicationNotSupported": true,
        "usesOnlyOneStackType": true,
        "sourceCodeIsNotOnSearchfox": true,
        "keepProfileThreadOrder": true,
        "initialVisibleThreads": visible,
    });
    let profile = Profile { meta, libs: [], shared: building.shared, threads: building.threads };
    serde_json::to_writer(out, &profile).map_err(json_error)?;
    Ok(Exported { samples: samples.rows.len() as u64, moments: moments.count() as u64, notes: moments.notes })
}

/// Adds the tracks' threads, and returns them with the heaviest first.
fn add_samples(building: &mut Building, samples: &Samples, per_unit: f64) -> Vec<usize> {
    // A track of a node without markers still needs the thread that represents the node.
    let process = |track: &Track| match track.thread.node.as_str() {
        "" => "node".to_string(),
        node => node.to_string(),
    };
    let several = samples.tracks.iter().any(|track| process(track) != process(&samples.tracks[0]));
    for track in &samples.tracks {
        building.main(&process(track));
    }
    let mut totals = vec![0i64; samples.tracks.len()];
    for sample in &samples.rows {
        totals[sample.track as usize] += sample.weight;
    }
    let mut order: Vec<usize> = (0..samples.tracks.len()).collect();
    order.sort_by(|a, b| totals[*b].cmp(&totals[*a]).then_with(|| samples.labels[*a].cmp(&samples.labels[*b])));
    let mut thread_of = vec![0; samples.tracks.len()];
    for (number, position) in order.iter().enumerate() {
        let track = &samples.tracks[*position];
        let process = process(track);
        let tid = match track.thread.tid {
            0 => format!("{process} {}", number + 1),
            tid if several => format!("{process} tid {tid}"),
            tid => tid.to_string(),
        };
        thread_of[*position] = building.add(&process, &samples.labels[*position], tid, false);
    }
    let mut stack_of: HashMap<(u32, u32), Option<usize>> = HashMap::new();
    for sample in &samples.rows {
        let stack = *stack_of.entry((sample.track, sample.stack)).or_insert_with(|| {
            let group = &samples.tracks[sample.track as usize].group;
            samples.stacks[sample.stack as usize].frames().fold(None, |prefix, (name, kind)| {
                let frame = building.shared.frame(name, category(kind, group));
                Some(building.shared.stack(prefix, frame))
            })
        });
        let begin_ns = building.begin_ns;
        let table = &mut building.threads[thread_of[sample.track as usize]].samples;
        let at_ns = sample.time_ns.saturating_sub(begin_ns);
        table.add_idle(at_ns, sample.weight);
        table.add(stack, (at_ns, sample.weight), sample.weight as f64 / per_unit);
    }
    order.into_iter().map(|position| thread_of[position]).collect()
}

fn add_moments(building: &mut Building, moments: &Moments) {
    for phase in &moments.phases {
        let about = json!({"type": "Phase", "phase": phase.name});
        building.mark("load", "phase", (phase.start_ns, phase.end_ns), 0, about);
    }
    for request in &moments.requests {
        let waited = request.start_ns.saturating_sub(request.intended_ns) as f64 / 1e6;
        let about = json!({"type": "Request", "node": request.node, "outcome": request.outcome, "waited": waited});
        building.mark("load", "slow request", (request.intended_ns, request.end_ns), 0, about);
    }
    for pause in &moments.pauses {
        let name = if pause.kind == "gc" && !pause.phase.is_empty() { "GC phase" } else { "GC pause" };
        let name = if pause.kind == "gc" { name } else { "safepoint" };
        let about = json!({"type": "Pause", "collector": pause.collector, "cause": pause.cause, "phase": pause.phase});
        let end_ns = pause.start_ns.saturating_add(pause.duration_ns);
        building.mark(&pause.node, name, (pause.start_ns, end_ns), if pause.kind == "gc" { GC } else { 2 }, about);
    }
    for stall in &moments.stalls {
        let process = if stall.node.is_empty() { &stall.side } else { &stall.node };
        let about = json!({"type": "Stall", "side": stall.side, "kind": stall.kind});
        let end_ns = stall.start_ns.saturating_add(stall.duration_ns);
        building.mark(process, "stall", (stall.start_ns, end_ns), 0, about);
    }
}

/// Tells the profiler how to show the markers.
fn marker_schema() -> Value {
    let text = |key: &str, label: &str| json!({"key": key, "label": label, "format": "string"});
    let shown = json!(["marker-chart", "marker-table", "timeline-overview"]);
    json!([
        {"name": "Phase", "display": shown, "chartLabel": "{marker.data.phase}", "tableLabel": "{marker.data.phase}",
         "fields": [text("phase", "Phase")]},
        {"name": "Request", "display": shown, "tableLabel": "{marker.data.outcome} from {marker.data.node}",
         "fields": [text("node", "Coordinator"), text("outcome", "Outcome"),
                    {"key": "waited", "label": "Waited to be sent", "format": "duration"}]},
        {"name": "Pause", "display": shown, "tableLabel": "{marker.data.collector} {marker.data.cause} {marker.data.phase}",
         "fields": [text("collector", "Collector"), text("cause", "Cause"), text("phase", "Phase")]},
        {"name": "Stall", "display": shown, "tableLabel": "{marker.data.side} ({marker.data.kind})",
         "fields": [text("side", "Side"), text("kind", "Kind")]},
    ])
}
