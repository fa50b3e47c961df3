//! Time in which another process on the machine prepared the node: a load that populated tables or warmed up.

use crate::engine::Engine;
use crate::timeline::{Interval, merge};
use crate::{Error, query};

/// A phase of another process's load that is not judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unjudged {
    pub(crate) name: String,
    pub(crate) window: Interval,
}

impl Unjudged {
    /// The phases in the order of time. The recorder writes a row every second, so rows that touch are one phase.
    pub(crate) fn load(engine: &Engine) -> Result<Vec<Unjudged>, Error> {
        let rows = engine.sql(&query::UNJUDGED.fill(&[]))?;
        let (starts, ends) = (rows.integers("start_ns")?, rows.integers("end_ns")?);
        let mut phases: Vec<Unjudged> = Vec::new();
        for (row, name) in rows.texts("name")?.into_iter().enumerate() {
            let window = Interval { start: starts[row], end: ends[row] };
            match phases.iter_mut().rev().find(|phase| phase.name == name && phase.window.end >= window.start) {
                Some(phase) => phase.window.end = phase.window.end.max(window.end),
                None => phases.push(Unjudged { name, window }),
            }
        }
        Ok(phases)
    }
}

/// The parts of a span that are in none of the phases.
pub(crate) fn rest(unjudged: &[Unjudged], span: Interval) -> Vec<Interval> {
    let mut from = span.start;
    let mut parts = Vec::new();
    for window in merge(unjudged.iter().map(|phase| phase.window).collect()) {
        parts.push(Interval { start: from, end: window.start.min(span.end) });
        from = from.max(window.end);
    }
    parts.push(Interval { start: from, end: span.end });
    parts.retain(|part| part.length() > 0);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_what_no_phase_covers() {
        let phase = |start, end| Unjudged { name: "populate".into(), window: Interval { start, end } };
        let parts = |phases: &[Unjudged]| -> Vec<(i64, i64)> {
            rest(phases, Interval { start: 100, end: 200 }).iter().map(|part| (part.start, part.end)).collect()
        };
        assert_eq!(parts(&[]), [(100, 200)]);
        assert_eq!(parts(&[phase(50, 120), phase(150, 160), phase(155, 170)]), [(120, 150), (170, 200)]);
        assert_eq!(parts(&[phase(180, 250)]), [(100, 180)]);
        assert_eq!(parts(&[phase(250, 300)]), [(100, 200)]);
        assert_eq!(parts(&[phase(50, 250)]), []);
    }
}
