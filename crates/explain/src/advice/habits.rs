//! Rules about habits of drivers and applications that cost the nodes time, by their requests on the wire.

use super::facts::Node;
use super::rule::{Check, Checked, Found, Rule};
use super::sending::{Group, Sending};
use super::thresholds;
use crate::severity::Severity;
use crate::{cql, query, text};
use serde_json::json;

fn is_unprepared(group: &Group) -> bool {
    const KINDS: [Option<&str>; 4] = [Some("read"), Some("range read"), Some("write"), Some("lightweight transaction")];
    group.opcode == "QUERY" && group.is_of_application() && KINDS.contains(&cql::kind(&group.statement))
}

fn counted(number: i64, one: &str, many: &str) -> String {
    text::counted(usize::try_from(number).unwrap_or(0), one, many)
}

fn per_s(number: i64, sending: &Sending) -> f64 {
    number as f64 / sending.seconds.max(1.0)
}

/// `QueryProcessor.parseStatement` (4.0 to 5.0) runs for each QUERY message.
pub(super) const UNPREPARED_STATEMENTS: Rule = Rule {
    name: "unprepared-statements",
    looks_at: "statements that are sent as text, which the node parses each time",
    thresholds: &[&thresholds::UNPREPARED, &thresholds::STATEMENTS_THAT_MATTER],
    source: "native_protocol_v5.spec (QUERY, EXECUTE); documentation of the drivers on prepared statements",
    query: query::CLIENT_SENDING,
    check: Check::OfNode(unprepared_statements),
};

fn unprepared_statements(node: &Node) -> Checked {
    let sending = node.sending()?;
    let all = sending.sum(Group::is_statement, |group| group.requests);
    let clients = sending.by_client(is_unprepared, |group| group.requests);
    let unprepared: i64 = clients.iter().map(|(_, requests)| requests).sum();
    let share = unprepared as f64 / all.max(1) as f64;
    let (Some(most), true, true) = (
        sending.largest(is_unprepared, |group| group.requests),
        thresholds::UNPREPARED.is_met(share),
        thresholds::STATEMENTS_THAT_MATTER.is_met(per_s(unprepared, sending)),
    ) else {
        return Ok(None);
    };
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!(
            "{} of the statements were sent as text, by {}; the most frequent is {}",
            text::percent(share),
            sending.names(&clients),
            text::shortened(&most.statement, 80)
        ),
        figures: json!({ "unprepared": unprepared, "statements": all }),
        advice:
            "Prepare each statement once and bind its values. The node then parses it once, and the driver knows the \
                 partition, so that it sends the request to a replica."
                .into(),
        verify: "QUERY becomes rare beside EXECUTE in the column opcode of the table wire.".into(),
    }))
}

/// `QueryProcessor.preparedStatements` (4.0 to 5.0) is a cache of bounded size (prepared_statements_cache_size): a new text evicts an
/// older one.
pub(super) const PREPARED_AGAIN: Rule = Rule {
    name: "prepared-again",
    looks_at: "statements that clients prepare again and again",
    thresholds: &[&thresholds::PREPARED_AGAIN],
    source: "native_protocol_v5.spec (PREPARE); cassandra.yaml (prepared_statements_cache_size)",
    query: query::CLIENT_SENDING,
    check: Check::OfNode(prepared_again),
};

fn prepared_again(node: &Node) -> Checked {
    let sending = node.sending()?;
    let is_prepare = |group: &Group| group.opcode == "PREPARE" && group.is_of_application();
    let Some(most) = sending.largest(is_prepare, |group| group.requests) else { return Ok(None) };
    if !thresholds::PREPARED_AGAIN.is_met(per_s(most.requests, sending)) {
        return Ok(None);
    }
    let executed =
        sending.sum(|group| group.opcode == "EXECUTE" && group.statement == most.statement, |group| group.requests);
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "{} prepared {} {} and executed it {}",
            sending.named(&most.client),
            text::shortened(&most.statement, 80),
            counted(most.requests, "time", "times"),
            counted(executed, "time", "times")
        ),
        figures: json!({ "prepared": most.requests, "executed": executed, "statement": most.statement }),
        advice: "Prepare a statement once, when the application starts, keep it, and bind every value. Where values are part of \
                 the text, each value is a statement of its own for the node. It parses them all, and its cache evicts the \
                 statements of others, which they prepare again."
            .into(),
        verify: "PREPARE becomes rare in the column opcode of the table wire; the log no longer has \"prepared statements \
                 discarded\"."
            .into(),
    }))
}

