//! Quantities as people write them: `90s`, `1h30m`, `10k`, `1.5M/s`, `4KiB`.

use bytesize::ByteSize;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::fmt;
use std::time::Duration;

/// Why a text is no quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not {expected}")]
pub struct BadQuantity {
    given: String,
    expected: &'static str,
}

const DURATION: &str = "a duration; write it like 90s, 2m, 1h30m or 250ms";
const LONGER: &str = "above 0; write a duration like 90s, 2m, 1h30m or 250ms";
const RATE: &str = "a rate; write requests per second like 500, 10k or 1.5M";
const COUNT: &str = "a count; write a whole number like 500, 10k or 2M";
const BYTES: &str = "a size; write bytes like 500, 4KiB or 1MiB";

/// The largest quantity: above every real count and size, and exact in a 64-bit float.
const MOST: u64 = 9_000_000_000_000_000;

/// Parses a positive duration: numbers each followed by h, m, s, ms, us or ns.
///
/// The crate `humantime` would read `1M` as a month, where M is a million in all other quantities, and refuse `.5s` and
/// `1.333h`, which files may have.
pub fn duration(text: &str) -> Result<Duration, BadQuantity> {
    let bad = || BadQuantity { given: text.to_string(), expected: DURATION };
    let mut rest = text.trim();
    let mut total_s = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(bad)?;
        let value: f64 = rest[..digits].parse().map_err(|_| bad())?;
        let after = &rest[digits..];
        let unit = &after[..after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len())];
        total_s += value
            * match unit {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" => 1e-6,
                "ns" => 1e-9,
                _ => return Err(bad()),
            };
        rest = after[unit.len()..].trim_start();
    }
    match Duration::try_from_secs_f64(total_s) {
        // The longest duration, a century: longer than any run, and its nanoseconds fit into an i64.
        Ok(duration) if duration.is_zero() && !text.trim().is_empty() => {
            Err(BadQuantity { given: text.to_string(), expected: LONGER })
        }
        Ok(duration) if !duration.is_zero() && total_s < 3.2e9 => Ok(duration),
        _ => Err(bad()),
    }
}

/// Parses a positive rate in requests per second; `k` and `M` multiply, `/s` may follow.
pub fn rate(text: &str) -> Result<f64, BadQuantity> {
    let bad = || BadQuantity { given: text.to_string(), expected: RATE };
    let number = text.trim();
    let value = decimal(number.strip_suffix("/s").unwrap_or(number)).ok_or_else(bad)?;
    if value > 0.0 && value <= 1e9 { Ok(value) } else { Err(bad()) }
}

/// Parses a positive whole number; `k`, `M` and `G` multiply, `_` may separate digits.
pub fn count(text: &str) -> Result<u64, BadQuantity> {
    let bad = || BadQuantity { given: text.to_string(), expected: COUNT };
    let value = decimal(text.trim()).ok_or_else(bad)?;
    if value >= 1.0 && value.fract() == 0.0 && value <= MOST as f64 { Ok(value as u64) } else { Err(bad()) }
}

/// Parses a size in bytes; `KiB`, `MiB`, `GiB` and `kB`, `MB`, `GB` multiply, `_` may separate digits.
pub fn bytes(text: &str) -> Result<u64, BadQuantity> {
    match text.trim().replace('_', "").parse::<ByteSize>() {
        Ok(ByteSize(bytes)) if bytes <= MOST => Ok(bytes),
        _ => Err(BadQuantity { given: text.to_string(), expected: BYTES }),
    }
}

/// A size as a person reads it, in the units of Cassandra's own tools: `7 B`, `2.0 KiB`, `3.0 GiB`.
pub fn show_bytes(bytes: impl Into<i128>) -> String {
    ByteSize(u64::try_from(bytes.into()).unwrap_or(0)).to_string()
}

/// A rate as a person would write it: `500/s`, `10k/s`, `1.5M/s`.
pub fn show_rate(per_s: f64) -> String {
    let (value, suffix) = match per_s {
        rate if rate >= 1e6 => (rate / 1e6, "M"),
        rate if rate >= 1e3 => (rate / 1e3, "k"),
        rate => (rate, ""),
    };
    // Three decimals are enough to tell the steps of a schedule apart; Display drops trailing zeros.
    format!("{}{suffix}/s", (value * 1000.0).round() / 1000.0)
}

