//! Compares CPU by process and the external limits of a process with the kernel's own figures.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code, reason = "only what /proc has is looked at here")]
mod following;

use following::{Program, Watch};
use helenus_needs::{need, program};
use helenus_observe::Options;

const NODE: &str = "127.0.62.1";

const WORK: &str = "
until = time.process_time() + 0.5
while time.process_time() < until: pass
";

/// CPU time of a process in ns, by /proc/PID/stat.
fn used(pid: u32) -> i64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let ticks: i64 = after_name.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<i64>().unwrap()).sum();
    ticks * 10_000_000
}

#[test]
fn processes_and_what_held_up_a_node_are_recorded() {
    need!(program("python3"));
    let (mut node, mut other) = (Program::start(WORK), Program::start(WORK));
    let watch = Watch::start(&[(NODE, node.child.id())], &Options::default(), "pressure");
    other.begin();
    node.work();
    other.hear("done");
    let truth = used(other.child.id());
    let ended = watch.end();
    let processes = ended.rows("processes");
    let cpu_of = |pid: u32, role: &str| {
        let of = processes.iter().filter(|row| row.number("pid") == i64::from(pid) && row.text("role") == role);
        of.map(|row| row.number("cpu_ns")).sum::<i64>()
    };
    assert!(cpu_of(node.child.id(), "server") >= 400_000_000, "{processes:#?}");
    let recorded = cpu_of(other.child.id(), "other");
    assert!(recorded >= 400_000_000 && recorded <= truth, "{recorded} of {truth}: {processes:#?}");
    assert!(processes.iter().all(|row| row.text("node") == NODE));
    let held_up = ended.rows("node_pressure");
    assert!(held_up.iter().all(|row| row.text("node") == NODE && row.number("interval_ns") > 0));
    assert!(held_up.iter().any(|row| row.numbers.contains_key("major_faults")), "{held_up:#?}");
    let reports = ended.rows("sources");
    assert!(reports.iter().any(|row| row.text("source") == "pressure" && row.number("captured") > 0));
}
