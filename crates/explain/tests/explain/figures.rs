//! Tests of the report's figures.

use crate::world::{MS, NODE, Phase, S, T0, World, healthy_gc};
use helenus_explain::{Engine, Explanation, Options, Report, explain, gc, judge_requests, tables};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use tempfile::TempDir;

fn world() -> World {
    World {
        phases: vec![
            Phase { name: "warm-up", rate_per_s: 100, seconds: 1, measured: false },
            Phase { name: "steady", rate_per_s: 400, seconds: 4, measured: true },
        ],
        gc: healthy_gc(5),
        client_stops: vec![(3 * S, 200 * MS)],
        failing: Some((2 * S, 20 * MS)),
        ..World::default()
    }
}

#[test]
fn the_figures_agree_with_the_rows() {
    let explained = world().explain();
    let report = Report::build(&explained.engine, &explained.explanation).unwrap();
    let bin_s = report.throughput.bin_s;
    let sum = |per_s: &[f64]| (per_s.iter().sum::<f64>() * bin_s).round() as usize;
    assert_eq!(report.requests, 1700);
    assert_eq!(sum(&report.throughput.ok_per_s) + sum(&report.throughput.failed_per_s), 1700);
    assert_eq!(sum(&report.throughput.failed_per_s), report.errors[0].count);
    let intended: Vec<f64> = report.throughput.intended_per_s.iter().map(|rate| rate.unwrap_or_default()).collect();
    assert_eq!(sum(&intended), 1700);
    assert_eq!(report.heatmap.cells.iter().map(|(_, _, count)| count).sum::<usize>(), 1700);
    assert_eq!(report.heatmap.low_ms.len(), report.heatmap.high_ms.len());
    assert!(
        report
            .heatmap
            .cells
            .iter()
            .all(|(column, row, _)| *column < report.heatmap.columns && *row < report.heatmap.low_ms.len())
    );
    let max = |values: &[Option<f64>]| values.iter().flatten().copied().fold(0.0, f64::max);
    assert_eq!(max(&report.latency.response.max_ms), report.phases[1].response_ms.max.unwrap());
    // The driver's stall shows in the response times of the requests that were due in it.
    let in_stall = (3.05 / report.latency.bin_s) as usize;
    assert!(report.latency.response.p50_ms[in_stall].unwrap() > 100.0);
    for cpu in &report.cpu {
        for index in 0..cpu.time_s.len() {
            let all = cpu.user[index]
                + cpu.system[index]
                + cpu.iowait[index]
                + cpu.irq[index]
                + cpu.steal[index]
                + cpu.idle[index];
            assert!((all - 1.0).abs() < 1e-9);
        }
    }
    let server = report.groups.iter().find(|group| group.group == "Native-Transport-Requests").unwrap();
    let bin_s = server.time_s[1] - server.time_s[0];
    assert!((server.cpus.iter().sum::<f64>() * bin_s - server.cpu_s).abs() < 1e-6);
    assert_eq!(report.pauses.iter().filter(|pause| pause.kind.name() == "gc").count(), 2);
    let table = &report.tables[0];
    assert_eq!(table.writes_per_s[0], None);
    assert!((table.writes_per_s[1].unwrap() - 1000.0).abs() < 1e-6);
    assert!((table.write_ms[1].unwrap() - 0.1).abs() < 1e-6);
}

#[test]
fn collections_and_tables_are_told_node_by_node() {
    let explained = world().explain();
    let nodes = gc(&explained.engine, S).unwrap();
    assert_eq!(nodes.len(), 1);
    let (whole, collections) = (&nodes[0].whole, healthy_gc(5));
    assert_eq!((nodes[0].node.as_str(), &nodes[0].collectors[..]), (NODE, &["G1New".to_string()][..]));
    assert_eq!((whole.young, whole.old), (collections.len(), 0));
    assert_eq!(nodes[0].intervals.iter().map(|interval| interval.young).sum::<usize>(), collections.len());
    assert_eq!(whole.heap_after_bytes, Some(150 << 20));
    // 50 MiB are allocated from one collection to the next.
    let allocated = whole.allocated_bytes_per_s.unwrap() * whole.length_s;
    assert!((allocated - (collections.len() - 1) as f64 * f64::from(50 << 20)).abs() < 1.0, "{allocated}");

    let tables = tables(&explained.engine).unwrap();
    assert_eq!(tables.len(), 1);
    assert!((tables[0].writes_per_s.unwrap() - 1000.0).abs() < 1e-6, "{tables:?}");
    assert!((tables[0].local_write_us.unwrap() - 100.0).abs() < 1e-6, "{tables:?}");
    assert!(!tables[0].is_of_system());
}