fn decimal(text: &str) -> Option<f64> {
    let (number, factor) = [("k", 1e3), ("M", 1e6), ("G", 1e9)]
        .into_iter()
        .find_map(|(suffix, factor)| text.strip_suffix(suffix).map(|number| (number, factor)))
        .unwrap_or((text, 1.0));
    // Rounded, so that 2.3k is a whole number.
    plain(number).map(|value| if factor > 1.0 { (value * factor * 1e3).round() / 1e3 } else { value })
}

/// Parses a number without the sign, exponent and infinity that f64 would accept.
fn plain(text: &str) -> Option<f64> {
    let allowed = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    if text.is_empty() || !text.chars().all(allowed) || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// A positive whole number, plain or as text such as `"10k"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub u64);

/// A positive rate in requests per second, plain or as text such as `"10k"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate(pub f64);

/// A size in bytes, plain or as text such as `"4KiB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// A positive length of time, as text such as `"90s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Count, D::Error> {
        from.deserialize_any(Written { expected: "a count such as 1000 or \"10k\"", read: count }).map(Count)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Rate, D::Error> {
        from.deserialize_any(Written { expected: "a rate such as 1000 or \"10k\"", read: rate }).map(Rate)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
        from.deserialize_any(Written { expected: "a size such as 100 or \"4KiB\"", read: bytes }).map(Bytes)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Span, D::Error> {
        from.deserialize_any(Written { expected: "a duration such as \"90s\"", read: duration }).map(Span)
    }
}

/// A whole number for `deserialize_with`, written as a [`Count`].
pub fn of_count<'de, D: Deserializer<'de>, N: TryFrom<u64>>(from: D) -> Result<N, D::Error> {
    let Count(number) = Count::deserialize(from)?;
    N::try_from(number).map_err(|_| de::Error::custom(format!("{number} is too large")))
}

/// A duration for `deserialize_with`, written as a [`Span`].
pub fn of_span<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    Span::deserialize(from).map(|Span(duration)| duration)
}

/// A quantity in a file: text, or a bare number.
struct Written<T> {
    expected: &'static str,
    read: fn(&str) -> Result<T, BadQuantity>,
}

impl<T> Visitor<'_> for Written<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_sums_of_units() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration(".5s"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.333h"), Ok(Duration::from_millis(4_798_800)));
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_an_example() {
        for text in ["", "90", "s", "-1s", "0s", "1x", "1s2", "inf", "1e3s", "9999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
        for text in ["", "0", "-5", "k", "nan", "1e3", "5 k/h", "2G/s/s"] {
            assert!(rate(text).is_err(), "{text}");
        }
        for text in ["", "0", "1.5", "-1", "1kk"] {
            assert!(count(text).is_err(), "{text}");
        }
        assert_eq!(
            rate("fast").unwrap_err().to_string(),
            "`fast` is not a rate; write requests per second like 500, 10k or 1.5M"
        );
    }

    #[test]
    fn rates_counts_and_sizes_take_their_suffixes() {
        assert_eq!(rate("10k"), Ok(10_000.0));
        assert_eq!(rate("1.5M/s"), Ok(1_500_000.0));
        assert_eq!(rate("0.5"), Ok(0.5));
        assert_eq!(count("1_000_000"), Ok(1_000_000));
        assert_eq!(count("2.3k"), Ok(2300));
        assert_eq!(bytes("4KiB"), Ok(4096));
        assert_eq!(bytes("1.5GB"), Ok(1_500_000_000));
        assert_eq!(bytes("100 B"), Ok(100));
        assert_eq!(bytes("1_000kB"), Ok(1_000_000));
        assert!(bytes("-5").is_err() && bytes("1e3").is_err() && bytes("much").is_err());
        assert_eq!(
            [show_bytes(7), show_bytes(2048), show_bytes(100_000_000), show_bytes(3_i64 << 30)],
            ["7 B", "2.0 KiB", "95.4 MiB", "3.0 GiB"]
        );
        assert_eq!(show_rate(2000.0), "2k/s");
        assert_eq!(show_rate(1_500_000.0), "1.5M/s");
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "\\PC{0,12}") {
            let _ = (duration(&text), rate(&text), count(&text), bytes(&text));
        }

        #[test]
        fn a_shown_rate_reads_back(per_s in 1u32..999_999) {
            let per_s = f64::from(per_s);
            prop_assert!((rate(&show_rate(per_s)).unwrap() - per_s).abs() <= per_s * 1e-3);
        }

        #[test]
        fn whole_milliseconds_read_back(ms in 1u64..10_000_000) {
            prop_assert_eq!(duration(&format!("{ms}ms")).unwrap().as_millis() as u64, ms);
        }
    }
}
