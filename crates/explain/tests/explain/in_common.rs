//! Findings of what clients' slow requests have in common: rows, bytes, pages, consistency levels and coordinators from the wire.

use crate::world::{MS, NODE, Random, S, T0, check_wording};
use helenus_explain::{Engine, Explanation, Finding, Options, contradictions, explain};
use helenus_recording::{Manifest, NodeFacts, Recorder, Recording, rows};
use tempfile::TempDir;

const REQUESTS: i64 = 10_000;
const SECONDS: i64 = 20;
const STATEMENTS: [&str; 2] =
    ["SELECT * FROM orders WHERE customer = ?", "INSERT INTO orders (customer, at) VALUES (?, ?)"];
const HOT: i64 = -4_069_959_284_402_364_209;

/// A request whose fields a test can change.
struct Sent {
    at: i64,
    duration_ns: i64,
    statement: &'static str,
    consistency: &'static str,
    further_page: bool,
    rows: i64,
    token: Option<i64>,
    to_replica: Option<bool>,
}

fn explained(seed: u64, change: impl Fn(&mut Sent, &mut Random)) -> Explanation {
    let folder = TempDir::new().unwrap();
    let mut manifest = Manifest::new("in common", "helenus record");
    manifest.created_ns = T0;
    manifest.nodes.push(NodeFacts { address: NODE.into(), ..NodeFacts::default() });
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, manifest).unwrap();
    let mut random = Random::new(seed);
    for number in 0..REQUESTS {
        let mut sent = Sent {
            at: number * SECONDS * S / REQUESTS,
            duration_ns: (-random.share().ln() * MS as f64) as i64 + 100_000,
            statement: STATEMENTS[usize::from(random.share() < 0.5)],
            consistency: if random.share() < 0.5 { "LOCAL_ONE" } else { "LOCAL_QUORUM" },
            further_page: random.share() < 0.1,
            rows: (random.share() * 100.0) as i64,
            token: (random.share() < 0.9).then(|| ((random.share() - 0.5) * 1.8e19) as i64),
            to_replica: Some(random.share() < 0.7),
        };
        // Many requests are about few partitions, and one in fifty about a single one.
        if random.share() < 0.02 {
            sent.token = Some(HOT);
        }
        change(&mut sent, &mut random);
        recorder.append(rows::WireRequest {
            start_ns: T0 + sent.at,
            duration_ns: sent.duration_ns,
            node: NODE,
            client: "127.0.0.11",
            client_port: 40_000 + number % 8,
            opcode: "EXECUTE",
            statement: sent.statement,
            keyspace: Some("shop"),
            consistency: Some(sent.consistency),
            further_page: sent.further_page,
            token: sent.token,
            to_replica: sent.to_replica,
            answer: "rows",
            rows_returned: Some(sent.rows),
            request_bytes: 60,
            response_bytes: 300,
            ..rows::WireRequest::default()
        });
    }
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    let explanation = explain(&engine, &Options::default()).unwrap();
    let contradictions = contradictions(&explanation.findings);
    assert!(contradictions.is_empty(), "{contradictions:#?}\n{explanation}");
    check_wording(&explanation);
    explanation
}

/// Checks that the first finding is about what the slow requests have in common, and that it contains this text.
fn found(explanation: &Explanation, title: &str) -> Finding {
    let top = &explanation.findings[0];
    assert!(top.finding == "in-common" && top.title.contains(title), "{title}: {explanation}");
    top.clone()
}

#[test]
fn a_hot_partition_is_named_by_its_token() {
    let explanation = explained(3, |sent, random| {
        if sent.token == Some(HOT) && random.share() < 0.7 {
            sent.duration_ns += 30 * MS;
        }
    });
    let top = found(&explanation, &format!("one partition: `shop.orders, token {HOT}`"));
    assert!(top.next.contains("helenus partitions --node ADDRESS --keys"), "{}", top.next);
    assert!(top.query.contains(&format!("token = {HOT}")), "{:?}", top.query);
}

#[test]
fn a_consistency_level_is_named() {
    let explanation = explained(4, |sent, random| {
        if random.share() < 0.03 {
            sent.consistency = "ALL";
            sent.duration_ns += 30 * MS;
        }
    });
    found(&explanation, "have consistency level ALL");
}

#[test]
fn a_number_of_rows_is_named() {
    let explanation = explained(5, |sent, random| {
        if random.share() < 0.03 {
            sent.rows = 5000;
            sent.duration_ns += 30 * MS;
        }
    });
    found(&explanation, "return 4,095 rows or more");
}

#[test]
fn pages_after_the_first_are_named() {
    let explanation = explained(6, |sent, random| {
        if sent.further_page && random.share() < 0.3 {
            sent.duration_ns += 30 * MS;
        }
    });
    found(&explanation, "ask for further pages");
}

#[test]
fn requests_to_a_node_that_is_no_replica_are_named() {
    let explanation = explained(7, |sent, random| {
        if sent.to_replica == Some(false) && random.share() < 0.1 {
            sent.duration_ns += 30 * MS;
        }
    });
    let top = found(&explanation, "had no replica as coordinator");
    assert!(top.next.contains("helenus clients"), "{}", top.next);
}

#[test]
fn chance_has_nothing_in_common() {
    for seed in 0..20 {
        let explanation = explained(100 + seed, |sent, _| {
            // Now and then the node is slow for a while, for every request.
            if sent.at / (S / 4) % 13 == 5 {
                sent.duration_ns += 30 * MS;
            }
        });
        let found = explanation.findings.iter().find(|finding| finding.finding == "in-common");
        assert!(found.is_none(), "seed {seed}: {explanation}");
    }
}
