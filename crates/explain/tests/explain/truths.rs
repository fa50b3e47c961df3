//! Findings on synthetic recordings must name the true cause.

use crate::world::{MS, NODE, Phase, S, World, healthy_gc};
use helenus_explain::{Engine, Options, Resource, Severity, explain};
use helenus_recording::{Loss, Manifest, Recorder, Recording, rows};

#[test]
fn a_heap_far_too_small_is_gc() {
    let gc: Vec<(i64, i64)> =
        (0..40).map(|index| (index * 730 * MS + (index * 97 % 300) * MS, (80 + index % 7 * 15) * MS)).collect();
    let world = World { gc, ..World::default() };
    let explained = world.explain();
    let top = explained.top();
    assert_eq!(top.finding, "gc-pause");
    assert_eq!(top.node, NODE);
    assert!(top.severity >= Severity::Warning);
    assert!(top.share.unwrap() > 0.8, "{top:?}");
    assert!(top.chance_share.unwrap() < 0.5, "{top:?}");
    assert!(top.p_value.unwrap() < 0.01, "{top:?}");
    assert_eq!(explained.serious(), ["gc-pause"]);
    insta::assert_snapshot!(explained.text());
}

#[test]
fn a_stopped_load_driver_is_not_the_servers_fault() {
    let world = World { gc: healthy_gc(30), client_stops: vec![(14 * S, S)], ..World::default() };
    let explained = world.explain();
    assert_eq!(explained.top().finding, "client-stall");
    assert_eq!(explained.top().severity, Severity::Critical);
    assert!(explained.top().share.unwrap() > 0.95);
    assert_eq!(explained.serious(), ["client-stall"]);
    let window = (explained.top().window_start_ns, explained.top().window_end_ns);
    assert!(window.0 >= crate::world::T0 + 13 * S && window.1 <= crate::world::T0 + 17 * S, "{window:?}");
    insta::assert_snapshot!(explained.text());
}

/// The wire shows which side was slow although no stall was recorded.
#[test]
fn the_wire_shows_on_which_side_the_time_went() {
    let stop = vec![(14 * S, S)];
    let share = |world: World, part: &str| {
        let explained = World { has_wire: true, ..world }.explain();
        let finding = explained.find("latency-origin").unwrap().clone();
        assert_eq!(finding.severity, Severity::Information);
        let slow = &finding.evidence["slow"];
        assert_eq!(slow["on_the_wire"], slow["requests"]);
        // All sides cover the same requests, except those in flight at the beginning and end.
        let sides = &finding.evidence["sides"];
        let mean = |side: &str| sides[side]["mean_ms"].as_f64().unwrap();
        assert!(mean("coordinator") < mean("wire") && mean("wire") < mean("service"), "{sides:#}");
        assert!(mean("service") <= mean("response"), "{sides:#}");
        let requests = |side: &str| sides[side]["requests"].as_i64().unwrap();
        assert!((requests("coordinator") - requests("wire")).abs() <= 3, "{sides:#}");
        assert!((requests("response") - requests("wire")).abs() <= 3, "{sides:#}");
        assert!(finding.detail.contains("in its coordinator, which counted"), "{}", finding.detail);
        slow[part]["share"].as_f64().unwrap()
    };
    let of_client = World { client_stops: stop.clone(), ..World::default() };
    let of_server = World { server_stops: stop, ..World::default() };
    assert!(share(of_client.clone(), "before") > 0.6);
    assert!(share(of_client, "in_node") < 0.4);
    assert!(share(of_server, "in_node") > 0.99);
    assert!(World::default().explain().find("latency-origin").is_none());
}

#[test]
fn a_stopped_server_is_no_gc() {
    let world = World { gc: healthy_gc(30), server_stops: vec![(14 * S + 300 * MS, S)], ..World::default() };
    let explained = world.explain();
    assert_eq!(explained.top().finding, "server-stall");
    assert_eq!(explained.top().severity, Severity::Critical);
    assert_eq!(explained.serious(), ["server-stall"]);
    let gc = explained.find("gc-pause").unwrap();
    assert!(gc.share.unwrap() < 0.05, "{gc:?}");
    insta::assert_snapshot!(explained.text());
}

