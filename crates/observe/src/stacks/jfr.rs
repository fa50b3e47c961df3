//! Reads the samples in JFR files: those of the profiler, and what others recorded.
//!
//! A file is one chunk after the other, each whole in itself: a header, events, constant pools that the events refer to,
//! and metadata that says what the fields of each are. Nothing is taken for granted but what the metadata says, and the
//! bytes are not trusted.
//!
//! Source: OpenJDK, jdk.jfr.internal.consumer.

use std::collections::HashMap;
use std::rc::Rc;

/// The bytes are not what the format has them be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a JFR recording, or a broken one: {0}")]
pub struct Malformed(pub &'static str);

/// What a file says of a moment of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// On the clock that the file was recorded with.
    pub time_ns: i64,
    pub event: SampleEvent,
    /// Nanoseconds of a lock, bytes of an allocation; None where a sample stands for one interval.
    pub weight: Option<i64>,
    /// Intervals that it stands for.
    pub count: i64,
    pub tid: i64,
    pub thread: String,
    /// Position among the stacks of its chunk.
    pub stack: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleEvent {
    Cpu,
    Wall,
    Alloc,
    Lock,
}

impl SampleEvent {
    /// As in the column `event` of the table `samples`.
    pub fn name(self) -> &'static str {
        match self {
            SampleEvent::Cpu => "cpu",
            SampleEvent::Wall => "wall",
            SampleEvent::Alloc => "alloc",
            SampleEvent::Lock => "lock",
        }
    }

    fn of(class: &str) -> Option<SampleEvent> {
        Some(match class {
            "jdk.ExecutionSample" | "jdk.NativeMethodSample" => SampleEvent::Cpu,
            "profiler.WallClockSample" => SampleEvent::Wall,
            "jdk.ObjectAllocationInNewTLAB" | "jdk.ObjectAllocationOutsideTLAB" | "jdk.ObjectAllocationSample" => {
                SampleEvent::Alloc
            }
            "jdk.JavaMonitorEnter" | "jdk.ThreadPark" => SampleEvent::Lock,
            _ => return None,
        })
    }
}

/// A stack: its frames from the outermost to the innermost with `;` between them, and a letter for each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Frames {
    pub names: String,
    pub kinds: String,
}

/// What one chunk holds.
#[derive(Debug, Default)]
pub struct Samples {
    pub samples: Vec<Sample>,
    pub stacks: Vec<Frames>,
}

const MAGIC: &[u8; 4] = b"FLR\0";
const HEADER: usize = 68;
/// How deep values lie in each other: a stack holds frames, and frames nothing more.
const DEEPEST: usize = 8;

/// The size of the chunk at the start of the bytes; None while it is not whole.
pub fn chunk_size(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    if bytes.len() < HEADER {
        return Ok(None);
    }
    if !bytes.starts_with(MAGIC) {
        return Err(Malformed("a chunk does not begin with FLR"));
    }
    // 0 until it is whole.
    match usize::try_from(long_at(bytes, 8)?) {
        Ok(0) => Ok(None),
        Ok(size) if size < HEADER => Err(Malformed("a chunk is smaller than its header")),
        Ok(size) => Ok((size <= bytes.len()).then_some(size)),
        Err(_) => Err(Malformed("a chunk of negative size")),
    }
}

/// Reads a whole chunk.
pub fn read_chunk(bytes: &[u8]) -> Result<Samples, Malformed> {
    let chunk = Chunk::read(bytes)?;
    let mut reading = Reading { chunk: &chunk, samples: Samples::default(), positions: HashMap::new() };
    chunk.each_event(|class, mut reader| {
        let Some(event) = SampleEvent::of(&class.name) else { return Ok(()) };
        let value = chunk.object(class, &mut reader, 0)?;
        reading.add(event, &value);
        Ok(())
    })?;
    Ok(reading.samples)
}

struct Reading<'a> {
    chunk: &'a Chunk<'a>,
    samples: Samples,
    /// Of stacks that were made already, by their number in the file.
    positions: HashMap<i64, usize>,
}

