//! Answers that came later than the client's driver waits by default: such a client has probably given up, and the node
//! does not know.

use crate::Error;
use crate::association::Judged;
use crate::engine::{Engine, Provider};
use crate::query;
use crate::timeline::Interval;
use serde::Serialize;
use std::collections::BTreeMap;

const S: i64 = 1_000_000_000;

/// How long drivers wait for an answer by default: part of the driver's name, beginning of its version, and the time.
/// Java 4: `basic.request.timeout` in its reference.conf. Java 3: `SocketOptions.DEFAULT_READ_TIMEOUT_MILLIS`. Python:
/// `Session.default_timeout`. gocql: `ClusterConfig.Timeout`.
const DEFAULTS: [(&str, &str, i64); 5] =
    [("java", "4", 2 * S), ("java", "3", 12 * S), ("python", "", 10 * S), ("gocql", "", 11 * S), ("node", "", 12 * S)];
/// For drivers that are not known: no driver above waits longer.
const LONGEST_NS: i64 = 12 * S;

/// The late answers to clients with one driver.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LateAnswers {
    /// Name and version; empty if not known.
    pub(crate) driver: String,
    pub(crate) waits_ns: i64,
    pub(crate) answers: usize,
    pub(crate) clients: usize,
    #[serde(skip)]
    pub(crate) window: Interval,
}

/// The late answers by driver, those with the most first. None for our own load, which counts its timeouts.
pub(crate) fn late_answers(engine: &Engine, judged: &Judged) -> Result<Vec<LateAnswers>, Error> {
    if engine.provider() == Provider::Load {
        return Ok(Vec::new());
    }
    let drivers = drivers(engine)?;
    let requests = judged.all();
    let of_client: Vec<(&str, i64)> = requests
        .clients
        .iter()
        .map(|client| drivers.get(client).map_or(("", LONGEST_NS), |(driver, waits_ns)| (driver.as_str(), *waits_ns)))
        .collect();
    let mut late: BTreeMap<(&str, i64), (LateAnswers, Vec<u16>)> = BTreeMap::new();
    for (request, _) in judged.timed() {
        let (driver, waits_ns) = of_client.get(usize::from(request.client)).copied().unwrap_or(("", LONGEST_NS));
        if request.response_ns() <= waits_ns || !requests.is_ok(request) {
            continue;
        }
        let window = Interval { start: request.intended_ns, end: request.end_ns };
        let (of_driver, clients) = late.entry((driver, waits_ns)).or_insert_with(|| {
            (LateAnswers { driver: driver.to_string(), waits_ns, answers: 0, clients: 0, window }, Vec::new())
        });
        of_driver.answers += 1;
        of_driver.window.end = window.end.max(of_driver.window.end);
        if !clients.contains(&request.client) {
            clients.push(request.client);
        }
    }
    let mut late: Vec<LateAnswers> =
        late.into_values().map(|(late, clients)| LateAnswers { clients: clients.len(), ..late }).collect();
    late.sort_by_key(|late| std::cmp::Reverse(late.answers));
    Ok(late)
}

/// The driver of each client host, that of most of its connections, and how long it waits.
fn drivers(engine: &Engine) -> Result<BTreeMap<String, (String, i64)>, Error> {
    let rows = engine.sql(&query::CLIENT_DRIVERS.fill(&[]))?;
    let mut drivers = BTreeMap::new();
    let all = rows.texts("client")?.into_iter().zip(rows.texts("driver")?).zip(rows.texts("driver_version")?);
    for ((client, name), version) in all {
        let waits_ns = waits_ns(&name, &version);
        drivers.entry(client).or_insert((format!("{name} {version}").trim_end().to_string(), waits_ns));
    }
    Ok(drivers)
}

fn waits_ns(name: &str, version: &str) -> i64 {
    let name = name.to_lowercase();
    let is_known = |(part, begins, _): &&(&str, &str, i64)| name.contains(part) && version.starts_with(begins);
    DEFAULTS.iter().find(is_known).map_or(LONGEST_NS, |(.., waits_ns)| *waits_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_known_by_name_and_version() {
        assert_eq!(waits_ns("DataStax Java driver for Apache Cassandra(R)", "4.17.0"), 2 * S);
        assert_eq!(waits_ns("DataStax Java Driver", "3.11.5"), 12 * S);
        assert_eq!(waits_ns("DataStax Python Driver", "3.30.1"), 10 * S);
        assert_eq!(waits_ns("something else", ""), LONGEST_NS);
        assert!(DEFAULTS.iter().all(|(.., waits_ns)| *waits_ns <= LONGEST_NS));
    }
}
