//! A run: warm-up, truncation, and as many rounds as the option `-rate` asks for.

use super::command::{Length, Truncate};
use super::draft::Effect;
use super::figures::{Figures, Uncertainty};
use super::options::Rate;
use super::{Stress, rounds, screen};
use crate::hlog;
use crate::{Cancel, Error, Event, Intervals, OperationTimes, Phase, Plan, Progress, Summary, Until};
use helenus_recording::Recorder;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// The length of a run without a limit on its requests: a year.
const ENDLESS: Duration = Duration::from_secs(365 * 86_400);
/// A warm-up has a quarter of the run's requests, and at most this many for each node.
const WARM_UP_MOST: u64 = 50_000;
const WARM_UP_THREADS: u32 = 100;

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    /// Results of each round, without the warm-up.
    pub rounds: Vec<Summary>,
    pub errors: u64,
    /// How many of the errors were reads that were answered without a row.
    pub empty_reads: u64,
    /// Whether cassandra-stress would have reported success.
    pub well: bool,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
}

/// Runs the load of the arguments, writes the lines of cassandra-stress to `out` and every request to the recording.
/// Calls `happened` for all other events.
pub fn run(
    stress: &Stress,
    recorder: &Recorder,
    cancel: &Cancel,
    out: &mut dyn Write,
    happened: &mut dyn FnMut(&Event),
) -> Result<Ran, Error> {
    let log = match &stress.log.hdr_file {
        Some(path) => Some(hlog::Log::create(path, recorder.clock().now_ns())?),
        None => None,
    };
    let mut runner = Runner { stress, recorder, cancel, out, happened, log, done: Vec::new(), schema_due: true };
    runner.warm_up()?;
    match stress.rate {
        Rate::Threads { threads, per_s } => runner.round(threads, per_s, stress.command.truncate != Truncate::Never)?,
        Rate::Rising { from, to, until_saturated } => runner.rise(from, to, until_saturated)?,
    }
    runner.finish()
}

struct Runner<'r> {
    stress: &'r Stress,
    recorder: &'r Recorder,
    cancel: &'r Cancel,
    out: &'r mut dyn Write,
    happened: &'r mut dyn FnMut(&Event),
    log: Option<hlog::Log>,
    done: Vec<Round>,
    /// The schema will be created by the first run.
    schema_due: bool,
}

struct Round {
    threads: u32,
    summary: Summary,
    each: Vec<Figures>,
    empty: u64,
    uncertainty: Uncertainty,
}

