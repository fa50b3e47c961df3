//! Compares the counts of real threads with /proc.
//!
//! The tests need root and python3, and are skipped where one is missing. On a machine without a PMU they test that
//! cycles and cache misses are reported as not counted.

#![allow(clippy::unwrap_used, clippy::expect_used)]

// Other tests use more of this module.
#[allow(dead_code)]
mod following;

use following::{Program, Row, Watch, without_capabilities};
use helenus_needs::{need, program};
use helenus_observe::{Options, SamplingOptions, Switch, countable};

/// Counts in /proc of the first thread of a process.
#[derive(Debug, Clone, Copy)]
struct Proc {
    cpu_ns: i64,
    page_faults: i64,
    switches: i64,
    migrations: i64,
}

impl Proc {
    fn read(pid: u32) -> Proc {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/{file}")).unwrap();
        let first = |text: &str| text.split_whitespace().next().unwrap().parse::<i64>().unwrap();
        let sched = read("sched");
        let of = |name: &str| {
            let line = sched.lines().find(|line| line.starts_with(name)).unwrap();
            line.rsplit(':').next().unwrap().trim().parse::<i64>().unwrap()
        };
        let stat = read("stat");
        let after_name: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split_whitespace().collect();
        // minflt and majflt.
        let faults = |field: usize| after_name[field].parse::<i64>().unwrap();
        Proc {
            cpu_ns: first(&read("schedstat")),
            page_faults: faults(7) + faults(9),
            switches: of("nr_switches"),
            migrations: of("se.nr_migrations"),
        }
    }
}

fn options() -> Options {
    Options { sampling: SamplingOptions { counters: Switch::On, ..SamplingOptions::default() }, ..Options::default() }
}

fn sum(rows: &[Row], column: &str) -> i64 {
    rows.iter().map(|row| row.number(column)).sum()
}

fn all_that_is_needed() -> Result<(), String> {
    program("python3")?;
    countable().map_err(|missing| format!("nothing can be counted of threads: {missing}"))?;
    helenus_needs::root()
}

/// The provider that the source reports on this machine.
fn provider() -> &'static str {
    if countable().expect("as it is needed").has_pmu() { "perf" } else { "perf-software" }
}

/// Sleeps, moves between two CPUs, touches new memory and computes.
const WORK: &str = "
for i in range(40):
    os.sched_setaffinity(0, {i % 2})
    time.sleep(0.005)
memory = bytearray(40 << 20)
until = time.monotonic() + 0.4
while time.monotonic() < until: pass
time.sleep(0.1)
";

#[test]
fn what_is_counted_is_what_proc_says() {
    need!(all_that_is_needed());
    let mut program = Program::start(WORK);
    let pid = program.child.id();
    let (watch, reason) = Watch::start_and_hear(&[("n", pid)], &options(), "counters");
    let before = Proc::read(pid);
    program.work();
    let after = Proc::read(pid);
    let ended = watch.end();
    let rows = ended.rows("counters");
    assert!(rows.iter().all(|row| row.text("thread_group") == "python" && row.number("interval_ns") > 0), "{rows:#?}");
    for (column, truth) in [
        ("page_faults", after.page_faults - before.page_faults),
        ("context_switches", after.switches - before.switches),
        ("migrations", after.migrations - before.migrations),
    ] {
        let counted = sum(&rows, column);
        assert!(truth >= 30, "{column}: {truth} is too few to tell");
        // The count may include a moment after the program's own reading, before it waits.
        assert!((truth..=truth + 10 + truth / 10).contains(&counted), "{column}: {counted} and not {truth}");
    }
    let (cpu_ns, truth_ns) = (sum(&rows, "cpu_ns"), after.cpu_ns - before.cpu_ns);
    assert!((cpu_ns - truth_ns).abs() <= truth_ns / 10, "{cpu_ns} and not {truth_ns}");

    let (captured, lost, reasons) = ended.source_by(provider(), "counters");
    assert_eq!((captured, lost), (rows.len() as i64, 0), "{reasons:?}");
    if provider() == "perf" {
        let (cycles, instructions) = (sum(&rows, "cycles"), sum(&rows, "instructions"));
        assert!(cycles > truth_ns / 20 && instructions > truth_ns / 20, "{cycles} {instructions} in {truth_ns} ns");
        return;
    }
    // The missing counts must be reported.
    let wanted = "cycles, instructions and cache misses are not measured: this machine has no PMU";
    let reason = reason.unwrap();
    assert!(reason.starts_with(wanted) && reason.contains("; "), "{reason}");
    assert!(reasons.iter().all(|reason| reason.contains(wanted)) && !reasons.is_empty(), "{reasons:?}");
    for column in ["cycles", "instructions", "cache_references", "cache_misses", "enabled_ns", "running_ns"] {
        assert!(rows.iter().all(|row| !row.numbers.contains_key(column)), "{column} was not measured");
    }
}

#[test]
fn threads_that_come_and_go_are_counted_with_their_names() {
    need!(all_that_is_needed());
    let work = "
def busy(name, seconds):
    open('/proc/thread-self/comm', 'w').write(name)
    # Names are looked at once a second, or later on a busy machine.
    time.sleep(3)
    until = time.thread_time() + seconds
    while time.thread_time() < until: pass
for name in ('First-1', 'Second-1'):
    thread = threading.Thread(target=busy, args=(name, 0.3))
    thread.start()
    thread.join()
";
    let mut program = Program::start(work);
    let (watch, _) = Watch::start_and_hear(&[("n", program.child.id())], &options(), "counters");
    program.work();
    let rows = watch.end().rows("counters");
    for group in ["First", "Second"] {
        let of: Vec<Row> = rows.iter().filter(|row| row.text("thread_group") == group).cloned().collect();
        let cpu_ns = sum(&of, "cpu_ns");
        assert!((290_000_000..400_000_000).contains(&cpu_ns), "{group}: {cpu_ns} {rows:#?}");
    }
}

#[test]
fn cpu_time_of_threads_that_nobody_saw_is_said() {
    need!(all_that_is_needed());
    let work = "
def busy():
    until = time.thread_time() + 0.02
    while time.thread_time() < until: pass
for i in range(40):
    thread = threading.Thread(target=busy)
    thread.start()
    thread.join()
";
    let mut program = Program::start(work);
    let (watch, _) = Watch::start_and_hear(&[("n", program.child.id())], &options(), "counters");
    program.work();
    let (_, _, reasons) = watch.end().source_by(provider(), "counters");
    assert!(reasons.iter().any(|reason| reason.contains("of threads before they were seen")), "{reasons:?}");
}

#[test]
fn who_may_count_nothing_is_told_and_the_rest_goes_on() {
    need!(all_that_is_needed());
    let mut program = Program::start("time.sleep(0.3)");
    let (reason, tables) = without_capabilities(program.child.id(), options(), "counters");
    program.work();
    // The program has capabilities that the recorder gave up.
    let reason = reason.unwrap_or_default();
    assert!(reason.starts_with("nothing is counted of threads: ") && reason.contains("run it as root"), "{reason}");
    assert!(tables.contains(&"cpus".to_string()) && !tables.contains(&"counters".to_string()), "{tables:?}");
}
