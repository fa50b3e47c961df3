//! Stacks as bpftrace and the tools of bcc print them: one frame a line, from the innermost to the outermost.
//!
//! ```text
//! @[                              vfs_read
//!     vfs_read+1                  read
//!     read+20                     -                java (4711)
//! , java]: 56                         56
//! ```
//!
//! Sources: bpftrace's manual (maps with stacks as keys); bcc, tools/profile.py, offcputime.py and stackcount.py, and the
//! programs of the same names in libbpf-tools.

use super::lines::{Line, Lines};
use super::{Error, ImportFormat, ImportOptions, Sink, TimeAlignment, kind_of};
use crate::stacks::Frames;
use std::io::BufRead;

/// The most frames of a stack; both tools stop at 127 unless they are told otherwise.
const MOST_FRAMES: usize = 1 << 16;
/// The most bytes of a stack's names.
const LONGEST: usize = 4 << 20;

/// Functions at the outermost end of a stack of the kernel.
const ENTRIES: &[&str] = &[
    "entry_SYSCALL",
    "do_syscall_64",
    "el0",
    "asm_",
    "ret_from_fork",
    "secondary_startup",
    "cpu_startup_entry",
    "start_secondary",
    "start_kernel",
    "kthread",
    "invoke_syscall",
    "page_fault",
    "__x64_sys",
    "syscall_exit",
];

/// The format that the beginning of a file has.
pub(super) fn looks_like(text: &str) -> Option<ImportFormat> {
    let lines: Vec<&str> = text.lines().collect();
    if lines.iter().any(|line| opens(line).is_some()) {
        return Some(ImportFormat::Bpftrace);
    }
    let is_end = |lines: &[&str]| {
        let [frame, weight, rest @ ..] = lines else { return false };
        let ends = rest.first().is_none_or(|line| line.trim().is_empty());
        is_indented(frame) && count(frame).is_none() && count(weight).is_some() && ends
    };
    (0..lines.len()).any(|at| is_end(&lines[at..lines.len().min(at + 3)])).then_some(ImportFormat::Bcc)
}

fn is_indented(line: &str) -> bool {
    line.starts_with("  ") && !line.trim().is_empty()
}

/// The weight below a stack of bcc.
fn count(line: &str) -> Option<i64> {
    let number = line.strip_prefix("    ")?.trim();
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())?
}

/// The text behind `@name[` where a key of several lines begins.
fn opens(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix('@')?.split_once('[')?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && closes(line).is_none()).then_some(rest)
}

/// Splits the last line of a key from its value.
fn closes(line: &str) -> Option<(&str, &str)> {
    line.rsplit_once("]: ").or_else(|| line.strip_suffix("]:").map(|key| (key, "")))
}

/// A stack whose lines are being read, with its thread.
#[derive(Default)]
struct Open {
    /// The stacks from the innermost frame to the outermost; bpftrace may print two, of the kernel and of the program.
    stacks: Vec<Vec<String>>,
    bytes: usize,
    frames: usize,
    thread: String,
    tid: i64,
}

impl Open {
    fn frame(&mut self, line: &str) {
        let name = name(line);
        self.bytes += name.len();
        self.frames += 1;
        if self.frames > MOST_FRAMES || self.bytes > LONGEST {
            return;
        }
        if self.stacks.is_empty() {
            self.stacks.push(Vec::new());
        }
        if let Some(stack) = self.stacks.last_mut() {
            stack.push(name);
        }
    }

    /// Takes the other parts of a key: the first text is a thread's name, the first number its id.
    fn parts(&mut self, text: &str) {
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part.parse::<i64>() {
                Ok(number) if self.tid == 0 => self.tid = number,
                Err(_) if self.thread.is_empty() => self.thread = part.to_string(),
                _ => {}
            }
        }
    }

    fn is_too_large(&self) -> bool {
        self.frames > MOST_FRAMES || self.bytes > LONGEST
    }

    /// The frames from the outermost to the innermost: those of the program, then those of the kernel. The kernel's end with
    /// the function by which it was entered.
    fn frames(&mut self) -> Frames {
        let is_entry = |name: &String| ENTRIES.iter().any(|entry| name.starts_with(entry));
        // The tools print the kernel's stack first, unless a script says otherwise.
        self.stacks.sort_by_key(|stack| !stack.iter().any(is_entry));
        let mut frames = Frames::default();
        for stack in self.stacks.iter().rev() {
            let of_kernel = stack.iter().rposition(is_entry).map_or(0, |entry| entry + 1);
            for (depth, name) in stack.iter().enumerate().rev() {
                frames.push(name, if depth < of_kernel { 'k' } else { kind_of(name) });
            }
        }
        frames
    }
}

