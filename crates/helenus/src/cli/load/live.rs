//! What a load says while it runs.

use super::millis;
use crate::terminal;
use helenus_load::{Event, Progress, Recent};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Until then, a phase without an answer shows no figures.
const FIRST_FIGURES: Duration = Duration::from_secs(1);
/// Without a terminal, a line is printed at this interval.
const PLAIN_EVERY: Duration = Duration::from_secs(10);
/// A load that has had no answer for this long says so.
const SILENT_AFTER: Duration = Duration::from_secs(2);

/// Shows a load while it runs.
#[derive(Debug, Default)]
pub struct Live {
    phase: String,
    connecting: bool,
    /// When the last line was shown.
    shown: Option<Instant>,
    /// The requests of the phase since then.
    recent: Recent,
    /// What is shown before each line, such as the run of an experiment.
    of: String,
    /// The number of requests that have ended, and since when it has been the same.
    ended: Option<(u64, Instant)>,
}

impl Live {
    /// Shows this text before each line from now on, such as `block 2 of 6, none`.
    pub fn belongs_to(&mut self, of: &str) {
        *self = Live { of: of.to_string(), ..Live::default() };
    }

    /// A step beside the load, with the same text before it.
    pub fn belonging(&self, step: String) -> String {
        if self.of.is_empty() { step } else { format!("{}: {step}", self.of) }
    }

    /// For how long no request has ended, if that is long.
    fn silent(&mut self, progress: &Progress) -> Option<Duration> {
        let ended = progress.ok + progress.failed;
        let (_, since) = *self.ended.get_or_insert((ended, Instant::now()));
        if self.ended.is_none_or(|(before, _)| before != ended) {
            self.ended = Some((ended, Instant::now()));
            return None;
        }
        Some(since.elapsed()).filter(|silent| *silent >= SILENT_AFTER && progress.in_flight > 0)
    }

    pub fn show(&mut self, steps: &mut terminal::Steps, progress: &Progress) {
        for event in &progress.events {
            steps.keep(|| say(event));
        }
        let Some(phase) = &progress.phase else {
            // Checked many times a second while waiting for nodes.
            if !std::mem::replace(&mut self.connecting, true) {
                steps.step("connecting");
            }
            return;
        };
        let silent = self.silent(progress);
        let new = self.phase != phase.name;
        if new {
            self.phase.clone_from(&phase.name);
            self.recent = Recent::default();
        }
        self.recent.add(&progress.recent);
        if !new && steps.is_plain() && self.shown.is_some_and(|shown| shown.elapsed() < PLAIN_EVERY) {
            return;
        }
        self.shown = Some(Instant::now());
        let line = line(&self.of, progress, &std::mem::take(&mut self.recent), silent);
        if new || steps.is_plain() {
            steps.step(line);
        } else {
            steps.live(line);
        }
    }
}

/// The state of a phase, and the figures of its requests since the last line.
fn line(of: &str, progress: &Progress, recent: &Recent, silent: Option<Duration>) -> String {
    let mut line = if of.is_empty() { String::new() } else { format!("{of}: ") };
    if let Some(phase) = &progress.phase {
        let judged = if phase.measured { "" } else { " (not judged)" };
        let _ = write!(line, "{}/{} {}{judged}", phase.number, phase.of, phase.name);
        let seconds = phase.elapsed.as_secs_f64();
        let _ = match (phase.lasts, phase.count) {
            (Some(lasts), _) => write!(line, "  {seconds:.0} of {:.0} s", lasts.as_secs_f64()),
            (None, Some(count)) => write!(line, "  {} of {}", terminal::count(phase.ended), terminal::count(count)),
            (None, None) => write!(line, "  {seconds:.0} s"),
        };
    }
    let is_new = progress.phase.as_ref().is_some_and(|phase| phase.elapsed < FIRST_FIGURES);
    let response = recent.response();
    if is_new && response.p50_ns.is_none() {
        return line;
    }
    let in_flight = terminal::count(progress.in_flight);
    let _ = write!(line, "  {}/s", terminal::count(recent.ok_per_s().round() as u64));
    if let Some(target) = recent.target_per_s() {
        let _ = write!(line, " of {}/s", terminal::count(target.round() as u64));
    }
    let _ = write!(line, "  {in_flight} in flight");
    if let Some(silent) = silent {
        let _ = write!(line, "  no answer for {} s", silent.as_secs());
        return line;
    }
    let [p50, p99, max] = [response.p50_ns, response.p99_ns, response.max_ns].map(millis);
    let _ = write!(line, "  p50 {p50}  p99 {p99}  max {max} ms");
    if progress.failed > 0 {
        let _ = write!(line, "  {} failed", terminal::count(progress.failed));
    }
    if progress.lag.total() > 0 {
        let _ = write!(line, "  {} late", terminal::count(progress.lag.total()));
    }
    line
}

