//! pprof's profile.proto, gzipped.
//!
//! Source: github.com/google/pprof, proto/profile.proto, whose field numbers these are.

use super::contents::{ExportOptions, Exported, MOST_ADDED_UP, unit};
use super::samples::Samples;
use crate::flame::SlowTimes;
use crate::{Engine, Error};
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use std::collections::{BTreeSet, HashMap};
use std::io::Write;

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// The frames from the innermost to the outermost.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
}

/// The string table, each text once; the first one is empty.
struct Strings {
    texts: Vec<String>,
    numbers: HashMap<String, i64>,
}

impl Strings {
    fn number(&mut self, text: &str) -> i64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as i64;
        self.texts.push(text.to_string());
        self.numbers.insert(text.to_string(), number);
        number
    }
}

pub(super) fn write(
    engine: &Engine,
    options: &ExportOptions,
    slow: Option<&SlowTimes>,
    out: &mut dyn Write,
) -> Result<Exported, Error> {
    let samples = Samples::load(engine, options, slow, MOST_ADDED_UP)?;
    let bytes = profile(&samples, &options.selection.event).encode_to_vec();
    let mut gzip = GzEncoder::new(out, Compression::default());
    gzip.write_all(&bytes).map_err(Error::Write)?;
    gzip.finish().map_err(Error::Write)?;
    Ok(Exported { samples: samples.rows.len() as u64, ..Exported::default() })
}

fn profile(samples: &Samples, event: &str) -> Profile {
    let mut strings = Strings { texts: Vec::new(), numbers: HashMap::new() };
    strings.number("");
    let (counted, count) = (strings.number("samples"), strings.number("count"));
    let (event_name, event_unit) = (strings.number(event), strings.number(unit(event)));
    let mut sums: HashMap<(u32, u32), (i64, i64)> = HashMap::new();
    for sample in &samples.rows {
        let (number, weight) = sums.entry((sample.track, sample.stack)).or_default();
        *number += 1;
        *weight += sample.weight;
    }
    let mut mappings: Vec<Mapping> = Vec::new();
    // Readers take the first mapping for the program.
    let kinds: BTreeSet<&str> =
        samples.stacks.iter().flat_map(|stack| stack.frames().map(|(_, kind)| kind_name(kind))).collect();
    for of in KINDS.into_iter().filter(|of| kinds.contains(of)) {
        mappings.push(Mapping { id: mappings.len() as u64 + 1, filename: strings.number(of), has_functions: true });
    }
    let mut profile = Profile {
        sample_type: vec![
            ValueType { r#type: counted, unit: count },
            ValueType { r#type: event_name, unit: event_unit },
        ],
        period_type: Some(ValueType { r#type: event_name, unit: event_unit }),
        default_sample_type: event_name,
        ..Profile::default()
    };
    if let (Some(first), Some(last)) = (samples.rows.first(), samples.rows.last()) {
        profile.time_nanos = first.time_ns;
        profile.duration_nanos = last.time_ns.saturating_sub(first.time_ns);
        // If all samples have the same weight, that weight is the sampling period.
        let all_alike = samples.rows.iter().all(|sample| sample.weight == first.weight);
        profile.period = if all_alike { first.weight } else { 0 };
    }
    let mut location_of: HashMap<(&str, &str), u64> = HashMap::new();
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable();
    for ((track, stack), (number, weight)) in sums {
        let mut location_id = Vec::new();
        for (name, kind) in samples.stacks[stack as usize].frames().rev() {
            let of = kind_name(kind);
            let next = location_of.len() as u64 + 1;
            let id = *location_of.entry((name, of)).or_insert(next);
            if id == next {
                let of = strings.number(of);
                let mapping_id = mappings.iter().find(|mapping| mapping.filename == of).map_or(0, |mapping| mapping.id);
                let name = strings.number(name);
                profile.function.push(Function { id, name, system_name: name });
                profile.location.push(Location { id, mapping_id, line: vec![Line { function_id: id }] });
            }
            location_id.push(id);
        }
        let (name, track) = (&samples.labels[track as usize], &samples.tracks[track as usize]);
        let mut label = |key: &str, text: &str| Label { key: strings.number(key), str: strings.number(text) };
        let mut labels = vec![label("node", &track.thread.node), label("thread_group", &track.group)];
        if track.is_thread {
            labels.push(label("thread", name));
        }
        profile.sample.push(Sample { location_id, value: vec![number, weight], label: labels });
    }
    profile.comment.push(strings.number("helenus export"));
    profile.mapping = mappings;
    profile.string_table = strings.texts;
    profile
}

/// The kinds of frames, the program's own first.
const KINDS: [&str; 4] = ["java", "native", "jvm", "kernel"];

/// pprof has no kinds of frames; the name of the source file tells them apart instead.
fn kind_name(kind: char) -> &'static str {
    match kind {
        'j' | 'l' | '1' | 'i' => "java",
        'c' => "jvm",
        'k' => "kernel",
        _ => "native",
    }
}
