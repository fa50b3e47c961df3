//! Load on a real Cassandra: sent and recorded requests agree, and failures are counted and shown.
//!
//! One node serves all tests, and is killed at the end.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use arrow::array::{Array, AsArray, DictionaryArray, Int64Array, StringArray};
use arrow::datatypes::Int32Type;
use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_load::schedule::Offsets;
use helenus_load::{Cancel, Error, Event, Outcome, Phase, Plan, Progress, Summary, Until, Workload, run};
use helenus_recording::{Manifest, Recorder, Recording};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The node's address for drivers.
const SHOWN: &str = "127.0.20.40";
const SECOND: Duration = Duration::from_secs(1);

/// The columns of a table, as whole numbers and as texts.
#[derive(Default)]
struct Table {
    numbers: BTreeMap<String, Vec<i64>>,
    texts: BTreeMap<String, Vec<String>>,
}

/// The results of a run.
struct Ran {
    summary: Summary,
    events: Vec<Event>,
    recording: Recording,
    _folder: tempfile::TempDir,
}

impl Ran {
    fn table(&self, name: &str) -> Table {
        let mut table = Table::default();
        for file in self.recording.files(name).unwrap() {
            let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap().build().unwrap();
            for batch in reader.map(Result::unwrap) {
                for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                    let name = field.name().clone();
                    if let Some(numbers) = column.as_any().downcast_ref::<Int64Array>() {
                        table.numbers.entry(name).or_default().extend(numbers.iter().flatten());
                    } else if let Some(texts) = texts(column.as_ref()) {
                        table.texts.entry(name).or_default().extend(texts);
                    }
                }
            }
        }
        table
    }
}

fn texts(column: &dyn Array) -> Option<Vec<String>> {
    if let Some(texts) = column.as_any().downcast_ref::<StringArray>() {
        return Some(texts.iter().flatten().map(str::to_string).collect());
    }
    let dictionary: &DictionaryArray<Int32Type> = column.as_dictionary_opt()?;
    let texts = dictionary.downcast_dict::<StringArray>()?;
    Some(texts.into_iter().flatten().map(str::to_string).collect())
}

/// Runs a plan, and passes each progress to `watch`.
fn try_run(plan: &Plan, cancel: &Cancel, mut watch: impl FnMut(&Progress)) -> Result<Ran, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, Manifest::new("test", "test")).unwrap();
    let mut events = Vec::new();
    let summary = run(plan, &recorder, cancel, &mut |progress| {
        watch(&progress);
        events.extend(progress.events);
    })?;
    recorder.close().unwrap();
    Ok(Ran { summary, events, recording: Recording::open(&path).unwrap(), _folder: folder })
}

fn drive(plan: &Plan) -> Ran {
    try_run(plan, &Cancel::new(), |_| {}).unwrap()
}

fn plan(workload: &str, phases: Vec<Phase>, node: &str) -> Plan {
    let mut workload = Workload::open(workload).unwrap();
    workload.set_population(2000);
    Plan::new(workload, phases, vec![node.to_string()])
}

#[test]
fn a_load_on_a_real_node_is_recorded_as_it_was() {
    let places = tempfile::tempdir().unwrap();
    let places = Places { cache: Places::of_user().unwrap().cache, state: places.path().join("state") };
    let mut options = ClusterOptions::new(places, "load");
    options.heap = "512m".to_owned();
    options.first_address = Some(Ipv4Addr::new(127, 0, 20, 1));
    options.lifetime = Lifetime::Tied;
    // The optimizing compiler takes a third of what a node needs to start.
    options.jvm_options = vec!["-XX:TieredStopAtLevel=1".to_owned()];
    // Drivers connect to the broadcast address, which is a proxy that can be cut off.
    options.settings = vec![format!("broadcast_rpc_address={SHOWN}")];
    let cluster = Cluster::start(&options, &mut |_| {}, &helenus_cassandra::Cancel::new()).unwrap();
    let node = cluster.nodes()[0].clone();
    let address = node.address.to_string();
    let proxy = Proxy::new(SocketAddr::new(SHOWN.parse().unwrap(), node.address.port()), node.address);

    steps_are_recorded_exactly(&address);
    the_same_seed_sends_the_same(&address);
    threads_share_a_schedule(&address);
    a_full_house_is_response_time_and_named(&address);
    told_to_stop_it_stops(&address);
    mistakes_are_told(&address);
    a_lost_connection_comes_back(&address, &proxy);
    a_dead_node_is_counted_and_the_run_ends_well(&address, node.pid);
}

