//! Scheduling of real threads, compared with /proc and with the program's own measurements.
//!
//! The tests need root, a kernel with BTF, two CPUs and python3, and are skipped where one is missing.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod following;

use following::{Ended, Program, Row, Watch, without_capabilities};
use helenus_needs::{cpus, need, program};
use helenus_observe::{Options, SchedOptions, Switch, sched_available};
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// The threshold is so short that every off-CPU time gets a row.
const ALL: Duration = Duration::from_nanos(1);

fn all_that_is_needed() -> Result<(), String> {
    program("python3")?;
    cpus(2)?;
    sched_available().map_err(|missing| format!("scheduling cannot be followed: {missing}"))
}

fn watch(processes: &[(&str, u32)], off_cpu_above: Duration) -> Watch {
    let sched = SchedOptions { sched: Switch::On, off_cpu_above: Some(off_cpu_above), ..SchedOptions::default() };
    Watch::start(processes, &Options { sched, ..Options::default() }, "sched")
}

fn off_cpu(ended: &Ended, tid: u32) -> Vec<Row> {
    let mut rows = ended.rows("off_cpu");
    rows.retain(|row| row.number("tid") == i64::from(tid));
    rows.sort_by_key(|row| row.number("start_ns"));
    rows
}

/// Bound on switches that the kernel did not report: a few, or less than one in twenty. Nothing else is lost while the
/// buffer has room.
#[track_caller]
fn untold(ended: &Ended) -> i64 {
    let (_, lost, reasons) = ended.source("sched");
    assert!(reasons.iter().all(|text| text.contains("did not tell") && !text.contains(',')), "{reasons:?}");
    let all = ended.rows("off_cpu").len() as i64 + lost;
    assert!(lost <= 20.max(all / 20), "{lost} of {all} {reasons:?}");
    lost
}

/// How often something happened, give or take the switches that the kernel did not report.
#[track_caller]
fn assert_all_but(untold: i64, found: i64, truth: i64) {
    assert!((truth - untold..=truth).contains(&found), "{found} of {truth}, with {untold} untold");
}

fn sum(rows: &[Row], column: &str) -> i64 {
    rows.iter().map(|row| row.number(column)).sum()
}

#[test]
fn sleeps_are_times_off_the_cpu_of_that_length() {
    need!(all_that_is_needed());
    let mut program = Program::start("for i in range(21): time.sleep(0.05)");
    let watch = watch(&[("n", program.child.id())], Duration::from_millis(25));
    program.work();
    let ended = watch.end();
    let rows = off_cpu(&ended, program.child.id());
    let mut slept: Vec<i64> = rows
        .iter()
        .filter(|row| row.text("reason") == "blocked")
        .map(|row| row.number("duration_ns") - row.number("run_queue_ns"))
        .collect();
    slept.sort_unstable();
    assert_all_but(untold(&ended), slept.len() as i64, 21);
    // Half of the sleeps are enough, because other processes may run on this machine, and a thread without a CPU sleeps
    // less.
    assert!((40_000_000..100_000_000).contains(&slept[10]), "{slept:?}");
    for pair in rows.windows(2) {
        let end_ns = pair[0].number("start_ns") + pair[0].number("duration_ns");
        assert!(end_ns <= pair[1].number("start_ns"), "they follow each other: {pair:#?}");
    }
    assert!(rows.iter().all(|row| row.text("thread") == "python3" && !row.numbers.contains_key("stack")));
}

#[test]
fn shorter_times_than_asked_for_have_no_row() {
    need!(all_that_is_needed());
    let mut program = Program::start("for i in range(30): time.sleep(0.001 if i % 3 else 0.06)");
    let watch = watch(&[("n", program.child.id())], Duration::from_millis(20));
    program.work();
    let ended = watch.end();
    let rows = off_cpu(&ended, program.child.id());
    assert!(rows.iter().all(|row| row.number("duration_ns") >= 20_000_000), "{rows:#?}");
    let blocked = rows.iter().filter(|row| row.text("reason") == "blocked").count();
    assert!(blocked as i64 >= 10 - untold(&ended), "{rows:#?}");
}

