//! Measures the set-up of a try's trial nodes against a plain copy of the same files: on a file system where the files can be
//! linked, and on another one (in memory, so that no disk adds its time) where they have to be copied.
//!
//! `cargo run --release --workspace --example trial_setup -- [MIB] [ROUNDS] [FOLDER]`: MIB of incompressible table data
//! (2,048), ROUNDS (3), and a FOLDER on the other file system (/dev/shm). Each round copies the table's files to both file
//! systems, then tries one candidate on each. The set-up time consists of the steps that may grow with the table: asking the
//! node, taking its snapshot, taking the files into our folder, and clearing the snapshot. The time in which two trial nodes start
//! and load the files is reported separately. Exits with 1 if, over all rounds, taking the files by copies needs more than 1.5
//! times as long as the plain copy.

mod built;

use helenus_cassandra::cql::Connection;
use helenus_cassandra::journal::Journal;
use helenus_cassandra::target::{self, TargetName};
use helenus_cassandra::{Cancel, Cluster, ClusterOptions, Lifetime, Places};
use helenus_lab::trial::{Candidate, Cleaner, Options, Progress, TableName, Trial};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

const TIMEOUT: Duration = Duration::from_secs(60);
const ROW: usize = 1 << 20;
/// The largest allowed ratio of taking the files to copying them, where all of them have to be copied.
const BOUND: f64 = 1.5;

/// Seconds that the steps of a try took.
struct SetUp {
    taken: f64,
    started: f64,
    loaded: f64,
    copied_bytes: u64,
}

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mib: usize = arguments.first().map_or(Ok(2048), |mib| mib.parse())?;
    let rounds: usize = arguments.get(1).map_or(Ok(3), |rounds| rounds.parse())?;
    let elsewhere = PathBuf::from(arguments.get(2).map_or("/dev/shm", String::as_str));
    let agent = built::agent()?;
    let folder = tempfile::tempdir()?;
    let elsewhere = tempfile::tempdir_in(&elsewhere)?;
    let places = Places { cache: Places::of_user()?.cache, state: folder.path().join("state") };
    let options = ClusterOptions {
        first_address: Some(Ipv4Addr::new(127, 0, 20, 66)),
        lifetime: Lifetime::Tied,
        data: Some(folder.path().join("node")),
        ..ClusterOptions::new(places.clone(), "setup")
    };
    let cluster = Cluster::start(&options, &mut |_| {}, &Cancel::new())?;
    let node = &cluster.nodes()[0];
    fill(node.address, mib)?;
    let cleaner = Cleaner { journal: Journal::within(&places.state), places: places.clone(), agent };
    // The first snapshot flushes the table and runs code that is not compiled yet.
    set_up(&cleaner, node.address, folder.path())?;
    let files = node.folder.join("data/data/setup");
    let (mut taken_s, mut copied_s) = (0.0, 0.0);
    for round in 1..=rounds {
        for (name, place) in [("this file system", folder.path()), ("the other", elsewhere.path())] {
            let (bytes, copy_s) = copy(&files, &place.join("copy"))?;
            let trial = set_up(&cleaner, node.address, place)?;
            let is_copied = trial.copied_bytes > 0;
            if is_copied {
                taken_s += trial.taken;
                copied_s += copy_s;
            }
            println!(
                "round {round}, to {name}: {} MiB are copied in {copy_s:.2} s; by snapshot and {} taken in {:.2} s; the trial nodes \
                 started in {:.1} s and loaded in {:.2} s",
                bytes >> 20,
                if is_copied { "copies" } else { "links" },
                trial.taken,
                trial.started,
                trial.loaded,
            );
        }
    }
    if copied_s == 0.0 {
        return Err("nothing had to be copied: name a FOLDER on another file system".into());
    }
    println!("taken by copies: {:.2} of the time of copying", taken_s / copied_s);
    drop(cluster);
    Ok(if taken_s < BOUND * copied_s { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn fill(address: SocketAddr, mib: usize) -> Result<(), Failure> {
    let mut connection = Connection::open(address, TIMEOUT, None)?;
    connection.query(
        "CREATE KEYSPACE setup WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND durable_writes = false",
    )?;
    connection.query("CREATE TABLE setup.t (key bigint PRIMARY KEY, value blob)")?;
    let insert = connection.prepare("INSERT INTO setup.t (key, value) VALUES (?, ?)")?;
    let mut random = StdRng::seed_from_u64(1);
    let mut value = vec![0; ROW];
    for key in 0..mib as i64 {
        random.fill_bytes(&mut value);
        connection.execute(&insert, &[Some(key.to_be_bytes().to_vec()), Some(value.clone())])?;
    }
    Ok(())
}

/// Copies a folder and removes the copy; returns bytes and seconds.
fn copy(from: &Path, to: &Path) -> Result<(u64, f64), Failure> {
    let begun = Instant::now();
    let bytes = copy_folder(from, to)?;
    let copied = begun.elapsed().as_secs_f64();
    std::fs::remove_dir_all(to)?;
    Ok((bytes, copied))
}

fn copy_folder(from: &Path, to: &Path) -> Result<u64, Failure> {
    std::fs::create_dir_all(to)?;
    let mut bytes = 0;
    for entry in std::fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))? {
        let entry = entry?.path();
        let to = to.join(entry.file_name().unwrap_or_default());
        bytes += if entry.is_dir() { copy_folder(&entry, &to)? } else { std::fs::copy(&entry, &to)? };
    }
    Ok(bytes)
}

fn set_up(cleaner: &Cleaner, address: SocketAddr, place: &Path) -> Result<SetUp, Failure> {
    let options = Options {
        heap: "512m".into(),
        jvm_options: Vec::new(),
        settings: Vec::new(),
        folder: Some(place.to_path_buf()),
        sample: None,
        replayed: Vec::new(),
        blocks: 1,
        // The example measures the set-up only, so compaction after it is cut short.
        settle_within: Duration::from_secs(1),
    };
    let candidates = [Candidate { name: "gc_grace".into(), options: vec![("gc_grace_seconds".into(), "1".into())] }];
    let table = TableName { keyspace: "setup".into(), table: "t".into() };
    let target = target::find(TargetName::Address(address))?;
    let node = address.to_string();
    let trial = Trial {
        cleaner,
        node: &node,
        address: Some(address),
        target: &target,
        table: &table,
        candidates: &candidates,
        options: &options,
    };
    let mut steps: Vec<(Instant, String)> = Vec::new();
    let mut tell = |progress| {
        if let Progress::Step(step) = progress {
            steps.push((Instant::now(), step));
        }
    };
    let (outcome, left) = trial.run(&mut tell, &Cancel::new());
    if let Some(left) = left {
        return Err(left.into());
    }
    let outcome = outcome?;
    let loads = |(_, step): &&(Instant, String)| step.ends_with("loading the SSTables");
    let (asked, first) = (steps.first(), steps.iter().find(loads));
    let after = steps.iter().rposition(|step| loads(&step)).and_then(|last| steps.get(last + 1));
    let (Some((asked, _)), Some((first, _)), Some((after, _))) = (asked, first, after) else {
        return Err(format!("the steps are others now: {steps:?}").into());
    };
    let snapshot = steps.iter().find(|(_, step)| step.contains(": a snapshot of")).map_or(*asked, |(at, _)| *at);
    let taken = (snapshot - *asked).as_secs_f64() + outcome.snapshot_s;
    Ok(SetUp {
        taken,
        started: (*first - *asked).as_secs_f64() - taken,
        loaded: (*after - *first).as_secs_f64(),
        copied_bytes: outcome.copied_bytes,
    })
}
