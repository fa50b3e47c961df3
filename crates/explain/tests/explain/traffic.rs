//! Requests of clients other than the load driver, seen on the wire.

use crate::world::{MS, NODE, Random, S, T0, check_wording};
use arrow::array::AsArray;
use helenus_explain::{
    Engine, Explanation, Options, Provider, Severity, TrafficFilter, client_traffic, contradictions, explain,
    statement_detail, statement_traffic,
};
use helenus_recording::{Manifest, NodeFacts, Recorder, Recording, rows};
use tempfile::TempDir;

pub const SECONDS: i64 = 20;
const RATE_PER_S: i64 = 500;
const CLIENTS: [&str; 4] = ["127.0.0.11", "127.0.0.12", "127.0.0.13", "127.0.0.14"];
const READ: &str = "SELECT name FROM shop.customers WHERE id = ?";
pub const ORDERS: &str = "SELECT * FROM shop.orders WHERE customer = ?";
const WRITE: &str = "INSERT INTO shop.orders (customer, at) VALUES (?, ?)";

/// A request that a test can change; its number identifies it.
#[derive(Clone, Copy)]
pub struct Sent {
    pub at: i64,
    pub number: i64,
    pub duration_ns: i64,
    pub client: &'static str,
    pub statement: &'static str,
    pub response_bytes: i64,
    pub error: Option<&'static str>,
}

fn record(seed: u64, change: impl Fn(&mut Sent)) -> (Recording, TempDir) {
    record_beside(seed, change, |_| {})
}

/// Records the given requests and other rows.
pub fn record_beside(seed: u64, change: impl Fn(&mut Sent), more: impl FnOnce(&Recorder)) -> (Recording, TempDir) {
    let folder = TempDir::new().unwrap();
    let mut manifest = Manifest::new("traffic", "helenus record");
    manifest.created_ns = T0;
    manifest.nodes.push(NodeFacts { address: NODE.into(), ..NodeFacts::default() });
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, manifest).unwrap();
    let mut random = Random::new(seed);
    for number in 0..SECONDS * RATE_PER_S {
        let mut sent = Sent {
            at: number * S / RATE_PER_S,
            number,
            duration_ns: (-random.share().ln() * MS as f64) as i64 + 100_000,
            client: CLIENTS[(random.share() * 3.99) as usize],
            statement: if random.share() < 0.5 { READ } else { WRITE },
            response_bytes: 100 + (random.share() * 300.0) as i64,
            error: None,
        };
        change(&mut sent);
        recorder.append(rows::WireRequest {
            start_ns: T0 + sent.at,
            duration_ns: sent.duration_ns,
            node: NODE,
            client: sent.client,
            client_port: 40_000 + number % 8,
            stream: number % 100,
            opcode: "EXECUTE",
            statement: sent.statement,
            answer: if sent.error.is_some() { "error" } else { "rows" },
            error: sent.error,
            request_bytes: 60,
            response_bytes: sent.response_bytes,
            ..rows::WireRequest::default()
        });
        // Protocol messages other than requests are not counted.
        if number % 100 == 0 {
            recorder.append(rows::WireRequest {
                start_ns: T0 + sent.at,
                duration_ns: 5 * S,
                node: NODE,
                opcode: "OPTIONS",
                ..rows::WireRequest::default()
            });
        }
    }
    more(&recorder);
    recorder.close().unwrap();
    (Recording::open(&path).unwrap(), folder)
}

pub fn explained(recording: &Recording) -> Explanation {
    let engine = Engine::open(std::slice::from_ref(recording)).unwrap();
    let explanation = explain(&engine, &Options::default()).unwrap();
    let contradictions = contradictions(&explanation.findings);
    assert!(contradictions.is_empty(), "{contradictions:#?}\n{explanation}");
    check_wording(&explanation);
    explanation
}

fn explain_traffic(change: impl Fn(&mut Sent)) -> Explanation {
    let (recording, _folder) = record(7, change);
    explained(&recording)
}

