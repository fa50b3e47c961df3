//! System calls of real processes, compared with strace, /proc/PID/io and the program itself.
//!
//! The tests need root, a kernel with BTF, python3 and strace, and are skipped where one is missing.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod following;

use following::{Ended, Program, Row, Watch, script, without_capabilities};
use helenus_needs::{need, program};
use helenus_observe::{ChosenCalls, Options, SyscallsMode, SyscallsOptions, syscalls_available};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A mix of system calls, the same in every run.
const MIXED: &str = "
for i in range(50):
    fd = os.open(folder + '/data', os.O_RDWR | os.O_CREAT)
    os.write(fd, b'x' * 4096)
    os.pread(fd, 1000, 7)
    os.pwrite(fd, b'y' * 10, 100)
    os.lseek(fd, 3, 0)
    os.read(fd, 300)
    os.close(fd)
for i in range(7):
    try: os.open(folder + '/missing', os.O_RDONLY)
    except FileNotFoundError: pass
r, w = os.pipe()
os.set_blocking(r, False)
for i in range(5):
    try: os.read(r, 10)
    except BlockingIOError: pass
for i in range(20):
    os.write(w, b'p' * 100)
    os.read(r, 100)
def other():
    fd = os.open('/dev/zero', os.O_RDONLY)
    for i in range(30): os.read(fd, 10000)
    os.close(fd)
thread = threading.Thread(target=other)
thread.start()
thread.join()
";

/// Calls whose number depends on the interpreter's memory and on the order in which its threads run.
const NOT_THE_SAME: &[&str] = &[
    "futex",
    "mmap",
    "munmap",
    "mprotect",
    "brk",
    "madvise",
    "clone",
    "clone3",
    "rseq",
    "set_robust_list",
    "sched_yield",
    "gettid",
    "rt_sigprocmask",
    "rt_sigaction",
    "exit",
];

fn all_that_is_needed() -> Result<(), String> {
    program("python3")?;
    syscalls_available().map_err(|missing| format!("system calls cannot be followed: {missing}"))
}

fn watch(pid: u32, syscalls: SyscallsOptions) -> Watch {
    Watch::start(&[("n", pid)], &Options { syscalls, ..Options::default() }, "syscalls")
}

fn full(pid: u32) -> Watch {
    watch(pid, SyscallsOptions { syscalls: SyscallsMode::Full, ..SyscallsOptions::default() })
}

fn all_calls(ended: &Ended) -> Vec<Row> {
    let mut calls = ended.rows("syscalls");
    calls.sort_by_key(|call| call.number("start_ns"));
    calls
}

/// The calls made by the work itself.
fn work(ended: &Ended) -> Vec<Row> {
    let calls = all_calls(ended);
    let bounds: Vec<usize> = (0..calls.len()).filter(|index| calls[*index].text("call") == "getpriority").collect();
    assert_eq!(bounds.len(), 2, "the work has two bounds");
    calls[bounds[0] + 1..bounds[1]].to_vec()
}

fn counted<'a>(calls: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for call in calls.into_iter().filter(|call| !NOT_THE_SAME.contains(call)) {
        *counts.entry(call.to_string()).or_default() += 1;
    }
    counts
}

/// The system calls of the work as strace counts them, in a separate run.
fn strace(work: &str) -> BTreeMap<String, usize> {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let mut child = Command::new("strace")
        .args(["-f", "-qq", "-e", "signal=none", "-o"])
        .arg(&trace)
        .args(["python3", "-c", &script("", work)])
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("these tests need strace");
    child.stdin.take().unwrap().write_all(b"12").unwrap();
    assert!(child.wait().unwrap().success());
    let text = std::fs::read_to_string(&trace).unwrap();
    let calls: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(char::is_whitespace)?.1.trim_start().split_once('('))
        .map(|(call, _)| call)
        .filter(|call| call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        .collect();
    let bounds: Vec<usize> = (0..calls.len()).filter(|index| calls[*index] == "getpriority").collect();
    assert_eq!(bounds.len(), 2, "{text}");
    counted(calls[bounds[0] + 1..bounds[1]].iter().copied())
}

#[test]
fn counts_are_those_of_strace() {
    need!(all_that_is_needed(), program("strace"));
    let truth = strace(MIXED);
    let mut program = Program::start(MIXED);
    let watch = full(program.child.id());
    program.work();
    let ended = watch.end();
    let calls = work(&ended);
    assert_eq!(counted(calls.iter().map(|call| call.text("call"))), truth);
    assert!(truth["read"] >= 50 + 25 + 30 && truth["openat"] >= 58, "{truth:?}");
    let failed = |name: &str, error: &str| {
        calls.iter().filter(|call| call.text("call") == name && call.text("error") == error).count()
    };
    assert_eq!((failed("openat", "ENOENT"), failed("read", "EAGAIN")), (7, 5));
    let (captured, lost, reasons) = ended.source("syscalls");
    assert_eq!(captured, all_calls(&ended).len() as i64);
    assert_eq!((lost, reasons), (0, vec![]));
}

