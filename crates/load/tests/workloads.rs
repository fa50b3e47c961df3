//! Workloads and schedules on a real Cassandra, whose rows are then read back.
//!
//! One node serves all tests.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_load::schedule::{Offsets, Trace};
use helenus_load::verify::{Example, Kind};
use helenus_load::{Acknowledged, Cancel, Phase, Plan, Summary, Until, Verified, Verify, Workload, run, verify};
use helenus_recording::{Manifest, Recorder};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn drive(plan: &Plan) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("recording"), Manifest::new("test", "test")).unwrap();
    let summary = run(plan, &recorder, &Cancel::new(), &mut |_| {}).unwrap();
    recorder.close().unwrap();
    summary
}

fn plan(workload: Workload, phases: Vec<Phase>, node: &str) -> Plan {
    Plan::new(workload, phases, vec![node.to_string()])
}

fn populated(name: &str, keys: u64, node: &str) -> (Workload, Summary) {
    let mut workload = Workload::open(name).unwrap();
    workload.set_population(keys);
    let mut plan = plan(workload.clone(), Vec::new(), node);
    plan.populate = true;
    let summary = drive(&plan);
    assert_eq!(summary.errors.len(), 0, "{:?}", summary.errors);
    (workload, summary)
}

fn read_back(order: &Verify) -> Verified {
    verify(order, &Cancel::new(), &mut |_| {}).unwrap()
}

fn named(verified: &Verified, kind: Kind) -> Vec<&str> {
    verified.examples.iter().filter(|example| example.kind == kind).map(|example| example.key.as_str()).collect()
}

/// Runs CQL statements while the load runs.
struct SideSession {
    runtime: tokio::runtime::Runtime,
    session: Session,
}

impl SideSession {
    fn new(node: &str) -> SideSession {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let session = runtime.block_on(SessionBuilder::new().known_node(node).build()).unwrap();
        SideSession { runtime, session }
    }

    fn run(&self, cql: &str) {
        self.runtime.block_on(self.session.query_unpaged(cql, ())).unwrap();
    }

    fn whole(&self, cql: &str) -> i64 {
        let answer = self.runtime.block_on(self.session.query_unpaged(cql, ())).unwrap();
        answer.into_rows_result().unwrap().single_row::<(i64,)>().unwrap().0
    }
}

#[test]
fn workloads_and_schedules_do_on_a_node_what_they_say() {
    let places = tempfile::tempdir().unwrap();
    let places = Places { cache: Places::of_user().unwrap().cache, state: places.path().join("state") };
    let mut options = ClusterOptions::new(places, "workloads");
    options.heap = "512m".to_owned();
    options.first_address = Some(Ipv4Addr::new(127, 0, 31, 1));
    options.lifetime = Lifetime::Tied;
    // The optimizing compiler takes a third of what a node needs to start.
    options.jvm_options = vec!["-XX:TieredStopAtLevel=1".to_owned()];
    let cluster = Cluster::start(&options, &mut |_| {}, &helenus_cassandra::Cancel::new()).unwrap();
    let node = cluster.nodes()[0].address.to_string();
    let side_session = SideSession::new(&node);

    what_was_deleted_and_changed_is_told_exactly(&node, &side_session);
    a_mix_may_leave_the_value_of_any_of_its_writes(&node, &side_session);
    batches_fill_partitions_and_are_read_in_pages(&node, &side_session);
    conditions_that_do_not_hold_are_counted(&node);
    counters_add_up(&node, &side_session);
    rows_expire(&node, &side_session);
    what_cannot_be_verified_says_why(&node);
    poisson_arrivals_and_traces_are_sent_whole(&node);
    a_surge_does_its_count(&node);
}

