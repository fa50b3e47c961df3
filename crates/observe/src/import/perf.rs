//! What `perf script` prints: for each sample a line that says who, when and why, then its frames from the innermost, a
//! line each, then an empty line.
//!
//! Source: perf-script(1), and what perf 6.1 prints.

use super::lines::{Line, Lines};
use super::{Error, ImportOptions, Place, Sink};
use crate::stacks::Frames;
use std::io::BufRead;

/// The line above a sample's frames.
#[derive(Debug, PartialEq)]
struct Header<'a> {
    comm: &'a str,
    tid: i64,
    /// On perf's clock, which counts from the boot.
    time_ns: i64,
    /// How many of the events the sample stands for.
    period: Option<i64>,
    event: &'a str,
    /// What stands behind: the one frame of a sample without a stack, or what a tracepoint says.
    rest: &'a str,
}

/// A sample, until the place of the clock is known.
struct Sample {
    time_ns: i64,
    event: String,
    weight: i64,
    tid: i64,
    thread: String,
    /// From the innermost.
    frames: Vec<(String, char)>,
}

pub(super) fn is_header(line: &str) -> bool {
    header(line).is_some()
}

pub(super) fn read(from: impl BufRead, options: &ImportOptions, sink: &mut Sink<'_>) -> Result<(), Error> {
    let Parsed { samples, epoch_offset_ns } = parse(from, options, sink)?;
    let (first, last) = samples
        .iter()
        .fold((i64::MAX, i64::MIN), |(first, last), sample| (first.min(sample.time_ns), last.max(sample.time_ns)));
    let shift_ns = match options.place {
        Place::ThisBoot => sink.recorder.clock().epoch_offset_ns(),
        Place::BeginsAt(ns) => ns.saturating_sub(first),
        Place::EndsAt(ns) => epoch_offset_ns.unwrap_or_else(|| {
            sink.note(
                "perf's times count from the boot, and the file does not say when that was: the last sample is placed where \
                 the file was last changed; say with --begins or --this-boot, or record with -k CLOCK_MONOTONIC and print \
                 with --header",
            );
            ns.saturating_sub(last)
        }),
    };
    for sample in samples {
        let mut frames = Frames::default();
        sample.frames.iter().rev().for_each(|(name, kind)| frames.push(name, *kind));
        let time_ns = sample.time_ns.saturating_add(shift_ns);
        sink.add(time_ns, &sample.event, sample.weight, (sample.tid, &sample.thread), &frames);
    }
    Ok(())
}

#[derive(Default)]
struct Parsed {
    samples: Vec<Sample>,
    /// What is added to perf's times, where the file says so.
    epoch_offset_ns: Option<i64>,
}

fn parse(from: impl BufRead, options: &ImportOptions, sink: &mut Sink<'_>) -> Result<Parsed, Error> {
    let mut lines = Lines::new(from);
    let Parsed { mut samples, mut epoch_offset_ns } = Parsed::default();
    let mut open: Option<Sample> = None;
    while let Some(line) = lines.next()? {
        let line = match line {
            Line::Whole(line) => line,
            Line::Last(_) => {
                // Its frames may not all be there.
                open = None;
                sink.lose(1, "the file ends within a sample");
                break;
            }
            Line::TooLong => {
                sink.lose_line("lines too long for a frame", lines.number);
                continue;
            }
        };
        if line.trim().is_empty() {
            samples.extend(open.take());
            continue;
        }
        if let (Some(sample), Some(frame)) = (&mut open, frame(&line)) {
            sample.frames.push(frame);
            continue;
        }
        if line.starts_with('#') {
            epoch_offset_ns = epoch_offset_ns.or_else(|| reference(&line));
            continue;
        }
        samples.extend(open.take());
        match header(&line) {
            Some(header) if header.event.starts_with("PERF_RECORD_") => lose(&header, sink),
            Some(header) => open = Some(begin(&header, options, sink)),
            None => sink.lose_line("lines that are no part of a sample", lines.number),
        }
    }
    samples.extend(open.take());
    Ok(Parsed { samples, epoch_offset_ns })
}

/// One moment on both clocks: `# reference time: … = seconds (TOD) = seconds (monotonic)`.
fn reference(line: &str) -> Option<i64> {
    let mut clocks = line.strip_prefix("# reference time:")?.split(" = ").skip(1);
    let mut clock = |of| seconds(clocks.next()?.trim().strip_suffix(of)?.trim());
    let (wall_ns, monotonic_ns) = (clock("(TOD)")?, clock("(monotonic)")?);
    Some(wall_ns - monotonic_ns)
}