/// The kernel's figures of a process's first thread: run-queue delay, times that it was scheduled onto a CPU, times that
/// it was preempted.
fn schedstat(pid: u32) -> (i64, i64, i64) {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/schedstat")).unwrap();
    let numbers: Vec<i64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let status = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/status")).unwrap();
    let preempted = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    (numbers[1], numbers[2], preempted.unwrap().trim().parse().unwrap())
}

#[test]
fn threads_that_share_a_cpu_wait_as_long_as_the_kernel_says() {
    need!(all_that_is_needed());
    let busy = "
until = time.monotonic() + 2
while time.monotonic() < until: pass
";
    let mut programs: Vec<Program> =
        (0..3).map(|_| Program::start_with("os.sched_setaffinity(0, {1})", busy)).collect();
    let pids: Vec<u32> = programs.iter().map(|program| program.child.id()).collect();
    let watch = watch(&[("a", pids[0]), ("b", pids[1])], ALL);
    let before = [schedstat(pids[0]), schedstat(pids[1])];
    programs.iter_mut().for_each(Program::begin);
    programs.iter_mut().for_each(|program| program.hear("done"));
    // Each thread waits when its output is read, or a moment later.
    std::thread::sleep(Duration::from_millis(100));
    let after = [schedstat(pids[0]), schedstat(pids[1])];
    let ended = watch.end();
    let untold = untold(&ended);
    let delays = ended.rows("run_queue");
    for (index, node) in ["a", "b"].into_iter().enumerate() {
        let truth_ns = after[index].0 - before[index].0;
        let truth_runs = after[index].1 - before[index].1;
        let truth_preempted = after[index].2 - before[index].2;
        let delays: Vec<Row> = delays.iter().filter(|row| row.text("node") == node).cloned().collect();
        let delay_ns = sum(&delays, "total_ns");
        assert!(truth_ns > 500_000_000, "three shared one CPU for two seconds: {truth_ns}");
        assert!((delay_ns - truth_ns).abs() < truth_ns / 10, "{delay_ns} of {truth_ns}");
        assert_all_but(untold, sum(&delays, "count"), truth_runs);
        for row in &delays {
            let (low, high, count) = (row.number("low_ns"), row.number("high_ns"), row.number("count"));
            let total = row.number("total_ns");
            assert!(low * count <= total && total < high * count, "{row:?}");
        }
        let rows = off_cpu(&ended, pids[index]);
        let preempted: Vec<Row> = rows.iter().filter(|row| row.text("reason") == "preempted").cloned().collect();
        assert_all_but(untold, preempted.len() as i64, truth_preempted);
        assert!(truth_preempted > 30, "{truth_preempted}");
        assert_eq!(sum(&preempted, "duration_ns"), sum(&preempted, "run_queue_ns"));
        assert!(preempted.iter().all(|row| (row.number("from_cpu"), row.number("to_cpu")) == (1, 1)));
        let after_preemption: Vec<Row> =
            delays.iter().filter(|row| row.text("after") == "preemption").cloned().collect();
        assert_eq!(sum(&after_preemption, "count"), preempted.len() as i64);
        assert_eq!(sum(&after_preemption, "total_ns"), sum(&preempted, "duration_ns"));
        assert!(rows.iter().all(|row| row.text("node") == node), "a row is of its own process");
    }
}

