//! Findings about requests of clients that are not ours: of a part of them, and of what they can't see themselves.

use crate::in_common::{REQUESTS, STATEMENTS, Sent, explained_by, recorded};
use crate::world::{MS, NODE, Random, S, T0};
use helenus_explain::{
    Explanation, Finding, Options, Severity, SlowThreshold, TrafficFilter, client_traffic, shared_values,
};
use helenus_recording::{Recorder, rows};
use tempfile::TempDir;

fn only(contains: Option<&str>, client: Option<&str>) -> Options {
    let text = |text: Option<&str>| text.map(str::to_string);
    let only = TrafficFilter { contains: text(contains), client: text(client), ..TrafficFilter::default() };
    Options { only, ..Options::default() }
}

fn named<'a>(explanation: &'a Explanation, name: &str) -> &'a Finding {
    explanation
        .findings
        .iter()
        .find(|finding| finding.finding == name)
        .unwrap_or_else(|| panic!("no {name}: {explanation}"))
}

fn request(at: i64, duration_ns: i64) -> rows::WireRequest<'static> {
    rows::WireRequest {
        start_ns: T0 + at,
        duration_ns,
        node: NODE,
        client: "127.0.0.11",
        client_port: 40_000,
        opcode: "EXECUTE",
        statement: STATEMENTS[0],
        keyspace: Some("shop"),
        answer: "rows",
        ..rows::WireRequest::default()
    }
}

#[test]
fn one_statement_is_judged_by_itself() {
    let folder = TempDir::new().unwrap();
    let [_, write] = STATEMENTS;
    // Writes have the slowest requests; of the reads some are slow, too.
    let engine = recorded(
        &folder,
        8,
        |sent, random| match random.share() {
            share if share < 0.1 && sent.statement == write => sent.duration_ns += 200 * MS,
            share if share < 0.1 => sent.duration_ns += 40 * MS,
            _ => {}
        },
        |_, _| {},
    );
    let all = explained_by(&engine, &Options::default());
    assert_eq!((all.requests as i64, all.judged_requests as i64, &all.chosen), (REQUESTS, REQUESTS, &None));
    assert!(all.slow_threshold_ms > 100.0, "{all}");

    let reads = explained_by(&engine, &only(Some("select * from ORDERS"), None));
    let chosen = reads.chosen.clone().unwrap();
    assert_eq!(chosen.filter, "have `select * from ORDERS` in their statement");
    assert_eq!((reads.requests as i64, reads.judged_requests), (REQUESTS, chosen.requests));
    assert!(chosen.requests as i64 > REQUESTS / 3 && (chosen.requests as i64) < REQUESTS * 2 / 3, "{reads}");
    assert!((40.0..100.0).contains(&reads.slow_threshold_ms), "{reads}");
    assert!(reads.to_string().contains("Only requests that have `select"), "{reads}");
    // The query of a finding is about the same requests.
    let query = reads.findings.iter().map(|finding| &finding.query).find(|query| query.contains("LIMIT 100")).unwrap();
    let of = |verb: &str| engine.sql(&format!("SELECT * FROM ({query}) WHERE operation LIKE '{verb} %'")).unwrap();
    assert!(of("SELECT").rows() > 0 && of("INSERT").rows() == 0, "{query}");

    assert!(reads.answer.contains("requests on the wire that have `select"), "{}", reads.answer);
    let refused = |options: &Options| helenus_explain::explain(&engine, options).unwrap_err().to_string();
    let none = refused(&only(Some("orders"), Some("10.9.9.9")));
    assert!(
        none.contains("none of the 10,000 requests have `orders` in their statement and come from client 10.9.9.9"),
        "{none}"
    );
    assert!(none.contains("the nodes are 127.0.0.1"), "{none}");
    let before = Options { against: Some((T0 - 9 * S, T0)), ..only(Some("orders"), None) };
    assert!(refused(&before).contains("--against"), "{}", refused(&before));
}

fn stop(start_ns: i64, duration_ns: i64) -> rows::Stall<'static> {
    rows::Stall {
        start_ns: T0 + start_ns,
        duration_ns,
        node: NODE,
        side: "server",
        kind: "watcher",
        ..rows::Stall::default()
    }
}

/// A node stands still for four seconds; its clients wait for few requests, and send none meanwhile.
fn stopped(recorder: &Recorder) {
    recorder.append(stop(5 * S, 4 * S));
    (0..3).for_each(|number| recorder.append(request(5 * S - number * MS, 4 * S)));
}

