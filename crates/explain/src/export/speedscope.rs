//! speedscope's own format: a profile for each track, its samples in the order of time.
//!
//! Source: speedscope.app/file-format-schema.json.

use super::contents::{ExportOptions, Exported, MOST_SAMPLES, json_error, unit};
use super::samples::{Samples, Track};
use crate::flame::SlowTimes;
use crate::{Engine, Error};
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: String,
    name: String,
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: Vec<Profile>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: i64,
    end_value: i64,
    samples: Vec<Vec<usize>>,
    weights: Vec<i64>,
    #[serde(skip)]
    last: u32,
}

pub(super) fn write(
    engine: &Engine,
    options: &ExportOptions,
    slow: Option<&SlowTimes>,
    out: &mut dyn Write,
) -> Result<Exported, Error> {
    let samples = Samples::load(engine, options, slow, MOST_SAMPLES)?;
    let unit = match unit(&options.selection.event) {
        "count" => "none",
        unit => unit,
    };
    let mut frames = Vec::new();
    let mut numbers = HashMap::new();
    let stacks: Vec<Vec<usize>> = samples
        .stacks
        .iter()
        .map(|stack| {
            let number = |(name, _)| {
                *numbers.entry(name).or_insert_with(|| {
                    frames.push(Frame { name });
                    frames.len() - 1
                })
            };
            stack.frames().map(number).collect()
        })
        .collect();
    let node = |track: &Track| track.thread.node.clone();
    let several = samples.tracks.iter().any(|track| node(track) != node(&samples.tracks[0]));
    let mut profiles: Vec<Profile> = samples
        .tracks
        .iter()
        .zip(&samples.labels)
        .map(|(track, label)| Profile {
            r#type: "sampled",
            name: match several && *label == track.thread.name {
                true => format!("{label} of {}", track.thread.node),
                false => label.clone(),
            },
            unit,
            start_value: 0,
            end_value: 0,
            samples: Vec::new(),
            weights: Vec::new(),
            last: u32::MAX,
        })
        .collect();
    for sample in &samples.rows {
        let profile = &mut profiles[sample.track as usize];
        profile.end_value += sample.weight;
        match profile.weights.last_mut() {
            Some(weight) if profile.last == sample.stack => *weight += sample.weight,
            _ => {
                profile.samples.push(stacks[sample.stack as usize].clone());
                profile.weights.push(sample.weight);
                profile.last = sample.stack;
            }
        }
    }
    // speedscope opens the first profile, so the heaviest one comes first.
    profiles.sort_by(|a, b| b.end_value.cmp(&a.end_value).then_with(|| a.name.cmp(&b.name)));
    let name = engine.manifests().iter().map(|manifest| manifest.title.as_str()).collect::<Vec<_>>().join(" + ");
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: format!("helenus {}", env!("CARGO_PKG_VERSION")),
        name,
        active_profile_index: 0,
        shared: Shared { frames },
        profiles,
    };
    serde_json::to_writer(out, &file).map_err(json_error)?;
    Ok(Exported { samples: samples.rows.len() as u64, ..Exported::default() })
}
