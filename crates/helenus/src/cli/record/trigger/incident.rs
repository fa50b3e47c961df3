//! Handles an incident: copies its minutes, explains them, writes a report, and runs the command for alerts.

use super::Line;
use crate::cli::POLL_EVERY;
use anyhow::{Context, Result, bail};
use helenus_recording::private;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How many copies are kept, and their size; the newest copy is kept whatever its size.
const MOST: usize = 20;
const MOST_BYTES: u64 = 4 << 30;
/// Timeout of each program that is run, and of all of them together after the recorder was told to end.
const PROGRAM_WITHIN: Duration = Duration::from_secs(600);
const END_WITHIN: Duration = Duration::from_secs(45);
/// When a copy that failed is tried again, such as for lack of space: the recording still has its minutes.
const TRY_AGAIN_AFTER: [Duration; 4] =
    [Duration::from_secs(5), Duration::from_secs(15), Duration::from_secs(30), Duration::from_secs(60)];
/// The priority (nice) of these programs, so that they do not take CPU time from the node.
const NICE: libc::c_int = 10;
/// The most bytes that are read of an answer and of an error.
const LONGEST_TEXT: u64 = 4096;
const PREFIX: &str = "incident-";
/// The format of a name's time for strftime, with an example of its length.
const NAME: (&str, usize) = ("%Y%m%d-%H%M%S", "20251128-031240".len());
const RECORDING: &str = "helenus";
/// Extensions of the files beside a copy.
const REPORT: &str = "html";
const EXPLANATION: &str = "txt";

/// A moment at which conditions came true.
#[derive(Debug)]
pub(super) struct Incident {
    /// Time of the incident, since the Unix epoch.
    pub(super) at_ns: i64,
    /// The conditions that became true.
    pub(super) reasons: Vec<String>,
}

impl Incident {
    /// The title of the copy: its conditions, with words for `exit`, which does not name the process that ended.
    fn title(&self) -> String {
        let words = |reason: &String| match reason.as_str() {
            "exit" => "the node's process ended".to_string(),
            condition => condition.to_string(),
        };
        self.reasons.iter().map(words).collect::<Vec<_>>().join(" and ")
    }

    pub(super) fn why(&self) -> String {
        self.reasons.join(" and ")
    }
}

/// The thread that handles incidents, one after the other.
pub(super) struct Handler {
    recording: PathBuf,
    folder: PathBuf,
    before: Duration,
    after: Duration,
    exec: Option<String>,
    say: Sender<Line>,
    /// When the recorder was told to end.
    stopping: Arc<OnceLock<Instant>>,
}