fn what_was_deleted_and_changed_is_told_exactly(node: &str, side_session: &SideSession) {
    let (workload, _) = populated("keyvalue", 5000, node);
    let order = Verify { examples: 100, ..Verify::new(workload, vec![node.to_string()]) };
    let all = read_back(&order);
    assert_eq!((all.checked, all.right, all.columns.as_slice()), (5000, 5000, &["value".to_string()][..]));
    assert!(all.is_right() && !all.has_damage() && all.examples.is_empty());

    for key in [17, 1234, 4999] {
        side_session.run(&format!("DELETE FROM helenus.keyvalue WHERE key = {key}"));
    }
    side_session.run("INSERT INTO helenus.keyvalue (key, value) VALUES (42, 0x00)");
    side_session.run("UPDATE helenus.keyvalue SET value = null WHERE key = 43");
    let damaged = read_back(&order);
    assert_eq!((damaged.checked, damaged.right), (5000, 4995));
    assert_eq!((damaged.missing, damaged.wrong, damaged.unreadable), (3, 2, 0));
    assert_eq!(named(&damaged, Kind::Missing), ["key = 17", "key = 1234", "key = 4999"]);
    assert_eq!(named(&damaged, Kind::Wrong), ["key = 42", "key = 43"]);
    let wrong: Vec<&Example> = damaged.examples.iter().filter(|example| example.kind == Kind::Wrong).collect();
    assert!(wrong[0].detail.starts_with("value is 0x00 and should be 0x"), "{wrong:?}");
    assert!(wrong[1].detail.starts_with("value is null and should be 0x"), "{wrong:?}");
    assert!(damaged.has_damage());

    // Three requests were not acknowledged, so the node may lack their rows.
    let mut acknowledged = Acknowledged::default();
    assert!((0..5000).filter(|key| ![17, 42, 4999].contains(key)).all(|key: i64| acknowledged.add(-1 - key)));
    let verified = read_back(&Verify { acknowledged: Some(acknowledged), ..order.clone() });
    assert_eq!((verified.right, verified.unacknowledged, verified.missing, verified.wrong), (4995, 2, 1, 2));
    assert_eq!(named(&verified, Kind::Missing), ["key = 1234"]);

    // Rows that were never written are reported as missing; another seed expects other values.
    let fewer = Verify { populated: Some(10), ..order.clone() };
    assert_eq!(read_back(&fewer).checked, 10);
    let mut other = order;
    other.workload.seed = 2;
    other.populated = Some(10);
    assert_eq!(read_back(&other).wrong, 10);
}

fn a_mix_may_leave_the_value_of_any_of_its_writes(node: &str, side_session: &SideSession) {
    side_session.run("TRUNCATE helenus.keyvalue");
    let mut workload = Workload::open("keyvalue/mixed").unwrap();
    workload.set_population(300);
    let phases = vec![Phase::in_flight(16, Until::Count(700)), Phase::rate(1000.0, Until::Count(300)).poisson(1)];
    let summary = drive(&plan(workload.clone(), phases, node));
    assert_eq!((summary.requests, summary.errors.len()), (1000, 0));
    let order = Verify { requests: 1000, ..Verify::new(workload, vec![node.to_string()]) };
    let verified = read_back(&order);
    // Some 500 writes to 300 keys.
    assert!((200..300).contains(&verified.checked) && verified.is_right(), "{verified:?}");
    assert_eq!(side_session.whole("SELECT count(*) FROM helenus.keyvalue"), verified.checked as i64);
    // If the last hundred requests are left out, rows that only they wrote are not checked, and rows that they changed
    // differ.
    let fewer = read_back(&Verify { requests: 900, ..order });
    assert!(fewer.missing == 0 && fewer.wrong > 0, "{fewer:?}");
}

