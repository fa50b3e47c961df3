//! Pauses in the JVM's own log: unified logging of JDK 9 and later, and that of JDK 8.
//!
//! ```text
//! [2026-11-27T10:00:00.123+0000][12.345s][info ] GC(7) Pause Young (Normal) (G1 Evacuation Pause) 1024M->300M(8192M) 12.345ms
//! 2026-11-27T10:00:00.123+0000: 12.345: [GC pause (G1 Evacuation Pause) (young), 0.0123 secs]
//! ```

use super::stamp::{Layout, Stamp, ms_ns, seconds_ns, stamped};

/// A pause, as the table `pauses` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pause {
    pub(super) start: Stamp,
    pub(super) duration_ns: i64,
    /// The number of the collection; None for safepoints, and in JDK 8.
    pub(super) gc_id: Option<i64>,
    pub(super) is_collection: bool,
    pub(super) collector: Option<&'static str>,
    /// The cause of a collection, or the operation of a safepoint.
    pub(super) cause: Option<String>,
    pub(super) heap: Option<(i64, i64)>,
    pub(super) time_to_safepoint_ns: Option<i64>,
}

/// The most bytes of a cause.
const LONGEST: usize = 100;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Collector {
    #[default]
    Serial,
    Parallel,
    Cms,
    G1,
    Z,
    Shenandoah,
}

/// Texts that only one collector logs.
const SIGNS: &[(&str, Collector)] = &[
    ("Using G1", Collector::G1),
    ("(G1 ", Collector::G1),
    ("Pause Young (Normal)", Collector::G1),
    ("[GC pause (", Collector::G1),
    ("Using Parallel", Collector::Parallel),
    ("PSYoungGen", Collector::Parallel),
    ("Using Concurrent Mark Sweep", Collector::Cms),
    ("ParNew", Collector::Cms),
    ("CMS Initial Mark", Collector::Cms),
    ("The Z Garbage Collector", Collector::Z),
    ("Pause Mark Start", Collector::Z),
    ("Using Shenandoah", Collector::Shenandoah),
    ("Pause Init Mark", Collector::Shenandoah),
    ("Using Serial", Collector::Serial),
];

impl Collector {
    /// The collector's name in JFR, as the agent has it, too.
    fn name(self, is_young: bool, is_full: bool, generation: Option<&str>) -> &'static str {
        match (self, generation) {
            (Collector::G1, _) if is_young => "G1New",
            (Collector::G1, _) if is_full => "G1Full",
            (Collector::G1, _) => "G1Old",
            (Collector::Z, None) => "Z",
            (Collector::Z, Some("y")) => "ZGC Minor",
            (Collector::Z, Some(_)) => "ZGC Major",
            (Collector::Shenandoah, _) => "Shenandoah",
            (Collector::Parallel, _) if is_young => "ParallelScavenge",
            (Collector::Parallel, _) => "ParallelOld",
            (Collector::Cms, _) if is_young => "ParNew",
            (Collector::Cms, _) if !is_full => "ConcurrentMarkSweep",
            (Collector::Serial, _) if is_young => "DefNew",
            (Collector::Cms | Collector::Serial, _) => "SerialOld",
        }
    }
}

/// Reads a log line by line.
#[derive(Debug, Default)]
pub(super) struct GcLog {
    collector: Collector,
    /// The operation of the safepoint that began, in JDK 9 to 12.
    operation: Option<String>,
    /// A collection of JDK 8, whose text may be on several lines.
    open: Option<Pause>,
}

/// Whether a line is one that the JVM logs about its pauses.
pub(super) fn is_line(line: &str) -> bool {
    let begins = ["GC(", "Using ", "Safepoint \"", "[GC", "[Full GC", "Total time for which", "Application time:"];
    stamped(line).is_some_and(|(_, _, text)| begins.iter().any(|begin| text.starts_with(begin)))
}

