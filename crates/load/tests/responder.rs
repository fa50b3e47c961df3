//! Runs the drivers against a responder with a given behaviour: its effect on requests is counted and named, and a run
//! ends when it is stopped.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use arrow::array::AsArray;
use helenus_load::responder::{Behaviour, Responder};
use helenus_load::{Cancel, DriverKind, Event, Outcome, Phase, Plan, Summary, Until, Workload, run};
use helenus_recording::{Clock, Manifest, Recorder, Recording, merge};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

/// A lock that lets one test run at a time, because the tests measure times.
static MACHINE: Mutex<()> = Mutex::new(());

struct ExclusiveResponder {
    responder: Responder,
    _machine: MutexGuard<'static, ()>,
}

impl Deref for ExclusiveResponder {
    type Target = Responder;

    fn deref(&self) -> &Responder {
        &self.responder
    }
}

fn responder(last: u8) -> ExclusiveResponder {
    let machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let responder = Responder::start(SocketAddr::from((Ipv4Addr::new(127, 0, 21, last), 0))).unwrap();
    ExclusiveResponder { responder, _machine: machine }
}

fn plan(responder: &Responder, driver: DriverKind, phases: Vec<Phase>) -> Plan {
    let workload = Workload::open("keyvalue/mixed").unwrap();
    Plan {
        driver,
        request_timeout: Duration::from_millis(300),
        // Progress comes often enough that `watch` sees a window of half a second on a busy machine, too.
        progress_every: Duration::from_millis(50),
        ..Plan::new(workload, phases, vec![responder.address().to_string()])
    }
}

/// Runs a plan, and calls `watch` some times a second with the time since its start.
fn drive(plan: &Plan, cancel: &Cancel, mut watch: impl FnMut(Duration)) -> (Summary, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("recording"), Manifest::new("test", "test")).unwrap();
    let mut events = Vec::new();
    let summary = run(plan, &recorder, cancel, &mut |progress| {
        watch(progress.elapsed);
        events.extend(progress.events);
    })
    .unwrap();
    assert_eq!(recorder.close().unwrap().tables["requests"].rows, summary.requests);
    (summary, events)
}

fn errors(summary: &Summary) -> Vec<(Outcome, u64)> {
    summary.errors.iter().map(|error| (error.outcome, error.count)).collect()
}

#[test]
fn a_phase_does_not_show_the_rate_of_the_one_before() {
    let responder = responder(20);
    let phases = vec![Phase::in_flight(64, Until::Count(20_000)), Phase::rate(20.0, Until::Elapsed(SECOND))];
    let plan = plan(&responder, DriverKind::Thin, phases);
    let place = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&place.path().join("recording"), Manifest::new("test", "test")).unwrap();
    let mut first = None;
    run(&plan, &recorder, &Cancel::new(), &mut |progress| {
        if let Some(phase) = progress.phase.filter(|phase| phase.number == 2) {
            first.get_or_insert(progress.ok_per_s * phase.elapsed.as_secs_f64());
        }
    })
    .unwrap();
    // The progress counts at most the requests that the operation has.
    assert!(first.is_some_and(|requests| requests < 20.5), "{first:?}");
}

#[test]
fn both_drivers_send_the_same_requests() {
    let responder = responder(1);
    let phases = vec![Phase::in_flight(64, Until::Count(20_000)), Phase::rate(4_000.0, Until::Elapsed(SECOND))];
    for driver in [DriverKind::Thin, DriverKind::Scylla] {
        let before = responder.executed();
        let plan = Plan { threads: 2, connections_per_node: 2, ..plan(&responder, driver, phases.clone()) };
        let (summary, _) = drive(&plan, &Cancel::new(), |_| {});
        assert_eq!(errors(&summary), []);
        assert_eq!(summary.requests, 24_000, "{driver:?}");
        assert_eq!(responder.executed() - before, 24_000, "{driver:?}");
        assert_eq!(summary.lag.unsent, 0);
        assert_eq!(summary.phases.iter().map(|phase| phase.empty).sum::<u64>(), 0);
    }
}

