//! A simulated world, written as a recording: a load driver, a server with one queue, and the events that can stop
//! either.

use helenus_explain::{Engine, Explanation, Finding, Options, Severity, contradictions, explain};
use helenus_recording::{Keeper, Kept, Manifest, NodeFacts, Recorder, Recording, rows};
use std::collections::BTreeMap;
use std::time::Duration;
use tempfile::TempDir;

pub const MS: i64 = 1_000_000;
pub const S: i64 = 1000 * MS;
/// The start time of every synthetic recording.
pub const T0: i64 = 1_700_000_000 * S;
pub const NODE: &str = "127.0.0.1";
/// The other nodes of a ring.
pub const OTHERS: [&str; 2] = ["127.0.0.2", "127.0.0.3"];

/// A phase of the load in open loop.
#[derive(Clone, Copy)]
pub struct Phase {
    pub name: &'static str,
    pub rate_per_s: i64,
    pub seconds: i64,
    pub measured: bool,
}

/// The recorders of a world.
#[derive(Clone, Copy, PartialEq)]
enum Recorders {
    /// One recorder that records everything.
    One,
    /// `helenus load`: its requests, its own threads and stalls, and the machine.
    Load,
    /// `helenus record`: the node, and the machine.
    Node,
}

/// How much later the recorder of the load samples the machine than the other one.
const APART_NS: i64 = 37 * MS;

/// A simulated world. Times are relative to the start: (start, length).
#[derive(Clone)]
pub struct World {
    pub phases: Vec<Phase>,
    /// Mean time that the server needs for a request.
    pub need_ns: i64,
    pub gc: Vec<(i64, i64)>,
    pub safepoints: Vec<(i64, i64)>,
    pub server_stops: Vec<(i64, i64)>,
    pub client_stops: Vec<(i64, i64)>,
    /// Stops of the server that no source records.
    pub secret_stops: Vec<(i64, i64)>,
    /// Times in which no answer gets from the node to the driver, and that no source records.
    pub way_stops: Vec<(i64, i64)>,
    /// Whether there are two more nodes, with pauses and stalls of their own. The three nodes coordinate requests in
    /// turn; each request waits for the first node, which has the stops.
    pub is_ring: bool,
    /// Times in which requests that are due fail with a timeout.
    pub failing: Option<(i64, i64)>,
    pub has_agent: bool,
    /// Whether the wire was recorded as well.
    pub has_wire: bool,
    /// CPU time of the server for each request and second of need, of two CPUs; the rest is idle.
    pub server_cpus_at_full_load: f64,
    pub load_cpus_at_full_load: f64,
    pub lost_rows: i64,
    pub compactions: Vec<(i64, i64)>,
    /// Times in which another process uses all idle CPU time, so that threads wait for CPUs.
    pub hogs: Vec<(i64, i64)>,
    /// Whether the other process has a lower priority, so that no thread waits for it.
    pub are_hogs_polite: bool,
    /// Adds further rows to the recording.
    pub more: Option<fn(&Recorder)>,
}

impl Default for World {
    fn default() -> World {
        World {
            phases: vec![
                Phase { name: "warm-up", rate_per_s: 500, seconds: 2, measured: false },
                Phase { name: "steady", rate_per_s: 500, seconds: 28, measured: true },
            ],
            need_ns: MS / 2,
            gc: Vec::new(),
            safepoints: Vec::new(),
            server_stops: Vec::new(),
            client_stops: Vec::new(),
            secret_stops: Vec::new(),
            way_stops: Vec::new(),
            is_ring: false,
            failing: None,
            has_agent: true,
            has_wire: false,
            server_cpus_at_full_load: 1.5,
            load_cpus_at_full_load: 0.4,
            lost_rows: 0,
            compactions: Vec::new(),
            hogs: Vec::new(),
            are_hogs_polite: false,
            more: None,
        }
    }
}

/// Adds a young collection of some ms every two seconds, as a healthy node has.
pub fn healthy_gc(seconds: i64) -> Vec<(i64, i64)> {
    (0..seconds / 2).map(|index| (index * 2 * S + (index * 137 % 900) * MS, (4 + index * 7 % 9) * MS)).collect()
}

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// 0 < x ≤ 1.
    pub fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 33) + 1) as f64) / (1u64 << 31) as f64
    }
}

