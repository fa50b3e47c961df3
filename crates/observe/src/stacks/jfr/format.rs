//! The JFR format: chunks, their constant pools, and the values of events.
//!
//! Values are decoded in place when they are needed. So a chunk takes the memory of its bytes and of an index of its
//! constants, however much data it unpacks to.

use super::bytes::{ByteReader, Malformed, Text, long_at};
use super::metadata::{self, Class, DEEPEST, Field, Kind};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

const MAGIC: &[u8; 4] = b"FLR\0";
/// Length of a chunk's header in bytes.
pub const HEADER: usize = 68;
/// The largest chunk that is read. By default, profilers begin another chunk after 12 to 100 MB.
pub const LARGEST_CHUNK: u64 = 512 << 20;
/// The size in the header of a chunk that async-profiler has not finished.
const NOT_YET_KNOWN: usize = 1 << 30;
/// The most constants of a chunk that are indexed, at some 40 bytes each.
const MOST_CONSTANTS: usize = 1 << 22;

/// The size of the chunk at the start of the bytes; None until it is complete.
pub fn chunk_size(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    Ok(announced_size(bytes)?.filter(|size| *size <= bytes.len()))
}

/// The size in a chunk's header, however much of the chunk has been read. None if the header is incomplete, or the
/// chunk is not finished.
pub fn announced_size(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    if bytes.len() < HEADER {
        return Ok(None);
    }
    if !bytes.starts_with(MAGIC) {
        return Err(Malformed("a chunk does not begin with FLR"));
    }
    match usize::try_from(long_at(bytes, 8)?) {
        // The JDK writes 0 until the chunk is finished.
        Ok(0 | NOT_YET_KNOWN) => Ok(None),
        Ok(size) if size < HEADER => Err(Malformed("a chunk is smaller than its header")),
        Ok(size) if size as u64 > LARGEST_CHUNK => Err(Malformed(
            "a chunk of more than 512 MiB, the most that is read: record with smaller ones (maxchunksize of the JDK, chunksize of async-profiler)",
        )),
        Ok(size) => Ok(Some(size)),
        Err(_) => Err(Malformed("a chunk of negative size")),
    }
}

#[derive(Debug)]
pub(super) struct Chunk<'a> {
    bytes: &'a [u8],
    start_ns: i64,
    start_ticks: i64,
    ticks_per_second: i64,
    classes: HashMap<i64, Class>,
    /// Class id of the strings in constant pools.
    strings: i64,
    /// Offsets of the constants, by class and number.
    constants: HashMap<(i64, i64), u32>,
}

/// Decodes the values of a class's fields, one after another.
#[derive(Clone, Copy)]
pub(super) struct Object<'c> {
    chunk: &'c Chunk<'c>,
    fields: &'c [Field],
    at: ByteReader<'c>,
}

/// One value of an object.
#[derive(Clone, Copy)]
pub(super) struct Item<'c> {
    chunk: &'c Chunk<'c>,
    class: i64,
    is_reference: bool,
    is_list: bool,
    at: ByteReader<'c>,
}

