//! The parameters of a query, as they stand in its URL.

use anyhow::{Context, Result, bail};
use std::collections::HashMap;

/// The parameters of a URL.
#[derive(Debug)]
pub(super) struct Asked(HashMap<String, String>);

impl Asked {
    pub(super) fn of(parameters: &str) -> Asked {
        Asked(url::form_urlencoded::parse(parameters.as_bytes()).into_owned().collect())
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    pub(super) fn needed(&self, name: &str) -> Result<&str> {
        self.text(name).with_context(|| format!("the address lacks {name}="))
    }

    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_string)
    }

    pub(super) fn whole(&self, name: &str) -> Result<Option<u32>> {
        self.text(name).map(str::parse).transpose().with_context(|| format!("{name}= takes a whole number"))
    }

    /// Parses `10.5-20`, in seconds since `zero_ns`; cut to `span`.
    pub(super) fn window_from(&self, name: &str, zero_ns: i64, span: (i64, i64)) -> Result<Option<(i64, i64)>> {
        let (first_ns, last_ns) = span;
        let Some(text) = self.text(name) else { return Ok(None) };
        let edges = text.split_once('-').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
        let edges = edges.filter(|(from, to): &(f64, f64)| from.is_finite() && to.is_finite());
        let Some((from, to)) = edges else { bail!("`{text}` is no window, such as 10.5-20") };
        let at = |seconds: f64| zero_ns.saturating_add((seconds * 1e9) as i64);
        let (from, to) = (at(from).max(first_ns), at(to).min(last_ns));
        if from >= to {
            bail!(
                "the window {text} s has no part of the recording, which is {:.3} s long",
                (last_ns - first_ns) as f64 / 1e9
            );
        }
        Ok(Some((from, to)))
    }
}

/// Parses `20-80`, `20-` or `0-5`, in milliseconds, as ns: the lower bound, and the upper one if there is one.
pub(super) fn response_times(text: &str) -> Result<(i64, Option<i64>)> {
    let ns = |ms: &str| ms.parse::<f64>().ok().filter(|ms| (0.0..1e9).contains(ms)).map(|ms| (ms * 1e6).round() as i64);
    let bounds = text.split_once('-').and_then(|(from, below)| match below {
        "" => Some((ns(from)?, None)),
        below => Some((ns(from)?, Some(ns(below)?))),
    });
    match bounds {
        Some((from_ns, below_ns)) if below_ns.is_none_or(|below_ns| from_ns < below_ns) => Ok((from_ns, below_ns)),
        _ => bail!("`{text}` is not a range of response times: write milliseconds, such as 20-80 or 20-"),
    }
}

#[cfg(test)]
mod tests {
    use super::response_times;

    #[test]
    fn a_range_of_response_times_has_a_lower_bound_and_may_have_an_upper_one() {
        assert_eq!(response_times("0.25-80").unwrap(), (250_000, Some(80_000_000)));
        assert_eq!(response_times("20-").unwrap(), (20_000_000, None));
        for wrong in ["", "20", "80-20", "20-20", "-5", "NaN-1", "1-inf", "1e12-"] {
            assert!(response_times(wrong).is_err(), "{wrong}");
        }
    }
}
