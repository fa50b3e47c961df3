//! Comparisons of variants whose true effect is known.

use crate::world::{MS, NODE, Random, S, T0};
use helenus_explain::{
    CompareOptions, Comparison, Engine, Explanation, Options, Ratio, Report, Side, Verdict, compare, explain, judge,
    window_changes,
};
use helenus_recording::{Manifest, Recorder, Recording, SourceFacts, rows};
use tempfile::TempDir;

/// A variant: its response times relative to the baseline, and how many of 1000 requests fail.
#[derive(Clone, Copy)]
struct Variant {
    name: &'static str,
    takes: f64,
    failing_per_1000: i64,
}

const fn variant(name: &'static str, takes: f64) -> Variant {
    Variant { name, takes, failing_per_1000: 0 }
}

/// An experiment of one client that sends one request after the other, on a machine that is slower from block to block.
struct Experiment {
    blocks: i64,
    variants: Vec<Variant>,
    /// Variant and block of runs that ended early.
    cut_short: Option<(&'static str, i64)>,
    /// A node that no variant changes.
    peer: Option<&'static str>,
    /// Figures for each run.
    measured_requests: i64,
}

const WARM_UP: i64 = 50;

impl Experiment {
    fn new(blocks: i64, variants: &[Variant]) -> Experiment {
        Experiment { blocks, variants: variants.to_vec(), cut_short: None, peer: None, measured_requests: 3000 }
    }

    fn record(&self, folder: &TempDir) -> Engine {
        let path = folder.path().join("experiment");
        let recorder = Recorder::create(&path, Manifest::new("experiment", "helenus lab run")).unwrap();
        let mut random = Random::new(7);
        let mut now = T0;
        let baseline = self.variants[0].name;
        recorder.append(rows::Mark {
            start_ns: now,
            end_ns: now,
            kind: "baseline",
            name: baseline,
            ..rows::Mark::default()
        });
        for block in 1..=self.blocks {
            for variant in &self.variants {
                let start_ns = now;
                let slower = 1.0 + 0.1 * block as f64 + 0.01 * random.share();
                // A warm-up so slow that it would change every figure if it were counted.
                phase(&recorder, &mut now, (false, WARM_UP), &mut |_| 10.0 * slower * random.share());
                let took = &mut |_| variant.takes * slower * (0.5 + random.share());
                let begun = now;
                phase_of(&recorder, &mut now, (true, self.measured_requests), variant.failing_per_1000, took);
                machine(&recorder, (begun, now), variant.takes);
                self.peer.into_iter().for_each(|peer| table(&recorder, (begun, now), peer, 1.0));
                let run = rows::Mark {
                    start_ns,
                    end_ns: now,
                    kind: "variant",
                    name: variant.name,
                    measured: self.cut_short != Some((variant.name, block)),
                    block: Some(block),
                    ..rows::Mark::default()
                };
                recorder.append(run);
                if self.peer.is_some() {
                    recorder.append(rows::Mark { kind: "changed", name: NODE, ..run });
                }
                now += S;
            }
        }
        recorder.close().unwrap();
        Engine::open(&[Recording::open(&path).unwrap()]).unwrap()
    }

