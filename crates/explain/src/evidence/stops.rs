//! Pauses and stalls by process; of two reports of the same stop, one is counted.

use super::kind::CauseKind;
use super::shortage::{COLLECTOR, LOAD, SERVER, Shortage};
use crate::engine::Engine;
use crate::timeline::{Interval, covered_ns, merge, subtract, total_ns};
use crate::{Error, query};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The kind of a stall in which the kernel showed the process as stopped.
pub(crate) const STOPPED: &str = "stopped";

/// A stop of at least this length is a finding even if it delayed few requests, and delays a request of its node for certain.
pub(crate) const LONG_STOP_NS: i64 = 1_000_000_000;

/// The state of a process is read at this interval, so that a stop was up to so much longer at both ends than it was seen.
const READ_EVERY_NS: i64 = 100_000_000;

/// The most by which two sources may differ about the time of the same stop.
const SAME_STOP_NS: i64 = 2_000_000;

/// An interval in which a process was stopped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stop {
    pub(crate) window: Interval,
    /// The node that was stopped; empty for the load driver and the recorder.
    pub(crate) node: String,
    /// The displayed name: the collector and its cause, the operation of a safepoint, the kind of a stall.
    pub(crate) label: String,
}

#[derive(Debug, Default)]
pub(crate) struct Stops {
    /// GC pauses of the nodes; each list by time.
    pub(crate) gc: Vec<Stop>,
    /// Safepoints other than those of collections.
    pub(crate) safepoints: Vec<Stop>,
    /// Other stalls of the nodes, which the JVM did not report.
    pub(crate) server: Vec<Stop>,
    /// Stalls of the load driver.
    pub(crate) client: Vec<Stop>,
    /// Stalls of the driver that delayed its schedule.
    pub(crate) schedule: Vec<Stop>,
    /// Stops of all the above kinds that were waits for a CPU; the label is the kind that they would have had otherwise.
    pub(crate) waits: Vec<Stop>,
    /// The same, for stops in which the quota of a node's cgroup was exhausted.
    pub(crate) throttled: Vec<Stop>,
    /// Stalls of the recorder, which suggest that the whole machine was stopped.
    pub(crate) recorder: Vec<Stop>,
}

impl Stop {
    /// Whether it delayed each request that its node had meanwhile, without a test against chance: nothing runs in a
    /// process that the kernel holds stopped, however busy the CPUs are.
    pub(crate) fn is_certain(&self) -> bool {
        self.label == STOPPED || self.window.length() >= LONG_STOP_NS
    }
}

/// The times of some stops as a merged set.
pub(crate) fn times(stops: &[Stop]) -> Vec<Interval> {
    merge(stops.iter().map(|stop| stop.window).collect())
}

struct PauseRow {
    stop: Stop,
    gc_id: Option<i64>,
    is_part: bool,
}

impl Stops {
    /// The stops that belong to a kind of cause.
    pub(crate) fn of(&self, kind: CauseKind) -> &[Stop] {
        match kind {
            CauseKind::ClientStall => &self.client,
            CauseKind::GcPause => &self.gc,
            CauseKind::Safepoint => &self.safepoints,
            CauseKind::ServerStall => &self.server,
            CauseKind::CpuWait => &self.waits,
            CauseKind::Throttling => &self.throttled,
            CauseKind::CompactionOrFlush
            | CauseKind::DiskWait
            | CauseKind::PageFaults
            | CauseKind::Retransmission
            | CauseKind::CpuSaturation
            | CauseKind::PoolQueue => &[],
        }
    }

    pub(crate) fn load(engine: &Engine) -> Result<Stops, Error> {
        let stalls = Stalls::load(engine)?;
        let mut stops = Stops { schedule: stalls.schedule, recorder: stalls.recorder, ..Stops::default() };
        stops.take_pauses(engine)?;
        // If the whole node was stopped during its own pause, the pause includes that time.
        let (mut held, mut server) = (stalls.held_server, Vec::new());
        for pauses in [&mut stops.gc, &mut stops.safepoints] {
            server.extend(pauses.extract_if(.., |pause| is_held(pause, &held)));
        }
        held.extend(server.drain(..).map(|pause| Stop { label: STOPPED.into(), ..pause }));
        let own = |node: &str| -> Vec<Interval> {
            let pauses = stops.gc.iter().chain(&stops.safepoints).filter(|stop| stop.node == node);
            merge(pauses.map(|stop| stop.window.widened(SAME_STOP_NS)).collect())
        };
        let mut known: HashMap<String, Vec<Interval>> = HashMap::new();
        for stall in stalls.server {
            let known = known.entry(stall.node.clone()).or_insert_with(|| own(&stall.node));
            server.extend(beside(stall, known));
        }
        stops.server = joined(server, held);
        stops.client = joined(stalls.client, stalls.held_client);
        Ok(stops)
    }