/// Populate, warm up, step, and a closed loop. Checks that there is one row for each request, with the intended start
/// of the schedule.
fn steps_are_recorded_exactly(node: &str) {
    let mut phases = vec![Phase::rate(100.0, Until::Elapsed(SECOND / 2)).named("warm-up").unmeasured()];
    phases.extend(Phase::steps(150.0, 450.0, 150.0, SECOND));
    phases.push(Phase::ramp(100.0, 300.0, SECOND));
    phases.push(Phase::in_flight(4, Until::Count(400)));
    let mut plan = plan("keyvalue/mixed", phases.clone(), node);
    plan.populate = true;
    let ran = drive(&plan);

    let summary = &ran.summary;
    assert_eq!(summary.errors.len(), 0, "{:?}", summary.errors);
    assert_eq!(summary.lag.unsent, 0);
    let requests = ran.table("requests");
    let rows = requests.numbers["start_ns"].len() as u64;
    let offsets: Vec<Offsets> = phases.iter().filter_map(Offsets::of).collect();
    let scheduled: u64 = offsets.iter().map(Offsets::count).sum();
    assert_eq!(rows, summary.requests);
    assert_eq!(rows, 2000 + scheduled + 400);

    // Populating comes first, then the open-loop phases one after the other from one start.
    let marks = ran.table("marks");
    let names = &marks.texts["name"];
    assert_eq!(names, &["populate", "warm-up", "150/s", "300/s", "450/s", "100/s to 300/s", "4 in flight"]);
    let mut expected = Vec::new();
    for (offsets, start_ns) in offsets.iter().zip(&marks.numbers["start_ns"][1..]) {
        expected.extend(offsets.iter().map(|offset| start_ns + offset));
    }
    let (first, last) = (marks.numbers["start_ns"][1], marks.numbers["end_ns"][5]);
    let mut intended = requests.numbers["intended_start_ns"].clone();
    intended.retain(|ns| (first..last).contains(ns));
    intended.sort_unstable();
    assert_eq!(intended, expected);

    // No request starts before its intended start, or ends before its start.
    let (starts, ends) = (&requests.numbers["start_ns"], &requests.numbers["end_ns"]);
    assert!(requests.numbers["intended_start_ns"].iter().zip(starts).all(|(intended, start)| intended <= start));
    assert!(starts.iter().zip(ends).all(|(start, end)| start < end));

    // Every key was populated, so every read finds its row.
    assert!(summary.phases.iter().all(|phase| phase.empty == 0));
    let count = |column: &str, value: &str| requests.texts[column].iter().filter(|text| *text == value).count() as u64;
    assert_eq!(count("node", SHOWN), rows);
    assert_eq!(count("outcome", "ok"), rows);
    let reads = count("operation", "read") as f64 / (scheduled + 400) as f64;
    assert!((0.4..0.6).contains(&reads), "{reads}");

    let measured: Vec<bool> = summary.phases.iter().map(|phase| phase.measured).collect();
    assert_eq!(measured, [false, false, true, true, true, true, true]);
    for phase in &summary.phases {
        let (service, response) = (phase.service.max_ns.unwrap(), phase.response.max_ns.unwrap());
        assert!(service <= response && phase.response.p50_ns <= phase.response.p99_ns);
        assert!(phase.client_cpu_us_per_request.unwrap() > 0.0);
    }
    let sources = ran.table("sources");
    let of_ours = sources.texts["source"].iter().zip(&sources.numbers["captured"]);
    assert_eq!(
        of_ours.filter(|(source, _)| *source == "requests").map(|(_, captured)| captured).sum::<i64>(),
        rows as i64
    );
    let [
        Event::Populates { requests: announced, .. },
        Event::Connected { .. },
        Event::Populated { requests: written, .. },
        ..,
    ] = ran.events.as_slice()
    else {
        panic!("{:?}", ran.events)
    };
    assert_eq!((*announced, *written), (2000, 2000));
}

fn the_same_seed_sends_the_same(node: &str) {
    let phases = vec![Phase::rate(400.0, Until::Count(200))];
    let operations = |seed| {
        let mut plan = plan("timeseries/mixed", phases.clone(), node);
        plan.workload.seed = seed;
        let requests = drive(&plan).table("requests");
        let mut rows: Vec<(i64, String)> =
            requests.numbers["intended_start_ns"].iter().copied().zip(requests.texts["operation"].clone()).collect();
        rows.sort_unstable();
        rows.into_iter().map(|(_, operation)| operation).collect::<Vec<String>>()
    };
    assert_eq!(operations(1), operations(1));
    assert_ne!(operations(1), operations(2));
}