impl Reading<'_> {
    /// What has no stack says nothing.
    fn add(&mut self, event: SampleEvent, value: &Value) {
        let chunk = self.chunk;
        let Some(&Value::Reference(_, number)) = value.field("stackTrace") else { return };
        let stack = match self.positions.get(&number) {
            Some(position) => *position,
            None => {
                let Some(frames) = chunk.frames(value.field("stackTrace")) else { return };
                self.samples.stacks.push(frames);
                self.positions.insert(number, self.samples.stacks.len() - 1);
                self.samples.stacks.len() - 1
            }
        };
        let thread = value.field("sampledThread").or(value.field("eventThread"));
        let thread = thread.and_then(|thread| chunk.resolve(thread));
        let text = |name| thread.and_then(|thread| chunk.text(thread.field(name)?)).unwrap_or_default();
        let number = |name: &str| value.field(name).and_then(Value::number);
        let (java_name, own_name) = (text("javaName"), text("osName"));
        self.samples.samples.push(Sample {
            time_ns: chunk.time_ns(number("startTime").unwrap_or_default()),
            event,
            weight: match event {
                SampleEvent::Cpu | SampleEvent::Wall => None,
                SampleEvent::Alloc => number("tlabSize").or(number("allocationSize")).or(number("weight")),
                SampleEvent::Lock => number("duration").map(|ticks| chunk.ticks_ns(ticks)),
            },
            count: number("samples").unwrap_or(1),
            tid: thread.and_then(|thread| thread.field("osThreadId")?.number()).unwrap_or_default(),
            thread: if java_name.is_empty() { own_name } else { java_name }.to_string(),
            stack,
        });
    }
}

/// A class of the metadata: what its values are made of.
#[derive(Debug, Default)]
struct Class {
    name: String,
    fields: Vec<Field>,
    /// Names of the fields, which all its values share.
    names: Rc<Vec<String>>,
}

#[derive(Debug)]
struct Field {
    class: i64,
    /// The value is in a constant pool.
    is_reference: bool,
    is_list: bool,
}

#[derive(Debug, Clone)]
enum Value {
    Null,
    Number(i64),
    Text(String),
    /// Class and number of a constant.
    Reference(i64, i64),
    /// By the names of its class's fields.
    Object(Rc<Vec<String>>, Vec<Value>),
    List(Vec<Value>),
}

impl Value {
    fn field(&self, name: &str) -> Option<&Value> {
        let Value::Object(names, fields) = self else { return None };
        names.iter().position(|known| known == name).and_then(|position| fields.get(position))
    }

    fn number(&self) -> Option<i64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

struct Chunk<'a> {
    bytes: &'a [u8],
    start_ns: i64,
    start_ticks: i64,
    ticks_per_second: i64,
    classes: HashMap<i64, Class>,
    constants: HashMap<(i64, i64), Value>,
}

impl<'a> Chunk<'a> {
    fn read(bytes: &'a [u8]) -> Result<Chunk<'a>, Malformed> {
        let size = chunk_size(bytes)?.ok_or(Malformed("a chunk is cut off"))?;
        let bytes = &bytes[..size];
        let mut chunk = Chunk {
            bytes,
            start_ns: long_at(bytes, 32)?,
            start_ticks: long_at(bytes, 48)?,
            ticks_per_second: long_at(bytes, 56)?.max(1),
            classes: HashMap::new(),
            constants: HashMap::new(),
        };
        chunk.read_metadata(long_at(bytes, 24)?)?;
        chunk.read_constants(long_at(bytes, 16)?)?;
        Ok(chunk)
    }

    /// In a file of the profiler a tick is a nanosecond of its clock, and the time is on that clock.
    fn time_ns(&self, ticks: i64) -> i64 {
        if self.ticks_per_second == 1_000_000_000 {
            ticks
        } else {
            self.start_ns.saturating_add(self.ticks_ns(ticks.saturating_sub(self.start_ticks)))
        }
    }

    fn ticks_ns(&self, ticks: i64) -> i64 {
        let ns = i128::from(ticks) * 1_000_000_000 / i128::from(self.ticks_per_second);
        i64::try_from(ns).unwrap_or(i64::MAX)
    }

    fn at(&self, offset: i64) -> Result<Reader<'a>, Malformed> {
        let start = usize::try_from(offset).map_err(|_| Malformed("an offset before the chunk"))?;
        Ok(Reader { left: self.bytes.get(start..).ok_or(Malformed("an offset beyond the chunk"))? })
    }

