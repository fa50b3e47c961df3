//! A run from its start to its summary: the main thread, which commands the driver threads and shows their progress.

use crate::cut::{self, Passed};
use crate::driver::{Counts, Driver, Run, Tally};
use crate::progress::{Event, Lag, Percentiles, PhaseProgress, Progress, Recent};
use crate::schedule::{Phase, Segment, Until, Work};
use crate::setup::{self, SetUp};
use crate::stalls::Watcher;
use crate::summary::{Course, ErrorSummary, PhaseSummary, StallSummary, Summary, errors, lag};
use crate::{Cancel, Error, Outcome, Plan};
use helenus_cassandra::Announcement;
use helenus_recording::Recorder;
use helenus_recording::rows;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

/// Time between the command and the first request of a segment, so that all threads are ready in time.
const LEAD_NS: i64 = 20_000_000;
const REPORT_EVERY_NS: i64 = 1_000_000_000;
/// How long the main thread waits for driver threads at a time, and so how late a progress report may be.
const POLL_EVERY: Duration = Duration::from_millis(50);
/// By then the driver threads have reported what ended in a phase that is over.
const REPORTED_AFTER_NS: i64 = 250_000_000;
/// Phases that recorders in other processes are told of; each takes a descriptor.
const MOST_ANNOUNCED: usize = 64;

