//! Events beside the samples: phases of the load, pauses of the JVM, stalls, slow requests.

use super::contents::ExportOptions;
use crate::query::{MARKS, PAUSES, STALLS};
use crate::requests::{Request, Requests};
use crate::{Engine, Error, Explanation, text};

/// The most slow requests in a file; a reader could not tell more of them apart.
const MOST_REQUESTS: usize = 20_000;

pub(super) struct Phase {
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    pub(super) name: String,
}

pub(super) struct Pause {
    pub(super) start_ns: i64,
    pub(super) duration_ns: i64,
    pub(super) node: String,
    pub(super) kind: String,
    pub(super) collector: String,
    pub(super) cause: String,
    /// The phase of a concurrent collection; empty for a whole pause.
    pub(super) phase: String,
}

pub(super) struct Stall {
    pub(super) start_ns: i64,
    pub(super) duration_ns: i64,
    pub(super) side: String,
    pub(super) node: String,
    pub(super) kind: String,
}

pub(super) struct SlowRequest {
    pub(super) intended_ns: i64,
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    pub(super) node: String,
    /// The operation of the request; empty if the recording has none.
    pub(super) operation: String,
    pub(super) outcome: String,
}

pub(super) struct Moments {
    pub(super) phases: Vec<Phase>,
    pub(super) pauses: Vec<Pause>,
    pub(super) stalls: Vec<Stall>,
    /// Requests by intended start.
    pub(super) requests: Vec<SlowRequest>,
    /// Sentences about events that were left out, and about the threshold for slow.
    pub(super) notes: Vec<String>,
}

impl Moments {
    /// Loads the events that overlap the window.
    pub(super) fn load(
        engine: &Engine,
        options: &ExportOptions,
        explanation: Option<&Explanation>,
    ) -> Result<Moments, Error> {
        let (from, to) = (options.selection.start_ns, options.selection.end_ns);
        let inside = |start_ns: i64, end_ns: i64| start_ns < to && end_ns >= from;
        let marks = engine.sql(&MARKS.fill(&[]))?;
        let marks = marks.integers("start_ns")?.into_iter().zip(marks.integers("end_ns")?).zip(marks.texts("name")?);
        let phases = marks.map(|((start_ns, end_ns), name)| Phase { start_ns, end_ns, name });
        let phases = phases.filter(|phase| inside(phase.start_ns, phase.end_ns)).collect();
        let rows = engine.sql(&PAUSES.fill(&[]))?;
        let (starts, lengths) = (rows.integers("start_ns")?, rows.integers("duration_ns")?);
        let (nodes, kinds, collectors) = (rows.texts("node")?, rows.texts("kind")?, rows.texts("collector")?);
        let (causes, phase_names) = (rows.texts("cause")?, rows.texts("phase")?);
        let pauses = (0..rows.rows())
            .filter(|row| inside(starts[*row], starts[*row].saturating_add(lengths[*row])))
            .map(|row| Pause {
                start_ns: starts[row],
                duration_ns: lengths[row],
                node: nodes[row].clone(),
                kind: kinds[row].clone(),
                collector: collectors[row].clone(),
                cause: causes[row].clone(),
                phase: phase_names[row].clone(),
            })
            .collect();
        let rows = engine.sql(&STALLS.fill(&[]))?;
        let (starts, lengths) = (rows.integers("start_ns")?, rows.integers("duration_ns")?);
        let (sides, nodes, kinds) = (rows.texts("side")?, rows.texts("node")?, rows.texts("kind")?);
        let stalls = (0..rows.rows())
            .filter(|row| inside(starts[*row], starts[*row].saturating_add(lengths[*row])))
            .map(|row| Stall {
                start_ns: starts[row],
                duration_ns: lengths[row],
                side: sides[row].clone(),
                node: nodes[row].clone(),
                kind: kinds[row].clone(),
            })
            .collect();
        let (requests, notes) = slow_requests(engine, explanation, inside)?;
        Ok(Moments { phases, pauses, stalls, requests, notes })
    }

    pub(super) fn count(&self) -> usize {
        self.phases.len() + self.pauses.len() + self.stalls.len() + self.requests.len()
    }

    /// The time at which the first of these events began.
    pub(super) fn first_ns(&self) -> Option<i64> {
        let phases = self.phases.iter().map(|phase| phase.start_ns);
        let pauses = self.pauses.iter().map(|pause| pause.start_ns);
        let stalls = self.stalls.iter().map(|stall| stall.start_ns);
        let requests = self.requests.iter().map(|request| request.intended_ns);
        phases.chain(pauses).chain(stalls).chain(requests).min()
    }
}

fn slow_requests(
    engine: &Engine,
    explanation: Option<&Explanation>,
    inside: impl Fn(i64, i64) -> bool,
) -> Result<(Vec<SlowRequest>, Vec<String>), Error> {
    let Some(explanation) = explanation.filter(|explanation| explanation.judged_requests > 0) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let threshold_ns = (explanation.slow_threshold_ms * 1e6) as i64;
    let requests = Requests::of(engine)?;
    let is_slow =
        |request: &&Request| request.response_ns() > threshold_ns && inside(request.intended_ns, request.end_ns);
    let mut slow: Vec<_> = requests.rows.iter().filter(is_slow).collect();
    let mut notes = vec![format!(
        "requests are those over {} ({}), from when they were due",
        text::time_ms(explanation.slow_threshold_ms),
        explanation.slow_threshold_name
    )];
    if slow.len() > MOST_REQUESTS {
        notes.push(format!(
            "of {} slow requests the {} slowest are in it; choose fewer with --slow, --from or --to",
            text::count(slow.len()),
            text::count(MOST_REQUESTS)
        ));
        slow.sort_unstable_by_key(|request| std::cmp::Reverse(request.response_ns()));
        slow.truncate(MOST_REQUESTS);
        slow.sort_unstable_by_key(|request| request.intended_ns);
    }
    let slow = slow.into_iter().map(|request| SlowRequest {
        intended_ns: request.intended_ns,
        start_ns: request.start_ns,
        end_ns: request.end_ns,
        node: requests.nodes.get(usize::from(request.node)).cloned().unwrap_or_default(),
        operation: requests.operation(request).to_string(),
        outcome: requests.outcome(request).to_string(),
    });
    Ok((slow.collect(), notes))
}