#[test]
fn who_took_the_cpu_and_who_woke_are_named() {
    need!(all_that_is_needed());
    // Two threads that share a CPU preempt each other; a thread that waits for the other's bytes is woken by it.
    let named = "
def name(text):
    # Before Python 3.14 a thread's name is not the kernel's.
    with open('/proc/thread-self/comm', 'w') as file: file.write(text)
os.sched_setaffinity(0, {1})
";
    let work = "
into, out = os.pipe(), os.pipe()
def giver():
    name('giver-1')
    for i in range(50):
        time.sleep(0.002)
        os.write(into[1], b'1')
        os.read(out[0], 1)
def taker():
    name('taker-1')
    for i in range(50):
        os.read(into[0], 1)
        os.write(out[1], b'1')
def busy():
    name('busy-1')
    until = time.thread_time() + 0.3
    while time.thread_time() < until: pass
threads = [threading.Thread(target=giver), threading.Thread(target=taker)]
for thread in threads: thread.start()
for thread in threads: thread.join()
thread = threading.Thread(target=busy)
thread.start()
thread.join()
";
    let busy = "
name('rival-1')
while True: pass
";
    let mut program = Program::start_with(named, work);
    let mut rival = Program::start_with(named, busy);
    let pid = program.child.id();
    let watch = watch(&[("n", pid)], ALL);
    rival.begin();
    program.work();
    let ended = watch.end();
    let (rows, untold) = (ended.rows("off_cpu"), untold(&ended));
    let of = |thread: &str, reason: &str| -> Vec<&Row> {
        rows.iter().filter(|row| row.text("thread") == thread && row.text("reason") == reason).collect()
    };
    let by = |rows: &[&Row], thread: &str| rows.iter().filter(|row| row.text("by_thread") == thread).count() as i64;

    // Between two bytes only the giver can wake the taker, except for the lock that Python's threads share.
    let woken = of("taker-1", "blocked");
    assert!(by(&woken, "giver-1") >= 25 - untold, "{woken:#?}");
    let given = woken.iter().find(|row| row.text("by_thread") == "giver-1").unwrap();
    assert_eq!(given.text("by_process"), "python3");
    let slept = of("giver-1", "blocked");
    assert!(slept.iter().any(|row| row.number("tid") == given.number("by_tid")));
    // A sleep is ended by the timer, which belongs to no thread. On a busy machine some sleeps are over before they begin.
    assert!(by(&slept, "interrupt") >= 25 - untold, "{slept:#?}");
    for row in slept.iter().filter(|row| row.text("by_thread") == "interrupt") {
        assert!(row.text("by_process").is_empty() && !row.numbers.contains_key("by_tid"), "{row:?}");
    }

    // Other processes of this machine preempt the thread as well, and are named.
    let preempted = of("busy-1", "preempted");
    assert!(by(&preempted, "rival-1") > 0, "{preempted:#?}");
    assert!(preempted.iter().all(|row| row.number("by_tid") > 0 && !row.text("by_thread").is_empty()));
    for row in preempted.iter().filter(|row| row.text("by_thread") == "rival-1") {
        assert_eq!((row.number("by_tid"), row.text("by_process")), (i64::from(rival.child.id()), "rival-1"));
    }
}

#[test]
fn moves_are_counted_by_both_cpus() {
    need!(all_that_is_needed());
    let mut program = Program::start_with(
        "os.sched_setaffinity(0, {0})",
        "
for i in range(40):
    os.sched_setaffinity(0, {1})
    os.sched_setaffinity(0, {0})
",
    );
    let watch = watch(&[("n", program.child.id())], ALL);
    program.work();
    let ended = watch.end();
    let mut moves = BTreeMap::new();
    for row in ended.rows("migrations") {
        assert_eq!(row.text("thread_group"), "python");
        *moves.entry((row.number("from_cpu"), row.number("to_cpu"))).or_insert(0) += row.number("count");
    }
    assert_eq!(moves, BTreeMap::from([((0, 1), 40), ((1, 0), 40)]));
    let rows = off_cpu(&ended, program.child.id());
    for between in [(0, 1), (1, 0)] {
        let crossed = rows.iter().filter(|row| (row.number("from_cpu"), row.number("to_cpu")) == between).count();
        assert_all_but(untold(&ended), crossed as i64, 40);
    }
}

