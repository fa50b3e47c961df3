//! The knee: the last step of a stepped load that the system kept up with.

use super::{Limit, Phase};
use serde::Serialize;

/// The throughput that a system can sustain, from a stepped load in open loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knee {
    /// The measured steps, by intended rate.
    pub steps: Vec<Step>,
    /// Index in `steps` of the last step that the system kept up with; None when it kept up with none.
    pub last_kept_up: Option<usize>,
    /// The highest throughput that any step achieved, in requests per second.
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
    pub response_p99_ms: Option<f64>,
}

impl Knee {
    /// Finds the knee and marks the overloaded phases. None unless there are two measured steps of different rates; a
    /// single constant rate that leaves a backlog is overloaded all the same.
    pub(crate) fn find(phases: &mut [Phase]) -> Option<Knee> {
        let highest_kept_up = phases
            .iter()
            .filter(|phase| phase.measured && phase.kept_up == Some(true))
            .filter_map(Phase::constant_rate_per_s)
            .fold(0.0, f64::max);
        let mut steps: Vec<(f64, usize)> = phases
            .iter()
            .enumerate()
            .filter(|(_, phase)| phase.measured)
            .filter_map(|(index, phase)| Some((phase.constant_rate_per_s()?, index)))
            .collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let several = steps.first().zip(steps.last()).is_some_and(|(first, last)| first.0 < last.0);
        for (rate, index) in &steps {
            let phase = &mut phases[*index];
            // A single overloaded step below a step that was not overloaded shows no limit. A constant rate that failed
            // because of errors or a pause, without a backlog, is no overload either.
            phase.overloaded =
                phase.kept_up == Some(false) && *rate > highest_kept_up && (several || phase.left_backlog());
        }
        if !several {
            return None;
        }
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
                    response_p99_ms: phase.response_ms.p99,
                }
            })
            .collect();
        Some(Knee {
            last_kept_up: steps.iter().rposition(|step| step.kept_up),
            plateau_per_s: steps.iter().map(|step| step.achieved_per_s).fold(0.0, f64::max),
            reached: phases.iter().any(|phase| phase.overloaded),
            limit: None,
            steps,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percentiles::Percentiles;

    fn step(name: &str, rate: Option<f64>, achieved: f64, backlog_s: f64) -> Phase {
        Phase {
            marked: true,
            name: name.into(),
            start_ns: 0,
            end_ns: 10_000_000_000,
            rate_per_s: rate,
            end_rate_per_s: None,
            in_flight: rate.is_none().then_some(32),
            measured: true,
            requests: 1,
            errors: 0,
            throughput_per_s: achieved,
            service_ms: Percentiles::default(),
            response_ms: Percentiles::default(),
            backlog_s: rate.map(|_| backlog_s),
            kept_up: rate.map(|rate| achieved >= 0.95 * rate && backlog_s <= 0.1),
            overloaded: false,
        }
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
        assert_eq!(knee.plateau_per_s, 39.5e3);
        let overloaded: Vec<bool> = phases.iter().map(|phase| phase.overloaded).collect();
        assert_eq!(overloaded, [false, false, false, true, true]);
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