    fn judge(&self) -> Comparison {
        let folder = TempDir::new().unwrap();
        judge(&self.record(&folder), &CompareOptions::default()).unwrap().unwrap()
    }
}

fn phase(recorder: &Recorder, now: &mut i64, kind: (bool, i64), took_ms: &mut dyn FnMut(i64) -> f64) {
    phase_of(recorder, now, kind, 0, took_ms);
}

/// Adds a phase: whether it is measured, and its requests.
fn phase_of(
    recorder: &Recorder,
    now: &mut i64,
    (measured, requests): (bool, i64),
    failing_per_1000: i64,
    took_ms: &mut dyn FnMut(i64) -> f64,
) {
    let start_ns = *now;
    for number in 0..requests {
        let end_ns = *now + (took_ms(number) * MS as f64) as i64;
        recorder.append(rows::Request {
            intended_start_ns: *now,
            start_ns: *now,
            end_ns,
            node: NODE,
            operation: "write",
            outcome: if number % 1000 < failing_per_1000 { "unavailable" } else { "ok" },
            ..rows::Request::default()
        });
        *now = end_ns;
    }
    let name = if measured { "surge" } else { "warm-up" };
    recorder.append(rows::Mark { start_ns, end_ns: *now, kind: "phase", name, measured, ..rows::Mark::default() });
}

/// A node that is on its CPU for a tenth of the time, is switched 100 times a second, and is stopped for 10 ms once;
/// and whose packets show that requests spend half of their time in the node.
fn machine(recorder: &Recorder, (from, to): (i64, i64), takes: f64) {
    for time_ns in (from..to).step_by(10 * MS as usize).skip(1) {
        recorder.append(rows::ThreadSample {
            time_ns,
            interval_ns: 10 * MS,
            node: NODE,
            process: "server",
            cpu_ns: MS,
            run_queue_ns: Some(MS / 2),
            migrations: Some(2),
            voluntary_switches: Some(1),
            involuntary_switches: Some(3),
            ..rows::ThreadSample::default()
        });
        recorder.append(rows::WireRequest {
            start_ns: time_ns,
            duration_ns: (takes * MS as f64 / 2.0) as i64,
            node: NODE,
            opcode: "EXECUTE",
            ..rows::WireRequest::default()
        });
    }
    table(recorder, (from, to), NODE, takes);
    recorder.append(rows::Pause {
        start_ns: from + 50 * MS,
        duration_ns: 10 * MS,
        node: NODE,
        kind: "gc",
        provider: "jfr",
        ..rows::Pause::default()
    });
}

/// One table that is read, and one that is not.
fn table(recorder: &Recorder, (from, to): (i64, i64), node: &str, takes: f64) {
    for (time_ns, reads) in [(from + MS, 0), (to - MS, 1000)] {
        recorder.append(rows::TableSample {
            time_ns,
            node,
            keyspace: "shop",
            table_name: "orders",
            reads: Some(reads),
            writes: Some(0),
            live_disk_bytes: Some((takes * 1e9) as i64),
            sstables_per_read_p95: Some(takes * 5.0),
            tombstones_per_slice_p95: Some(0.0),
            // The node has not read the value yet.
            droppable_ratio: None,
            ..rows::TableSample::default()
        });
        // A table that no request uses must not change any figure.
        recorder.append(rows::TableSample {
            time_ns,
            node,
            keyspace: "shop",
            table_name: "archive",
            reads: Some(5),
            live_disk_bytes: Some(1 << 40),
            sstables_per_read_p95: Some(100.0),
            ..rows::TableSample::default()
        });
    }
}

fn of<'c>(comparison: &'c Comparison, variant: &str) -> &'c Side {
    comparison.variants.iter().find(|side| side.name == variant).unwrap()
}

fn figure<'c>(side: &'c Side, metric: &str) -> &'c Ratio {
    side.metrics.iter().find(|ratio| ratio.metric.name == metric).unwrap_or_else(|| panic!("no {metric}"))
}

#[test]
fn what_variants_are_worth_is_found() {
    let variants = [variant("none", 1.0), variant("quick", 0.7), variant("same", 1.0), variant("slow", 1.2)];
    let comparison = Experiment::new(8, &variants).judge();
    assert_eq!((comparison.baseline.as_str(), comparison.paired, comparison.variants.len()), ("none", true, 3));
    let holds = |variant: &str, metric: &str, truth: f64, verdict: Verdict| {
        let ratio = figure(of(&comparison, variant), metric);
        let (low, high) = (ratio.low.unwrap(), ratio.high.unwrap());
        // The true figures of the random sample differ a little from those of its distribution.
        assert!(low * 0.99 <= truth && truth <= high * 1.01, "{variant} {metric}: {truth} in {low} to {high}");
        assert_eq!(ratio.verdict, verdict, "{variant} {metric}: {ratio:?}");
    };
    for (metric, is_rate) in
        [("client_time", false), ("throughput", true), ("response_mean", false), ("response_p99", false)]
    {
        let truth = |takes: f64| if is_rate { 1.0 / takes } else { takes };
        holds("quick", metric, truth(0.7), Verdict::Better);
        holds("slow", metric, truth(1.2), Verdict::Worse);
        holds("same", metric, 1.0, Verdict::NoDifference);
    }
    holds("quick", "time_in_node", 0.7, Verdict::Better);
    holds("quick", "switches_per_request", 0.7, Verdict::Better);
    holds("slow", "cpu_per_request", 1.2, Verdict::Worse);
    let none = |metric: &str| figure(of(&comparison, "quick"), metric).baseline;
    let (cpu_us, switches) = (none("cpu_per_request"), none("switches_per_request"));
    for (metric, truth) in [
        ("run_queue_per_request", cpu_us / 2.0),
        ("migrations_per_request", switches / 2.0),
        ("involuntary_switches_per_request", switches * 0.75),
    ] {
        assert!((none(metric) / truth - 1.0).abs() < 1e-9, "{metric}: {} and not {truth}", none(metric));
        holds("quick", metric, 0.7, Verdict::Better);
    }
    holds("quick", "disk_bytes", 0.7, Verdict::Better);
    holds("slow", "sstables_per_read", 1.2, Verdict::Worse);
    assert_eq!(figure(of(&comparison, "quick"), "sstables_per_read").baseline, 5.0);
    assert_eq!(figure(of(&comparison, "quick"), "tombstones_per_slice").verdict, Verdict::NoDifference);
    assert!(of(&comparison, "quick").metrics.iter().all(|ratio| ratio.metric.name != "droppable_ratio"));
    holds("quick", "gc_share", 1.0 / 0.7, Verdict::Worse);
    assert_eq!(figure(of(&comparison, "quick"), "error_share").verdict, Verdict::NoDifference);
    let quick = &of(&comparison, "quick").sentence;
    assert!(
        quick.starts_with("quick: 4") && quick.contains(" more requests/s than none, p99 0.70 of none's ("),
        "{quick}"
    );
    assert!(quick.ends_with("); 8 blocks"), "{quick}");
    let slow = &of(&comparison, "slow").sentence;
    assert!(slow.starts_with("slow: 1") && slow.contains(" fewer requests/s than none, p99 1."), "{slow}");
    let same = &of(&comparison, "same").sentence;
    assert!(same.starts_with("same: as many requests/s as none (") && same.contains("the same p99 ("), "{same}");
    assert!(comparison.is_worse_in(&["throughput"]) && !comparison.is_worse_in(&["error_share"]));
}

