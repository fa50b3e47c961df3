//! Evenly long pieces of the time axis.

use crate::timeline::Interval;

/// Bins over a span: round lengths, so that their edges are readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bins {
    pub(crate) start_ns: i64,
    pub(crate) length_ns: i64,
    pub(crate) count: usize,
}

impl Bins {
    /// At most `most` bins, none shorter than `shortest_ns`.
    pub(crate) fn over(span: Interval, most: i64, shortest_ns: i64) -> Bins {
        let mut decade_ns = shortest_ns.max(1);
        let length_ns = loop {
            let fits = |step: &i64| span.length().div_euclid(decade_ns.saturating_mul(*step)) < most;
            if let Some(step) = [1, 2, 5].iter().find(|step| fits(step)) {
                break decade_ns.saturating_mul(*step);
            }
            decade_ns = decade_ns.saturating_mul(10);
        };
        let count = span.length().div_euclid(length_ns) + 1;
        Bins { start_ns: span.start, length_ns, count: usize::try_from(count).unwrap_or(1) }
    }

    pub(crate) fn seconds_each(&self) -> f64 {
        self.length_ns as f64 / 1e9
    }

    /// Seconds since the start.
    pub(crate) fn second(&self, time_ns: i64) -> f64 {
        (time_ns - self.start_ns) as f64 / 1e9
    }

    /// The bin of a time; the first or the last for a time beyond the ends.
    pub(crate) fn of(&self, time_ns: i64) -> usize {
        let bin = (time_ns - self.start_ns).div_euclid(self.length_ns);
        usize::try_from(bin).unwrap_or(0).min(self.count - 1)
    }

    /// Second at which a bin begins.
    pub(crate) fn at(&self, bin: usize) -> f64 {
        bin as f64 * self.length_ns as f64 / 1e9
    }

    /// From its start to its end, in ns since the Unix epoch.
    pub(crate) fn window(&self, bin: usize) -> Interval {
        let start = self.start_ns + self.length_ns * i64::try_from(bin).unwrap_or(0);
        Interval::of_length(start, self.length_ns)
    }

    /// Second at which each bin begins.
    pub(crate) fn seconds(&self) -> Vec<f64> {
        (0..self.count).map(|bin| self.at(bin)).collect()
    }
}

/// ISO 8601 in UTC, to the millisecond.
pub(crate) fn iso(time_ns: i64) -> String {
    let ms = time_ns.div_euclid(1_000_000);
    let (days, ms_of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    // Days to a date: Howard Hinnant, chrono-compatible low-level date algorithms.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (ms_of_day / 3_600_000, ms_of_day / 60_000 % 60);
    let (second, ms) = (ms_of_day / 1000 % 60, ms_of_day % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_round_and_not_too_many() {
        let bins =
            |seconds: i64| Bins::over(Interval { start: 7, end: 7 + seconds * 1_000_000_000 }, 1800, 100_000_000);
        assert_eq!((bins(90).seconds_each(), bins(90).count), (0.1, 901));
        assert_eq!(bins(200).seconds_each(), 0.2);
        assert_eq!(bins(600).seconds_each(), 0.5);
        assert_eq!(bins(1000).seconds_each(), 1.0);
        assert_eq!(bins(86_400).seconds_each(), 50.0);
        for seconds in [0, 1, 179, 180, 181, 3599, 100_000] {
            assert!(bins(seconds).count <= 1800 && bins(seconds).count >= 1);
        }
        assert_eq!(bins(90).of(7), 0);
        assert_eq!(bins(90).of(7 + 90 * 1_000_000_000), 900);
        assert_eq!(bins(90).of(0), 0);
        assert_eq!(bins(90).of(i64::MAX / 2), 900);
    }

    #[test]
    fn times_are_iso() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(1_709_210_096_789_000_000), "2024-02-29T12:34:56.789Z");
        assert_eq!(iso(-1_000_000), "1969-12-31T23:59:59.999Z");
    }
}