/// A connection takes STARTUP, with authentication AUTH_RESPONSE, and in most drivers OPTIONS and REGISTER. `PasswordAuthenticator`
/// checks each login with bcrypt, which takes some 10 to 100 ms of CPU time.
pub(super) const NEW_CONNECTIONS: Rule = Rule {
    name: "new-connections",
    looks_at: "clients that open a connection for a few requests",
    thresholds: &[&thresholds::NEW_CONNECTIONS, &thresholds::REQUESTS_OF_CONNECTION],
    source: "native_protocol_v5.spec (STARTUP, AUTH_RESPONSE); documentation of the drivers: one session for the application",
    query: query::CLIENT_SENDING,
    check: Check::OfNode(new_connections),
};

fn new_connections(node: &Node) -> Checked {
    let sending = node.sending()?;
    let connections = sending.by_client(|group| group.opcode == "STARTUP", |group| group.requests);
    let Some((client, opened)) = connections.first().copied() else { return Ok(None) };
    let of_client = |opcodes: &[&str]| {
        sending.sum(|group| group.client == client && opcodes.contains(&group.opcode.as_str()), |group| group.requests)
    };
    let (requests, logins) = (of_client(&["QUERY", "EXECUTE", "BATCH"]), of_client(&["AUTH_RESPONSE"]));
    if !thresholds::NEW_CONNECTIONS.is_met(per_s(opened, sending))
        || requests as f64 > opened as f64 * thresholds::REQUESTS_OF_CONNECTION.value
    {
        return Ok(None);
    }
    let with_logins = match logins {
        0 => String::new(),
        logins => format!(", logged in {}", counted(logins, "time", "times")),
    };
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "{} opened {}{with_logins} and sent {}",
            sending.named(client),
            counted(opened, "connection", "connections"),
            counted(requests, "request", "requests")
        ),
        figures: json!({ "client": client, "connections": opened, "logins": logins, "requests": requests }),
        advice:
            "Make one session when the application starts and share it among all its threads. Each new session opens \
                 connections to all nodes, reads the schema, and logs in, which costs a node more than many requests \
                 (PasswordAuthenticator checks passwords with bcrypt)."
                .into(),
        verify: "STARTUP and AUTH_RESPONSE become rare in the column opcode of the table wire.".into(),
    }))
}

/// Answers of a page that are large keep others on the connection waiting; without pages the whole result is one answer.
pub(super) const LARGE_ANSWERS: Rule = Rule {
    name: "large-answers",
    looks_at: "reads without pages, or with pages that are large",
    thresholds: &[&thresholds::LARGE_ANSWER, &thresholds::LARGE_ANSWERS],
    source: "native_protocol_v5.spec (result_page_size); documentation of the drivers on paging",
    query: query::CLIENT_SENDING,
    check: Check::OfNode(large_answers),
};

