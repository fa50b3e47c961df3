//! Parses the lines that `perf script` prints.

/// The header line of a sample.
#[derive(Debug, PartialEq)]
pub(super) struct Header<'a> {
    pub(super) comm: &'a str,
    pub(super) tid: i64,
    /// Whether perf printed only one of the thread's name and id, or none.
    pub(super) is_bare: bool,
    /// The time on perf's clock, which counts from the boot; None if perf printed no time.
    pub(super) time_ns: Option<i64>,
    /// Number of events that the sample represents.
    pub(super) period: Option<i64>,
    pub(super) event: &'a str,
    /// The rest of the header line: the only frame of a sample without a stack, or the text of a tracepoint.
    pub(super) rest: &'a str,
}

/// The same moment on both clocks: `# reference time: … = seconds (TOD) = seconds (monotonic)`.
pub(super) fn reference(line: &str) -> Option<i64> {
    let mut clocks = line.strip_prefix("# reference time:")?.split(" = ").skip(1);
    let mut clock = |of| seconds(clocks.next()?.trim().strip_suffix(of)?.trim());
    let (wall_ns, monotonic_ns) = (clock("(TOD)")?, clock("(monotonic)")?);
    Some(wall_ns - monotonic_ns)
}

/// `comm  pid/tid [cpu] seconds.micros: period event:`. The command may contain spaces. All fields but the event are
/// missing unless perf was told to print them; others, such as the mode or the time of day, may come between the thread
/// and the time.
pub(super) fn header(line: &str) -> Option<Header<'_>> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        let begins = line.len() - rest.len() + start;
        let length = line[begins..].find(char::is_whitespace).unwrap_or(line.len() - begins);
        words.push((begins, &line[begins..begins + length]));
        rest = &line[begins + length..];
    }
    timed(line, &words).or_else(|| timeless(line, &words))
}

/// The words of a line, each with its offset.
type Words<'a> = [(usize, &'a str)];

fn timed<'a>(line: &'a str, words: &Words<'a>) -> Option<Header<'a>> {
    let time_of = |word: &str| seconds(word.strip_suffix(':')?);
    words.iter().enumerate().find_map(|(time_at, (_, word))| {
        let time_ns = time_of(word)?;
        let (period, event, rest) = event(line, words, time_at + 1)?;
        // The thread id is the last number before the time. A command may contain numbers, and the CPU is one, too.
        let thread = words[..time_at].iter().rev().find_map(|(begins, word)| Some((*begins, tid(word)?)));
        let (comm_ends, tid) = thread.unwrap_or((words[time_at].0, 0));
        let comm = line[..comm_ends].trim();
        let is_bare = comm.is_empty() || thread.is_none();
        Some(Header { comm, tid, is_bare, time_ns: Some(time_ns), period, event, rest })
    })
}

/// Without a time, the width of its fields tells numbers apart: perf prints an id at least 5 characters wide, and a period 10.
/// Other numbers belong to the command.
fn timeless<'a>(line: &'a str, words: &Words<'a>) -> Option<Header<'a>> {
    let is_cpu = |at: usize| words[at].1.starts_with('[') && words[at].1.ends_with(']');
    let end = |at: usize| words[at].0 + words[at].1.len();
    // The characters from the end of the word before to an offset within this one.
    let width = |at: usize, to: usize| words[at].0 + to - at.checked_sub(1).map_or(0, end);
    let id = |at: usize| {
        let word = words[at].1;
        let is_wide = |to: usize| at == 0 || width(at, to) > 5 || words.get(at + 1).is_some() && is_cpu(at + 1);
        tid(word).filter(|_| is_wide(word.find('/').unwrap_or(word.len())))
    };
    words.iter().enumerate().skip(1).find_map(|(event_at, _)| {
        let (None, event, rest) = event(line, words, event_at)? else { return None };
        let mut before = event_at;
        let period = words[before - 1].1.parse::<i64>().ok().filter(|period| *period >= 0);
        let is_period = before >= 2 && (is_cpu(before - 2) || width(before - 1, words[before - 1].1.len()) > 10);
        let period = period.filter(|_| is_period);
        before -= usize::from(period.is_some());
        before -= usize::from(before > 0 && is_cpu(before - 1));
        let tid = before.checked_sub(1).and_then(id);
        before -= usize::from(tid.is_some());
        let comm = line[..words.get(before)?.0].trim();
        let is_bare = comm.is_empty() || tid.is_none();
        // The text of a tracepoint has words with a colon, too.
        let is_sample = !is_bare || rest.trim().is_empty() || frame(rest).is_some();
        let has_thread = !comm.is_empty() || tid.is_some();
        let tid = tid.unwrap_or_default();
        (has_thread && is_sample).then_some(Header { comm, tid, is_bare, time_ns: None, period, event, rest })
    })
}

