//! Findings must name a cause outside of the node that delayed it.

use crate::world::{MS, NODE, Phase, S, T0, World, healthy_gc};
use helenus_explain::{Engine, Finding, Options, Severity, SlowThreshold, explain};
use helenus_recording::{Recorder, rows};

/// Stops as (start, length): 60 ms each, throughout most of an episode.
fn stop_and_go(from: i64, to: i64) -> Vec<(i64, i64)> {
    (0..(to - from) / (200 * MS)).map(|index| (from + index * 200 * MS, (40 + index * 37 % 50) * MS)).collect()
}

fn every_tenth(seconds: i64, mut append: impl FnMut(i64)) {
    (1..=seconds * 10).for_each(|index| append(index * S / 10));
}

fn named(finding: &Finding, kind: &str) {
    assert_eq!(finding.finding, kind, "{finding:#?}");
    assert!(finding.severity >= Severity::Warning, "{finding:#?}");
    assert!(finding.share.is_none_or(|share| share > 0.5), "{finding:#?}");
    assert!(!finding.next.is_empty() && finding.next.ends_with('.'), "{finding:#?}");
}

#[test]
fn stalls_that_are_waits_for_a_cpu_are_told_as_its_consequence() {
    let hogs: Vec<(i64, i64)> = (0..5).map(|index| (index * 5 * S + 3 * S, 700 * MS)).collect();
    let within = |length: i64| hogs.iter().map(|(start, _)| (start + 100 * MS, length)).collect::<Vec<_>>();
    let of_driver =
        World { hogs: hogs.clone(), client_stops: within(300 * MS), gc: healthy_gc(30), ..World::default() };
    let of_collector = World { hogs: hogs.clone(), gc: within(120 * MS), ..World::default() };
    for (world, consequence) in [(of_driver, "stall of the driver × 5"), (of_collector, "GC pause × 5")] {
        let explained = world.explain();
        named(explained.top(), "other-processes");
        assert!(
            explained.top().title.contains("(yes ") && explained.top().next.contains("yes"),
            "{:?}",
            explained.top()
        );
        assert!(explained.top().detail.contains(consequence), "{}", explained.top().detail);
        assert_eq!(explained.serious(), ["other-processes"], "{}", explained.explanation);
        assert!(explained.explanation.answer.contains("yes"), "{}", explained.explanation.answer);
    }
}

#[test]
fn a_stop_beside_idle_cpus_is_no_wait_for_one() {
    let stop = vec![(14 * S, S)];
    let explained =
        World { hogs: vec![(4 * S, S)], client_stops: stop, gc: healthy_gc(30), ..World::default() }.explain();
    assert_eq!(explained.top().finding, "client-stall", "{}", explained.explanation);
}

/// Two stops in a short recording can't be told from chance: they would explain as much if they lay two seconds later. The
/// CPUs are busy in all of it. But the kernel showed the process as stopped.
#[test]
fn a_stop_that_the_kernel_shows_is_not_blamed_on_busy_cpus() {
    let world = World {
        phases: vec![Phase { name: "steady", rate_per_s: 500, seconds: 12, measured: true }],
        hogs: vec![(0, 12 * S)],
        server_stops: vec![(1300 * MS, 700 * MS), (5300 * MS, 700 * MS)],
        // The busy CPUs delay other requests for as long.
        secret_stops: vec![(3150 * MS, S), (7150 * MS, S), (9150 * MS, S)],
        gc: healthy_gc(12),
        ..World::default()
    };
    let folder = tempfile::TempDir::new().unwrap();
    let engine = Engine::open(&[world.record(&folder.path().join("recording"))]).unwrap();
    let options = Options { threshold: SlowThreshold::Time(100 * MS), ..Options::default() };
    let explanation = explain(&engine, &options).unwrap();
    let stop = explanation.findings.iter().find(|finding| finding.finding == "server-stall");
    let stop = stop.unwrap_or_else(|| panic!("{explanation}"));
    assert!(stop.severity > Severity::Information && stop.share.unwrap() > 0.2, "{explanation}");
    assert!(stop.p_value.is_none(), "it needs no test: {explanation}");
    assert!(stop.detail.contains("the kernel held it stopped") && stop.next.contains("kill -STOP"), "{stop:#?}");
}

