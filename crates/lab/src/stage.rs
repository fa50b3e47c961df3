//! The state that all steps of a run share: the recording, the receiver of progress, and the load.

use crate::compilers::Compilers;
use crate::link::link;
use crate::peak::Peak;
use crate::{Before, Calibrate, Error, Part, Progress, Run, restore, warmup};
use helenus_cassandra::Cancel;
use helenus_load::{Phase, Plan, Until, Workload};
use helenus_observe::Event;
use helenus_recording::Recorder;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const COMPACTED_WITHIN: Duration = Duration::from_secs(300);
const POLL_EVERY: Duration = Duration::from_millis(250);
/// If this many polls in a row find nothing to compact, the wait ends; the node's estimate lags behind.
const STEADY_READINGS: u32 = 4;
/// Length of a stretch of the warm-up, after each of which the compilers are checked.
const WARM_UP_STRETCH: Duration = Duration::from_secs(3);
/// Compilation counts as finished below this share of one CPU for all nodes' compiler threads.
const QUIET: f64 = 0.05;
/// The warm-up ends after this many quiet stretches in a row, because the JIT compiles in bursts.
const QUIET_STRETCHES: u32 = 2;
/// How long the load rests at most after a stretch, so that the compilers, which get little of the CPUs beside it, catch up.
const LONGEST_REST: Duration = Duration::from_secs(5);

/// A run in progress.
pub(crate) struct Stage<'s> {
    pub run: &'s Run<'s>,
    pub recorder: &'s Recorder,
    pub cancel: &'s Cancel,
    pub tell: &'s mut dyn FnMut(Progress<'_>),
    /// Receives the sources' events.
    pub events: Sender<Event>,
    received: Receiver<Event>,
    /// A node whose process ended while it was watched.
    pub ended: Option<String>,
    /// Changes that may not have been undone.
    pub left: Vec<String>,
    /// Whether a node was asked for the points of valves.
    pub points_are_checked: bool,
    /// Remarks that were already reported.
    remarks: Vec<String>,
}