/// In a short recording, one pause near the slow requests is not blamed, because a random pause would often be as near.
#[test]
fn a_pause_too_seldom_to_tell_is_neither_blamed_nor_cleared() {
    let phases = vec![Phase { name: "steady", rate_per_s: 500, seconds: 12, measured: true }];
    let (gc, secret_stops) = (vec![(5 * S, 400 * MS)], vec![(5 * S + 150 * MS, 400 * MS)]);
    let explained = World { phases, gc, secret_stops, ..World::default() }.explain();
    let gc = explained.find("gc-pause").unwrap();
    assert_eq!(gc.severity, Severity::Information);
    assert!((0.01..0.1).contains(&gc.p_value.unwrap()), "{gc:?}");
    assert!(gc.title.contains("GC is a suspect") && gc.next.contains("record for longer"), "{gc:?}");
    assert_eq!(gc.share, Some(0.0));
}

#[test]
fn an_idle_healthy_run_has_nothing_above_information() {
    for (rate_per_s, seconds) in [(200, 20), (500, 60), (1000, 30)] {
        let phases = vec![Phase { name: "steady", rate_per_s, seconds, measured: true }];
        let explained = World { phases, gc: healthy_gc(seconds), ..World::default() }.explain();
        assert_eq!(explained.serious(), [""; 0], "{}", explained.explanation);
        assert_eq!(explained.top().finding, "healthy");
    }
}

#[test]
fn a_load_past_what_can_be_had_has_a_knee() {
    let step = |name, rate_per_s| Phase { name, rate_per_s, seconds: 8, measured: true };
    let world = World {
        phases: vec![
            step("500/s", 500),
            step("1000/s", 1000),
            step("1500/s", 1500),
            step("2500/s", 2500),
            step("3500/s", 3500),
        ],
        gc: healthy_gc(40),
        ..World::default()
    };
    let explained = world.explain();
    let knee = explained.explanation.knee.as_ref().unwrap();
    assert!(knee.reached);
    assert_eq!(knee.steps[knee.last_kept_up.unwrap()].phase, "1500/s");
    assert!((1700.0..1900.0).contains(&knee.plateau_per_s), "{knee:?}");
    assert_eq!(knee.limit.as_ref().unwrap().resource, Resource::Cpu);
    assert_eq!(explained.top().finding, "overload");
    assert_eq!(explained.serious(), ["overload"]);
    // The overloaded steps are judged separately.
    assert_eq!(explained.explanation.judged.len(), 3);
    insta::assert_snapshot!(explained.text());
}

/// The steps that kept up had a longer stop than the overload made requests wait.
#[test]
fn an_overload_without_a_slow_request_counts_none() {
    let step = |name, rate_per_s, seconds| Phase { name, rate_per_s, seconds, measured: true };
    let world = World {
        phases: vec![step("500/s", 500, 20), step("2500/s", 2500, 2)],
        server_stops: vec![(5 * S, 3 * S)],
        ..World::default()
    };
    let explained = world.explain();
    let overload = explained.find("overload").unwrap();
    assert!(overload.detail.starts_with("No request of the overloaded phases was slower"), "{}", overload.detail);
}

/// Of the last step nothing was sent: what was answered meanwhile had been due before.
#[test]
fn a_step_without_a_request_is_left_out() {
    let step = |name, rate_per_s| Phase { name, rate_per_s, seconds: 6, measured: true };
    let unsent = |recorder: &Recorder| {
        recorder.append(rows::Mark {
            start_ns: crate::world::T0 + 12 * S,
            end_ns: crate::world::T0 + 13 * S,
            kind: "phase",
            name: "9000/s",
            rate_per_s: Some(9000.0),
            measured: true,
            ..rows::Mark::default()
        });
    };
    let phases = vec![step("1000/s", 1000), step("3000/s", 3000)];
    let explained = World { phases, more: Some(unsent), ..World::default() }.explain();
    let knee = explained.explanation.knee.as_ref().unwrap();
    assert_eq!((knee.steps.len(), knee.reached), (2, true));
    assert!((1700.0..1900.0).contains(&knee.plateau_per_s), "{knee:?}");
    let overload = explained.find("overload").unwrap();
    assert!(overload.detail.contains("Of 9000/s nothing was sent"), "{}", overload.detail);
}