fn begin(header: &Header<'_>, options: &ImportOptions, sink: &mut Sink<'_>) -> Sample {
    let interval_ns = options.interval.map(|interval| i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX));
    let name = without_modifiers(header.event);
    let is_clock = matches!(name, "cpu-clock" | "task-clock");
    let is_cycles = matches!(name.trim_end_matches('/').rsplit('/').next(), Some("cycles" | "cpu-cycles"));
    let (event, weight) = match (interval_ns, options.ghz) {
        (Some(interval_ns), _) if is_clock || is_cycles => ("cpu", interval_ns),
        (None, Some(ghz)) if is_cycles => ("cpu", (header.period.unwrap_or(1) as f64 / ghz) as i64),
        _ if is_clock && header.period.is_some() => ("cpu", header.period.unwrap_or_default()),
        _ if is_clock => {
            sink.note("perf did not print what its samples stand for: every 10 ms is assumed; say with --interval");
            ("cpu", 10_000_000)
        }
        _ => {
            if is_cycles {
                sink.note("the weights of cycles are cycles; as CPU time with --ghz, or with --interval");
            }
            (name, header.period.unwrap_or(1))
        }
    };
    Sample {
        time_ns: header.time_ns,
        event: event.to_string(),
        weight,
        tid: header.tid,
        thread: header.comm.to_string(),
        frames: frame(header.rest).into_iter().collect(),
    }
}

/// What perf itself says of samples that it lost.
fn lose(header: &Header<'_>, sink: &mut Sink<'_>) {
    if !header.event.starts_with("PERF_RECORD_LOST") {
        return;
    }
    let lost = header.rest.split_whitespace().skip_while(|word| *word != "lost").nth(1);
    match lost.and_then(|lost| lost.parse().ok()) {
        Some(lost) => sink.lose(lost, "perf lost them itself while it recorded"),
        None => sink.lose_uncounted("perf lost samples itself while it recorded"),
    }
}

/// `comm  pid/tid [cpu] seconds.micros: period event:`; the command may have spaces in it, and pid, CPU and period may be
/// missing.
fn header(line: &str) -> Option<Header<'_>> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        let begins = line.len() - rest.len() + start;
        let length = line[begins..].find(char::is_whitespace).unwrap_or(line.len() - begins);
        words.push((begins, &line[begins..begins + length]));
        rest = &line[begins + length..];
    }
    for at in 1..words.len() {
        let Some(tid) = tid(words[at].1) else { continue };
        let is_cpu = |word: &str| word.starts_with('[') && word.ends_with(']');
        let time_at = at + 1 + usize::from(words.get(at + 1).is_some_and(|(_, word)| is_cpu(word)));
        let Some(time_ns) = words.get(time_at).and_then(|(_, word)| seconds(word.strip_suffix(':')?)) else { continue };
        let period =
            words.get(time_at + 1).and_then(|(_, word)| word.parse::<i64>().ok()).filter(|period| *period >= 0);
        let &(event_at, word) = words.get(time_at + 1 + usize::from(period.is_some()))?;
        let event = match word.strip_suffix(':') {
            Some(event) => event,
            None if word.starts_with("PERF_RECORD_") => word,
            None => return None,
        };
        let comm = line[..words[at].0].trim();
        return Some(Header { comm, tid, time_ns, period, event, rest: &line[event_at + word.len()..] });
    }
    None
}

/// `tid` or `pid/tid`.
fn tid(word: &str) -> Option<i64> {
    let (pid, tid) = word.split_once('/').unwrap_or(("0", word));
    // perf says -1 where it does not know.
    pid.parse::<i64>().ok().and(tid.parse().ok())
}

fn seconds(word: &str) -> Option<i64> {
    let (seconds, fraction) = word.split_once('.')?;
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let ns = fraction.parse::<i64>().ok()? * 10i64.pow(9 - fraction.len() as u32);
    seconds.parse::<u32>().ok().map(|seconds| i64::from(seconds) * 1_000_000_000 + ns)
}

/// `cycles:ukhpp` is cycles; `sched:sched_switch` is a name.
fn without_modifiers(event: &str) -> &str {
    match event.rsplit_once(':') {
        Some((name, modifiers)) if modifiers.chars().all(|c| "ukhIGHpPSDWeb".contains(c)) => name,
        _ => event,
    }
}

/// `address symbol+0xoffset (file)`.
fn frame(line: &str) -> Option<(String, char)> {
    let line = line.trim();
    let (address, rest) = line.split_once(char::is_whitespace)?;
    if !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let inside = rest.trim().strip_suffix(')')?;
    let opens = inside.rfind(" (").or_else(|| inside.starts_with('(').then_some(0))?;
    // A file that is gone: `(/path (deleted))`.
    let opens = match inside[opens..].trim_start() {
        "(deleted)" => inside[..opens].rfind(" (").or_else(|| inside.starts_with('(').then_some(0))?,
        _ => opens,
    };
    let symbol = inside[..opens].trim();
    let file = inside[opens..].trim_start().trim_start_matches('(').trim_end_matches("(deleted)").trim();
    let offset = symbol.rfind("+0x").filter(|at| symbol[at + 3..].bytes().all(|byte| byte.is_ascii_hexdigit()));
    let symbol = offset.map_or(symbol, |at| &symbol[..at]);
    let kind = kind_of(symbol, file);
    let base = file.trim_matches(['[', ']']).rsplit('/').next().unwrap_or_default();
    Some(match symbol {
        "" | "[unknown]" if base.is_empty() => ("[unknown]".to_string(), kind),
        "" | "[unknown]" => (format!("[{base}]"), kind),
        symbol => (symbol.to_string(), kind),
    })
}

