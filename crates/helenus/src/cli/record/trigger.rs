//! `helenus record --keep --trigger`: copies the minutes around an incident automatically.
//!
//! ```text
//! kept recording ─▶ Live ─▶ conditions, each second ─▶ incident ─▶ copy, explanation, report, --exec
//! ```

mod incident;

use anyhow::{Context, Result, bail};
use clap::Args;
use helenus_explain::{Condition, Live, LiveOptions, Triggers};
use helenus_recording::{Clock, Tail};
use incident::{Handler, Incident};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const JUDGE_EVERY: Duration = Duration::from_secs(1);
/// How much time the conditions need in memory: a few seconds.
const BINS: usize = 30;
/// How long after the incident the copy ends. Conditions that become true in this time belong to the same incident.
const AFTER: Duration = Duration::from_secs(10);
const BEFORE: Duration = Duration::from_secs(300);
/// Time between two copies for one condition: at first, and at most.
const FIRST_BACKOFF: Duration = Duration::from_secs(300);
const LAST_BACKOFF: Duration = Duration::from_secs(3600);
/// The most incidents that wait until an earlier one is copied and explained.
const MOST_WAITING: usize = 4;

#[derive(Debug, Clone, Default, Args)]
pub struct TriggerOptions {
    /// Freeze the minutes around the moment when a condition comes true, such as 'p99(read) > 200ms for 10s' (may be given again).
    /// Figures: p50 to p99.9 and max of (read), (write) or all requests; errors and timeouts per second; gc; pending(POOL); log(TEXT);
    /// exit
    #[arg(long = "trigger", value_name = "CONDITION", requires = "keep")]
    conditions: Vec<Condition>,
    /// How much before that moment is copied [default: 5m, or --keep if that is less]
    #[arg(long, value_name = "DURATION", value_parser = crate::cli::duration, requires = "conditions")]
    before: Option<Duration>,
    /// Folder for the copies, their reports and explanations; the newest 20 are kept, at most 4 GiB [default: RECORDING.incidents]
    #[arg(long, value_name = "FOLDER", requires = "conditions")]
    incidents: Option<PathBuf>,
    /// Shell command to run after each report; HELENUS_TRIGGER, HELENUS_ANSWER, HELENUS_INCIDENT and HELENUS_REPORT are set
    #[arg(long, value_name = "COMMAND", requires = "conditions")]
    exec: Option<String>,
}

impl TriggerOptions {
    /// Rejects options that do not fit to the time that is kept.
    pub fn check(&self, keep: Duration) -> Result<()> {
        match self.before {
            Some(before) if before > keep => bail!("--before {before:?} is longer than --keep {keep:?}; keep more"),
            _ => Ok(()),
        }
    }
}

/// A message for the user.
#[derive(Debug)]
pub enum Line {
    Warning(String),
    Done(String),
}

impl Line {
    pub fn print(&self) {
        match self {
            Line::Warning(text) => crate::terminal::warn(text),
            Line::Done(text) => crate::terminal::done(text),
        }
    }
}

/// The threads that judge conditions and handle incidents.
#[derive(Debug)]
pub struct Watching {
    /// Each message reports the end of a node's process; when the sender is dropped, the threads end.
    ended: Sender<()>,
    lines: Receiver<Line>,
    stopping: Arc<OnceLock<Instant>>,
    threads: [JoinHandle<()>; 2],
}