#[test]
fn what_is_read_once_a_second_is_told_of_no_short_phase() {
    let mut experiment = Experiment::new(2, &[variant("none", 1.0), variant("quick", 0.7)]);
    experiment.measured_requests = 300;
    let comparison = experiment.judge();
    let named = |name: &str| comparison.variants[0].metrics.iter().any(|ratio| ratio.metric.name == name);
    assert!(named("cpu_per_request") && named("run_queue_per_request"));
    assert!(!named("switches_per_request") && !named("migrations_per_request"));
}

#[test]
fn nodes_that_nobody_changes_have_figures_of_their_own() {
    let mut experiment = Experiment::new(6, &[variant("none", 1.0), variant("quick", 0.5)]);
    experiment.peer = Some("127.0.0.9");
    let comparison = experiment.judge();
    let ratio = |metric: &str| figure(of(&comparison, "quick"), metric).ratio.unwrap();
    assert_eq!((ratio("disk_bytes"), ratio("peers_disk_bytes")), (0.5, 1.0));
    assert_eq!((ratio("sstables_per_read"), ratio("peers_sstables_per_read")), (0.5, 1.0));
    assert_eq!(figure(of(&comparison, "quick"), "disk_bytes").baseline, 1e9);
}

#[test]
fn what_the_cpus_counted_is_a_figure_and_what_they_could_not_is_said() {
    let folder = TempDir::new().unwrap();
    let recording = |name: &str, cycles: Option<i64>| {
        let path = folder.path().join(name);
        let mut manifest = Manifest::new(name, "helenus load");
        let note = if cycles.is_some() { "" } else { "cycles are not measured: this machine has no PMU" };
        manifest.sources.push(SourceFacts {
            name: "counters".into(),
            node: NODE.into(),
            note: note.into(),
            ..SourceFacts::default()
        });
        manifest.remarks.push("with 2 CPUs nothing can be concluded".into());
        let recorder = Recorder::create(&path, manifest).unwrap();
        let mut now = T0;
        phase(&recorder, &mut now, (true, 400), &mut |_| 1.0);
        recorder.append(rows::CounterSample {
            time_ns: T0 + 100 * MS,
            node: NODE,
            thread_group: "ReadStage",
            cpu_ns: MS,
            cycles,
            instructions: cycles.map(|cycles| 2 * cycles),
            cache_misses: cycles.map(|cycles| cycles / 100),
            enabled_ns: cycles.map(|_| 4 * MS),
            running_ns: cycles.map(|_| 3 * MS),
            ..rows::CounterSample::default()
        });
        recorder.close().unwrap();
        Engine::open(&[Recording::open(&path).unwrap()]).unwrap()
    };
    let cost = |engine: &Engine| {
        let findings = explain(engine, &Options::default()).unwrap().findings;
        findings.into_iter().find(|finding| finding.finding == "cpu-cost").unwrap()
    };
    let found = cost(&recording("costs", Some(400_000)));
    for text in ["1,000 cycles", "2,000 instructions (2.00 per cycle)", "10 misses"] {
        assert!(found.title.contains(text), "{text} is not in {}", found.title);
    }
    assert!(
        found.detail.contains("ReadStage 100 % of the cycles") && found.detail.contains("75 % of the time"),
        "{}",
        found.detail
    );
    let found = cost(&recording("costs-unknown", None));
    assert!(found.title.contains("not measured") && found.detail.contains("no PMU"), "{found:?}");
    let compared = |a: Engine, b: Engine| compare(("a", &[a]), ("b", &[b]), &CompareOptions::default()).unwrap();
    let with = compared(recording("a", Some(400_000)), recording("b", Some(800_000)));
    for (metric, truth) in
        [("cycles_per_request", 1000.0), ("instructions_per_request", 2000.0), ("cache_misses_per_request", 10.0)]
    {
        let ratio = figure(&with.variants[0], metric);
        assert_eq!((ratio.baseline, ratio.variant, ratio.ratio), (truth, 2.0 * truth, Some(2.0)), "{metric}");
    }
    assert_eq!(with.remarks.len(), 2, "{:?}", with.remarks);
    assert!(with.remarks[0].contains("2 CPUs") && with.remarks[1].contains("75 % of the time"), "{:?}", with.remarks);
    let without = compared(recording("c", None), recording("d", None));
    assert!(without.variants[0].metrics.iter().all(|ratio| ratio.metric.name != "cycles_per_request"));
    assert_eq!(without.remarks[1], format!("{NODE}: cycles are not measured: this machine has no PMU"));
}

