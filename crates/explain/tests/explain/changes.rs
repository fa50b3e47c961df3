//! Findings about when requests became slow, and the earlier time for comparison.

use crate::world::{MS, NODE, Phase, S, T0, World, check_wording, healthy_gc};
use helenus_explain::{Engine, Explanation, Options, contradictions, explain};
use helenus_recording::{Recorder, rows};

/// From 16 s on the server stops again and again; a compaction begins just before.
fn world() -> World {
    let secret_stops = (0..70).map(|index| (16 * S + index * 200 * MS, (40 + index * 37 % 50) * MS)).collect();
    let more = |recorder: &Recorder| {
        for (time, what) in
            [(3 * S, "flush of shop.orders began"), (15 * S + 400 * MS, "compaction of shop.orders began")]
        {
            recorder.append(rows::NodeEvent {
                time_ns: T0 + time,
                node: NODE,
                kind: "compaction",
                what,
                logger: "CompactionTask.java:166",
            });
        }
    };
    World { secret_stops, gc: healthy_gc(30), more: Some(more), ..World::default() }
}

fn explained(options: &Options) -> Explanation {
    let folder = tempfile::TempDir::new().unwrap();
    let engine = Engine::open(&[world().record(&folder.path().join("r"))]).unwrap();
    let explanation = explain(&engine, options).unwrap();
    assert!(contradictions(&explanation.findings).is_empty(), "{explanation}");
    check_wording(&explanation);
    explanation
}

#[test]
fn it_is_said_since_when_and_what_happened_then() {
    let explained = world().explain();
    let change = explained.find("change").unwrap();
    // T0 is 22:13:20 UTC.
    assert!(
        change.title.starts_with("The p99 rose from ") && change.title.ends_with("at 22:13:36 UTC"),
        "{}",
        change.title
    );
    assert!(change.detail.contains("22:13:35: compaction of shop.orders began"), "{}", change.detail);
    assert!(!change.detail.contains("flush"), "{}", change.detail);
    let healthy = World { gc: healthy_gc(30), ..World::default() }.explain();
    assert!(healthy.find("change").is_none(), "{}", healthy.explanation);
}

#[test]
fn a_time_is_judged_alone_and_against_a_good_one() {
    let at = |second: i64| T0 + second * S;
    let good = explained(&Options { window: Some((at(4), at(14))), ..Options::default() });
    assert_eq!(good.judged_requests, 5000);
    assert_eq!(good.findings[0].finding, "healthy", "{good}");
    let bad =
        explained(&Options { window: Some((at(18), at(28))), against: Some((at(4), at(14))), ..Options::default() });
    assert_eq!((bad.judged_requests, bad.slow_threshold_ms), (5000, good.slow_threshold_ms));
    assert!(bad.slow_requests > 1000, "{bad}");
    assert!(bad.answer.contains("in the good time") && bad.summary().contains("p99 of the good time"), "{bad}");
    let nothing = explained(&Options { window: Some((at(100), at(101))), ..Options::default() });
    assert_eq!((nothing.judged_requests, nothing.findings[0].finding), (0, "no-requests"), "{nothing}");
}

/// The process ends after 20 s; nobody sends requests after that.
fn ends() -> World {
    let more = |recorder: &Recorder| {
        // Two recorders may see it.
        for time_ns in [T0 + 20 * S, T0 + 20 * S + 300 * MS] {
            let what = "the node's process ended";
            recorder.append(rows::NodeEvent { time_ns, node: NODE, kind: "ended", what, ..rows::NodeEvent::default() });
        }
        recorder.append(rows::CpuSample { time_ns: T0 + 30 * S, interval_ns: S, ..rows::CpuSample::default() });
    };
    let phases = vec![Phase { name: "steady", rate_per_s: 500, seconds: 20, measured: true }];
    World { phases, gc: healthy_gc(20), more: Some(more), ..World::default() }
}

#[test]
fn a_node_whose_process_ends_is_the_first_finding() {
    let explained = ends().explain();
    let top = explained.top();
    assert_eq!(explained.serious(), ["node-ended"], "{}", explained.explanation);
    assert_eq!(top.title, format!("The process of {NODE} ended at 22:13:40 UTC"));
    assert!(top.detail.starts_with("No answer was recorded in the 10.0 s after it."), "{}", top.detail);
    // The answer begins with it, and does not call the requests before it fast.
    let answer = &explained.explanation.answer;
    assert!(answer.starts_with(&format!("The process of {NODE} ended at 22:13:40 UTC.")), "{answer}");
    assert!(!answer.contains("fast"), "{answer}");
    assert!(top.next.starts_with("read the end of its system.log"), "{}", top.next);
    // A full heap is the likely reason; its logs say whether it was.
    let more = |recorder: &Recorder| {
        ends().more.unwrap()(recorder);
        let (setting, value) = ("jvm.heap_max_bytes", "180000000");
        recorder.append(rows::Setting { time_ns: T0, node: NODE, setting, value, source: "jmx" });
    };
    let full = World { more: Some(more), ..ends() }.explain();
    let top = full.top();
    assert_eq!(top.finding, "node-ended", "{}", full.explanation);
    assert!(top.detail.contains("of the heap") && top.next.contains("Give the heap more memory"), "{top:?}");
    assert!(top.next.starts_with("read the end of its system.log"), "{}", top.next);
    assert!(full.explanation.answer.contains("Next: read the end of its system.log"), "{}", full.explanation.answer);
    let folder = tempfile::TempDir::new().unwrap();
    let engine = Engine::open(&[ends().record(&folder.path().join("r"))]).unwrap();
    let before = Options { window: Some((T0 + 2 * S, T0 + 12 * S)), ..Options::default() };
    assert_eq!(explain(&engine, &before).unwrap().findings[0].finding, "healthy");
}
