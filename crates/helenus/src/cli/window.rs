//! The window and the thread group that a picture of samples shows.

use anyhow::{Result, bail};
use helenus_explain::{Engine, Flame, FlameOptions};
use std::time::Duration;

/// The window on the recording's clock; the whole time if neither end is given.
pub fn window((from, to): (Option<Duration>, Option<Duration>), first_ns: i64) -> Result<(i64, i64)> {
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        bail!("--from {from:?} is not before --to {to:?}");
    }
    let at = |after: Duration| first_ns.saturating_add(i64::try_from(after.as_nanos()).unwrap_or(i64::MAX));
    Ok((from.map_or(i64::MIN, at), to.map_or(i64::MAX, at)))
}

/// Why no samples remain: no such event, no such group, or none in the window.
pub fn why_empty(engine: &Engine, options: &FlameOptions) -> Result<String> {
    let events = Flame::events(engine)?;
    if events.is_empty() {
        return Ok("it has no samples of stacks; record with --stacks, or import them".to_string());
    }
    if events.iter().all(|(event, _)| *event != options.event) {
        let names: Vec<&str> = events.iter().map(|(event, _)| event.as_str()).collect();
        return Ok(format!("it has no {} samples; --event takes {}", options.event, names.join(", ")));
    }
    let whole = FlameOptions { start_ns: i64::MIN, end_ns: i64::MAX, by_thread: false, group: None, ..options.clone() };
    let groups = Flame::build(engine, &whole)?.groups();
    if let Some(group) = &options.group
        && !groups.contains(group)
    {
        return Ok(format!("it has no thread group {group}; --group takes {}", groups.join(", ")));
    }
    let of = options.group.as_ref().map_or(String::new(), |group| format!(" of {group}"));
    Ok(format!(
        "it has {} samples{of}, and none of them at that time; choose another --from, --to or --slow",
        options.event
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_after_it_begins() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(window((seconds(1), seconds(2)), 5).unwrap(), (1_000_000_005, 2_000_000_005));
        assert_eq!(window((None, None), 5).unwrap(), (i64::MIN, i64::MAX));
        for (from, to) in [(3, 2), (2, 2)] {
            let error = window((seconds(from), seconds(to)), 0).unwrap_err().to_string();
            assert_eq!(error, format!("--from {from}s is not before --to {to}s"));
        }
    }
}
