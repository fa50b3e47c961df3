//! Events with their times: compactions, changed settings, and lines of the node's log.

use super::machine::Machine;
use crate::engine::Engine;
use crate::{Error, query};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Event {
    pub(crate) time_ns: i64,
    /// A text such as "compaction of shop.orders began".
    pub(crate) what: String,
}

impl Event {
    /// Loads all events, by time.
    pub(crate) fn load(engine: &Engine, machine: &Machine) -> Result<Vec<Event>, Error> {
        let rows = engine.sql(&query::EVENTS.fill(&[]))?;
        let logged = rows.integers("time_ns")?.into_iter().zip(rows.texts("what")?);
        let mut events: Vec<Event> = logged.map(|(time_ns, what)| Event { time_ns, what }).collect();
        // The log names the table, so an event of the log is preferred to one that was derived from thread activity.
        if events.iter().all(|event| !event.what.contains("compaction") && !event.what.contains("flush")) {
            let began = machine.background().into_iter().map(|window| window.start);
            events.extend(began.map(|time_ns| Event { time_ns, what: "compactions or flushes began".into() }));
        }
        events.sort_by(|a, b| (a.time_ns, &a.what).cmp(&(b.time_ns, &b.what)));
        Ok(events)
    }
}