/// The recorder waits for a CPU as well, so that it saw the process only twice while it was stopped, in a pause that the JVM
/// reports as its own.
#[test]
fn a_pause_in_which_the_kernel_shows_a_stop_is_a_stop() {
    let stops = vec![(4 * S + 300 * MS, 700 * MS), (8 * S, 700 * MS)];
    let more = |recorder: &Recorder| {
        for start in [4 * S + 300 * MS, 8 * S] {
            recorder.append(rows::Stall {
                start_ns: T0 + start + 250 * MS,
                duration_ns: 170 * MS,
                side: "server",
                node: NODE,
                kind: "stopped",
                ..rows::Stall::default()
            });
        }
    };
    let world = World { hogs: vec![(0, 30 * S)], safepoints: stops, more: Some(more), ..World::default() };
    let explained = world.explain();
    assert_eq!(explained.top().finding, "server-stall", "{}", explained.explanation);
    assert!(explained.top().share.unwrap() > 0.5, "{}", explained.explanation);
}

/// The scheduler's records of the threads show the stop exactly, without an agent.
#[test]
fn threads_that_the_scheduler_saw_stopped_are_a_stop_of_their_process() {
    let explained = |more: fn(&Recorder)| {
        World { hogs: vec![(0, 30 * S)], secret_stops: vec![(8 * S, 700 * MS)], more: Some(more), ..World::default() }
            .explain()
    };
    let all = explained(|recorder| off_cpu(recorder, 1..4));
    assert_eq!(all.top().finding, "server-stall", "{}", all.explanation);
    let one = explained(|recorder| off_cpu(recorder, 1..2));
    assert!(one.find("server-stall").is_none(), "{}", one.explanation);
}

fn off_cpu(recorder: &Recorder, tids: std::ops::Range<i64>) {
    for tid in tids {
        recorder.append(rows::OffCpu {
            start_ns: T0 + 8 * S + tid * MS,
            duration_ns: 700 * MS,
            run_queue_ns: 10 * MS,
            node: NODE,
            tid,
            reason: "stopped",
            ..rows::OffCpu::default()
        });
    }
}

#[test]
fn a_healthy_node_beside_other_work_has_nothing_else_above_information() {
    let explained = World {
        hogs: vec![(0, 30 * S)],
        gc: healthy_gc(30),
        client_stops: (0..12).map(|index| (index * 2 * S + 700 * MS, 25 * MS)).collect(),
        ..World::default()
    }
    .explain();
    assert!(explained.serious().iter().all(|kind| *kind == "other-processes"), "{}", explained.explanation);
}

#[test]
fn a_cpu_quota_is_named() {
    let more = |recorder: &Recorder| {
        every_tenth(30, |time| {
            let is_used_up = time / S % 3 == 1;
            recorder.append(rows::NodePressure {
                time_ns: T0 + time,
                interval_ns: S / 10,
                node: NODE,
                periods: Some(1),
                throttled_periods: Some(i64::from(is_used_up)),
                throttled_ns: Some(if is_used_up { 80 * MS } else { 0 }),
                ..rows::NodePressure::default()
            });
        });
    };
    let stops = (0..30).filter(|second| second % 3 == 1);
    let server_stops =
        stops.flat_map(|second| (0..9).map(move |part| (second * S + part * 100 * MS, 70 * MS))).collect();
    let explained = World { server_stops, gc: healthy_gc(30), more: Some(more), ..World::default() }.explain();
    named(explained.top(), "cpu-quota");
    assert_eq!(explained.serious(), ["cpu-quota"], "{}", explained.explanation);
}

