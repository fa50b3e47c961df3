//! Findings about where a valve would help, what valves did, and what probes measured.

use crate::world::{MS, NODE, S, T0};
use helenus_explain::{Engine, Explanation, Finding, Options, Severity, explain};
use helenus_recording::{LoadFacts, Manifest, Recorder, Recording, rows};
use tempfile::TempDir;

const WORKLOAD: &str = r#"
[operations.claim]
cql = "UPDATE a.b SET c = :c WHERE d = :d IF c != :c"
"#;

fn explained(record: impl Fn(&Recorder)) -> Explanation {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let mut manifest = Manifest::new("synthetic", "helenus load synthetic");
    manifest.created_ns = T0;
    manifest.load = Some(LoadFacts { workload: "claims".into(), text: WORKLOAD.into(), ..LoadFacts::default() });
    let recorder = Recorder::create(&path, manifest).unwrap();
    record(&recorder);
    recorder.close().unwrap();
    explain(&Engine::open(&[Recording::open(&path).unwrap()]).unwrap(), &Options::default()).unwrap()
}

fn find<'e>(explanation: &'e Explanation, name: &str) -> Option<&'e Finding> {
    explanation.findings.iter().find(|finding| finding.finding == name)
}

/// A closed loop of ten seconds on a server that does 1,000/s with 8 in flight, and `share` of it with more.
fn closed_loop(recorder: &Recorder, second: i64, in_flight: i64, share: f64) {
    let (start, end) = (T0 + second * S, T0 + (second + 10) * S);
    recorder.append(rows::Mark {
        start_ns: start,
        end_ns: end,
        kind: "phase",
        name: "closed",
        in_flight: Some(in_flight),
        measured: true,
        ..rows::Mark::default()
    });
    let need_ns = (in_flight as f64 * MS as f64 / if in_flight > 8 { share } else { 1.0 }) as i64;
    for client in 0..in_flight {
        let mut now = start + client * need_ns / in_flight;
        while now < end {
            recorder.append(rows::Request {
                intended_start_ns: now,
                start_ns: now,
                end_ns: now + need_ns,
                node: NODE,
                operation: "claim",
                outcome: "ok",
                ..rows::Request::default()
            });
            now += need_ns;
        }
    }
}

#[test]
fn a_server_that_does_less_with_more_in_flight_would_have_a_valve_pay() {
    let surge = |share| {
        explained(|recorder| {
            for (step, in_flight) in [4, 8, 64, 128].into_iter().enumerate() {
                closed_loop(recorder, 10 * step as i64, in_flight, share);
            }
        })
    };
    let crowded = surge(0.5);
    let finding = find(&crowded, "crowding").unwrap();
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.title.contains("requests in flight get "), "{}", finding.title);
    assert!(finding.next.contains("helenus valve add lwt --at lwt --law throughput"), "{}", finding.next);
    let done: Vec<f64> = finding.evidence["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| level["throughput_per_s"].as_f64().unwrap())
        .collect();
    // Some requests begin before the loop, and some end after it.
    assert!(done.len() == 4 && done[..2].iter().all(|per_s| (980.0..=1000.0).contains(per_s)), "{done:?}");
    assert!(done[2..].iter().all(|per_s| (470.0..=500.0).contains(per_s)), "{done:?}");
    assert_eq!(find(&surge(0.9), "crowding"), None);
}

#[test]
fn it_is_said_what_a_valve_did() {
    let window = |second: i64, limit: Option<i64>, next_limit: Option<i64>| rows::ValveWindow {
        time_ns: T0 + second * S,
        interval_ns: S,
        node: NODE,
        valve: "lwt",
        law: "throughput",
        limit,
        next_limit,
        in_flight: limit.map_or(100.0, |limit| limit as f64),
        waiting: 40.0,
        completed: 800,
        let_through: 1,
        throughput_per_s: 800.0,
        state: if limit.is_some() { "on" } else { "open" },
        reason: "12 did as much as 16 with less",
        ..rows::ValveWindow::default()
    };
    let governed = explained(|recorder| {
        closed_loop(recorder, 0, 4, 1.0);
        recorder.append(window(1, None, Some(128)));
        for second in 2..=9 {
            recorder.append(window(second, Some(if second < 5 { 128 } else { 12 }), Some(12)));
        }
    });
    let finding = find(&governed, "valve").unwrap();
    assert_eq!((finding.severity, finding.node.as_str()), (Severity::Information, NODE));
    assert!(finding.title.contains("`lwt` of") && finding.detail.contains("law throughput"), "{}", finding.full_text());
    assert!(finding.title.ends_with("let 12 in at once in the end"), "{}", finding.title);
    assert!(finding.detail.contains("800/s came out, 40 waited"), "{}", finding.detail);
    assert!(finding.detail.contains("12 did as much as 16 with less."), "{}", finding.detail);
    assert!(finding.detail.contains("9 went in beyond the limit"), "{}", finding.detail);
    assert_eq!((finding.window_start_ns, finding.window_end_ns), (T0, T0 + 9 * S));
}

#[test]
fn it_is_said_whose_own_time_it_was() {
    let sample = |probe, calls, inherent_ns, off_reason| rows::ProbeSample {
        time_ns: T0 + S,
        interval_ns: S,
        node: NODE,
        probe,
        thread_group: "MutationStage",
        calls,
        total_ns: 900 * MS,
        inherent_ns,
        max_ns: 5 * MS,
        off_reason,
        ..rows::ProbeSample::default()
    };
    let metered = explained(|recorder| {
        closed_loop(recorder, 0, 4, 1.0);
        recorder.append(sample("request", 100, 100 * MS, None));
        recorder.append(sample("lwt", 100, 300 * MS, None));
        recorder.append(sample("memtable", 0, 0, Some("dear")));
    });
    let finding = find(&metered, "probes").unwrap();
    assert_eq!(finding.severity, Severity::Information);
    assert!(
        finding.title.starts_with("75 % ") && finding.title.ends_with("`lwt` (3.0 ms a call)"),
        "{}",
        finding.title
    );
    assert!(finding.detail.contains("called 100 times"), "{}", finding.detail);
    assert!(finding.detail.contains("`request` 25 % (1.0 ms a call)"), "{}", finding.detail);
    assert!(finding.detail.contains("Switched off to bound the cost of metering: memtable."), "{}", finding.detail);
}