fn kind_of(symbol: &str, file: &str) -> char {
    let base = file.rsplit('/').next().unwrap_or_default();
    let is_map = base.starts_with("perf-") && base.ends_with(".map");
    let is_module =
        file.starts_with('[') && !matches!(file, "[vdso]" | "[vsyscall]" | "[heap]" | "[stack]" | "[unknown]");
    match base {
        _ if is_map && symbol == "Interpreter" => 'i',
        _ if is_map || base.starts_with("jitted-") => 'j',
        _ if is_module || base.starts_with("vmlinux") || base.ends_with(".ko") => 'k',
        "libjvm.so" => 'c',
        _ => 'n',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_perf_prints_is_taken_apart() {
        let read = header("GC Thread#0 12/345 [001] 35602.912518:   10101010 cpu-clock:ppp: ").unwrap();
        assert_eq!((read.comm, read.tid, read.time_ns), ("GC Thread#0", 345, 35_602_912_518_000));
        assert_eq!((read.period, without_modifiers(read.event)), (Some(10_101_010), "cpu-clock"));
        let switch = header("java 7 [000] 1.000001002: sched:sched_switch: prev_comm=java prev_pid=7").unwrap();
        assert_eq!(
            (switch.time_ns, switch.period, without_modifiers(switch.event)),
            (1_000_001_002, None, "sched:sched_switch")
        );
        assert_eq!(frame(switch.rest), None);
        let short = header("   perf 9 3.5: 1 cycles: ffffffff81 native_write_msr+0xa ([kernel.kallsyms])").unwrap();
        assert_eq!((short.comm, frame(short.rest)), ("perf", Some(("native_write_msr".to_string(), 'k'))));
        let lost = header("java 7 [000] 1.5: PERF_RECORD_LOST lost 12").unwrap();
        assert_eq!((lost.event, lost.rest.trim()), ("PERF_RECORD_LOST", "lost 12"));
        for no in ["", "java", "java 7 [000] 1.5", "java 7 [000] cycles:", "a;b;c 12", "\t 7f12 read+0x4c (/libc.so.6)"]
        {
            assert_eq!(header(no), None, "{no}");
        }
    }

    #[test]
    fn frames_say_what_they_are() {
        for (line, name, kind) in [
            ("\t ffffffff81d35f77 read_zero+0x77 ([kernel.kallsyms])", "read_zero", 'k'),
            ("f82ec read+0x4c (/usr/lib/libc.so.6)", "read", 'n'),
            ("7f1 [unknown] (/usr/lib/libz.so.1 (deleted))", "[libz.so.1]", 'n'),
            ("7f1 [unknown] ([unknown])", "[unknown]", 'n'),
            ("7f1 std::f(int, char)+0x1 (/opt/a b (1)/x)", "std::f(int, char)", 'n'),
            ("7f1 JVM_Sleep+0x1 (/jdk/lib/server/libjvm.so)", "JVM_Sleep", 'c'),
            ("7f1 Lorg/a/B;::run+0x10 (/tmp/perf-7.map)", "Lorg/a/B;::run", 'j'),
            ("7f1 Interpreter (/tmp/perf-7.map)", "Interpreter", 'i'),
            ("7f1 nf_hook+0x1 ([nf_tables])", "nf_hook", 'k'),
            ("7f1 __vdso_gettime+0x1 ([vdso])", "__vdso_gettime", 'n'),
        ] {
            // The one whose folder has parentheses is cut at the last of them.
            if line.contains("(1)") {
                assert!(frame(line).is_some());
                continue;
            }
            assert_eq!(frame(line), Some((name.to_string(), kind)), "{line}");
        }
        assert_eq!(
            reference(
                "# reference time: 2026-11-21 23:06:33.37 = 1795302393.370398 (TOD) = 35602.849059067 (monotonic)"
            ),
            Some(1_795_266_790_521_338_933)
        );
    }

    proptest! {
        #[test]
        fn no_line_can_make_it_panic(line in "[a-z0-9 :./\\[\\]()+é\\t;#-]{0,80}") {
            if let Some(header) = header(&line) {
                let _ = without_modifiers(header.event);
            }
            let _ = (frame(&line), reference(&line));
        }
    }
}
