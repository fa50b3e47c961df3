//! Parses times within a recording.

use anyhow::{Context, Result, bail};

const DAY_NS: i64 = 86_400_000_000_000;

/// Parses `90s`, a time after the first recorded row, or `03:12:40`, a time of day in UTC: its first occurrence within
/// the recording, or else the nearest one.
pub fn moment(text: &str, (first_ns, last_ns): (i64, i64)) -> Result<i64> {
    if !text.contains(':') {
        // The start itself, which is no duration elsewhere.
        if text.trim_end_matches(['s', 'm', 'h']) == "0" {
            return Ok(first_ns);
        }
        let after = super::duration(text).map_err(|error| anyhow::anyhow!("{error}")).with_context(|| {
            format!(
                "`{text}` is neither a time after the start, such as 90s, nor one of the day in UTC, such as 03:12:40"
            )
        })?;
        return Ok(first_ns.saturating_add(i64::try_from(after.as_nanos()).unwrap_or(i64::MAX)));
    }
    let of_day = of_day(text).with_context(|| format!("`{text}` is no time of the day, such as 03:12:40"))?;
    let day = first_ns - first_ns.rem_euclid(DAY_NS);
    let candidates = [day - DAY_NS, day, day + DAY_NS].map(|day| day + of_day);
    let inside = candidates.into_iter().find(|at| (first_ns..=last_ns).contains(at));
    let nearest = candidates.into_iter().min_by_key(|at| (first_ns - at).max(at - last_ns));
    Ok(inside.or(nearest).unwrap_or(first_ns))
}

/// Parses `FROM..TO`.
pub fn range(text: &str, span: (i64, i64)) -> Result<(i64, i64)> {
    let (from, to) = text.split_once("..").with_context(|| format!("`{text}` is no range, such as 10s..2m"))?;
    let (from, to) = (moment(from, span)?, moment(to, span)?);
    if from >= to {
        bail!("`{text}` does not begin before it ends");
    }
    Ok((from, to))
}

/// Fails if nothing was recorded in a window.
pub fn overlap((from, to): (i64, i64), (first, last): (i64, i64)) -> Result<()> {
    if to < first || from > last {
        let [from, to, first, last] = [from.max(0), to, first, last].map(helenus_explain::time_of_day);
        bail!("nothing was recorded from {from} to {to} UTC: the recording is from {first} to {last} UTC");
    }
    Ok(())
}

fn of_day(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let mut whole = |below: i64| parts.next()?.parse::<i64>().ok().filter(|number| (0..below).contains(number));
    let (hours, minutes) = (whole(24)?, whole(60)?);
    let seconds: f64 = parts.next().unwrap_or("0").parse().ok().filter(|seconds| (0.0..60.0).contains(seconds))?;
    parts.next().is_none().then_some((hours * 3600 + minutes * 60) * 1_000_000_000 + (seconds * 1e9) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    #[test]
    fn times_are_after_the_start_or_of_the_day() {
        // A recording from 2023-11-14T22:13:20Z, four hours long.
        let first = 1_700_000_000 * S;
        let span = (first, first + 4 * 3600 * S);
        let at = |text: &str| moment(text, span).unwrap() - first;
        assert_eq!(at("90s"), 90 * S);
        assert_eq!((at("0s"), at("0")), (0, 0));
        assert_eq!(at("22:13:40"), 20 * S);
        assert_eq!(at("22:14"), 40 * S);
        assert_eq!(at("00:13:20.5"), 7200 * S + S / 2);
        assert_eq!(range("10s..22:14", span).unwrap(), (first + 10 * S, first + 40 * S));
        assert!(overlap((first - S, first + S), span).is_ok() && overlap((i64::MIN, i64::MAX), span).is_ok());
        let outside = overlap((first - 2 * S, first - S), span).unwrap_err().to_string();
        assert!(outside.contains("from 22:13:18 to 22:13:19 UTC: the recording is from 22:13:20"), "{outside}");
        for wrong in ["", "25:00", "1:2:3:4", "12:61:00", "soon"] {
            assert!(moment(wrong, span).is_err(), "{wrong}");
        }
        for wrong in ["10s", "20s..10s", "..5s"] {
            assert!(range(wrong, span).is_err(), "{wrong}");
        }
    }
}
