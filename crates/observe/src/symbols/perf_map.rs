//! Functions that a process has compiled itself, from the file that it writes for `perf`: `/tmp/perf-PID.map`.
//!
//! Each line has the start and the size in hexadecimal, and the name:
//! <https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/tools/perf/Documentation/jit-interface.txt>

use super::functions::{Function, Functions};
use helenus_cassandra::foreign::{open_regular_no_link, read_proc};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The most bytes that are read; the watched process writes the file and may write any amount.
const BYTES_AT_MOST: u64 = 256 << 20;

/// The file's identity, size and modification time when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    path: PathBuf,
    bytes: u64,
    changed: Option<SystemTime>,
}

#[derive(Debug, Default)]
pub(super) struct PerfMap {
    functions: Functions,
    state: Option<State>,
}

impl PerfMap {
    /// Reads the file if it has changed. Returns whether there is anything new.
    pub(super) fn refresh(&mut self, pid: u32) -> bool {
        let found = places(pid).into_iter().find_map(|path| {
            let facts = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some(State { bytes: facts.len(), changed: facts.modified().ok(), path })
        });
        // If the file was deleted with its process, its last content is kept.
        let Some(state) = found.filter(|found| Some(found) != self.state.as_ref()) else { return false };
        let mut text = Vec::new();
        let read = open_regular_no_link(&state.path).and_then(|file| file.take(BYTES_AT_MOST).read_to_end(&mut text));
        if read.is_err() {
            return false;
        }
        self.functions = parse(String::from_utf8_lossy(&text).into_owned());
        self.state = Some(state);
        true
    }

    pub(super) fn name(&self, address: u64) -> Option<&str> {
        self.functions.name(address)
    }
}

/// Where the process may have written its map: in its own /tmp under its own pid, or in this machine's /tmp.
fn places(pid: u32) -> [PathBuf; 2] {
    let status = read_proc(format!("/proc/{pid}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    let inner = numbers.split_ascii_whitespace().last().map_or_else(|| pid.to_string(), str::to_string);
    let root = Path::new("/proc").join(pid.to_string()).join("root");
    [root.join(format!("tmp/perf-{inner}.map")), PathBuf::from(format!("/tmp/perf-{pid}.map"))]
}

fn parse(text: String) -> Functions {
    let mut functions = Vec::new();
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let hexadecimal = |word: Option<&str>| u64::from_str_radix(word?.trim_start_matches("0x"), 16).ok();
        let (start, bytes) = (hexadecimal(words.next()), hexadecimal(words.next()));
        let (Some(start), Some(bytes), Some(name)) = (start, bytes, words.next()) else { continue };
        let from = name.as_ptr() as usize - text.as_ptr() as usize;
        functions.push(Function { start, end: start.saturating_add(bytes.max(1)), name: from..from + name.len() });
    }
    Functions::new(text, functions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_is_the_rest_of_its_line() {
        let functions = parse("7f00 20 Lexample;::work\nno line\n0x7f40 10 JS:*inner frame.js:7\n".to_string());
        assert_eq!(functions.name(0x7f1f), Some("Lexample;::work"));
        assert_eq!(functions.name(0x7f20), None);
        assert_eq!(functions.name(0x7f4f), Some("JS:*inner frame.js:7"));
    }

    proptest! {
        #[test]
        fn no_text_can_make_it_panic(text in "([0-9a-fx]{0,18} ?[0-9a-f]{0,18} ?.{0,5}\n?){0,8}", address: u64) {
            let _ = parse(text).name(address);
        }
    }
}
