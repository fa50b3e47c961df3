//! Profiles of pprof: profile.proto, which Go, Pyroscope, Parca and others write.
//!
//! Parts of the file are decoded when they are needed, so that reading takes the memory of the file's bytes and of an index
//! of its functions.
//!
//! Source: github.com/google/pprof, proto/profile.proto, whose field numbers these are.

use super::{Error, ImportOptions, Sink, TimeAlignment, kind_of, named};
use crate::stacks::Frames;
use crate::stacks::jfr::Malformed;
use prost::Message;
use prost::encoding::{WireType, decode_key, decode_varint};
use std::collections::HashMap;
use std::io::Read;

/// The most bytes of an unpacked file.
const LARGEST: u64 = 256 << 20;
/// The most frames of a stack, and the most bytes of its names.
const MOST_FRAMES: usize = 1 << 16;
const LONGEST: usize = 4 << 20;
/// The most bytes of the names of all stacks: a fixed amount, plus this many times the file's size.
const TEXTS: usize = 32 << 20;
const TEXTS_BY_SIZE: usize = 64;
/// The most bytes of the name of an event or a thread.
const LONGEST_NAME: usize = 512;

const BROKEN: Malformed = Malformed("a profile of pprof that is cut off or damaged");

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// From the innermost to the outermost.
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
    #[prost(int64, tag = "3")]
    num: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    /// From the innermost to the outermost, of functions that were inlined into each other.
    #[prost(message, repeated, tag = "4")]
    line: Vec<LineOf>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct LineOf {
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

/// A field of the profile: its number, its bytes, and its value if it is a number.
type Field<'a> = (u32, &'a [u8], u64);

/// Splits the first field off.
fn field<'a>(left: &mut &'a [u8]) -> Result<Field<'a>, Malformed> {
    let (number, kind) = decode_key(left).map_err(|_| BROKEN)?;
    let (length, value) = match kind {
        WireType::Varint => (0, decode_varint(left).map_err(|_| BROKEN)?),
        WireType::SixtyFourBit => (8, 0),
        WireType::ThirtyTwoBit => (4, 0),
        WireType::LengthDelimited => {
            (usize::try_from(decode_varint(left).map_err(|_| BROKEN)?).map_err(|_| BROKEN)?, 0)
        }
        WireType::StartGroup | WireType::EndGroup => return Err(BROKEN),
    };
    let (bytes, rest) = left.split_at_checked(length).ok_or(BROKEN)?;
    *left = rest;
    Ok((number, bytes, value))
}

fn decoded<M: Message + Default>(bytes: &[u8]) -> Result<M, Malformed> {
    M::decode(bytes).map_err(|_| BROKEN)
}

/// Whether a file begins with the fields that a profile begins with: no text has these bytes.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < b' ' && !b"\t\n\r\x0c\x1b".contains(byte);
    let mut left = head;
    let is_known = |(number, bytes, _): Field<'_>| match number {
        1 | 11 => decoded::<ValueType>(bytes).is_ok(),
        2 => decoded::<Sample>(bytes).is_ok(),
        3 => decoded::<Mapping>(bytes).is_ok(),
        4 => decoded::<Location>(bytes).is_ok(),
        5 => decoded::<Function>(bytes).is_ok(),
        6..=10 | 12..=15 => true,
        _ => false,
    };
    head.iter().take(64).any(is_control) && field(&mut left).is_ok_and(is_known)
}

/// A profile, with an index of the functions that its samples refer to.
#[derive(Default)]
struct Profile<'a> {
    types: Vec<ValueType>,
    samples: Vec<&'a [u8]>,
    texts: Vec<&'a [u8]>,
    locations: HashMap<u64, &'a [u8]>,
    /// The text that names each function.
    functions: HashMap<u64, i64>,
    /// The text that names the file of each mapping.
    mappings: HashMap<u64, i64>,
    time_ns: i64,
    period_type: Option<ValueType>,
    period: i64,
    left: usize,
}