impl<'a> Chunk<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Chunk<'a>, Malformed> {
        let size = chunk_size(bytes)?.ok_or(Malformed("a chunk is cut off"))?;
        let mut chunk = Chunk {
            bytes: &bytes[..size],
            start_ns: long_at(bytes, 32)?,
            start_ticks: long_at(bytes, 48)?,
            ticks_per_second: long_at(bytes, 56)?.max(1),
            classes: HashMap::new(),
            strings: 0,
            constants: HashMap::new(),
        };
        chunk.classes = metadata::read(chunk.at(long_at(bytes, 24)?)?)?;
        let strings = chunk.classes.values().find(|class| matches!(class.kind, Kind::Text));
        chunk.strings = strings.map_or(0, |class| class.id);
        chunk.find_constants(long_at(bytes, 16)?)?;
        Ok(chunk)
    }

    /// The difference between the file's clock and nanoseconds since the Unix epoch. The header has the start of the
    /// chunk on both clocks.
    pub(super) fn epoch_offset_ns(&self) -> i64 {
        self.start_ns.saturating_sub(self.ticks_ns(self.start_ticks))
    }

    /// Whether a tick of the file's clock is a nanosecond, as on CLOCK_MONOTONIC.
    pub(super) fn ticks_are_ns(&self) -> bool {
        self.ticks_per_second == 1_000_000_000
    }

    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn class_name(&self, id: i64) -> Option<&str> {
        self.classes.get(&id).map(|class| class.name.as_str())
    }

    /// Ids of the classes whose names `wanted` accepts.
    pub(super) fn ids(&self, wanted: impl Fn(&str) -> bool) -> HashSet<i64> {
        self.classes.values().filter(|class| wanted(&class.name)).map(|class| class.id).collect()
    }

    pub(super) fn ticks_ns(&self, ticks: i64) -> i64 {
        let ns = i128::from(ticks) * 1_000_000_000 / i128::from(self.ticks_per_second);
        i64::try_from(ns).unwrap_or(i64::MAX)
    }

    fn at(&self, offset: i64) -> Result<ByteReader<'a>, Malformed> {
        let start = usize::try_from(offset).map_err(|_| Malformed("an offset before the chunk"))?;
        Ok(ByteReader { left: self.bytes.get(start..).ok_or(Malformed("an offset beyond the chunk"))? })
    }

    /// Calls `take` for each event of a known class, with its values.
    pub(super) fn each_event<'c>(
        &'c self,
        mut take: impl FnMut(&'c Class, Object<'c>) -> Result<(), Malformed>,
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
            if let Some(class) = self.classes.get(&class)
                && let Kind::Object(fields) = &class.kind
            {
                let head = before - reader.left.len();
                take(class, Object { chunk: self, fields, at: ByteReader { left: &reader.left[..size - head] } })?;
            }
            offset += size;
        }
        Ok(())
    }

    /// Indexes the constants. Each pool has the offset of the previous one.
    fn find_constants(&mut self, mut offset: i64) -> Result<(), Malformed> {
        let (chunk, mut constants) = (&*self, HashMap::new());
        while offset > 0 {
            let mut reader = chunk.at(offset)?;
            let whole = reader.left;
            let size = usize::try_from(reader.varint()?).ok().filter(|size| *size <= whole.len());
            let size = size.ok_or(Malformed("a constant pool that is larger than the chunk"))?;
            // Class, start and duration of the event.
            for _ in 0..3 {
                reader.varint()?;
            }
            let delta = reader.varint()?;
            let _flush = reader.byte()?;
            for _ in 0..reader.count()? {
                let class = reader.varint()?;
                let count = reader.count()?;
                let kind = match chunk.classes.get(&class) {
                    Some(class) => &class.kind,
                    None if count == 0 => continue,
                    None => return Err(Malformed("a value of an unknown class")),
                };
                for _ in 0..count {
                    let number = reader.varint()?;
                    let start = chunk.bytes.len() - reader.left.len();
                    chunk.skip(kind, &mut reader, 0)?;
                    if !kind.is_empty() {
                        // No chunk is larger than 32 bits can say.
                        constants.insert((class, number), start as u32);
                    }
                }
                if constants.len() > MOST_CONSTANTS {
                    return Err(Malformed("more than 4 million constants, the most that are read of a chunk"));
                }
            }
            if whole.len() - reader.left.len() > size {
                return Err(Malformed("a constant pool that is longer than it says"));
            }
            if delta >= 0 {
                break;
            }
            let before = offset.checked_add(delta).ok_or(Malformed("a constant pool before the chunk"))?;
            if before > 0 {
                // An event that overlaps the next one would make its bytes be read repeatedly.
                let length = chunk.at(before)?.varint()?;
                if length < 1 || before.checked_add(length).is_none_or(|end| end > offset) {
                    return Err(Malformed("constant pools that overlap"));
                }
            }
            offset = before;
        }
        self.constants = constants;
        Ok(())
    }

    fn skip(&self, kind: &Kind, reader: &mut ByteReader<'_>, depth: usize) -> Result<(), Malformed> {
        match kind {
            Kind::Byte => drop(reader.byte()?),
            Kind::Varint => drop(reader.varint()?),
            Kind::Float => drop(reader.take(4)?),
            Kind::Double => drop(reader.take(8)?),
            Kind::Text => reader.skip_string()?,
            Kind::Object(_) if depth > DEEPEST => return Err(Malformed("values that hold each other without end")),
            Kind::Object(fields) => {
                for field in fields {
                    self.skip_field(field, reader, depth)?;
                }
            }
        }
        Ok(())
    }

    fn skip_field(&self, field: &Field, reader: &mut ByteReader<'_>, depth: usize) -> Result<(), Malformed> {
        let count = if field.is_list { reader.count()? } else { 1 };
        if field.is_reference {
            for _ in 0..count {
                reader.varint()?;
            }
            return Ok(());
        }
        let class = self.classes.get(&field.class).ok_or(Malformed("a value of an unknown class"))?;
        // Items of zero bytes are skipped at once, whatever their number.
        let count = if class.kind.is_empty() { 0 } else { count };
        for _ in 0..count {
            self.skip(&class.kind, reader, depth + 1)?;
        }
        Ok(())
    }

    /// Finds the constant of a class by its number.
    fn constant(&self, class: i64, number: i64) -> Option<Item<'_>> {
        let start = *self.constants.get(&(class, number))?;
        let at = ByteReader { left: self.bytes.get(start as usize..)? };
        Some(Item { chunk: self, class, is_reference: false, is_list: false, at })
    }

    /// Decodes the values of a constant.
    pub(super) fn object(&self, (class, number): (i64, i64)) -> Option<Object<'_>> {
        self.constant(class, number)?.object()
    }
}

