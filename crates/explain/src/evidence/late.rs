//! Answers that came later than the client's driver waits by default: such a client has probably given up, and the node
//! does not know.

use crate::Error;
use crate::association::Judged;
use crate::engine::{Engine, Provider};
use crate::timeline::Interval;
use crate::traffic::{Driver, drivers, named};
use serde::Serialize;
use std::collections::BTreeMap;

const S: i64 = 1_000_000_000;

/// How long drivers wait for an answer by default: part of the driver's name, beginning of its version, and the time. Java
/// 4: `basic.request.timeout` in its reference.conf. Java 3: `SocketOptions.DEFAULT_READ_TIMEOUT_MILLIS`. Python:
/// `Session.default_timeout`. Other drivers are left out.
const DEFAULTS: [(&str, &str, i64); 3] = [("java", "4", 2 * S), ("java", "3", 12 * S), ("python", "3", 10 * S)];

/// The late answers to clients with one driver.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LateAnswers {
    /// Name and version.
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
    // The driver of most of a client's connections.
    let of_client: Vec<Option<(&Driver, i64)>> = requests
        .clients
        .iter()
        .map(|client| drivers.get(client)?.first().and_then(|driver| Some((driver, waits_ns(driver)?))))
        .collect();
    let mut late: BTreeMap<&Driver, (LateAnswers, Vec<u16>)> = BTreeMap::new();
    for (request, _) in judged.timed() {
        let Some((driver, waits_ns)) = of_client.get(usize::from(request.client)).copied().flatten() else { continue };
        if request.response_ns() <= waits_ns || !requests.is_ok(request) {
            continue;
        }
        let window = Interval { start: request.intended_ns, end: request.end_ns };
        let (of_driver, clients) = late.entry(driver).or_insert_with(|| {
            (LateAnswers { driver: named(driver), waits_ns, answers: 0, clients: 0, window }, Vec::new())
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

fn waits_ns((name, version): &Driver) -> Option<i64> {
    let name = name.to_lowercase();
    let is_it = |(part, begins, _): &&(&str, &str, i64)| name.contains(part) && version.starts_with(begins);
    DEFAULTS.iter().find(is_it).map(|(.., waits_ns)| *waits_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_known_by_name_and_version() {
        let waits = |name: &str, version: &str| waits_ns(&(name.to_string(), version.to_string()));
        assert_eq!(waits("DataStax Java driver for Apache Cassandra(R)", "4.17.0"), Some(2 * S));
        assert_eq!(waits("DataStax Java Driver", "3.11.5"), Some(12 * S));
        assert_eq!(waits("Apache Cassandra Python Driver", "3.30.1"), Some(10 * S));
        assert_eq!(waits("Apache Cassandra Python Driver", ""), None);
        assert_eq!(waits("something else", "4.0"), None);
    }
}