#[test]
fn a_driver_at_its_limit_is_said_to_be_the_limit() {
    let step = |name, rate_per_s| Phase { name, rate_per_s, seconds: 6, measured: true };
    let world = World {
        phases: vec![step("1000/s", 1000), step("3000/s", 3000)],
        server_cpus_at_full_load: 0.4,
        load_cpus_at_full_load: 0.98,
        ..World::default()
    };
    let explained = world.explain();
    let limit = explained.explanation.knee.as_ref().unwrap().limit.as_ref().unwrap();
    assert_eq!(limit.resource, Resource::Client);
    assert!(explained.find("overload").unwrap().title.contains("the load driver"), "{}", explained.explanation);
}

#[test]
fn a_full_pool_with_idle_cpus_is_the_limit() {
    let step = |name, rate_per_s| Phase { name, rate_per_s, seconds: 6, measured: true };
    let world = World {
        phases: vec![step("1000/s", 1000), step("3000/s", 3000)],
        server_cpus_at_full_load: 0.4,
        load_cpus_at_full_load: 0.2,
        ..World::default()
    };
    let explained = world.explain();
    let limit = explained.explanation.knee.as_ref().unwrap().limit.as_ref().unwrap();
    assert_eq!(limit.resource, Resource::Pool);
    assert_eq!(limit.full_pools[0].pool, "MutationStage");
}

#[test]
fn a_phase_that_is_busy_throughout_is_said_to_be_so() {
    let step = |name, rate_per_s| Phase { name, rate_per_s, seconds: 20, measured: true };
    let world = World {
        phases: vec![step("500/s", 500), step("1000/s", 1000), step("1700/s", 1700)],
        server_cpus_at_full_load: 1.7,
        load_cpus_at_full_load: 0.35,
        gc: healthy_gc(60),
        ..World::default()
    };
    let explained = world.explain();
    assert!(!explained.explanation.knee.as_ref().unwrap().reached);
    assert_eq!(explained.top().finding, "cpu-saturation", "{}", explained.explanation);
    assert_eq!(explained.serious(), ["cpu-saturation"]);
    assert_eq!(explained.top().p_value, None);
    assert!(explained.top().detail.contains("not tested against chance"));
}

/// A process on the machine with so much CPU time, in each second.
fn beside(recorder: &Recorder, role: &str, cpus: f64) {
    for second in 1..=60 {
        recorder.append(rows::ProcessSample {
            time_ns: crate::world::T0 + second * S,
            interval_ns: S,
            node: NODE,
            pid: 4711,
            process: "python",
            role,
            cpu_ns: (cpus * S as f64) as i64,
        });
    }
}

fn contended_transactions(recorder: &Recorder) {
    for (second, transactions) in [(0, 0), (59, 200)] {
        let time_ns = crate::world::T0 + second * S;
        recorder.append(rows::TableSample {
            time_ns,
            node: NODE,
            keyspace: "shop",
            table_name: "claims",
            ..rows::TableSample::default()
        });
        for (metric, value) in [("Latency", transactions), ("ContentionHistogram", transactions * 3 / 4)] {
            let (kind, scope, attribute) = ("ClientRequest", "CASWrite", "Count");
            recorder.append(rows::NodeMetric { time_ns, node: NODE, kind, scope, metric, attribute, value });
        }
    }
}

#[test]
fn cpus_that_a_node_keeps_busy_come_after_advice_and_are_blamed_on_who_uses_them() {
    let busy = |more: fn(&Recorder)| {
        let phases = vec![Phase { name: "1700/s", rate_per_s: 1700, seconds: 60, measured: true }];
        World {
            phases,
            server_cpus_at_full_load: 1.7,
            load_cpus_at_full_load: 0.35,
            gc: healthy_gc(60),
            more: Some(more),
            ..World::default()
        }
        .explain()
    };
    let own = busy(|recorder| {
        beside(recorder, "other", 0.4);
        contended_transactions(recorder);
    });
    assert_eq!(own.serious(), ["lwt-contention", "cpu-saturation"], "{}", own.explanation);
    let theirs = busy(|recorder| beside(recorder, "other", 1.9));
    assert_eq!(theirs.serious(), ["other-processes"], "{}", theirs.explanation);
    assert!(theirs.top().next.contains("python"), "{:?}", theirs.top());
    let client = busy(|recorder| beside(recorder, "client", 1.9));
    assert_eq!(client.serious(), ["cpu-saturation"], "{}", client.explanation);
    assert!(client.top().detail.contains("Clients on this machine then: python 1.90 CPUs"), "{:?}", client.top());
    assert!(client.top().next.contains("move python (pid "), "{:?}", client.top());
}