/// The time after every stop that a given time falls into.
fn after(stops: &[(i64, i64)], time: i64) -> i64 {
    let mut time = time;
    for (start, length) in stops {
        if *start <= time && time < start + length {
            time = start + length;
        }
    }
    time
}

/// The answer has at most four sentences. A title has at most 15 words, where a statement counts as one.
pub fn check_wording(explanation: &Explanation) {
    let answer = &explanation.answer;
    let sentences = answer.split_inclusive(". ").count();
    assert!((1..=4).contains(&sentences) && answer.ends_with('.'), "{sentences}: {answer}");
    for finding in &explanation.findings {
        let outside = finding.title.split('`').step_by(2).map(|part| part.split_whitespace().count());
        let words: usize = outside.sum::<usize>() + finding.title.matches('`').count() / 2;
        assert!(words <= 15, "{words} words: {}", finding.title);
    }
}

/// Commands are filled in, and are those of the texts.
pub fn check_commands(explanation: &Explanation) {
    for finding in &explanation.findings {
        for command in &finding.commands {
            assert!(command.line.starts_with(&format!("helenus {}", command.name)), "{command:?}");
            assert!(finding.full_text().contains(&format!("`{}`", command.line)), "{finding:#?}");
            assert!(!command.line.contains("RECORDING") && !command.line.contains("ADDRESS"), "{command:?}");
        }
        let count = finding.full_text().matches("`helenus ").count();
        assert!(count >= finding.commands.len() && (count == 0) == finding.commands.is_empty(), "{finding:#?}");
    }
    assert!(!explanation.answer.contains("RECORDING"), "{}", explanation.answer);
}

impl World {
    pub fn seconds(&self) -> i64 {
        self.phases.iter().map(|phase| phase.seconds).sum()
    }

    /// Writes the recording into the folder.
    pub fn record(&self, folder: &std::path::Path) -> Recording {
        self.record_by(Recorders::One, folder)
    }

    /// Writes the same world as two recordings of one machine, by `helenus load` and by `helenus record`.
    pub fn record_apart(&self, folder: &std::path::Path) -> [Recording; 2] {
        std::fs::create_dir_all(folder).unwrap();
        [self.record_by(Recorders::Load, &folder.join("load")), self.record_by(Recorders::Node, &folder.join("node"))]
    }

    /// Writes the same rows into segments of a kept recording that is still being written.
    pub fn keep(&self, folder: &std::path::Path) -> Keeper {
        let kept = Kept::new(Duration::from_secs(3600), None);
        let mut keeper = Keeper::begin(folder, self.manifest(), kept).unwrap();
        self.write_load(keeper.recorder());
        let next = keeper.begin_next().unwrap();
        next.update_manifest(|manifest| manifest.nodes = self.manifest().nodes).unwrap();
        keeper.turned(next);
        self.write_machine(keeper.recorder(), Recorders::One);
        self.write_stops(keeper.recorder(), Recorders::One);
        keeper
    }

    fn manifest(&self) -> Manifest {
        let mut manifest = Manifest::new("synthetic", "helenus load synthetic");
        manifest.created_ns = T0;
        manifest.nodes.push(NodeFacts {
            address: NODE.into(),
            cassandra: Some("5.0.9".into()),
            ..NodeFacts::default()
        });
        manifest
    }

    fn record_by(&self, recorders: Recorders, folder: &std::path::Path) -> Recording {
        let recorder = Recorder::create(folder, self.manifest()).unwrap();
        if recorders != Recorders::Node {
            self.write_load(&recorder);
        }
        self.write_machine(&recorder, recorders);
        self.write_stops(&recorder, recorders);
        if let Some(more) = self.more {
            more(&recorder);
        }
        recorder.close().unwrap();
        Recording::open(folder).unwrap()
    }

    pub fn explain(&self) -> Explained {
        let folder = TempDir::new().unwrap();
        let recording = self.record(&folder.path().join("recording"));
        let engine = Engine::open(&[recording]).unwrap();
        let explanation = explain(&engine, &Options::default()).unwrap();
        let contradictions = contradictions(&explanation.findings);
        assert!(contradictions.is_empty(), "{contradictions:#?}\n{explanation}");
        check_wording(&explanation);
        check_commands(&explanation);
        Explained { engine, explanation, folder }
    }