/// The seconds in which a load in another process populated, as its recorder writes them: a row for each second.
fn populating(recorder: &Recorder, seconds: std::ops::Range<i64>) {
    for second in seconds {
        recorder.append(rows::Mark {
            start_ns: T0 + second * S,
            end_ns: T0 + (second + 1) * S,
            kind: "unjudged",
            name: "populate",
            ..rows::Mark::default()
        });
    }
}

/// The populating is slow throughout, and two stops of 0.3 s follow it.
fn populated_and_then_stopped(sent: &mut Sent) {
    if sent.at < 12 * S {
        sent.duration_ns += 800 * MS;
    }
    for stop in [15 * S, 18 * S] {
        if (stop..stop + 300 * MS).contains(&sent.at) {
            sent.duration_ns += stop + 300 * MS - sent.at;
        }
    }
}

#[test]
fn the_populating_of_a_load_in_another_process_is_not_judged() {
    let explanation = {
        let (recording, _folder) = record_beside(7, populated_and_then_stopped, |recorder| populating(recorder, 0..12));
        explained(&recording)
    };
    assert_eq!((explanation.judged_requests, explanation.requests), (8 * 500, 20 * 500), "{explanation}");
    assert!(explanation.slow_threshold_ms < 310.0, "of the stops: {explanation}");
    let names: Vec<(&str, bool)> =
        explanation.phases.iter().map(|phase| (phase.name.as_str(), phase.measured)).collect();
    assert_eq!(names, [("populate", false), ("the rest of the recording", true)]);
}

#[test]
fn what_is_judged_although_it_should_not_be_is_named() {
    let (recording, _folder) = record_beside(7, populated_and_then_stopped, |recorder| populating(recorder, -1..30));
    let explanation = explained(&recording);
    assert_eq!(explanation.judged_requests, 20 * 500);
    let named = "on the wire, all of phases that are not to be judged (populate), in";
    assert!(explanation.answer.contains(named), "{}", explanation.answer);
}

#[test]
fn one_wide_partition_among_many_is_found_by_its_statement() {
    let explanation = explain_traffic(|sent| {
        if sent.number % 33 == 0 {
            (sent.statement, sent.response_bytes) = (ORDERS, 676_000);
            sent.duration_ns += 24 * MS;
        }
    });
    assert_eq!((explanation.provider, explanation.judged_requests), (Provider::Wire, 10_000));
    let top = &explanation.findings[0];
    assert_eq!((top.finding, top.severity), ("in-common", Severity::Warning), "{explanation}");
    assert!(top.title.contains(ORDERS) && top.title.contains("(3.0 % of all)"), "{}", top.title);
    assert!(top.share.unwrap() > 0.95 && top.chance_share.unwrap() < 0.05 && top.p_value.unwrap() < 0.01);
    assert!(explanation.findings.iter().all(|finding| finding.finding != "unexplained"), "{explanation}");
}

/// A large read keeps the CPUs of node and client busy. Busy CPUs are its consequence and not the cause.
#[test]
fn busy_cpus_do_not_hide_the_statement_that_makes_them_busy() {
    let wide = |sent: &mut Sent| {
        if sent.number % 250 < 8 {
            (sent.statement, sent.response_bytes) = (ORDERS, 676_000);
            sent.duration_ns += (20 + sent.number % 16) * MS;
        }
    };
    let busy = |recorder: &Recorder| {
        let interval_ns = S / 10;
        for tenth in 0..SECONDS * 10 {
            let busy_ns = if tenth % 5 == 0 { interval_ns } else { interval_ns / 5 };
            for cpu in 0..2 {
                recorder.append(rows::CpuSample {
                    time_ns: T0 + (tenth + 1) * interval_ns,
                    interval_ns,
                    node: NODE,
                    cpu,
                    user_ns: busy_ns,
                    idle_ns: interval_ns - busy_ns,
                    ..rows::CpuSample::default()
                });
            }
        }
    };
    let (recording, _folder) = record_beside(7, wide, busy);
    let explanation = explained(&recording);
    let top = &explanation.findings[0];
    assert!(top.finding == "in-common" && top.title.contains(ORDERS), "{explanation}");
    assert!(top.share.unwrap() > 0.9, "{explanation}");
}