fn threads_share_a_schedule(node: &str) {
    let phases = vec![Phase::rate(500.0, Until::Elapsed(SECOND)), Phase::in_flight(5, Until::Count(301))];
    let mut plan = plan("keyvalue/write", phases, node);
    plan.threads = 2;
    plan.connections_per_node = 2;
    let ran = drive(&plan);
    let counts: Vec<u64> = ran.summary.phases.iter().map(|phase| phase.ok).collect();
    assert_eq!(counts, [500, 301]);
    let marks = ran.table("marks");
    let intended = ran.table("requests").numbers["intended_start_ns"].clone();
    let open = intended.iter().filter(|ns| **ns < marks.numbers["end_ns"][0]);
    let distinct: std::collections::BTreeSet<_> = open.collect();
    assert_eq!(distinct.len(), 500);
}

/// With a limit of one request in flight, the others wait, and their response time includes the wait.
fn a_full_house_is_response_time_and_named(node: &str) {
    let mut plan = plan("keyvalue/write", vec![Phase::rate(20_000.0, Until::Count(2000))], node);
    plan.max_in_flight = 1;
    plan.late_bound = Duration::from_millis(1);
    let ran = drive(&plan);
    let phase = &ran.summary.phases[0];
    assert_eq!(phase.requests, 2000);
    assert!(phase.lag.late_in_flight > 1000, "{:?}", phase.lag);
    assert!(phase.response.p50_ns.unwrap() > 2 * phase.service.p50_ns.unwrap());
    let reasons = &ran.table("sources").texts["lost_reason"];
    assert!(reasons.iter().any(|reason| reason.contains("lack of room among 1 in flight")), "{reasons:?}");
}

fn told_to_stop_it_stops(node: &str) {
    let plan = plan(
        "keyvalue/write",
        vec![Phase::rate(200.0, Until::Elapsed(600 * SECOND)), Phase::rate(1.0, Until::Elapsed(600 * SECOND))],
        node,
    );
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let ran = try_run(&plan, &cancel, |progress| {
        if progress.ok > 100 {
            stop.stop();
        }
    })
    .unwrap();
    assert!(ran.summary.stopped);
    assert_eq!(ran.summary.phases.len(), 1);
    let phase = &ran.summary.phases[0];
    assert!(phase.end_ns - phase.start_ns < 60_000_000_000);
    assert_eq!(ran.table("requests").numbers["start_ns"].len() as u64, phase.requests);
    assert_eq!(ran.table("marks").numbers["end_ns"], [phase.end_ns]);
    assert!(ran.events.contains(&Event::Stopping));
}

