//! Changes from one window of a recording to another: of statements, settings of the nodes, and frames of the sampled stacks.

use super::metric::METRICS;
use super::run::MeasuredRun;
use crate::Error;
use crate::engine::Engine;
use crate::flame::{Flame, FlameOptions};
use crate::query::{self, Value};
use crate::traffic::{StatementFigures, TrafficFilter, statement_traffic};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A window of a recording, with an engine that is limited to it.
pub type Window<'a> = (&'a Engine, (i64, i64));

/// Changes from one window to another, the largest first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WindowChanges {
    pub statements: Vec<StatementChange>,
    pub settings: Vec<SettingChange>,
    /// Empty where no stacks were sampled in one of the windows.
    pub frames: Vec<FrameChange>,
    /// Figures of all requests and of the nodes.
    pub figures: Vec<FigureChange>,
}

/// A statement in both windows; None for a window in which nobody sent it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatementChange {
    pub operation: String,
    pub before: Option<StatementRate>,
    pub now: Option<StatementRate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatementRate {
    pub requests_per_s: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Mean number of requests in flight, which is their time per second.
    pub in_flight: f64,
    pub errors_per_s: f64,
}

/// A setting that had another value at the end of the window. None where it was not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SettingChange {
    pub node: String,
    pub setting: String,
    pub before: Option<String>,
    pub now: Option<String>,
}

/// A frame's shares of the sampled CPU time: its own, and with its callees.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FrameChange {
    pub frame: String,
    pub before_own_share: f64,
    pub now_own_share: f64,
    pub before_share: f64,
    pub now_share: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FigureChange {
    pub name: &'static str,
    pub unit: &'static str,
    pub meaning: &'static str,
    pub before: f64,
    pub now: f64,
}

const MOST_STATEMENTS: usize = 50;
const MOST_FRAMES: usize = 30;
/// Frames whose own share is below this in both windows are left out.
const LEAST_SHARE: f64 = 0.005;
/// It compares how long clients worked, and windows are as long as somebody chose them.
const OF_LENGTH: &str = "client_time";

/// Compares a window with an earlier or better one of the same recording.
pub fn window_changes(before: Window<'_>, now: Window<'_>) -> Result<WindowChanges, Error> {
    Ok(WindowChanges {
        statements: statements(before, now)?,
        settings: settings(before, now)?,
        frames: frames(before.0, now.0)?,
        figures: figures(before.0, now.0)?,
    })
}

fn statements(before: Window<'_>, now: Window<'_>) -> Result<Vec<StatementChange>, Error> {
    let of = |(engine, (from_ns, to_ns)): Window<'_>| -> Result<BTreeMap<String, StatementRate>, Error> {
        let seconds = ((to_ns - from_ns) as f64 / 1e9).max(1e-9);
        let rows = statement_traffic(engine, &TrafficFilter::default())?.rows;
        Ok(rows.into_iter().map(|row| (row.operation.clone(), StatementRate::of(&row, seconds))).collect())
    };
    let (before, now) = (of(before)?, of(now)?);
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let mut changes: Vec<StatementChange> = names
        .into_iter()
        .map(|name| StatementChange {
            operation: name.clone(),
            before: before.get(name).copied(),
            now: now.get(name).copied(),
        })
        .collect();
    let time = |rate: &Option<StatementRate>| rate.map_or(0.0, |rate| rate.in_flight);
    let change = |one: &StatementChange| (time(&one.now) - time(&one.before)).abs();
    changes.sort_by(|a, b| change(b).total_cmp(&change(a)));
    changes.truncate(MOST_STATEMENTS);
    Ok(changes)
}

impl StatementRate {
    fn of(StatementFigures { figures, .. }: &StatementFigures, seconds: f64) -> StatementRate {
        StatementRate {
            requests_per_s: figures.requests as f64 / seconds,
            p50_ms: figures.p50_ms,
            p99_ms: figures.p99_ms,
            // Little's law.
            in_flight: figures.total_ms / 1e3 / seconds,
            errors_per_s: figures.errors as f64 / seconds,
        }
    }
}