    /// Separates waits for a CPU from the other stops: for at least half of the stop, a thread that was needed was in a run queue
    /// while the CPUs were scarce, or the cgroup's quota kept the node off the CPUs.
    pub(crate) fn apart(mut self, shortage: &Shortage, scarce: &[Interval]) -> Stops {
        let (mut waits, mut throttled) = (Vec::new(), Vec::new());
        for (stops, kind, label) in [
            (&mut self.client, LOAD, "stall of the driver"),
            (&mut self.gc, COLLECTOR, "GC pause"),
            (&mut self.safepoints, SERVER, "safepoint"),
            (&mut self.server, SERVER, "stall of the server"),
        ] {
            stops.retain(|stop| {
                let half = stop.window.length() / 2;
                let is_throttled = kind != LOAD && shortage.throttled(&stop.node, stop.window) >= half.max(1);
                let is_wait = || {
                    covered_ns(scarce, stop.window) >= half
                        && shortage.waited_for_cpu(&stop.node, kind, stop.window) >= half.max(1)
                };
                let apart = match stop.label.as_str() {
                    STOPPED => return true,
                    _ if is_throttled => &mut throttled,
                    _ if is_wait() => &mut waits,
                    _ => return true,
                };
                apart.push(Stop { label: label.to_string(), ..stop.clone() });
                false
            });
        }
        throttled.extend(shortage.throttled_times().into_iter().map(|(node, window)| Stop {
            window,
            node,
            label: "period".to_string(),
        }));
        for apart in [&mut waits, &mut throttled] {
            apart.sort_by(|a, b| (a.window, &a.node).cmp(&(b.window, &b.node)));
        }
        (self.waits, self.throttled) = (waits, throttled);
        self
    }

    /// Whether stops with this label were waits for a CPU.
    pub(crate) fn has_wait(&self, label: &str) -> bool {
        self.waits_with(label).next().is_some()
    }

    /// The stops with this label that were waits for a CPU.
    pub(crate) fn waits_with<'a>(&'a self, label: &'a str) -> impl Iterator<Item = &'a Stop> {
        self.waits.iter().chain(&self.throttled).filter(move |stop| stop.label == label)
    }

    fn take_pauses(&mut self, engine: &Engine) -> Result<(), Error> {
        let rows = engine.sql(&query::PAUSES.fill(&[]))?;
        let (start, duration) = (rows.integers("start_ns")?, rows.integers("duration_ns")?);
        let (node, kind, gc_id) = (rows.texts("node")?, rows.texts("kind")?, rows.integers_or_null("gc_id")?);
        let (collector, cause, phase) = (rows.texts("collector")?, rows.texts("cause")?, rows.texts("phase")?);
        let (mut collections, mut safepoints) = (Vec::new(), Vec::new());
        for row in 0..start.len() {
            let label = match (collector[row].as_str(), cause[row].as_str()) {
                (collector, "") => collector.to_string(),
                (collector, cause) => format!("{collector}: {cause}"),
            };
            let window = Interval::of_length(start[row], duration[row]);
            let stop = Stop { window, node: node[row].clone(), label };
            if kind[row] == "safepoint" {
                safepoints.push(stop);
            } else {
                collections.push(PauseRow { stop, gc_id: gc_id[row], is_part: !phase[row].is_empty() });
            }
        }
        self.gc = pauses_of(collections);
        let mut collecting: HashMap<String, Vec<Interval>> = HashMap::new();
        for gc in &self.gc {
            collecting.entry(gc.node.clone()).or_default().push(gc.window.widened(SAME_STOP_NS));
        }
        collecting.values_mut().for_each(|windows| *windows = merge(std::mem::take(windows)));
        for safepoint in safepoints {
            let during = collecting.get(&safepoint.node).is_some_and(|gc| covered_ns(gc, safepoint.window) > 0);
            if during {
                continue;
            }
            if is_collection(&safepoint.label) {
                self.gc.push(safepoint);
            } else {
                self.safepoints.push(safepoint);
            }
        }
        self.gc.sort_by_key(|stop| stop.window);
        Ok(())
    }
}