fn large_answers(node: &Node) -> Checked {
    let sending = node.sending()?;
    let Some(most) = sending.largest(Group::is_statement, |group| group.large_answers) else { return Ok(None) };
    if !thresholds::LARGE_ANSWERS.is_met(most.large_answers as f64) {
        return Ok(None);
    }
    let is_unpaged = most.without_pages > 0;
    let how = if is_unpaged { "without pages" } else { "in pages" };
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!(
            "{} reads {how} by {}: {} of {} or more, up to {} and {}",
            sending.named(&most.client),
            text::shortened(&most.statement, 80),
            counted(most.large_answers, "answer", "answers"),
            text::bytes(thresholds::LARGE_ANSWER.value as i64),
            text::bytes(most.largest_answer_bytes),
            counted(most.most_rows, "row", "rows")
        ),
        figures: json!({
            "statement": most.statement, "answers": most.large_answers, "largest_bytes": most.largest_answer_bytes,
            "most_rows": most.most_rows, "without_pages": most.without_pages,
        }),
        advice: if is_unpaged {
            "Let the driver page, with answers below 1 MiB; most drivers do by default, with 5,000 rows a page. The node builds each \
             answer in memory, and other answers on the connection wait for it."
        } else {
            "Ask for fewer rows in a page or for fewer columns, so that an answer stays below 1 MiB. The node builds each answer in \
             memory, and other answers on the connection wait for it."
        }
        .into(),
        verify: "response_bytes of the table wire; the p99 of small reads on the same connections.".into(),
    }))
}

pub(super) const EVERY_REPLICA: Rule = Rule {
    name: "every-replica",
    looks_at: "requests at consistency ALL or EACH_QUORUM",
    thresholds: &[&thresholds::EVERY_REPLICA],
    source: "Cassandra's documentation, Architecture: Dynamo, Tunable Consistency",
    query: query::CLIENT_SENDING,
    check: Check::OfNode(every_replica),
};

fn every_replica(node: &Node) -> Checked {
    let sending = node.sending()?;
    // With one copy of the data, ALL waits for one replica.
    if node.tables.iter().all(|table| table.replicas == Some(1)) && !node.tables.is_empty() {
        return Ok(None);
    }
    let is_every = |group: &Group| group.is_statement() && matches!(group.consistency.as_str(), "ALL" | "EACH_QUORUM");
    let all = sending.sum(Group::is_statement, |group| group.requests);
    let clients = sending.by_client(is_every, |group| group.requests);
    let every: i64 = clients.iter().map(|(_, requests)| requests).sum();
    let share = every as f64 / all.max(1) as f64;
    let (Some(most), true) =
        (sending.largest(is_every, |group| group.requests), thresholds::EVERY_REPLICA.is_met(share))
    else {
        return Ok(None);
    };
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "{} of the statements ask for {}, from {}; the most frequent is {}",
            text::percent(share),
            most.consistency,
            sending.names(&clients),
            text::shortened(&most.statement, 80)
        ),
        figures: json!({ "requests": every, "statements": all, "consistency": most.consistency }),
        advice: "ALL waits for the slowest replica and fails while one is down; EACH_QUORUM does so for the slowest data center. \
                 QUORUM or LOCAL_QUORUM for both reads and writes reads what was written, and bears a node that is down."
            .into(),
        verify: "The column consistency of the table wire; the p99 of these statements.".into(),
    }))
}

pub(super) const CROWDED_CONNECTION: Rule = Rule {
    name: "crowded-connection",
    looks_at: "requests in flight on one connection, against what a driver allows",
    thresholds: &[&thresholds::IN_FLIGHT],
    source: "reference.conf of Java driver 4 (advanced.connection.max-requests-per-connection)",
    query: query::CONNECTIONS_IN_FLIGHT,
    check: Check::OfNode(crowded_connection),
};

fn crowded_connection(node: &Node) -> Checked {
    let sending = node.sending()?;
    let fullest = sending.clients.iter().max_by(|(_, one), (_, other)| one.in_flight.total_cmp(&other.in_flight));
    let Some((client, known)) = fullest.filter(|(_, known)| thresholds::IN_FLIGHT.is_met(known.in_flight)) else {
        return Ok(None);
    };
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "{} had {} in flight on one connection, on average over a second",
            sending.named(client),
            counted(known.in_flight.round() as i64, "request", "requests")
        ),
        figures: json!({ "client": client, "in_flight": known.in_flight }),
        advice: "Requests beyond what the driver allows on a connection wait in the client, where the node's figures don't show \
                 them. Bound what the application has in flight, spread it over more connections (Java: pool.local.size), \
                 and see why the answers are late."
            .into(),
        verify: "`helenus clients RECORDING` (in flight); the application's own p99 beside the node's.".into(),
    }))
}