#[test]
fn only_whole_blocks_count() {
    let mut experiment = Experiment::new(7, &[variant("none", 1.0), variant("quick", 0.7)]);
    experiment.cut_short = Some(("none", 7));
    let comparison = experiment.judge();
    assert_eq!((comparison.cut_short, of(&comparison, "quick").runs), (1, 6));
    assert_eq!(figure(of(&comparison, "quick"), "throughput").verdict, Verdict::Better);
    // The results have the figures of blocks that ended early as well.
    let mut results = Vec::new();
    comparison.for_each_row(|row| results.push((row.variant.to_string(), row.metric.to_string())));
    let throughputs = |variant: &str| results.iter().filter(|row| row.0 == variant && row.1 == "throughput").count();
    assert_eq!((throughputs("none"), throughputs("quick")), (6, 7));
}

#[test]
fn too_few_blocks_have_no_interval() {
    let comparison = Experiment::new(3, &[variant("none", 1.0), variant("quick", 0.7)]).judge();
    let quick = of(&comparison, "quick");
    let throughput = figure(quick, "throughput");
    assert_eq!((throughput.low, throughput.verdict, throughput.runs_needed), (None, Verdict::NotEnough, Some(6)));
    assert!((throughput.ratio.unwrap() - 1.0 / 0.7).abs() < 0.03);
    assert!(quick.sentence.ends_with("; 3 blocks, too few for an interval, which takes 6"), "{}", quick.sentence);
}

#[test]
fn errors_where_there_were_none_are_worse() {
    let failing = Variant { failing_per_1000: 20, ..variant("failing", 1.0) };
    let comparison = Experiment::new(8, &[variant("none", 1.0), failing]).judge();
    let errors = figure(of(&comparison, "failing"), "error_share");
    assert_eq!((errors.ratio, errors.low, errors.verdict), (None, None, Verdict::Worse));
    assert_eq!(errors.variant, 0.02);
}

#[test]
fn the_report_has_the_comparison() {
    let folder = TempDir::new().unwrap();
    let engine = Experiment::new(2, &[variant("none", 1.0), variant("quick", 0.7)]).record(&folder);
    let explanation: Explanation = explain(&engine, &Options::default()).unwrap();
    let report = serde_json::to_value(Report::build(&engine, &explanation).unwrap()).unwrap();
    let first = &report["comparison"]["variants"][0]["metrics"][1];
    assert_eq!((first["name"].as_str(), first["verdict"].as_str()), (Some("throughput"), Some("not-enough")));
    assert!(first["ratio"].as_f64().unwrap() > 1.3 && first["low"].is_null());
}