impl GcLog {
    /// Takes a line, and gives the pause that ended with it.
    pub(super) fn take(&mut self, line: &str) -> Option<Pause> {
        if let Some((_, collector)) = SIGNS.iter().find(|(sign, _)| line.contains(sign)) {
            self.collector = *collector;
        }
        let Some((stamp, layout, text)) = stamped(line) else {
            return self.open.is_some().then(|| self.more(line))?;
        };
        let before = self.end();
        let pause = match layout {
            Layout::Unified => self.unified(stamp, text),
            Layout::Jdk8 => self.jdk8(stamp, text),
        };
        // A line of JDK 8 ends the collection before it, and may be whole itself: then that is the next to be given.
        match (before, pause) {
            (Some(before), Some(pause)) => {
                self.open = Some(pause);
                Some(before)
            }
            (before, pause) => before.or(pause),
        }
    }

    /// Gives the last pause; no more lines will come.
    pub(super) fn end(&mut self) -> Option<Pause> {
        self.open.take().filter(|pause| pause.duration_ns > 0)
    }

    fn unified(&mut self, stamp: Stamp, text: &str) -> Option<Pause> {
        if let Some(pause) = self.safepoint(stamp, text) {
            return Some(pause);
        }
        let (id, text) = text.strip_prefix("GC(")?.split_once(") ")?;
        let (generation, text) = match text.split_once(": ") {
            Some((generation @ ("y" | "Y" | "O"), text)) => (Some(generation), text),
            _ => (None, text),
        };
        let (text, ms) = text.strip_prefix("Pause ")?.strip_suffix("ms")?.rsplit_once(' ')?;
        let duration_ns = ms_ns(ms)?;
        let (text, heap) = match text.rsplit_once(' ').map(|(text, last)| (text, sizes(last))) {
            Some((text, heap @ Some(_))) => (text, heap),
            _ => (text, None),
        };
        let (is_young, is_full) = (text.starts_with("Young"), text.starts_with("Full"));
        // In Shenandoah's lines the parentheses hold the mode of the pause, not its cause.
        let cause = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")).map(|(_, cause)| cause);
        Some(Pause {
            start: stamp.minus(duration_ns),
            duration_ns,
            gc_id: id.parse().ok(),
            is_collection: true,
            collector: Some(self.collector.name(is_young, is_full, generation)),
            cause: cause.filter(|_| self.collector != Collector::Shenandoah).map(shortened),
            heap,
            time_to_safepoint_ns: None,
        })
    }

    fn safepoint(&mut self, stamp: Stamp, text: &str) -> Option<Pause> {
        let pause = |duration_ns: i64, operation: Option<String>, time_to_safepoint_ns| Pause {
            start: stamp.minus(duration_ns),
            duration_ns,
            gc_id: None,
            is_collection: false,
            collector: None,
            cause: operation,
            heap: None,
            time_to_safepoint_ns,
        };
        if let Some((operation, rest)) = text.strip_prefix("Safepoint \"").and_then(|rest| rest.split_once('"')) {
            let ns = |name: &str| {
                let (_, number) = rest.split_once(name)?;
                number.trim_start().split(' ').next()?.parse::<i64>().ok().filter(|ns| *ns >= 0)
            };
            return Some(pause(ns("Total:")?, Some(shortened(operation)), ns("Reaching safepoint:")));
        }
        if let Some(operation) = text.strip_prefix("Entering safepoint region: ") {
            self.operation = Some(shortened(operation));
            return None;
        }
        let (stopped, rest) =
            text.strip_prefix("Total time for which application threads were stopped: ")?.split_once(" seconds")?;
        let reaching = rest.strip_prefix(", Stopping threads took: ").and_then(|rest| rest.strip_suffix(" seconds"));
        Some(pause(seconds_ns(stopped)?, self.operation.take(), reaching.and_then(seconds_ns)))
    }