impl<'s> Stage<'s> {
    pub fn new(
        run: &'s Run<'s>,
        recorder: &'s Recorder,
        cancel: &'s Cancel,
        tell: &'s mut dyn FnMut(Progress<'_>),
    ) -> Stage<'s> {
        let (events, received) = channel();
        Stage {
            run,
            recorder,
            cancel,
            tell,
            events,
            received,
            ended: None,
            left: Vec::new(),
            points_are_checked: false,
            remarks: Vec::new(),
        }
    }

    /// A sentence about the step that begins.
    pub fn say(&mut self, text: impl Into<String>) {
        (self.tell)(Progress::Step(text.into()));
    }

    /// Reports a remark once and keeps it in the manifest of the recording, for later analysis.
    pub fn remark(&mut self, text: String) {
        if !self.remarks.contains(&text) {
            (self.tell)(Progress::Remark(&text));
            // If the manifest can't be written, the recorder's own rows report it.
            let _ = self.recorder.update_manifest(|manifest| manifest.remarks.push(text.clone()));
            self.remarks.push(text);
        }
    }

    /// Passes on events of the sources.
    pub fn hear(&mut self) {
        for event in self.received.try_iter() {
            if let Event::TargetEnded { node, .. } = &event {
                self.ended = Some(node.clone());
            }
            (self.tell)(Progress::Observe(event));
        }
    }

    /// Waits, unless it is cancelled.
    pub fn rest(&self, lasts: Duration) {
        let until = Instant::now() + lasts;
        while Instant::now() < until && !self.cancel.is_cancelled() {
            std::thread::sleep(Duration::from_millis(50).min(until - Instant::now()));
        }
    }

    /// Runs phases of a workload. A run of a variant ends if its node ends, because later figures can't be compared.
    pub fn load(&mut self, plan: Plan) -> Result<helenus_load::Summary, Error> {
        let ends_with_node = self.run.experiment.variants.is_some();
        let stop = helenus_load::Cancel::new();
        let (recorder, cancel) = (self.recorder, self.cancel);
        let summary = helenus_load::run(&plan, recorder, &stop, &mut |progress| {
            self.hear();
            if (cancel.is_cancelled() || (ends_with_node && self.ended.is_some())) && !stop.is_asked() {
                stop.stop();
            }
            (self.tell)(Progress::Load(&progress));
        });
        self.hear();
        Ok(summary?)
    }

    /// Finds the peak throughput of a closed loop, after a warm-up: a JVM that has just started reaches a small part of it.
    pub fn calibrate(&mut self, nodes: &[SocketAddr], workload: &Workload) -> Result<Option<f64>, Error> {
        let Some(calibrate) = self.run.experiment.calibrate else { return Ok(None) };
        self.warm_up(calibrate, nodes, workload)?;
        let mut peak = Peak::within(calibrate.lasts);
        while !peak.is_found() && !self.cancel.is_cancelled() {
            peak.push(self.closed_loop("calibrate", calibrate.in_flight, peak.stretch, nodes, workload)?);
        }
        Ok(Some(peak.per_s()))
    }

    /// Runs a closed loop until the JVMs of the nodes have stopped compiling, and for `calibrate.warm_up` at most.
    fn warm_up(&mut self, calibrate: Calibrate, nodes: &[SocketAddr], workload: &Workload) -> Result<(), Error> {
        let mut compilers = Compilers::of(nodes);
        let _before = compilers.used();
        let started = Instant::now();
        let (mut quiet, mut share) = (0, None);
        while quiet < QUIET_STRETCHES && !self.cancel.is_cancelled() {
            let left = calibrate.warm_up.saturating_sub(started.elapsed());
            if left.is_zero() {
                break;
            }
            let begun = Instant::now();
            self.closed_loop("warm-up", calibrate.in_flight, WARM_UP_STRETCH.min(left), nodes, workload)?;
            share = compilers.share_since(begun);
            quiet = if share.is_some_and(|share| share < QUIET) { quiet + 1 } else { 0 };
            self.rest_while_compiling(&mut compilers);
        }
        if let Some(share) = share.filter(|share| *share >= QUIET) {
            self.remark(format!(
                "The JVM was still compiling (with {:.0} % of a CPU) when its warm-up of {:?} was over: the peak may be too low, \
                 and rates in percent with it. A longer `warm_up` of [calibrate] helps.",
                share * 100.0,
                calibrate.warm_up
            ));
        }
        Ok(())
    }

    fn rest_while_compiling(&self, compilers: &mut Compilers) {
        let until = Instant::now() + LONGEST_REST;
        loop {
            let begun = Instant::now();
            self.rest(POLL_EVERY);
            let is_busy = compilers.share_since(begun).is_some_and(|share| share >= QUIET);
            if !is_busy || Instant::now() >= until || self.cancel.is_cancelled() {
                return;
            }
        }
    }

    /// The throughput of a closed loop in an unmeasured phase.
    fn closed_loop(
        &mut self,
        name: &str,
        in_flight: u32,
        lasts: Duration,
        nodes: &[SocketAddr],
        workload: &Workload,
    ) -> Result<f64, Error> {
        let phase = Phase::in_flight(in_flight, Until::Elapsed(lasts)).unmeasured().named(name);
        let summary = self.load(plan(workload, vec![phase], nodes))?;
        let rate_per_s = summary.phases.last().map_or(0.0, |phase| phase.throughput_per_s);
        if rate_per_s < 1.0 && !self.cancel.is_cancelled() {
            let first = summary.errors.first().map_or("no answer came", |error| &error.first_message);
            return Err(Error::NoPeak(first.to_string()));
        }
        Ok(rate_per_s)
    }

    /// Runs the parts of an experiment. If it is cancelled, returns the results of the parts that were begun.
    pub fn parts(
        &mut self,
        nodes: &[SocketAddr],
        workload: &Workload,
        parts: &[Part],
    ) -> Result<Vec<helenus_load::Summary>, Error> {
        let mut loads = Vec::new();
        for part in parts {
            let workload = match &part.mix {
                Some(mix) => self.run.experiment.open_workload(Some(mix))?,
                None => workload.clone(),
            };
            self.rest(part.rest);
            for step in &part.before {
                match step {
                    Before::DropPageCache => self.drop_page_cache()?,
                    Before::Compactions => self.wait_for_compactions(nodes, &workload)?,
                }
            }
            if self.cancel.is_cancelled() {
                break;
            }
            loads.extend(self.part(nodes, &workload, &part.phases)?);
        }
        Ok(loads)
    }

    /// Runs the phases of a part. Its warm-up, the phase of a fixed time before the measured ones, is repeated until the
    /// nodes' JVMs have stopped compiling.
    fn part(
        &mut self,
        nodes: &[SocketAddr],
        workload: &Workload,
        phases: &[Phase],
    ) -> Result<Vec<helenus_load::Summary>, Error> {
        let mut compilers = Compilers::of(nodes);
        let Some(warm_up) = warmup::position(phases) else {
            let _before = compilers.used();
            let begun = Instant::now();
            let load = self.load(plan(workload, phases.to_vec(), nodes))?;
            if compilers.share_since(begun).is_some_and(|share| share >= QUIET) {
                self.remark_on_cold_jvms(
                    "a phase with `for` and `measured = false` before the measured ones is repeated until they have stopped",
                );
            }
            return Ok(vec![load]);
        };
        let mut loads = Vec::new();
        let mut plan = plan(workload, Vec::new(), nodes);
        for phases in [&phases[..warm_up], &phases[warm_up..=warm_up]] {
            let _before = compilers.used();
            if !phases.is_empty() {
                loads.push(self.load_next(&mut plan, phases)?);
            }
        }
        self.repeat_while_compiling(&mut compilers, &mut plan, &phases[warm_up])?;
        if !self.cancel.is_cancelled() {
            loads.push(self.load_next(&mut plan, &phases[warm_up + 1..])?);
        }
        Ok(loads)
    }

    /// Runs phases whose requests are numbered after those of the phases before.
    fn load_next(&mut self, plan: &mut Plan, phases: &[Phase]) -> Result<helenus_load::Summary, Error> {
        plan.phases = phases.to_vec();
        let load = self.load(plan.clone())?;
        plan.first_number += load.requests + load.lag.unsent;
        Ok(load)
    }

    /// `compilers` were last read before the warm-up.
    fn repeat_while_compiling(
        &mut self,
        compilers: &mut Compilers,
        plan: &mut Plan,
        warm_up: &Phase,
    ) -> Result<(), Error> {
        let at_most = self.run.experiment.warm_up_at_most();
        let mut stretch = warm_up.clone();
        stretch.until = Until::Elapsed(WARM_UP_STRETCH);
        let mut share = compilers.share_within(warmup::lasts(warm_up));
        let started = Instant::now();
        while share.is_some_and(|share| share >= QUIET) && !self.cancel.is_cancelled() {
            if started.elapsed() >= at_most {
                self.remark_on_cold_jvms("a longer `warm_up` of [lab] helps");
                break;
            }
            self.say("warming up until the JVM has stopped compiling");
            self.rest_while_compiling(compilers);
            let begun = Instant::now();
            let _before = compilers.used();
            self.load_next(plan, std::slice::from_ref(&stretch))?;
            share = compilers.share_since(begun);
        }
        Ok(())
    }

    fn remark_on_cold_jvms(&mut self, help: &str) {
        // Runs of variants are judged by the CPU time that their compilers took in the measured phases.
        if self.run.experiment.variants.is_none() {
            self.remark(format!("The JVM was still compiling in measured phases, and slower than it will be: {help}."));
        }
    }

    /// Waits until no node has compactions of the workload's tables left, at most [`COMPACTED_WITHIN`].
    fn wait_for_compactions(&mut self, nodes: &[SocketAddr], workload: &Workload) -> Result<(), Error> {
        self.say("waiting for compactions");
        let until = Instant::now() + COMPACTED_WITHIN;
        let tables = restore::tables(&workload.schema);
        for node in nodes {
            let failed = |reason: String| Error::Compactions { node: *node, reason };
            let mut link = link(*node, self.run.agent).map_err(failed)?;
            let mut steady = 0;
            while steady < STEADY_READINGS && !self.cancel.is_cancelled() {
                if Instant::now() > until {
                    self.say(format!("{node} is not done with its compactions; it goes on without"));
                    break;
                }
                let mut settled = true;
                for table in &tables {
                    let figures = link.table_figures(table).map_err(|error| failed(error.to_string()))?;
                    settled &= figures.is_settled();
                }
                steady = if settled { steady + 1 } else { 0 };
                self.rest(POLL_EVERY);
            }
        }
        Ok(())
    }

    /// Only on this machine; nodes elsewhere keep their page caches.
    fn drop_page_cache(&mut self) -> Result<(), Error> {
        if !self.run.nodes.is_empty() {
            self.say("the page cache is left as it is: the nodes are not the experiment's own");
            return Ok(());
        }
        self.say("dropping the page cache");
        // SAFETY: sync takes no pointers. Dirty pages can't be dropped, so they are written first.
        unsafe { libc::sync() };
        std::fs::write("/proc/sys/vm/drop_caches", "1").map_err(Error::PageCache)
    }
}

pub(crate) fn plan(workload: &Workload, phases: Vec<Phase>, nodes: &[SocketAddr]) -> Plan {
    Plan::new(workload.clone(), phases, nodes.iter().map(SocketAddr::to_string).collect())
}
