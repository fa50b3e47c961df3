//! The requests of clients as they passed on the wire: the facts of the rules about drivers and applications.

use super::facts::{MissingFact, Node, need};
use super::thresholds;
use crate::cql::table_of_statement;
use crate::engine::Engine;
use crate::query::{self, Value};
use crate::traffic::{Driver, drivers};
use crate::{Error, text};
use std::collections::BTreeMap;

/// The most requests whose repetitions are looked for; of more, every second, third … partition is looked at.
const MOST_COMPARED: i64 = 1_000_000;

/// The requests of the clients of one node.
#[derive(Debug, Clone, Default)]
pub(super) struct Sending {
    /// From the first request to the last answer.
    pub seconds: f64,
    /// Those with the most requests first.
    pub groups: Vec<Group>,
    pub clients: BTreeMap<String, Client>,
}

/// Requests of one client with the same kind, statement and consistency.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    pub client: String,
    pub opcode: String,
    pub statement: String,
    pub consistency: String,
    pub requests: i64,
    /// First requests for rows that name no size of a page.
    pub without_pages: i64,
    pub large_answers: i64,
    pub largest_answer_bytes: i64,
    pub most_rows: i64,
    /// Requests whose replicas are known, and how many of these went to a node that holds no replica.
    pub with_replicas: i64,
    pub to_others: i64,
    /// Answers that took long to leave the node.
    pub held_up: i64,
    pub longest_sending_ns: i64,
    /// How far the client's clock is ahead at least and at most, less the way to the node; None without timestamps.
    pub ahead_ns: Option<(i64, i64)>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Client {
    /// The driver of most of its connections.
    pub driver: Option<Driver>,
    /// Requests in flight on its fullest connection, on average over the fullest second.
    pub in_flight: f64,
    pub again: SentAgain,
}

/// Requests of a sample of the partitions, and how many of them the client sent again.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SentAgain {
    pub failed: i64,
    pub after_failure: i64,
    pub succeeded: i64,
    pub after_success: i64,
    pub elsewhere_meanwhile: i64,
    pub here_meanwhile: i64,
}

impl Group {
    /// Whether it asks for an application's data. Drivers read the system's tables themselves.
    pub fn is_of_application(&self) -> bool {
        table_of_statement(&self.statement).is_none_or(|table| !table.starts_with("system"))
    }

    pub fn is_statement(&self) -> bool {
        matches!(self.opcode.as_str(), "QUERY" | "EXECUTE" | "BATCH") && self.is_of_application()
    }
}

impl Sending {
    pub fn sum(&self, which: impl Fn(&Group) -> bool, figure: impl Fn(&Group) -> i64) -> i64 {
        self.groups.iter().filter(|group| which(group)).map(figure).sum()
    }

    /// The sum for each client, the largest first; no client with a sum of 0.
    pub fn by_client(&self, which: impl Fn(&Group) -> bool, figure: impl Fn(&Group) -> i64) -> Vec<(&str, i64)> {
        let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
        for group in self.groups.iter().filter(|group| which(group)) {
            *sums.entry(&group.client).or_default() += figure(group);
        }
        let mut sums: Vec<_> = sums.into_iter().filter(|(_, sum)| *sum > 0).collect();
        sums.sort_by_key(|(client, sum)| (std::cmp::Reverse(*sum), *client));
        sums
    }

    /// The group of one client, or of all, with the largest figure.
    pub fn largest(&self, which: impl Fn(&Group) -> bool, figure: impl Fn(&Group) -> i64) -> Option<&Group> {
        self.groups.iter().filter(|group| which(group)).max_by_key(|group| figure(group))
    }

    /// A client's address with its driver.
    pub fn named(&self, client: &str) -> String {
        match self.clients.get(client).and_then(|known| known.driver.as_ref()) {
            Some(driver) => format!("{client} ({})", crate::traffic::named(driver)),
            None => client.to_string(),
        }
    }

    /// The first clients by name, and how many more there are.
    pub fn names(&self, clients: &[(&str, i64)]) -> String {
        const SHOWN: usize = 3;
        let mut names: Vec<String> = clients.iter().take(SHOWN).map(|(client, _)| self.named(client)).collect();
        if clients.len() > SHOWN {
            names.push(format!("{} more", text::counted(clients.len() - SHOWN, "client", "clients")));
        }
        names.join(", ")
    }
}

impl Node {
    pub fn sending(&self) -> Result<&Sending, MissingFact> {
        need(self.sending.as_ref(), "the requests of clients are not recorded on the wire")
    }
}