/// The rows of the table `stalls`, by side.
#[derive(Default)]
struct Stalls {
    client: Vec<Stop>,
    schedule: Vec<Stop>,
    server: Vec<Stop>,
    recorder: Vec<Stop>,
    /// The intervals in which the kernel showed a process as stopped, known to a tenth of a second only.
    held_client: Vec<Stop>,
    held_server: Vec<Stop>,
}

impl Stalls {
    fn load(engine: &Engine) -> Result<Stalls, Error> {
        let rows = engine.sql(&query::STALLS.fill(&[]))?;
        let (start, duration) = (rows.integers("start_ns")?, rows.integers("duration_ns")?);
        let (node, side, kind) = (rows.texts("node")?, rows.texts("side")?, rows.texts("kind")?);
        let mut stalls = Stalls::default();
        for row in 0..start.len() {
            let window = Interval::of_length(start[row], duration[row]);
            let stop = Stop { window, node: node[row].clone(), label: kind[row].clone() };
            let among = match (side[row].as_str(), stop.label.as_str()) {
                ("load", STOPPED) => &mut stalls.held_client,
                ("server", STOPPED) => &mut stalls.held_server,
                ("load", kind) => {
                    if kind == "schedule" {
                        stalls.schedule.push(stop.clone());
                    }
                    &mut stalls.client
                }
                ("server", _) => &mut stalls.server,
                _ => &mut stalls.recorder,
            };
            among.push(stop);
        }
        for stop in stopped_threads(engine)? {
            if stop.node.is_empty() { &mut stalls.held_client } else { &mut stalls.held_server }.push(stop);
        }
        Ok(stalls)
    }
}

/// Stops of whole processes, from the times in which the kernel had stopped their threads.
fn stopped_threads(engine: &Engine) -> Result<Vec<Stop>, Error> {
    let rows = engine.sql(&query::STOPPED_THREADS.fill(&[]))?;
    let (start, duration) = (rows.integers("start_ns")?, rows.integers("stopped_ns")?);
    let mut of_node: BTreeMap<String, Vec<Interval>> = BTreeMap::new();
    for (row, node) in rows.texts("node")?.into_iter().enumerate() {
        of_node.entry(node).or_default().push(Interval::of_length(start[row], duration[row]));
    }
    let stop = |node: &str, window| Stop { window, node: node.to_string(), label: STOPPED.into() };
    let stops = of_node.iter().flat_map(|(node, threads)| several(threads).into_iter().map(|one| stop(node, one)));
    Ok(stops.collect())
}

/// When at least two of the intervals overlap, which are sorted by start: a debugger may look at a single thread.
fn several(intervals: &[Interval]) -> Vec<Interval> {
    let mut furthest = i64::MIN;
    let mut overlaps = Vec::new();
    for interval in intervals {
        overlaps.push(Interval { start: interval.start, end: interval.end.min(furthest) });
        furthest = furthest.max(interval.end);
    }
    overlaps.retain(|overlap| overlap.start < overlap.end);
    merge(overlaps)
}

/// Whether the kernel showed the node as stopped within its pause, and may have held it for most of the pause.
fn is_held(pause: &Stop, held: &[Stop]) -> bool {
    let of_node = held.iter().filter(|stop| stop.node == pause.node).map(|stop| stop.window);
    // A stop that was seen once has no length.
    let seen = of_node.filter(|held| held.start < pause.window.end && held.end >= pause.window.start);
    let longest: Vec<Interval> = seen.map(|held| held.widened(READ_EVERY_NS)).collect();
    covered_ns(&merge(longest), pause.window) * 2 >= pause.window.length().max(1)
}

/// A stall without the node's own pauses, which stop the agent's watcher as well; None if less than half of the stall
/// remains.
fn beside(stall: Stop, pauses: &[Interval]) -> Option<Stop> {
    let left = subtract(&[stall.window], pauses);
    let (first, last) = (left.first()?, left.last()?);
    // Join both parts into one stop, even if a pause lies between them.
    let window = Interval { start: first.start, end: last.end };
    (total_ns(&left) * 2 >= stall.window.length()).then_some(Stop { window, ..stall })
}

