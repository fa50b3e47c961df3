//! The format itself: chunks, their metadata and constant pools, and the values of events.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The bytes are not what the format has them be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a JFR recording, or a broken one: {0}")]
pub struct Malformed(pub &'static str);

const MAGIC: &[u8; 4] = b"FLR\0";
/// Bytes of a chunk before its events.
pub const HEADER: usize = 68;
/// How deep values lie in each other: a stack holds frames, and frames nothing more.
const DEEPEST: usize = 8;

/// The size of the chunk at the start of the bytes; None while it is not whole.
pub fn chunk_size(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    Ok(announced_size(bytes)?.filter(|size| *size <= bytes.len()))
}

/// The size that a chunk's header announces, however much of the chunk is there; None while the header is not whole, or
/// its writer has not come to the chunk's end.
pub fn announced_size(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
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
        Ok(size) => Ok(Some(size)),
        Err(_) => Err(Malformed("a chunk of negative size")),
    }
}

/// A class of the metadata: what its values are made of.
#[derive(Debug, Default)]
pub(super) struct Class {
    pub(super) id: i64,
    pub(super) name: String,
    fields: Vec<Field>,
    /// Names of the fields, which all its values share.
    names: Rc<Vec<String>>,
}

#[derive(Debug)]
pub(super) struct Field {
    class: i64,
    /// The value is in a constant pool.
    is_reference: bool,
    is_list: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
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
    pub(super) fn field(&self, name: &str) -> Option<&Value> {
        let Value::Object(names, fields) = self else { return None };
        names.iter().position(|known| known == name).and_then(|position| fields.get(position))
    }

    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

pub(super) struct Chunk<'a> {
    bytes: &'a [u8],
    start_ns: i64,
    start_ticks: i64,
    ticks_per_second: i64,
    classes: HashMap<i64, Class>,
    constants: HashMap<(i64, i64), Value>,
}

impl<'a> Chunk<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Chunk<'a>, Malformed> {
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

    /// What is to be added to a time on the file's clock for nanoseconds since the Unix epoch: the header has the start
    /// of the chunk on both.
    pub(super) fn epoch_offset_ns(&self) -> i64 {
        self.start_ns.saturating_sub(self.ticks_ns(self.start_ticks))
    }

    /// Whether a tick of the file's clock is a nanosecond, as on CLOCK_MONOTONIC.
    pub(super) fn ticks_are_ns(&self) -> bool {
        self.ticks_per_second == 1_000_000_000
    }

    pub(super) fn class_name(&self, id: i64) -> Option<&str> {
        self.classes.get(&id).map(|class| class.name.as_str())
    }

    /// Ids of the classes that `wanted` takes by their names.
    pub(super) fn ids(&self, wanted: impl Fn(&str) -> bool) -> HashSet<i64> {
        self.classes.values().filter(|class| wanted(&class.name)).map(|class| class.id).collect()
    }

    pub(super) fn ticks_ns(&self, ticks: i64) -> i64 {
        let ns = i128::from(ticks) * 1_000_000_000 / i128::from(self.ticks_per_second);
        i64::try_from(ns).unwrap_or(i64::MAX)
    }

    fn at(&self, offset: i64) -> Result<Reader<'a>, Malformed> {
        let start = usize::try_from(offset).map_err(|_| Malformed("an offset before the chunk"))?;
        Ok(Reader { left: self.bytes.get(start..).ok_or(Malformed("an offset beyond the chunk"))? })
    }

    /// Calls `take` with each event whose class is known.
    pub(super) fn each_event(
        &self,
        mut take: impl FnMut(&Class, Reader<'a>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
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
            self.classes.insert(id, Class { id, name, fields: fields.collect(), names: Rc::new(names.collect()) });
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

    pub(super) fn object(&self, class: &Class, reader: &mut Reader<'_>, depth: usize) -> Result<Value, Malformed> {
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
    pub(super) fn resolve<'v>(&'v self, value: &'v Value) -> Option<&'v Value> {
        match value {
            Value::Reference(class, number) => self.constants.get(&(*class, *number)),
            value => Some(value),
        }
    }

    /// A text, or the symbol that holds one.
    pub(super) fn text<'v>(&'v self, value: &'v Value) -> Option<&'v str> {
        match self.resolve(value)? {
            Value::Text(text) => Some(text),
            symbol => match self.resolve(symbol.field("string").or(symbol.field("name"))?)? {
                Value::Text(text) => Some(text),
                _ => None,
            },
        }
    }
}

/// How many events of these classes lie in what is there of a chunk, which may be cut off or broken: events can be
/// counted where the metadata that tells what is in them is gone.
pub fn count_events(bytes: &[u8], classes: &HashSet<i64>) -> u64 {
    let (mut left, mut count) = (bytes.get(HEADER..).unwrap_or_default(), 0);
    loop {
        let mut reader = Reader { left };
        let (Ok(size), Ok(class)) = (reader.varint(), reader.varint()) else { return count };
        let Some(next) = usize::try_from(size).ok().filter(|size| *size > 0).and_then(|size| left.get(size..)) else {
            return count;
        };
        count += u64::from(classes.contains(&class));
        left = next;
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
pub(super) struct Reader<'a> {
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
