//! Threads of a real process on the CPUs that they are given, and back again, whatever happens to helenus meanwhile.

use crate::harness::{CommandOutput, Place, signal_to, wait_for};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Creates and ends threads on command: `+ NAME COUNT FIRST`, `- NAME`. If FIRST is 1, the thread Reader-0 creates them, so that
/// they inherit its CPU affinity.
const PROGRAM: &str = r#"
import ctypes, queue, sys, threading
libc = ctypes.CDLL(None)
wishes, ends = queue.Queue(), {}
def run(name, ready, end):
    libc.prctl(15, name.encode(), 0, 0, 0)
    ready.release()
    if name == "Reader-0":
        while (wish := wishes.get()) is not None:
            make(*wish)
    end.wait()
def make(name, ready, end):
    threading.Thread(target=run, args=(name, ready, end), daemon=True).start()
for line in sys.stdin:
    what, group, *rest = line.split()
    if what == "+":
        count, by_reader, ready, end = int(rest[0]), rest[1] == "1", threading.Semaphore(0), threading.Event()
        ends.setdefault(group, []).append(end)
        for number in range(count):
            thread = (f"{group}-{number}", ready, end)
            wishes.put(thread) if by_reader else make(*thread)
        for number in range(count):
            ready.acquire()
    else:
        for end in ends.pop(group):
            end.set()
    print("done", flush=True)
"#;

/// A process with threads, ended with this.
struct Threaded {
    child: Child,
    tell: ChildStdin,
    hear: BufReader<ChildStdout>,
}

impl Threaded {
    fn start() -> Threaded {
        let mut command = Command::new("python3");
        command.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (tell, hear) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut threaded = Threaded { child, tell, hear };
        threaded.tell("+ Reader 20 0");
        threaded.tell("+ Writer 20 0");
        threaded.tell("+ Native-Transpor 3 0");
        threaded
    }

    fn tell(&mut self, what: &str) {
        writeln!(self.tell, "{what}").unwrap();
        let mut result = String::new();
        self.hear.read_line(&mut result).unwrap();
        assert_eq!(result, "done\n", "{what}");
    }

    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// The CPU mask of each thread by its id, with its name.
    fn masks(&self) -> BTreeMap<i32, (String, String)> {
        let mut masks = BTreeMap::new();
        for entry in std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap() {
            let path = entry.unwrap().path();
            let Ok(status) = std::fs::read_to_string(path.join("status")) else { continue };
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
                line.trim_matches(['\t', ':', ' ']).to_string()
            };
            let tid = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
            masks.insert(tid, (field("Name"), field("Cpus_allowed_list")));
        }
        masks
    }

    /// Whether all threads of a group may run on these CPUs alone.
    fn are_on(&self, group: &str, cpus: &str) -> bool {
        self.masks().values().filter(|(name, _)| name.starts_with(group)).all(|(_, allowed)| allowed == cpus)
    }

    /// Sets the mask of a thread, as an operator might have before.
    fn narrow(&self, name: &str, cpu: usize) {
        let tid = *self.masks().iter().find(|(_, (known, _))| known == name).unwrap().0;
        // SAFETY: an empty set is all zero, and the kernel reads no more than its size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut set);
            assert_eq!(libc::sched_setaffinity(tid, size_of_val(&set), &raw const set), 0);
        }
    }
}

impl Drop for Threaded {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The line of the output with this key.
fn line_with(result: &CommandOutput, key: &str) -> Value {
    let lines = result.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|line| line[key].clone())
        .find(|value| !value.is_null())
        .unwrap_or_else(|| panic!("{key}: {}", result.out))
}

fn refused(place: &Place, arguments: &str, says: &[&str]) {
    let result = place.run(arguments);
    assert_eq!(result.status.code(), Some(2), "helenus {arguments}: {}{}", result.out, result.err);
    for text in says {
        assert!(result.err.contains(text), "helenus {arguments} does not say {text:?}: {}", result.err);
    }
}