/// Drivers send a timestamp with each request by default (Java, Python, C++, Node.js, gocql), and Cassandra keeps the write with the
/// latest timestamp.
pub(super) const CLIENT_CLOCK: Rule = Rule {
    name: "client-clock",
    looks_at: "timestamps of drivers, against the clock of the node",
    thresholds: &[&thresholds::CLIENT_CLOCK],
    source: "native_protocol_v5.spec (default timestamp); Cassandra's documentation, Architecture: Dynamo (last write wins)",
    query: query::CLIENT_SENDING,
    check: Check::OfNode(client_clock),
};

fn client_clock(node: &Node) -> Checked {
    let sending = node.sending()?;
    let mut worst: Option<(&str, i64)> = None;
    for client in sending.clients.keys() {
        let Some(ahead_ns) = clock_ahead_ns(sending, client) else { continue };
        if thresholds::CLIENT_CLOCK.is_met(ahead_ns.unsigned_abs() as f64 / 1e6)
            && worst.is_none_or(|(_, most)| ahead_ns.unsigned_abs() > most.unsigned_abs())
        {
            worst = Some((client, ahead_ns));
        }
    }
    let Some((client, ahead_ns)) = worst else { return Ok(None) };
    let (which, harm) = match ahead_ns > 0 {
        true => (
            "ahead of",
            "Its writes and deletes win over later ones of other clients until their clocks have caught up",
        ),
        false => ("behind", "Its writes are lost where a client with a right clock wrote shortly before"),
    };
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "The clock of {} is {} {which} the node's, by the timestamps that it sends",
            sending.named(client),
            text::time_ns(ahead_ns.saturating_abs())
        ),
        figures: json!({ "client": client, "ahead_ns": ahead_ns }),
        advice: format!(
            "{harm}: Cassandra keeps the value with the latest timestamp, and the driver gives it. Synchronize the clocks of \
             clients and nodes (chronyc tracking). If the application sets timestamps itself, see that it means to."
        ),
        verify: "client_ahead_ns of the table wire is within some milliseconds of 0.".into(),
    }))
}

/// How far a client's clock is ahead. Each timestamp is the client's time less the way to the node, so the largest difference has the
/// shortest way. Timestamps that an application makes up spread, and are left out.
fn clock_ahead_ns(sending: &Sending, client: &str) -> Option<i64> {
    const WAY_NS: i64 = 2_000_000_000;
    let of_client = sending.groups.iter().filter(|group| group.client == client && group.is_statement());
    // The clock is the same for all statements of a client; the statement with most requests tells it best.
    let (least, most) =
        of_client.filter(|group| group.ahead_ns.is_some()).max_by_key(|group| group.requests)?.ahead_ns?;
    let spread = most.saturating_sub(least);
    (spread <= WAY_NS.max(most.saturating_abs() / 2)).then_some(most)
}

/// The time from the first byte of an answer that left to its last: the socket's buffer is full, as the client does not read.
pub(super) const SLOW_READER: Rule = Rule {
    name: "slow-reader",
    looks_at: "answers that take long to leave, because the client does not read its socket",
    thresholds: &[&thresholds::HELD_UP, &thresholds::HELD_UP_SHARE],
    source: "tcp(7) (flow control); the column sending_ns of the table wire",
    query: query::CLIENT_SENDING,
    check: Check::OfNode(slow_reader),
};

