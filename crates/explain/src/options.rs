//! Options of an explanation.

use crate::traffic::TrafficFilter;
use crate::{Error, text};
use std::str::FromStr;

/// The threshold from which on a request is slow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SlowThreshold {
    /// A percentile of the judged requests, as a share from 0.5 to 0.9999.
    Quantile(f64),
    /// A response time in ns, above 0.
    Time(i64),
}

impl SlowThreshold {
    /// The threshold as text: `p99`, `p99.9`, or the time.
    pub fn name(&self) -> String {
        match self {
            SlowThreshold::Quantile(quantile) => format!("p{}", (quantile * 1e8).round() / 1e6),
            SlowThreshold::Time(ns) => text::time_ns(*ns),
        }
    }
}

impl FromStr for SlowThreshold {
    type Err = Error;

    /// Parses a threshold: `p99`, `p99.9`, `250ms`, `1.5s`, or milliseconds without a unit.
    fn from_str(text: &str) -> Result<SlowThreshold, Error> {
        let wrong = || Error::Threshold(format!("`{text}`"));
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
        let text = text.trim();
        if let Some(percent) = text.strip_prefix('p') {
            let percent = number(percent)?;
            return if (50.0..=99.99).contains(&percent) {
                Ok(SlowThreshold::Quantile(percent / 100.0))
            } else {
                Err(wrong())
            };
        }
        let ms = if let Some(ms) = text.strip_suffix("ms") {
            number(ms)?
        } else if let Some(seconds) = text.strip_suffix('s') {
            number(seconds)? * 1000.0
        } else {
            number(text)?
        };
        // An hour: no request takes longer, and the value stays far from the limit of 64 bits.
        if ms > 0.0 && ms <= 3_600_000.0 { Ok(SlowThreshold::Time((ms * 1e6) as i64)) } else { Err(wrong()) }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub threshold: SlowThreshold,
    /// How often the timeline of a cause is shifted. The smallest p-value is 1 / (shifts + 1).
    pub shifts: usize,
    /// Seed of the random shifts: the same seed gives the same p-values.
    pub seed: u64,
    /// Start and end of the judged time, in ns since the Unix epoch; None for all.
    pub window: Option<(i64, i64)>,
    /// Start and end of the baseline, a time without problems that sets the median and the percentile; None to take
    /// them from the judged time.
    pub against: Option<(i64, i64)>,
    /// The requests that are judged.
    pub only: TrafficFilter,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threshold: SlowThreshold::Quantile(0.99),
            shifts: 2000,
            seed: 1,
            window: None,
            against: None,
            only: TrafficFilter::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read() {
        let read = |text: &str| text.parse::<SlowThreshold>();
        assert_eq!(read("p99").unwrap(), SlowThreshold::Quantile(0.99));
        assert_eq!(read("p99.9").unwrap().name(), "p99.9");
        assert_eq!(read("250ms").unwrap(), SlowThreshold::Time(250_000_000));
        assert_eq!(read("1.5s").unwrap().name(), "1.5 s");
        assert_eq!(read("20").unwrap(), SlowThreshold::Time(20_000_000));
        for wrong in ["p100", "p1", "", "-3", "0", "fast", "NaN", "1e30s"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            read("fast").unwrap_err().to_string(),
            "the bound for slow requests must be p50 to p99.99 or a time above 0 ms, not `fast`"
        );
    }
}