const BY_GROUP: &str = "--strategy groups --group Reader=0 --group Writer=1";

#[test]
fn threads_have_their_cpus_and_new_ones_too_until_all_is_as_it_was() {
    let place = Place::new();
    let mut threaded = Threaded::start();
    threaded.narrow("Writer-3", 0);
    let before = threaded.masks();
    let pin = place.start(&format!("pin {} {BY_GROUP} --json", threaded.pid()));
    wait_for("the groups", || threaded.are_on("Reader", "0") && threaded.are_on("Writer", "1"));
    let process = &before[&threaded.pid()].1;
    assert!(threaded.are_on("Native-Transpor", process), "others stay as they are");

    for round in 0..5 {
        threaded.tell("+ Writer 10 1");
        wait_for("new threads of a group", || threaded.are_on("Writer", "1"));
        threaded.tell(&format!("+ Other{round} 2 1"));
        wait_for("new threads of no group", || threaded.are_on("Other", process));
    }

    threaded.tell("- Native-Transpor");
    wait_for("their end", || !threaded.masks().values().any(|(name, _)| name.starts_with("Native")));
    pin.signal(libc::SIGINT);
    let result = pin.end();
    assert!(result.status.success(), "{}", result.err);
    let plan = line_with(&result, "plan");
    assert_eq!((&plan["strategy"], plan["threads"].as_array().unwrap().len()), (&"groups".into(), before.len()));
    let unpinned = line_with(&result, "unpinned");
    assert_eq!((&unpinned["threads_ended"], &unpinned["threads_since"]), (&3.into(), &60.into()), "{unpinned}");
    for (tid, (name, mask)) in threaded.masks() {
        let was = before.get(&tid).map_or(process, |(_, mask)| mask);
        assert_eq!(&mask, was, "{name}");
    }
    assert_eq!(place.json("pin --list --json"), Value::Array(Vec::new()));
}

#[test]
fn masks_are_put_back_when_helenus_was_killed() {
    let place = Place::new();
    let mut threaded = Threaded::start();
    threaded.narrow("Reader-7", 1);
    let before = threaded.masks();
    let pid = threaded.pid();
    let pin = place.start(&format!("pin {pid} {BY_GROUP}"));
    wait_for("the groups", || threaded.are_on("Reader", "0") && threaded.are_on("Writer", "1"));
    signal_to(guard_of(pid).expect("a guard"), libc::SIGKILL);
    pin.signal(libc::SIGKILL);
    pin.end();
    threaded.tell("+ Reader 4 1");
    assert!(threaded.are_on("Reader", "0"), "a new thread has the CPUs of the one that made it");
    let pinned = place.json("pin --list --json");
    assert_eq!((&pinned[0]["pid"], &pinned[0]["follower"]), (&pid.into(), &Value::Null), "{pinned}");
    refused(&place, &format!("pin {pid} --strategy equal-spread"), &["pinned already, by groups", "helenus unpin"]);
    let unpinned = &place.json(&format!("unpin {pid} --json"))[0];
    let numbers = |name: &str| unpinned[name].as_u64().unwrap() as usize;
    assert_eq!((numbers("threads"), numbers("threads_since"), numbers("threads_ended")), (before.len(), 4, 0));
    let process = &before[&pid].1;
    for (tid, (name, mask)) in threaded.masks() {
        assert_eq!(&mask, before.get(&tid).map_or(process, |(_, mask)| mask), "{name}");
    }
    refused(&place, &format!("unpin {pid}"), &["is not pinned", "helenus pin --list"]);
    // Without a guard they stay until then; with one, they return by themselves.
    let pin = place.start(&format!("pin {pid} {BY_GROUP}"));
    wait_for("the groups", || threaded.are_on("Reader", "0") && threaded.are_on("Writer", "1"));
    pin.signal(libc::SIGKILL);
    pin.end();
    wait_for("the guard", || place.json("pin --list --json") == Value::Array(Vec::new()));
    assert!(threaded.are_on("Writer", process));
    wait_for("the end of the guard", || guard_of(pid).is_none());
}