#[test]
fn bytes_are_those_of_proc_io() {
    need!(all_that_is_needed());
    let mut program = Program::start(MIXED);
    let io = |pid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
        let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap();
        let (read, written): (i64, i64) = (number("rchar:"), number("wchar:"));
        (read, written)
    };
    let before = io(program.child.id());
    let watch = full(program.child.id());
    program.work();
    // The last write ends when its output is read, or a moment later.
    std::thread::sleep(Duration::from_millis(50));
    let after = io(program.child.id());
    let calls = all_calls(&watch.end());
    let sum = |names: &[&str]| -> i64 {
        calls.iter().filter(|call| names.contains(&call.text("call"))).map(|call| call.number("bytes")).sum()
    };
    assert_eq!(sum(&["read", "pread64"]), after.0 - before.0);
    assert_eq!(sum(&["write", "pwrite64"]), after.1 - before.1);
    assert!(after.0 - before.0 > 300_000, "the work reads that much");
}

#[test]
fn a_sleep_takes_as_long_as_it_was_asked_to() {
    need!(all_that_is_needed());
    let mut program = Program::start("for i in range(21): time.sleep(0.05)");
    let watch = full(program.child.id());
    program.work();
    let calls = work(&watch.end());
    let mut sleeps: Vec<i64> = calls
        .iter()
        .filter(|call| call.text("call") == "clock_nanosleep")
        .map(|call| call.number("duration_ns"))
        .collect();
    sleeps.sort_unstable();
    assert_eq!(sleeps.len(), 21);
    assert!(sleeps[0] >= 50_000_000, "{sleeps:?}");
    // Half of the sleeps are enough, because other processes may run on this machine.
    assert!(sleeps[10] < 250_000_000, "{sleeps:?}");
}

/// Descriptors that are open before the recording begins.
const AHEAD: &str = "
before = os.open(folder + '/before', os.O_RDWR | os.O_CREAT)
server = socket.create_server(('127.0.0.1', 0))
early = socket.create_connection(server.getsockname())
";

/// Each write has a size of its own, by which the test finds its row.
const NAMED: &str = "
os.write(before, b'b' * 11)
early.sendall(b'e' * 12)
fd = os.open(folder + '/file', os.O_RDWR | os.O_CREAT)
os.write(fd, b'1' * 13)
copy = os.dup(fd)
os.close(fd)
again = os.open(folder + '/again', os.O_RDWR | os.O_CREAT)
assert again == fd
os.write(again, b'2' * 14)
os.write(copy, b'3' * 15)
r, w = os.pipe()
os.write(w, b'4' * 16)
server.accept()
client = socket.create_connection(server.getsockname())
accepted, _ = server.accept()
client.sendall(b'5' * 17)
accepted.sendall(b'6' * 18)
folder_fd = os.open(folder, os.O_RDONLY)
inside = os.open('inside', os.O_RDWR | os.O_CREAT, dir_fd=folder_fd)
os.write(inside, b'7' * 19)
null = os.open('/dev/null', os.O_RDWR)
os.write(null, b'8' * 20)
epoll = select.epoll()
epoll.poll(0)
try: os.stat(folder + '/nothing')
except FileNotFoundError: pass
named = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
named.bind(folder + '/socket')
with open(folder + '/ports', 'w') as file:
    file.write(' '.join(str(s.getsockname()[1]) for s in (server, early, client)).ljust(100))
";

