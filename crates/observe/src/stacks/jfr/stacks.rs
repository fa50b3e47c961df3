//! The stacks that samples refer to, decoded on demand.

use super::bytes::Malformed;
use super::format::{Chunk, Object};
use crate::stacks::Frames;
use std::collections::HashMap;
use std::rc::Rc;

/// The most frames of a stack. By default, profilers cut stacks off at 2048.
const MOST_FRAMES: usize = 1 << 16;
/// The most bytes of a stack's text; the deepest stacks that profilers write take some hundred kilobytes.
const LONGEST: usize = 4 << 20;
/// The most bytes of the texts of all stacks of a chunk: a fixed amount, plus this many times the chunk's size. A frame
/// of 8 bytes has a name of about 60.
const TEXTS: usize = 32 << 20;
const TEXTS_BY_SIZE: usize = 24;
/// The most bytes of texts that are kept in memory, for stacks and for names each.
const KEPT: usize = 32 << 20;

/// A cache of texts by their number in the file, with a limit in bytes.
struct Kept<K, T> {
    texts: HashMap<K, T>,
    bytes: usize,
}

impl<K: Eq + std::hash::Hash, T> Default for Kept<K, T> {
    fn default() -> Kept<K, T> {
        Kept { texts: HashMap::new(), bytes: 0 }
    }
}

impl<K: Eq + std::hash::Hash, T> Kept<K, T> {
    fn keep(&mut self, key: K, text: T, bytes: usize) {
        // Its size includes the map's overhead per entry.
        self.bytes += bytes + 64;
        if self.bytes > KEPT {
            self.texts.clear();
            self.bytes = bytes + 64;
        }
        self.texts.insert(key, text);
    }
}

/// A stack by its number in the file, and the method to add as its innermost frame, if any. The number is 0 where there
/// is only the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StackKey {
    /// Class and number of the stack.
    pub(super) stack: (i64, i64),
    /// Class and number of the method.
    pub(super) method: Option<(i64, i64)>,
}

/// Stacks of a chunk by their numbers in the file.
pub(super) struct Stacks<'c> {
    chunk: &'c Chunk<'c>,
    /// Stack numbers as in the table `stacks`; None for stacks that are not in the file.
    numbers: HashMap<StackKey, Option<i64>>,
    frames: Kept<StackKey, Rc<Frames>>,
    /// Names of methods by id, and whether they are Java methods.
    names: Kept<(i64, bool), Rc<str>>,
    kinds: HashMap<i64, char>,
    /// Bytes of text that may still be decoded.
    left: usize,
}

impl<'c> Stacks<'c> {
    pub(super) fn new(chunk: &'c Chunk<'c>) -> Stacks<'c> {
        let left = TEXTS.saturating_add(chunk.size().saturating_mul(TEXTS_BY_SIZE));
        let (frames, names) = (Kept::default(), Kept::default());
        Stacks { chunk, numbers: HashMap::new(), frames, names, kinds: HashMap::new(), left }
    }

    /// The number of the stack in recordings; None if the reference is invalid.
    pub(super) fn number(&mut self, key: StackKey) -> Result<Option<i64>, Malformed> {
        if let Some(number) = self.numbers.get(&key) {
            return Ok(*number);
        }
        let number = self.frames(key)?.map(|frames| frames.number());
        self.numbers.insert(key, number);
        Ok(number)
    }

    pub(super) fn frames(&mut self, key: StackKey) -> Result<Option<Rc<Frames>>, Malformed> {
        if let Some(frames) = self.frames.texts.get(&key) {
            return Ok(Some(Rc::clone(frames)));
        }
        let read = match key.method {
            None => self.read(key.stack)?,
            Some(method) => Some(self.read_in(key.stack, method)?),
        };
        let Some(frames) = read.map(Rc::new) else { return Ok(None) };
        self.frames.keep(key, Rc::clone(&frames), frames.names.len() + frames.kinds.len());
        Ok(Some(frames))
    }

    /// The frames of a method and of its callers. The file may have the method among these already.
    fn read_in(&mut self, stack: (i64, i64), method: (i64, i64)) -> Result<Frames, Malformed> {
        let callers = self.frames(StackKey { stack, method: None })?;
        let mut frames = callers.map_or_else(Frames::default, |callers| (*callers).clone());
        let name = name(self.chunk.object(method), true);
        self.pay(frames.names.len() + name.len())?;
        if frames.names.rsplit(';').next() != Some(&*name) {
            frames.push(&name[..name.floor_char_boundary(LONGEST)], 'j');
        }
        Ok(frames)
    }

    /// Takes some bytes of text off the limit.
    fn pay(&mut self, bytes: usize) -> Result<(), Malformed> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(Malformed("its stacks unpack to more than 24 times its size and 32 MiB"))?;
        Ok(())
    }

    /// The frames of a stack; the file has them from the innermost to the outermost.
    fn read(&mut self, reference: (i64, i64)) -> Result<Option<Frames>, Malformed> {
        let listed = self.chunk.object(reference).and_then(|stack| stack.get("frames")?.objects());
        let Some(listed) = listed else { return Ok(None) };
        let listed: Vec<Object<'_>> = listed.take(MOST_FRAMES + 1).collect();
        if listed.len() > MOST_FRAMES {
            return Err(Malformed("a stack of more than 65,536 frames"));
        }
        let mut frames = Frames::default();
        for frame in listed.into_iter().rev() {
            let kind = self.kind(frame);
            let name = self.name(frame, matches!(kind, 'j' | 'l' | '1' | 'i'));
            self.pay(name.len() + 1)?;
            if frames.names.len() + name.len() > LONGEST {
                return Err(Malformed("a stack whose names are longer than 4 MiB"));
            }
            frames.push(&name, kind);
        }
        Ok(Some(frames))
    }

    fn kind(&mut self, frame: Object<'_>) -> char {
        let Some(item) = frame.get("type") else { return kind_of("") };
        let of = || item.object().and_then(|kind| kind.text("description").map(|text| kind_of(&text)));
        match item.reference() {
            Some((_, number)) => *self.kinds.entry(number).or_insert_with(|| of().unwrap_or_else(|| kind_of(""))),
            None => of().unwrap_or_else(|| kind_of("")),
        }
    }

    fn name(&mut self, frame: Object<'_>, is_java: bool) -> Rc<str> {
        let method = frame.get("method");
        let number = method.and_then(|method| method.reference()).map(|(_, number)| (number, is_java));
        if let Some(name) = number.and_then(|number| self.names.texts.get(&number)) {
            return Rc::clone(name);
        }
        let name = name(method.and_then(|method| method.object()), is_java);
        if let Some(number) = number {
            self.names.keep(number, Rc::clone(&name), name.len());
        }
        name
    }
}

pub(super) fn name(method: Option<Object<'_>>, is_java: bool) -> Rc<str> {
    let class = method.and_then(|method| method.get("type")?.object()?.text("name")).unwrap_or_default();
    let name = method.and_then(|method| method.text("name")).unwrap_or("unknown".into());
    match (class.is_empty(), is_java) {
        (true, _) => name.into(),
        (false, true) => format!("{}.{name}", class.replace('/', ".")).into(),
        (false, false) => format!("{class}.{name}").into(),
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
