//! Findings must not contradict each other, whatever the recording holds.

use crate::world::{MS, NODE, Phase, S, T0, World, healthy_gc};
use helenus_explain::{Claim, Engine, Options, Severity, contradictions, explain};
use helenus_recording::{Recorder, rows};
use tempfile::TempDir;

fn every(distance_ms: i64, length_ms: i64) -> Vec<(i64, i64)> {
    (0..10_000 / distance_ms).map(|index| (index * distance_ms * MS + 330 * MS, length_ms * MS)).collect()
}

/// An event that can happen in a simulated world of ten seconds.
fn happenings() -> Vec<(&'static str, World)> {
    let none = World { gc: healthy_gc(10), ..World::default() };
    let gc = every(700, 110);
    let compactions = every(2500, 600);
    let stop_and_go =
        compactions.iter().flat_map(|(start, _)| (0..5).map(move |part| (start + part * 110 * MS, 60 * MS))).collect();
    vec![
        ("nothing", none.clone()),
        ("collections", World { gc, ..none.clone() }),
        (
            "collections that are few",
            World { gc: vec![(5 * S, 400 * MS)], secret_stops: vec![(5 * S + 150 * MS, 400 * MS)], ..none.clone() },
        ),
        ("safepoints", World { safepoints: every(900, 120), ..none.clone() }),
        ("a stopped server", World { server_stops: vec![(4 * S, S)], ..none.clone() }),
        ("a stopped driver", World { client_stops: vec![(4 * S, S)], ..none.clone() }),
        (
            "both stopped",
            World {
                client_stops: vec![(4 * S, 300 * MS)],
                server_stops: vec![(4 * S + 100 * MS, 500 * MS)],
                ..none.clone()
            },
        ),
        (
            "a driver that stutters",
            World { client_stops: every(450, 11), secret_stops: every(1700, 25), ..none.clone() },
        ),
        ("what nothing records", World { secret_stops: every(1300, 90), ..none.clone() }),
        ("a way that is blocked", World { way_stops: every(1300, 90), ..none.clone() }),
        ("compactions", World { compactions, secret_stops: stop_and_go, ..none.clone() }),
        ("timeouts", World { failing: Some((4 * S, 100 * MS)), ..none }),
    ]
}