fn batches_fill_partitions_and_are_read_in_pages(node: &str, side_session: &SideSession) {
    let (workload, summary) = populated("wide-rows", 10, node);
    // 10 partitions of 1000 rows, with 50 rows in a request.
    assert_eq!(summary.requests, 200);
    assert_eq!(side_session.whole("SELECT count(*) FROM helenus.wide_rows"), 10_000);
    let order = Verify::new(workload.clone(), vec![node.to_string()]);
    let verified = read_back(&order);
    assert_eq!((verified.checked, verified.right), (10_000, 10_000));
    assert_eq!(verified.columns, ["row", "value"]);

    side_session.run("DELETE FROM helenus.wide_rows WHERE partition = 0 AND row >= 990");
    side_session.run("INSERT INTO helenus.wide_rows (partition, row, value) VALUES (0, 5, 0xff)");
    let damaged = read_back(&order);
    assert_eq!((damaged.missing, damaged.wrong), (10, 1));
    assert_eq!(named(&damaged, Kind::Wrong), ["partition = 0, row = 5"]);
    assert_eq!(named(&damaged, Kind::Missing)[0], "partition = 0, row = 990");

    // The same rows are read as whole partitions and found by their keys.
    let mut whole = Verify { populated: Some(20), ..order };
    let position = whole.workload.operations.iter().position(|operation| operation.name == "whole").unwrap();
    whole.workload.verify.as_mut().unwrap().operation = position;
    let damaged = read_back(&whole);
    assert_eq!((damaged.checked, damaged.missing, damaged.wrong), (1000, 10, 1));

    let mut pages = workload;
    pages.choose_mix("whole=1,slice=1,delete=1,describe=1,fill=1").unwrap();
    let summary = drive(&plan(pages, vec![Phase::in_flight(4, Until::Count(200))], node));
    assert_eq!((summary.errors.len(), summary.phases[0].empty), (0, 0), "{:?}", summary.errors);
}

fn conditions_that_do_not_hold_are_counted(node: &str) {
    let (mut workload, summary) = populated("lightweight", 50, node);
    assert_eq!(summary.phases[0].not_applied, 0);
    workload.choose_mix("write").unwrap();
    let summary = drive(&plan(workload.clone(), vec![Phase::in_flight(4, Until::Count(40))], node));
    let phase = &summary.phases[0];
    assert_eq!((phase.ok, phase.failed, phase.not_applied, phase.empty), (40, 0, 40, 0));
    assert!(read_back(&Verify::new(workload, vec![node.to_string()])).is_right());
}

fn counters_add_up(node: &str, side_session: &SideSession) {
    let (mut workload, _) = populated("counter", 20, node);
    let before = side_session.whole("SELECT CAST(sum(hits) AS bigint) FROM helenus.counter");
    assert!((20..=200).contains(&before), "{before}");
    workload.choose_mix("write").unwrap();
    let operation = &mut workload.operations[1];
    assert_eq!(operation.name, "write");
    operation.batch = Some(helenus_load::workload::Batch {
        rows: 10,
        kind: helenus_load::workload::BatchKind::Counter,
        by: Vec::new(),
    });
    let summary = drive(&plan(workload, vec![Phase::in_flight(2, Until::Count(5))], node));
    assert_eq!(summary.errors.len(), 0, "{:?}", summary.errors);
    let after = side_session.whole("SELECT CAST(sum(hits) AS bigint) FROM helenus.counter");
    assert!((50..=500).contains(&(after - before)), "{before} {after}");
}

const EXPIRING: &str = r#"
schema = [
  "CREATE KEYSPACE IF NOT EXISTS helenus WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  "CREATE TABLE IF NOT EXISTS helenus.expiring (key text PRIMARY KEY, tags list<text>, sizes set<int>, about text)",
]
[parameters.key]
kind = "key"
population = 100
prefix = "k"
[parameters.tags]
kind = "value"
size_bytes = 6
content = "text"
min_items = 0
max_items = 4
[parameters.sizes]
kind = "integer"
max = 1000
items = 3
[parameters.about]
kind = "value"
min_bytes = 50
max_bytes = 500
content = "json"
[parameters.ttl]
kind = "integer"
min = 500
max = 1000
[operations.write]
cql = "INSERT INTO helenus.expiring (key, tags, sizes, about) VALUES (:key, :tags, :sizes, :about) USING TTL :ttl"
[operations.read]
cql = "SELECT about FROM helenus.expiring WHERE key = :key"
[populate]
operation = "write"
[verify]
operation = "read"
"#;