impl<'c> Object<'c> {
    /// Checks that all values of an object are complete.
    pub(super) fn check(mut self) -> Result<(), Malformed> {
        self.fields.iter().try_for_each(|field| self.chunk.skip_field(field, &mut self.at, 0))
    }

    pub(super) fn get(mut self, name: &str) -> Option<Item<'c>> {
        for field in self.fields {
            if field.name == name {
                let Field { class, is_reference, is_list, .. } = *field;
                return Some(Item { chunk: self.chunk, class, is_reference, is_list, at: self.at });
            }
            self.chunk.skip_field(field, &mut self.at, 0).ok()?;
        }
        None
    }

    pub(super) fn number(self, name: &str) -> Option<i64> {
        self.get(name)?.number()
    }

    pub(super) fn text(self, name: &str) -> Option<Cow<'c, str>> {
        self.get(name)?.text()
    }
}

impl<'c> Item<'c> {
    fn kind(&self) -> Option<&'c Kind> {
        self.chunk.classes.get(&self.class).map(|class| &class.kind)
    }

    pub(super) fn float(mut self) -> Option<f32> {
        if self.is_reference || self.is_list || !matches!(self.kind()?, Kind::Float) {
            return None;
        }
        self.at.take(4).ok()?.first_chunk().map(|bytes| f32::from_be_bytes(*bytes))
    }

    pub(super) fn number(mut self) -> Option<i64> {
        if self.is_reference || self.is_list {
            return None;
        }
        match self.kind()? {
            Kind::Byte => self.at.byte().ok().map(i64::from),
            Kind::Varint => self.at.varint().ok(),
            _ => None,
        }
    }

    /// Class and number of the constant that a field refers to.
    pub(super) fn reference(mut self) -> Option<(i64, i64)> {
        if !self.is_reference || self.is_list { None } else { Some((self.class, self.at.varint().ok()?)) }
    }

    /// The value that a reference points to; a value that is no reference stays as it is.
    fn resolve(self) -> Option<Item<'c>> {
        match self.reference() {
            Some((class, number)) => self.chunk.constant(class, number),
            None => Some(self).filter(|item| !item.is_list),
        }
    }

    pub(super) fn object(self) -> Option<Object<'c>> {
        let item = self.resolve()?;
        match item.kind()? {
            Kind::Object(fields) => Some(Object { chunk: item.chunk, fields, at: item.at }),
            _ => None,
        }
    }

    /// A text: inline, or in the symbol that it refers to.
    pub(super) fn text(self) -> Option<Cow<'c, str>> {
        let item = self.resolve()?;
        match item.kind()? {
            Kind::Text => item.string(),
            Kind::Object(_) => {
                let symbol = item.object()?;
                let item = symbol.get("string").or_else(|| symbol.get("name"))?.resolve()?;
                matches!(item.kind()?, Kind::Text).then(|| item.string())?
            }
            _ => None,
        }
    }

    fn string(mut self) -> Option<Cow<'c, str>> {
        let number = match self.at.string().ok()? {
            Text::Null => return None,
            Text::Inline(text) => return Some(text),
            Text::Constant(number) => number,
        };
        match self.chunk.constant(self.chunk.strings, number)?.at.string().ok()? {
            Text::Inline(text) => Some(text),
            // Constants that refer to each other in a cycle have no value.
            Text::Null | Text::Constant(_) => None,
        }
    }

    /// The objects of a list in order, each with its offset.
    pub(super) fn objects(mut self) -> Option<impl Iterator<Item = Object<'c>>> {
        if !self.is_list || self.is_reference {
            return None;
        }
        let Kind::Object(fields) = self.kind()? else { return None };
        if fields.is_empty() {
            return None;
        }
        let count = self.at.count().ok()?;
        let Item { chunk, mut at, .. } = self;
        Some((0..count).map_while(move |_| {
            let object = Object { chunk, fields, at };
            fields.iter().try_for_each(|field| chunk.skip_field(field, &mut at, 1)).ok()?;
            Some(object)
        }))
    }
}

/// Counts the events of these classes in a chunk that may be incomplete or damaged. This works without the metadata,
/// which describes the events' fields.
pub fn count_events(bytes: &[u8], classes: &HashSet<i64>) -> u64 {
    let (mut left, mut count) = (bytes.get(HEADER..).unwrap_or_default(), 0);
    loop {
        let mut reader = ByteReader { left };
        let (Ok(size), Ok(class)) = (reader.varint(), reader.varint()) else { return count };
        let Some(next) = usize::try_from(size).ok().filter(|size| *size > 0).and_then(|size| left.get(size..)) else {
            return count;
        };
        count += u64::from(classes.contains(&class));
        left = next;
    }
}
