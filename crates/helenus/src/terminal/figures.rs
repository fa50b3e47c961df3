//! Formats figures for people.

/// A number with its thousands separated.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Milliseconds with a sensible number of digits.
pub fn millis(ms: Option<f64>) -> String {
    match ms {
        None => "–".into(),
        Some(ms) if ms < 10.0 => format!("{ms:.2}"),
        Some(ms) if ms < 100.0 => format!("{ms:.1}"),
        Some(ms) => format!("{ms:.0}"),
    }
}

/// Nanoseconds in a suitable unit, with three digits.
pub fn nanos(ns: i64) -> String {
    let value = ns as f64;
    let (value, unit) = match value.abs() {
        size if size < 999.5 => return format!("{ns} ns"),
        size if size < 999.5e3 => (value / 1e3, "µs"),
        size if size < 999.5e6 => (value / 1e6, "ms"),
        _ => (value / 1e9, "s"),
    };
    match value.abs() {
        size if size < 9.995 => format!("{value:.2} {unit}"),
        size if size < 99.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!([count(0), count(999), count(1_000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [nanos(7), nanos(1234), nanos(99_960), nanos(999_499_999), nanos(999_500_000), nanos(61_000_000_000)],
            ["7 ns", "1.23 µs", "100 µs", "999 ms", "1.00 s", "61.0 s"]
        );
        assert_eq!(
            [millis(None), millis(Some(0.123)), millis(Some(43.21)), millis(Some(1234.5))],
            ["–", "0.12", "43.2", "1234"]
        );
    }
}
