//! The times in which requests were slow.

use crate::requests::Requests;
use crate::timeline::{Interval, merge};
use crate::{Engine, Error, Explanation};

/// The times in which requests were slow.
#[derive(Debug, Clone)]
pub(crate) struct SlowTimes {
    slow: Vec<Interval>,
    /// From the start of the judged time to its end; None if nothing was judged.
    pub(crate) judged: Option<(i64, i64)>,
}

impl SlowTimes {
    pub(crate) fn of(engine: &Engine, explanation: &Explanation) -> Result<SlowTimes, Error> {
        let threshold_ns = (explanation.slow_threshold_ms * 1e6) as i64;
        let requests = Requests::of(engine)?;
        let judged = explanation.judged.iter().map(|window| Interval { start: window.start_ns, end: window.end_ns });
        let judged = merge(judged.collect());
        let slow = requests.rows.iter().filter(|request| {
            requests.is_timed(request) && request.response_ns() > threshold_ns && within(&judged, request.intended_ns)
        });
        let slow = merge(slow.map(|request| Interval { start: request.intended_ns, end: request.end_ns }).collect());
        Ok(SlowTimes { slow, judged: judged.first().zip(judged.last()).map(|(first, last)| (first.start, last.end)) })
    }

    pub(crate) fn contains(&self, time_ns: i64) -> bool {
        within(&self.slow, time_ns)
            && self.judged.is_none_or(|(start_ns, end_ns)| start_ns <= time_ns && time_ns < end_ns)
    }
}

fn within(merged: &[Interval], time_ns: i64) -> bool {
    let next = merged.partition_point(|interval| interval.start <= time_ns);
    next.checked_sub(1).is_some_and(|last| merged[last].contains(time_ns))
}