#[test]
fn a_node_that_sheds_load_is_counted_and_goes_on() {
    let responder = responder(2);
    for driver in [DriverKind::Thin, DriverKind::Scylla] {
        responder.behave(Behaviour::Overloaded);
        let plan = plan(&responder, driver, vec![Phase::rate(1_000.0, Until::Elapsed(SECOND * 4))]);
        let (summary, _) = drive(&plan, &Cancel::new(), |elapsed| {
            if elapsed > SECOND {
                responder.behave(Behaviour::AtOnce);
            }
        });
        let [(Outcome::Overloaded, count)] = errors(&summary)[..] else { panic!("{:?}", summary.errors) };
        assert!(count > 500 && summary.phases[0].ok > 500, "{driver:?}: {count}");
        assert!(summary.errors[0].first_message.contains("Request is shed"));
    }
}

#[test]
fn a_statement_that_the_node_forgot_is_prepared_again() {
    let responder = responder(3);
    let plan = plan(&responder, DriverKind::Thin, vec![Phase::rate(1_000.0, Until::Elapsed(SECOND))]);
    let (summary, _) = drive(&plan, &Cancel::new(), |elapsed| {
        if elapsed > SECOND / 2 {
            responder.behave(Behaviour::Forgetful);
        }
    });
    assert_eq!((errors(&summary), summary.requests), (vec![], 1_000));
    // The requests whose statement was forgotten were sent twice.
    assert!(responder.executed() > 1_000);
}

#[test]
fn who_is_not_answered_times_out_and_the_rest_is_answered() {
    let responder = responder(4);
    for driver in [DriverKind::Thin, DriverKind::Scylla] {
        responder.behave(Behaviour::AtOnce);
        let plan = plan(&responder, driver, vec![Phase::rate(1_000.0, Until::Elapsed(SECOND * 2))]);
        let (summary, _) = drive(&plan, &Cancel::new(), |elapsed| {
            let silent = (SECOND / 2..SECOND).contains(&elapsed);
            responder.behave(if silent { Behaviour::Silent } else { Behaviour::AtOnce });
        });
        let [(Outcome::Timeout, count)] = errors(&summary)[..] else { panic!("{:?}", summary.errors) };
        assert!(count > 200 && count < 1_200, "{driver:?}: {count}");
        assert_eq!(summary.requests, 2_000);
        let max_ns = summary.phases[0].service.max_ns.unwrap();
        assert!((300_000_000..600_000_000).contains(&max_ns), "{driver:?}: {max_ns}");
    }
}

#[test]
fn a_connection_that_breaks_is_counted_and_comes_back() {
    for (last, behaviour) in [(5, Behaviour::Hangup), (6, Behaviour::Garbage)] {
        let responder = responder(last);
        let plan = plan(&responder, DriverKind::Thin, vec![Phase::rate(1_000.0, Until::Elapsed(SECOND * 3))]);
        let (summary, events) = drive(&plan, &Cancel::new(), |elapsed| {
            let bad = (SECOND / 2..SECOND).contains(&elapsed);
            responder.behave(if bad { behaviour } else { Behaviour::AtOnce });
        });
        let [(Outcome::Connection, count)] = errors(&summary)[..] else { panic!("{:?}", summary.errors) };
        assert_eq!(summary.requests, 3_000);
        assert!(count > 50 && summary.phases[0].ok > 500, "{behaviour:?}: {count}");
        let message = &summary.errors[0].first_message;
        assert!(message.contains(if behaviour == Behaviour::Garbage { "no answer" } else { "closed" }), "{message}");
        assert!(!events.iter().any(|event| matches!(event, Event::Unreachable { .. })));
    }
}