/// In that time all requests are equally slow, and none is much slower than the median.
#[test]
fn a_quota_that_is_used_up_all_the_time_is_named() {
    let more = |recorder: &Recorder| {
        every_tenth(30, |time| {
            recorder.append(rows::NodePressure {
                time_ns: T0 + time,
                interval_ns: S / 10,
                node: NODE,
                throttled_ns: Some(75 * MS),
                ..rows::NodePressure::default()
            });
        });
    };
    let server_stops = (0..300).map(|part| (part * 100 * MS, (60 + part * 7 % 15) * MS)).collect();
    let explained = World { server_stops, gc: Vec::new(), more: Some(more), ..World::default() }.explain();
    named(explained.top(), "cpu-quota");
    assert_eq!(explained.top().p_value, None);
}

/// A disk whose reads take 40 ms each in that time.
fn disk(recorder: &Recorder, device: &str, slow: std::ops::Range<i64>) {
    every_tenth(30, |time| {
        let is_slow = slow.contains(&time);
        recorder.append(rows::DiskSample {
            time_ns: T0 + time,
            interval_ns: S / 10,
            node: NODE,
            device,
            reads: 4,
            read_ns: if is_slow { 4 * 40 * MS } else { MS },
            busy_ns: if is_slow { 95 * MS } else { MS },
            ..rows::DiskSample::default()
        });
    });
}

/// One long episode: a timeline shifted by a second explains nearly as much.
#[test]
fn a_slow_disk_is_named_also_in_one_long_episode() {
    let more = |recorder: &Recorder| disk(recorder, "nvme0n1", 9 * S..19 * S);
    let secret_stops = stop_and_go(11 * S, 17 * S);
    let explained = World { secret_stops, gc: healthy_gc(30), more: Some(more), ..World::default() }.explain();
    named(explained.top(), "disk-wait");
    assert!(
        explained.top().title.contains("nvme0n1") && explained.top().detail.contains("40 ms"),
        "{:?}",
        explained.top()
    );
    assert!(explained.top().p_value.unwrap() < 0.01);
}

/// Unevenly spaced, so that no shift maps them onto each other.
const BAD_SECONDS: [i64; 6] = [5, 9, 14, 16, 23, 27];

fn faulty(recorder: &Recorder, faults: i64, retransmitted: i64) {
    every_tenth(30, |time| {
        let is_bad = BAD_SECONDS.contains(&(time / S));
        recorder.append(rows::NodePressure {
            time_ns: T0 + time,
            interval_ns: S / 10,
            node: NODE,
            major_faults: Some(if is_bad { faults } else { 0 }),
            retransmitted_segments: Some(if is_bad { retransmitted } else { 0 }),
            ..rows::NodePressure::default()
        });
    });
}

#[test]
fn page_faults_and_retransmissions_are_named() {
    let stops: Vec<(i64, i64)> =
        BAD_SECONDS.iter().flat_map(|second| stop_and_go(second * S, second * S + 900 * MS)).collect();
    let world = World { secret_stops: stops, gc: healthy_gc(30), ..World::default() };
    let explained = World { more: Some(|recorder| faulty(recorder, 300, 0)), ..world.clone() }.explain();
    named(explained.top(), "page-faults");
    // A lost segment costs at least 200 ms, so it is not why requests took 40 ms.
    let short = World { more: Some(|recorder| faulty(recorder, 0, 3)), ..world.clone() }.explain();
    assert_ne!(short.top().finding, "retransmission", "{}", short.explanation);
    let stops = BAD_SECONDS.iter().map(|second| (second * S, 400 * MS)).collect();
    let lost = World { secret_stops: stops, more: Some(|recorder| faulty(recorder, 0, 3)), ..world }.explain();
    named(lost.top(), "retransmission");
}

