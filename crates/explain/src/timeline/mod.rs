//! Sets of time intervals, and their circular shift.

mod bins;
mod burst;

pub(crate) use bins::Bins;
pub(crate) use burst::Bursts;

/// From `start` up to, but not including, `end`, in ns since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Interval {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl Interval {
    pub(crate) fn of_length(start: i64, length: i64) -> Interval {
        Interval { start, end: start.saturating_add(length.max(0)) }
    }

    pub(crate) fn length(&self) -> i64 {
        self.end.saturating_sub(self.start).max(0)
    }

    /// The intersection with another interval; its length is 0 if there is none.
    pub(crate) fn clip(&self, to: Interval) -> Interval {
        let start = self.start.max(to.start);
        Interval { start, end: self.end.min(to.end).max(start) }
    }

    pub(crate) fn overlaps(&self, other: Interval) -> bool {
        self.start < other.end && other.start < self.end
    }

    pub(crate) fn contains(&self, time: i64) -> bool {
        self.start <= time && time < self.end
    }

    /// The interval extended by `by` on both sides.
    pub(crate) fn widened(&self, by: i64) -> Interval {
        Interval { start: self.start.saturating_sub(by), end: self.end.saturating_add(by) }
    }
}

/// Sorts the intervals, drops empty ones, and joins those that touch or overlap.
pub(crate) fn merge(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.retain(|interval| interval.length() > 0);
    intervals.sort_unstable();
    let mut merged: Vec<Interval> = Vec::with_capacity(intervals.len());
    for interval in intervals {
        match merged.last_mut() {
            Some(last) if interval.start <= last.end => last.end = last.end.max(interval.end),
            _ => merged.push(interval),
        }
    }
    merged
}

/// The parts of the merged set `intervals` that no interval of the merged set `taken` covers.
pub(crate) fn subtract(intervals: &[Interval], taken: &[Interval]) -> Vec<Interval> {
    let mut left = Vec::with_capacity(intervals.len());
    let mut first = 0;
    for interval in intervals {
        while taken.get(first).is_some_and(|other| other.end <= interval.start) {
            first += 1;
        }
        let mut start = interval.start;
        for other in taken[first..].iter().take_while(|other| other.start < interval.end) {
            if start < other.start {
                left.push(Interval { start, end: other.start });
            }
            start = start.max(other.end);
        }
        if start < interval.end {
            left.push(Interval { start, end: interval.end });
        }
    }
    left
}

/// The parts of a merged set within the window.
pub(crate) fn within(intervals: &[Interval], window: Interval) -> Vec<Interval> {
    let first = intervals.partition_point(|interval| interval.end <= window.start);
    intervals[first..]
        .iter()
        .take_while(|interval| interval.start < window.end)
        .map(|interval| interval.clip(window))
        .collect()
}

/// How much of the window a merged set covers, in ns.
pub(crate) fn covered_ns(intervals: &[Interval], window: Interval) -> i64 {
    let first = intervals.partition_point(|interval| interval.end <= window.start);
    intervals[first..]
        .iter()
        .take_while(|interval| interval.start < window.end)
        .map(|interval| interval.clip(window).length())
        .sum()
}

pub(crate) fn total_ns(intervals: &[Interval]) -> i64 {
    intervals.iter().map(Interval::length).sum()
}

/// Shifts the part of a merged set that lies in `window` circularly by `by` ns: intervals that leave the end continue
/// at the start. The intervals keep their lengths and distances, and so their clustering. The result is sorted and does
/// not overlap; an interval on the seam is cut in two.
pub(crate) fn shift_circularly(inside: &[Interval], window: Interval, by: i64) -> Vec<Interval> {
    let length = window.length();
    if length == 0 {
        return Vec::new();
    }
    let by = by.rem_euclid(length);
    // Intervals from here on are shifted past the end.
    let seam = window.end - by;
    let split = inside.partition_point(|interval| interval.end <= seam);
    let mut shifted = Vec::with_capacity(inside.len() + 1);
    let moved = |start: i64, end: i64, by: i64| Interval { start: start + by, end: end + by };
    for interval in &inside[split..] {
        shifted.push(moved(interval.start.max(seam), interval.end, by - length));
    }
    for interval in &inside[..split] {
        shifted.push(moved(interval.start, interval.end, by));
    }
    if let Some(cut) = inside.get(split).filter(|interval| interval.start < seam) {
        shifted.push(moved(cut.start, seam, by));
    }
    shifted
}

#[cfg(test)]
mod tests;