/// The loads that each world is simulated with.
fn loads() -> [(&'static str, Vec<Phase>, f64); 4] {
    let step = |name, rate_per_s, seconds| Phase { name, rate_per_s, seconds, measured: true };
    [
        ("calm", vec![step("500/s", 500, 10)], 1.5),
        ("steps past the knee", vec![step("300/s", 300, 4), step("600/s", 600, 3), step("2500/s", 2500, 3)], 1.5),
        ("too much", vec![step("2500/s", 2500, 10)], 1.5),
        ("busy in the end", vec![step("300/s", 300, 5), step("1500/s", 1500, 5)], 1.9),
    ]
}

#[test]
fn no_two_findings_exclude_each_other() {
    // Few shifts are enough here: the smallest p-value is still below all bounds.
    let options = Options { shifts: 250, ..Options::default() };
    let folder = TempDir::new().unwrap();
    let mut full_text = std::collections::BTreeSet::new();
    for (number, (happening, world)) in happenings().into_iter().enumerate() {
        let [calm, others @ ..] = loads();
        let other = others[number % 3].clone();
        for (load, phases, server_cpus_at_full_load) in [calm, other] {
            // The sources that are recorded vary independently of the events.
            let (has_wire, is_ring, has_agent) = (number % 2 == 1, number % 3 == 1, number % 5 != 0);
            let world = World { phases, server_cpus_at_full_load, has_wire, is_ring, has_agent, ..world.clone() };
            let recording = world.record(&folder.path().join(format!("{happening}, {load}")));
            let engine = Engine::open(&[recording]).unwrap();
            let explanation = explain(&engine, &options).unwrap();
            let found = contradictions(&explanation.findings);
            assert!(found.is_empty(), "{happening}, {load}: {found:#?}\n{explanation}");
            full_text.extend(explanation.findings.iter().flat_map(|finding| &finding.claims).map(
                |claim| match claim {
                    Claim::Healthy => "healthy",
                    Claim::Explains { cause, .. } => cause,
                    Claim::Unexplained { .. } => "unexplained",
                    Claim::Suspects { .. } => "suspects",
                    Claim::Clears { .. } => "clears",
                },
            ));
        }
    }
    // If no world had a claim, the test would check nothing.
    let wanted = [
        "busy-phases",
        "clears",
        "client-stall",
        "gc-pause",
        "healthy",
        "overload",
        "safepoint",
        "server-stall",
        "suspects",
        "unexplained",
    ];
    assert!(wanted.iter().all(|claim| full_text.contains(claim)), "{full_text:?}");
}

#[test]
fn a_stop_is_the_nodes_that_was_stopped() {
    let server_stops = vec![(8 * S, S), (19 * S + 300 * MS, S)];
    let explained = World { is_ring: true, gc: healthy_gc(30), server_stops, ..World::default() }.explain();
    let top = explained.top();
    assert_eq!((top.finding, top.node.as_str()), ("server-stall", NODE), "{}", explained.explanation);
    assert!(top.title.contains("Stops of 127.0.0.1") && top.title.contains("(longest 1.0 s)"), "{}", top.title);
    assert!(top.detail.starts_with("2 stops"), "{}", top.detail);
    assert!(top.detail.contains("It used 0.00 CPUs meanwhile"), "{}", top.detail);
}

#[test]
fn a_drivers_stop_is_one_though_its_schedule_and_its_watcher_saw_it() {
    let explained = World { client_stops: vec![(14 * S, S)], ..World::default() }.explain();
    let top = explained.top();
    assert_eq!(top.finding, "client-stall", "{}", explained.explanation);
    assert!(top.title.ends_with("(longest 1.0 s)") && top.detail.starts_with("1 stall:"), "{}", top.full_text());
}

#[test]
fn what_the_wire_shows_goes_before_statistics() {
    let way_stops = (0..9).map(|index| (index * 3 * S + 2 * S + 311 * MS, 120 * MS)).collect();
    let explained = World { way_stops, has_wire: true, gc: healthy_gc(30), ..World::default() }.explain();
    let client = explained.find("client-stall").unwrap();
    assert!(
        client.title.contains("The driver is not cleared") && client.title.contains("between driver and node"),
        "{}",
        client.title
    );
    assert_eq!(client.share, Some(0.0));
    let origin = explained.find("latency-origin").unwrap();
    assert!(
        origin.next.contains("look at the network") && !origin.full_text().contains("stalls"),
        "{}",
        origin.full_text()
    );
    // Title and detail give the same statistic.
    let slow = &origin.evidence["slow"];
    let mean = |part: &str| slow[part]["mean_ms"].as_f64().unwrap();
    let all = mean("before") + mean("in_node") + mean("between");
    assert!((mean("between") / all - slow["between"]["share"].as_f64().unwrap()).abs() < 1e-6, "{slow:#}");
    assert_eq!((origin.severity, explained.top().finding), (Severity::Warning, "latency-origin"));
    assert!(explained.find("unexplained").is_none(), "{}", explained.explanation);
}

#[test]
fn the_p99_says_which_requests_it_is_of() {
    let step = |name, rate_per_s| Phase { name, rate_per_s, seconds: 5, measured: true };
    let explained = World { phases: vec![step("500/s", 500), step("2500/s", 2500)], ..World::default() }.explain();
    let explanation = &explained.explanation;
    assert_eq!(explanation.slow_threshold_name, "p99 of the phases that kept up");
    assert!(explanation.slower_unjudged_requests > 10_000, "{explanation}");
    assert!(explanation.to_string().contains("Of the 12,500 that are not judged, "), "{explanation}");
    assert_eq!(explanation.severity(), Severity::Warning);
}

#[test]
fn fewer_than_a_hundred_requests_are_never_called_healthy() {
    let phases = vec![Phase { name: "steady", rate_per_s: 3, seconds: 30, measured: true }];
    let explained = World { phases, ..World::default() }.explain();
    assert_eq!((explained.top().finding, explained.top().severity), ("few-requests", Severity::Information));
    assert!(explained.top().title.starts_with("Too few requests to judge: 9"), "{}", explained.explanation);
}

/// The JVM's option is advice, which has no weight of its own.
#[test]
fn a_few_errors_come_after_a_finding_that_names_a_cause() {
    let more = |recorder: &Recorder| {
        recorder.append(rows::Setting {
            time_ns: T0,
            node: NODE,
            setting: "jvm.options",
            value: "-XX:TieredStopAtLevel=1",
            source: "JMX",
        });
        recorder.append(rows::TableSample { time_ns: T0, node: NODE, ..rows::TableSample::default() });
        for index in 0..130 {
            let due = T0 + 4 * S + index * 100 * MS;
            recorder.append(rows::Request {
                intended_start_ns: due,
                start_ns: due,
                end_ns: due + MS,
                node: NODE,
                operation: "write",
                outcome: "overloaded",
                ..rows::Request::default()
            });
        }
    };
    let explained = World { gc: healthy_gc(30), more: Some(more), ..World::default() }.explain();
    assert_eq!(explained.serious(), ["jit", "errors"], "{}", explained.explanation);
}