fn slow_reader(node: &Node) -> Checked {
    let sending = node.sending()?;
    let held_up = sending.by_client(|_| true, |group| group.held_up);
    let Some((client, answers)) = held_up.first().copied() else { return Ok(None) };
    let all = sending.sum(|group| group.client == client, |group| group.requests);
    if !thresholds::HELD_UP_SHARE.is_met(answers as f64 / all.max(1) as f64) {
        return Ok(None);
    }
    let longest = sending.largest(|group| group.client == client, |group| group.longest_sending_ns);
    let longest_ns = longest.map_or(0, |group| group.longest_sending_ns);
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "{} to {} took {} ms or more to leave the node, the longest {}",
            counted(answers, "answer", "answers"),
            sending.named(client),
            thresholds::HELD_UP.value,
            text::time_ns(longest_ns)
        ),
        figures: json!({ "client": client, "answers": answers, "longest_ns": longest_ns }),
        advice: "The client reads its socket slowly: its threads are busy (callbacks on the driver's event loop, garbage \
                 collection), or its network is full. Look at its CPU and pauses, do no work in callbacks, and ask for smaller \
                 pages. Retransmissions look the same: see nstat (TcpRetransSegs)."
            .into(),
        verify: "sending_ns of the table wire.".into(),
    }))
}

/// Retries and speculative executions are seen as requests for the same partition with the same statement from the same client.
pub(super) const RETRIES: Rule = Rule {
    name: "retries",
    looks_at: "requests that a client sends again after they failed, or to a second node meanwhile",
    thresholds: &[&thresholds::SENT_AGAIN, &thresholds::FAILED_REQUESTS, &thresholds::SENT_ELSEWHERE],
    source: "documentation of the drivers on retry policies and speculative execution",
    query: query::SENT_AGAIN,
    check: Check::OfNode(retries),
};

