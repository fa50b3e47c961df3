//! The report's figures.

use crate::world::{MS, Phase, S, World, healthy_gc};
use helenus_explain::Report;

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
    // The stalled driver shows in the response time at the time at which requests were due.
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
    assert_eq!(report.pauses.iter().filter(|pause| pause.kind == "gc").count(), 2);
    let table = &report.tables[0];
    assert_eq!(table.writes_per_s[0], None);
    assert!((table.writes_per_s[1].unwrap() - 1000.0).abs() < 1e-6);
    assert!((table.write_ms[1].unwrap() - 0.1).abs() < 1e-6);
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

/// Names and types; of a list, its first value.
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
                    // What evidence holds differs by finding.
                    let shape = if name == "evidence" { "{…}".into() } else { shape(value, depth + 1) };
                    format!("{indent}{name}: {shape}")
                })
                .collect();
            format!("{{\n{}\n{}}}", lines.join("\n"), "  ".repeat(depth))
        }
    }
}
