//! Pauses and stalls: who stopped, when, and which of two reports of the same stop counts.

use crate::engine::Engine;
use crate::timeline::{Interval, merge, subtract, total_ns};
use crate::{Error, query};
use std::collections::{HashMap, HashSet};

/// The kind of a stall that the kernel was seen to hold.
const STOPPED: &str = "stopped";

/// How far apart two sources can see the same stop.
const SAME_STOP_NS: i64 = 2_000_000;

/// A time in which something stood still.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stop {
    pub(crate) window: Interval,
    /// Empty when it is no node's.
    pub(crate) node: String,
    /// What a person reads: the collector and its cause, the operation of a safepoint, the kind of a stall.
    pub(crate) label: String,
}

#[derive(Debug, Default)]
pub(crate) struct Stops {
    /// GC pauses of the nodes.
    pub(crate) gc: Vec<Stop>,
    /// Safepoints that were not for a collection.
    pub(crate) safepoints: Vec<Stop>,
    /// Stalls of the nodes that are neither.
    pub(crate) server: Vec<Stop>,
    /// Stalls of the load driver.
    pub(crate) client: Vec<Stop>,
    /// Those of them in which the driver fell behind its own schedule.
    pub(crate) schedule: Vec<Stop>,
    /// Stalls of the recorder: a hint at the whole machine.
    pub(crate) recorder: Vec<Stop>,
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
    pub(crate) fn load(engine: &Engine) -> Result<Stops, Error> {
        let mut stops = Stops::default();
        stops.take_pauses(engine)?;
        stops.take_stalls(engine)?;
        Ok(stops)
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
        let collecting: Vec<Interval> = times(&self.gc).iter().map(|gc| gc.widened(SAME_STOP_NS)).collect();
        let collecting = merge(collecting);
        for safepoint in safepoints {
            let during = crate::timeline::covered_ns(&collecting, safepoint.window) > 0;
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

    fn take_stalls(&mut self, engine: &Engine) -> Result<(), Error> {
        let rows = engine.sql(&query::STALLS.fill(&[]))?;
        let (start, duration) = (rows.integers("start_ns")?, rows.integers("duration_ns")?);
        let (node, side, kind) = (rows.texts("node")?, rows.texts("side")?, rows.texts("kind")?);
        let widened = self.gc.iter().chain(&self.safepoints).map(|stop| stop.window.widened(SAME_STOP_NS)).collect();
        let known = merge(widened);
        // What the kernel was seen to hold stopped is known to a tenth of a second only.
        let mut held = [Vec::new(), Vec::new()];
        for row in 0..start.len() {
            let window = Interval::of_length(start[row], duration[row]);
            let stop = Stop { window, node: node[row].clone(), label: kind[row].clone() };
            match (side[row].as_str(), stop.label.as_str()) {
                ("load", STOPPED) => held[0].push(stop),
                ("server", STOPPED) => held[1].push(stop),
                ("load", _) => {
                    if stop.label == "schedule" {
                        self.schedule.push(stop.clone());
                    }
                    self.client.push(stop);
                }
                ("server", _) => {
                    // A collection stops the agent's watcher as well; what is left must be most of the stall.
                    let left = subtract(&[window], &known);
                    if total_ns(&left) * 2 >= window.length() {
                        self.server.extend(left.into_iter().map(|window| Stop { window, ..stop.clone() }));
                    }
                }
                _ => self.recorder.push(stop),
            }
        }
        let [client, server] = held;
        take_held(&mut self.client, client);
        take_held(&mut self.server, server);
        Ok(())
    }
}

/// The process held by the kernel, as the recorder saw from outside: what the process itself saw of the same stop is
/// more exact and counts; where it saw nothing, this does.
fn take_held(stalls: &mut Vec<Stop>, held: Vec<Stop>) {
    for stop in held {
        let mut same = false;
        for stall in stalls.iter_mut().filter(|stall| stall.node == stop.node && stall.window.overlaps(stop.window)) {
            stall.label = stop.label.clone();
            same = true;
        }
        if !same {
            stalls.push(stop);
        }
    }
    stalls.sort_by_key(|stop| stop.window);
}

/// A collection that did some of its work beside the application has its pauses as parts; another is one pause.
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
        let stop = |start, end, node: &str, label: &str| Stop {
            window: Interval { start, end },
            node: node.into(),
            label: label.into(),
        };
        let mut stalls = vec![stop(0, 10, "a", "watcher"), stop(500, 1500, "a", "watcher")];
        take_held(&mut stalls, vec![stop(600, 1590, "a", STOPPED), stop(600, 1590, "b", STOPPED)]);
        let wanted = [stop(0, 10, "a", "watcher"), stop(500, 1500, "a", STOPPED), stop(600, 1590, "b", STOPPED)];
        assert_eq!(stalls, wanted);
    }

    #[test]
    fn operations_of_collectors_are_known() {
        assert!(is_collection("G1CollectForAllocation"));
        assert!(!is_collection("ICBufferFull"));
        assert!(!is_collection("Cleanup"));
    }
}
