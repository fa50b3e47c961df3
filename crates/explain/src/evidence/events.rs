//! Events with their times: compactions, changed settings, and lines of the node's log.

use super::machine::Machine;
use crate::engine::Engine;
use crate::{Error, query};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Event {
    pub(crate) time_ns: i64,
    /// Empty for events that were derived from the activity of all nodes' threads.
    pub(crate) node: String,
    /// The kind in the table `events`; `setting` or `background` for others.
    pub(crate) kind: String,
    /// A text such as "compaction of shop.orders began".
    pub(crate) what: String,
}

impl Event {
    /// Loads all events, by time.
    pub(crate) fn load(engine: &Engine, machine: &Machine) -> Result<Vec<Event>, Error> {
        let rows = engine.sql(&query::EVENTS.fill(&[]))?;
        let times = rows.integers("time_ns")?.into_iter();
        let named = rows.texts("node")?.into_iter().zip(rows.texts("kind")?).zip(rows.texts("what")?);
        let logged = times.zip(named).map(|(time_ns, ((node, kind), what))| Event { time_ns, node, kind, what });
        let mut events: Vec<Event> = logged.collect();
        // The log names the table, so an event of the log is preferred to one that was derived from thread activity.
        if events.iter().all(|event| !event.what.contains("compaction") && !event.what.contains("flush")) {
            let began = machine.background().into_iter().map(|window| window.start);
            events.extend(began.map(|time_ns| Event {
                time_ns,
                node: String::new(),
                kind: "background".into(),
                what: "compactions or flushes began".into(),
            }));
        }
        events.sort_by(|a, b| (a.time_ns, &a.what).cmp(&(b.time_ns, &b.what)));
        Ok(events)
    }
}
