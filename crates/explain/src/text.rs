//! Figures as a person reads them.

/// `83 %`, `1.2 %` below ten, `0 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        "0 %".into()
    } else if percent < 0.1 {
        "below 0.1 %".into()
    } else if percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// Milliseconds below a second, seconds from there: `3.4 ms`, `310 ms`, `1.2 s`.
pub(crate) fn time_ms(ms: f64) -> String {
    if ms < 9.95 {
        format!("{ms:.1} ms")
    } else if ms < 999.5 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.1} s", ms / 1000.0)
    }
}

pub(crate) fn time_ns(ns: i64) -> String {
    time_ms(ns as f64 / 1e6)
}

/// As [`time_ns`], with more to say of what takes less than 0.1 ms.
pub(crate) fn short_ns(ns: i64) -> String {
    match ns {
        ..1000 => format!("{ns} ns"),
        1000..100_000 => format!("{:.1} µs", ns as f64 / 1e3),
        _ => time_ns(ns),
    }
}

/// `950 B`, `12 kB`, `1.0 GB`.
pub fn bytes(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit > 0 && value < 9.95 { format!("{value:.1} {}", UNITS[unit]) } else { format!("{value:.0} {}", UNITS[unit]) }
}

/// `12,400`.
pub(crate) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `41 pauses`, `1 pause`.
pub(crate) fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// `p = 0.012`, as a paper would give it.
pub fn probability(p: f64) -> String {
    if p < 0.001 { "p < 0.001".into() } else { format!("p = {p:.3}") }
}

/// `59,800/s`.
pub(crate) fn rate(per_s: f64) -> String {
    if per_s < 100.0 { format!("{per_s:.1}/s") } else { format!("{}/s", count(per_s.round() as usize)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!(percent(0.826), "83 %");
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.00001), "below 0.1 %");
        assert_eq!(time_ms(3.44), "3.4 ms");
        assert_eq!(time_ms(310.4), "310 ms");
        assert_eq!(time_ms(1200.0), "1.2 s");
        assert_eq!(count(12400), "12,400");
        assert_eq!(count(400), "400");
        assert_eq!(counted(1, "pause", "pauses"), "1 pause");
        assert_eq!(rate(59_800.4), "59,800/s");
        assert_eq!(rate(3.25), "3.2/s");
    }
}