/// Recordings of the same load, one for each factor of slowness.
fn loads(folder: &TempDir, name: &str, takes: &[f64]) -> Vec<Engine> {
    let each = |(number, takes): (usize, &f64)| {
        let path = folder.path().join(format!("{name}-{number}"));
        let recorder = Recorder::create(&path, Manifest::new(name, "helenus load")).unwrap();
        let mut random = Random::new(number as u64 + 11);
        let mut now = T0;
        phase(&recorder, &mut now, (false, WARM_UP), &mut |_| 20.0 * random.share());
        phase(&recorder, &mut now, (true, 400), &mut |_| takes * (0.5 + random.share()));
        recorder.close().unwrap();
        Engine::open(&[Recording::open(&path).unwrap()]).unwrap()
    };
    takes.iter().enumerate().map(each).collect()
}

#[test]
fn sets_of_recordings_are_compared() {
    let folder = TempDir::new().unwrap();
    let drift = [1.0, 1.1, 1.2, 1.4, 1.7, 2.0, 2.4];
    let slower: Vec<f64> = drift.iter().map(|takes| takes * 1.3).collect();
    let (before, after) = (loads(&folder, "before", &drift), loads(&folder, "after", &slower));
    let options = CompareOptions::default();
    let paired = compare(("before", &before), ("after", &after), &options).unwrap();
    assert!(paired.paired && paired.run_unit == "recording");
    assert_eq!(figure(&paired.variants[0], "throughput").verdict, Verdict::Worse);
    // Without pairing the drift hides the difference, and the comparison says how many runs would show it.
    let alone = compare(("before", &before), ("after", &after[..6]), &options).unwrap();
    assert!(!alone.paired);
    let throughput = figure(&alone.variants[0], "throughput");
    assert!(throughput.verdict == Verdict::NotEnough && throughput.runs_needed.unwrap() > 7, "{throughput:?}");
    let one = compare(("before", &before[..1]), ("after", &after[..1]), &options).unwrap();
    let throughput = figure(&one.variants[0], "throughput");
    assert_eq!((throughput.low, throughput.runs_needed), (None, Some(6)));
    assert!(one.variants[0].sentence.contains("1 recording, too few for an interval"), "{}", one.variants[0].sentence);
}

/// A recording of one phase at a rate, or of traffic without a load.
fn at_rate(folder: &TempDir, name: &str, rate_per_s: i64, is_load: bool) -> Engine {
    let path = folder.path().join(name);
    let recorder = Recorder::create(&path, Manifest::new(name, "helenus load")).unwrap();
    for number in 0..rate_per_s {
        let due = T0 + number * S / rate_per_s;
        recorder.append(rows::Request {
            intended_start_ns: due,
            start_ns: due,
            end_ns: due + MS,
            node: NODE,
            operation: "write",
            outcome: "ok",
            ..rows::Request::default()
        });
    }
    if is_load {
        recorder.append(rows::Mark {
            start_ns: T0,
            end_ns: T0 + S,
            kind: "phase",
            name: "measured",
            measured: true,
            rate_per_s: Some(rate_per_s as f64),
            ..rows::Mark::default()
        });
    }
    recorder.close().unwrap();
    Engine::open(&[Recording::open(&path).unwrap()]).unwrap()
}

#[test]
fn loads_at_different_rates_are_said_to_differ() {
    for is_load in [true, false] {
        let folder = TempDir::new().unwrap();
        let remarks = |name: &str, rate: i64, other: i64| {
            let (a, b) = (
                at_rate(&folder, &format!("{name}a"), rate, is_load),
                at_rate(&folder, &format!("{name}b"), other, is_load),
            );
            compare(("a", &[a]), ("b", &[b]), &CompareOptions::default()).unwrap().remarks
        };
        let differ = remarks("differ", 500, 2000);
        let in_b = if is_load { "2,000 requests/s in b" } else { "1,999 requests/s in b" };
        assert!(differ[0].starts_with("The loads differ: 50") && differ[0].contains(in_b), "{differ:?}");
        assert_eq!(remarks("equal", 500, 500), Vec::<String>::new());
    }
}

#[test]
fn what_cannot_be_compared_says_so() {
    let folder = TempDir::new().unwrap();
    let load = loads(&folder, "load", &[1.0]);
    assert_eq!(judge(&load[0], &CompareOptions::default()).unwrap(), None);
    let path = folder.path().join("idle");
    let recorder = Recorder::create(&path, Manifest::new("idle", "helenus record")).unwrap();
    recorder.append(rows::Pause { start_ns: T0, kind: "gc", ..rows::Pause::default() });
    recorder.close().unwrap();
    let idle = [Engine::open(&[Recording::open(&path).unwrap()]).unwrap()];
    let error = compare(("load", &load), ("idle", &idle), &CompareOptions::default()).unwrap_err().to_string();
    assert!(error.contains("no request of a measured phase is in the recording `idle`"), "{error}");
}

