//! Measures the overhead of following system calls: CPU per call in the followed process, in the reader and in the
//! writer, lost events, and bytes per row on disk. A separate process makes calls at a fixed rate. Rounds without
//! recording, with summary and with full alternate, so that other load on the machine affects all of them alike.
//!
//! `cargo run --release --workspace --example syscalls_cost -- [CALLS_PER_S] [ROUNDS]`, as root.

mod common;

use helenus_observe::{
    Observation, Options, PageCacheOptions, ProcessKind, Switch, SyscallsMode, SyscallsOptions, Watched,
};
use helenus_recording::{Manifest, Recorder};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

const LASTS: Duration = Duration::from_secs(5);
const THREADS: u64 = 4;
/// Each thread makes its share of the calls in one go, and then sleeps until the next tick of this length.
const TICK: Duration = Duration::from_millis(1);

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("generate") {
        return generate(arguments.next().unwrap_or_default().parse()?);
    }
    let rate: u64 = first.map_or(Ok(200_000), |rate| rate.parse())?;
    let rounds: u32 = arguments.next().map_or(Ok(3), |rounds| rounds.parse())?;
    println!("mode      calls/s   ns/call     rows   lost  reader ns/call  writer ns/call  bytes/row");
    for _ in 0..rounds {
        for mode in [SyscallsMode::Off, SyscallsMode::Summary, SyscallsMode::Full] {
            round(mode, rate)?;
        }
    }
    Ok(())
}

fn round(mode: SyscallsMode, rate: u64) -> Result<(), Failure> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["generate", &rate.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let outcome = follow(mode, &mut child);
    // The child ends by itself, unless the measurement failed.
    let _ = child.kill();
    child.wait()?;
    outcome
}

fn follow(mode: SyscallsMode, child: &mut Child) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let recorder = Recorder::create(&folder.path().join("r"), Manifest::new("cost", "syscalls_cost"))?;
    let (events, received) = std::sync::mpsc::channel();
    let watched = [Watched { process: ProcessKind::Server, node: "n".into(), pid: child.id() }];
    let syscalls = SyscallsOptions { syscalls: mode, ..SyscallsOptions::default() };
    let page_cache = PageCacheOptions { page_cache: Some(Switch::Off) };
    let options = Options { syscalls, page_cache, ..Options::default() };
    let observation = Observation::start(&recorder, &watched, &options, &events)?;
    child.stdin.take().ok_or("no stdin")?.write_all(b"1")?;
    let mut text = String::new();
    BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut text)?;
    observation.stop();
    for event in received.try_iter() {
        if let helenus_observe::Event::Degraded { source: "syscalls", reason, .. } = event {
            return Err(reason.into());
        }
    }
    let health = recorder.health();
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    let mut number = || numbers.next().ok_or("too few numbers");
    let (calls, cpu_ns) = (number()??, number()??);
    let summary = recorder.close()?;
    let (table, name) = match mode {
        SyscallsMode::Off => ("", "off"),
        SyscallsMode::Summary => ("syscall_summary", "summary"),
        SyscallsMode::Full => ("syscalls", "full"),
    };
    let facts = summary.tables.get(table).copied();
    let (lost, reader_ns, writer_ns) = common::account(&summary.folder, "syscalls")?;
    let each = |whole: u64| whole as f64 / calls as f64;
    println!(
        "{name:<8} {:>8.0} {:>9.0} {:>8} {lost:>6} {:>15.0} {:>15.0} {:>10.2}",
        calls as f64 / LASTS.as_secs_f64(),
        each(cpu_ns),
        health.rows.get(table).copied().unwrap_or(0),
        each(reader_ns),
        each(writer_ns),
        facts.map_or(0.0, |facts| facts.bytes as f64 / facts.rows.max(1) as f64),
    );
    Ok(())
}

/// Makes the kinds of calls that a node makes most. Prints their number and the CPU time that they took.
fn generate(rate: u64) -> Result<(), Failure> {
    std::io::stdin().read_exact(&mut [0])?;
    let started = Instant::now();
    let threads = (0..THREADS).map(|_| std::thread::spawn(move || calls(rate, started).unwrap_or(0)));
    let threads: Vec<_> = threads.collect();
    let calls: u64 = threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum();
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    println!("{calls} {}", time.tv_sec * 1_000_000_000 + time.tv_nsec);
    Ok(())
}

fn calls(rate: u64, started: Instant) -> std::io::Result<u64> {
    let file = tempfile::tempfile()?;
    file.write_all_at(&[1; 4096], 0)?;
    let mut null = OpenOptions::new().write(true).open("/dev/null")?;
    let mut zero = File::open("/dev/zero")?;
    let mut buffer = [0; 1024];
    let mut made = 0;
    while started.elapsed() < LASTS {
        let due = (started.elapsed().as_secs_f64() * rate as f64) as u64 / THREADS;
        while made < due {
            let length = (made % 1000) as usize + 1;
            file.read_at(&mut buffer[..length], made % 2048)?;
            zero.read_exact(&mut buffer[..length])?;
            null.write_all(&buffer[..length])?;
            made += 3;
        }
        std::thread::sleep(TICK);
        made += 1;
    }
    Ok(made)
}