#[test]
fn reasons_are_those_that_the_program_had() {
    need!(all_that_is_needed(), helenus_needs::disk(&std::env::temp_dir()));
    let mut program = Program::start(
        "
import mmap, resource
fd = os.open(folder + '/data', os.O_RDWR | os.O_CREAT | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
os.pwritev(fd, [page], 0)
# A disk that answers before the thread has gone to sleep makes it wait for nothing.
slept = lambda: resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
enough = slept() + 20
while slept() < enough: os.preadv(fd, [page], 0)
for i in range(5): os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)
time.sleep(1)
",
    );
    let pid = program.child.id();
    let watch = watch(&[("n", pid)], ALL);
    program.begin();
    let state = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat[stat.rfind(')').unwrap() + 2..].chars().next().unwrap()
    };
    std::thread::sleep(Duration::from_millis(500));
    let signal = |signal| {
        // SAFETY: kill takes no pointers, and the child has not been waited for.
        assert_eq!(unsafe { libc::kill(i32::try_from(pid).unwrap(), signal) }, 0);
    };
    signal(libc::SIGSTOP);
    while state() != 'T' {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(150));
    signal(libc::SIGCONT);
    program.hear("done");
    let ended = watch.end();
    let rows = off_cpu(&ended, pid);
    let of = |reason: &str| rows.iter().filter(|row| row.text("reason") == reason).collect::<Vec<_>>();
    assert!(of("disk").len() as i64 >= 20 - untold(&ended), "{:#?}", of("disk"));
    // A spawned process blocks its parent until it executes its own program.
    assert!(of("uninterruptible").len() as i64 >= 5 - untold(&ended), "{rows:#?}");
    let stopped = of("stopped");
    assert_eq!(stopped.len(), 1, "{stopped:#?}");
    assert!(stopped[0].number("duration_ns") >= 150_000_000, "{stopped:#?}");
}

#[test]
fn stacks_say_where_in_the_kernel_a_thread_slept() {
    need!(all_that_is_needed());
    let mut program = Program::start("for i in range(10): time.sleep(0.04)");
    let pid = program.child.id();
    let sched = SchedOptions { sched: Switch::On, off_cpu_stacks: true, ..SchedOptions::default() };
    let watch = Watch::start(&[("n", pid)], &Options { sched, ..Options::default() }, "sched");
    program.work();
    let ended = watch.end();
    let stacks: BTreeMap<i64, Row> = ended.rows("stacks").into_iter().map(|row| (row.number("stack"), row)).collect();
    let rows = off_cpu(&ended, pid);
    let slept: Vec<&Row> = rows
        .iter()
        .filter(|row| row.text("reason") == "blocked" && row.number("duration_ns") >= 20_000_000)
        .filter(|row| stacks[&row.number("stack")].text("frames").contains("nanosleep"))
        .collect();
    assert_all_but(untold(&ended), slept.len() as i64, 10);
    for stack in stacks.values() {
        let frames: Vec<&str> = stack.text("frames").split(';').collect();
        assert_eq!(frames.last(), Some(&"__schedule"), "the innermost is the switch itself: {frames:?}");
        assert_eq!(stack.text("kinds"), "k".repeat(frames.len()));
    }
}

#[test]
fn recordings_that_follow_each_other_have_all_times_with_their_stacks() {
    need!(all_that_is_needed());
    let mut program = Program::start("for i in range(30): time.sleep(0.04)");
    let pid = program.child.id();
    let sched = SchedOptions { sched: Switch::On, off_cpu_stacks: true, ..SchedOptions::default() };
    let mut watch = Watch::start(&[("n", pid)], &Options { sched, ..Options::default() }, "sched");
    program.begin();
    std::thread::sleep(Duration::from_millis(500));
    let first = watch.turn();
    program.hear("done");
    let (mut slept, mut not_told) = (0, 0);
    for ended in [first, watch.end()] {
        let stacks: BTreeMap<i64, Row> =
            ended.rows("stacks").into_iter().map(|row| (row.number("stack"), row)).collect();
        let long = |row: &Row| row.text("reason") == "blocked" && row.number("duration_ns") >= 20_000_000;
        let rows: Vec<Row> = off_cpu(&ended, pid).into_iter().filter(long).collect();
        slept += rows.iter().filter(|row| stacks[&row.number("stack")].text("frames").contains("nanosleep")).count();
        not_told += untold(&ended);
    }
    assert_all_but(not_told, slept as i64, 30);
}

