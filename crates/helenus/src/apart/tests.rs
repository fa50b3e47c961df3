//! The child is the program of these tests: one of them answers where it is asked to.

use super::child::answer;
use super::{Limits, Task, ask};
use crate::serve::PageQuestion;
use helenus_recording::{Manifest, Recorder, rows};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// Holds the limits of a child.
pub(super) const LIMITS: &str = "HELENUS_TEST_LIMITS";

#[test]
fn answers() {
    if let Ok(limits) = std::env::var(LIMITS) {
        answer(&serde_json::from_str(&limits).unwrap()).unwrap();
    }
}

fn record(path: &Path) {
    let recorder = Recorder::create(path, Manifest::new("one row", "test")).unwrap();
    recorder.append(rows::Mark { kind: "phase", name: "steady", ..rows::Mark::default() });
    recorder.close().unwrap();
}

fn asked(query: &str, limits: &Limits) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    record(&path);
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    let task = Task::Page(PageQuestion::sql(&format!("recording=r&q={query}"), "r", &path));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(ask(&task, limits)).map(|reply| reply.body).map_err(|error| format!("{error:#}"))
}

#[test]
fn each_limit_is_told_in_plain_words() {
    let usual = Limits::beside_a_node(10);
    assert!(asked("select count(*) from marks", &usual).unwrap().contains("[[1]]"));
    let endless = format!("select {}1{}", "CAST(".repeat(60), " AS bigint)".repeat(60));
    let cpu = asked(&endless, &Limits { cpu: Some(Duration::from_secs(1)), ..usual }).unwrap_err();
    assert!(cpu.contains("more than 1 s of CPU time"), "{cpu}");
    let within = asked(&endless, &Limits { within: Some(Duration::from_secs(1)), ..usual }).unwrap_err();
    assert!(within.contains("longer than 1 s"), "{within}");
    let memory = asked("select repeat('x', 1000000000)", &Limits { memory_bytes: 400 << 20, ..usual }).unwrap_err();
    assert!(memory.contains("more memory than the 400.0 MiB"), "{memory}");
    // A limit that leaves too little for the child to begin.
    let none = asked("select 1", &Limits { memory_bytes: 16 << 20, ..usual }).unwrap_err();
    assert!(none.contains("memory"), "{none}");
    let orphan = asked("select 1", &Limits { parent: 1, ..usual }).unwrap_err();
    assert!(orphan.contains("broke off"), "{orphan}");
}

#[test]
fn what_a_question_spills_is_bounded_and_private() {
    let many = "select * from range(0, 20000000) a order by a.value * 7 % 1000003";
    let limits = Limits { memory_bytes: 400 << 20, spill_bytes: 4 << 20, ..Limits::beside_a_node(10) };
    let error = asked(many, &limits).unwrap_err();
    assert!(error.contains("more disk space"), "{error}");
    let folder = crate::scratch::of_questions().unwrap().path();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}