fn retries(node: &Node) -> Checked {
    let sending = node.sending()?;
    for (client, known) in &sending.clients {
        let again = known.again;
        let share = |part: i64, of: i64| part as f64 / of.max(1) as f64;
        // A partition that many ask for is asked for again after each request, failed or not.
        let beyond = share(again.after_failure, again.failed) - share(again.after_success, again.succeeded);
        if thresholds::FAILED_REQUESTS.is_met(again.failed as f64) && thresholds::SENT_AGAIN.is_met(beyond) {
            return Ok(Some(Found {
                severity: Severity::Warning,
                evidence: format!(
                    "{} sent {} of its failed requests again within a second ({} of those that succeeded)",
                    sending.named(client),
                    text::percent(share(again.after_failure, again.failed)),
                    text::percent(share(again.after_success, again.succeeded))
                ),
                figures: json!({ "client": client, "failed": again.failed, "again": again.after_failure }),
                advice: "Retries multiply the load on a node that fails under load. Retry a few times at most, with a backoff that \
                         grows and is random, and only what is idempotent."
                    .into(),
                verify: "The rate of requests while some fail; `helenus clients RECORDING` (errors).".into(),
            }));
        }
        let all = again.failed + again.succeeded;
        // Other requests for the same partition go to its nodes alike.
        let beyond = share(again.elsewhere_meanwhile - again.here_meanwhile, all);
        if thresholds::SENT_ELSEWHERE.is_met(beyond) {
            return Ok(Some(Found {
                severity: Severity::Information,
                evidence: format!(
                    "{} sent {} of its requests to a second node before the first had answered",
                    sending.named(client),
                    text::percent(share(again.elsewhere_meanwhile, all))
                ),
                figures: json!({ "client": client, "requests": all, "elsewhere": again.elsewhere_meanwhile }),
                advice: "Speculative executions are meant for the slowest percent. Raise the delay of the policy above the p99, or the \
                         nodes do the work twice."
                    .into(),
                verify: "The rate of requests on the nodes beside that of the application.".into(),
            }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{after, missing_after, quiet_after};
    use crate::advice::sending::SentAgain;

    fn group(node: &mut Node, opcode: &str, change: impl FnOnce(&mut Group)) {
        let mut group = Group {
            client: "10.0.0.7".into(),
            opcode: opcode.into(),
            statement: "SELECT state FROM shop.orders WHERE id = ?".into(),
            consistency: "LOCAL_QUORUM".into(),
            requests: 5000,
            ..Group::default()
        };
        change(&mut group);
        node.sending.as_mut().unwrap().groups.push(group);
    }

    fn all_missing_without_the_wire(rules: &[&Rule]) {
        for rule in rules {
            let missing = missing_after(rule, |node| node.sending = None);
            assert_eq!(missing, "the requests of clients are not recorded on the wire");
            quiet_after(rule, |_| ());
        }
    }

    #[test]
    fn every_habit_needs_the_wire_and_a_healthy_client_has_none() {
        all_missing_without_the_wire(&[
            &UNPREPARED_STATEMENTS,
            &PREPARED_AGAIN,
            &NEW_CONNECTIONS,
            &LARGE_ANSWERS,
            &EVERY_REPLICA,
            &CROWDED_CONNECTION,
            &CLIENT_CLOCK,
            &SLOW_READER,
            &RETRIES,
        ]);
    }

    #[test]
    fn statements_as_text_count_but_for_those_of_the_driver() {
        let found = after(&UNPREPARED_STATEMENTS, |node| group(node, "QUERY", |_| ()));
        let expected = "33 % of the statements were sent as text, by 10.0.0.7 (DataStax Python Driver 3.30.0); the most frequent \
                        is SELECT state FROM shop.orders WHERE id = ?";
        assert_eq!(found.evidence, expected);
        for statement in ["SELECT * FROM system.local WHERE key=?", "USE shop", "CREATE TABLE a (b int PRIMARY KEY)"] {
            quiet_after(&UNPREPARED_STATEMENTS, |node| {
                group(node, "QUERY", |group| group.statement = statement.into());
            });
        }
        quiet_after(&UNPREPARED_STATEMENTS, |node| group(node, "QUERY", |group| group.requests = 300));
    }

    #[test]
    fn statements_prepared_for_each_request() {
        let found = after(&PREPARED_AGAIN, |node| group(node, "PREPARE", |group| group.requests = 100));
        assert!(found.evidence.contains("100 times and executed it 10,000 times"), "{}", found.evidence);
        quiet_after(&PREPARED_AGAIN, |node| group(node, "PREPARE", |group| group.requests = 40));
    }

    #[test]
    fn a_connection_for_each_request() {
        let found = after(&NEW_CONNECTIONS, |node| {
            for (opcode, requests) in [("STARTUP", 900), ("AUTH_RESPONSE", 900), ("QUERY", 950)] {
                group(node, opcode, |group| {
                    (group.client, group.requests) = ("10.0.0.9".into(), requests);
                });
            }
        });
        assert_eq!(found.evidence, "10.0.0.9 opened 900 connections, logged in 900 times and sent 950 requests");
        // A driver that restarts, and one with many requests on each connection.
        quiet_after(&NEW_CONNECTIONS, |node| group(node, "STARTUP", |group| group.requests = 30));
        quiet_after(&NEW_CONNECTIONS, |node| {
            group(node, "STARTUP", |group| group.requests = 90);
        });
    }

    #[test]
    fn large_answers_with_and_without_pages() {
        let large = |without_pages| {
            move |group: &mut Group| {
                (group.large_answers, group.largest_answer_bytes, group.most_rows) = (40, 3 << 20, 60_000);
                group.without_pages = without_pages;
            }
        };
        let unpaged = after(&LARGE_ANSWERS, |node| group(node, "EXECUTE", large(40)));
        assert!(unpaged.evidence.contains("reads without pages by SELECT state"), "{}", unpaged.evidence);
        assert!(
            unpaged.evidence.ends_with("40 answers of 1.0 MiB or more, up to 3.0 MiB and 60,000 rows"),
            "{}",
            unpaged.evidence
        );
        let paged = after(&LARGE_ANSWERS, |node| group(node, "EXECUTE", large(0)));
        assert!(paged.advice.starts_with("Ask for fewer rows in a page"), "{}", paged.advice);
    }

    #[test]
    fn consistency_all_where_there_is_more_than_one_replica() {
        let all = |node: &mut Node| group(node, "EXECUTE", |group| group.consistency = "ALL".into());
        let found = after(&EVERY_REPLICA, all);
        assert!(found.evidence.starts_with("33 % of the statements ask for ALL, from 10.0.0.7"), "{}", found.evidence);
        quiet_after(&EVERY_REPLICA, |node| {
            all(node);
            node.tables[0].replicas = Some(1);
        });
    }

    #[test]
    fn more_in_flight_than_a_connection_takes() {
        let found = after(&CROWDED_CONNECTION, |node| {
            node.sending.as_mut().unwrap().clients.get_mut("10.0.0.7").unwrap().in_flight = 2047.6;
        });
        assert!(found.evidence.contains("had 2,048 requests in flight on one connection"), "{}", found.evidence);
    }

    #[test]
    fn a_clock_is_judged_by_the_shortest_way_and_not_by_made_up_timestamps() {
        const MS: i64 = 1_000_000;
        let ahead = |least: i64, most: i64| {
            move |node: &mut Node| {
                group(node, "EXECUTE", |group| {
                    (group.client, group.ahead_ns) = ("10.0.0.9".into(), Some((least, most)));
                });
                node.sending.as_mut().unwrap().clients.entry("10.0.0.9".into()).or_default();
            }
        };
        let found = after(&CLIENT_CLOCK, ahead(-300 * MS, 700 * MS));
        assert_eq!(
            found.evidence,
            "The clock of 10.0.0.9 is 700 ms ahead of the node's, by the timestamps that it sends"
        );
        let found = after(&CLIENT_CLOCK, ahead(-3_700_000 * MS, -3_600_000 * MS));
        assert!(found.evidence.contains("behind the node's"), "{}", found.evidence);
        // Timestamps that waited in the client, and those of a copy of old data.
        quiet_after(&CLIENT_CLOCK, ahead(-900 * MS, -MS));
        quiet_after(&CLIENT_CLOCK, ahead(-90_000_000 * MS, -3_600_000 * MS));
    }

    #[test]
    fn a_client_that_does_not_read() {
        let found = after(&SLOW_READER, |node| {
            group(node, "EXECUTE", |group| {
                (group.held_up, group.longest_sending_ns) = (50, 3_000_000_000);
            });
        });
        let expected = "50 answers to 10.0.0.7 (DataStax Python Driver 3.30.0) took 200 ms or more to leave the node, the longest 3.0 s";
        assert_eq!(found.evidence, expected);
        quiet_after(&SLOW_READER, |node| group(node, "EXECUTE", |group| group.held_up = 4));
    }

    #[test]
    fn retries_are_told_from_a_partition_that_many_ask_for() {
        let again = |again: SentAgain| {
            move |node: &mut Node| {
                node.sending.as_mut().unwrap().clients.get_mut("10.0.0.7").unwrap().again = again;
            }
        };
        let base =
            SentAgain { failed: 100, after_failure: 90, succeeded: 1000, after_success: 50, ..SentAgain::default() };
        let found = after(&RETRIES, again(base));
        assert!(
            found.evidence.contains("sent 90 % of its failed requests again within a second (5.0 %"),
            "{}",
            found.evidence
        );
        quiet_after(&RETRIES, again(SentAgain { after_success: 900, ..base }));
        quiet_after(&RETRIES, again(SentAgain { failed: 10, after_failure: 10, ..base }));
        let twice = SentAgain { succeeded: 1000, elsewhere_meanwhile: 60, here_meanwhile: 2, ..SentAgain::default() };
        let found = after(&RETRIES, again(twice));
        assert!(found.evidence.contains("sent 6.0 % of its requests to a second node"), "{}", found.evidence);
        quiet_after(&RETRIES, again(SentAgain { here_meanwhile: 55, ..twice }));
    }
}