impl Runner<'_> {
    fn warm_up(&mut self) -> Result<(), Error> {
        let command = &self.stress.command;
        let partitions = match command.length {
            Length::Count(count) => (count / 4).min(WARM_UP_MOST),
            _ => WARM_UP_MOST,
        } * self.stress.target.nodes.len() as u64;
        if !command.warm_up || partitions == 0 {
            return Ok(());
        }
        self.say(&format!("Warming up {} with {partitions} iterations...", self.what()))?;
        let threads = match self.stress.rate {
            Rate::Threads { threads, .. } => threads,
            Rate::Rising { to, .. } => to,
        };
        let until = Until::Count(self.stress.workload.requests_of(partitions));
        let phase = Phase::in_flight(threads.min(WARM_UP_THREADS), until);
        let mut plan = self.plan(false);
        plan.partitions = Some(partitions);
        plan.phases = vec![phase.named("warm-up").unmeasured()];
        let (cancel, happened) = (self.cancel, &mut *self.happened);
        crate::run(&plan, self.recorder, cancel, &mut |progress| progress.events.iter().for_each(&mut *happened))?;
        Ok(())
    }

    fn rise(&mut self, from: u32, to: u32, until_saturated: bool) -> Result<(), Error> {
        let least_gain = match self.stress.command.length {
            Length::Converged { error, .. } => error,
            _ => -1.0,
        };
        self.say("Thread count was not specified")?;
        let truncates = self.stress.command.truncate;
        let mut threads = from;
        let mut rates = Vec::new();
        loop {
            self.say(&format!("\nRunning with {threads} threadCount"))?;
            self.round(
                threads,
                None,
                truncates == Truncate::Always || (truncates == Truncate::Once && rates.is_empty()),
            )?;
            let Some(total) = self.done.last().and_then(|round| Figures::sum(&round.each)) else { break };
            rates.push(total.per_s(total.requests));
            if let (Some(gain), [.., before, _]) = (rounds::last_gain(&rates), self.done.as_slice()) {
                let line = format!("Improvement over {} threadCount: {:.0}%", before.threads, 100.0 * gain);
                self.say(&line)?;
            }
            threads = rounds::after(threads);
            let gains = !until_saturated || rounds::gains(&rates, least_gain);
            if self.cancel.is_asked() || threads > to || !gains {
                break;
            }
        }
        self.compare()
    }

    /// Runs one round, and prints the lines of its intervals and its results.
    fn round(&mut self, threads: u32, per_s: Option<f64>, truncate: bool) -> Result<(), Error> {
        if self.cancel.is_asked() {
            return Ok(());
        }
        let intervals = Intervals::default();
        let mut plan = self.plan(truncate);
        plan.partitions = self.partitions();
        let until = self.until();
        let phase = match per_s {
            // The rate counts partitions, and a request may have several.
            Some(per_s) => Phase::rate(per_s / self.stress.workload.mean_partitions(), until),
            None => Phase::in_flight(threads, until),
        };
        plan.phases = vec![phase.named(&format!("{threads} threads"))];
        plan.max_in_flight = threads;
        if matches!(until, Until::Count(_)) {
            // All requests are sent, however late.
            plan.drain = ENDLESS;
        }
        plan.intervals = Some(intervals.clone());
        let interval = self.stress.log.interval;
        plan.progress_every = (interval / 10).clamp(Duration::from_millis(10), Duration::from_millis(100));
        let lasts = match self.stress.command.length {
            Length::Count(count) => format!("for {count} iteration"),
            Length::Elapsed(lasts) => format!("{} seconds", lasts.as_secs()),
            Length::Converged { error, .. } => format!("until stderr of mean < {error}"),
        };
        self.say(&format!("Running {} with {threads} threads {lasts}\n{}", self.what(), screen::header()))?;

        let stop = Cancel::new();
        let mut table = Table::new(self.stress, intervals, &mut *self.out, self.log.as_mut());
        let (recorder, cancel, happened) = (self.recorder, self.cancel, &mut *self.happened);
        let mut failed = None;
        let ran = crate::run(&plan, recorder, &stop, &mut |progress| {
            let is_shown = |event: &&Event| cancel.is_asked() || **event != Event::Stopping;
            progress.events.iter().filter(is_shown).for_each(&mut *happened);
            let shown = table.show_if_due(&progress, recorder.clock().now_ns());
            let wrong = shown.is_err();
            failed = failed.take().or(shown.err());
            if (cancel.is_asked() || wrong || table.is_over(progress.elapsed)) && !stop.is_asked() {
                stop.stop();
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let summary = ran?;
        let (start_ns, end_ns) = match summary.phases.first() {
            Some(phase) => (phase.start_ns, phase.end_ns),
            // Stopped while connecting.
            None => return Ok(()),
        };
        let seconds = (end_ns - start_ns) as f64 / 1e9;
        table.finish(seconds, end_ns)?;
        let (times, uncertainty) = (table.totals, table.uncertainty);
        let each = figures(self.stress, &times, seconds);
        if self.stress.log.summary
            && let Some(total) = Figures::sum(&each)
        {
            let named: Vec<(&str, Figures)> = self.stress.names().zip(each.iter().cloned()).collect();
            self.say(&screen::results(&total, &named))?;
        }
        let empty = times.iter().map(|times| times.empty).sum();
        self.done.push(Round { threads, summary, each, empty, uncertainty });
        Ok(())
    }

    /// How many partitions are to be sent, which is what `n=` counts.
    fn partitions(&self) -> Option<u64> {
        match (self.stress.command.length, self.stress.most_partitions) {
            (Length::Count(count), most) => Some(most.map_or(count, |most| most.min(count))),
            (_, most) => most,
        }
    }

    fn until(&self) -> Until {
        match (self.partitions(), self.stress.command.length) {
            (Some(partitions), _) => Until::Count(self.stress.workload.requests_of(partitions)),
            (None, Length::Elapsed(lasts)) => Until::Elapsed(lasts),
            (None, _) => Until::Elapsed(ENDLESS),
        }
    }

    /// A table that compares the rounds.
    fn compare(&mut self) -> Result<(), Error> {
        let ids: Vec<String> = self.done.iter().map(|round| format!("{} threadCount", round.threads)).collect();
        let width = ids.iter().map(String::len).max().unwrap_or(0);
        let mut lines = vec![format!("{:>width$}, {}", "id", screen::header())];
        for (id, round) in ids.iter().zip(&self.done) {
            let uncertainty = round.uncertainty.share();
            let mut line = |name: &str, figures: &Figures| {
                let row = screen::row(name, figures.requests, figures, figures.seconds, uncertainty);
                lines.push(format!("{id:>width$}, {row}"));
            };
            self.stress.names().zip(&round.each).for_each(|(name, figures)| line(name, figures));
            if let Some(total) = Figures::sum(&round.each) {
                line("total", &total);
            }
        }
        self.say(&lines.join("\n"))
    }

    fn finish(mut self) -> Result<Ran, Error> {
        let errors = self.done.iter().flat_map(|round| &round.each).map(|figures| figures.errors).sum();
        let stopped = self.cancel.is_asked();
        let well = !stopped && (errors == 0 || self.stress.failures.ignored);
        self.say(if well { "END" } else { "FAILURE" })?;
        let strict = self.stress.failures.empty_reads_fail
            && self
                .stress
                .draft
                .operations
                .iter()
                .any(|operation| operation.effect == Effect::Reads { must_find: true });
        let empty_reads = if strict { self.done.iter().map(|round| round.empty).sum() } else { 0 };
        let rounds = self.done.into_iter().map(|round| round.summary).collect();
        Ok(Ran { rounds, errors, empty_reads, well, stopped })
    }

    /// The plan of the next run; only the first one creates the schema.
    fn plan(&mut self, truncate: bool) -> Plan {
        let draft = &self.stress.draft;
        let mut schema = Vec::new();
        if std::mem::take(&mut self.schema_due) {
            schema.extend(draft.schema.iter().cloned());
        }
        if truncate {
            schema.extend(draft.truncate.iter().cloned());
        }
        self.stress.plan(schema)
    }

    /// The names that cassandra-stress gives to the operations.
    fn what(&self) -> String {
        let names: Vec<&str> = self.stress.names().collect();
        if let [only] = names.as_slice() { only.to_string() } else { format!("[{}]", names.join(", ")) }
    }

    fn say(&mut self, line: &str) -> Result<(), Error> {
        say(self.out, line)
    }
}

/// The table of a round's intervals, which is printed as the round runs.
struct Table<'r> {
    stress: &'r Stress,
    intervals: Intervals,
    out: &'r mut dyn Write,
    log: Option<&'r mut hlog::Log>,
    /// Totals since the start of the round, by position of the operation.
    totals: Vec<OperationTimes>,
    uncertainty: Uncertainty,
    /// The time covered by the lines so far.
    shown: Duration,
}

impl<'r> Table<'r> {
    fn new(
        stress: &'r Stress,
        intervals: Intervals,
        out: &'r mut dyn Write,
        log: Option<&'r mut hlog::Log>,
    ) -> Table<'r> {
        let totals = stress.names().map(|_| OperationTimes::new()).collect();
        Table { stress, intervals, out, log, totals, uncertainty: Uncertainty::default(), shown: Duration::ZERO }
    }

    /// Prints an interval when it has ended.
    fn show_if_due(&mut self, progress: &Progress, now_ns: i64) -> Result<(), Error> {
        let length = progress.elapsed.saturating_sub(self.shown);
        if progress.phase.is_none() || length < self.stress.log.interval {
            return Ok(());
        }
        self.shown = progress.elapsed;
        self.show(length.as_secs_f64(), now_ns)
    }

    /// Prints the figures since the last interval.
    fn finish(&mut self, seconds: f64, end_ns: i64) -> Result<(), Error> {
        let length = seconds - self.shown.as_secs_f64();
        self.shown = self.shown.max(Duration::from_secs_f64(seconds.max(0.0)));
        // The requests since the last interval form an interval of their own, however short.
        self.show(length.max(1e-3), end_ns)
    }

    fn show(&mut self, seconds: f64, end_ns: i64) -> Result<(), Error> {
        let taken = self.intervals.take();
        self.totals.iter_mut().zip(&taken).for_each(|(total, times)| total.add(times));
        let each = figures(self.stress, &taken, seconds);
        let Some(sum) = Figures::sum(&each).filter(|sum| sum.requests > 0) else { return Ok(()) };
        self.uncertainty.add(sum.per_s(sum.rows));
        let (time_s, uncertainty) = (self.shown.as_secs_f64(), self.uncertainty.share());
        if self.totals.len() > 1 {
            for ((name, figures), total) in self.stress.names().zip(&each).zip(&self.totals) {
                if figures.requests > 0 {
                    say(self.out, &screen::row(name, total.requests, figures, time_s, uncertainty))?;
                }
            }
        }
        let total = self.totals.iter().map(|times| times.requests).sum();
        say(self.out, &screen::row("total", total, &sum, time_s, uncertainty))?;
        if let Some(log) = &mut self.log {
            let start_ns = end_ns - (seconds * 1e9) as i64;
            log.append(self.stress.names(), &taken, (start_ns, end_ns))?;
        }
        Ok(())
    }

    /// Whether the round has ended before all its requests were sent.
    fn is_over(&self, elapsed: Duration) -> bool {
        match self.stress.command.length {
            Length::Count(_) => false,
            Length::Elapsed(lasts) => self.stress.most_partitions.is_some() && elapsed >= lasts,
            Length::Converged { error, least, most } => {
                let Uncertainty { measurements, .. } = self.uncertainty;
                measurements >= most || (measurements >= least && self.uncertainty.share() <= error)
            }
        }
    }
}

fn figures(stress: &Stress, times: &[OperationTimes], seconds: f64) -> Vec<Figures> {
    let of = |(times, effect)| Figures::of(times, effect, stress.failures.empty_reads_fail, seconds);
    times.iter().zip(stress.effects()).map(of).collect()
}

/// Writes a line and flushes it, because a script may read it.
fn say(out: &mut dyn Write, line: &str) -> Result<(), Error> {
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    written.map_err(|source| Error::Write { path: Path::new("the output").to_path_buf(), source })
}