pub fn say(event: &Event) {
    match event {
        Event::Unreachable { reasons } => terminal::warn(format_args!("runs without {}", reasons.join(", "))),
        Event::Populates { empty, requests, in_flight, then } => {
            terminal::talk(populates(empty.as_deref(), *requests, *in_flight, then.as_deref()));
        }
        Event::Populated { requests, failed, after } => {
            let per_s = (*requests as f64 / after.as_secs_f64().max(1e-9)).round() as u64;
            let failed =
                if *failed > 0 { format!(", {} of them failed", terminal::count(*failed)) } else { String::new() };
            terminal::done(format_args!(
                "populated with {} requests in {:.1} s ({}/s){failed}",
                terminal::count(*requests),
                after.as_secs_f64(),
                terminal::count(per_s)
            ));
        }
        Event::LeftOut { phase, later } => terminal::warn(format_args!(
            "the load ends after {phase}: nothing of it was sent, since what had been due before was still being sent, and \
             {} for no less",
            if *later == 1 {
                "the phase after it asks".to_string()
            } else {
                format!("the {later} phases after it ask")
            }
        )),
        Event::Connected { nodes } => terminal::done(format_args!("connected to {}", nodes.join(", "))),
        Event::Lost { node } => terminal::warn(format_args!("lost the connection to {node}; trying again")),
        Event::Back { node, after } => {
            terminal::done(format_args!("connected to {node} again, after {:.1} s", after.as_secs_f64()));
        }
        Event::FirstError { outcome, node, message } => {
            terminal::warn(format_args!("first {} on {node}: {message}", outcome.name()));
        }
        Event::Stopping => terminal::talk("stopping; waiting for what is in flight"),
    }
}

/// Populating is not at the rate that the user gave, which must be plain.
fn populates(empty: Option<&str>, requests: u64, in_flight: u32, then: Option<&str>) -> String {
    let why = empty.map_or(String::new(), |table| format!("{table} is empty: "));
    let before = then.map_or(String::new(), |phase| format!(" before {phase}"));
    let options = match empty {
        Some(_) => " (--population N for fewer, --no-populate to read nothing)",
        None => "",
    };
    format!(
        "{why}populating{before} with {} requests, {in_flight} at a time, as fast as the nodes answer; they are not judged{options}",
        terminal::count(requests)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_load::PhaseProgress;

    fn populating(ended: u64) -> Progress {
        let phase = PhaseProgress {
            number: 1,
            of: 2,
            name: "populate".into(),
            measured: false,
            elapsed: Duration::from_secs(5),
            lasts: None,
            count: Some(100_000),
            ended,
        };
        Progress { phase: Some(phase), in_flight: 128, ok: ended, ..Progress::default() }
    }

    #[test]
    fn a_load_that_hangs_does_not_look_healthy() {
        let mut live = Live::default();
        let now = Instant::now();
        let mut silent = |progress: &Progress, for_s: u64| {
            live.ended = Some((7_000, now.checked_sub(Duration::from_secs(for_s)).unwrap()));
            live.silent(progress)
        };
        let hangs = populating(7_000);
        assert_eq!(silent(&populating(7_001), 12), None);
        assert_eq!(silent(&hangs, 1), None);
        let for_long = silent(&hangs, 12);
        let shown = |silent| line("", &hangs, &Recent::default(), silent);
        assert_eq!(
            shown(for_long),
            "1/2 populate (not judged)  7,000 of 100,000  0/s  128 in flight  no answer for 12 s"
        );
        assert!(shown(None).contains("128 in flight  p50 –"), "{}", shown(None));
        assert_eq!(silent(&Progress { in_flight: 0, ..populating(7_000) }, 12), None, "nothing is waited for");
    }

    #[test]
    fn a_line_says_which_run_of_an_experiment_it_is_of() {
        let mut live = Live { phase: "warm-up".into(), ..Live::default() };
        live.belongs_to("block 2 of 6, none");
        assert_eq!(live.phase, "", "the same phase of another run is a new one");
        let line = line(&live.of, &populating(10), &Recent::default(), None);
        assert!(line.starts_with("block 2 of 6, none: 1/2 populate"), "{line}");
    }

    #[test]
    fn populating_says_that_it_is_not_at_the_rate() {
        assert_eq!(
            populates(Some("helenus.keyvalue"), 100_000, 128, Some("2k/s")),
            "helenus.keyvalue is empty: populating before 2k/s with 100,000 requests, 128 at a time, as fast as the nodes \
             answer; they are not judged (--population N for fewer, --no-populate to read nothing)"
        );
        assert!(!populates(None, 10, 1, None).contains("before"));
    }
}