    fn write_load(&self, recorder: &Recorder) {
        let mut random = Random::new(42);
        let mut server_stops: Vec<(i64, i64)> = [&self.gc, &self.safepoints, &self.server_stops, &self.secret_stops]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        server_stops.sort_unstable();
        let (mut start, mut free, mut number) = (0, 0, 0);
        // The server's coordinator counts requests by second: how many, and how long they took.
        let mut coordinated: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for phase in &self.phases {
            let end = start + phase.seconds * S;
            recorder.append(rows::Mark {
                start_ns: T0 + start,
                end_ns: T0 + end,
                kind: "phase",
                name: phase.name,
                rate_per_s: Some(phase.rate_per_s as f64),
                end_rate_per_s: None,
                in_flight: None,
                measured: phase.measured,
                ..rows::Mark::default()
            });
            let mut due = start;
            while due < end {
                let sent = after(&self.client_stops, due);
                let need = (-random.share().ln() * self.need_ns as f64) as i64 + 50_000;
                let mut begun = after(&server_stops, free.max(sent));
                for (stop, length) in &server_stops {
                    if begun < *stop && *stop < begun + need {
                        begun += length;
                    }
                }
                free = begun + need;
                let fails = self.failing.is_some_and(|(from, length)| from <= due && due < from + length);
                let arrived = after(&self.way_stops, free);
                let answered = if fails { sent + 2 * S } else { after(&self.client_stops, arrived) };
                let coordinator = match number % 3 {
                    0 => NODE,
                    other if self.is_ring => OTHERS[other as usize - 1],
                    _ => NODE,
                };
                recorder.append(rows::Request {
                    intended_start_ns: T0 + due,
                    start_ns: T0 + sent,
                    end_ns: T0 + answered + 100_000,
                    node: coordinator,
                    operation: "write",
                    outcome: if fails { "write_timeout" } else { "ok" },
                    client_port: Some(40_000 + number % 2),
                    stream: Some(number / 2 % 1000),
                    ..rows::Request::default()
                });
                if self.has_wire {
                    recorder.append(rows::WireRequest {
                        start_ns: T0 + sent + 50_000,
                        duration_ns: free - sent - 50_000,
                        node: coordinator,
                        client_port: 40_000 + number % 2,
                        stream: number / 2 % 1000,
                        opcode: "EXECUTE",
                        ..rows::WireRequest::default()
                    });
                    let (count, total_ns) = coordinated.entry(free / S).or_insert((0, 0));
                    *count += 1;
                    *total_ns += need;
                }
                number += 1;
                due += S / phase.rate_per_s;
            }
            start = end;
        }
        for (second, (count, total_ns)) in coordinated {
            recorder.append(rows::ClientRequests {
                time_ns: T0 + (second + 1) * S,
                interval_ns: S,
                node: NODE,
                kind: "Write",
                count,
                total_ns,
            });
        }
    }