impl<'a> Profile<'a> {
    /// Reads the index; the error says that the file ends early, and what is before that is in the index.
    fn take(&mut self, mut left: &'a [u8]) -> Result<(), Malformed> {
        while !left.is_empty() {
            let (number, bytes, value) = field(&mut left)?;
            match number {
                1 => self.types.push(decoded(bytes)?),
                2 => self.samples.push(bytes),
                3 => {
                    let mapping: Mapping = decoded(bytes)?;
                    self.mappings.insert(mapping.id, mapping.filename);
                }
                4 => {
                    let id = id_of(bytes)?;
                    self.locations.insert(id, bytes);
                }
                5 => {
                    let function: Function = decoded(bytes)?;
                    let name = if function.name == 0 { function.system_name } else { function.name };
                    self.functions.insert(function.id, name);
                }
                6 => self.texts.push(bytes),
                9 => self.time_ns = value.cast_signed(),
                11 => self.period_type = Some(decoded(bytes)?),
                12 => self.period = value.cast_signed(),
                _ => {}
            }
        }
        Ok(())
    }

    fn text(&self, number: i64) -> std::borrow::Cow<'a, str> {
        let bytes = usize::try_from(number).ok().and_then(|number| self.texts.get(number)).copied();
        String::from_utf8_lossy(bytes.unwrap_or_default())
    }

    fn frames(&mut self, sample: &Sample) -> Result<Frames, Malformed> {
        let mut frames = Frames::default();
        for id in sample.location_id.iter().rev() {
            let location: Location =
                self.locations.get(id).map_or_else(|| Ok(Location::default()), |of| decoded(of))?;
            let file = self.mappings.get(&location.mapping_id).map(|file| self.text(*file)).unwrap_or_default();
            for line in location.line.iter().rev() {
                let name = self.functions.get(&line.function_id).map(|name| self.text(*name)).unwrap_or_default();
                self.push(&mut frames, &name, &file)?;
            }
            if location.line.is_empty() {
                let base = file.rsplit('/').next().unwrap_or_default();
                let name = if base.is_empty() { "[unknown]".to_string() } else { format!("[{base}]") };
                self.push(&mut frames, &name, &file)?;
            }
        }
        Ok(frames)
    }

    fn push(&mut self, frames: &mut Frames, name: &str, file: &str) -> Result<(), Malformed> {
        let left = self.left.checked_sub(name.len() + 1);
        self.left = left.ok_or(Malformed("its stacks unpack to more than 64 times its size and 32 MiB"))?;
        if frames.kinds.len() >= MOST_FRAMES {
            return Err(Malformed("a stack of more than 65,536 frames"));
        }
        if frames.names.len() + name.len() > LONGEST {
            return Err(Malformed("a stack whose names are longer than 4 MiB"));
        }
        frames.push(name, kind(name, file));
        Ok(())
    }

    /// A sample's thread. Each profiler has other names for its labels.
    fn thread(&self, sample: &Sample) -> (i64, String) {
        let value = |wanted: &[&str]| {
            wanted.iter().find_map(|wanted| sample.label.iter().find(|label| self.text(label.key) == *wanted))
        };
        let name = value(&["thread", "thread_name", "threadName", "thread name", "comm", "thread_group"]);
        let name = name.map(|label| self.text(label.str)).unwrap_or_default();
        let tid = value(&["tid", "thread_id", "thread id", "threadId"]);
        let tid = tid.map_or(0, |label| self.text(label.str).parse().unwrap_or(label.num));
        let (name, tid) = named(&name).unwrap_or((&name, tid));
        (tid, name[..name.floor_char_boundary(LONGEST_NAME)].to_string())
    }

    /// The values to take of each sample: column, event, and the factor of its unit. Counts are only taken if there is
    /// nothing else.
    fn events(&self, options: &ImportOptions) -> Vec<(usize, String, i64)> {
        let named = |of: &ValueType| (self.text(of.r#type), self.text(of.unit));
        let event = |name: &str| match name {
            "alloc_space" => "alloc".to_string(),
            name => name[..name.floor_char_boundary(LONGEST_NAME)].to_string(),
        };
        let columns = self.types.iter().enumerate();
        let measured = columns.clone().filter(|(_, of)| named(of).1 != "count");
        let measured: Vec<_> =
            measured.map(|(column, of)| (column, event(&named(of).0), factor(&named(of).1))).collect();
        if !measured.is_empty() {
            return measured;
        }
        let given_ns = options.interval.map(|interval| i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX));
        let period = self.period_type.as_ref().map(named).filter(|(_, unit)| unit != "count" && self.period > 0);
        let counted = columns.map(|(column, of)| match (&period, named(of).0.as_ref()) {
            (_, "samples" | "sample") if given_ns.is_some() => (column, "cpu".to_string(), given_ns.unwrap_or(1)),
            (Some((name, unit)), "samples" | "sample") => {
                (column, event(name), self.period.saturating_mul(factor(unit)))
            }
            (_, name) => (column, event(name), 1),
        });
        counted.collect()
    }
}