impl Handler {
    pub(super) fn new(
        recording: PathBuf,
        folder: PathBuf,
        (before, after): (Duration, Duration),
        exec: Option<String>,
        say: Sender<Line>,
        stopping: Arc<OnceLock<Instant>>,
    ) -> Result<Handler> {
        let made = std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&folder);
        made.with_context(|| format!("cannot create {}", folder.display()))?;
        // The command may run in another folder.
        let folder = std::fs::canonicalize(&folder).with_context(|| format!("cannot find {}", folder.display()))?;
        Ok(Handler { recording, folder, before, after, exec, say, stopping })
    }

    pub(super) fn run(self, incidents: &Receiver<Incident>) {
        for incident in incidents {
            if let Err(error) = self.handle(&incident) {
                self.warn(format!("{}: {error:#}", incident.why()));
            }
            if let Err(error) = delete_oldest(&self.folder) {
                self.warn(format!("cannot delete old copies in {}: {error:#}", self.folder.display()));
            }
        }
    }

    fn warn(&self, text: String) {
        // The recorder waits for messages until this thread has ended.
        let _ = self.say.send(Line::Warning(text));
    }

    fn handle(&self, incident: &Incident) -> Result<()> {
        let name = format!("{PREFIX}{}", chrono::Local::now().format(NAME.0));
        let copy = self.folder.join(name).with_extension(RECORDING);
        let (report, explanation) = (copy.with_extension(REPORT), copy.with_extension(EXPLANATION));
        let freeze = || {
            let mut freeze = own("freeze");
            freeze.arg(&self.recording).arg("-o").arg(&copy).arg("--title").arg(incident.title());
            freeze.arg("--last").arg(written(self.before + self.after));
            freeze.arg("--ago").arg(written(since(incident.at_ns).saturating_sub(self.after)));
            self.run_own(freeze)
        };
        let failed = |error: &anyhow::Error, wait: Duration| {
            self.warn(format!("{}: no copy was made: {error:#}; trying again in {wait:?}", incident.why()));
        };
        let is_over = || self.stopping.get().is_some();
        again(&TRY_AGAIN_AFTER, is_over, failed, freeze).context("no copy was made")?;
        let mut explain = own("explain");
        explain.arg(&copy);
        let out = File::options().write(true).create_new(true).mode(0o600).open(&explanation);
        explain.stdout(out.with_context(|| format!("cannot create {}", explanation.display()))?);
        let mut made = vec![copy.display().to_string()];
        match self.run_own(explain) {
            Ok(()) => made.push(explanation.display().to_string()),
            Err(error) => self.warn(format!("the copy was not explained: {error:#}")),
        }
        let mut write_report = own("report");
        write_report.arg(&copy).arg("-o").arg(&report);
        match self.run_own(write_report) {
            Ok(()) => made.push(report.display().to_string()),
            Err(error) => self.warn(format!("there is no report: {error:#}")),
        }
        let answer = answer(&explanation).unwrap_or_default();
        let line = format!("{}: {answer}\n{}", incident.why(), made.join("\n"));
        let _ = self.say.send(Line::Done(line));
        match &self.exec {
            Some(exec) => self.alert(exec, incident, &answer, [&copy, &report]),
            None => Ok(()),
        }
    }

    /// Runs the user's command. All facts are in its environment; nothing is inserted into its text.
    fn alert(&self, exec: &str, incident: &Incident, answer: &str, [copy, report]: [&Path; 2]) -> Result<()> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(exec).stdout(Stdio::null());
        command.env("HELENUS_TRIGGER", incident.why()).env("HELENUS_ANSWER", answer);
        command.env("HELENUS_INCIDENT", copy).env("HELENUS_REPORT", report);
        let (status, _) = self.run_within(command).with_context(|| format!("--exec {exec}"))?;
        if status.success() { Ok(()) } else { bail!("--exec {exec}: {status}") }
    }

    /// Runs a helenus command in a process of its own, so that its memory is freed and a crash does not affect the
    /// recorder.
    fn run_own(&self, mut command: Command) -> Result<()> {
        command.stderr(Stdio::piped());
        let (status, mut child) = self.run_within(command)?;
        if status.success() {
            return Ok(());
        }
        let mut said = String::new();
        if let Some(stderr) = child.stderr.take() {
            // Only the exit status counts.
            let _ = stderr.take(LONGEST_TEXT).read_to_string(&mut said);
        }
        bail!("{}", if said.trim().is_empty() { status.to_string() } else { said.trim().to_string() })
    }

    /// Runs a program, and after its timeout ends it together with all processes that it started.
    fn run_within(&self, mut command: Command) -> Result<(ExitStatus, Child)> {
        // A process group of its own, so that a Ctrl-C that ends the recorder does not reach it.
        let mut child = command.stdin(Stdio::null()).process_group(0).spawn()?;
        let pid = child.id().cast_signed();
        // SAFETY: setpriority takes no pointers; the pid is that of a child that has not been waited for.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, child.id(), NICE) };
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok((status, child));
            }
            let is_ending = self.stopping.get().is_some_and(|since| since.elapsed() > END_WITHIN);
            if is_ending || begun.elapsed() > PROGRAM_WITHIN {
                // SAFETY: kill takes no pointers; the group is that of a child that has not been waited for.
                unsafe { libc::kill(-pid, libc::SIGKILL) };
                child.wait()?;
                bail!("it was ended after {:.0} s", begun.elapsed().as_secs_f64());
            }
            std::thread::sleep(POLL_EVERY);
        }
    }
}

/// Tries something again after each of these times, and returns the last outcome.
fn again(
    waits: &[Duration],
    is_over: impl Fn() -> bool,
    failed: impl Fn(&anyhow::Error, Duration),
    mut work: impl FnMut() -> Result<()>,
) -> Result<()> {
    for wait in waits {
        let Err(error) = work() else { return Ok(()) };
        if is_over() {
            return Err(error);
        }
        failed(&error, *wait);
        let begun = Instant::now();
        while begun.elapsed() < *wait && !is_over() {
            std::thread::sleep(POLL_EVERY.min(*wait));
        }
    }
    work()
}

/// A command of this program itself, even if its file has been replaced.
fn own(name: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(name).stdout(Stdio::null()).env("NO_COLOR", "1");
    command
}

/// The time in the form that the command line accepts.
fn written(duration: Duration) -> String {
    if duration.as_millis() == 0 { "0s".to_string() } else { format!("{}ms", duration.as_millis()) }
}

fn since(at_ns: i64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(Duration::from_nanos(at_ns.unsigned_abs()))
}

/// The first paragraph of an explanation, as one line.
fn answer(explanation: &Path) -> Result<String> {
    let mut text = String::new();
    File::open(explanation)?.take(LONGEST_TEXT).read_to_string(&mut text)?;
    let paragraph = text.trim_start().lines().map(str::trim).take_while(|line| !line.is_empty());
    Ok(paragraph.collect::<Vec<_>>().join(" "))
}

/// Whether a file is one of our copies.
fn is_copy(name: &str) -> bool {
    let middle = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(&format!(".{RECORDING}")));
    middle.is_some_and(|middle| {
        middle.len() == NAME.1 && middle.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    })
}