/// Parses the period, the event and the rest of a line from a given word on.
fn event<'a>(line: &'a str, words: &Words<'a>, at: usize) -> Option<(Option<i64>, &'a str, &'a str)> {
    let period = words.get(at).and_then(|(_, word)| word.parse::<i64>().ok()).filter(|period| *period >= 0);
    let &(begins, word) = words.get(at + usize::from(period.is_some()))?;
    let event = match word.strip_suffix(':') {
        Some(event) if event.starts_with(|c: char| c.is_alphabetic() || c == '_') => event,
        None if word.starts_with("PERF_RECORD_") => word,
        _ => return None,
    };
    Some((period, event, &line[begins + word.len()..]))
}

/// Parses `tid` or `pid/tid`.
fn tid(word: &str) -> Option<i64> {
    let (pid, tid) = word.split_once('/').unwrap_or(("0", word));
    // perf writes -1 for unknown ids.
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

/// The event's name without modifiers: `cycles` of `cycles:ukhpp`; `sched:sched_switch` stays.
pub(super) fn without_modifiers(event: &str) -> &str {
    match event.rsplit_once(':') {
        Some((name, modifiers)) if modifiers.chars().all(|c| "ukhIGHpPSDWeb".contains(c)) => name,
        _ => event,
    }
}

/// Parses a frame: `address symbol+0xoffset (file)`; perf may have been told to leave out the file.
pub(super) fn frame(line: &str) -> Option<(String, char)> {
    let line = line.trim();
    let (address, rest) = line.split_once(char::is_whitespace)?;
    if !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let (symbol, file) = with_file(rest.trim()).unwrap_or((rest.trim(), ""));
    let offset = symbol.rfind("+0x").filter(|at| symbol[at + 3..].bytes().all(|byte| byte.is_ascii_hexdigit()));
    let symbol = offset.map_or(symbol, |at| &symbol[..at]);
    // Addresses in the upper half belong to the kernel.
    let is_kernel = file.is_empty() && address.len() == 16 && address.starts_with(['f', 'F']);
    let kind = if is_kernel { 'k' } else { kind_of(symbol, file) };
    let base = file.trim_matches(['[', ']']).rsplit('/').next().unwrap_or_default();
    Some(match symbol {
        "" | "[unknown]" if base.is_empty() => ("[unknown]".to_string(), kind),
        "" | "[unknown]" => (format!("[{base}]"), kind),
        symbol => (symbol.to_string(), kind),
    })
}

/// Splits `symbol (file)`. Both may contain parentheses: `f(int, char (*)(int))`, `(/path (deleted))`.
fn with_file(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_suffix(')')?;
    let opens = || inside.match_indices('(').map(|(at, _)| at).filter(|at| *at == 0 || inside[..*at].ends_with(' '));
    let is_path = |at: &usize| inside[at + 1..].starts_with(['/', '[']);
    let is_name = |at: &usize| !inside[at + 1..].contains([' ', '*', '(', ')', ',']);
    let at = opens().rfind(is_path).or_else(|| opens().rfind(is_name))?;
    Some((inside[..at].trim(), inside[at + 1..].trim_end_matches("(deleted)").trim()))
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
        assert_eq!((read.comm, read.tid, read.time_ns), ("GC Thread#0", 345, Some(35_602_912_518_000)));
        assert_eq!((read.period, without_modifiers(read.event)), (Some(10_101_010), "cpu-clock"));
        let switch = header("java 7 [000] 1.000001002: sched:sched_switch: prev_comm=java prev_pid=7").unwrap();
        assert_eq!(
            (switch.time_ns, switch.period, without_modifiers(switch.event)),
            (Some(1_000_001_002), None, "sched:sched_switch")
        );
        assert_eq!(frame(switch.rest), None);
        // Lines with fewer and with more fields.
        for (line, comm, tid, time_ns) in [
            ("dd  4268 cpu-clock: ", "dd", 4268, None),
            ("worker 1 7/8 [003]   10101010 cpu-clock: ", "worker 1", 8, None),
            ("worker 1  8032 cpu-clock: ", "worker 1", 8032, None),
            ("worker 1  8032   10101010 cpu-clock: ", "worker 1", 8032, None),
            ("dd  8032     250000 cpu-clock: ", "dd", 8032, None),
            (" 4268  1.5: cpu-clock: ", "", 4268, Some(1_500_000_000)),
            ("dd  1.5: cpu-clock: ", "dd", 0, Some(1_500_000_000)),
            ("worker 1  9 U      1.5:   10 cpu-clock: ", "worker 1", 9, Some(1_500_000_000)),
            ("dd  9 2026-11-27 09:28:18.895286  1.5:   10 cpu-clock: ", "dd", 9, Some(1_500_000_000)),
            // One of name and id, or neither.
            (" 4711 cpu-clock: ", "", 4711, None),
            ("  4711/4712  cpu-clock: ", "", 4712, None),
            ("server cpu-clock: ", "server", 0, None),
            ("worker 1 cpu-clock: ", "worker 1", 0, None),
            (" 1268.896021: cpu-clock: ", "", 0, Some(1_268_896_021_000)),
            (" 1268.896021:   10 cpu-clock: ", "", 0, Some(1_268_896_021_000)),
            // A command that looks like ids.
            ("a/b 12/3    4268 cpu-clock: ", "a/b 12/3", 4268, None),
            ("a/b 12/3    4268     250000 cpu-clock: ", "a/b 12/3", 4268, None),
            ("a/b 12/3  4267/4268  cpu-clock: ", "a/b 12/3", 4268, None),
            ("a/b 12/3 cpu-clock: ", "a/b 12/3", 0, None),
            ("a/b 12/3  4268 [001]  1.5:   10 cpu-clock: ", "a/b 12/3", 4268, Some(1_500_000_000)),
        ] {
            let read = header(line).unwrap();
            assert_eq!((read.comm, read.tid, read.time_ns, read.event), (comm, tid, time_ns, "cpu-clock"), "{line}");
        }
        let short = header("   perf 9 3.5: 1 cycles: ffffffff81 native_write_msr+0xa ([kernel.kallsyms])").unwrap();
        assert_eq!((short.comm, frame(short.rest)), ("perf", Some(("native_write_msr".to_string(), 'k'))));
        let lost = header("java 7 [000] 1.5: PERF_RECORD_LOST lost 12").unwrap();
        assert_eq!((lost.event, lost.rest.trim()), ("PERF_RECORD_LOST", "lost 12"));
        for no in [
            "heap profile: 13: 1595680 [47130736: 25845] @ heap/1048576",
            "1: 524288 [3: 1572864] @ 0x420cef",
            "",
            "java",
            "java 7 [000] 1.5",
            "java 7 [000] cycles",
            "a;b;c 12",
            "\t 7f12 read+0x4c (/libc.so.6)",
        ] {
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
            ("7f1 f(int, char (*)(int))", "f(int, char (*)(int))", 'n'),
            ("7f1 inner (inlined)", "inner", 'n'),
            ("ffffffff81d335f7 read_zero", "read_zero", 'k'),
            ("7f1 JVM_Sleep+0x1 (/jdk/lib/server/libjvm.so)", "JVM_Sleep", 'c'),
            ("7f1 Lorg/a/B;::run+0x10 (/tmp/perf-7.map)", "Lorg/a/B;::run", 'j'),
            ("7f1 Interpreter (/tmp/perf-7.map)", "Interpreter", 'i'),
            ("7f1 nf_hook+0x1 ([nf_tables])", "nf_hook", 'k'),
            ("7f1 __vdso_gettime+0x1 ([vdso])", "__vdso_gettime", 'n'),
        ] {
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