#[test]
fn what_finds_no_room_is_counted() {
    need!(all_that_is_needed());
    let mut program = Program::start("for i in range(10000): time.sleep(0.00001)");
    let pid = program.child.id();
    let tiny =
        SchedOptions { sched: Switch::On, off_cpu_above: Some(ALL), buffer_bytes: 4096, ..SchedOptions::default() };
    let tiny = Watch::start(&[("n", pid)], &Options { sched: tiny, ..Options::default() }, "sched");
    let full = watch(&[("n", pid)], ALL);
    program.work();
    std::thread::sleep(Duration::from_millis(50));
    let (full, tiny) = (full.end(), tiny.end());
    // A timer that expires at once does not block the thread. Both sides count the same switches.
    let untold = untold(&full);
    let truth = full.rows("off_cpu").len() as i64 + untold;
    assert!(truth >= 9_000, "{truth}");
    let (captured, lost, reasons) = tiny.source("sched");
    let rows = tiny.rows("off_cpu").len() as i64;
    assert!(lost > 1000, "{lost} lost of {truth}");
    assert!((rows + lost - truth).abs() <= 2 * untold, "{rows} and {lost} of {truth}");
    let added_up = sum(&tiny.rows("run_queue"), "count") + sum(&tiny.rows("migrations"), "count");
    assert_eq!(captured, added_up, "as many as were switched, so that what is lost can be compared with it");
    assert!(reasons.iter().any(|text| text.contains("ring buffer")), "{reasons:?}");
    // Sums don't use the ring buffer.
    let delays = |ended: &Ended| sum(&ended.rows("run_queue"), "count");
    assert!((delays(&tiny) - delays(&full)).abs() <= 2 * untold);
}

#[test]
fn threads_come_and_go_and_the_end_of_the_process_ends_it_well() {
    need!(all_that_is_needed());
    let mut program = Program::start(
        "
def brief(i):
    # Before Python 3.14 a thread's name is not the kernel's.
    with open('/proc/thread-self/comm', 'w') as file: file.write('brief-%d' % i)
    time.sleep(0.05)
for i in range(20):
    thread = threading.Thread(target=brief, args=(i,))
    thread.start()
    thread.join()
",
    );
    let watch = watch(&[("n", program.child.id())], Duration::from_millis(30));
    program.work();
    program.child.kill().unwrap();
    program.child.wait().unwrap();
    let ending = Instant::now();
    let ended = watch.end();
    // Stopping does not wait for records that never come.
    assert!(ending.elapsed() < Duration::from_secs(20), "{:?}", ending.elapsed());
    let rows = ended.rows("off_cpu");
    let brief = rows.iter().filter(|row| row.text("thread_group") == "brief" && row.text("reason") == "blocked");
    let names: BTreeMap<i64, &str> = brief.map(|row| (row.number("tid"), row.text("thread"))).collect();
    assert_all_but(untold(&ended), names.len() as i64, 20);
    assert!(names.values().any(|name| *name == "brief-7" || *name == "brief-19"), "{names:?}");
    // The delay before each thread first ran is recorded, too, under the name that the thread had in the end.
    let delays: Vec<Row> =
        ended.rows("run_queue").into_iter().filter(|row| row.text("thread_group") == "brief").collect();
    assert!(sum(&delays, "count") >= 40 - untold(&ended), "{delays:#?}");
}

/// The programs have a place for each thread id modulo this; see `NEAR_THREADS` in `bpf/sched.bpf.c`.
const PLACES: i64 = 8192;