#[test]
fn a_stop_of_seconds_is_told_however_few_requests_met_it() {
    let folder = TempDir::new().unwrap();
    let engine = recorded(
        &folder,
        9,
        |sent, _| {
            if (5 * S..9 * S).contains(&sent.at) {
                sent.at += 4 * S;
            }
        },
        |recorder, _| stopped(recorder),
    );
    let explanation = explained_by(&engine, &Options::default());
    let finding = named(&explanation, "server-stall");
    assert_eq!((finding.severity, finding.rank), (Severity::Warning, 1), "{explanation}");
    assert!(finding.share.unwrap() < 0.05, "{explanation}");
    assert!(
        finding.title.starts_with("127.0.0.1 stood still for 4.0 s at 22:13:25 UTC (no GC pause)"),
        "{}",
        finding.title
    );
    assert!(finding.detail.contains("3 of 10,003 recorded requests met it"), "{}", finding.detail);
    assert!(!explanation.findings.iter().any(|finding| finding.finding == "healthy"), "{explanation}");

    // The time counts, and not whether it has any of the chosen requests.
    let without = Options { window: Some((T0 + 6 * S, T0 + 8 * S)), ..only(Some("orders"), None) };
    assert_eq!(named(&explained_by(&engine, &without), "long-stop").severity, Severity::Warning);
    let later = Options { window: Some((T0 + 10 * S, T0 + 20 * S)), ..Options::default() };
    let later = explained_by(&engine, &later);
    assert!(!later.findings.iter().any(|finding| finding.title.contains("stood still")), "{later}");
}

#[test]
fn a_stop_that_nobody_met_is_no_warning() {
    let folder = TempDir::new().unwrap();
    let engine = recorded(
        &folder,
        14,
        |_, _| {},
        |recorder, _| {
            // After the last request.
            recorder.append(stop(25 * S, 4 * S));
        },
    );
    let explanation = explained_by(&engine, &Options::default());
    assert_eq!(named(&explanation, "long-stop").severity, Severity::Information, "{explanation}");
    assert_eq!(explanation.findings[0].finding, "healthy", "{explanation}");
}

#[test]
fn a_single_long_stop_is_blamed_for_the_requests_that_waited_for_it() {
    let folder = TempDir::new().unwrap();
    let engine = recorded(
        &folder,
        13,
        |sent, _| {
            if (5 * S..17 * S).contains(&sent.at) {
                sent.at = 17 * S + (sent.at - 5 * S) / 4;
            }
        },
        |recorder, _| {
            recorder.append(stop(5 * S, 12 * S));
            (0..60).for_each(|number| recorder.append(request(5 * S - number * MS, 12 * S + number * MS)));
        },
    );
    let explanation = explained_by(&engine, &Options::default());
    let first = &explanation.findings[0];
    assert_eq!((first.finding, first.severity), ("server-stall", Severity::Critical), "{explanation}");
    assert!(!explanation.findings.iter().any(|finding| finding.finding == "long-stop"), "{explanation}");
    assert!(first.share.unwrap() > 0.5, "{explanation}");
}

#[test]
fn answers_that_came_after_the_clients_gave_up_are_told() {
    let folder = TempDir::new().unwrap();
    let engine = recorded(
        &folder,
        10,
        |sent, random| {
            if random.share() < 0.02 {
                sent.duration_ns += 3 * S;
            }
        },
        |recorder, _| {
            recorder.append(rows::ClientConnection {
                time_ns: T0,
                node: NODE,
                client: "127.0.0.11",
                client_port: 40_000,
                driver: Some("DataStax Java driver for Apache Cassandra(R)"),
                driver_version: Some("4.17.0"),
            });
        },
    );
    let explanation = explained_by(&engine, &Options::default());
    let finding = named(&explanation, "late-answers");
    assert_eq!(finding.severity, Severity::Warning, "{explanation}");
    assert!(finding.detail.contains("of them went to 1 client with DataStax Java driver"), "{}", finding.detail);
    assert!(finding.detail.contains("4.17.0, which waits 2.0 s by default"), "{}", finding.detail);
    assert!(finding.evidence["answers"].as_u64().unwrap() > 100, "{}", finding.evidence);
    assert_eq!(engine.sql(&finding.query).unwrap().rows(), 100, "{}", finding.query);
}

/// Every 200 ms a large answer takes 30 ms to leave, and a small one on the same connection leaves right behind it.
fn large_answers(recorder: &Recorder) {
    for at in (0..100).map(|number| number * 200 * MS) {
        let large = rows::WireRequest {
            sending_ns: 30 * MS,
            response_bytes: 2 << 20,
            statement: "SELECT * FROM reports WHERE day = ?",
            ..request(at, 5 * MS)
        };
        recorder.append(large);
        recorder.append(request(at + MS, 34 * MS + MS / 3));
    }
}

