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
