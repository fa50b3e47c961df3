//! Phases of loads in other processes that are not judged: while a load populates tables or warms up, the requests that
//! the node gets are not those that anyone asks about.
//!
//! ```text
//! @helenus-unjudged/… in /proc/net/unix, once a second ─▶ rows of kind `unjudged` in marks
//! ```

use crate::check::Check;
use crate::error::Error;
use crate::source::{Context, Running, Source};
use crate::wire::address_of;
use crate::worker::{Instruction, Instructions, NoThread, Worker};
use clap::Args;
use helenus_cassandra::{UnjudgedPhase, unjudged_phases};
use helenus_recording::Recorder;
use helenus_recording::rows::Mark;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const SOURCE: &str = "loads";
const INTERVAL: Duration = Duration::from_secs(1);

/// It has no options: it costs nothing while there is no load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct LoadsOptions {}

pub(crate) struct Loads;

impl Source for Loads {
    type Options = LoadsOptions;

    fn start(
        &self,
        context: &Context<'_>,
        _options: &LoadsOptions,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error> {
        let nodes: Vec<SocketAddr> = context.servers().filter_map(|(node, _)| address_of(&node).ok()).collect();
        if nodes.is_empty() {
            return Ok(());
        }
        let recorder = context.recorder.clone();
        match Worker::start("loads", move || Ok::<_, NoThread>(((recorder, nodes), ())), run) {
            Ok((worker, ())) => running.push(Box::new(worker)),
            Err(error) => context.degrade("", SOURCE, error.to_string()),
        }
        Ok(())
    }

    fn checks(&self) -> Vec<Check> {
        Vec::new()
    }
}

fn run((mut recorder, nodes): (Recorder, Vec<SocketAddr>), instructions: &Instructions) {
    let monotonic_ns = |recorder: &Recorder| recorder.clock().now_ns() - recorder.clock().epoch_offset_ns();
    let mut windows = Windows::since(monotonic_ns(&recorder));
    let mut next = Instant::now() + INTERVAL;
    loop {
        let instruction = instructions.wait(next.saturating_duration_since(Instant::now()));
        next = (next + INTERVAL).max(Instant::now());
        // Looked up before the time is read, so that no phase begins after it.
        let phases = unjudged_phases(&nodes);
        let clock = recorder.clock();
        for window in windows.of(&phases, monotonic_ns(&recorder)) {
            recorder.append(Mark {
                start_ns: clock.from_monotonic_ns(window.start_ns),
                end_ns: clock.from_monotonic_ns(window.end_ns),
                kind: "unjudged",
                name: &window.name,
                measured: false,
                ..Mark::default()
            });
        }
        match instruction {
            Instruction::Nothing => {}
            Instruction::Continue(next) => recorder = next.begin(),
            Instruction::Stop => return,
        }
    }
}

/// A part of a phase that has not been written yet, on CLOCK_MONOTONIC.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Window {
    name: String,
    start_ns: i64,
    end_ns: i64,
}

/// How far each announced phase has been written.
#[derive(Debug)]
struct Windows {
    since_ns: i64,
    written: BTreeMap<(u32, i64), Written>,
}

#[derive(Debug)]
struct Written {
    name: String,
    until_ns: i64,
    /// The phase had not ended when it was last seen.
    is_open: bool,
}

impl Windows {
    fn since(since_ns: i64) -> Windows {
        Windows { since_ns, written: BTreeMap::new() }
    }

    /// What the phases add at `now_ns`. A phase without an end whose load has ended lasted until now at most.
    fn of(&mut self, phases: &[UnjudgedPhase], now_ns: i64) -> Vec<Window> {
        let mut seen: BTreeMap<(u32, i64), (&str, Option<i64>)> = BTreeMap::new();
        for phase in phases {
            // When a load learns the end of a phase, there may be two of it for an instant.
            let (_, end) = seen.entry((phase.pid, phase.start_monotonic_ns)).or_insert((&phase.name, None));
            *end = [*end, phase.end_monotonic_ns].into_iter().flatten().min();
        }
        let before = std::mem::take(&mut self.written);
        let mut windows = Vec::new();
        let mut add = |name: &str, start_ns: i64, end_ns: i64| {
            if end_ns > start_ns {
                windows.push(Window { name: name.to_string(), start_ns, end_ns });
            }
        };
        for (key, written) in &before {
            if written.is_open && !seen.contains_key(key) {
                add(&written.name, written.until_ns, now_ns);
            }
        }
        for (key, (name, end)) in seen {
            let from_ns = before.get(&key).map_or(key.1.max(self.since_ns), |written| written.until_ns);
            let until_ns = end.unwrap_or(now_ns).min(now_ns).max(from_ns);
            add(name, from_ns, until_ns);
            self.written.insert(key, Written { name: name.to_string(), until_ns, is_open: end.is_none() });
        }
        windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_written_as_it_goes_on_and_to_its_end() {
        let phase = |name: &str, start_monotonic_ns, end_monotonic_ns| UnjudgedPhase {
            pid: 7,
            name: name.to_string(),
            start_monotonic_ns,
            end_monotonic_ns,
            inode: 1,
        };
        let mut windows = Windows::since(100);
        let mut at = |phases: &[UnjudgedPhase], now_ns| -> Vec<(String, i64, i64)> {
            let found = windows.of(phases, now_ns).into_iter();
            found.map(|window| (window.name, window.start_ns, window.end_ns)).collect()
        };
        let window = |name: &str, start_ns, end_ns| (name.to_string(), start_ns, end_ns);
        let populate = phase("populate", 50, None);
        assert_eq!(
            at(std::slice::from_ref(&populate), 200),
            [window("populate", 100, 200)],
            "from the recording's start"
        );
        let ended = phase("populate", 50, Some(260));
        let warm_up = phase("warm-up", 300, Some(400));
        let all = [populate, ended, warm_up];
        assert_eq!(at(&all, 290), [window("populate", 200, 260)], "the warm-up is planned");
        assert_eq!(at(&all[1..], 350), [window("warm-up", 300, 350)]);
        assert_eq!(at(&all[1..], 500), [window("warm-up", 350, 400)]);
        assert_eq!(at(&[phase("populate", 600, None)], 700), [window("populate", 600, 700)]);
        assert_eq!(at(&[], 800), [window("populate", 700, 800)], "its load has ended meanwhile");
        assert_eq!(at(&[], 900), []);
    }
}
