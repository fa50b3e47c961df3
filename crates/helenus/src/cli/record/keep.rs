//! `helenus record --keep`: records until it is ended, and keeps the last minutes.

use super::trigger::{Line, Watching};
use super::{Arguments, targets};
use crate::assets::{AGENT_JAR, PROFILER};
use crate::cli::recorders::Announcement;
use crate::cli::{self, POLL_EVERY};
use crate::terminal::{self, Steps};
use anyhow::{Result, bail};
use helenus_cassandra::Cancel;
use helenus_cassandra::target::{self, Target, TargetName};
use helenus_observe::{Budget, BudgetChange, Event, Observation, Options, ProcessKind, SwitchRequest, Watched};
use helenus_recording::rows::NodeEvent;
use helenus_recording::{Keeper, Kept, Manifest};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// The kind of warnings that no new segment could be begun.
const TURNING: &str = "turning";
/// The shortest time that can be kept; shorter segments are not worthwhile.
const SHORTEST: Duration = Duration::from_secs(10);
/// The smallest size that can be kept; a smaller segment has no room for the rows that are recorded while it ends.
const SMALLEST_BYTES: u64 = 64 << 20;
/// How often old segments are deleted, and how often a node that is down is searched for.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
const LOOK_FOR_NODES_EVERY: Duration = Duration::from_secs(3);