/// The function of a frame: `vfs_read+1`, `0x7f12 read+0x14 (/libc.so.6)`, `#1  0x7f12 read+0x14`.
fn name(line: &str) -> String {
    let mut line = line.trim();
    if let Some((number, rest)) = line.strip_prefix('#').and_then(|rest| rest.split_once(' '))
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        line = rest.trim();
    }
    let is_address = |word: &str| {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if let Some((first, rest)) = line.split_once(char::is_whitespace)
        && is_address(first)
    {
        line = rest.trim();
    }
    let without_file = line.strip_suffix(')').and_then(|inside| {
        let at = inside.rfind(" (")?;
        inside[at + 2..].starts_with(['/', '[']).then(|| &inside[..at])
    });
    let line = without_file.unwrap_or(line);
    let is_offset = |offset: &str| {
        let digits = offset.strip_prefix("0x").unwrap_or(offset);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let line = line.rsplit_once('+').filter(|(_, offset)| is_offset(offset)).map_or(line, |(name, _)| name);
    if line.is_empty() || is_address(line) { "[unknown]".to_string() } else { line.to_string() }
}

/// Writes the samples of a file.
struct Taker<'s, 'r> {
    sink: &'s mut Sink<'r>,
    event: String,
    at_ns: i64,
    interval_ns: Option<i64>,
}

impl Taker<'_, '_> {
    fn take(&mut self, mut open: Open, value: i64) -> Result<(), Error> {
        if open.is_too_large() {
            self.sink.lose(1, "stacks of more than 65,536 frames or 4 MiB of names");
            return Ok(());
        }
        let Some(weight) = value.checked_mul(self.interval_ns.unwrap_or(1)) else {
            self.sink.lose(1, "weights that can't be added up in 64 bits");
            return Ok(());
        };
        let frames = open.frames();
        let thread = (open.tid, open.thread.as_str());
        self.sink.add(self.at_ns, &self.event, weight, thread, frames.number(), || Ok::<_, Error>(&frames))
    }

    /// Reads from the line that a tool of bcc prints first what its weights are.
    fn title(&mut self, line: &str, options: &ImportOptions) {
        let interval_ns = if line.starts_with("Tracing off-CPU time (us)") {
            if options.event.is_none() {
                self.event = "off-cpu".to_string();
            }
            Some(1000)
        } else {
            let hertz = line.strip_prefix("Sampling at ").and_then(|rest| rest.split_once(" Hertz"));
            let hertz = hertz.and_then(|(number, _)| number.parse::<i64>().ok()).filter(|hertz| *hertz > 0);
            hertz.map(|hertz| 1_000_000_000 / hertz)
        };
        self.interval_ns = self.interval_ns.or(interval_ns);
    }
}

pub(super) fn read(
    from: impl BufRead,
    format: ImportFormat,
    options: &ImportOptions,
    sink: &mut Sink<'_>,
) -> Result<(), Error> {
    let at_ns = match options.place {
        TimeAlignment::BeginsAt(ns) | TimeAlignment::EndsAt(ns) => ns,
        TimeAlignment::ThisBoot => {
            return Err(Error::Other("these stacks have no times; leave --this-boot away".to_string()));
        }
    };
    let mut taker = Taker {
        event: options.event.clone().unwrap_or_else(|| "cpu".to_string()),
        interval_ns: options.interval.map(|interval| i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX)),
        sink,
        at_ns,
    };
    let mut lines = Lines::new(from);
    let mut open: Option<Open> = None;
    while let Some(line) = lines.next()? {
        let line = match line {
            Line::Whole(line) | Line::Last(line) => line,
            Line::GivenUp(reason) => {
                taker.sink.give_up(lines.number, reason);
                break;
            }
            Line::TooLong => {
                taker.sink.lose_line("lines too long for a frame", lines.number);
                continue;
            }
        };
        let taken = match format {
            ImportFormat::Bcc => bcc(&line, lines.number, &mut open, &mut taker, options)?,
            _ => bpftrace(&line, lines.number, &mut open, &mut taker)?,
        };
        lines.has_sample |= taken;
    }
    if open.is_some() {
        taker.sink.lose(1, "the file ends within a stack");
    }
    if taker.interval_ns.is_none() {
        taker.sink.note(
            "weights are taken for nanoseconds; where they are counts of samples, say with --interval what a sample stands for",
        );
    }
    taker.sink.note("these stacks have no times: all are at one moment");
    Ok(())
}