    fn jdk8(&mut self, stamp: Stamp, text: &str) -> Option<Pause> {
        if let Some(pause) = self.safepoint(stamp, text) {
            return Some(pause);
        }
        let is_full = text.starts_with("[Full GC");
        let rest = text.strip_prefix("[Full GC").or_else(|| text.strip_prefix("[GC"))?.trim_start();
        if rest.starts_with("concurrent-") {
            return None;
        }
        let of_old = ["CMS Initial Mark", "CMS Final Remark", "remark", "cleanup"];
        let is_young = !is_full && !of_old.iter().any(|old| rest.contains(old));
        let cause = rest.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
        self.open = Some(Pause {
            // JDK 8 writes when a collection began.
            start: stamp,
            duration_ns: 0,
            gc_id: None,
            is_collection: true,
            collector: Some(self.collector.name(is_young, is_full, None)),
            cause: cause.map(|(cause, _)| shortened(cause)),
            heap: None,
            time_to_safepoint_ns: None,
        });
        self.more(text)
    }

    /// Takes the length and the heap's sizes of the open collection from a line.
    fn more(&mut self, text: &str) -> Option<Pause> {
        let open = self.open.as_mut()?;
        for (at, _) in text.match_indices(" secs]") {
            // The length of the whole comes last. `real=` and phases such as `0.1/0.2` don't parse.
            let number = text[..at].rsplit([' ', '[']).next().and_then(seconds_ns);
            open.duration_ns = number.unwrap_or(open.duration_ns);
        }
        let words: Vec<&str> = text.split([' ', '[', ']', ',']).filter(|word| !word.is_empty()).collect();
        for (at, word) in words.iter().enumerate().filter(|(_, word)| word.contains("->")) {
            let of = at.checked_sub(1).map_or("", |before| words[before]);
            let is_heap = of == "Heap:" || !of.ends_with(':');
            if let Some(heap) = sizes(word).filter(|_| is_heap) {
                open.heap = Some(heap);
            }
        }
        let is_end = text.contains("[Times:") && !text.contains("[CMS-concurrent");
        is_end.then(|| self.end())?
    }
}

fn shortened(text: &str) -> String {
    text.trim()[..text.trim().floor_char_boundary(LONGEST)].to_string()
}