#[test]
fn a_closed_loop_without_an_answer_ends_when_told_to() {
    for driver in [DriverKind::Thin, DriverKind::Scylla] {
        for (last, behaviour) in [(7, Behaviour::Silent), (8, Behaviour::Garbage), (9, Behaviour::Hangup)] {
            let responder = responder(last);
            let cancel = Cancel::new();
            let phases = vec![Phase::in_flight(500, Until::Elapsed(SECOND * 60))];
            let plan = Plan { request_timeout: SECOND * 30, ..plan(&responder, driver, phases) };
            let (mut bad, mut changed): (Option<Duration>, Option<Instant>) = (None, None);
            let (summary, _) = drive(&plan, &cancel, |elapsed| match bad {
                None if elapsed > SECOND / 2 => {
                    responder.behave(behaviour);
                    bad = Some(elapsed);
                }
                Some(since) if elapsed > since + SECOND / 2 && changed.is_none() => {
                    cancel.stop();
                    changed = Some(Instant::now());
                }
                _ => {}
            });
            let took = changed.unwrap().elapsed();
            // The timeout of a request is 30 s.
            assert!(took < SECOND * 10, "{driver:?} {behaviour:?}: {took:?}");
            assert!(summary.stopped && summary.failed() > 0, "{driver:?} {behaviour:?}");
        }
    }
}

/// Runs a plan and stops it after a while. Returns how long the stop took.
fn stopped_after(plan: &Plan, while_it: Duration) -> (Summary, Duration) {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("recording"), Manifest::new("test", "test")).unwrap();
    let (cancel, started) = (Cancel::new(), Instant::now());
    let mut changed = None;
    let summary = run(plan, &recorder, &cancel, &mut |_| {
        if started.elapsed() > while_it && changed.is_none() {
            cancel.stop();
            changed = Some(Instant::now());
        }
    });
    (summary.unwrap(), changed.unwrap().elapsed())
}

#[test]
fn a_node_that_does_not_answer_while_it_is_set_up_does_not_hold_up_who_stops() {
    let responder = responder(12);
    responder.behave(Behaviour::Stuck);
    for driver in [DriverKind::Thin, DriverKind::Scylla] {
        let plan = plan(&responder, driver, vec![Phase::in_flight(1, Until::Count(1))]);
        let (summary, took) = stopped_after(&plan, SECOND / 2);
        assert!(summary.stopped && summary.phases.is_empty() && summary.requests == 0, "{summary:?}");
        // The deadline of the statement is 30 s.
        assert!(took < SECOND * 10, "{driver:?}: {took:?}");
    }
}

#[test]
fn a_frame_that_cannot_be_is_refused_before_its_bytes_are_taken() {
    let machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let listener = std::net::TcpListener::bind("127.0.21.13:0").unwrap();
    let node = listener.local_addr().unwrap().to_string();
    let fed = std::thread::spawn(move || {
        let mut fed = 0u64;
        // A SUPPORTED frame that announces 2 GB, sent as far as it is read.
        let mut bytes = vec![0; 1 << 20];
        bytes[..9].copy_from_slice(&[0x84, 0, 0, 0, 6, 0x7f, 0xff, 0xff, 0xff]);
        // The first connection only checks whether the node can be reached.
        for mut client in listener.incoming().take(2).flatten() {
            while std::io::Write::write_all(&mut client, &bytes).is_ok() {
                fed += bytes.len() as u64;
            }
        }
        fed
    });
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("recording"), Manifest::new("test", "test")).unwrap();
    let phases = vec![Phase::in_flight(1, Until::Count(1))];
    let plan = Plan::new(Workload::open("keyvalue/write").unwrap(), phases, vec![node]);
    let error = run(&plan, &recorder, &Cancel::new(), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("it announces a frame of more than 64 MiB"), "{error}");
    // The kernel buffers a few megabytes on both sides.
    assert!(fed.join().unwrap() < 64 << 20);
    drop(machine);
}

