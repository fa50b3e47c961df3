//! Chrome's trace events: what happened, and how long it took, as Perfetto and chrome://tracing show it.
//!
//! Source: "Trace Event Format" of the Chromium project.

use super::contents::{ExportOptions, Exported, json_error};
use super::moments::Moments;
use crate::query::{CPU_INTERVALS, LONG_SYSCALLS, Value};
use crate::{Engine, Error, Explanation, text};
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;

/// The most events that a browser can still open.
const MOST_EVENTS: usize = 1_000_000;

struct Trace<'a> {
    out: &'a mut dyn Write,
    /// Times in the trace count from here.
    begin_ns: i64,
    events: usize,
    processes: HashMap<String, usize>,
    tracks: HashMap<(usize, String), usize>,
}

impl Trace<'_> {
    fn event(&mut self, event: &serde_json::Value) -> Result<(), Error> {
        if self.events >= MOST_EVENTS {
            return Err(Error::TooMuch(format!(
                "there are more than {} events, the most that can be shown: choose fewer with --from, --to, --slow or \
                 --syscalls-over",
                text::count(MOST_EVENTS)
            )));
        }
        self.out.write_all(if self.events == 0 { b"\n" } else { b",\n" }).map_err(Error::Write)?;
        self.events += 1;
        serde_json::to_writer(&mut *self.out, event).map_err(json_error)
    }

    /// Converts to microseconds, the unit of all times in the format.
    fn at(&self, time_ns: i64) -> f64 {
        micros(time_ns.saturating_sub(self.begin_ns))
    }

    fn process(&mut self, name: &str) -> Result<usize, Error> {
        if let Some(pid) = self.processes.get(name) {
            return Ok(*pid);
        }
        let pid = self.processes.len() + 1;
        self.processes.insert(name.to_string(), pid);
        self.event(&json!({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}))?;
        Ok(pid)
    }

    /// A row of the trace within a process.
    fn track(&mut self, process: &str, name: &str) -> Result<(usize, usize), Error> {
        let pid = self.process(process)?;
        let key = (pid, name.to_string());
        if let Some(tid) = self.tracks.get(&key) {
            return Ok((pid, *tid));
        }
        let tid = self.tracks.len() + 1;
        self.tracks.insert(key, tid);
        self.event(&json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}))?;
        Ok((pid, tid))
    }

    /// An event of the trace with a duration.
    fn stretch(
        &mut self,
        (process, track): (&str, &str),
        (name, category): (&str, &str),
        (start_ns, duration_ns): (i64, i64),
        arguments: serde_json::Value,
    ) -> Result<(), Error> {
        let (pid, tid) = self.track(process, track)?;
        let (at, length) = (self.at(start_ns), micros(duration_ns));
        self.event(
            &json!({"ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid, "ts": at, "dur": length, "args": arguments}),
        )
    }
}

fn micros(ns: i64) -> f64 {
    ns as f64 / 1000.0
}

pub(super) fn write(
    engine: &Engine,
    options: &ExportOptions,
    explanation: Option<&Explanation>,
    out: &mut dyn Write,
) -> Result<Exported, Error> {
    let moments = Moments::load(engine, options, explanation)?;
    let selection = &options.selection;
    let inside = |time_ns: i64| selection.start_ns <= time_ns && time_ns < selection.end_ns;
    let cpus = engine.sql(&CPU_INTERVALS.fill(&[]))?;
    let (cpu_nodes, cpu_times, cpu_lengths) =
        (cpus.texts("node")?, cpus.integers("time_ns")?, cpus.integers("interval_ns")?);
    let cpu_rows: Vec<usize> = (0..cpus.rows()).filter(|row| inside(cpu_times[*row])).collect();
    let calls = engine.sql(&LONG_SYSCALLS.fill(&[
        ("threshold_ns", Value::Integer(options.syscalls_over_ns)),
        ("start_ns", Value::Integer(selection.start_ns)),
        ("end_ns", Value::Integer(selection.end_ns)),
    ]))?;
    let (call_starts, call_lengths) = (calls.integers("start_ns")?, calls.integers("duration_ns")?);
    let first_cpu = cpu_rows.first().map(|row| cpu_times[*row].saturating_sub(cpu_lengths[*row]));
    let Some(begin_ns) = [moments.first_ns(), first_cpu, call_starts.first().copied()].into_iter().flatten().min()
    else {
        return Err(Error::Nothing(
            "there are no phases, pauses, stalls, requests, system calls or CPU figures in that time: record them with \
             `helenus record` and `helenus load` (stacks alone can be exported as firefox, speedscope, pprof or folded)"
                .into(),
        ));
    };
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[").map_err(Error::Write)?;
    let mut trace = Trace { out, begin_ns, events: 0, processes: HashMap::new(), tracks: HashMap::new() };
    write_moments(&mut trace, &moments)?;
    let names = ["user", "system", "iowait", "irq", "steal"];
    let parts = names.iter().map(|name| cpus.integers(&format!("{name}_ns"))).collect::<Result<Vec<_>, _>>()?;
    for row in &cpu_rows {
        let (row, length) = (*row, cpu_lengths[*row].max(1) as f64);
        let pid = trace.process(&cpu_nodes[row])?;
        let busy: serde_json::Map<_, _> = names
            .iter()
            .zip(&parts)
            .map(|(name, part)| ((*name).to_string(), json!(part[row] as f64 / length)))
            .collect();
        let at = trace.at(cpu_times[row].saturating_sub(cpu_lengths[row]));
        trace.event(&json!({"ph": "C", "name": "CPUs", "pid": pid, "ts": at, "args": busy}))?;
    }
    let (nodes, tids, groups) = (calls.texts("node")?, calls.integers("tid")?, calls.texts("thread_group")?);
    let (names, files, bytes, errors) =
        (calls.texts("call")?, calls.texts("file")?, calls.integers_or_null("bytes")?, calls.texts("error")?);
    for row in 0..calls.rows() {
        let arguments = json!({"file": files[row], "bytes": bytes[row], "error": errors[row]});
        let track = format!("{} {}", groups[row], tids[row]);
        let process = format!("{}: system calls", nodes[row]);
        let when = (call_starts[row], call_lengths[row]);
        trace.stretch((&process, &track), (&names[row], "syscall"), when, arguments)?;
    }
    let about = json!({"recording": engine.manifests().iter().map(|manifest| &manifest.title).collect::<Vec<_>>(), "begin_ns": begin_ns});
    trace.out.write_all(b"\n],\"otherData\":").map_err(Error::Write)?;
    serde_json::to_writer(&mut *trace.out, &about).map_err(json_error)?;
    trace.out.write_all(b"}\n").map_err(Error::Write)?;
    let mut notes = moments.notes.clone();
    if calls.rows() > 0 {
        notes.push(format!(
            "system calls are those of {} and more, but for those that wait for something to happen (futex, epoll_wait, \
             poll, select, nanosleep)",
            text::time_ns(options.syscalls_over_ns)
        ));
    }
    Ok(Exported { samples: 0, moments: (moments.count() + cpu_rows.len() + calls.rows()) as u64, notes })
}

fn write_moments(trace: &mut Trace<'_>, moments: &Moments) -> Result<(), Error> {
    for phase in &moments.phases {
        let when = (phase.start_ns, phase.end_ns.saturating_sub(phase.start_ns));
        trace.stretch(("load", "phases"), (&phase.name, "phase"), when, json!({}))?;
    }
    for pause in &moments.pauses {
        let track = if pause.kind == "gc" { "GC pauses" } else { "safepoints" };
        let name = match (pause.phase.as_str(), pause.collector.as_str()) {
            ("", "") => &pause.kind,
            ("", _) => &pause.collector,
            _ => &pause.phase,
        };
        let arguments = json!({"cause": pause.cause, "collector": pause.collector});
        let when = (pause.start_ns, pause.duration_ns);
        trace.stretch((&pause.node, track), (name, &pause.kind), when, arguments)?;
    }
    for stall in &moments.stalls {
        let process = if stall.node.is_empty() { &stall.side } else { &stall.node };
        let track = format!("stalls of the {} ({})", stall.side, stall.kind);
        let when = (stall.start_ns, stall.duration_ns);
        trace.stretch((process, &track), ("stall", "stall"), when, json!({}))?;
    }
    let pid = if moments.requests.is_empty() { 0 } else { trace.process("load")? };
    for (number, request) in moments.requests.iter().enumerate() {
        // Requests overlap, so each gets a track of its own; events in one row must not overlap.
        let (begin, end) = (trace.at(request.intended_ns), trace.at(request.end_ns));
        let waited_ms = request.start_ns.saturating_sub(request.intended_ns) as f64 / 1e6;
        let name = if request.operation.is_empty() { "request" } else { &request.operation };
        let about = json!({"node": request.node, "outcome": request.outcome, "waited_to_be_sent_ms": waited_ms});
        trace.event(
            &json!({"ph": "b", "name": name, "cat": "request", "id": number, "pid": pid, "tid": 0, "ts": begin, "args": about}),
        )?;
        trace.event(
            &json!({"ph": "e", "name": name, "cat": "request", "id": number, "pid": pid, "tid": 0, "ts": end}),
        )?;
    }
    Ok(())
}