/// Fills in what the clients of each node send; nothing where no wire was recorded.
pub(super) fn sending(engine: &Engine, nodes: &mut BTreeMap<String, Node>) -> Result<(), Error> {
    let requests = groups(engine, nodes)?;
    if requests == 0 {
        return Ok(());
    }
    let span = engine.sql(&query::REQUEST_SPAN.fill(&[]))?;
    let edge = |column| Ok::<i64, Error>(span.integers(column)?.first().copied().unwrap_or_default());
    let seconds = (edge("last_ns")? - edge("first_ns")?) as f64 / 1e9;
    for node in nodes.values_mut() {
        if let Some(sending) = &mut node.sending {
            sending.seconds = seconds;
        }
    }
    let drivers = drivers(engine)?;
    let rows = engine.sql(&query::CONNECTIONS_IN_FLIGHT.fill(&[]))?;
    let (node, client, in_flight) = (rows.texts("node")?, rows.texts("client")?, rows.numbers("in_flight")?);
    for row in 0..rows.rows() {
        let Some(known) = client_of(nodes, &node[row], &client[row]) else { continue };
        known.in_flight = in_flight[row];
        known.driver = drivers.get(&client[row]).and_then(|all| all.first().cloned());
    }
    let every = 1 + requests / MOST_COMPARED;
    let rows = engine.sql(&query::SENT_AGAIN.fill(&[("every", Value::Integer(every))]))?;
    let (node, client) = (rows.texts("node")?, rows.texts("client")?);
    let (failed, after_failure) = (rows.integers("failed")?, rows.integers("after_failure")?);
    let (succeeded, after_success) = (rows.integers("succeeded")?, rows.integers("after_success")?);
    let (elsewhere, here) = (rows.integers("elsewhere_meanwhile")?, rows.integers("here_meanwhile")?);
    for row in 0..rows.rows() {
        let Some(known) = client_of(nodes, &node[row], &client[row]) else { continue };
        known.again = SentAgain {
            failed: failed[row],
            after_failure: after_failure[row],
            succeeded: succeeded[row],
            after_success: after_success[row],
            elsewhere_meanwhile: elsewhere[row],
            here_meanwhile: here[row],
        };
    }
    Ok(())
}

fn client_of<'a>(nodes: &'a mut BTreeMap<String, Node>, node: &str, client: &str) -> Option<&'a mut Client> {
    Some(nodes.get_mut(node)?.sending.as_mut()?.clients.entry(client.to_string()).or_default())
}

/// Fills in the groups of each node; returns the number of requests.
fn groups(engine: &Engine, nodes: &mut BTreeMap<String, Node>) -> Result<i64, Error> {
    let bounds = [
        ("threshold_bytes", Value::Integer(thresholds::LARGE_ANSWER.value as i64)),
        ("threshold_ns", Value::Integer((thresholds::HELD_UP.value * 1e6) as i64)),
    ];
    let rows = engine.sql(&query::CLIENT_SENDING.fill(&bounds))?;
    let (node, client, opcode) = (rows.texts("node")?, rows.texts("client")?, rows.texts("opcode")?);
    let (statement, consistency) = (rows.texts("statement")?, rows.texts("consistency")?);
    let (requests, without_pages) = (rows.integers("requests")?, rows.integers("without_pages")?);
    let (large_answers, largest) = (rows.integers("large_answers")?, rows.integers("largest_answer_bytes")?);
    let (with_replicas, to_others) = (rows.integers("with_replicas")?, rows.integers("to_others")?);
    let (held_up, longest) = (rows.integers("held_up")?, rows.integers("longest_sending_ns")?);
    let most_rows = rows.integers("most_rows")?;
    let (least, most) = (rows.integers_or_null("least_ahead_ns")?, rows.integers_or_null("most_ahead_ns")?);
    for row in 0..rows.rows() {
        let sending = nodes.entry(node[row].clone()).or_default().sending.get_or_insert_default();
        sending.clients.entry(client[row].clone()).or_default();
        sending.groups.push(Group {
            client: client[row].clone(),
            opcode: opcode[row].clone(),
            statement: statement[row].clone(),
            consistency: consistency[row].clone(),
            requests: requests[row],
            without_pages: without_pages[row],
            large_answers: large_answers[row],
            largest_answer_bytes: largest[row],
            most_rows: most_rows[row],
            with_replicas: with_replicas[row],
            to_others: to_others[row],
            held_up: held_up[row],
            longest_sending_ns: longest[row],
            ahead_ns: least[row].zip(most[row]),
        });
    }
    Ok(requests.iter().sum())
}