fn mistakes_are_told(node: &str) {
    let phases = || vec![Phase::rate(10.0, Until::Count(1))];
    let fails = |plan: &Plan| match try_run(plan, &Cancel::new(), |_| {}) {
        Ok(_) => panic!("it ran"),
        Err(error) => error.to_string(),
    };
    let nowhere = fails(&plan("keyvalue", phases(), "127.0.20.99"));
    assert!(nowhere.contains("127.0.20.99:9042: connection refused") && nowhere.contains("helenus up"), "{nowhere}");

    let mut missing = plan("keyvalue", phases(), node);
    missing.create_schema = false;
    missing.workload.operations[0].cql = "SELECT value FROM helenus.nothing WHERE key = :key".to_string();
    let missing = fails(&missing);
    assert!(missing.contains("operation read cannot be prepared") && missing.contains("create the table"), "{missing}");

    let mut refused = plan("keyvalue", phases(), node);
    refused.workload.schema = vec!["CREATE TABEL x".to_string()];
    assert!(fails(&refused).contains("refuses this statement of the workload's schema: CREATE TABEL x"));

    // A port where another program answers, or never answers.
    let silent = TcpListener::bind("127.0.20.30:0").unwrap();
    let address = silent.local_addr().unwrap();
    let answers = std::thread::spawn(move || {
        for connection in silent.incoming().take(4).flatten() {
            let _ = (&connection).write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let stranger = fails(&plan("keyvalue", phases(), &address.to_string()));
    assert!(stranger.contains("a CQL session cannot be opened"), "{stranger}");
    while !answers.is_finished() {
        let _ = TcpStream::connect_timeout(&address, SECOND);
    }
}

/// A proxy to a node that can be cut off.
struct Proxy {
    open: Arc<AtomicBool>,
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    /// Passes bytes between `listen` and `node` in threads that end with the test.
    fn new(listen: SocketAddr, node: SocketAddr) -> Proxy {
        let proxy = Proxy { open: Arc::new(AtomicBool::new(true)), ends: Arc::default() };
        let (open, ends) = (Arc::clone(&proxy.open), Arc::clone(&proxy.ends));
        let listener = TcpListener::bind(listen).unwrap();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if !open.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(server) = TcpStream::connect(node) else { continue };
                ends.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                for (mut from, mut to) in [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
                {
                    std::thread::spawn(move || {
                        let mut buffer = [0; 65_536];
                        while let Ok(read @ 1..) = from.read(&mut buffer) {
                            if to.write_all(&buffer[..read]).is_err() {
                                break;
                            }
                        }
                        let _ = to.shutdown(std::net::Shutdown::Both);
                    });
                }
            }
        });
        proxy
    }

    fn disconnect(&self) {
        self.open.store(false, Ordering::SeqCst);
        for end in self.ends.lock().unwrap().drain(..) {
            let _ = end.shutdown(std::net::Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.open.store(true, Ordering::SeqCst);
    }
}

fn a_lost_connection_comes_back(node: &str, proxy: &Proxy) {
    let plan = plan("keyvalue/write", vec![Phase::rate(200.0, Until::Elapsed(60 * SECOND))], node);
    let cancel = Cancel::new();
    let (stop, mut was_cut, mut back_at) = (cancel.clone(), false, None);
    let ran = try_run(&plan, &cancel, |progress| {
        if !was_cut && progress.ok > 100 {
            was_cut = true;
            proxy.disconnect();
        }
        if progress.events.iter().any(|event| matches!(event, Event::Lost { .. })) {
            proxy.mend();
        }
        if progress.events.iter().any(|event| matches!(event, Event::Back { .. })) {
            back_at = Some(progress.ok);
        }
        if back_at.is_some_and(|ok| progress.ok > ok + 100) {
            stop.stop();
        }
    })
    .unwrap();
    let error = ran.summary.errors.iter().find(|error| error.outcome == Outcome::Connection).unwrap();
    // The first failure was in flight, or found no connection: the message names the lost node, or none.
    assert!([SHOWN, ""].contains(&error.first_node.as_str()), "{error:?}");
    assert!(error.first_message.starts_with(SHOWN), "{error:?}");
    let seen: Vec<&str> = ran
        .events
        .iter()
        .map(|event| match event {
            Event::Lost { node } | Event::Back { node, .. } => node.as_str(),
            _ => "",
        })
        .filter(|node| !node.is_empty())
        .collect();
    assert_eq!(seen, [SHOWN; 2]);
    let requests = ran.table("requests");
    let failed = requests.texts["outcome"].iter().filter(|outcome| *outcome == "connection").count();
    assert_eq!(failed as u64, error.count);
    assert_eq!(requests.texts["outcome"].len() as u64, ran.summary.requests);
}

fn a_dead_node_is_counted_and_the_run_ends_well(node: &str, pid: i32) {
    let phases = vec![Phase::rate(300.0, Until::Elapsed(3 * SECOND)), Phase::in_flight(8, Until::Elapsed(SECOND))];
    let plan = plan("keyvalue/write", phases, node);
    let mut killed = false;
    let ran = try_run(&plan, &Cancel::new(), |progress| {
        if !killed && progress.ok > 300 {
            killed = true;
            // SAFETY: a plain system call on a process that this test started.
            assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
        }
    })
    .unwrap();
    assert!(killed);
    let [open, closed] = &ran.summary.phases[..] else { panic!("{:?}", ran.summary.phases) };
    // The schedule continues: every request was started, and those without a node failed.
    assert_eq!(open.requests + open.lag.unsent, 900);
    assert!(open.ok >= 300 && open.failed > 0, "{open:?}");
    assert!(open.errors.iter().all(|error| matches!(error.outcome, Outcome::Connection | Outcome::Timeout)));
    // A closed loop backs off after refused connections; without the backoff there would be hundreds of thousands.
    assert!(closed.failed > 0 && closed.failed < 1000, "{closed:?}");
    assert_eq!(ran.table("requests").numbers["start_ns"].len() as u64, ran.summary.requests);
    assert!(ran.events.contains(&Event::Lost { node: SHOWN.to_string() }), "{:?}", ran.events);
}