/// Takes a line of bpftrace; true if it ended a stack.
fn bpftrace(line: &str, number: u64, open: &mut Option<Open>, taker: &mut Taker<'_, '_>) -> Result<bool, Error> {
    if let Some(rest) = opens(line) {
        if open.replace(Open::default()).is_some() {
            taker.sink.lose(1, "stacks without an end");
        }
        open.get_or_insert_default().parts(rest);
        return Ok(false);
    }
    let Some(stack) = open else { return Ok(false) };
    if line.starts_with([' ', '\t']) {
        stack.frame(line);
        return Ok(false);
    }
    match closes(line) {
        Some((parts, value)) => {
            stack.parts(parts);
            let stack = open.take().unwrap_or_default();
            match value.trim().parse::<i64>() {
                Ok(value) if value >= 0 => taker.take(stack, value)?,
                _ => taker.sink.lose_line("stacks with other values than counts and sums", number),
            }
            Ok(true)
        }
        None => {
            stack.parts(line);
            if stack.stacks.last().is_some_and(|last| !last.is_empty()) {
                stack.stacks.push(Vec::new());
            }
            Ok(false)
        }
    }
}

/// Takes a line of a tool of bcc; true if it ended a stack.
fn bcc(
    line: &str,
    number: u64,
    open: &mut Option<Open>,
    taker: &mut Taker<'_, '_>,
    options: &ImportOptions,
) -> Result<bool, Error> {
    if line.trim().is_empty() {
        if open.take().is_some() {
            taker.sink.lose_line("stacks without a count", number);
        }
        return Ok(false);
    }
    if !is_indented(line) {
        taker.title(line, options);
        return Ok(false);
    }
    if let (Some(count), Some(stack)) = (count(line), open.take_if(|_| count(line).is_some())) {
        taker.take(stack, count)?;
        return Ok(true);
    }
    let stack = open.get_or_insert_default();
    let text = line.trim();
    let process = text.strip_prefix("- ").map(str::trim_start);
    let of_profile = process.and_then(|process| process.strip_suffix(')')?.rsplit_once(" ("));
    // stackcount has it behind four blanks, and frames behind two.
    let of_count = line.strip_prefix("    ").and_then(|text| text.strip_suffix(']')?.rsplit_once(" ["));
    match of_profile.or(of_count).and_then(|(name, pid)| Some((name, pid.parse::<i64>().ok()?))) {
        Some((name, pid)) => (stack.thread, stack.tid) = (name.to_string(), pid),
        // The tools draw this line between both stacks where they are told to.
        None if matches!(text, "--" | "-") => stack.stacks.push(Vec::new()),
        None => stack.frame(line),
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frames_are_named_by_their_functions() {
        for (line, function) in [
            ("    vfs_read+1", "vfs_read"),
            ("\tffffffff81234567 vfs_read+0x1a ([kernel.kallsyms])", "vfs_read"),
            ("    #1  0x00007f3c12345678 read+0x14 (/usr/lib/libc.so.6+0x10ea12)", "read"),
            ("    0x7f3c12345678", "[unknown]"),
            ("    std::operator+(int, char)+12", "std::operator+(int, char)"),
            ("    Lorg/a/B;::run+16", "Lorg/a/B;::run"),
            ("    [unknown]", "[unknown]"),
            ("  add", "add"),
        ] {
            assert_eq!(name(line), function, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_can_make_it_panic(lines in "[@a-c0-9 \\[\\]:,()+\\n\\t-]{0,200}") {
            let _ = looks_like(&lines);
            for line in lines.lines() {
                let _ = (name(line), opens(line), closes(line), count(line));
            }
        }
    }
}