/// Merges reports of the same stop: stops of a process that overlap or follow each other directly are one. The recorder
/// sees from outside that the kernel stopped a process. If the process reported the stop as well, its own report is
/// used, because it is more exact.
fn joined(stalls: Vec<Stop>, held: Vec<Stop>) -> Vec<Stop> {
    let mut all: Vec<(Stop, bool)> = stalls.into_iter().map(|stop| (stop, false)).collect();
    all.extend(held.into_iter().map(|stop| (stop, true)));
    all.sort_by(|(a, _), (b, _)| (&a.node, a.window).cmp(&(&b.node, b.window)));
    let mut stops: Vec<Seen> = Vec::new();
    for (stop, is_held) in all {
        match stops.last_mut().filter(|last| last.stop.node == stop.node) {
            Some(last) if stop.window.start <= last.stop.window.end.saturating_add(SAME_STOP_NS) => {
                last.take(stop, is_held);
            }
            _ => stops.push(Seen { itself: (!is_held).then_some(stop.window), is_held, stop }),
        }
    }
    let mut stops: Vec<Stop> = stops.into_iter().map(Seen::into_stop).collect();
    stops.sort_by(|a, b| (a.window, &a.node).cmp(&(b.window, &b.node)));
    stops
}

/// A stop, with the reports of it.
struct Seen {
    stop: Stop,
    /// The stop as the process itself observed it.
    itself: Option<Interval>,
    is_held: bool,
}

impl Seen {
    fn take(&mut self, stop: Stop, is_held: bool) {
        self.stop.window.end = self.stop.window.end.max(stop.window.end);
        self.is_held |= is_held;
        if !is_held {
            let itself = self.itself.unwrap_or(stop.window);
            self.itself = Some(Interval { start: itself.start, end: itself.end.max(stop.window.end) });
        }
    }

    fn into_stop(self) -> Stop {
        let window = self.itself.unwrap_or(self.stop.window);
        let label = if self.is_held { STOPPED.to_string() } else { self.stop.label };
        Stop { window, label, node: self.stop.node }
    }
}

/// A mostly concurrent collection is split into its pauses; any other collection is one pause.
fn pauses_of(rows: Vec<PauseRow>) -> Vec<Stop> {
    let in_parts: HashSet<(String, i64)> =
        rows.iter().filter(|row| row.is_part).filter_map(|row| Some((row.stop.node.clone(), row.gc_id?))).collect();
    let key = |row: &PauseRow| row.gc_id.map(|gc_id| (row.stop.node.clone(), gc_id));
    let labels: HashMap<(String, i64), String> =
        rows.iter().filter(|row| !row.is_part).filter_map(|row| Some((key(row)?, row.stop.label.clone()))).collect();
    let mut parts: HashMap<(String, i64), Vec<Interval>> = HashMap::new();
    let mut pauses = Vec::new();
    for row in rows {
        match key(&row) {
            Some(key) if in_parts.contains(&key) => {
                if row.is_part {
                    parts.entry(key).or_default().push(row.stop.window);
                }
            }
            _ => pauses.push(row.stop),
        }
    }
    for (key, windows) in parts {
        let label = labels.get(&key).cloned().unwrap_or_default();
        let stop = |window| Stop { window, node: key.0.clone(), label: label.clone() };
        pauses.extend(merge(windows).into_iter().map(stop));
    }
    pauses.sort_by(|a, b| (a.window, &a.node).cmp(&(b.window, &b.node)));
    pauses
}