#[test]
fn a_constant_rate_past_what_can_be_had_is_overload() {
    let phases = vec![Phase { name: "too much", rate_per_s: 2500, seconds: 10, measured: true }];
    let explained = World { phases, ..World::default() }.explain();
    assert!(explained.explanation.knee.is_none());
    assert_eq!(explained.top().finding, "overload");
    assert!(explained.top().detail.contains("No phase kept up"), "{}", explained.explanation);
}

#[test]
fn what_nothing_explains_is_said_to_be_so() {
    let secret_stops: Vec<(i64, i64)> = (0..9).map(|index| (index * 3 * S + 2 * S + 311 * MS, 120 * MS)).collect();
    let explained = World { gc: healthy_gc(30), secret_stops, ..World::default() }.explain();
    assert_eq!(explained.top().finding, "unexplained", "{}", explained.explanation);
    assert_eq!(explained.serious(), ["unexplained"]);
    assert!(explained.top().evidence["unexplained_share"].as_f64().unwrap() > 0.9);
}

#[test]
fn a_safepoint_that_is_no_gc_is_told_from_one() {
    let safepoints: Vec<(i64, i64)> = (0..9).map(|index| (index * 3 * S + 2 * S + 311 * MS, 120 * MS)).collect();
    let explained = World { gc: healthy_gc(30), safepoints, ..World::default() }.explain();
    assert_eq!(explained.serious(), ["safepoint"], "{}", explained.explanation);
    assert!(explained.top().detail.contains("ThreadDump"));
}

#[test]
fn compactions_that_slow_requests_are_found() {
    // Each request takes half a second, during which the server stops and goes on several times.
    let compactions: Vec<(i64, i64)> =
        (0..6).map(|index| (index * 4 * S + 3 * S + index * 200 * MS, 600 * MS)).collect();
    let secret_stops =
        compactions.iter().flat_map(|(start, _)| (0..5).map(move |part| (start + part * 110 * MS, 60 * MS))).collect();
    let explained = World { gc: healthy_gc(30), compactions, secret_stops, ..World::default() }.explain();
    assert_eq!(explained.top().finding, "compaction-or-flush", "{}", explained.explanation);
    assert!(explained.top().p_value.unwrap() < 0.01);
}

#[test]
fn requests_that_fail_are_an_error_and_slow() {
    let explained = World { failing: Some((20 * S, S)), ..World::default() }.explain();
    let errors = explained.find("errors").unwrap();
    assert_eq!(errors.severity, Severity::Critical);
    assert!(errors.title.starts_with("500 of 15,000 requests failed (3.3 %): 500 write_timeout"), "{}", errors.title);
    assert!(explained.explanation.slow_threshold_ms >= 2000.0);
}

#[test]
fn what_was_lost_or_never_recorded_is_said() {
    let explained = World { has_agent: false, lost_rows: 500, ..World::default() }.explain();
    let lost: Vec<_> = explained.explanation.findings.iter().filter(|found| found.finding == "lost-data").collect();
    assert_eq!(lost.len(), 2);
    assert_eq!(lost[0].severity, Severity::Warning);
    assert!(lost[0].detail.contains("requests: 500 rows (the buffer was full)"), "{}", lost[0].detail);
    assert!(lost[1].detail.contains("GC and safepoints cannot be judged"), "{}", lost[1].detail);
    assert!(explained.find("gc-pause").is_none(), "without an agent GC is neither blamed nor cleared");
    let missing: Vec<&str> = explained.explanation.missing.iter().map(|missing| missing.what).collect();
    assert_eq!(missing, ["pauses", "thread pools"]);
}