    /// Calls `take` with each event whose class is known.
    fn each_event(&self, mut take: impl FnMut(&Class, Reader<'a>) -> Result<(), Malformed>) -> Result<(), Malformed> {
        let mut offset = HEADER;
        while offset < self.bytes.len() {
            let mut reader = self.at(offset as i64)?;
            let before = reader.left.len();
            let size = usize::try_from(reader.varint()?).map_err(|_| Malformed("an event of negative size"))?;
            let class = reader.varint()?;
            if size == 0 || size > before || before - reader.left.len() > size {
                return Err(Malformed("an event that is larger than the chunk, or empty"));
            }
            if let Some(class) = self.classes.get(&class) {
                let head = before - reader.left.len();
                take(class, Reader { left: &reader.left[..size - head] })?;
            }
            offset += size;
        }
        Ok(())
    }

    /// The classes that the metadata event declares.
    fn read_metadata(&mut self, offset: i64) -> Result<(), Malformed> {
        let mut reader = self.at(offset)?;
        // Size, class, start, duration and number of the event.
        for _ in 0..5 {
            reader.varint()?;
        }
        let count = reader.count()?;
        let strings = (0..count).map(|_| reader.text()).collect::<Result<Vec<_>, _>>()?;
        let root = Element::read(&mut reader, &strings, 0)?;
        let metadata = root.children.iter().find(|child| child.name == "metadata");
        for class in metadata.into_iter().flat_map(|metadata| &metadata.children).filter(|child| child.name == "class")
        {
            let declared = || class.children.iter().filter(|child| child.name == "field");
            let fields = declared().map(|field| Field {
                class: field.number("class").unwrap_or_default(),
                is_reference: field.attribute("constantPool") == Some("true"),
                is_list: field.number("dimension").unwrap_or_default() > 0,
            });
            let names = declared().map(|field| field.attribute("name").unwrap_or_default().to_string());
            let id = class.number("id").ok_or(Malformed("a class without a number"))?;
            let name = class.attribute("name").unwrap_or_default().to_string();
            self.classes.insert(id, Class { name, fields: fields.collect(), names: Rc::new(names.collect()) });
        }
        Ok(())
    }

    /// The constant pools, each of which says how far the one before it is.
    fn read_constants(&mut self, mut offset: i64) -> Result<(), Malformed> {
        while offset > 0 {
            let mut reader = self.at(offset)?;
            // Size, class, start and duration of the event.
            for _ in 0..4 {
                reader.varint()?;
            }
            let delta = reader.varint()?;
            let _flush = reader.byte()?;
            for _ in 0..reader.count()? {
                let class = reader.varint()?;
                for _ in 0..reader.count()? {
                    let number = reader.varint()?;
                    let value = self.value(class, &mut reader, 0)?;
                    self.constants.insert((class, number), value);
                }
            }
            if delta >= 0 {
                break;
            }
            offset = offset.checked_add(delta).ok_or(Malformed("a constant pool before the chunk"))?;
        }
        Ok(())
    }

    fn value(&self, class: i64, reader: &mut Reader<'_>, depth: usize) -> Result<Value, Malformed> {
        let class = self.classes.get(&class).ok_or(Malformed("a value of an unknown class"))?;
        Ok(match class.name.as_str() {
            "boolean" | "byte" => Value::Number(i64::from(reader.byte()?)),
            "char" | "short" | "int" | "long" => Value::Number(reader.varint()?),
            "float" => {
                reader.take(4)?;
                Value::Null
            }
            "double" => {
                reader.take(8)?;
                Value::Null
            }
            "java.lang.String" => match reader.string()? {
                Text::Null => Value::Null,
                Text::Inline(text) => Value::Text(text),
                Text::Constant(number) => {
                    let strings = self.classes.iter().find(|(_, class)| class.name == "java.lang.String");
                    Value::Reference(strings.map_or(0, |(id, _)| *id), number)
                }
            },
            _ => self.object(class, reader, depth)?,
        })
    }

    fn object(&self, class: &Class, reader: &mut Reader<'_>, depth: usize) -> Result<Value, Malformed> {
        if depth > DEEPEST {
            return Err(Malformed("values that hold each other without end"));
        }
        let mut fields = Vec::with_capacity(class.fields.len());
        for field in &class.fields {
            let one = |reader: &mut Reader<'_>| {
                if field.is_reference {
                    Ok(Value::Reference(field.class, reader.varint()?))
                } else {
                    self.value(field.class, reader, depth + 1)
                }
            };
            let value = if field.is_list {
                let count = reader.count()?;
                Value::List((0..count).map(|_| one(reader)).collect::<Result<_, Malformed>>()?)
            } else {
                one(reader)?
            };
            fields.push(value);
        }
        Ok(Value::Object(Rc::clone(&class.names), fields))
    }