/// The report of a recording without a load.
fn report_of(record: impl Fn(&Recorder)) -> Report {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, Manifest::new("synthetic", "helenus lab run")).unwrap();
    record(&recorder);
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    Report::build(&engine, &explain(&engine, &Options::default()).unwrap()).unwrap()
}

/// A probe's row for the second that ends at a given time.
fn metered(end_ns: i64, node: &'static str, probe: &'static str) -> rows::ProbeSample<'static> {
    rows::ProbeSample { time_ns: T0 + end_ns, interval_ns: S, node, probe, ..rows::ProbeSample::default() }
}

fn run(recorder: &Recorder, name: &str, block: i64, (start, end): (i64, i64), measured: bool) {
    recorder.append(rows::Mark {
        start_ns: T0 + start * S,
        end_ns: T0 + end * S,
        kind: "variant",
        name,
        measured,
        block: Some(block),
        ..rows::Mark::default()
    });
}

#[test]
fn probes_are_told_by_variant() {
    let report = report_of(|recorder| {
        let kind = "baseline";
        recorder.append(rows::Mark { start_ns: T0, end_ns: T0, kind, name: "none", ..rows::Mark::default() });
        run(recorder, "tight", 1, (0, 4), true);
        run(recorder, "none", 1, (5, 9), true);
        run(recorder, "none", 2, (10, 14), false);
        let read = |end: i64, node, thread_group, inherent_ns| rows::ProbeSample {
            thread_group,
            calls: 10,
            failed: 1,
            total_ns: 20 * MS,
            inherent_ns,
            max_ns: end / S * MS,
            ..metered(end, node, "read")
        };
        for (first, own) in [(1, 4 * MS), (6, 10 * MS)] {
            for second in first..first + 4 {
                for node in [NODE, "127.0.0.2"] {
                    recorder.append(read(second * S, node, "ReadStage", own));
                    recorder.append(read(second * S, node, "Native-Transport-Requests", own));
                }
            }
        }
        // Windows that are partly outside of the run, or in a run that ended early.
        recorder.append(read(9 * S + S / 2, NODE, "ReadStage", S));
        recorder.append(read(12 * S, NODE, "ReadStage", S));
        let once = 200 * MS;
        let scan = rows::ProbeSample { calls: 1, total_ns: once, inherent_ns: once, ..metered(7 * S, NODE, "scan") };
        recorder.append(scan);
        for (end, reason) in [(2 * S, "the first"), (3 * S, "the last")] {
            recorder.append(rows::ProbeSample { off_reason: Some(reason), ..metered(end, NODE, "scan") });
        }
        let gate = rows::ProbeSample { calls: 8, total_ns: S, inherent_ns: S, ..metered(4 * S, NODE, "gate") };
        recorder.append(gate);
    });
    assert_eq!(report.comparison.unwrap().baseline, "none");
    assert_eq!(report.probes_left_out, 0);
    let rows: Vec<(&str, &str)> =
        report.probes.iter().map(|row| (row.probe.as_str(), row.variant.as_deref().unwrap())).collect();
    assert_eq!(rows, [("scan", "none"), ("scan", "tight"), ("read", "none"), ("read", "tight"), ("gate", "tight")]);
    let [scan, scan_off, read, read_tight, gate] = &report.probes[..] else { panic!("not five rows") };
    assert_eq!((scan.calls_per_s, scan.own_s, &scan.off_reason), (0.25, 0.2, &None));
    assert_eq!((scan_off.calls, scan_off.calls_per_s, scan_off.mean_us), (0, 0.0, None));
    assert_eq!(scan_off.off_reason.as_deref(), Some("the last"));
    // CPU samples of two nodes over four seconds, and two thread groups.
    assert_eq!((read.calls, read.failed, read.calls_per_s), (160, 16, 40.0));
    assert_eq!((read.total_s, read.own_s, read.max_ms), (0.32, 0.16, 9.0));
    assert_eq!((read.mean_us, read.own_mean_us), (Some(2000.0), Some(1000.0)));
    assert_eq!((read_tight.own_s, read_tight.own_mean_us, read_tight.max_ms), (0.064, Some(400.0), 4.0));
    assert_eq!((gate.calls_per_s, gate.own_s), (2.0, 1.0));
}

#[test]
fn without_variants_probes_are_told_once_and_the_least_are_left_out() {
    let names: Vec<String> = (0..42).map(|number| format!("probe {number}")).collect();
    let report = report_of(|recorder| {
        for (number, probe) in (0..).zip(&names) {
            recorder.append(rows::ProbeSample { probe, calls: 1, inherent_ns: number * MS, ..metered(S, NODE, "") });
        }
    });
    assert_eq!((report.probes.len(), report.probes_left_out), (40, 2));
    assert_eq!((report.probes[0].probe.as_str(), &report.probes[0].variant), ("probe 41", &None));
    assert_eq!(report.probes[39].probe, "probe 2");
}