    fn write_machine(&self, recorder: &Recorder, recorders: Recorders) {
        let (has_node, has_load) = (recorders != Recorders::Load, recorders != Recorders::Node);
        // The machine's rows name the first of the watched nodes.
        let (machine, apart_ns) = if has_node { (NODE, 0) } else { ("", APART_NS) };
        let mut start = 0;
        for phase in &self.phases {
            let load = (phase.rate_per_s as f64 * (self.need_ns + 50_000) as f64 / 1e9).min(1.0);
            let server = load * self.server_cpus_at_full_load;
            let driver = load * self.load_cpus_at_full_load;
            let tenth = S / 10;
            for index in 1..=phase.seconds * 10 {
                let time = start + index * tenth;
                let stopped = |stops: &[(i64, i64)]| {
                    stops.iter().any(|(from, length)| *from <= time - tenth && time <= from + length)
                };
                let compacting = self.compactions.iter().any(|(from, length)| *from < time && time <= from + length);
                let server = if stopped(&self.server_stops) { 0.0 } else { server };
                let compaction = if compacting { 0.5 } else { 0.0 };
                let is_hogged = self.hogs.iter().any(|(from, length)| *from < time && time <= from + length);
                let busy = if is_hogged { 2.0 } else { (server + driver + compaction).min(2.0) };
                for cpu in 0..2 {
                    let busy_ns = (busy / 2.0 * tenth as f64) as i64;
                    recorder.append(rows::CpuSample {
                        time_ns: T0 + time + apart_ns,
                        interval_ns: tenth,
                        node: machine,
                        cpu,
                        user_ns: busy_ns * 3 / 4,
                        system_ns: busy_ns / 4,
                        iowait_ns: 0,
                        irq_ns: 0,
                        softirq_ns: 0,
                        steal_ns: 0,
                        idle_ns: tenth - busy_ns,
                    });
                }
                let threads = [
                    ("server", 11, "Native-Transport-Requests-1", "Native-Transport-Requests", server),
                    ("server", 12, "CompactionExecutor:1", "CompactionExecutor", compaction),
                    (
                        "server",
                        13,
                        "GC Thread#0",
                        "GC Thread",
                        if is_hogged && !self.are_hogs_polite { 0.1 } else { 0.0 },
                    ),
                    ("load", 21, "driver", "driver", driver),
                ];
                let is_seen = |process: &str| if process == "load" { has_load } else { has_node };
                for (process, tid, thread, thread_group, cpus) in
                    threads.into_iter().filter(|thread| thread.4 > 0.0 && is_seen(thread.0))
                {
                    recorder.append(rows::ThreadSample {
                        time_ns: T0 + time,
                        interval_ns: tenth,
                        node: if process == "load" { "" } else { NODE },
                        process,
                        tid,
                        thread,
                        thread_group,
                        cpu_ns: (cpus * tenth as f64) as i64,
                        run_queue_ns: Some(match (is_hogged, self.are_hogs_polite) {
                            (true, true) => tenth / 100,
                            (true, false) => tenth * 9 / 10,
                            (false, _) => (load * tenth as f64) as i64,
                        }),
                        migrations: Some(1),
                        voluntary_switches: Some(10),
                        involuntary_switches: None,
                    });
                }
                if index % 10 == 0 && !self.hogs.is_empty() {
                    let from = time - S;
                    let hogged_ns: i64 = self
                        .hogs
                        .iter()
                        .map(|(start, length)| (time.min(start + length) - from.max(*start)).max(0))
                        .sum();
                    recorder.append(rows::ProcessSample {
                        time_ns: T0 + time,
                        interval_ns: S,
                        node: machine,
                        pid: 4711,
                        process: "yes",
                        role: "other",
                        cpu_ns: (hogged_ns as f64 * (2.0 - server - driver)) as i64,
                    });
                }
                for (other, node) in OTHERS.into_iter().enumerate().filter(|_| self.is_ring && has_node) {
                    recorder.append(rows::ThreadSample {
                        time_ns: T0 + time,
                        interval_ns: tenth,
                        node,
                        process: "server",
                        tid: 100 + other as i64,
                        thread: "Native-Transport-Requests-1",
                        thread_group: "Native-Transport-Requests",
                        cpu_ns: tenth / 2,
                        ..rows::ThreadSample::default()
                    });
                }
                if self.has_agent && has_node && index % 10 == 0 {
                    recorder.append(rows::PoolSample {
                        time_ns: T0 + time,
                        node: NODE,
                        pool: "MutationStage",
                        kind: "request",
                        active: (load * 32.0) as i64,
                        pending: if load >= 1.0 { 200 } else { 0 },
                        completed: time / MS,
                        blocked: 0,
                        total_blocked: 0,
                        max_size: Some(32),
                    });
                    recorder.append(rows::TableSample {
                        time_ns: T0 + time,
                        node: NODE,
                        keyspace: "helenus",
                        table_name: "keyvalue",
                        reads: Some(0),
                        writes: Some(time / MS),
                        read_total_ns: Some(0),
                        write_total_ns: Some(time / 10),
                        sstables: Some(2),
                        live_disk_bytes: Some(4096),
                        ..rows::TableSample::default()
                    });
                }
            }
            start += phase.seconds * S;
        }
        let agent = self.has_agent && has_node;
        let reports = [
            ("requests", "", "driver", self.lost_rows, has_load),
            ("stalls", "", "driver", 0, has_load),
            ("cpus", machine, "proc-stat", 0, true),
            ("threads", "", "proc-schedstat", 0, has_load),
            ("threads", NODE, "proc-schedstat", 0, has_node),
            ("threads", OTHERS[0], "proc-schedstat", 0, has_node && self.is_ring),
            ("threads", OTHERS[1], "proc-schedstat", 0, has_node && self.is_ring),
            ("pauses", NODE, "agent-log", 0, agent),
            ("stalls", NODE, "agent-watcher", 0, agent),
            ("pools", NODE, "agent-mbeans", 0, agent),
            ("tables", NODE, "agent-mbeans", 0, agent),
        ];
        for (source, node, provider, lost, _) in reports.into_iter().filter(|report| report.4) {
            recorder.append(rows::SourceReport {
                time_ns: T0 + start + apart_ns,
                interval_ns: start,
                source,
                node,
                provider,
                captured: 1000,
                lost,
                lost_reason: if lost > 0 { "the buffer was full" } else { "" },
                cpu_ns: Some(start / 100),
            });
        }
    }