#[test]
fn threads_whose_numbers_have_the_same_place_are_told_apart() {
    need!(all_that_is_needed());
    let both = format!(
        "
import threading
mine, met = threading.get_native_id(), []
def sleep():
    for i in range(20): time.sleep(0.03)
def maybe():
    if (threading.get_native_id() - mine) % {PLACES} == 0:
        met.append(True)
        sleep()
while not met:
    thread = threading.Thread(target=maybe)
    thread.start()
    thread.join()
sleep()
"
    );
    let mut program = Program::start(&both);
    let pid = program.child.id();
    let watch = watch(&[("n", pid)], Duration::from_millis(10));
    program.work();
    let ended = watch.end();
    let slept = |of: &dyn Fn(i64) -> bool| {
        let rows = ended.rows("off_cpu");
        rows.iter().filter(|row| of(row.number("tid")) && row.text("reason") == "blocked").count() as i64
    };
    // When thousands of threads end at once, a busy kernel leaves out many switches, in bursts.
    let pid = i64::from(pid);
    for slept in [slept(&|tid| tid == pid), slept(&|tid| tid != pid && (tid - pid) % PLACES == 0)] {
        assert!(slept > 0, "{slept} of 20");
    }
}

#[test]
fn without_the_right_to_the_recording_goes_on_and_says_how_to_get_it() {
    need!(all_that_is_needed());
    let program = Program::start_with("os.mkdir(folder + '/made')", "pass");
    assert!(std::path::Path::new(&program.path("made")).exists());
    let sched = SchedOptions { sched: Switch::On, ..SchedOptions::default() };
    let (reason, tables) = without_capabilities(program.child.id(), Options { sched, ..Options::default() }, "sched");
    assert!(tables.contains(&"threads".to_string()) || tables.contains(&"cpus".to_string()), "{tables:?}");
    assert!(!tables.contains(&"run_queue".to_string()), "{tables:?}");
    let reason = reason.expect("it is said");
    assert!(reason.contains("needs root") && reason.contains("sudo") && reason.contains("table threads"), "{reason}");
}

/// Counts by kind, interrupt and column.
fn interrupts() -> BTreeMap<(String, String, usize), i64> {
    let mut counts = BTreeMap::new();
    for (kind, file) in [("hard", "/proc/interrupts"), ("soft", "/proc/softirqs")] {
        let text = std::fs::read_to_string(file).unwrap();
        let cpus = text.lines().next().unwrap().split_whitespace().count();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            for cpu in 0..cpus.min(words.len() - 1) {
                if let (Ok(count), true) = (words[cpu + 1].parse(), words.len() > cpus) {
                    counts.insert((kind.to_string(), words[0].trim_end_matches(':').to_string(), cpu), count);
                }
            }
        }
    }
    counts
}

#[test]
fn interrupts_are_those_of_proc() {
    const DATAGRAMS: i64 = 3000;
    need!(program("python3"));
    let program = Program::start("pass");
    let first = interrupts();
    let watch = Watch::start(&[("n", program.child.id())], &Options::default(), "interrupts");
    let second = interrupts();
    let (from, to) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let mut buffer = [0; 16];
    for _ in 0..DATAGRAMS {
        from.send_to(b"one", to.local_addr().unwrap()).unwrap();
        to.recv(&mut buffer).unwrap();
    }
    std::thread::sleep(Duration::from_millis(1500));
    let third = interrupts();
    let ended = watch.end();
    let fourth = interrupts();
    let mut recorded: BTreeMap<(String, String, usize), i64> = BTreeMap::new();
    let rows = ended.rows("interrupts");
    for row in &rows {
        let cpu = usize::try_from(row.number("cpu")).unwrap();
        let key = (row.text("kind").to_string(), row.text("interrupt").to_string(), cpu);
        *recorded.entry(key).or_default() += row.number("count");
    }
    assert!(recorded.keys().all(|key| first.contains_key(key)), "{recorded:?}");
    for key in first.keys() {
        let count = recorded.get(key).copied().unwrap_or(0);
        let (least, most) = (third[key] - second[key], fourth[key] - first[key]);
        assert!((least..=most).contains(&count), "{key:?}: {count}, not from {least} to {most}");
    }
    let received: i64 = recorded.iter().filter(|((_, name, _), _)| name == "NET_RX").map(|(_, count)| count).sum();
    assert!(received >= DATAGRAMS, "{received}");
    assert!(rows.iter().any(|row| row.text("interrupt") == "LOC" && row.text("device") == "Local timer interrupts"));
}
