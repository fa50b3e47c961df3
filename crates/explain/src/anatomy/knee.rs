//! The knee: the last step of a stepped load that the system kept up with.

use super::{Limit, Phase};
use serde::Serialize;

/// The throughput that a system can sustain, from a stepped load in open loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knee {
    /// The measured steps of which requests were sent, by intended rate.
    pub steps: Vec<Step>,
    /// Index in `steps` of the last step that the system kept up with; None when it kept up with none.
    pub last_kept_up: Option<usize>,
    /// The median throughput of the overloaded steps, in requests per second; without an overloaded step, the highest
    /// throughput of all. The highest of the overloaded ones would be the one in which the most chance helped.
    pub plateau_per_s: f64,
    /// Whether the load asked for more than the system could do. Only then is `plateau_per_s` a limit of the system.
    pub reached: bool,
    /// The resource that limits the throughput beyond the knee; None when no step went beyond it.
    pub limit: Option<Limit>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    pub phase: String,
    pub intended_per_s: f64,
    pub achieved_per_s: f64,
    pub backlog_s: f64,
    pub kept_up: bool,
    pub response_p50_ms: Option<f64>,
    pub response_p99_ms: Option<f64>,
}

impl Knee {
    /// Finds the knee and marks the overloaded phases. None unless there are two measured steps of different rates; a
    /// single constant rate that leaves a backlog is overloaded all the same.
    ///
    /// A phase without a request is left out. The driver was still sending requests of earlier phases then, so the
    /// answers of that time belong to these.
    pub(crate) fn find(phases: &mut [Phase]) -> Option<Knee> {
        let is_step = |phase: &&Phase| phase.measured && phase.requests > 0;
        let highest_kept_up = phases
            .iter()
            .filter(is_step)
            .filter(|phase| phase.kept_up == Some(true))
            .filter_map(Phase::constant_rate_per_s)
            .fold(0.0, f64::max);
        let mut steps: Vec<(f64, usize)> = phases
            .iter()
            .enumerate()
            .filter(|(_, phase)| is_step(phase))
            .filter_map(|(index, phase)| Some((phase.constant_rate_per_s()?, index)))
            .collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let several = steps.first().zip(steps.last()).is_some_and(|(first, last)| first.0 < last.0);
        for (rate, index) in &steps {
            let phase = &mut phases[*index];
            // A single overloaded step below a step that was not overloaded shows no limit. A constant rate that failed
            // because of errors or a pause, without a backlog, is no overload either.
            let is_over = (several && phase.fell_short()) || phase.left_backlog();
            phase.overloaded = is_over && *rate > highest_kept_up;
        }
        if !several {
            return None;
        }
        let mut overloaded: Vec<f64> =
            phases.iter().filter(|phase| phase.overloaded).map(|phase| phase.throughput_per_s).collect();
        let steps: Vec<Step> = steps
            .iter()
            .map(|(rate, index)| {
                let phase = &phases[*index];
                Step {
                    phase: phase.name.clone(),
                    intended_per_s: *rate,
                    achieved_per_s: phase.throughput_per_s,
                    backlog_s: phase.backlog_s.unwrap_or_default(),
                    kept_up: phase.kept_up.unwrap_or_default(),
                    response_p50_ms: phase.response_ms.p50,
                    response_p99_ms: phase.response_ms.p99,
                }
            })
            .collect();
        let highest_per_s = steps.iter().map(|step| step.achieved_per_s).fold(0.0, f64::max);
        Some(Knee {
            last_kept_up: steps.iter().rposition(|step| step.kept_up),
            plateau_per_s: median(&mut overloaded).unwrap_or(highest_per_s),
            reached: !overloaded.is_empty(),
            limit: None,
            steps,
        })
    }

    /// The last step that the system kept up with.
    pub(crate) fn kept_up(&self) -> Option<&Step> {
        self.last_kept_up.and_then(|last| self.steps.get(last))
    }