/// The number of a location, without decoding its lines.
fn id_of(mut left: &[u8]) -> Result<u64, Malformed> {
    let mut id = 0;
    while !left.is_empty() {
        let (number, _, value) = field(&mut left)?;
        if number == 1 {
            id = value;
        }
    }
    Ok(id)
}

/// Nanoseconds, or bytes, in a unit.
fn factor(unit: &str) -> i64 {
    match unit {
        "microseconds" | "us" => 1000,
        "milliseconds" | "ms" => 1_000_000,
        "seconds" | "s" => 1_000_000_000,
        "kilobytes" => 1 << 10,
        "megabytes" => 1 << 20,
        _ => 1,
    }
}

/// The kind of a frame: Helenus exports it as the name of the mapping.
fn kind(name: &str, file: &str) -> char {
    let base = file.rsplit('/').next().unwrap_or_default();
    match base {
        "java" => 'j',
        "jvm" | "libjvm.so" => 'c',
        "kernel" | "[kernel.kallsyms]" | "vmlinux" => 'k',
        _ if file.starts_with("[kernel") => 'k',
        _ => kind_of(name),
    }
}

pub(super) fn read(from: impl Read, options: &ImportOptions, sink: &mut Sink<'_>) -> Result<(), Error> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::Other(
            "it unpacks to more than 256 MiB, the most that is read of a profile of pprof".into(),
        ));
    }
    let mut profile =
        Profile { left: TEXTS.saturating_add(bytes.len().saturating_mul(TEXTS_BY_SIZE)), ..Profile::default() };
    if let Err(error) = profile.take(&bytes) {
        // Texts are at the end of the file, so that stacks have no names without it.
        if profile.texts.is_empty() || profile.types.is_empty() {
            return Err(error.into());
        }
        sink.lose_uncounted(&error.to_string());
    }
    let at_ns = match options.place {
        TimeAlignment::BeginsAt(ns) => ns,
        TimeAlignment::EndsAt(_) if profile.time_ns > 0 => profile.time_ns,
        TimeAlignment::EndsAt(ns) => ns,
        TimeAlignment::ThisBoot => {
            return Err(Error::Other("samples of pprof have no times; leave --this-boot away".to_string()));
        }
    };
    let events = profile.events(options);
    let samples = std::mem::take(&mut profile.samples);
    for (taken, bytes) in samples.iter().enumerate() {
        let read = decoded::<Sample>(bytes).and_then(|sample| Ok((profile.frames(&sample)?, sample)));
        let (frames, sample) = match read {
            Ok(read) => read,
            Err(error) => {
                sink.lose((samples.len() - taken) as u64, &error.to_string());
                break;
            }
        };
        let stack = frames.number();
        let (tid, thread) = profile.thread(&sample);
        for (column, event, factor) in &events {
            match sample.value.get(*column).copied().unwrap_or_default() {
                // A sample of a heap has objects that were allocated, or are in use, or both.
                0 if events.len() > 1 => {}
                value => match value.checked_mul(*factor).filter(|weight| *weight >= 0) {
                    Some(weight) => {
                        sink.add(at_ns, event, weight, (tid, &thread), stack, || Ok::<_, Error>(&frames))?;
                    }
                    None => sink.lose(1, "weights that are negative, or can't be added up in 64 bits"),
                },
            }
        }
    }
    sink.note("samples of pprof have no times: all are at one moment");
    Ok(())
}
