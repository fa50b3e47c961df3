//! Measures the overhead of following scheduling: CPU per switch in the followed process, in the reader and in the
//! writer, lost events, and bytes per row on disk. Two threads of a separate process, on one CPU, pass a byte back and
//! forth. Rounds without recording, with a bound, with every off-CPU time, and with stacks alternate, so that other load
//! on the machine affects all of them alike.
//!
//! `cargo run --release --workspace --example sched_cost -- [ROUNDS]`, as root.

mod common;

use helenus_observe::{Observation, Options, ProcessKind, SchedOptions, Switch, Watched};
use helenus_recording::{Manifest, Recorder};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

const LASTS: Duration = Duration::from_secs(5);
/// The byte is passed this many times in a row; then both threads sleep until the next tick.
const HANDS: u32 = 20;
const TICK: Duration = Duration::from_millis(1);

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("generate") {
        return generate();
    }
    let rounds: u32 = first.map_or(Ok(3), |rounds| rounds.parse())?;
    println!("mode    switches/s  ns/switch     rows   lost  reader ns/switch  writer ns/switch  bytes/row");
    let on = SchedOptions { sched: Switch::On, ..SchedOptions::default() };
    let all = SchedOptions { off_cpu_above: Some(Duration::from_nanos(1)), ..on };
    for _ in 0..rounds {
        round("off", SchedOptions::default())?;
        round("1 ms", on)?;
        round("all", all)?;
        round("stacks", SchedOptions { off_cpu_stacks: true, ..all })?;
    }
    Ok(())
}

fn round(name: &str, sched: SchedOptions) -> Result<(), Failure> {
    let mut child =
        Command::new(std::env::current_exe()?).arg("generate").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let outcome = follow(name, sched, &mut child);
    // The child ends by itself, unless the measurement failed.
    let _ = child.kill();
    child.wait()?;
    outcome
}

fn follow(name: &str, sched: SchedOptions, child: &mut Child) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let recorder = Recorder::create(&folder.path().join("r"), Manifest::new("cost", "sched_cost"))?;
    let (events, received) = std::sync::mpsc::channel();
    let watched = [Watched { process: ProcessKind::Server, node: "n".into(), pid: child.id() }];
    let observation = Observation::start(&recorder, &watched, &Options { sched, ..Options::default() }, &events)?;
    child.stdin.take().ok_or("no stdin")?.write_all(b"1")?;
    let mut text = String::new();
    BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut text)?;
    observation.stop();
    for event in received.try_iter() {
        if let helenus_observe::Event::Degraded { source: "sched", reason, .. } = event {
            return Err(reason.into());
        }
    }
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    let mut number = || numbers.next().ok_or("too few numbers");
    let (switches, cpu_ns) = (number()??, number()??);
    let summary = recorder.close()?;
    let facts = summary.tables.get("off_cpu").copied();
    let (lost, reader_ns, writer_ns) = common::account(&summary.folder, "sched")?;
    let each = |whole: u64| whole as f64 / switches as f64;
    println!(
        "{name:<8} {:>9.0} {:>10.0} {:>8} {lost:>6} {:>17.0} {:>17.0} {:>10.2}",
        switches as f64 / LASTS.as_secs_f64(),
        each(cpu_ns),
        facts.map_or(0, |facts| facts.rows),
        each(reader_ns),
        each(writer_ns),
        facts.map_or(0.0, |facts| facts.bytes as f64 / facts.rows.max(1) as f64),
    );
    Ok(())
}

/// Makes two threads on one CPU wake each other. Prints the number of switches and the CPU time that they took.
fn generate() -> Result<(), Failure> {
    stay_on_last_cpu()?;
    std::io::stdin().read_exact(&mut [0])?;
    let ((here, to_there), (there, to_here)) = (std::io::pipe()?, std::io::pipe()?);
    let other = std::thread::spawn(move || answer(here, to_here));
    ask(there, to_there)?;
    other.join().map_err(|_| "the other thread failed")??;
    let mut used = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to an rusage of ours, of which every pattern of bits is a value.
    let used = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, used.as_mut_ptr());
        used.assume_init()
    };
    let time_ns = |time: libc::timeval| (time.tv_sec * 1_000_000 + time.tv_usec) * 1000;
    println!("{} {}", used.ru_nvcsw + used.ru_nivcsw, time_ns(used.ru_utime) + time_ns(used.ru_stime));
    Ok(())
}

fn ask(mut from: PipeReader, mut to: PipeWriter) -> std::io::Result<()> {
    let started = Instant::now();
    while started.elapsed() < LASTS {
        for _ in 0..HANDS {
            to.write_all(&[1])?;
            from.read_exact(&mut [0])?;
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}

fn answer(mut from: PipeReader, mut to: PipeWriter) -> std::io::Result<()> {
    let mut byte = [0];
    while from.read(&mut byte)? > 0 {
        to.write_all(&byte)?;
    }
    Ok(())
}

fn stay_on_last_cpu() -> std::io::Result<()> {
    let last = std::thread::available_parallelism()?.get() - 1;
    // SAFETY: a set of CPUs is plain bits, and the pointer is to one of ours.
    let outcome = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(last, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if outcome == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
