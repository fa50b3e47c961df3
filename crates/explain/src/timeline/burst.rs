//! Bursts of slow requests: how long the backlog that a pause left took to drain.

use super::Interval;

/// A burst lasts while at least half of this many consecutive requests are slow. One fast answer in between (another
/// node, another connection) does not end it, and at a threshold of p99 three of six are slow by chance once in 50,000.
const WINDOW: usize = 6;

/// A pause of length P at utilisation u leaves a backlog that drains in P·u/(1−u). At the 95 % up to which a step
/// counts as kept up, that is 19 P; a longer burst has another reason.
const LONGEST_DRAIN: i64 = 20;

/// Bursts: stretches of time in which the arriving requests were slow.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bursts {
    /// Entries (after, until, calm): a request due in `after < t ≤ until` belongs to a burst that ends at `calm`.
    bursts: Vec<(i64, i64, i64)>,
    end: i64,
}

impl Bursts {
    /// Finds the bursts of a judged stretch that ends at `end`, from the time at which each request was due and whether
    /// it was slow.
    pub(crate) fn find(requests: impl ExactSizeIterator<Item = (i64, bool)> + Clone, end: i64) -> Bursts {
        let total = requests.len();
        let mut ahead = requests.clone();
        let mut slow_ahead = ahead.by_ref().take(WINDOW).filter(|(_, slow)| *slow).count();
        let mut bursts: Vec<(i64, i64, i64)> = Vec::new();
        let mut before = i64::MIN;
        let mut open: Option<(i64, i64)> = None;
        for (index, (due, slow)) in requests.enumerate() {
            let seen = WINDOW.min(total - index);
            if slow_ahead * 2 >= seen.max(2) && slow_ahead > 0 {
                open = Some((open.map_or(before, |(after, _)| after), due));
            } else if let Some((after, until)) = open.take() {
                bursts.push((after, until, due));
            }
            before = due;
            slow_ahead -= usize::from(slow);
            slow_ahead += usize::from(ahead.next().is_some_and(|(_, slow)| slow));
        }
        if let Some((after, until)) = open {
            bursts.push((after, until, end));
        }
        Bursts { bursts, end }
    }

    /// The time until which a pause delays requests: its end, or the end of the burst that its end falls into. A
    /// shifted pause is treated in the same way, because only the requests and the pause's time count.
    pub(crate) fn drained_at(&self, pause: Interval) -> i64 {
        let next = self.bursts.partition_point(|(_, until, _)| *until < pause.end);
        let calm = match self.bursts.get(next) {
            Some((after, _, calm)) if *after < pause.end => *calm,
            _ => pause.end,
        };
        let longest = pause.end.saturating_add(pause.length().saturating_mul(LONGEST_DRAIN));
        calm.min(longest).min(self.end).max(pause.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(slow: &str) -> Bursts {
        let requests: Vec<(i64, bool)> =
            slow.chars().enumerate().map(|(index, c)| (index as i64 * 10, c == 'x')).collect();
        let end = slow.len() as i64 * 10;
        Bursts::find(requests.into_iter(), end)
    }

    #[test]
    fn a_pause_is_drained_when_the_burst_after_it_ends() {
        let bursts = bursts("......xxxxxxxx.xxx............");
        let pause = Interval { start: 62, end: 95 };
        let drained = bursts.drained_at(pause);
        assert!((150..=180).contains(&drained), "{drained}");
    }

    #[test]
    fn a_pause_without_a_burst_ends_with_itself() {
        let calm = bursts("....x.........x.....");
        assert_eq!(calm.drained_at(Interval { start: 5, end: 95 }), 95);
        assert_eq!(bursts("").drained_at(Interval { start: 5, end: 9 }).max(9), 9);
    }

    #[test]
    fn a_drain_is_not_endless() {
        let always = bursts(&"x".repeat(1000));
        assert_eq!(always.drained_at(Interval { start: 1000, end: 1010 }), 1010 + 200);
        assert_eq!(always.drained_at(Interval { start: 9000, end: 9900 }), 10_000);
    }

    #[test]
    fn the_last_requests_can_be_a_burst() {
        let last = bursts("..........xx");
        assert_eq!(last.drained_at(Interval { start: 90, end: 105 }), 120);
    }
}