#[test]
fn answers_behind_large_ones_are_told_from_slow_ones() {
    let folder = TempDir::new().unwrap();
    let engine = recorded(&folder, 11, |_, _| {}, |recorder, _| large_answers(recorder));
    let explanation = explained_by(&engine, &Options::default());
    let finding = &explanation.findings[0];
    assert!(finding.finding == "in-common" && finding.severity > Severity::Information, "{explanation}");
    assert!(finding.title.contains("were answered behind large answers"), "{}", finding.title);
    assert!(
        finding.detail.contains("100 % of these large answers are of `SELECT * FROM shop.reports"),
        "{}",
        finding.detail
    );
    assert!(finding.next.contains("page size"), "{}", finding.next);
    // The condition of the query finds the requests that were counted.
    let shared = &finding.evidence["shared"][0];
    let condition = shared["condition"].as_str().unwrap();
    let found = engine.sql(&format!("SELECT 1 FROM all_requests WHERE {condition}")).unwrap().rows() as f64;
    let counted = shared["all_share"].as_f64().unwrap() * explanation.judged_requests as f64;
    assert!((found - counted).abs() < 0.5 && found >= 100.0, "{found} and {counted}: {condition}");
}

#[test]
fn what_nearly_all_requests_have_explains_nothing() {
    let [read, write] = STATEMENTS;
    let explained = |reads: f64| {
        let folder = TempDir::new().unwrap();
        // All slow requests are reads.
        let change = |sent: &mut Sent, random: &mut Random| {
            sent.statement = if random.share() < reads { read } else { write };
            if sent.statement == read && random.share() < 0.02 {
                sent.duration_ns += 50 * MS;
            }
        };
        explained_by(&recorded(&folder, 12, change, |_, _| {}), &Options::default())
    };
    let has_it = |explanation: &Explanation| explanation.findings.iter().any(|finding| finding.finding == "in-common");
    let (most, nearly_all) = (explained(0.7), explained(0.88));
    assert!(has_it(&most), "{most}");
    assert!(!has_it(&nearly_all), "{nearly_all}");
}

#[test]
fn a_range_of_response_times_is_judged_against_faster_requests_alone() {
    let folder = TempDir::new().unwrap();
    let [_, write] = STATEMENTS;
    // Writes take 200 ms more at times; requests at one level take 40 ms more at times.
    let engine = recorded(
        &folder,
        8,
        |sent, random| match random.share() {
            share if share < 0.1 && sent.statement == write => sent.duration_ns += 200 * MS,
            share if share < 0.4 && sent.consistency == "LOCAL_QUORUM" => sent.duration_ns += 40 * MS,
            _ => {}
        },
        |_, _| {},
    );
    let only = TrafficFilter { below_ns: Some(100 * MS), ..TrafficFilter::default() };
    let options = Options { threshold: SlowThreshold::Time(20 * MS), only: only.clone(), ..Options::default() };
    let between = explained_by(&engine, &options);
    let chosen = between.chosen.clone().unwrap();
    assert_eq!(chosen.filter, "took less than 100 ms");
    assert!((chosen.requests as i64) < REQUESTS && chosen.requests == between.judged_requests, "{between}");
    let longer = engine.sql("SELECT 1 AS one FROM all_requests WHERE end_ns - intended_start_ns >= 100000000").unwrap();
    assert_eq!(longer.rows() + chosen.requests, REQUESTS as usize);

    // The same requests as a list, and what they have in common.
    let listed = TrafficFilter { at_least_ns: Some(20 * MS), ..only };
    let slow = client_traffic(&engine, &listed).unwrap();
    let requests: i64 = slow.rows.iter().map(|row| row.figures.requests).sum();
    assert_eq!(requests as usize, between.slow_requests, "{between}");
    let shared = shared_values(&engine, &listed).unwrap();
    assert_eq!((shared.requests as usize, (shared.requests + shared.others) as i64), (between.slow_requests, REQUESTS));
    // All delayed requests have the level, and about half of the others.
    let level = shared.values.iter().find(|one| one.value == "LOCAL_QUORUM").unwrap();
    assert_eq!((level.what.as_str(), level.share), ("level", 1.0), "{shared:#?}");
    assert!((0.3..0.6).contains(&level.others_share), "{shared:#?}");
    assert_eq!(shared.values[0], *level, "it sets them apart most: {shared:#?}");
    assert!(shared.values.iter().all(|one| one.value != "LOCAL_ONE"), "{shared:#?}");
}