    /// What a reference stands for; anything else stands for itself.
    fn resolve<'v>(&'v self, value: &'v Value) -> Option<&'v Value> {
        match value {
            Value::Reference(class, number) => self.constants.get(&(*class, *number)),
            value => Some(value),
        }
    }

    /// A text, or the symbol that holds one.
    fn text<'v>(&'v self, value: &'v Value) -> Option<&'v str> {
        match self.resolve(value)? {
            Value::Text(text) => Some(text),
            symbol => match self.resolve(symbol.field("string").or(symbol.field("name"))?)? {
                Value::Text(text) => Some(text),
                _ => None,
            },
        }
    }

    /// The frames of a stack, which the file has from the innermost to the outermost.
    fn frames(&self, stack: Option<&Value>) -> Option<Frames> {
        let Some(Value::List(listed)) = self.resolve(stack?)?.field("frames") else { return None };
        let mut frames = Frames::default();
        for frame in listed.iter().rev() {
            let method = frame.field("method").and_then(|method| self.resolve(method));
            let class =
                method.and_then(|method| self.resolve(method.field("type")?)).and_then(|class| class.field("name"));
            let class = class.and_then(|name| self.text(name)).unwrap_or_default();
            let name = method.and_then(|method| self.text(method.field("name")?)).unwrap_or("unknown");
            let kind =
                frame.field("type").and_then(|kind| self.resolve(kind)).and_then(|kind| kind.field("description"));
            let kind = kind_of(kind.and_then(|kind| self.text(kind)).unwrap_or_default());
            if !frames.names.is_empty() {
                frames.names.push(';');
            }
            // What separates frames is in no name.
            for (place, part) in [class, name].into_iter().filter(|part| !part.is_empty()).enumerate() {
                if place > 0 {
                    frames.names.push('.');
                }
                let is_class = place == 0 && !class.is_empty() && matches!(kind, 'j' | 'l' | '1' | 'i');
                frames.names.extend(part.chars().map(|c| match c {
                    ';' | '\n' => ':',
                    '/' if is_class => '.',
                    c => c,
                }));
            }
            frames.kinds.push(kind);
        }
        Some(frames)
    }
}

fn kind_of(description: &str) -> char {
    match description {
        "JIT compiled" => 'j',
        "Inlined" => 'l',
        "C1 compiled" => '1',
        "Interpreted" => 'i',
        "C++" => 'c',
        "Kernel" => 'k',
        _ => 'n',
    }
}

/// An element of the metadata's tree.
struct Element<'s> {
    name: &'s str,
    attributes: Vec<(&'s str, &'s str)>,
    children: Vec<Element<'s>>,
}

impl<'s> Element<'s> {
    fn read(reader: &mut Reader<'_>, strings: &'s [String], depth: usize) -> Result<Element<'s>, Malformed> {
        if depth > DEEPEST {
            return Err(Malformed("metadata without end"));
        }
        let text = |reader: &mut Reader<'_>| {
            let number = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
            strings.get(number).map(String::as_str).ok_or(Malformed("a string that is not in the metadata"))
        };
        let name = text(reader)?;
        let count = reader.count()?;
        let attributes =
            (0..count).map(|_| Ok((text(reader)?, text(reader)?))).collect::<Result<Vec<_>, Malformed>>()?;
        let count = reader.count()?;
        let children = (0..count).map(|_| Element::read(reader, strings, depth + 1)).collect::<Result<Vec<_>, _>>()?;
        Ok(Element { name, attributes, children })
    }

    fn attribute(&self, name: &str) -> Option<&'s str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.attribute(name)?.parse().ok()
    }
}

enum Text {
    Null,
    Inline(String),
    Constant(i64),
}