/// The finding names the statement even if the response size explains more.
#[test]
fn a_size_is_told_with_its_statement() {
    let explanation = explain_traffic(|sent| {
        if sent.number % 20 == 0 {
            sent.statement = ORDERS;
            if sent.number % 40 == 0 {
                sent.response_bytes = 676_000;
                sent.duration_ns += 24 * MS;
            }
        }
    });
    let top = &explanation.findings[0];
    assert_eq!(top.finding, "in-common", "{explanation}");
    assert!(top.title.contains("answers from 512.0 KiB") && top.detail.contains(ORDERS), "{explanation}");
}

#[test]
fn one_slow_client_is_found() {
    let explanation = explain_traffic(|sent| {
        if sent.client == CLIENTS[2] && sent.number % 5 == 0 {
            sent.duration_ns += 60 * MS;
        }
    });
    let top = &explanation.findings[0];
    assert!(top.finding == "in-common" && top.title.contains(CLIENTS[2]), "{explanation}");
}

#[test]
fn two_reasons_are_both_named() {
    let explanation = explain_traffic(|sent| {
        if sent.number % 200 == 0 {
            sent.statement = ORDERS;
            sent.duration_ns += 40 * MS;
        } else if sent.number % 200 == 7 {
            sent.client = "127.0.0.99";
            sent.duration_ns += 40 * MS;
        }
    });
    let top = &explanation.findings[0];
    assert_eq!(top.finding, "in-common", "{explanation}");
    let text = format!("{} {}", top.title, top.detail);
    assert!(text.contains(ORDERS) && text.contains("127.0.0.99"), "{explanation}");
}

/// The next step for a statement depends on its kind.
#[test]
fn a_scan_is_told_to_ask_by_its_key() {
    const SCAN: &str = "SELECT id FROM shop.customers WHERE name = ? ALLOW FILTERING";
    let explanation = explain_traffic(|sent| {
        if sent.number % 40 == 0 {
            (sent.statement, sent.duration_ns) = (SCAN, sent.duration_ns + 70 * MS);
        }
    });
    let top = &explanation.findings[0];
    assert!(top.finding == "in-common" && top.next.contains("partition key"), "{explanation}");
}

/// The node's own figures show why these requests are slow, and what to change.
#[test]
fn advice_about_what_the_slow_requests_have_in_common_is_told_with_it() {
    const CLAIM: &str = "UPDATE shop.claims SET owner = ? WHERE name = ? IF owner != ?";
    let slow_claims = |sent: &mut Sent| {
        if sent.number % 40 == 0 {
            (sent.statement, sent.duration_ns) = (CLAIM, sent.duration_ns + 70 * MS);
        }
    };
    let (recording, _folder) = record_beside(7, slow_claims, |recorder| {
        for (second, transactions) in [(0, 0), (15, 200)] {
            recorder.append(rows::TableSample {
                time_ns: T0 + second * S,
                node: NODE,
                keyspace: "shop",
                table_name: "claims",
                ..rows::TableSample::default()
            });
            for (metric, value) in [("Latency", transactions), ("ContentionHistogram", transactions * 3 / 4)] {
                recorder.append(rows::NodeMetric {
                    time_ns: T0 + second * S,
                    node: NODE,
                    kind: "ClientRequest",
                    scope: "CASWrite",
                    metric,
                    attribute: "Count",
                    value,
                });
            }
        }
    });
    let explanation = explained(&recording);
    let top = &explanation.findings[0];
    assert_eq!(top.finding, "in-common", "{explanation}");
    assert!(top.detail.contains("75 % of 200 transactions met others"), "{}", top.detail);
    assert!(top.next.contains("one client at a time"), "{}", top.next);
    assert!(explanation.findings.iter().all(|finding| finding.finding != "lwt-contention"), "{explanation}");
}

