//! Recordings of nodes' logs alone, as `helenus import` makes them of a support bundle.

use crate::world::{MS, NODE, OTHERS, S, T0};
use helenus_explain::{Engine, Explanation, Options, Severity, contradictions, explain};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use tempfile::TempDir;

type Told = (i64, &'static str, &'static str, &'static str);

fn explained(events: &[Told], pauses: &[(i64, i64)]) -> Explanation {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, Manifest::new("bundle", "helenus import")).unwrap();
    for (at_s, node, kind, what) in events {
        recorder.append(rows::NodeEvent { time_ns: T0 + at_s * S, node, kind, what, logger: "A.java:1" });
    }
    for (at_s, ms) in pauses {
        recorder.append(rows::Pause {
            start_ns: T0 + at_s * S,
            duration_ns: ms * MS,
            node: NODE,
            kind: "gc",
            collector: Some("G1Full"),
            provider: "log",
            ..rows::Pause::default()
        });
    }
    recorder.close().unwrap();
    let explanation = explain(&Engine::open(&[Recording::open(&path).unwrap()]).unwrap(), &Options::default()).unwrap();
    assert_eq!(contradictions(&explanation.findings), Vec::<String>::new());
    explanation
}

#[test]
fn what_logs_show_is_found_without_requests() {
    let mut events: Vec<Told> = vec![
        (0, NODE, "compaction", "compaction of shop.orders began"),
        (100, NODE, "local-pause", "a local pause of 12.9 s"),
        (101, OTHERS[0], "peer", "a node is now DOWN"),
        (110, OTHERS[0], "peer", "a node is now UP"),
        (120, OTHERS[0], "warning", "a warning of Some.java:1"),
        (200, NODE, "tombstones", "a tombstone warning"),
        (210, NODE, "tombstones", "a query was aborted for its tombstones"),
    ];
    events.extend((0..7).map(|number| (300 + number, NODE, "dropped", "messages were dropped")));
    events.push((900, NODE, "dropped", "messages were dropped"));
    let explanation = explained(&events, &[(90, 12_500), (105, 5)]);
    let titles: Vec<(Severity, &str)> =
        explanation.findings.iter().map(|finding| (finding.severity, finding.title.as_str())).collect();
    let has = |severity: Severity, title: &str| titles.contains(&(severity, title));
    assert_eq!(
        titles[0],
        (Severity::Critical, "The log of 127.0.0.1 has 1 local pause of more than 5 s"),
        "{titles:#?}"
    );
    assert!(has(Severity::Warning, "The log of 127.0.0.1 has 8 reports of dropped messages"), "{titles:#?}");
    assert!(has(Severity::Warning, "The log of 127.0.0.1 has 1 query aborted for its tombstones"), "{titles:#?}");
    assert!(has(Severity::Information, "The log of 127.0.0.1 has 1 tombstone warning"), "{titles:#?}");
    assert!(has(Severity::Warning, "The log of 127.0.0.2 has 1 time that a peer was seen as down"), "{titles:#?}");
    let paused = "GC paused 127.0.0.1 for 1.4 % of the time, up to 12.5 s";
    assert!(has(Severity::Information, paused), "{titles:#?}");
    let stop = explanation.findings.iter().find(|finding| finding.finding == "long-stop").unwrap();
    assert!(stop.severity == Severity::Warning && stop.title.contains("a GC pause"), "{stop:?}");
    assert!(!stop.detail.contains("0 of 0"), "{stop:?}");
    let dropped = explanation.findings.iter().find(|finding| finding.title.contains("dropped")).unwrap();
    assert!(dropped.detail.contains("Most in a minute, 7, were after 2023-11-14T22:18:20"), "{}", dropped.detail);
    assert!(explanation.answer.starts_with("The log of 127.0.0.1 has 1 local pause"), "{}", explanation.answer);
    assert!(explanation.answer.contains("Next: "), "{}", explanation.answer);
}

#[test]
fn a_start_without_a_shutdown_before_is_the_first_finding() {
    const DAY: i64 = 86_400;
    let events = [
        (0, NODE, "started", "Cassandra started"),
        (DAY, NODE, "shutdown", "Cassandra shuts down"),
        (DAY + 60, NODE, "started", "Cassandra started"),
        (2 * DAY, NODE, "started", "Cassandra started"),
    ];
    let explanation = explained(&events, &[]);
    let first = &explanation.findings[0];
    assert_eq!(first.title, "Cassandra on 127.0.0.1 was started 1 time without a shutdown before");
    assert!(first.detail.contains("2023-11-16T22:13:20"), "{}", first.detail);
    // A collector that takes much of a minute.
    let pauses: Vec<(i64, i64)> = (0..20).map(|number| (1000 + 2 * number, 900)).collect();
    let busy = explained(&[events[0], events[1]], &pauses);
    let top = &busy.findings[0];
    assert!(
        top.severity == Severity::Warning && top.title == "GC paused 127.0.0.1 for 30 % of a minute, up to 900 ms",
        "{busy}"
    );
    assert!(top.detail.contains("Most in a minute, 30 %, was after 2023-11-14T22:30:00"), "{}", top.detail);
    let quiet = explained(&events[..3], &[]);
    assert!(quiet.findings.iter().all(|finding| finding.severity == Severity::Information), "{quiet}");
}