/// Takes the format's basic types off the front of the bytes.
struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, left) = self.left.split_at_checked(count).ok_or(Malformed("it ends early"))?;
        self.left = left;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    /// Seven bits a byte, the lowest first; a ninth byte has eight.
    fn varint(&mut self) -> Result<i64, Malformed> {
        let mut value = 0u64;
        for place in 0..9 {
            let byte = self.byte()?;
            if place == 8 {
                return Ok((value | u64::from(byte) << 56).cast_signed());
            }
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(value.cast_signed())
    }

    /// A number of things that follow; each takes a byte at least.
    fn count(&mut self) -> Result<usize, Malformed> {
        match usize::try_from(self.varint()?) {
            Ok(count) if count <= self.left.len() => Ok(count),
            _ => Err(Malformed("it announces more than follows")),
        }
    }

    fn string(&mut self) -> Result<Text, Malformed> {
        Ok(match self.byte()? {
            0 => Text::Null,
            1 => Text::Inline(String::new()),
            2 => Text::Constant(self.varint()?),
            3 => {
                let length = self.count()?;
                Text::Inline(String::from_utf8_lossy(self.take(length)?).into_owned())
            }
            4 => {
                let count = self.count()?;
                let units = (0..count).map(|_| self.varint().map(|unit| unit as u16)).collect::<Result<Vec<_>, _>>()?;
                Text::Inline(String::from_utf16_lossy(&units))
            }
            5 => {
                let length = self.count()?;
                Text::Inline(self.take(length)?.iter().map(|byte| char::from(*byte)).collect())
            }
            _ => return Err(Malformed("a string of an unknown kind")),
        })
    }

    /// A string that is written out, as those of the metadata are.
    fn text(&mut self) -> Result<String, Malformed> {
        match self.string()? {
            Text::Null => Ok(String::new()),
            Text::Inline(text) => Ok(text),
            Text::Constant(_) => Err(Malformed("a string of the metadata is in a constant pool")),
        }
    }
}

fn long_at(bytes: &[u8], at: usize) -> Result<i64, Malformed> {
    let eight = bytes.get(at..).and_then(|bytes| bytes.first_chunk()).ok_or(Malformed("it ends early"))?;
    Ok(i64::from_be_bytes(*eight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Three seconds of a real node under a small load, recorded by the profiler itself.
    const RECORDED: &[u8] = include_bytes!("../../../../fixtures/stacks.jfr");

    fn chunks() -> Vec<Samples> {
        let (mut left, mut chunks) = (RECORDED, Vec::new());
        while let Some(size) = chunk_size(left).unwrap() {
            chunks.push(read_chunk(&left[..size]).unwrap());
            left = &left[size..];
        }
        assert!(left.is_empty());
        chunks
    }

    #[test]
    fn a_real_file_is_read_whole() {
        let chunks = chunks();
        let samples: Vec<&Sample> = chunks.iter().flat_map(|chunk| &chunk.samples).collect();
        // As many as `jfr summary` counts.
        assert_eq!(samples.len(), 64);
        assert!(samples.iter().all(|sample| sample.event == SampleEvent::Cpu && sample.tid > 0));
        assert!(samples.iter().any(|sample| sample.thread.starts_with("Native-Transport-Requests-")));
        let stacks: Vec<&Frames> = chunks.iter().flat_map(|chunk| &chunk.stacks).collect();
        assert!(stacks.iter().all(|stack| stack.names.split(';').count() == stack.kinds.len()));
        let outermost = "java.lang.Thread.run;";
        let executor = "org.apache.cassandra.concurrent.SEPWorker.run";
        assert!(stacks.iter().any(|stack| stack.names.contains(outermost) && stack.names.contains(executor)));
        assert!(stacks.iter().any(|stack| stack.kinds.ends_with('k')), "the kernel is seen");
        // In order of time, within three seconds and some.
        let times: Vec<i64> = samples.iter().map(|sample| sample.time_ns).collect();
        let span_ns = times.iter().max().unwrap() - times.iter().min().unwrap();
        assert!((1_000_000_000..10_000_000_000).contains(&span_ns), "{span_ns}");
    }

    #[test]
    fn what_is_cut_off_is_waited_for() {
        let size = chunk_size(RECORDED).unwrap().unwrap();
        assert_eq!(chunk_size(&RECORDED[..size - 1]), Ok(None));
        assert_eq!(chunk_size(&RECORDED[..20]), Ok(None));
        assert!(chunk_size(&[b'x'; 100]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_bytes_can_make_it_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
            let size = chunk_size(RECORDED).unwrap().unwrap();
            let mut bytes = RECORDED[..size].to_vec();
            for (at, value) in flips {
                bytes[at.index(size)] = value;
            }
            if let Ok(Some(size)) = chunk_size(&bytes) {
                let _ = read_chunk(&bytes[..size]);
            }
        }
    }
}
