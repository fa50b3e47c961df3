//! Findings of what clients' slow requests have in common: rows, bytes, pages, consistency levels and coordinators from the wire.

use crate::world::{MS, NODE, Random, S, T0, check_wording};
use helenus_explain::{Engine, Explanation, Finding, Options, Severity, SlowThreshold, contradictions, explain};
use helenus_recording::{Manifest, NodeFacts, Recorder, Recording, rows};
use tempfile::TempDir;

pub const REQUESTS: i64 = 10_000;
const SECONDS: i64 = 20;
pub const STATEMENTS: [&str; 2] =
    ["SELECT * FROM orders WHERE customer = ?", "INSERT INTO orders (customer, at) VALUES (?, ?)"];
const HOT: i64 = -4_069_959_284_402_364_209;

/// A request whose fields a test can change.
pub struct Sent {
    pub at: i64,
    pub duration_ns: i64,
    pub statement: &'static str,
    pub consistency: &'static str,
    further_page: bool,
    rows: i64,
    token: Option<i64>,
    to_replica: Option<bool>,
}

fn explained(seed: u64, change: impl Fn(&mut Sent, &mut Random)) -> Explanation {
    explained_with(seed, change, |_, _| {})
}

/// As `explained`, with more rows, which may depend on the requests.
fn explained_with(
    seed: u64,
    change: impl Fn(&mut Sent, &mut Random),
    more: impl FnOnce(&Recorder, &[Sent]),
) -> Explanation {
    let folder = TempDir::new().unwrap();
    explained_by(&recorded(&folder, seed, change, more), &Options::default())
}

pub fn explained_by(engine: &Engine, options: &Options) -> Explanation {
    let explanation = explain(engine, options).unwrap();
    let contradictions = contradictions(&explanation.findings);
    assert!(contradictions.is_empty(), "{contradictions:#?}\n{explanation}");
    check_wording(&explanation);
    explanation
}

pub fn recorded(
    folder: &TempDir,
    seed: u64,
    change: impl Fn(&mut Sent, &mut Random),
    more: impl FnOnce(&Recorder, &[Sent]),
) -> Engine {
    let mut manifest = Manifest::new("in common", "helenus record");
    manifest.created_ns = T0;
    manifest.nodes.push(NodeFacts { address: NODE.into(), ..NodeFacts::default() });
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, manifest).unwrap();
    let mut random = Random::new(seed);
    let mut all = Vec::new();
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
        all.push(sent);
    }
    more(&recorder, &all);
    recorder.close().unwrap();
    Engine::open(&[Recording::open(&path).unwrap()]).unwrap()
}

/// Checks that the first finding is about what the slow requests have in common, and that it contains this text.
fn found(explanation: &Explanation, title: &str) -> Finding {
    let top = &explanation.findings[0];
    assert!(top.finding == "in-common" && top.title.contains(title), "{title}: {explanation}");
    top.clone()
}

/// CPUs that are busy all the time.
fn busy_cpus(recorder: &Recorder) {
    for tenth in 1..=SECONDS * 10 {
        recorder.append(rows::CpuSample {
            time_ns: T0 + tenth * S / 10,
            interval_ns: S / 10,
            node: NODE,
            user_ns: S / 10,
            ..rows::CpuSample::default()
        });
    }
}

/// Seven requests are slow, and six of them are of a statement that one request in fifty sends.
#[test]
fn what_six_of_seven_slow_requests_share_comes_before_busy_cpus_that_are_not_tested() {
    const RARE: &str = "SELECT * FROM orders WHERE customer = ? AND at > ?";
    let slow_of_it = |of_it: usize| {
        move |sent: &mut Sent, random: &mut Random| {
            let place = (sent.at / (2806 * MS)) as usize;
            let is_slow = sent.at % (2806 * MS) == 0 && place > 0;
            let is_rare = if is_slow { place <= of_it } else { random.share() < 0.02 };
            sent.statement = if is_rare { RARE } else { sent.statement };
            sent.duration_ns = if is_slow { 300 * MS } else { sent.duration_ns };
        }
    };
    let of_seven = |of_it: usize| {
        let folder = TempDir::new().unwrap();
        let engine = recorded(&folder, 7, slow_of_it(of_it), |recorder, _| busy_cpus(recorder));
        let options = Options { threshold: SlowThreshold::Time(100 * MS), ..Options::default() };
        let explanation = explained_by(&engine, &options);
        assert_eq!(explanation.slow_requests, 7);
        explanation
    };
    let top = found(
        &of_seven(6),
        "86 % of the slow requests are `SELECT * FROM shop.orders WHERE customer = ? AND at > ?` (2",
    );
    assert!(top.severity > Severity::Information && top.p_value.unwrap() < 0.01, "{top:?}");
    // One of seven is chance.
    let by_chance = of_seven(1);
    assert_eq!(by_chance.findings[0].finding, "cpu-saturation", "{by_chance}");
    assert!(by_chance.findings.iter().all(|finding| finding.finding != "in-common"), "{by_chance}");
}

#[test]
fn a_hot_partition_is_named_by_its_token() {
    let explanation = explained(3, |sent, random| {
        if sent.token == Some(HOT) && random.share() < 0.7 {
            sent.duration_ns += 30 * MS;
        }
    });
    let top = found(&explanation, &format!("one partition: `shop.orders, token {HOT}`"));
    assert!(top.next.contains("helenus partitions --node 127.0.0.1 --keys"), "{}", top.next);
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

/// How long at least one of the large requests was under way, in each tenth of a second, shifted by this many of them.
fn disk_waits(recorder: &Recorder, all: &[Sent], shifted: usize) {
    let tenth = S / 10;
    let mut waited = vec![0; (SECONDS * S / tenth) as usize];
    for sent in all.iter().filter(|sent| sent.rows == 5000) {
        let place = (sent.at / tenth) as usize;
        waited[place] = (waited[place] + sent.duration_ns).min(tenth);
    }
    waited.rotate_left(shifted);
    // An interval without a wait has no row.
    for (place, some_ns) in waited.into_iter().enumerate().filter(|(_, some_ns)| *some_ns > 0) {
        recorder.append(rows::Pressure {
            time_ns: T0 + (place as i64 + 1) * tenth,
            interval_ns: tenth,
            node: NODE,
            resource: "io",
            some_ns,
            ..rows::Pressure::default()
        });
    }
}

#[test]
fn a_disk_that_these_requests_wait_for_is_the_cause() {
    let large = |sent: &mut Sent, random: &mut Random| {
        if random.share() < 0.03 {
            sent.rows = 5000;
            sent.duration_ns += 30 * MS;
        }
    };
    let explanation = explained_with(5, large, |recorder, all| disk_waits(recorder, all, 0));
    let top = &explanation.findings[0];
    assert!(top.finding == "disk-wait" && top.title.contains("return 4,095 rows or more"), "{explanation}");
    assert!(top.detail.contains("of the time in which these requests were under way"), "{}", top.detail);
    // As much waiting at other times has nothing to do with them.
    let explanation = explained_with(5, large, |recorder, all| disk_waits(recorder, all, 83));
    found(&explanation, "return 4,095 rows or more");
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