    /// The first step above those that the system kept up with.
    pub(crate) fn first_beyond(&self) -> Option<&Step> {
        self.steps.get(self.last_kept_up.map_or(0, |last| last + 1))
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let above = *values.get(values.len() / 2)?;
    Some((above + values[(values.len() - 1) / 2]) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Interval;

    const S: i64 = 1_000_000_000;

    /// A phase of 10 s whose requests take 1 ms, or wait.
    fn step(name: &str, rate: Option<f64>, achieved: f64, backlog_s: f64) -> Phase {
        let mut phase = Phase::named(name.into(), Interval { start: 0, end: 10 * S }, true);
        phase.rate_per_s = rate;
        phase.in_flight = rate.is_none().then_some(32);
        phase.requests = 1;
        phase.throughput_per_s = achieved;
        phase.response_ms.p50 = Some(1.0 + backlog_s * 500.0);
        phase.backlog_s = rate.map(|_| backlog_s);
        phase.usual_ms = rate.map(|_| 1.0);
        phase.judge();
        phase
    }

    fn overloaded(phases: &[Phase]) -> Vec<bool> {
        phases.iter().map(|phase| phase.overloaded).collect()
    }

    #[test]
    fn the_knee_is_the_last_step_that_kept_up() {
        let mut phases = [
            step("10k", Some(10e3), 10e3, 0.0),
            step("20k", Some(20e3), 18e3, 0.02),
            step("30k", Some(30e3), 30e3, 0.01),
            step("40k", Some(40e3), 39.5e3, 0.4),
            step("50k", Some(50e3), 39e3, 3.0),
        ];
        let knee = Knee::find(&mut phases).unwrap();
        assert_eq!(knee.last_kept_up, Some(2));
        assert!(knee.reached);
        assert_eq!(knee.plateau_per_s, 39.25e3);
        assert_eq!(overloaded(&phases), [false, false, false, true, true]);
    }

    /// As the demo once recorded it: nothing of the last step was sent, and the backlog was answered faster.
    #[test]
    fn the_plateau_is_that_of_most_overloaded_steps() {
        let mut phases = [
            step("14k", Some(14e3), 14e3, 0.0),
            step("21k", Some(21e3), 22e3, 1.2),
            step("28k", Some(28e3), 24.4e3, 2.0),
            step("35k", Some(35e3), 23.1e3, 4.0),
            step("56k", Some(56e3), 29.7e3, 0.0),
        ];
        phases[4].requests = 0;
        let knee = Knee::find(&mut phases).unwrap();
        assert_eq!((knee.steps.len(), knee.last_kept_up, knee.plateau_per_s), (4, Some(0), 23.1e3));
        assert_eq!(overloaded(&phases), [false, true, true, true, false]);
    }

    #[test]
    fn a_step_whose_requests_waited_was_not_kept_up_with() {
        let mut phases = [step("6k", Some(6e3), 6e3, 0.0), step("10k", Some(10e3), 10e3, 0.01)];
        phases[1].response_ms.p50 = Some(302.0);
        phases[1].judge();
        let knee = Knee::find(&mut phases).unwrap();
        assert_eq!(knee.last_kept_up, Some(0), "half of the requests waited for 0.3 s");
        assert!(!knee.reached && !phases[1].overloaded, "the rate was achieved and nothing was left");
        assert_eq!(knee.first_beyond().unwrap().phase, "10k");
    }

    #[test]
    fn requests_that_always_take_long_do_not_wait() {
        let mut slow = step("50", Some(50.0), 50.0, 0.3);
        slow.response_ms.p50 = Some(302.0);
        slow.usual_ms = Some(295.0);
        slow.judge();
        assert_eq!((slow.kept_up, slow.left_backlog()), (Some(true), false));
    }

    #[test]
    fn a_load_that_was_never_too_much_has_no_plateau() {
        let mut phases = [step("10k", Some(10e3), 10e3, 0.0), step("20k", Some(20e3), 20e3, 0.0)];
        let knee = Knee::find(&mut phases).unwrap();
        assert!(!knee.reached);
        assert_eq!(knee.last_kept_up, Some(1));
    }

    #[test]
    fn a_constant_rate_or_a_closed_loop_has_no_knee() {
        let mut closed = [step("closed", None, 5e3, 0.0)];
        assert_eq!(Knee::find(&mut closed), None);
        assert!(!closed[0].overloaded);
        let mut constant = [step("steady", Some(5e3), 4e3, 2.0)];
        assert_eq!(Knee::find(&mut constant), None);
        assert!(constant[0].overloaded);
        let mut failing = [step("failing", Some(5e3), 4e3, 0.0)];
        assert_eq!(Knee::find(&mut failing), None);
        assert!(!failing[0].overloaded);
    }
}