/// The bytes before and after of `1024M->300M(8192M)`, `1024.0M(8192.0M)->300.0M(8192.0M)` or `100M(50%)->20M(10%)`.
fn sizes(word: &str) -> Option<(i64, i64)> {
    let (before, after) = word.split_once("->")?;
    let bytes = |text: &str| {
        let text = text.split('(').next()?;
        let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let factor = match &text[unit..] {
            "B" => 1.0,
            "K" => 1024.0,
            "M" => 1_048_576.0,
            "G" => 1_073_741_824.0,
            _ => return None,
        };
        Some((text[..unit].parse::<f64>().ok()? * factor) as i64)
    };
    Some((bytes(before)?, bytes(after)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Start after 2023-11-14T22:13:20Z in ms, length in us, collector, cause, and MiB of heap before and after.
    type Told = (i64, i64, &'static str, String, Option<(i64, i64)>);

    fn pauses(text: &str) -> Vec<Told> {
        let mut log = GcLog::default();
        let mut pauses: Vec<Pause> = text.lines().filter_map(|line| log.take(line)).collect();
        pauses.extend(log.end());
        let told = pauses.into_iter().map(|pause| {
            let at_ms = match pause.start {
                Stamp::Wall(ns, _) => ns / 1_000_000 - 1_700_000_000_000,
                Stamp::Uptime(ns) => ns / 1_000_000,
            };
            let name = if pause.is_collection { pause.collector.unwrap() } else { "safepoint" };
            let heap = pause.heap.map(|(before, after)| (before >> 20, after >> 20));
            (at_ms, pause.duration_ns / 1000, name, pause.cause.unwrap_or_default(), heap)
        });
        told.collect()
    }

    #[test]
    fn unified_logging_of_each_collector() {
        let at = "[2023-11-14T22:13:21.000+0000][12.345s][4711][4712][info ]";
        for (lines, told) in [
            (
                format!("{at} GC(7) Pause Young (Normal) (G1 Evacuation Pause) 1024M->300M(8192M) 12.345ms"),
                vec![(987, 12_345, "G1New", "G1 Evacuation Pause", Some((1024, 300)))],
            ),
            (
                format!(
                    "{at} Using G1\n{at} GC(7) Pause Full (G1 Compaction Pause) 8G->4G(8G) 5000.000ms\n{at} GC(8) Pause Remark 300M->300M(8192M) 2.000ms"
                ),
                vec![
                    (-4000, 5_000_000, "G1Full", "G1 Compaction Pause", Some((8192, 4096))),
                    (998, 2000, "G1Old", "", Some((300, 300))),
                ],
            ),
            (
                format!(
                    "{at} GC(3) Pause Mark Start 0.012ms\n{at} GC(3) y: Pause Mark End 1.000ms\n{at} GC(3) Garbage Collection (Proactive) 100M(5%)->50M(2%)"
                ),
                vec![(999, 12, "Z", "", None), (999, 1000, "ZGC Minor", "", None)],
            ),
            (
                format!("{at} GC(3) Concurrent Mark 3000.000ms\n{at} GC(3) Pause Init Mark (unload classes) 1.000ms"),
                vec![(999, 1000, "Shenandoah", "", None)],
            ),
            (
                format!("{at} Using Parallel\n{at} GC(3) Pause Young (Allocation Failure) 100M->20M(400M) 9.000ms"),
                vec![(991, 9000, "ParallelScavenge", "Allocation Failure", Some((100, 20)))],
            ),
            (
                format!(
                    "{at} Safepoint \"ICBufferFull\", Time since last: 3134 ns, Reaching safepoint: 120 ns, Cleanup: 5 ns, At safepoint: 12 ns, Total: 2000000 ns"
                ),
                vec![(998, 2000, "safepoint", "ICBufferFull", None)],
            ),
            (
                format!(
                    "{at} Entering safepoint region: RevokeBias\n{at} Leaving safepoint region\n{at} Total time for which application threads were stopped: 0.0030000 seconds, Stopping threads took: 0.0010000 seconds"
                ),
                vec![(997, 3000, "safepoint", "RevokeBias", None)],
            ),
            (
                format!(
                    "{at} GC(7) Pause Young (Normal) (G1 Evacuation Pause)\n{at} GC(7) Eden regions: 10->0(12)\n{at} GC(7) User=0.01s Sys=0.00s Real=0.01s"
                ),
                vec![],
            ),
        ] {
            let told: Vec<Told> =
                told.into_iter().map(|(at, us, name, cause, heap)| (at, us, name, cause.to_string(), heap)).collect();
            assert_eq!(pauses(&lines), told, "{lines}");
        }
    }

    #[test]
    fn the_log_of_jdk_8() {
        // With -XX:+PrintGCDetails -XX:+PrintTenuringDistribution -XX:+PrintHeapAtGC, as Cassandra's jvm.options has them.
        let par_new = "\
{Heap before GC invocations=1 (full 0):
2023-11-14T22:13:21.000+0000: 3.100: [GC (Allocation Failure) 2023-11-14T22:13:21.000+0000: 3.100: [ParNew
Desired survivor size 17891328 bytes, new threshold 1 (max 1)
- age   1:   17000000 bytes,   17000000 total
: 279616K->34943K(314560K), 0.0440070 secs] 1024000K->512000K(1013632K), 0.0442000 secs] [Times: user=0.12 sys=0.02, real=0.04 secs]
Heap after GC invocations=2 (full 0):
2023-11-14T22:13:22.000+0000: 4.100: Total time for which application threads were stopped: 0.0450000 seconds, Stopping threads took: 0.0001000 seconds
2023-11-14T22:13:23.000+0000: 5.100: [GC (CMS Initial Mark) [1 CMS-initial-mark: 100K(200K)] 300K(400K), 0.0100000 secs] [Times: user=0.01 sys=0.00, real=0.01 secs]
2023-11-14T22:13:23.010+0000: 5.110: [CMS-concurrent-mark-start]
2023-11-14T22:13:25.000+0000: 7.100: [GC (Allocation Failure) 2023-11-14T22:13:25.000+0000: 7.100: [ParNew (promotion failed): 300K->300K(300K), 0.1 secs]2023-11-14T22:13:25.100+0000: 7.200: [CMS2023-11-14T22:13:25.200+0000: 7.3: [CMS-concurrent-mark: 0.5/0.6 secs] [Times: user=0.12 sys=0.02, real=0.6 secs]
 (concurrent mode failure): 1000K->900K(2000K), 5.2 secs] 1048576K->524288K(2000K), [Metaspace: 5K->5K(9K)], 5.3000000 secs] [Times: user=5.12 sys=0.02, real=5.30 secs]
";
        let of = |at: i64, us: i64, name: &'static str, cause: &str, heap| (at, us, name, cause.to_string(), heap);
        assert_eq!(
            pauses(par_new),
            [
                of(1000, 44_200, "ParNew", "Allocation Failure", Some((1000, 500))),
                of(1955, 45_000, "safepoint", "", None),
                of(3000, 10_000, "ConcurrentMarkSweep", "CMS Initial Mark", None),
                of(5000, 5_300_000, "ParNew", "Allocation Failure", Some((1024, 512))),
            ]
        );
        let g1 = "\
2023-11-14T22:13:21.000+0000: 3.100: [GC pause (G1 Evacuation Pause) (young)
Desired survivor size 17891328 bytes, new threshold 15 (max 15)
, 0.0202000 secs]
   [Parallel Time: 18.5 ms, GC Workers: 8]
   [Eden: 1024.0M(1024.0M)->0.0B(900.0M) Survivors: 0.0B->124.0M Heap: 3000.0M(8192.0M)->1000.0M(8192.0M)]
 [Times: user=0.10 sys=0.01, real=0.02 secs]
2023-11-14T22:13:22.000+0000: 4.100: [GC concurrent-root-region-scan-start]
2023-11-14T22:13:23.000+0000: 5.100: [GC remark 2023-11-14T22:13:23.000+0000: 5.1: [Finalize Marking, 0.0001 secs], 0.0300000 secs]
2023-11-14T22:13:24.000+0000: 6.100: [Full GC (Allocation Failure)  8000M->7000M(8192M), 9.5000000 secs]
2023-11-14T22:13:34.000+0000: 16.100: [GC pause (G1 Humongous Allocation) (young) (initial-mark), 0.0100000 secs]
";
        assert_eq!(
            pauses(g1),
            [
                of(1000, 20_200, "G1New", "G1 Evacuation Pause", Some((3000, 1000))),
                of(3000, 30_000, "G1Old", "", None),
                of(4000, 9_500_000, "G1Full", "Allocation Failure", Some((8000, 7000))),
                of(14_000, 10_000, "G1New", "G1 Humongous Allocation", None),
            ]
        );
    }

    proptest! {
        #[test]
        fn no_lines_can_make_it_panic(lines in prop::collection::vec(("[0-9T:.+ \\[\\]-]{0,30}", "\\PC{0,60}", 0usize..8), 0..8)) {
            let begins = ["[GC (", "[Full GC (", "GC(1) Pause Young ", "Safepoint \"", "Total time for which application threads were stopped: ",
                ", 0.1 secs]", "[Times: ", "1M->2M("];
            let mut log = GcLog::default();
            for (time, tail, begin) in lines {
                for time in [time.as_str(), "[1.5s] ", "1.5: "] {
                    let line = format!("{time}{}{tail}", begins[begin]);
                    let _ = (log.take(&line), is_line(&line));
                }
            }
            let _ = log.end();
        }
    }
}
