//! When to record less or more: a pure function of what was spent.

use std::time::Duration;

/// The budget holds for the mean of this time. It is the longest time that a segment is written, so that each window has the
/// cost of closing one.
const WINDOW: Duration = Duration::from_secs(60);
/// Below this part of the budget more is recorded: a step doubles the cost at most, as far as it has a law.
const CALM: f64 = 0.5;
/// Calm windows that are waited for at most before a step back that proved too dear is tried again.
const MOST_CALM: u32 = 32;

/// Steps that are taken one by one when a window's allowance is used up, and taken back after calm windows.
#[derive(Debug)]
pub(super) struct Ladder {
    /// Steps that exist, and those that are taken.
    top: usize,
    level: usize,
    /// Shares of the CPUs × seconds that were spent in this window.
    spent: f64,
    elapsed: Duration,
    calm: u32,
    calm_wanted: u32,
    last: Option<Move>,
    since_last: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    Thinner,
    Fuller,
    /// More is spent than allowed, and no step is left. Said once until something changes.
    Exhausted,
}

impl Ladder {
    pub(super) fn new(top: usize) -> Ladder {
        Ladder {
            top,
            level: 0,
            spent: 0.0,
            elapsed: Duration::ZERO,
            calm: 0,
            calm_wanted: 1,
            last: None,
            since_last: Duration::ZERO,
        }
    }

    pub(super) fn level(&self) -> usize {
        self.level
    }

    /// Takes in the share of the CPUs that was spent in an interval. A step thinner is due as soon as the allowance of the whole
    /// window is used up: the more is spent, the earlier.
    pub(super) fn judge(&mut self, share: f64, interval: Duration, budget: f64) -> Option<Move> {
        self.spent += share * interval.as_secs_f64();
        self.elapsed += interval;
        self.since_last += interval;
        let allowance = budget * self.elapsed.max(WINDOW).as_secs_f64();
        let next = if self.spent > allowance {
            self.calm = 0;
            Some(self.dearer())
        } else if self.elapsed >= WINDOW {
            let is_calm = self.spent < CALM * allowance;
            self.calm = if is_calm { self.calm + 1 } else { 0 };
            (self.level > 0 && self.calm >= self.calm_wanted).then_some(Move::Fuller)
        } else {
            return None;
        };
        (self.spent, self.elapsed) = (0.0, Duration::ZERO);
        match next {
            Some(Move::Thinner) => self.level += 1,
            Some(Move::Fuller) => (self.level, self.calm) = (self.level - 1, 0),
            Some(Move::Exhausted) if self.last == next => return None,
            Some(Move::Exhausted) | None => {}
        }
        if next.is_some() {
            (self.last, self.since_last) = (next, Duration::ZERO);
        }
        next
    }

    fn dearer(&mut self) -> Move {
        if self.last == Some(Move::Fuller) {
            // Within a window it was the step back that cost too much, and later something else.
            let is_too_early = self.since_last <= WINDOW;
            self.calm_wanted = if is_too_early { (self.calm_wanted * 2).min(MOST_CALM) } else { 1 };
        }
        if self.level < self.top { Move::Thinner } else { Move::Exhausted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: Duration = Duration::from_secs(5);
    const BUDGET: f64 = 0.02;

    /// The moves of some minutes, each with its second.
    fn moves(ladder: &mut Ladder, minutes: u64, cost: impl Fn(usize) -> f64) -> Vec<(u64, Move)> {
        let mut moves = Vec::new();
        for second in (EACH.as_secs()..=60 * minutes).step_by(EACH.as_secs() as usize) {
            let share = cost(ladder.level());
            moves.extend(ladder.judge(share, EACH, BUDGET).map(|next| (second, next)));
        }
        moves
    }

    #[test]
    fn within_the_budget_nothing_is_left_out() {
        let mut ladder = Ladder::new(5);
        assert!(moves(&mut ladder, 60, |_| 0.0199).is_empty());
        assert_eq!(ladder.level(), 0);
    }

    #[test]
    fn the_more_is_spent_the_earlier_less_is_recorded() {
        let first = |cost: f64| moves(&mut Ladder::new(5), 5, |_| cost)[0];
        assert_eq!(first(0.0201), (60, Move::Thinner));
        assert_eq!(first(0.1), (15, Move::Thinner));
        assert_eq!(first(1.0), (5, Move::Thinner));
    }

    #[test]
    fn a_burst_in_a_cheap_minute_changes_nothing() {
        let mut ladder = Ladder::new(5);
        for minute in 0..10 {
            for part in 0..12 {
                // A segment is closed.
                let share = if part == 7 { 0.15 } else { 0.005 };
                assert_eq!(ladder.judge(share, EACH, BUDGET), None, "minute {minute}");
            }
        }
    }

    #[test]
    fn steps_are_taken_until_the_cost_fits_and_no_further() {
        let mut ladder = Ladder::new(5);
        let halved = |level: usize| 0.06 / f64::from(1 << level);
        let moves = moves(&mut ladder, 30, halved);
        assert_eq!(moves.iter().map(|(_, next)| *next).collect::<Vec<_>>(), [Move::Thinner, Move::Thinner]);
        assert_eq!(ladder.level(), 2);
    }

    #[test]
    fn when_the_load_is_gone_all_is_recorded_again() {
        let mut ladder = Ladder::new(5);
        moves(&mut ladder, 10, |level| 0.3 / f64::from(1 << level));
        assert_eq!(ladder.level(), 4);
        let back = moves(&mut ladder, 10, |_| 0.001);
        assert_eq!(ladder.level(), 0);
        assert!(back.iter().all(|(_, next)| *next == Move::Fuller), "{back:?}");
    }

    /// A step that saves much more than half: the level below is too dear, and the one above looks calm.
    #[test]
    fn a_step_back_that_is_too_dear_is_tried_less_and_less_often() {
        let mut ladder = Ladder::new(1);
        let moves = moves(&mut ladder, 600, |level| if level == 0 { 0.1 } else { 0.001 });
        let thinner: Vec<u64> =
            moves.iter().filter(|(_, next)| *next == Move::Thinner).map(|(second, _)| *second).collect();
        let gaps: Vec<u64> = thinner.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.is_sorted() && gaps[0] < 120, "{gaps:?}");
        assert!(*gaps.last().unwrap() > 30 * 60, "{gaps:?}");
    }

    #[test]
    fn a_budget_that_cannot_be_kept_is_said_once() {
        let mut ladder = Ladder::new(2);
        let moves = moves(&mut ladder, 60, |_| 0.5);
        let kinds: Vec<Move> = moves.into_iter().map(|(_, next)| next).collect();
        assert_eq!(kinds, [Move::Thinner, Move::Thinner, Move::Exhausted]);
        assert_eq!(ladder.level(), 2);
    }

    /// A machine that sleeps, or a process that was stopped.
    #[test]
    fn a_long_interval_is_a_window_of_its_own() {
        let mut ladder = Ladder::new(2);
        assert_eq!(ladder.judge(0.019, Duration::from_secs(3600), BUDGET), None);
        assert_eq!(ladder.judge(0.021, Duration::from_secs(3600), BUDGET), Some(Move::Thinner));
    }
}