/// A proxy to a responder. It answers a CREATE TABLE with 768 MiB of a frame of 2 GB, and then stops.
fn bloated(listener: &std::net::TcpListener, responder: SocketAddr) {
    use std::io::{Read, Write};
    for mut client in listener.incoming().flatten() {
        let Ok(mut server) = std::net::TcpStream::connect(responder) else { continue };
        let (mut answers, mut back) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut answers, &mut back));
        std::thread::spawn(move || {
            let mut room = vec![0; 64 << 10];
            while let Ok(bytes @ 1..) = client.read(&mut room) {
                let asked = &room[..bytes];
                if !asked.windows(12).any(|words| words == b"CREATE TABLE") {
                    server.write_all(asked).unwrap_or_default();
                    continue;
                }
                let mut bytes = vec![1; 1 << 20];
                // The header of the request has the stream of the answer.
                bytes[..9].copy_from_slice(&[0x84, 0, asked[2], asked[3], 8, 0x7f, 0xff, 0xff, 0xff]);
                for _ in 0..768 {
                    client.write_all(&bytes).unwrap_or_default();
                }
            }
        });
    }
}

#[test]
fn a_node_that_feeds_a_frame_without_end_is_refused_while_it_is_set_up() {
    let responder = responder(17);
    // Drivers use the address that a node reports, and the port that they connected to.
    let listener = std::net::TcpListener::bind((responder.address().ip(), 0)).unwrap();
    let (node, address) = (listener.local_addr().unwrap(), responder.address());
    std::thread::spawn(move || bloated(&listener, address));
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("recording"), Manifest::new("test", "test")).unwrap();
    let phases = vec![Phase::in_flight(1, Until::Count(1))];
    let plan = Plan::new(Workload::open("keyvalue/write").unwrap(), phases, vec![node.to_string()]);
    let error = run(&plan, &recorder, &Cancel::new(), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("a frame of more than 256 MiB"), "{error}");
}

#[test]
fn an_empty_table_that_is_to_be_read_is_populated_first() {
    let responder = responder(14);
    let phases = vec![Phase::in_flight(4, Until::Count(100))];
    let mut plan = Plan { populate_when_empty: true, ..plan(&responder, DriverKind::Thin, phases) };
    plan.workload.set_population(300);
    let (summary, events) = drive(&plan, &Cancel::new(), |_| {});
    let phases: Vec<(&str, bool, u64)> =
        summary.phases.iter().map(|phase| (phase.name.as_str(), phase.measured, phase.requests)).collect();
    assert_eq!((phases[0], phases[1].2), (("populate", false, 300), 100));
    let begins = Event::Populates {
        empty: Some("helenus.keyvalue".to_string()),
        requests: 300,
        in_flight: 128,
        then: Some("4 in flight".to_string()),
    };
    let ended = |event: &Event| matches!(event, Event::Populated { requests: 300, failed: 0, .. });
    assert!(events.contains(&begins) && events.iter().any(ended), "{events:?}");
    // A load that only writes needs no existing rows.
    plan.workload.choose_mix("write").unwrap();
    assert_eq!(drive(&plan, &Cancel::new(), |_| {}).0.requests, 100);
    // Each shard would write all of them.
    plan.workload.choose_mix("read").unwrap();
    plan.shard = (0, 2);
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("recording"), Manifest::new("test", "test")).unwrap();
    let refused = run(&plan, &recorder, &Cancel::new(), &mut |_| {}).unwrap_err().to_string();
    assert!(refused.contains("helenus.keyvalue is empty") && refused.contains("--populate"), "{refused}");
}