#[test]
fn valves_are_binned_and_say_what_they_decided() {
    let limits = [8, 8, 8, 8, 4, 4];
    let report = report_of(|recorder| {
        let window = |number: i64| rows::ValveWindow {
            time_ns: T0 + (number + 1) * S / 4,
            interval_ns: S / 4,
            node: NODE,
            valve: "lwt",
            law: "throughput",
            in_flight: number as f64,
            waiting: 2.0,
            completed: 100,
            state: "on",
            ..rows::ValveWindow::default()
        };
        for number in 0..8 {
            let at = |number: usize| limits.get(number).copied();
            let place = number as usize;
            recorder.append(rows::ValveWindow {
                limit: at(place),
                // The valve was opened by hand in the seventh window.
                next_limit: if place == 5 { Some(4) } else { at(place + 1) },
                wait_mean_ns: (place < 4).then_some((number + 1) * MS),
                state: if place < 6 { "on" } else { "open" },
                reason: if place < 6 { "fewer do as much" } else { "opened" },
                ..window(number)
            });
        }
        for number in 0..502 {
            recorder.append(rows::ValveWindow {
                time_ns: T0 + (number + 1) * 10 * MS,
                interval_ns: 10 * MS,
                valve: "restless",
                limit: Some(number % 2),
                next_limit: Some((number + 1) % 2),
                ..window(0)
            });
        }
    });
    let [lwt, restless] = &report.valves[..] else { panic!("not two valves") };
    assert_eq!((lwt.node.as_str(), lwt.valve.as_str()), (NODE, "lwt"));
    assert_eq!((&lwt.time_s, &lwt.limit), (&vec![0.0, 1.0], &vec![Some(8), None]));
    assert_eq!((&lwt.in_flight, &lwt.waiting), (&vec![1.5, 5.5], &vec![2.0, 2.0]));
    assert_eq!((&lwt.completed_per_s, &lwt.wait_ms), (&vec![400.0, 400.0], &vec![Some(2.5), None]));
    let full_text: Vec<_> = lwt
        .decisions
        .iter()
        .map(|decision| (decision.time_s, decision.limit, decision.next_limit, decision.reason.as_str()))
        .collect();
    assert_eq!(full_text, [(1.0, Some(8), Some(4), "fewer do as much"), (1.75, Some(4), None, "opened")]);
    assert_eq!((lwt.decisions[0].law.as_str(), lwt.decisions_left_out), ("throughput", 0));
    assert_eq!((restless.decisions.len(), restless.decisions_left_out), (500, 2));
    assert_eq!(restless.decisions[0].time_s, 0.03);
}

#[test]
fn the_report_has_the_shape_that_the_page_reads() {
    let explained = world().explain();
    let report = Report::build(&explained.engine, &explained.explanation).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    insta::assert_snapshot!(shape(&json, 0));
    let finite = serde_json::to_string(&report).unwrap();
    assert!(!finite.contains("NaN"));
}

/// The shape of a JSON value: names and types; of a list, its first element.
fn shape(value: &serde_json::Value, depth: usize) -> String {
    use serde_json::Value;
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "bool".into(),
        Value::Number(_) => "number".into(),
        Value::String(_) => "string".into(),
        Value::Array(values) => {
            let first = values.iter().find(|value| !value.is_null()).or(values.first());
            first.map_or("[]".into(), |first| format!("[{}]", shape(first, depth)))
        }
        Value::Object(fields) => {
            let indent = "  ".repeat(depth + 1);
            let lines: Vec<String> = fields
                .iter()
                .map(|(name, value)| {
                    // The evidence has different fields for each kind of finding.
                    let shape = if name == "evidence" { "{…}".into() } else { shape(value, depth + 1) };
                    format!("{indent}{name}: {shape}")
                })
                .collect();
            format!("{{\n{}\n{}}}", lines.join("\n"), "  ".repeat(depth))
        }
    }
}

/// Charts need no search for findings.
#[test]
fn requests_are_judged_alike_with_and_without_findings() {
    let explained = world().explain();
    let judged = judge_requests(&explained.engine, &Options::default()).unwrap();
    assert!(judged.findings.is_empty() && judged.answer.is_empty());
    let Explanation { answer, findings, missing, knee, .. } = judged.clone();
    assert_eq!(Explanation { answer, findings, missing, knee, ..explained.explanation.clone() }, judged);
    let of = |explanation| serde_json::to_value(Report::build(&explained.engine, explanation).unwrap()).unwrap();
    let (with, without) = (of(&explained.explanation), of(&judged));
    for part in ["throughput", "latency", "heatmap", "phases", "flames", "pauses"] {
        assert_eq!(with[part], without[part], "{part}");
    }
}