impl Watching {
    /// None if no condition was given.
    pub fn start(options: &TriggerOptions, recording: &Path, clock: Clock, keep: Duration) -> Result<Option<Watching>> {
        if options.conditions.is_empty() {
            return Ok(None);
        }
        let recording = std::fs::canonicalize(recording).context("cannot find the recording")?;
        let folder = options.incidents.clone().unwrap_or_else(|| recording.with_extension("incidents"));
        let now_ns = clock.now_ns();
        let tail = Tail::open(&recording, now_ns)?;
        let (ended, hear_ended) = channel();
        let (say, lines) = channel();
        let (report, incidents) = sync_channel(MOST_WAITING);
        let stopping = Arc::new(OnceLock::new());
        let (before, exec) = (options.before.unwrap_or(BEFORE.min(keep)), options.exec.clone());
        let handler = Handler::new(recording, folder, (before, AFTER), exec, say.clone(), Arc::clone(&stopping))?;
        let judge = Judge {
            tail,
            live: Live::new(LiveOptions { bins: BINS, ..LiveOptions::default() }),
            triggers: Triggers::new(options.conditions.clone(), now_ns),
            conditions: options.conditions.iter().cloned().map(Watched::new).collect(),
            clock,
            waiting: None,
            report,
            say,
            error: None,
        };
        let spawn =
            |name: &str, run: Box<dyn FnOnce() + Send>| std::thread::Builder::new().name(name.into()).spawn(run);
        let threads = [
            spawn("triggers", Box::new(move || judge.run(&hear_ended)))?,
            spawn("incidents", Box::new(move || handler.run(&incidents)))?,
        ];
        Ok(Some(Watching { ended, lines, stopping, threads }))
    }

    /// Reports that a node's process has ended.
    pub fn node_ended(&self) {
        // If the thread has ended, it has reported why.
        let _ = self.ended.send(());
    }

    /// The messages since the last call.
    pub fn lines(&self) -> impl Iterator<Item = Line> {
        self.lines.try_iter()
    }

    /// Ends the threads, and returns their last lines. Incidents that are waiting are copied first, within a bounded time.
    pub fn stop(self) -> Vec<Line> {
        let _ = self.stopping.set(Instant::now());
        drop(self.ended);
        for thread in self.threads {
            // The message of a panic has been printed.
            let _ = thread.join();
        }
        self.lines.try_iter().collect()
    }
}

/// A condition, and when it may cause another copy.
struct Watched {
    condition: Condition,
    quiet_until: Option<Instant>,
    backoff: Duration,
    was_true: bool,
}

impl Watched {
    fn new(condition: Condition) -> Watched {
        Watched { condition, quiet_until: None, backoff: FIRST_BACKOFF, was_true: false }
    }

    /// How long no copy is made although the condition has become true again.
    fn comes_too_early(&mut self, is_true: bool, now: Instant) -> Option<Duration> {
        let was_true = std::mem::replace(&mut self.was_true, is_true);
        let begins = is_true && !was_true;
        let left = self.quiet_until?.saturating_duration_since(now);
        (begins && left > Duration::ZERO).then_some(left)
    }

    /// Whether the condition causes a copy now. If so, it causes no other one for a while.
    fn fires(&mut self, now: Instant) -> bool {
        if self.quiet_until.is_some_and(|until| now < until) {
            return false;
        }
        // After a long quiet time, the next occurrence is a new incident.
        let goes_on = self.quiet_until.is_some_and(|until| now < until + LAST_BACKOFF);
        self.backoff = if goes_on { (self.backoff * 2).min(LAST_BACKOFF) } else { FIRST_BACKOFF };
        self.quiet_until = Some(now + self.backoff);
        true
    }
}

/// The thread that evaluates the conditions.
struct Judge {
    tail: Tail,
    live: Live,
    triggers: Triggers,
    conditions: Vec<Watched>,
    clock: Clock,
    /// An incident that is still collecting its minutes, and when that ends.
    waiting: Option<(Incident, Instant)>,
    report: SyncSender<Incident>,
    say: Sender<Line>,
    /// Reported once, as long as it lasts.
    error: Option<String>,
}