/// Deletes the oldest copies with the files beside them.
fn delete_oldest(folder: &Path) -> Result<()> {
    let names = std::fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_copy(name)).collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    let (mut bytes, mut failed) = (0, None);
    for (place, name) in names.iter().enumerate() {
        let copy = folder.join(name);
        let beside = [REPORT, EXPLANATION].map(|extension| copy.with_extension(extension));
        let all = std::iter::once(&copy).chain(&beside);
        bytes += all.clone().map(|path| private::bytes_of(path)).sum::<u64>();
        if place > 0 && (place >= MOST || bytes > MOST_BYTES) {
            for path in all {
                // A copy that can't be deleted keeps no other from being deleted.
                failed = failed.or(private::remove_all(path).err());
            }
        }
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_recording::{Manifest, Recorder, rows};
    use std::cell::Cell;
    use std::sync::mpsc::channel;

    fn handler(folder: &Path) -> (Handler, Receiver<Line>) {
        let (say, lines) = channel();
        let durations = (Duration::from_secs(60), Duration::ZERO);
        let stopping = Arc::new(OnceLock::new());
        (Handler::new(folder.join("none"), folder.join("incidents"), durations, None, say, stopping).unwrap(), lines)
    }

    #[test]
    fn the_newest_copies_are_kept_and_other_files_are_let_alone() {
        let place = tempfile::tempdir().unwrap();
        let name = |number: usize| format!("{PREFIX}20251128-0312{number:02}");
        for number in 0..MOST + 2 {
            let path = place.path().join(name(number)).with_extension(RECORDING);
            let recorder = Recorder::create(&path, Manifest::new("t", "c")).unwrap();
            recorder.append(rows::Mark::default());
            recorder.close().unwrap();
            std::fs::write(path.with_extension(REPORT), "").unwrap();
        }
        std::fs::create_dir(place.path().join("incident-of-monday.helenus")).unwrap();
        // One that is damaged is deleted in its turn.
        let damaged = place.path().join(name(0)).with_extension(RECORDING);
        std::fs::remove_dir_all(&damaged).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &damaged).unwrap();
        delete_oldest(place.path()).unwrap();
        let mut left: Vec<String> = std::fs::read_dir(place.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left.len(), 2 * MOST + 1);
        assert_eq!(left[0], format!("{}.{RECORDING}", name(2)));
    }

    #[test]
    fn a_command_has_the_facts_in_its_environment() {
        let place = tempfile::tempdir().unwrap();
        let (handler, _lines) = handler(place.path());
        let out = place.path().join("out");
        let exec = format!("printf %s \"$HELENUS_TRIGGER|$HELENUS_ANSWER|$HELENUS_REPORT\" >{}", out.display());
        let incident = Incident { at_ns: 0, reasons: vec!["log($(touch gone))".into(), "exit".into()] };
        let paths = [Path::new("copy"), Path::new("report")];
        handler.alert(&exec, &incident, "`reboot`; it was slow", paths).unwrap();
        let said = std::fs::read_to_string(out).unwrap();
        assert_eq!(said, "log($(touch gone)) and exit|`reboot`; it was slow|report");
        assert_eq!(incident.title(), "log($(touch gone)) and the node's process ended");
        let error = handler.alert("exit 3", &incident, "", paths).unwrap_err();
        assert!(error.to_string().contains("3"), "{error}");
    }

    #[test]
    fn when_the_recorder_ends_so_do_programs_with_all_that_they_started() {
        let place = tempfile::tempdir().unwrap();
        let (handler, _lines) = handler(place.path());
        handler.stopping.set(Instant::now().checked_sub(END_WITHIN * 2).unwrap()).unwrap();
        let mut command = Command::new("sh");
        command.arg("-c").arg("sleep 1000 & wait");
        let error = handler.run_within(command).unwrap_err();
        assert!(error.to_string().contains("was ended"), "{error}");
    }

    #[test]
    fn a_failed_copy_gives_a_warning_and_is_tried_again_until_the_recorder_ends() {
        let waits = [Duration::from_millis(1); 4];
        let (said, tries) = (Cell::new(0), Cell::new(0));
        let failed = |error: &anyhow::Error, _| {
            assert_eq!(error.to_string(), "no space");
            said.set(said.get() + 1);
        };
        let run = |works_at: u32, ends_at: u32| {
            said.set(0);
            tries.set(0);
            again(
                &waits,
                || tries.get() >= ends_at,
                failed,
                || {
                    tries.set(tries.get() + 1);
                    if tries.get() < works_at { bail!("no space") } else { Ok(()) }
                },
            )
        };
        assert!(run(3, 99).is_ok() && (said.get(), tries.get()) == (2, 3));
        assert!(run(99, 99).is_err() && (said.get(), tries.get()) == (4, 5));
        assert!(run(99, 2).is_err() && (said.get(), tries.get()) == (1, 2));
        assert!(run(1, 99).is_ok() && (said.get(), tries.get()) == (0, 1));
    }

    #[test]
    fn an_answer_is_the_first_paragraph() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("explanation");
        std::fs::write(&path, "\nRequests were slow\nbecause of a pause.\n\n1. warning\n").unwrap();
        assert_eq!(answer(&path).unwrap(), "Requests were slow because of a pause.");
    }
}