/// Records until it is cancelled. Calls `attached` once the nodes are recorded. Starts and stops sources as it is asked to.
pub(super) fn run(
    arguments: &Arguments,
    keep: Duration,
    cancel: &Cancel,
    switches: Option<Receiver<SwitchRequest>>,
    attached: impl FnOnce(),
) -> Result<ExitCode> {
    if keep < SHORTEST {
        bail!("--keep {keep:?} is too short: give {SHORTEST:?} or more");
    }
    if let Some(bytes) = arguments.options.max_size.filter(|bytes| *bytes < SMALLEST_BYTES) {
        bail!("--max-size {} is too small to keep anything: give 64MiB or more", terminal::bytes(bytes));
    }
    arguments.triggers.check(keep)?;
    let targets = targets(arguments)?;
    let names: Vec<String> = targets.iter().map(|(name, _)| name.clone()).collect();
    let folder = arguments.output.clone().unwrap_or_else(|| default_folder(&names));
    let title = format!("record {}", names.join(" "));
    let kept = Kept::new(keep, arguments.options.max_size);
    let keeper = Keeper::begin(&folder, Manifest::new(&title, &cli::command_line()), kept)?;
    let _announcement = Announcement::begin(&folder, names)?;
    let triggers = Watching::start(&arguments.triggers, &folder, keeper.recorder().clock(), keep)?;
    let mut recording = Recording::new(arguments, keeper, keep, triggers, switches);
    let outcome = recording.run(targets, cancel, attached);
    let budget = recording.budget.take();
    recording.detach();
    if let Some(triggers) = recording.triggers.take() {
        triggers.stop().iter().for_each(Line::print);
    }
    let mut steps = Steps::new();
    steps.step("closing the last segment");
    let closed = recording.keeper.close(&mut |waiting| {
        steps.live(format_args!(
            "{}; {} rows wait in memory, for another {} s",
            waiting.error,
            terminal::count(waiting.rows),
            waiting.left.as_secs()
        ));
    });
    drop(steps);
    if let (Err(error), true) = (&closed, outcome.is_err()) {
        terminal::warn(error);
    }
    outcome?;
    let summary = closed?;
    cli::say_closed(&summary);
    if let Some(budget) = &budget {
        terminal::talk(kept_to(budget));
    }
    if arguments.json {
        terminal::json(&cli::Recorded::of(&summary))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A folder name that depends only on the nodes, so that the same command continues the same recording.
fn default_folder(names: &[String]) -> PathBuf {
    PathBuf::from(format!("keep-{}.helenus", names.join("-").replace([' ', ':'], "-")))
}

/// Identifies a node by its address, which a restarted process keeps. A process without a known address is identified
/// by itself.
fn place_of(name: &str, target: &Target) -> TargetName {
    match target.cql.filter(|address| address.ip().to_string() == name) {
        Some(address) => TargetName::Address(address),
        None => TargetName::Pid(target.pid),
    }
}

/// A sentence about how the budget was kept.
fn kept_to(budget: &Budget) -> String {
    let kept = budget.kept();
    let mut sentence =
        format!("recording took {} of the CPUs on average (budget {})", percent(kept.share), percent(budget.share()));
    if kept.thinned > Duration::ZERO {
        sentence.push_str(&format!(
            "; it recorded less for {} of {}: `helenus explain` says what was left out",
            nanos(kept.thinned),
            nanos(kept.lasted)
        ));
    }
    sentence
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        small if small > 0.0 && small < 0.1 => "less than 0.1 %".to_string(),
        percent => format!("{percent:.1} %"),
    }
}

fn nanos(duration: Duration) -> String {
    terminal::nanos(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}

/// The options of a recording's sources, and the budget that they keep.
fn settled(arguments: &Arguments, mut options: Options) -> (Options, Option<Budget>) {
    options.agent.jar = Some(AGENT_JAR);
    options.stacks.profiler = Some(PROFILER);
    // The size limit applies to all segments together.
    options.max_size = None;
    let budget = arguments.budget.map(|share| Budget::new(share, &options));
    (budget.as_ref().map_or(options, Budget::options), budget)
}

struct Recording<'a> {
    arguments: &'a Arguments,
    keep: Duration,
    keeper: Keeper,
    triggers: Option<Watching>,
    budget: Option<Budget>,
    options: Options,
    events: Sender<Event>,
    heard: Receiver<Event>,
    /// Requests to start and stop sources.
    switches: Option<Receiver<SwitchRequest>>,
    /// The nodes to record, and how to find each when it is started again.
    places: Vec<(String, TargetName)>,
    attached: Option<(Observation, Vec<Watched>)>,
    /// The processes that were attached last, without those that have ended.
    running: Vec<(String, Target)>,
    /// Nodes whose process has ended and was not found again so far.
    ended: BTreeSet<String>,
    /// Nodes that are recorded now.
    present: BTreeSet<String>,
    /// Messages printed so far, so that a lasting state is printed only once.
    said: BTreeSet<String>,
}

impl<'a> Recording<'a> {
    fn new(
        arguments: &'a Arguments,
        keeper: Keeper,
        keep: Duration,
        triggers: Option<Watching>,
        switches: Option<Receiver<SwitchRequest>>,
    ) -> Recording<'a> {
        let (events, heard) = channel();
        let (options, budget) = settled(arguments, arguments.options.clone());
        Recording {
            arguments,
            keep,
            keeper,
            triggers,
            budget,
            options,
            events,
            heard,
            switches,
            places: Vec::new(),
            attached: None,
            running: Vec::new(),
            ended: BTreeSet::new(),
            present: BTreeSet::new(),
            said: BTreeSet::new(),
        }
    }

    fn run(&mut self, first: Vec<(String, Target)>, cancel: &Cancel, attached: impl FnOnce()) -> Result<()> {
        let started = Instant::now();
        let mut steps = Steps::new();
        steps.step(format_args!("attaching to {} node(s)", first.len()));
        self.places = first.iter().map(|(name, target)| (name.clone(), place_of(name, target))).collect();
        // The first occurrence of an error is shown to the user.
        self.attach(first)?;
        steps.step(format_args!(
            "keeping the last {} in {}; Ctrl-C ends it",
            nanos(self.keep),
            self.keeper.folder().display()
        ));
        steps.keep(attached);
        let (mut swept, mut looked) = (Instant::now(), Instant::now());
        let wanted: BTreeSet<String> = self.places.iter().map(|(name, _)| name.clone()).collect();
        while !cancel.is_cancelled() && self.arguments.lasts.is_none_or(|lasts| started.elapsed() < lasts) {
            std::thread::sleep(POLL_EVERY);
            let gone = self.hear(&steps, &mut Vec::new());
            if gone {
                self.detach();
            }
            if self.keeper.is_due() {
                self.turn(&steps);
            }
            self.keep_to_budget(&steps);
            self.switch_sources(&steps);
            if swept.elapsed() >= SWEEP_EVERY {
                swept = Instant::now();
                self.notice_ended();
                let failed = self.keeper.sweep();
                failed.into_iter().for_each(|error| self.say_once(&steps, error.to_string()));
            }
            if self.present != wanted && looked.elapsed() >= LOOK_FOR_NODES_EVERY {
                self.look_for_nodes(&steps);
                looked = Instant::now();
            }
            self.show(&mut steps, started, &wanted);
        }
        Ok(())
    }

    /// Prints events of the sources, and collects what does not run. Returns whether a node or its agent has ended.
    fn hear(&mut self, steps: &Steps, missing: &mut Vec<String>) -> bool {
        let mut gone = false;
        for event in self.heard.try_iter() {
            let node = match &event {
                Event::TargetEnded { node, .. } | Event::AgentGone { node, .. } => Some(node),
                _ => None,
            };
            if let Event::Degraded { node, source, reason } = &event {
                let what = format!("{source} of {node}: {reason}");
                missing.push(what.clone());
                // Each segment starts its sources again, and they say the same.
                if !self.said.insert(what) {
                    continue;
                }
            }
            // A node that was attached again after such an event has not ended.
            gone |= self.attached.is_some() && node.is_some_and(|node| self.present.contains(node));
            steps.keep(|| cli::say_event(&event));
        }
        for line in self.triggers.iter().flat_map(Watching::lines) {
            steps.keep(|| line.print());
        }
        gone
    }

    /// Tells the triggers about processes that have ended, whichever source noticed it first.
    fn notice_ended(&mut self) {
        let (running, ended) = std::mem::take(&mut self.running).into_iter().partition(|(_, target)| target.is_alive());
        self.running = running;
        let ended: Vec<(String, Target)> = ended;
        for (node, _) in &ended {
            self.note(node, "ended", "the node's process ended");
            self.ended.insert(node.clone());
        }
        if let Some(triggers) = self.triggers.as_ref().filter(|_| !ended.is_empty()) {
            triggers.node_ended();
        }
    }

    fn note(&self, node: &str, kind: &'static str, what: &str) {
        let time_ns = self.keeper.recorder().clock().now_ns();
        self.keeper.recorder().append(NodeEvent { time_ns, node, kind, what, ..NodeEvent::default() });
    }

    fn attach(&mut self, targets: Vec<(String, Target)>) -> Result<()> {
        self.notice_ended();
        self.running.clone_from(&targets);
        let names: BTreeSet<String> = targets.iter().map(|(name, _)| name.clone()).collect();
        let watched: Vec<Watched> = targets
            .into_iter()
            .map(|(node, target)| Watched { process: ProcessKind::Server, node, pid: target.pid.unsigned_abs() })
            .collect();
        let observation = Observation::start(self.keeper.recorder(), &watched, &self.options, &self.events)?;
        if let Some(budget) = &mut self.budget {
            budget.begin(&watched);
        }
        self.attached = Some((observation, watched));
        for node in names.iter().filter(|node| self.ended.remove(*node)).collect::<Vec<_>>() {
            self.note(node, "started", "the node's process was started again");
        }
        self.present = names;
        Ok(())
    }

    fn detach(&mut self) {
        if let Some((observation, _)) = self.attached.take() {
            for left in observation.stop() {
                terminal::warn(left);
            }
        }
        self.present.clear();
    }

    /// Attaches to the nodes that are running, which may have been restarted.
    fn look_for_nodes(&mut self, steps: &Steps) {
        let running = |which: &TargetName| target::find(*which).ok().filter(Target::is_alive);
        let found = self.places.iter().filter_map(|(name, which)| Some((name.clone(), running(which)?)));
        let found: Vec<(String, Target)> = found.collect();
        let names: BTreeSet<String> = found.iter().map(|(name, _)| name.clone()).collect();
        if names.is_empty() || names == self.present {
            return;
        }
        self.detach();
        match self.attach(found) {
            Ok(()) => self.said.clear(),
            Err(error) => self.say_once(steps, format!("{error}; trying again")),
        }
    }

    /// Continues in a new segment.
    fn turn(&mut self, steps: &Steps) {
        let next = match self.keeper.begin_next() {
            Ok(next) => next,
            // The text names a new segment each time.
            Err(error) => {
                let line = format!("{error}; recording goes on in the same segment");
                return self.say_once_of(steps, TURNING, &line);
            }
        };
        self.said.remove(TURNING);
        let turned = match &mut self.attached {
            Some((observation, watched)) => observation.continue_in(&next, watched, &self.options, &self.events),
            None => Ok(()),
        };
        if let Err(error) = turned {
            // Only some sources continued: restart all of them in the new segment.
            self.detach();
            self.say_once(steps, error.to_string());
        }
        self.keeper.turned(next);
    }

    /// Records less or more, as the budget demands or allows.
    fn keep_to_budget(&mut self, steps: &Steps) {
        let Some(budget) = self.budget.as_mut().filter(|budget| budget.is_due()) else { return };
        let watched = self.attached.as_ref().map_or(&[][..], |(_, watched)| watched.as_slice());
        let recorder = self.keeper.recorder();
        let change = budget.measure(recorder, watched);
        let may = percent(budget.share());
        let changed = match change {
            None => Ok(()),
            Some(BudgetChange::Exhausted) => {
                let line = format!(
                    "recording takes {} of the CPUs, above the budget of {may}, and leaves out all that it can; record fewer sources \
                     (`--requests off`, `--stacks off`), or give a higher --budget",
                    percent(budget.last_share())
                );
                steps.keep(|| terminal::warn(line));
                Ok(())
            }
            Some(BudgetChange::Options(after)) => {
                let line = match budget.left_out() {
                    nothing if nothing.is_empty() => {
                        format!("the budget of {may} of the CPUs has room: everything is recorded again")
                    }
                    left_out => format!("to stay within {may} of the CPUs, {left_out}"),
                };
                steps.keep(|| terminal::talk(line));
                let before = std::mem::replace(&mut self.options, *after);
                match &mut self.attached {
                    Some((observation, watched)) => {
                        observation.change(recorder, watched, (&before, &self.options), &self.events)
                    }
                    None => Ok(()),
                }
            }
        };
        if let Err(error) = changed {
            // Only some sources run: restart all of them.
            self.detach();
            self.say_once(steps, error.to_string());
        }
    }

    /// Starts and stops sources as another thread asks for it, and tells it what does not run.
    fn switch_sources(&mut self, steps: &Steps) {
        let Some(request) = self.switches.as_ref().and_then(|switches| switches.try_recv().ok()) else { return };
        let (after, mut budget) = settled(self.arguments, *request.options);
        let before = std::mem::replace(&mut self.options, after);
        let mut missing = Vec::new();
        let mut outcome = Ok(());
        if let Some((observation, watched)) = &mut self.attached {
            let both = (&before, &self.options);
            outcome = observation.change(self.keeper.recorder(), watched, both, &self.events);
            if let Some(budget) = &mut budget {
                budget.begin(watched);
            }
            // After an error only some sources run: restart all of them.
            if self.hear(steps, &mut missing) || outcome.is_err() {
                self.detach();
            }
        }
        self.budget = budget;
        // Nobody waits for it if the server has ended.
        let _ = request.answer.send(outcome.map(|()| missing).map_err(|error| error.to_string()));
    }

    fn say_once(&mut self, steps: &Steps, line: String) {
        self.say_once_of(steps, &line, &line);
    }

    /// Says something of a kind unless that was said before.
    fn say_once_of(&mut self, steps: &Steps, kind: &str, line: &str) {
        if self.said.insert(kind.to_string()) {
            steps.keep(|| terminal::warn(line));
        }
    }

    fn show(&self, steps: &mut Steps, started: Instant, wanted: &BTreeSet<String>) {
        if cli::show_disk(steps, self.keeper.recorder()) {
            return;
        }
        let (segments, bytes) = self.keeper.kept();
        let away: Vec<&str> = wanted.difference(&self.present).map(String::as_str).collect();
        let waiting = if away.is_empty() { String::new() } else { format!("; waiting for {}", away.join(", ")) };
        steps.live(format_args!(
            "recording for {:.0} s: {segments} segments, {}{waiting}",
            started.elapsed().as_secs_f64(),
            terminal::bytes(bytes)
        ));
    }
}