impl Judge {
    fn run(mut self, ended: &Receiver<()>) {
        let mut next = Instant::now() + JUDGE_EVERY;
        loop {
            let heard = ended.recv_timeout(next.saturating_duration_since(Instant::now()));
            match heard {
                Ok(()) => self.fire(|condition, _| condition.is_exit()),
                Err(RecvTimeoutError::Timeout) => {
                    next = Instant::now() + JUDGE_EVERY;
                    self.judge();
                }
                Err(RecvTimeoutError::Disconnected) => {}
            }
            let is_over = heard == Err(RecvTimeoutError::Disconnected);
            if let Some((incident, _)) = self.waiting.take_if(|(_, due)| is_over || Instant::now() >= *due)
                && let Err(TrySendError::Full(incident)) = self.report.try_send(incident)
            {
                self.say(Line::Warning(format!("{}: no copy is made, since others are being made", incident.why())));
            }
            if is_over {
                return;
            }
        }
    }

    fn judge(&mut self) {
        match self.live.follow(&mut self.tail, self.triggers.tables()) {
            Ok(()) => self.error = None,
            Err(error) => {
                let error = format!("the triggers cannot read the recording: {error}");
                if self.error.replace(error.clone()).is_none_or(|before| before != error) {
                    self.say(Line::Warning(error));
                }
            }
        }
        let fired = self.triggers.judge(&self.live, self.clock.now_ns());
        let now = Instant::now();
        let again = self.conditions.iter_mut().enumerate().filter_map(|(number, watched)| {
            let left = watched.comes_too_early(fired.contains(&number), now)?;
            let text = watched.condition.text();
            Some(Line::Warning(format!("{text} came true again; no copy is made for another {} s", left.as_secs() + 1)))
        });
        let again: Vec<Line> = again.collect();
        again.into_iter().for_each(|line| self.say(line));
        self.fire(|_, number| fired.contains(&number));
    }

    /// Begins an incident if one of these conditions causes one, or adds the conditions to the current incident.
    fn fire(&mut self, has_fired: impl Fn(&Condition, usize) -> bool) {
        let now = Instant::now();
        let mut reasons = Vec::new();
        for (number, watched) in self.conditions.iter_mut().enumerate() {
            if has_fired(&watched.condition, number) && watched.fires(now) {
                reasons.push(watched.condition.text().to_string());
            }
        }
        if reasons.is_empty() {
            return;
        }
        self.say(Line::Warning(format!("{} came true", reasons.join(" and "))));
        match &mut self.waiting {
            Some((incident, _)) => incident.reasons.extend(reasons),
            None => self.waiting = Some((Incident { at_ns: self.clock.now_ns(), reasons }, now + AFTER)),
        }
    }

    fn say(&self, line: Line) {
        // The recorder waits for messages until this thread has ended.
        let _ = self.say.send(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_goes_on_being_true_is_a_reason_ever_less_often() {
        let mut watched = Watched::new("exit".parse().unwrap());
        let begun = Instant::now();
        let minutes: Vec<u64> =
            (0..300).filter(|minute| watched.fires(begun + Duration::from_secs(minute * 60))).collect();
        assert_eq!(minutes, [0, 5, 15, 35, 75, 135, 195, 255]);
        assert!(watched.fires(begun + Duration::from_secs(600 * 60)));
        assert_eq!(watched.backoff, FIRST_BACKOFF);
    }

    #[test]
    fn a_condition_that_comes_true_again_too_early_is_said() {
        let mut watched = Watched::new("errors > 0".parse().unwrap());
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(watched.comes_too_early(true, at(0)), None, "the first one makes a copy");
        assert!(watched.fires(at(0)));
        assert_eq!(watched.comes_too_early(true, at(1)), None, "it goes on");
        assert_eq!(watched.comes_too_early(false, at(2)), None);
        assert_eq!(watched.comes_too_early(true, at(3)), Some(FIRST_BACKOFF - Duration::from_secs(3)));
        assert!(!watched.fires(at(3)));
    }

    #[test]
    fn more_than_is_kept_cannot_be_copied() {
        let options = TriggerOptions { before: Some(Duration::from_secs(60)), ..TriggerOptions::default() };
        assert!(options.check(Duration::from_secs(60)).is_ok());
        let error = options.check(Duration::from_secs(30)).unwrap_err().to_string();
        assert!(error.contains("--keep"), "{error}");
    }
}