/// The process that undoes a pin whose helenus has ended.
fn guard_of(pid: i32) -> Option<i32> {
    let mut processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let words = format!("unpin\0{pid}\0--guard");
    processes.find_map(|process| {
        let command = std::fs::read(process.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&command).contains(&words).then(|| process.file_name().to_str()?.parse().ok())?
    })
}

#[test]
fn a_lease_ends_and_can_be_renewed() {
    let place = Place::new();
    let threaded = Threaded::start();
    let before = threaded.masks();
    let pid = threaded.pid();
    refused(&place, &format!("pin {pid} --renew"), &["--lease"]);
    refused(&place, &format!("pin {pid} --renew --lease 1m"), &["is not pinned"]);
    place.well(&format!("pin {pid} --strategy first-assignment --keep"));
    assert_eq!(place.json("pin --list --json")[0]["lease_left_s"], Value::Null);
    // It had none, and gets one.
    place.well(&format!("pin {pid} --renew --lease 1h"));
    let left = place.json("pin --list --json")[0]["lease_left_s"].as_u64().unwrap();
    assert!((3000..=3600).contains(&left), "{left}");
    place.well(&format!("pin {pid} --renew --lease 500ms"));
    wait_for("the end of the lease", || threaded.masks() == before);
    // One that is followed, too.
    let pin = place.start(&format!("pin {pid} --strategy first-assignment --lease 500ms"));
    let result = pin.end();
    assert!(result.status.success() && result.err.contains("the lease is over"), "{}", result.err);
    assert_eq!((threaded.masks(), place.json("pin --list --json")), (before, Value::Array(Vec::new())));
}

#[test]
fn a_pin_is_kept_or_followed_until_it_is_undone_from_elsewhere() {
    let place = Place::new();
    let threaded = Threaded::start();
    let before = threaded.masks();
    let pid = threaded.pid();
    place.well(&format!("pin {pid} --strategy equal-spread --seed 7 --group Reader --keep"));
    let ones = threaded.masks().into_values().filter(|(name, mask)| name.starts_with("Reader") && mask.len() == 1);
    assert_eq!(ones.count(), 20);
    let half = threaded.masks().into_values().filter(|(name, mask)| name.starts_with("Reader") && mask == "0").count();
    let cpus = std::thread::available_parallelism().unwrap().get();
    assert!(half.abs_diff(20 / cpus) <= 1, "{half} of 20 are on the first of {cpus} CPUs");
    place.well("unpin --all");
    assert_eq!(threaded.masks(), before);

    let pin = place.start(&format!("pin {pid} --strategy first-assignment"));
    wait_for("all threads", || threaded.masks().values().all(|(_, mask)| mask.len() == 1));
    place.well(&format!("unpin {pid}"));
    assert_eq!(threaded.masks(), before);
    let result = pin.end();
    assert!(result.status.success() && result.err.contains("another helenus asked"), "{}", result.err);

    let pin = place.start(&format!("pin {pid} --strategy first-assignment"));
    wait_for("all threads", || threaded.masks().values().all(|(_, mask)| mask.len() == 1));
    signal_to(pid, libc::SIGKILL);
    drop(threaded);
    let result = pin.end();
    assert!(result.status.success() && result.err.contains("has ended"), "{}", result.err);
    assert_eq!(place.json("pin --list --json"), Value::Array(Vec::new()));
}