/// Requests that do not read the table with many tombstones can't be slow because of it.
#[test]
fn advice_about_another_table_comes_after_what_explains_the_slow_requests() {
    for table_name in ["carts", "orders"] {
        let wide = |sent: &mut Sent| {
            if sent.number % 33 == 0 {
                (sent.statement, sent.duration_ns) = (ORDERS, sent.duration_ns + 24 * MS);
            }
        };
        let (recording, _folder) = record_beside(7, wide, |recorder| {
            recorder.append(rows::TableSample {
                time_ns: T0 + 15 * S,
                node: NODE,
                keyspace: "shop",
                table_name,
                tombstones_per_slice_p95: Some(5000.0),
                live_cells_per_slice_p95: Some(1.0),
                ..rows::TableSample::default()
            });
        });
        let explanation = explained(&recording);
        let top = &explanation.findings[0];
        assert_eq!(top.finding, "in-common", "{explanation}");
        let is_apart = explanation.findings.iter().any(|finding| finding.finding == "tombstones-per-read");
        let is_told_with_it = top.next.contains("Delete whole partitions");
        assert_eq!((is_apart, is_told_with_it), (table_name == "carts", table_name == "orders"), "{explanation}");
    }
}

#[test]
fn what_chance_gives_is_nothing_in_common() {
    for seed in 0..20 {
        // Now and then the node is slow for a while, for every client and every statement.
        let (recording, _folder) = record(seed, |sent| {
            if sent.at / (S / 4) % 13 == 5 {
                sent.duration_ns += 30 * MS;
            }
        });
        let explanation = explained(&recording);
        let found = explanation.findings.iter().find(|finding| finding.finding == "in-common");
        assert!(found.is_none(), "seed {seed}: {explanation}");
    }
}

#[test]
fn traffic_in_health_has_nothing_above_information() {
    let explanation = explain_traffic(|_| {});
    assert_eq!(explanation.severity(), Severity::Information, "{explanation}");
    assert!(explanation.findings.iter().any(|finding| finding.finding == "healthy"), "{explanation}");
    assert!(explanation.summary().contains("seen on the wire"), "{}", explanation.summary());
}

#[test]
fn errors_of_clients_are_counted() {
    let explanation = explain_traffic(|sent| {
        if sent.number % 50 == 0 {
            sent.error = Some("overloaded");
        }
    });
    let errors = explanation.findings.iter().find(|finding| finding.finding == "errors").unwrap();
    assert!(errors.title.contains("200 overloaded"), "{}", errors.title);
}

#[test]
fn all_requests_have_one_shape_whoever_saw_them() {
    let (recording, _folder) = record(7, |_| {});
    let engine = Engine::open(&[recording]).unwrap();
    let shapes = engine
        .sql(
            "SELECT provider || ' ' || kind || ' ' || keyspace || '.' || table_name || ' ' || count(*) AS shape \
             FROM all_requests GROUP BY provider, kind, keyspace, table_name ORDER BY kind",
        )
        .unwrap();
    let shapes: Vec<String> = shapes
        .batches()
        .iter()
        .flat_map(|batch| batch.column(0).as_string::<i32>().iter().flatten().map(str::to_string).collect::<Vec<_>>())
        .collect();
    let requests = SECONDS * RATE_PER_S;
    let reads = shapes[0].strip_prefix("wire read shop.customers ").unwrap().parse::<i64>().unwrap();
    assert_eq!(shapes[1..], [format!("wire write shop.orders {}", requests - reads)]);
}

#[test]
fn where_nothing_was_recorded_nothing_is_called_healthy() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    Recorder::create(&path, Manifest::new("nothing", "helenus record")).unwrap().close().unwrap();
    let explanation = explained(&Recording::open(&path).unwrap());
    assert_eq!(explanation.findings[0].finding, "no-requests", "{explanation}");
    assert!(explanation.findings.iter().all(|finding| finding.finding != "healthy"), "{explanation}");
}