/// Settings of the nodes, and the limits of valves, that differ.
fn settings(before: Window<'_>, now: Window<'_>) -> Result<Vec<SettingChange>, Error> {
    let (before, now) = (values(before)?, values(now)?);
    let names: BTreeSet<&(String, String)> = before.keys().chain(now.keys()).collect();
    let changed = names.into_iter().filter(|name| before.get(*name) != now.get(*name));
    let change = |name: &(String, String)| SettingChange {
        node: name.0.clone(),
        setting: name.1.clone(),
        before: before.get(name).cloned(),
        now: now.get(name).cloned(),
    };
    Ok(changed.map(change).collect())
}

/// The values at the end of a window, by node and setting.
fn values((engine, (from_ns, to_ns)): Window<'_>) -> Result<BTreeMap<(String, String), String>, Error> {
    let bounds = [("start_ns", Value::Integer(from_ns)), ("end_ns", Value::Integer(to_ns))];
    let rows = engine.sql(&query::SETTINGS_AT.fill(&bounds))?;
    let named = rows.texts("node")?.into_iter().zip(rows.texts("setting")?);
    Ok(named.zip(rows.texts("value")?).collect())
}

/// Weights of a frame, its own and with its callees, in the first window and in the second.
#[derive(Debug, Default, Clone, Copy)]
struct Weights {
    own: [i64; 2],
    all: [i64; 2],
}

fn frames(before: &Engine, now: &Engine) -> Result<Vec<FrameChange>, Error> {
    let options = FlameOptions::default();
    let flame = Flame::build(now, &options)?.compare("", Flame::build(before, &options)?, "");
    let mut frames: BTreeMap<&str, Weights> = BTreeMap::new();
    let mut totals = [0_i64; 2];
    for (names, weights) in flame.weighed() {
        for side in 0..2 {
            totals[side] += weights[side];
        }
        let names: Vec<&str> = names.split(';').collect();
        // A method that calls itself counts once.
        for name in names.iter().copied().collect::<BTreeSet<&str>>() {
            let frame = frames.entry(name).or_default();
            (0..2).for_each(|side| frame.all[side] += weights[side]);
        }
        if let Some(last) = names.last() {
            let frame = frames.entry(last).or_default();
            (0..2).for_each(|side| frame.own[side] += weights[side]);
        }
    }
    if totals.contains(&0) {
        return Ok(Vec::new());
    }
    let share = |weights: [i64; 2], side: usize| weights[side] as f64 / totals[side] as f64;
    let mut changes: Vec<FrameChange> = frames
        .into_iter()
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, weights)| FrameChange {
            frame: name.to_string(),
            before_own_share: share(weights.own, 0),
            now_own_share: share(weights.own, 1),
            before_share: share(weights.all, 0),
            now_share: share(weights.all, 1),
        })
        .filter(|frame| frame.before_own_share.max(frame.now_own_share) >= LEAST_SHARE)
        .collect();
    let change = |frame: &FrameChange| (frame.now_own_share - frame.before_own_share).abs();
    changes.sort_by(|a, b| change(b).total_cmp(&change(a)));
    changes.truncate(MOST_FRAMES);
    Ok(changes)
}

/// The figures that both windows have. A window without a measured request has none.
fn figures(before: &Engine, now: &Engine) -> Result<Vec<FigureChange>, Error> {
    let of = |engine: &Engine| match MeasuredRun::whole(engine, "", 1) {
        Ok(run) => Ok(run.figures),
        Err(Error::Nothing(_)) => Ok(BTreeMap::new()),
        Err(error) => Err(error),
    };
    let (before, now) = (of(before)?, of(now)?);
    let change = |metric: &super::Metric| {
        Some(FigureChange {
            name: metric.name,
            unit: metric.unit,
            meaning: metric.meaning,
            before: *before.get(metric.name)?,
            now: *now.get(metric.name)?,
        })
    };
    Ok(METRICS.iter().filter(|metric| metric.name != OF_LENGTH).filter_map(change).collect())
}