/// Runs a plan: connects, creates the schema, drives the phases and writes the tables `requests`, `stalls`, `marks` and
/// `sources` of the recording. Calls `progress` from the calling thread, first with the events that occurred while
/// connecting.
///
/// Failing requests are no error: they are counted and recorded. An error means that the run could not begin, or that a
/// thread of it was lost; what was recorded until then stays.
pub fn run(
    plan: &Plan,
    recorder: &Recorder,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, Error> {
    plan.check()?;
    plan.all_phases()?;
    let plan = Arc::new(plan.clone());
    let Some(SetUp { run, drivers, session_thread, events }) = setup::set_up(&plan, recorder, cancel, progress)? else {
        return Ok(Summary::of_nothing(&plan));
    };
    let watcher = Watcher::start(recorder, &run.stall_register)?;
    let mut run_loop = RunLoop::new(run, drivers, watcher, events);
    run_loop.show(progress);
    run_loop.drive(progress)?;
    let summary = run_loop.finish(progress);
    // The session thread follows the ring until here, the end of the run.
    drop(session_thread);
    summary
}

struct RunLoop {
    run: Run,
    drivers: Vec<Driver>,
    watcher: Watcher,
    start_ns: i64,
    /// Start and end of each phase that has begun.
    windows: BTreeMap<usize, (i64, i64)>,
    /// Totals by position of the phase.
    tallies: Vec<Tally>,
    courses: Vec<Course>,
    /// Figures since the last progress.
    recent: BTreeMap<usize, Tally>,
    shown_ns: i64,
    events: Vec<Event>,
    first_errors: BTreeMap<Outcome, (String, String)>,
    lost: BTreeMap<String, i64>,
    in_flight: u64,
    schedule_stalls: u64,
    longest_schedule_stall_ns: i64,
    reported: Reported,
    stopping: bool,
    /// The phases that are not judged, made known to recorders in other processes.
    announced: BTreeMap<usize, Announcement>,
    /// The last phase of an open loop that was ended early.
    cut_after: Option<usize>,
}

/// The totals of the `sources` rows written so far.
#[derive(Debug, Clone, Copy, Default)]
struct Reported {
    time_ns: i64,
    captured: u64,
    lag: Lag,
    cpu_ns: i64,
}

impl RunLoop {
    fn new(run: Run, drivers: Vec<Driver>, watcher: Watcher, events: Vec<Event>) -> RunLoop {
        let now_ns = run.recorder.clock().now_ns();
        let mut run_loop = RunLoop {
            tallies: run.phases.iter().map(|_| Tally::new()).collect(),
            courses: run.phases.iter().map(|_| Course::default()).collect(),
            run,
            drivers,
            watcher,
            start_ns: now_ns,
            windows: BTreeMap::new(),
            recent: BTreeMap::new(),
            shown_ns: now_ns,
            events,
            first_errors: BTreeMap::new(),
            lost: BTreeMap::new(),
            in_flight: 0,
            schedule_stalls: 0,
            longest_schedule_stall_ns: 0,
            reported: Reported { time_ns: now_ns, ..Reported::default() },
            stopping: false,
            announced: BTreeMap::new(),
            cut_after: None,
        };
        // CPU time used for connecting is not counted for the requests.
        run_loop.reported.cpu_ns = run_loop.collect();
        run_loop
    }

    /// Runs the segments one after the other.
    fn drive(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
        let clock = self.run.recorder.clock();
        let mut first_number = self.run.plan.first_number;
        for position in 0..self.run.segments.len() {
            if self.run.cancel.is_asked() {
                break;
            }
            let mut start_ns = clock.now_ns() + LEAD_NS;
            if position == 0 {
                start_ns = start_ns.max(self.run.plan.start_at_ns.unwrap_or(start_ns));
                self.start_ns = start_ns;
            }
            let windows = self.windows_of(position, start_ns);
            self.windows.extend(windows.iter().map(|(phase, from, to)| (*phase, (*from, *to))));
            windows.iter().for_each(|(phase, from, to)| self.announce(*phase, *from, *to));
            for driver in &self.drivers {
                driver.begin(position, start_ns, first_number)?;
            }
            let mut passed = Vec::new();
            let mut end_ns = start_ns;
            for driver in 0..self.drivers.len() {
                let done = loop {
                    if let Some(done) = self.drivers[driver].done(POLL_EVERY)? {
                        break done;
                    }
                    self.report_if_due(progress);
                    self.cut_if_hopeless(position, &windows, &mut passed);
                };
                end_ns = end_ns.max(done.end_ns);
                first_number = first_number.max(done.next_number);
            }
            // Each shard has a range of numbers of its own, so that numbers never collide.
            let (_, places) = self.run.plan.place(0);
            if self.run.plan.shard.1 > 1 {
                first_number = first_number.next_multiple_of(places as u64);
            }
            self.mark(&windows, end_ns);
            self.cut_after = None;
        }
        Ok(())
    }

    /// Position, start and planned end of the phases of a segment.
    fn windows_of(&self, segment: usize, start_ns: i64) -> Vec<(usize, i64, i64)> {
        match &self.run.segments[segment] {
            Segment::Open(open) => {
                open.phases().map(|(phase, from, to)| (phase, start_ns + from, start_ns + to)).collect()
            }
            Segment::Closed(phase) => {
                let end_ns = match self.run.phases[*phase].until {
                    Until::Elapsed(lasts) => {
                        start_ns.saturating_add(i64::try_from(lasts.as_nanos()).unwrap_or(i64::MAX))
                    }
                    Until::Count(_) => i64::MAX,
                };
                vec![(*phase, start_ns, end_ns)]
            }
        }
    }

    /// Tells recorders in other processes of a phase that is not judged.
    fn announce(&mut self, position: usize, start_ns: i64, end_ns: i64) {
        let phase = &self.run.phases[position];
        if phase.measured || (self.announced.len() >= MOST_ANNOUNCED && !self.announced.contains_key(&position)) {
            return;
        }
        let offset_ns = self.run.recorder.clock().epoch_offset_ns();
        let end_ns = (end_ns != i64::MAX).then(|| end_ns - offset_ns);
        // Best effort: without it, a recorder beside this load judges all that it sees.
        if let Ok(announcement) = Announcement::new(&phase.name, start_ns - offset_ns, end_ns) {
            self.announced.insert(position, announcement);
        }
    }

    /// Ends the schedule of a segment if nothing more of it can be sent in time. `passed` has the phases that are over.
    fn cut_if_hopeless(&mut self, segment: usize, windows: &[(usize, i64, i64)], passed: &mut Vec<Passed>) {
        let Some((position, start_ns, end_ns)) = windows.get(passed.len()).copied() else { return };
        let is_open = matches!(self.run.segments[segment], Segment::Open(_));
        if !is_open || self.cut_after.is_some() || self.run.recorder.clock().now_ns() < end_ns + REPORTED_AFTER_NS {
            return;
        }
        self.collect();
        let (phase, counts) = (&self.run.phases[position], &self.tallies[position].counts);
        let lasted_s = (end_ns - start_ns) as f64 / 1e9;
        let mean_per_s = phase.rates_per_s().map_or(0.0, |(from, to)| (from + to) / 2.0);
        let one = Passed {
            lasted_s,
            due: mean_per_s * lasted_s / self.run.plan.shard.1 as f64,
            ended: counts.requests(),
            answered: counts.ended_ok,
        };
        let later = &windows[passed.len() + 1..];
        let phases: Vec<Phase> = later.iter().map(|(phase, ..)| self.run.phases[*phase].clone()).collect();
        if cut::is_hopeless(passed, one, phase, &phases) {
            self.events.push(Event::LeftOut { phase: phase.name.clone(), later: later.len() });
            self.cut_after = Some(position);
            self.run.cut.end(segment);
        }
        passed.push(one);
    }

    /// Writes the phases of a segment that has ended, each up to its planned end or the actual one if that was before.
    fn mark(&mut self, windows: &[(usize, i64, i64)], ended_ns: i64) {
        for (position, start_ns, end_ns) in windows {
            let end_ns = (*end_ns).min(ended_ns);
            if end_ns < *start_ns || self.cut_after.is_some_and(|last| *position > last) {
                // The run was stopped before the phase began, or nothing of it was to be sent.
                self.windows.remove(position);
                self.announced.remove(position);
                continue;
            }
            self.windows.insert(*position, (*start_ns, end_ns));
            self.announce(*position, *start_ns, end_ns);
            self.say_populated(*position, end_ns - start_ns);
            // All shards have the same marks; only the first one writes them, for the merged recording.
            if self.run.plan.shard.0 > 0 {
                continue;
            }
            let phase = &self.run.phases[*position];
            let (rate, end_rate) = phase.rates_per_s().unzip();
            self.run.recorder.append(rows::Mark {
                start_ns: *start_ns,
                end_ns,
                kind: "phase",
                name: &phase.name,
                rate_per_s: rate,
                end_rate_per_s: end_rate.filter(|end_rate| Some(*end_rate) != rate),
                in_flight: phase.in_flight_at_most().map(i64::from),
                measured: phase.measured,
                ..rows::Mark::default()
            });
        }
    }

    /// Reports the end of the phase that was put before all others to write the workload's rows.
    fn say_populated(&mut self, position: usize, lasted_ns: i64) {
        let is_first = position == 0 && self.run.phases.len() > self.run.plan.phases.len();
        if is_first && self.run.phases[position].work == Work::Populate {
            self.collect();
            let counts = &self.tallies[position].counts;
            let (requests, failed) = (counts.requests(), counts.failed());
            self.events.push(Event::Populated { requests, failed, after: duration(lasted_ns) });
        }
    }

    /// Collects the reports of all threads. Returns their CPU time since they started.
    fn collect(&mut self) -> i64 {
        let now_ns = self.run.recorder.clock().now_ns();
        let mut cpu_ns = 0;
        self.in_flight = 0;
        // Keyed by phase and by index within a thread, so that pieces of about the same time are merged.
        let mut pieces: BTreeMap<(usize, usize), Vec<Tally>> = BTreeMap::new();
        for driver in &self.drivers {
            let report = driver.mailbox.take();
            for (phase, tallies) in report.tallies {
                for (number, tally) in tallies.into_iter().enumerate() {
                    self.tallies[phase].add(&tally);
                    self.recent.entry(phase).or_insert_with(Tally::new).add(&tally);
                    pieces.entry((phase, number)).or_default().push(tally);
                }
            }
            self.in_flight += report.in_flight;
            self.schedule_stalls += report.stalls;
            self.longest_schedule_stall_ns = self.longest_schedule_stall_ns.max(report.longest_stall_ns);
            cpu_ns += report.cpu_ns;
            for (outcome, node, message) in report.first_errors {
                if let Entry::Vacant(first) = self.first_errors.entry(outcome) {
                    first.insert((node.clone(), message.clone()));
                    self.events.push(Event::FirstError { outcome, node, message });
                }
            }
            for node in report.lost {
                self.lost.insert(node.clone(), now_ns);
                self.events.push(Event::Lost { node });
            }
            for node in report.back {
                let since_ns = self.lost.remove(&node).unwrap_or(now_ns);
                self.events.push(Event::Back { node, after: duration(now_ns - since_ns) });
            }
        }
        for ((phase, _), tallies) in &pieces {
            self.courses[*phase].add(&tallies.iter().collect::<Vec<_>>());
        }
        cpu_ns
    }

    /// Collects, records and shows the progress, if it is due.
    fn report_if_due(&mut self, progress: &mut dyn FnMut(Progress)) {
        let now_ns = self.run.recorder.clock().now_ns();
        let show = now_ns - self.shown_ns >= i64::try_from(self.run.plan.progress_every.as_nanos()).unwrap_or(i64::MAX);
        let report = now_ns - self.reported.time_ns >= REPORT_EVERY_NS;
        if report {
            self.report();
        }
        self.notice_stop();
        if show || !self.events.is_empty() {
            self.collect();
            self.show(progress);
        }
    }

    fn notice_stop(&mut self) {
        if self.run.cancel.is_asked() && !std::mem::replace(&mut self.stopping, true) {
            self.events.push(Event::Stopping);
        }
    }

    /// Writes the captured and lost rows and the CPU time since the last report.
    fn report(&mut self) {
        let cpu_ns = self.collect();
        let total = self.total();
        let (captured, now) = (total.requests(), lag(&total));
        let before = self.reported.lag;
        let lost = Lag {
            late_in_flight: now.late_in_flight - before.late_in_flight,
            late_driver: now.late_driver - before.late_driver,
            unsent: now.unsent - before.unsent,
        };
        let time_ns = self.run.recorder.clock().now_ns();
        self.run.recorder.append(rows::SourceReport {
            time_ns,
            interval_ns: time_ns - self.reported.time_ns,
            source: "requests",
            node: "",
            provider: self.run.plan.driven_by().name(),
            captured: (captured - self.reported.captured) as i64,
            // Requests that started late are not lost: each has a row whose response time includes the wait.
            lost: lost.unsent as i64,
            lost_reason: &lost.reason(self.run.plan.max_in_flight),
            cpu_ns: Some(cpu_ns - self.reported.cpu_ns),
        });
        self.reported = Reported { time_ns, captured, lag: now, cpu_ns };
    }

    fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.tallies.iter().for_each(|tally| total.add(&tally.counts));
        total
    }

    fn show(&mut self, progress: &mut dyn FnMut(Progress)) {
        let now_ns = self.run.recorder.clock().now_ns();
        let mut recent = std::mem::take(&mut self.recent);
        let total = self.total();
        let begun = self.windows.iter().rfind(|(_, (start_ns, _))| *start_ns <= now_ns);
        // Figures of the phase that is shown only: requests of the previous one do not count for it.
        let recent = begun.and_then(|(position, _)| recent.remove(position)).unwrap_or_else(Tally::new);
        let since_ns = begun.map_or(self.shown_ns, |(_, (start_ns, _))| self.shown_ns.max(*start_ns));
        let seconds = (now_ns - since_ns).max(1) as f64 / 1e9;
        self.shown_ns = now_ns;
        let phase =
            begun.map(|(position, (start_ns, end_ns))| self.phase_progress(*position, *start_ns, *end_ns, now_ns));
        let target_per_s = |at_ns| {
            let (position, window) = begun?;
            let all_per_s = target_per_s(&self.run.phases[*position], *window, at_ns)?;
            Some(all_per_s / self.run.plan.shard.1 as f64)
        };
        let (before, target_per_s) = (target_per_s(since_ns), target_per_s(now_ns));
        // A schedule's rate changes linearly.
        let due = before.zip(target_per_s).map(|(from, to)| (from + to) / 2.0 * seconds);
        progress(Progress {
            elapsed: duration(now_ns - self.start_ns),
            phase,
            target_per_s,
            ok_per_s: recent.counts.ok() as f64 / seconds,
            failed_per_s: recent.counts.failed() as f64 / seconds,
            in_flight: self.in_flight,
            response: Percentiles::of(&recent.response),
            service: Percentiles::of(&recent.service),
            ok: total.ok(),
            failed: total.failed(),
            errors: errors(&total),
            lag: lag(&total),
            stalls: self.watcher.pauses().count + self.schedule_stalls,
            recent: Recent {
                lasts: duration(now_ns - since_ns),
                ok: recent.counts.ok(),
                due,
                response: (recent.counts.requests() > 0).then_some(recent.response),
            },
            events: std::mem::take(&mut self.events),
        });
    }

    fn phase_progress(&self, position: usize, start_ns: i64, end_ns: i64, now_ns: i64) -> PhaseProgress {
        let phase = &self.run.phases[position];
        PhaseProgress {
            number: position + 1,
            of: self.run.phases.len(),
            name: phase.name.clone(),
            measured: phase.measured,
            elapsed: duration(now_ns.min(end_ns) - start_ns),
            lasts: (end_ns != i64::MAX).then(|| duration(end_ns - start_ns)),
            count: match phase.until {
                Until::Count(count) => Some(count),
                Until::Elapsed(_) => None,
            },
            ended: self.tallies[position].counts.requests(),
        }
    }

    fn finish(mut self, progress: &mut dyn FnMut(Progress)) -> Result<Summary, Error> {
        self.notice_stop();
        let stopped = self.stopping;
        self.collect();
        self.report();
        self.show(progress);
        for driver in std::mem::take(&mut self.drivers) {
            driver.finish()?;
        }
        let total = self.total();
        let first = |outcome: &Outcome| self.first_errors.get(outcome).cloned().unwrap_or_default();
        let pauses = self.watcher.pauses();
        let summarize = |(position, window): (&usize, &(i64, i64))| {
            let (tally, course) = (&self.tallies[*position], &self.courses[*position]);
            let (plan, phase) = (&self.run.plan, &self.run.phases[*position]);
            PhaseSummary::new(phase, *window, tally, course, plan.threads).of_shard(plan.shard.1)
        };
        Ok(Summary {
            format: Summary::FORMAT,
            workload: self.run.plan.workload.name.clone(),
            driver: self.run.plan.driven_by(),
            phases: self.windows.iter().map(summarize).collect(),
            requests: total.requests(),
            errors: errors(&total)
                .into_iter()
                .map(|error| {
                    let (first_node, first_message) = first(&error.outcome);
                    ErrorSummary { outcome: error.outcome, count: error.count, first_node, first_message }
                })
                .collect(),
            lag: lag(&total),
            stalls: StallSummary {
                watcher: pauses.count,
                watcher_total_ns: pauses.total_ns,
                watcher_longest_ns: pauses.longest_ns,
                run_queue_ns: pauses.run_queue_ns,
                major_faults: pauses.major_faults,
                steal_ns: pauses.steal_ns,
                schedule: self.schedule_stalls,
                schedule_longest_ns: self.longest_schedule_stall_ns,
                requests: total.stalled,
            },
            stopped,
        })
    }
}

fn target_per_s(phase: &Phase, (start_ns, end_ns): (i64, i64), now_ns: i64) -> Option<f64> {
    let (from, to) = phase.rates_per_s()?;
    let share = ((now_ns - start_ns) as f64 / (end_ns - start_ns).max(1) as f64).clamp(0.0, 1.0);
    Some(from + (to - from) * share)
}

fn duration(ns: i64) -> Duration {
    Duration::from_nanos(ns.max(0) as u64)
}