#[test]
fn descriptors_have_the_names_of_what_they_stand_for() {
    need!(all_that_is_needed());
    let mut program = Program::start_with(AHEAD, NAMED);
    let watch = full(program.child.id());
    program.work();
    let calls = work(&watch.end());
    let ports = std::fs::read_to_string(program.path("ports")).unwrap();
    let ports: Vec<&str> = ports.split_whitespace().collect();
    let [server, early, client] = ports[..] else { panic!("{ports:?}") };
    let socket = |from: &str, to: &str| format!("socket:127.0.0.1:{from}->127.0.0.1:{to}");
    let is = |bytes: i64, file: &str, kind: &str| {
        let sent = |call: &&Row| matches!(call.text("call"), "write" | "sendto") && call.number("bytes") == bytes;
        let found: Vec<(&str, &str)> =
            calls.iter().filter(sent).map(|call| (call.text("file"), call.text("file_kind"))).collect();
        assert_eq!(found, [(file, kind)], "the write of {bytes} bytes");
    };
    is(11, &program.path("before"), "file");
    is(12, &socket(early, server), "socket");
    is(13, &program.path("file"), "file");
    is(14, &program.path("again"), "file");
    is(15, &program.path("file"), "file");
    is(16, "pipe", "pipe");
    is(17, &socket(client, server), "socket");
    is(18, &socket(server, client), "socket");
    is(19, &program.path("inside"), "file");
    is(20, "/dev/null", "device");
    let has = |call: &str, file: &str, kind: &str| {
        let fits = |row: &&Row| row.text("call") == call && row.text("file") == file && row.text("file_kind") == kind;
        assert!(calls.iter().any(|row| fits(&row)), "no {call} of {file} ({kind}) in {calls:#?}");
    };
    has("openat", &program.path("file"), "file");
    has("openat", program.folder.path().to_str().unwrap(), "folder");
    has("accept4", &format!("socket:127.0.0.1:{server}"), "socket");
    has("epoll_wait", "epoll", "epoll");
    has("bind", &format!("socket:{}", program.path("socket")), "socket");
    let tried = calls.iter().find(|row| row.text("file") == program.path("nothing")).unwrap();
    assert_eq!((tried.text("error"), tried.text("file_kind")), ("ENOENT", "path"));
}

#[test]
fn the_summary_adds_up_to_the_calls() {
    need!(all_that_is_needed());
    let mut program = Program::start(&format!("{MIXED}\ntime.sleep(1.5)\n{}", MIXED.trim_start()));
    let full = full(program.child.id());
    let summary =
        watch(program.child.id(), SyscallsOptions { syscalls: SyscallsMode::Summary, ..SyscallsOptions::default() });
    program.work();
    std::thread::sleep(Duration::from_millis(50));
    let (full, summary) = (full.end(), summary.end());
    type Sums = BTreeMap<(String, String, String), [i64; 3]>;
    let key = |row: &Row| {
        // A call that takes only a path has the path in its row, and is summed up without it.
        let path = row.text("file_kind") == "path";
        let file = if path { "" } else { row.text("file") };
        (row.text("call").to_string(), file.to_string(), row.text("thread_group").to_string())
    };
    let mut truth = Sums::new();
    for call in all_calls(&full) {
        let sums = truth.entry(key(&call)).or_default();
        let failed = i64::from(call.texts.contains_key("error"));
        *sums = [sums[0] + 1, sums[1] + call.number("bytes"), sums[2] + failed];
    }
    let mut found = Sums::new();
    for row in summary.rows("syscall_summary") {
        let (low, high, count) = (row.number("low_ns"), row.number("high_ns"), row.number("count"));
        let total = row.number("total_ns");
        assert!(low * count <= total && total < high * count, "{row:?}");
        let sums = found.entry(key(&row)).or_default();
        *sums = [sums[0] + count, sums[1] + row.number("bytes"), sums[2] + row.number("errors")];
    }
    assert_eq!(found, truth);
    assert!(full.rows("syscall_summary").is_empty() && summary.rows("syscalls").is_empty());
    assert_eq!(summary.source("syscalls").1, 0);
}

#[test]
fn chosen_calls_alone_are_recorded_and_know_their_files() {
    need!(all_that_is_needed());
    let mut program = Program::start(MIXED);
    let only = "pread64, write".parse().unwrap();
    let full = full(program.child.id());
    let some = watch(
        program.child.id(),
        SyscallsOptions { syscalls: SyscallsMode::Full, calls: Some(only), ..SyscallsOptions::default() },
    );
    program.work();
    let (full, some) = (full.end(), some.end());
    let about = |calls: Vec<Row>| -> Vec<(String, String, i64)> {
        let about = |call: &Row| (call.text("call").to_string(), call.text("file").to_string(), call.number("bytes"));
        calls.iter().map(about).filter(|(call, _, _)| call == "pread64" || call == "write").collect()
    };
    let found = all_calls(&some).len();
    let (truth, found_about) = (about(all_calls(&full)), about(all_calls(&some)));
    assert!(truth.iter().any(|(_, file, bytes)| file.ends_with("/data") && *bytes == 1000), "{truth:?}");
    assert_eq!(found_about, truth);
    assert_eq!(found, truth.len());
    assert_eq!(some.source("syscalls").1, 0);
    let offsets = |wanted: &str| -> Vec<i64> {
        let calls = all_calls(&full);
        let on_data = calls.iter().filter(|call| call.text("call") == wanted && call.text("file").ends_with("/data"));
        on_data.map(|call| call.number("offset_bytes")).collect()
    };
    let [read, written, moved] = ["pread64", "pwrite64", "lseek"].map(offsets);
    assert_eq!((read, written, moved), (vec![7; 50], vec![100; 50], vec![3; 50]));

    let unknown = "pread64,fsnyc".parse::<ChosenCalls>().unwrap_err();
    assert!(unknown.contains("\"fsnyc\"") && unknown.contains("fsync"), "{unknown}");
}