#[test]
fn two_windows_differ_by_statement_setting_and_frame() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("two windows", "test")).unwrap();
    for at in 0..2000 {
        let time_ns = T0 + at * 10 * MS;
        let is_late = at >= 1000;
        // Reads take longer in the second half, and a statement comes that was not there before.
        let (operation, took) = match at % 4 {
            0 => ("write", MS),
            1 if is_late => ("scan", 90 * MS),
            _ if is_late => ("read", 20 * MS),
            _ => ("read", 2 * MS),
        };
        recorder.append(rows::Request {
            intended_start_ns: time_ns,
            start_ns: time_ns,
            end_ns: time_ns + took,
            node: NODE,
            operation,
            outcome: "ok",
            ..rows::Request::default()
        });
        recorder.append(rows::StackSample {
            time_ns,
            node: NODE,
            event: "cpu",
            weight: 10 * MS,
            tid: 1,
            thread: "ReadStage-1",
            thread_group: "ReadStage",
            stack: if is_late && at % 2 == 0 { 2 } else { 1 },
        });
    }
    recorder.append(rows::Stack { time_ns: T0, stack: 1, frames: "Thread.run;Read.execute", kinds: "jj" });
    recorder.append(rows::Stack {
        time_ns: T0,
        stack: 2,
        frames: "Thread.run;Read.execute;Lz4.decompress",
        kinds: "jjj",
    });
    for (time_ns, setting, value) in [
        (T0, "compaction_throughput", "64"),
        (T0, "concurrent_reads", "32"),
        (T0 + 9 * S, "compaction_throughput", "0"),
        // Figures and not settings.
        (T0, "disk.usable_bytes:/d", "2000000000"),
        (T0 + 9 * S, "disk.usable_bytes:/d", "1000000000"),
        // After both windows.
        (T0 + 19 * S, "concurrent_reads", "8"),
    ] {
        recorder.append(rows::Setting { time_ns, node: NODE, setting, value, source: "jmx" });
    }
    recorder.append(rows::ValveWindow {
        time_ns: T0 + 15 * S,
        interval_ns: S,
        node: NODE,
        valve: "reads",
        law: "fixed",
        next_limit: Some(8),
        state: "on",
        ..rows::ValveWindow::default()
    });
    recorder.close().unwrap();
    let recordings = [Recording::open(&path).unwrap()];
    let [before, now] = [(T0, T0 + 8 * S), (T0 + 10 * S, T0 + 18 * S)];
    let of = |window| Engine::open_within(&recordings, window).unwrap();
    let (first, second) = (of(before), of(now));
    let changes = window_changes((&first, before), (&second, now)).unwrap();

    let names: Vec<&str> = changes.statements.iter().map(|one| one.operation.as_str()).collect();
    assert_eq!(names, ["scan", "read", "write"], "the largest change of time first");
    let [scan, read, write] = &changes.statements[..] else { panic!() };
    assert_eq!((scan.before, scan.now.unwrap().requests_per_s.round()), (None, 25.0));
    let (slow, fast) = (read.now.unwrap(), read.before.unwrap());
    assert!((slow.in_flight - 1.0).abs() < 0.05 && (fast.in_flight - 0.15).abs() < 0.01, "{read:?}");
    assert_eq!(write.before, write.now);
    let settings: Vec<(&str, Option<&str>, Option<&str>)> =
        changes.settings.iter().map(|one| (one.setting.as_str(), one.before.as_deref(), one.now.as_deref())).collect();
    assert_eq!(settings, [("compaction_throughput", Some("64"), Some("0")), ("valve reads", None, Some("8"))]);
    let shares: Vec<(&str, [f64; 4])> = changes
        .frames
        .iter()
        .map(|one| (one.frame.as_str(), [one.before_own_share, one.now_own_share, one.before_share, one.now_share]))
        .collect();
    assert_eq!(shares, [("Lz4.decompress", [0.0, 0.5, 0.0, 0.5]), ("Read.execute", [1.0, 0.5, 1.0, 1.0])]);
    let figures: Vec<&str> = changes.figures.iter().map(|figure| figure.name).collect();
    assert!(figures.contains(&"response_p99") && !figures.contains(&"client_time"), "{figures:?}");
}
