//! Compares CPU by process and the external limits of a process with the kernel's own figures.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code, reason = "only what /proc has is looked at here")]
mod following;

use following::{Program, Watch};
use helenus_needs::{need, program, root};
use helenus_observe::Options;
use std::path::PathBuf;

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

/// A cgroup that may use 20 ms of a CPU in 100 ms, of whichever version the machine has.
struct Quota(PathBuf);

impl Quota {
    fn new() -> Result<Quota, String> {
        let first = PathBuf::from("/sys/fs/cgroup/cpu");
        let limits: &[(&str, &str)] = match first.is_dir() {
            true => &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "20000")],
            false => &[("cpu.max", "20000 100000")],
        };
        let parent = if first.is_dir() { first } else { PathBuf::from("/sys/fs/cgroup") };
        let quota = Quota(parent.join(format!("helenus-quota-{}", std::process::id())));
        std::fs::create_dir(&quota.0).map_err(|error| format!("no cgroup can be made here: {error}"))?;
        for (file, text) in limits {
            std::fs::write(quota.0.join(file), text).map_err(|error| format!("a cgroup has no {file}: {error}"))?;
        }
        Ok(quota)
    }

    fn takes(&self, pid: u32) -> Result<(), String> {
        std::fs::write(self.0.join("cgroup.procs"), pid.to_string()).map_err(|error| format!("no move: {error}"))
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // A cgroup can't be removed while a process is in it.
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn the_quota_of_a_cgroup_that_a_node_is_moved_to_is_recorded() {
    need!(root(), program("python3"));
    let quota = match Quota::new() {
        Ok(quota) => quota,
        Err(missing) => return helenus_needs::skipped(&missing),
    };
    let mut node = Program::start(WORK);
    let watch = Watch::start(&[(NODE, node.child.id())], &Options::default(), "pressure");
    if let Err(missing) = quota.takes(node.child.id()) {
        return helenus_needs::skipped(&missing);
    }
    node.work();
    let ended = watch.end();
    drop(node);
    drop(quota);
    let rows = ended.rows("node_pressure");
    let sum = |column: &str| rows.iter().map(|row| row.number(column)).sum::<i64>();
    assert!(sum("throttled_ns") > 0 && sum("throttled_periods") > 0 && sum("periods") > 0, "{rows:#?}");
}