/// Whether a safepoint's operation is a collector's, by HotSpot's names.
fn is_collection(operation: &str) -> bool {
    ["G1", "Gen", "CGC", "Parallel", "Shenandoah", "ZMark", "ZRelocate", "XMark", "XRelocate", "CollectFor"]
        .iter()
        .any(|prefix| operation.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(start: i64, end: i64, gc_id: Option<i64>, is_part: bool) -> PauseRow {
        let stop = Stop { window: Interval { start, end }, node: "n".into(), label: "G1Old".into() };
        PauseRow { stop, gc_id, is_part }
    }

    fn stop(start: i64, end: i64, node: &str, label: &str) -> Stop {
        Stop { window: Interval { start, end }, node: node.into(), label: label.into() }
    }

    #[test]
    fn a_concurrent_collection_counts_with_its_pauses_only() {
        let pauses = pauses_of(vec![
            row(0, 1000, Some(1), false),
            row(100, 110, Some(1), true),
            row(105, 120, Some(1), true),
            row(900, 930, Some(1), true),
            row(2000, 2050, Some(2), false),
            row(3000, 3001, None, false),
        ]);
        let windows: Vec<(i64, i64)> = pauses.iter().map(|stop| (stop.window.start, stop.window.end)).collect();
        assert_eq!(windows, [(100, 120), (900, 930), (2000, 2050), (3000, 3001)]);
        assert!(pauses.iter().all(|stop| stop.label == "G1Old"));
    }

    #[test]
    fn what_saw_itself_stopped_says_when() {
        let ms = 1_000_000;
        let watched = vec![stop(0, 10 * ms, "a", "watcher"), stop(500 * ms, 1500 * ms, "a", "watcher")];
        let held = vec![stop(600 * ms, 1590 * ms, "a", STOPPED), stop(600 * ms, 1590 * ms, "b", STOPPED)];
        let wanted = [
            stop(0, 10 * ms, "a", "watcher"),
            stop(500 * ms, 1500 * ms, "a", STOPPED),
            stop(600 * ms, 1590 * ms, "b", STOPPED),
        ];
        assert_eq!(joined(watched, held), wanted);
    }

    #[test]
    fn a_stop_is_one_however_many_saw_it_and_in_however_many_pieces() {
        let ms = 1_000_000;
        let by_two = vec![stop(0, 500 * ms, "", "schedule"), stop(0, 490 * ms, "", "watcher")];
        assert_eq!(joined(by_two, Vec::new()), [stop(0, 500 * ms, "", "watcher")]);
        let in_pieces = vec![stop(0, 492 * ms, "a", "watcher"), stop(493 * ms, 1000 * ms, "a", "watcher")];
        assert_eq!(joined(in_pieces.clone(), Vec::new()), [stop(0, 1000 * ms, "a", "watcher")]);
        // A pause in the middle of a stall does not split the stall.
        let pause = Interval { start: 400 * ms, end: 420 * ms };
        assert_eq!(beside(stop(0, 1000 * ms, "a", "watcher"), &[pause]), Some(stop(0, 1000 * ms, "a", "watcher")));
        assert_eq!(beside(stop(390 * ms, 425 * ms, "a", "watcher"), &[pause]), None);
    }

    #[test]
    fn a_pause_in_which_the_node_was_held_is_no_pause() {
        let ms = 1_000_000;
        let held = [stop(100 * ms, 1000 * ms, "a", STOPPED)];
        assert!(is_held(&stop(90 * ms, 1050 * ms, "a", "G1New"), &held));
        assert!(!is_held(&stop(90 * ms, 1050 * ms, "b", "G1New"), &held));
        assert!(!is_held(&stop(1040 * ms, 1050 * ms, "a", "G1New"), &held));
        // A recorder that had no CPU itself saw only a part of the stop, or a single moment.
        assert!(is_held(&stop(0, 700 * ms, "a", "ThreadDump"), &[stop(300 * ms, 460 * ms, "a", STOPPED)]));
        assert!(is_held(&stop(0, 300 * ms, "a", "ThreadDump"), &[stop(200 * ms, 200 * ms, "a", STOPPED)]));
        assert!(!is_held(&stop(0, 700 * ms, "a", "ThreadDump"), &[stop(200 * ms, 200 * ms, "a", STOPPED)]));
    }

    #[test]
    fn a_process_is_stopped_when_several_of_its_threads_are() {
        let at = |start, end| Interval { start, end };
        assert_eq!(several(&[at(0, 10)]), []);
        assert_eq!(several(&[at(0, 10), at(20, 30)]), []);
        assert_eq!(several(&[at(0, 10), at(1, 9), at(2, 12), at(40, 50), at(45, 60)]), [at(1, 10), at(45, 50)]);
    }

    #[test]
    fn operations_of_collectors_are_known() {
        assert!(is_collection("G1CollectForAllocation"));
        assert!(!is_collection("ICBufferFull"));
        assert!(!is_collection("Cleanup"));
    }
}