#[test]
fn a_pool_that_is_full_throughout_is_named_though_hardly_a_sample_saw_its_queue() {
    let more = |recorder: &Recorder| {
        for second in 1..=30 {
            recorder.append(rows::PoolSample {
                time_ns: T0 + second * S,
                node: NODE,
                pool: "ReadStage",
                kind: "request",
                active: 1,
                pending: i64::from(second % 9 == 0),
                completed: second,
                max_size: Some(1),
                ..rows::PoolSample::default()
            });
        }
    };
    let secret_stops = stop_and_go(3 * S, 29 * S);
    let world = World { secret_stops, gc: healthy_gc(30), more: Some(more), ..World::default() };
    // CPUs that are busy with lower-priority work are no cause.
    let beside = World { hogs: vec![(0, 30 * S)], are_hogs_polite: true, ..world.clone() }.explain();
    assert_eq!(beside.serious(), ["pool-queue"], "{}", beside.explanation);
    let explained = world.explain();
    named(explained.top(), "pool-queue");
    assert!(explained.top().next.contains("concurrent_reads"), "{:?}", explained.top());
    assert!(explained.find("unexplained").is_none(), "{}", explained.explanation);
}

/// Every answer waits for the next of many short openings, so that half of the requests take 100 ms or more.
fn slow_alike() -> World {
    let way_stops = (0..70).map(|index| (index * 430 * MS, 425 * MS)).collect();
    World { way_stops, gc: healthy_gc(30), ..World::default() }
}

#[test]
fn requests_that_are_all_slow_are_never_called_healthy() {
    let explained = slow_alike().explain();
    assert_eq!(explained.serious(), ["slow-throughout"], "{}", explained.explanation);
    assert!(explained.top().title.starts_with("All requests are slow alike: p50 2"), "{:?}", explained.top());
    assert!(explained.find("healthy").is_none() && explained.find("unexplained").is_none());
}

#[test]
fn a_disk_that_is_slow_throughout_is_named_though_no_request_is_slower_than_the_others() {
    let more = |recorder: &Recorder| disk(recorder, "sda", 0..31 * S);
    let explained = World { more: Some(more), ..slow_alike() }.explain();
    assert_eq!(explained.serious(), ["disk-wait"], "{}", explained.explanation);
    assert!(explained.top().title.starts_with("Disk waits (sda) delayed all requests: half took 2"));
    // Where requests are fast, a busy disk is nobody's cause.
    let fast = World { more: Some(more), gc: healthy_gc(30), ..World::default() }.explain();
    assert!(fast.serious().is_empty(), "{}", fast.explanation);
}

/// A load's own recording has no threads of the node, but says which process is the node.
#[test]
fn the_node_that_a_load_is_driven_at_is_no_other_process() {
    let more = |recorder: &Recorder| {
        for second in 1..=30 {
            recorder.append(rows::ProcessSample {
                time_ns: T0 + second * S,
                interval_ns: S,
                node: "",
                pid: 4711,
                process: "java",
                role: "server",
                cpu_ns: S * 13 / 10,
            });
        }
    };
    let phases = vec![Phase { name: "1700/s", rate_per_s: 1700, seconds: 30, measured: true }];
    let (server_cpus_at_full_load, load_cpus_at_full_load) = (1.7, 0.35);
    let world =
        World { phases, server_cpus_at_full_load, load_cpus_at_full_load, more: Some(more), ..World::default() };
    let folder = tempfile::TempDir::new().unwrap();
    let [load, _] = world.record_apart(&folder.path().join("apart"));
    let engine = Engine::open(&[load]).unwrap();
    let explanation = explain(&engine, &Options::default()).unwrap();
    let busy = explanation.findings.iter().find(|finding| finding.finding == "cpu-saturation");
    let busy = busy.unwrap_or_else(|| panic!("{explanation}"));
    assert!(busy.detail.contains("server 1.3 CPUs"), "{explanation}");
    assert!(!explanation.to_string().contains("java"), "{explanation}");
}
