//! Whether the requests that the slow ones have in common wait for a disk.
//!
//! A disk that is slow all the time leaves no other times to compare with (`association`), but the number of requests
//! that need it changes from moment to moment. In each tenth of a second, x is the mean number of these requests under
//! way, and y the share in which tasks waited for a disk. The correlation of x and y is compared with those of the
//! series shifted circularly against each other, which keep how each depends on its own past.

use super::common::Common;
use super::shortage::Shortage;
use crate::association::Judged;
use crate::timeline::Interval;
use serde::Serialize;

/// Pressure is sampled ten times a second.
const INTERVAL_NS: i64 = 100_000_000;
/// With fewer intervals than this, the smallest p-value is too large.
const FEWEST_INTERVALS: usize = 120;
/// The most shifts.
const MOST_SHIFTS: usize = 400;
const P_BOUND: f64 = 0.01;
/// The requests wait for a disk if tasks waited for one in at least this share of their time.
const MOSTLY: f64 = 0.5;
/// If tasks waited for a disk for a smaller share of all time, requests are not counted at all.
const WORTH_COUNTING: f64 = 0.1;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct DiskTime {
    /// Of the time in which such requests were under way, the share in which tasks waited for a disk: at most, because
    /// both are known by tenth of a second.
    pub(crate) share: f64,
    pub(crate) correlation: f64,
    pub(crate) p_value: f64,
}

impl DiskTime {
    /// None if the requests do not wait for a disk for most of their time, or it can't be told from chance.
    pub(super) fn find(judged: &Judged, common: &Common, shortage: &Shortage) -> Option<DiskTime> {
        let window = judged.hull().filter(|_| !common.shared.is_empty())?;
        let mut waited = Series::new(window);
        shortage.disk_waits().for_each(|(interval, ns)| {
            waited.add(interval, ns as f64 / interval.length().max(1) as f64);
        });
        if waited.figures.len() < FEWEST_INTERVALS || mean(&waited.figures) < WORTH_COUNTING {
            return None;
        }
        let mut under_way = Series::new(window);
        let of_common = judged.timed().filter(|(request, _)| common.has(request));
        of_common.for_each(|(request, _)| {
            under_way.add(Interval { start: request.start_ns, end: request.end_ns }, 1.0);
        });
        let (waited, under_way) = (waited.figures, under_way.figures);
        let some: Vec<f64> = under_way.iter().map(|requests| requests.min(1.0)).collect();
        let both: f64 = some.iter().zip(&waited).map(|(some, waited)| some.min(*waited)).sum();
        let share = both / some.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let observed = correlation(&under_way, &waited)?;
        let shifts: Vec<usize> = (1..waited.len()).step_by(waited.len().div_ceil(MOST_SHIFTS)).collect();
        let reached = |shift: &&usize| {
            let mut shifted = waited.clone();
            shifted.rotate_left(**shift);
            correlation(&under_way, &shifted).is_some_and(|by_chance| by_chance >= observed)
        };
        let p_value = (1 + shifts.iter().filter(reached).count()) as f64 / (1 + shifts.len()) as f64;
        (share >= MOSTLY && p_value < P_BOUND).then_some(DiskTime { share, correlation: observed, p_value })
    }
}

/// A figure in each interval of a window.
struct Series {
    figures: Vec<f64>,
    start: i64,
}

impl Series {
    fn new(window: Interval) -> Series {
        let intervals = usize::try_from(window.length() / INTERVAL_NS).unwrap_or_default();
        Series { figures: vec![0.0; intervals], start: window.start }
    }

    /// Adds a figure that holds for some time.
    fn add(&mut self, during: Interval, figure: f64) {
        let place = |time: i64| usize::try_from((time - self.start).max(0) / INTERVAL_NS).unwrap_or_default();
        let (first, last) = (place(during.start), place(during.end));
        for (place, sum) in self.figures.iter_mut().enumerate().take(last + 1).skip(first) {
            let start = self.start + INTERVAL_NS * place as i64;
            let within = during.clip(Interval::of_length(start, INTERVAL_NS)).length();
            *sum += figure * within as f64 / INTERVAL_NS as f64;
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Pearson's correlation; None if one of the series is constant.
fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (x - mean_x, y - mean_y);
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}
