//! The phase of an experiment that warms the nodes up, and so may be repeated.

use helenus_load::{Phase, Until, Work};
use std::time::Duration;

/// The position of the warm-up among the phases of a part: the last phase before the first measured one, if it lasts a
/// fixed time and runs the workload's mix. A phase of a fixed count prepares data, and is never repeated.
pub(crate) fn position(phases: &[Phase]) -> Option<usize> {
    let warm_up = phases.iter().position(|phase| phase.measured)?.checked_sub(1)?;
    let phase = &phases[warm_up];
    (phase.work == Work::Mix && matches!(phase.until, Until::Elapsed(_))).then_some(warm_up)
}

/// How long it lasts.
pub(crate) fn lasts(warm_up: &Phase) -> Duration {
    match warm_up.until {
        Until::Elapsed(lasts) => lasts,
        Until::Count(_) => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_phase_of_fixed_time_before_the_measured_ones_is_a_warm_up() {
        let seconds = Until::Elapsed(Duration::from_secs(8));
        let warm_up = || Phase::in_flight(8, seconds).unmeasured();
        let measured = || Phase::in_flight(8, Until::Count(100));
        let mut populate = Phase::in_flight(8, Until::Count(100)).unmeasured();
        populate.work = Work::Populate;
        assert_eq!(position(&[populate.clone(), warm_up(), measured(), warm_up(), measured()]), Some(1));
        assert_eq!(position(&[warm_up(), populate.clone(), measured()]), None, "it would follow the populating");
        assert_eq!(position(&[measured()]), None);
        assert_eq!(position(&[warm_up()]), None, "nothing is measured");
        let fill = Phase::in_flight(8, Until::Count(100)).unmeasured();
        assert_eq!(position(&[fill, measured()]), None, "a count prepares data");
        assert_eq!(lasts(&warm_up()), Duration::from_secs(8));
    }
}