/// In the first half all connections are followed, in the second half one of four.
#[test]
fn requests_of_connections_that_are_followed_stand_for_the_others() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, Manifest::new("sampled", "helenus record")).unwrap();
    for number in 0..2000 {
        let (is_sampled, port) = (number >= 1000, number % 8);
        if is_sampled && port >= 2 {
            continue;
        }
        recorder.append(rows::WireRequest {
            start_ns: T0 + number * MS,
            duration_ns: MS,
            node: NODE,
            client: CLIENTS[0],
            client_port: port,
            opcode: "EXECUTE",
            statement: if number % 2 == 0 { READ } else { WRITE },
            answer: "rows",
            error: (number % 2 == 0).then_some("overloaded"),
            response_bytes: 100,
            weight: is_sampled.then_some(4.0),
            ..rows::WireRequest::default()
        });
    }
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    let statements = statement_traffic(&engine, &TrafficFilter::default()).unwrap();
    for row in &statements.rows {
        assert_eq!((row.figures.requests, row.figures.response_bytes), (1000, Some(100_000)), "{row:?}");
        assert!((row.figures.time_share - 0.5).abs() < 1e-9, "{row:?}");
    }
    let errors = statements.rows.iter().find(|row| row.operation == READ).unwrap();
    assert_eq!((errors.figures.errors, errors.errors_by_outcome["overloaded"]), (1000, 1000));
    let clients = client_traffic(&engine, &TrafficFilter::default()).unwrap();
    assert_eq!((clients.rows[0].figures.requests, clients.rows[0].figures.errors), (2000, 1000));
    assert!((statements.weight - 1.6).abs() < 1e-9);
    let explanation = explain(&engine, &Options::default()).unwrap();
    assert!(explanation.summary().contains("counts for 1.6 on average"), "{}", explanation.summary());
}

#[test]
fn a_statement_has_its_levels_pages_rows_latencies_and_drivers() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, Manifest::new("detail", "helenus record")).unwrap();
    for number in 0..1000 {
        recorder.append(rows::WireRequest {
            start_ns: T0 + number * MS,
            duration_ns: if number == 500 { 80 * MS } else { MS },
            node: NODE,
            client: CLIENTS[0],
            client_port: 5000 + number % 2,
            opcode: "EXECUTE",
            statement: "SELECT * FROM orders WHERE customer = ?",
            keyspace: Some("shop"),
            consistency: Some(if number % 4 == 0 { "LOCAL_QUORUM" } else { "ONE" }),
            further_page: number % 2 == 1,
            answer: "rows",
            rows_returned: Some(3),
            response_bytes: 100,
            ..rows::WireRequest::default()
        });
    }
    recorder.append(rows::ClientConnection {
        time_ns: T0,
        node: NODE,
        client: CLIENTS[0],
        client_port: 5000,
        driver: Some("Some Driver"),
        driver_version: Some("1.2"),
    });
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    let filter = TrafficFilter::default();
    let statements = statement_traffic(&engine, &filter).unwrap();
    let row = &statements.rows[0];
    assert_eq!((row.keyspace.as_deref(), row.table.as_deref()), (Some("shop"), Some("orders")));
    assert_eq!((row.rows_returned, row.most_rows, row.further_pages), (Some(3000), Some(3), Some(500)));
    assert_eq!((row.consistency["LOCAL_QUORUM"], row.consistency["ONE"]), (250, 750));
    let detail = statement_detail(&engine, &row.operation, &filter).unwrap();
    assert_eq!(detail.histogram.iter().map(|cell| cell.requests).sum::<i64>(), 1000);
    let (first, last) = (&detail.histogram[0], detail.histogram.last().unwrap());
    assert!(first.requests == 999 && first.from_ms <= 1.0 && first.to_ms > 1.0, "{first:?}");
    assert!(last.requests == 1 && last.from_ms <= 80.0 && last.to_ms > 80.0, "{last:?}");
    assert_eq!((detail.slowest.len(), detail.slowest[0].response_ms), (10, 80.0));
    let clients = client_traffic(&engine, &filter).unwrap();
    assert_eq!(
        (clients.rows[0].connections, clients.rows[0].drivers.as_slice()),
        (2, &["Some Driver 1.2".to_string()][..])
    );
    assert!((clients.rows[0].in_flight - 1.08).abs() < 0.1, "{}", clients.rows[0].in_flight);
}
