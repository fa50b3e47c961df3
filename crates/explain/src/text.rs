//! Formats figures for people.

pub(crate) use helenus_notation::show_bytes as bytes;

/// Formats a share: `83 %`, `1.2 %` below ten, `0 %`.
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

/// Formats a time: `3.4 ms`, `310 ms`, and from a second on `1.2 s`.
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

/// Like [`time_ms`], with µs for times below 0.1 ms.
pub(crate) fn short_ns(ns: i64) -> String {
    match ns {
        ..1000 => format!("{ns} ns"),
        1000..100_000 => format!("{:.1} µs", ns as f64 / 1e3),
        _ => time_ns(ns),
    }
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

/// A count with its noun: `41 pauses`, `1 pause`.
pub(crate) fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Formats a p-value: `p = 0.012`, `p < 0.001`.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.001 { "p < 0.001".into() } else { format!("p = {p:.3}") }
}

/// `59,800/s`.
pub(crate) fn rate(per_s: f64) -> String {
    if per_s < 100.0 { format!("{per_s:.1}/s") } else { format!("{}/s", count(per_s.round() as usize)) }
}

/// Formats a time as ISO 8601 in UTC, with milliseconds.
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

/// Formats a time of day in UTC: `03:12:40`.
pub fn time_of_day(time_ns: i64) -> String {
    iso(time_ns).get(11..19).unwrap_or_default().to_string()
}

/// Cuts a text after this many characters and appends an ellipsis.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
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

    #[test]
    fn times_are_iso() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(1_709_210_096_789_000_000), "2024-02-29T12:34:56.789Z");
        assert_eq!(iso(-1_000_000), "1969-12-31T23:59:59.999Z");
    }
}