/// With one request in flight, the responder answers a small part of the first step.
#[test]
fn a_load_ends_where_nothing_of_a_step_can_be_sent() {
    let responder = responder(15);
    let phases = Phase::steps(2e6, 40e6, 2e6, SECOND / 2);
    let steps = phases.len();
    let plan = Plan { max_in_flight: 1, ..plan(&responder, DriverKind::Thin, phases) };
    let began = Instant::now();
    let (summary, events) = drive(&plan, &Cancel::new(), |_| {});
    let left_out = events.iter().find_map(|event| match event {
        Event::LeftOut { later, .. } => Some(*later),
        _ => None,
    });
    assert_eq!(summary.phases.len() + left_out.unwrap(), steps, "{events:?}");
    assert!(summary.phases.len() < steps && began.elapsed() < SECOND / 2 * steps as u32, "{summary:?}");
    assert_eq!(summary.phases.last().unwrap().requests, 0);
    assert!(summary.phases[0].requests > 0 && summary.lag.unsent > 0);
}

#[test]
fn ten_thousand_in_flight_are_ten_thousand() {
    let responder = responder(10);
    responder.behave(Behaviour::Silent);
    let phases = vec![Phase::in_flight(10_000, Until::Count(10_000))];
    let plan = Plan { drain: SECOND * 3, ..plan(&responder, DriverKind::Thin, phases) };
    let (summary, _) = drive(&plan, &Cancel::new(), |_| {});
    assert_eq!(errors(&summary), [(Outcome::Timeout, 10_000)]);
    assert_eq!(responder.executed(), 10_000);
}

#[test]
fn two_shards_are_one_load() {
    let responder = responder(11);
    let folder = tempfile::tempdir().unwrap();
    let phases = vec![
        Phase::rate(2_000.0, Until::Elapsed(SECOND)),
        Phase::in_flight(5, Until::Count(1_001)),
        Phase::rate(999.0, Until::Elapsed(SECOND / 3)),
    ];
    let start_ns = Clock::measure().now_ns() + 3_000_000_000;
    let recordings = std::thread::scope(|scope| {
        let shards = [0, 1].map(|number| {
            let (responder, folder, phases) = (&responder, folder.path(), phases.clone());
            scope.spawn(move || {
                let shard = (number, 2);
                let plan = Plan {
                    threads: 2,
                    shard,
                    start_at_ns: Some(start_ns),
                    ..plan(responder, DriverKind::Thin, phases)
                };
                let path = folder.join(number.to_string());
                let recorder = Recorder::create(&path, Manifest::new("test", "test")).unwrap();
                let summary = run(&plan, &recorder, &Cancel::new(), &mut |_| {}).unwrap();
                recorder.close().unwrap();
                assert_eq!((errors(&summary), summary.phases[0].rate_per_s), (vec![], Some(1_000.0)));
                Recording::open(&path).unwrap()
            })
        });
        shards.map(|shard| shard.join().unwrap())
    });
    let all = folder.path().join("all");
    let manifest = merge(&recordings, &[], &all, "all", "test").unwrap();
    assert_eq!((manifest.tables["requests"].rows, manifest.tables["marks"].rows), (2_000 + 1_001 + 333, 3));
    let mut intended = column(&Recording::open(&all).unwrap(), "requests", "intended_start_ns");
    intended.sort_unstable();
    // The schedule is exact to the nanosecond, whichever process sends which request.
    let step = |pair: &[i64]| pair[1] - pair[0];
    let offset = recordings.map(|recording| recording.manifest().clock.epoch_offset_ns);
    assert!(intended[0] >= start_ns - (offset[0] - offset[1]).abs());
    let apart: Vec<i64> = intended[..2_000].windows(2).map(step).collect();
    let moved = (offset[0] - offset[1]).abs();
    assert!(apart.iter().all(|apart| (apart - 500_000).abs() <= 2 * moved + 1), "{apart:?}");
}

fn column(recording: &Recording, table: &str, name: &str) -> Vec<i64> {
    let mut values = Vec::new();
    for file in recording.files(table).unwrap() {
        let file = std::fs::File::open(file).unwrap();
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let column = batch.column_by_name(name).unwrap();
            values.extend(column.as_primitive::<arrow::datatypes::Int64Type>().values());
        }
    }
    values
}