fn rows_expire(node: &str, side_session: &SideSession) {
    let workload = Workload::from_toml("expiring", "expiring.toml", EXPIRING).unwrap();
    let mut plan = plan(workload.clone(), Vec::new(), node);
    plan.populate = true;
    assert_eq!(drive(&plan).errors.len(), 0);
    let ttl = side_session.whole("SELECT CAST(max(ttl(about)) AS bigint) FROM helenus.expiring");
    assert!((400..=1000).contains(&ttl), "{ttl}");
    let verified = read_back(&Verify::new(workload, vec![node.to_string()]));
    assert_eq!((verified.checked, verified.right), (100, 100), "{verified:?}");
}

fn what_cannot_be_verified_says_why(node: &str) {
    let refused = |workload: Workload| {
        let order = Verify::new(workload, vec![node.to_string()]);
        verify(&order, &Cancel::new(), &mut |_| {}).unwrap_err().to_string()
    };
    let (series, _) = populated("timeseries", 10, node);
    let without = refused(series.clone());
    assert!(without.contains("has no [verify]"), "{without}");
    let (read, write) = (0, 1);
    let mut clock = series;
    clock.verify =
        Some(helenus_load::workload::Verification { operation: read, written_by: write, columns: Vec::new() });
    let clock = refused(clock);
    assert!(clock.contains("`:day` of the operation that reads is the time of a request"), "{clock}");
    let mut nowhere = Workload::open("keyvalue").unwrap();
    nowhere.verify.as_mut().unwrap().columns = vec![("nothing".to_string(), "value".to_string())];
    assert!(refused(nowhere).contains("has no column `nothing`"));
}

fn poisson_arrivals_and_traces_are_sent_whole(node: &str) {
    let mut workload = Workload::open("keyvalue/mixed").unwrap();
    workload.set_population(1000);
    let trace = Arc::new(Trace::parse("trace.txt", "1700000000\n1700000000.1\n1700000000.1\n1700000000.35\n").unwrap());
    let phases = vec![
        Phase::rate(400.0, Until::Elapsed(SECOND)).poisson(3),
        Phase::trace(trace),
        Phase::ramp(100.0, 500.0, SECOND).poisson(4),
    ];
    let scheduled: Vec<u64> = phases.iter().map(|phase| Offsets::of(phase).unwrap().count()).collect();
    for threads in [1, 3] {
        let summary = drive(&Plan { threads, ..plan(workload.clone(), phases.clone(), node) });
        let sent: Vec<u64> = summary.phases.iter().map(|phase| phase.ok).collect();
        assert_eq!((&sent, summary.lag.unsent), (&scheduled, 0));
    }
}

/// Three groups with a second between them: each sends its own count, and the last one begins after two seconds.
fn a_surge_does_its_count(node: &str) {
    let mut workload = Workload::open("keyvalue/write").unwrap();
    workload.set_population(1000);
    for threads in [1, 2] {
        let phases = vec![Phase::surge(3, SECOND, 2, 100)];
        let summary = drive(&Plan { threads, ..plan(workload.clone(), phases, node) });
        let phase = &summary.phases[0];
        assert_eq!((phase.ok, phase.failed, phase.in_flight), (300, 0, Some(6)));
        let lasted_ns = phase.end_ns - phase.start_ns;
        assert!((2_000_000_000..60_000_000_000).contains(&lasted_ns), "{lasted_ns}");
    }
    let mut order = Verify::new(workload, vec![node.to_string()]);
    order.requests = 300;
    let verified = read_back(&order);
    assert!(verified.is_right() && verified.checked > 200, "{verified:?}");
}