    fn write_stops(&self, recorder: &Recorder, recorders: Recorders) {
        let stall = |(start, length): (i64, i64), side, node, kind| {
            recorder.append(rows::Stall {
                start_ns: T0 + start,
                duration_ns: length,
                side,
                node,
                kind,
                ..rows::Stall::default()
            });
        };
        if self.has_agent && recorders != Recorders::Load {
            let pauses = |stops: &[(i64, i64)], kind, collector, cause: Option<&str>| {
                for (index, (start, length)) in stops.iter().enumerate() {
                    recorder.append(rows::Pause {
                        start_ns: T0 + start,
                        duration_ns: *length,
                        node: NODE,
                        kind,
                        gc_id: (kind == "gc").then_some(index as i64),
                        collector: Some(collector),
                        cause,
                        phase: None,
                        heap_before_bytes: Some(200 << 20),
                        heap_after_bytes: Some(150 << 20),
                        time_to_safepoint_ns: None,
                        provider: "jfr",
                    });
                    // The agent's watcher sees every pause, too.
                    stall((start - MS, length + 2 * MS), "server", NODE, "watcher");
                }
            };
            pauses(&self.gc, "gc", "G1New", Some("G1 Evacuation Pause"));
            // In HotSpot's log a collection is also a safepoint.
            let around: Vec<(i64, i64)> =
                self.gc.iter().map(|(start, length)| (start - MS / 10, length + MS / 5)).collect();
            pauses(&around, "safepoint", "G1CollectForAllocation", None);
            pauses(&self.safepoints, "safepoint", "ThreadDump", None);
            for (start, length) in &self.server_stops {
                stall((*start, *length), "server", NODE, "watcher");
                // The recorder also sees the stop from outside, ten times a second.
                if *length > 300 * MS {
                    stall((start + 90 * MS, length - 180 * MS), "server", NODE, "stopped");
                }
            }
            for (other, node) in OTHERS.into_iter().enumerate().filter(|_| self.is_ring) {
                for index in 0..self.seconds() * 2 {
                    let start = index * S / 2 + other as i64 * 170 * MS;
                    recorder.append(rows::Pause {
                        start_ns: T0 + start,
                        duration_ns: (8 + index % 5) * MS,
                        node,
                        kind: "gc",
                        gc_id: Some(index),
                        collector: Some("G1New"),
                        cause: Some("G1 Evacuation Pause"),
                        provider: "agent-log",
                        ..rows::Pause::default()
                    });
                    stall((start + 250 * MS, 12 * MS), "server", node, "watcher");
                }
            }
        }
        if recorders == Recorders::Node {
            return;
        }
        for stop in &self.client_stops {
            stall(*stop, "load", "", "watcher");
            stall(*stop, "load", "", "schedule");
        }
        // Short stalls, as every process on a shared machine has them.
        for index in 0..self.seconds() / 3 {
            stall((index * 3 * S + 700 * MS, 2 * MS), "load", "", "watcher");
        }
    }
}

/// An explanation with the engine that it was made by.
pub struct Explained {
    pub engine: Engine,
    pub explanation: Explanation,
    folder: TempDir,
}

impl Explained {
    /// The explanation as text, in which the recording has the name `run.helenus`.
    pub fn text(&self) -> String {
        let recording = self.folder.path().join("recording");
        self.explanation.to_string().replace(recording.to_str().unwrap(), "run.helenus")
    }

    pub fn top(&self) -> &Finding {
        &self.explanation.findings[0]
    }

    /// The first finding of the given kind.
    pub fn find(&self, finding: &str) -> Option<&Finding> {
        self.explanation.findings.iter().find(|found| found.finding == finding)
    }

    /// The kinds of the findings above information.
    pub fn serious(&self) -> Vec<&'static str> {
        let above = |finding: &&Finding| finding.severity > Severity::Information;
        self.explanation.findings.iter().filter(above).map(|finding| finding.finding).collect()
    }
}