#[test]
fn a_dry_run_and_bad_input_change_nothing() {
    let place = Place::new();
    let threaded = Threaded::start();
    let before = threaded.masks();
    let pid = threaded.pid();
    for strategy in ["first-assignment", "equal-spread", "groups --group Native-Transport-Requests=0 --group *=rest"] {
        let plan = place.json(&format!("pin {pid} --strategy {strategy} --dry-run --json"));
        let threads = plan["plan"]["threads"].as_array().unwrap();
        assert!(threads.iter().all(|thread| thread["cpus"].is_string()), "{plan}");
        assert_eq!(threaded.masks(), before);
    }
    place.well(&format!("pin {pid} --strategy none"));
    let groups = format!("pin {pid} --strategy groups");
    refused(&place, &format!("{groups} --group Raeder=0"), &["no thread of process", "`Raeder`", "nearest are Reader"]);
    refused(&place, &format!("{groups} --group Reader=4000"), &["4000 are offline", "online are"]);
    refused(&place, &format!("{groups} --group Reader=zero"), &["`zero` is no list of CPUs"]);
    refused(&place, &groups, &["groups with their CPUs"]);
    refused(&place, &format!("{groups} --group Reader"), &["groups with their CPUs"]);
    refused(&place, &format!("pin {pid} --strategy equal-spread --group Reader=0"), &["groups without CPUs"]);
    refused(&place, &format!("pin {pid} --strategy none --move-interrupts 0"), &["interrupt-aware"]);
    let busy = format!("pin {pid} --strategy interrupt-aware --window 100ms --move-interrupts 4000");
    refused(&place, &busy, &[]);
    refused(&place, "pin 999999999 --strategy none", &["no process 999999999"]);
    refused(&place, "unpin 999999999", &["is not pinned"]);
    assert_eq!(threaded.masks(), before);
    // SAFETY: geteuid takes no pointers and cannot fail.
    if unsafe { libc::geteuid() } == 0 {
        let mut nobody = Command::new("setpriv");
        nobody.args(["--reuid=65534", "--clear-groups", env!("CARGO_BIN_EXE_helenus"), "pin", &pid.to_string()]);
        let result = nobody.args(["--strategy", "equal-spread"]).env("HOME", "/tmp").output().unwrap();
        let err = String::from_utf8_lossy(&result.stderr);
        assert!(result.status.code() == Some(2) && err.contains("belongs to user root"), "{err}");
    }
    assert_eq!(threaded.masks(), before);
    assert_eq!(place.json("pin --list --json"), Value::Array(Vec::new()));
}

/// A control group of one CPU, for either version; None if it can't be made.
struct OneCpu(std::path::PathBuf);

impl OneCpu {
    fn of(pid: i32) -> Option<OneCpu> {
        let name = format!("helenus-test-{}", std::process::id());
        let first = std::path::Path::new("/sys/fs/cgroup/cpuset").join(&name);
        let (folder, is_first) = match std::fs::create_dir(&first) {
            Ok(()) => (first, true),
            Err(_) => {
                let second = std::path::Path::new("/sys/fs/cgroup").join(&name);
                std::fs::create_dir(&second).ok()?;
                (second, false)
            }
        };
        let group = OneCpu(folder);
        let write = |file: &str, text: &str| std::fs::write(group.0.join(file), text).ok();
        if is_first {
            write("cpuset.mems", "0")?;
        }
        write("cpuset.cpus", "1")?;
        write("cgroup.procs", &pid.to_string())?;
        Some(group)
    }
}

impl Drop for OneCpu {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_cpuset_is_respected_and_named() {
    let place = Place::new();
    let threaded = Threaded::start();
    let pid = threaded.pid();
    let Some(group) = OneCpu::of(pid) else {
        return helenus_needs::skipped(&"no control group can be made here");
    };
    let name = group.0.file_name().unwrap().to_str().unwrap();
    refused(
        &place,
        &format!("pin {pid} {BY_GROUP}"),
        &["0 are outside of the cpuset of the control group", name, "has 1"],
    );
    let result = place.run(&format!("pin {pid} --strategy equal-spread --for 100ms --json"));
    assert!(result.status.success() && result.err.contains(name), "{}", result.err);
    let plan = line_with(&result, "plan");
    assert!(plan["threads"].as_array().unwrap().iter().all(|thread| thread["cpus"] == "1"), "{plan}");
    assert!(result.err.contains("nothing can be concluded"), "{}", result.err);
    assert!(threaded.are_on("", "1"));
    drop(threaded);
    drop(group);
}
