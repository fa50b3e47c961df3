//! Follows a node's log from its current end.

use super::line::{Event, LogLine};
use crate::Watched;
use helenus_cassandra::foreign::{open_regular, read_proc};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The names of Cassandra's logs. debug.log also has compactions and flushes.
const NAMES: [&str; 2] = ["debug.log", "system.log"];
/// The most bytes that are read at once; anything beyond is skipped.
const MOST_BYTES: u64 = 4 << 20;
/// A log with as many lines of which none has the layout of Cassandra's has another layout.
const ENOUGH_LINES: u64 = 20;
/// Why lines are lost.
const TOO_FAST: &str = "the log grew faster than it is read";
const OTHER_LAYOUT: &str = "the lines of the log have another layout than in Cassandra's own logback.xml";

#[derive(Debug)]
pub(super) struct Log {
    node: String,
    path: PathBuf,
    file: Option<File>,
    at: u64,
    /// An incomplete line at the end of what was read.
    rest: Vec<u8>,
    /// The number of lines that could begin a message, and whether any of them did.
    lines: u64,
    is_known: bool,
}

/// New lines that were lost: their number, and the reason.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) lines: i64,
    pub(super) reason: &'static str,
}

impl Log {
    /// Opens the log; None for processes without a folder for logs. The error names the files that can't be read, with the reason.
    pub(super) fn of(watched: &Watched) -> Option<Result<Log, String>> {
        let arguments = read_proc(format!("/proc/{}/cmdline", watched.pid)).ok()?;
        let given = arguments.split('\0').find_map(|argument| argument.strip_prefix("-Dcassandra.logdir="))?;
        let folder = given;
        let of_process = if folder.starts_with('/') { "root" } else { "cwd" };
        let folder =
            Path::new("/proc").join(watched.pid.to_string()).join(of_process).join(folder.trim_start_matches('/'));
        let mut errors = Vec::new();
        for name in NAMES {
            match Log::open(&watched.node, folder.join(name)) {
                Ok(log) => return Some(Ok(log)),
                Err(error) => errors.push(format!("{given}/{name}: {error}")),
            }
        }
        Some(Err(format!("no log of the node can be read ({}), so that its events are missing", errors.join("; "))))
    }

    fn open(node: &str, path: PathBuf) -> io::Result<Log> {
        let file = open_regular(&path)?;
        let at = file.metadata()?.len();
        Ok(Log { node: node.into(), path, file: Some(file), at, rest: Vec::new(), lines: 0, is_known: false })
    }

    pub(super) fn node(&self) -> &str {
        &self.node
    }

    /// Reports the events of new lines, and the lines that were lost.
    pub(super) fn read(&mut self, now_ns: i64, mut tell: impl FnMut(&str, Event)) -> Lost {
        let mut lost = self.take_new(now_ns, &mut tell);
        // The log was rotated; the rest of the old file was read above.
        if self.is_another() {
            (self.file, self.at) = (open_regular(&self.path).ok(), 0);
            self.rest.clear();
            lost |= self.take_new(now_ns, &mut tell);
        }
        if !self.is_known && self.lines >= ENOUGH_LINES {
            let lines = i64::try_from(std::mem::take(&mut self.lines)).unwrap_or(i64::MAX);
            return Lost { lines, reason: OTHER_LAYOUT };
        }
        if lost { Lost { lines: 1, reason: TOO_FAST } } else { Lost::default() }
    }

    fn is_another(&self) -> bool {
        let Ok(now) = std::fs::metadata(&self.path) else { return false };
        let known = self.file.as_ref().and_then(|file| file.metadata().ok());
        known.is_none_or(|known| (known.ino(), known.dev()) != (now.ino(), now.dev()) || now.len() < self.at)
    }

    fn take_new(&mut self, now_ns: i64, tell: &mut impl FnMut(&str, Event)) -> bool {
        let Some(file) = &self.file else { return false };
        let end = file.metadata().map_or(self.at, |facts| facts.len());
        let mut lost = false;
        if end.saturating_sub(self.at) > MOST_BYTES {
            (self.at, lost) = (end - MOST_BYTES, true);
            self.rest.clear();
        }
        let mut bytes = std::mem::take(&mut self.rest);
        let known = bytes.len();
        bytes.resize(known + usize::try_from(end.saturating_sub(self.at)).unwrap_or(0), 0);
        let read = file.read_at(&mut bytes[known..], self.at).unwrap_or(0);
        bytes.truncate(known + read);
        self.at += read as u64;
        let lines_end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.rest = bytes.split_off(lines_end);
        // A line without a newline is not complete yet.
        if self.rest.len() as u64 > MOST_BYTES {
            self.rest.clear();
        }
        for line in String::from_utf8_lossy(&bytes).lines() {
            let parsed = LogLine::of(line);
            self.is_known |= parsed.is_some();
            // Lines of a stack trace begin with a blank.
            self.lines += u64::from(!line.is_empty() && !line.starts_with(char::is_whitespace));
            if let Some(event) = parsed.and_then(|line| line.event_near(now_ns)) {
                tell(&self.node, event);
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn line(second: u32) -> String {
        format!("WARN  [main] 2026-11-27 10:00:{second:02},000 Some.java:1 - text with 'a literal'\n")
    }

    #[test]
    fn what_is_written_from_now_on_is_told_also_after_it_was_rolled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debug.log");
        std::fs::write(&path, line(1)).unwrap();
        let mut log = Log::open("n", path.clone()).unwrap();
        let written = |log: &mut Log| {
            let mut written = 0;
            let lost = log.read(1_800_000_000_000_000_000, |node, event| {
                assert_eq!((node, event.class.kind), ("n", "warning"));
                written += 1;
            });
            assert_eq!(lost, Lost::default());
            written
        };
        assert_eq!(written(&mut log), 0);
        let mut file = File::options().append(true).open(&path).unwrap();
        let half = line(2);
        file.write_all(&half.as_bytes()[..20]).unwrap();
        assert_eq!(written(&mut log), 0);
        file.write_all(&half.as_bytes()[20..]).unwrap();
        assert_eq!(written(&mut log), 1);
        file.write_all(line(3).as_bytes()).unwrap();
        std::fs::rename(&path, folder.path().join("debug.log.1")).unwrap();
        std::fs::write(&path, line(4)).unwrap();
        assert_eq!(written(&mut log), 2);
    }

    #[test]
    fn a_log_of_another_layout_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("system.log");
        std::fs::write(&path, "").unwrap();
        let mut log = Log::open("n", path.clone()).unwrap();
        let json = "{\"level\":\"WARN\",\"message\":\"text\"}\n\tat a stack\n";
        std::fs::write(&path, json.repeat(30)).unwrap();
        let read = |log: &mut Log| log.read(1_800_000_000_000_000_000, |_, event| panic!("{event:?}"));
        assert_eq!(read(&mut log), Lost { lines: 30, reason: OTHER_LAYOUT });
        assert_eq!(read(&mut log), Lost::default());
        let error = Log::open("n", folder.path().join("debug.log")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
