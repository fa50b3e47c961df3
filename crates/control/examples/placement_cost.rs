//! Measures the overhead of placing threads: the time to place those of a process with 1,000 threads, the delay until new
//! threads are placed, and the CPU time of following them.
//!
//! `cargo run --release --workspace --example placement_cost -- [ROUNDS] [THREADS]`, as any user: the threads are those of
//! a child process of this example.

use helenus_cassandra::process;
use helenus_control::placement::{Journals, PinFollower, Plan, Settings, Strategy, Thread};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

/// The required bounds.
const APPLIED_WITHIN: Duration = Duration::from_millis(50);
const PLACED_WITHIN: Duration = Duration::from_millis(100);
const CPU_SHARE: f64 = 0.002;
/// How long following is measured.
const FOLLOWED: Duration = Duration::from_secs(20);
const NEW_THREADS: usize = 50;

/// A child with threads that wait. A line makes one more, which the child answers with its number.
struct Threaded {
    child: Child,
    tell: ChildStdin,
    hear: BufReader<ChildStdout>,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let ["threads", count] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return Ok(have_threads(count.parse()?)?);
    }
    let rounds: usize = arguments.first().map_or(Ok(5), |rounds| rounds.parse())?;
    let threads: usize = arguments.get(1).map_or(Ok(1000), |threads| threads.parse())?;
    let state = tempfile::tempdir()?;
    let journals = Journals::within(state.path());
    let mut threaded = Threaded::start(threads)?;
    let pid = threaded.child.id().cast_signed();
    let start_ticks = process::stat(pid).ok_or("the child has ended")?.start_ticks;

    println!("{threads} threads; per strategy the median of {rounds} rounds, and the worst");
    let mut slow = false;
    for strategy in [Strategy::FirstAssignment, Strategy::EqualSpread, Strategy::Groups] {
        let mut settings = Settings::new(strategy);
        if strategy == Strategy::Groups {
            settings.groups.push("*=rest".parse()?);
        }
        let (mut planned, mut placed, mut restored) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            let started = Instant::now();
            let plan = Plan::new(pid, start_ticks, &settings, None)?;
            planned.push(started.elapsed());
            let started = Instant::now();
            let pin = plan.apply(&journals)?;
            // The journal is written to the disk.
            placed.push(started.elapsed());
            let started = Instant::now();
            pin.unpin()?;
            restored.push(started.elapsed());
        }
        let name = strategy.name();
        println!(
            "{name:17} planned in {}, applied in {}, put back in {}",
            percentiles(&mut planned),
            percentiles(&mut placed),
            percentiles(&mut restored)
        );
        slow |= placed[placed.len() / 2] > APPLIED_WITHIN;
    }

    // The thread that makes the others runs on another CPU, so that new threads have to be moved.
    let mut settings = Settings::new(Strategy::Groups);
    threaded.make_one()?;
    settings.groups = vec!["New=0".parse()?, "*=rest".parse()?];
    let following = Plan::new(pid, start_ticks, &settings, None)?.apply(&journals)?.follow()?;
    let mut soon = new_threads(&mut threaded, pid)?;
    println!("new threads       placed after {}", percentiles(&mut soon));
    following.unpin()?;
    slow |= soon[soon.len() - 1] > PLACED_WITHIN;

    for strategy in [Strategy::EqualSpread, Strategy::Groups] {
        let mut settings = Settings::new(strategy);
        if strategy == Strategy::Groups {
            settings.groups.push("*=rest".parse()?);
        }
        let following: PinFollower = Plan::new(pid, start_ticks, &settings, None)?.apply(&journals)?.follow()?;
        std::thread::sleep(FOLLOWED);
        let cpu_share = following.progress().cpu_share;
        following.unpin()?;
        println!(
            "following         {:.3} % of a CPU ({}, {} s)",
            cpu_share * 100.0,
            strategy.name(),
            FOLLOWED.as_secs()
        );
        slow |= cpu_share > CPU_SHARE;
    }
    if slow {
        Err("slower than it should be: 50 ms to apply, 100 ms to a new thread, 0.2 % to follow".into())
    } else {
        Ok(())
    }
}

/// Times from the start of each new thread until its mask is set.
fn new_threads(threaded: &mut Threaded, pid: i32) -> Result<Vec<Duration>, Failure> {
    let mut soon = Vec::new();
    for number in 0..NEW_THREADS {
        // Vary the pause, so that threads are not started in step with the passes.
        std::thread::sleep(Duration::from_millis(7 * (number as u64 % 13)));
        let tid = threaded.make_one()?;
        let started = Instant::now();
        while Thread::read(pid, tid)?.is_some_and(|thread| !thread.mask.contains(0)) {
            std::thread::sleep(Duration::from_micros(200));
        }
        soon.push(started.elapsed());
    }
    Ok(soon)
}

fn percentiles(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let ms = |time: Option<&Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
    format!("{:.1} ms ({:.1})", ms(times.get(times.len() / 2)), ms(times.last()))
}

impl Threaded {
    fn start(threads: usize) -> Result<Threaded, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["threads", &threads.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (tell, hear) = pipes.ok_or("the child has no pipes")?;
        let mut threaded = Threaded { child, tell, hear: BufReader::new(hear) };
        threaded.next_pid()?;
        Ok(threaded)
    }

    fn make_one(&mut self) -> Result<i32, Failure> {
        self.tell.write_all(b"\n")?;
        self.next_pid()
    }

    fn next_pid(&mut self) -> Result<i32, Failure> {
        let mut line = String::new();
        self.hear.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Threaded {
    fn drop(&mut self) {
        // Best effort: the child ends when its pipe is closed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The child process: threads that wait, in 20 groups, and one more for each byte that it reads.
fn have_threads(count: usize) -> std::io::Result<()> {
    for number in 0..count {
        let named =
            std::thread::Builder::new().name(format!("Group{}-{number}", char::from(b'A' + (number % 20) as u8)));
        named.stack_size(64 << 10).spawn(|| {
            loop {
                std::thread::park()
            }
        })?;
    }
    println!("{count}");
    for byte in std::io::stdin().lock().bytes() {
        byte?;
        std::thread::Builder::new().name("New-1".to_string()).stack_size(64 << 10).spawn(|| {
            // SAFETY: gettid takes no pointers and cannot fail.
            println!("{}", unsafe { libc::gettid() });
            loop {
                std::thread::park();
            }
        })?;
    }
    Ok(())
}