/// A recorder reports its losses in `sources`, and the manifest names their table.
#[test]
fn rows_that_a_recorder_lost_are_counted_once() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut manifest = Manifest::new("t", "c");
    manifest.losses.push(Loss { table: "pauses".into(), rows: Some(7), reason: "the disk takes nothing".into() });
    let recorder = Recorder::create(&folder.path().join("r"), manifest).unwrap();
    recorder.append(rows::SourceReport {
        time_ns: crate::world::T0,
        interval_ns: S,
        source: "recorder",
        provider: "arrow-stream",
        captured: 3,
        lost: 7,
        lost_reason: "the disk takes nothing",
        ..rows::SourceReport::default()
    });
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&folder.path().join("r")).unwrap()]).unwrap();
    let explanation = explain(&engine, &Options::default()).unwrap();
    let lost = explanation.findings.iter().find(|found| !found.evidence["rows_lost"].is_null()).unwrap();
    assert_eq!((&lost.evidence["rows_lost"], lost.severity), (&7.into(), Severity::Warning), "{explanation}");
}

#[test]
fn what_was_left_out_for_a_budget_is_said() {
    let left_out = |recorder: &Recorder| {
        let left_out = ["", "one in 2 connections is followed", "one in 4 connections is followed", ""];
        for (second, left_out) in (20..).zip(left_out) {
            recorder.append(rows::SourceReport {
                time_ns: crate::world::T0 + second * S,
                interval_ns: S,
                source: "budget",
                provider: "proc",
                lost_reason: left_out,
                cpu_ns: Some(S / 50),
                ..rows::SourceReport::default()
            });
        }
    };
    let explained = World { more: Some(left_out), ..World::default() }.explain();
    let findings = &explained.explanation.findings;
    let left_out = findings.iter().find(|found| !found.evidence["left_out"].is_null()).unwrap();
    assert_eq!(left_out.severity, Severity::Information);
    let expected = "one in 2 connections is followed (1.0 s); one in 4 connections is followed (1.0 s). Requests";
    assert!(left_out.detail.starts_with(expected), "{}", left_out.detail);
    assert!(findings.iter().all(|found| found.evidence["rows_lost"].is_null()), "nothing was lost");
}

#[test]
fn every_query_of_a_finding_runs() {
    let step = |name, rate_per_s| Phase { name, rate_per_s, seconds: 9, measured: true };
    let every =
        |count: i64, length| (0..count).map(|index| (index * 2400 * MS + 2200 * MS, length)).collect::<Vec<_>>();
    let worlds = [
        World {
            phases: vec![step("500/s", 500), step("1000/s", 1000), step("2500/s", 2500)],
            gc: every(7, 90 * MS),
            ..World::default()
        },
        World { client_stops: vec![(12 * S, S)], failing: Some((20 * S, 50 * MS)), ..World::default() },
        World { server_stops: vec![(12 * S, S)], lost_rows: 7, ..World::default() },
        World { safepoints: every(9, 120 * MS), has_agent: true, ..World::default() },
        World { compactions: every(9, 300 * MS), secret_stops: every(9, 250 * MS), ..World::default() },
        World { has_agent: false, ..World::default() },
    ];
    let mut kinds = std::collections::BTreeSet::new();
    for world in worlds {
        let explained = world.explain();
        for finding in &explained.explanation.findings {
            kinds.insert(finding.finding);
            let rows =
                explained.engine.sql(&finding.query).unwrap_or_else(|error| panic!("{}: {error}", finding.query));
            // The query of a finding that clears a suspect may return no rows.
            assert!(rows.rows() > 0 || finding.severity == Severity::Information, "{}", finding.query);
            assert!(!finding.query.contains('$') && !finding.query.contains("--"), "{}", finding.query);
        }
        let ranks: Vec<usize> = explained.explanation.findings.iter().map(|finding| finding.rank).collect();
        assert_eq!(ranks, (1..=ranks.len()).collect::<Vec<_>>());
    }
    let wanted = [
        "client-stall",
        "compaction-or-flush",
        "errors",
        "gc-pause",
        "healthy",
        "lost-data",
        "overload",
        "safepoint",
        "server-stall",
        "unexplained",
    ];
    assert!(wanted.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
}