#[test]
fn what_finds_no_room_is_counted() {
    need!(all_that_is_needed());
    let mut program = Program::start("for i in range(20000): os.getppid()");
    let tiny = SyscallsOptions { syscalls: SyscallsMode::Full, buffer_bytes: 4096, ..SyscallsOptions::default() };
    let tiny = watch(program.child.id(), tiny);
    let limited =
        SyscallsOptions { syscalls: SyscallsMode::Full, max_events_per_s: Some(100), ..SyscallsOptions::default() };
    let limited = watch(program.child.id(), limited);
    let full = full(program.child.id());
    program.work();
    std::thread::sleep(Duration::from_millis(50));
    let (full, tiny, limited) = (full.end(), tiny.end(), limited.end());
    let truth = all_calls(&full).len() as i64;
    assert!(truth >= 20_000);
    for (ended, reason) in [(tiny, "ring buffer"), (limited, "--max-events-per-s")] {
        let (captured, lost, reasons) = ended.source("syscalls");
        assert_eq!(captured, all_calls(&ended).len() as i64);
        assert!(lost > 1000, "{lost} lost of {truth}");
        assert_eq!(captured + lost, truth);
        assert!(reasons.iter().any(|text| text.contains(reason)), "{reasons:?}");
    }
}

#[test]
fn threads_come_and_go_and_the_end_of_the_process_ends_it_well() {
    need!(all_that_is_needed());
    let mut program = Program::start(
        "
def brief(i):
    # Before Python 3.14 a thread's name is not the kernel's.
    with open('/proc/thread-self/comm', 'w') as file: file.write('brief-%d' % i)
    os.write(2, b'')
    os.getppid()
for i in range(20):
    thread = threading.Thread(target=brief, args=(i,))
    thread.start()
    thread.join()
",
    );
    let watch = full(program.child.id());
    program.work();
    program.child.kill().unwrap();
    program.child.wait().unwrap();
    let ending = Instant::now();
    let ended = watch.end();
    // Stopping does not wait for records that never come.
    assert!(ending.elapsed() < Duration::from_secs(20), "{:?}", ending.elapsed());
    let calls = work(&ended);
    let named: Vec<&Row> = calls.iter().filter(|call| call.text("call") == "getppid").collect();
    assert_eq!(named.len(), 20);
    assert!(named.iter().all(|call| call.text("thread_group") == "brief"), "{named:?}");
}

#[test]
fn without_the_right_to_the_recording_goes_on_and_says_how_to_get_it() {
    need!(all_that_is_needed());
    let program = Program::start("pass");
    let syscalls = SyscallsOptions { syscalls: SyscallsMode::Full, ..SyscallsOptions::default() };
    let options = Options { syscalls, ..Options::default() };
    let (reason, tables) = without_capabilities(program.child.id(), options, "syscalls");
    assert!(tables.contains(&"cpus".to_string()) && !tables.contains(&"syscalls".to_string()), "{tables:?}");
    let reason = reason.expect("it is said");
    assert!(reason.contains("needs root") && reason.contains("sudo"), "{reason}");
}

#[test]
fn no_call_is_missing_where_a_recording_follows_another() {
    need!(all_that_is_needed());
    for syscalls in [SyscallsMode::Full, SyscallsMode::Summary] {
        let mut program = Program::start("for i in range(1500): os.getppid(); time.sleep(0.001)");
        let mut watch = watch(program.child.id(), SyscallsOptions { syscalls, ..SyscallsOptions::default() });
        let mut recordings = Vec::new();
        program.begin();
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(300));
            recordings.push(watch.turn());
        }
        program.hear("done");
        recordings.push(watch.end());
        let (mut found, mut lost) = (0, 0);
        for ended in &recordings {
            lost += ended.source("syscalls").1;
            let of_it = |row: &Row| row.text("call") == "getppid";
            found += ended.rows("syscalls").iter().filter(|row| of_it(row)).count() as i64;
            found += ended
                .rows("syscall_summary")
                .iter()
                .filter(|row| of_it(row))
                .map(|row| row.number("count"))
                .sum::<i64>();
        }
        assert!(found <= 1500 && found + lost >= 1500, "{found} found, {lost} lost");
    }
}
