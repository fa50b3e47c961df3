//! Bytes that are generated once and sliced into values: making a value costs a copy and no random numbers.

use super::{Content, Generator, Parameter};
use crate::draw::Draw;
use crate::rows::{Insert, Visit};
use rand::TryRng;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Size of the pool: large enough that values that are close to each other in an SSTable's 16 KiB chunk rarely share
/// bytes (1 of 100 bytes, for values of 34), small enough to stay in a CPU core's own cache.
const POOL_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Pool {
    /// The pools, one for each kind of content that the workload has.
    buffers: Vec<(Content, Vec<u8>)>,
    /// Partitions of generated rows that requests have used so far, and the total number.
    taken: AtomicU64,
    partitions: u64,
    revisits: Mutex<Revisits>,
}

/// The partitions of which some rows are written and some are not.
#[derive(Debug, Default)]
pub(crate) struct Revisits {
    /// The next visit of each.
    open: Vec<PartitionRange>,
}

/// A request's partitions of generated rows: a range of those of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PartitionRange {
    pub first: u64,
    pub count: u64,
    /// Which of their rows are written.
    pub visit: Visit,
}

impl Pool {
    /// Generates the pools that the parameters need.
    pub fn new(seed: u64, parameters: &[Parameter]) -> Pool {
        let mut longest: Vec<(Content, usize)> = Vec::new();
        for parameter in parameters {
            let Generator::Value { max_bytes, content, .. } = *parameter.generator.single() else { continue };
            match longest.iter_mut().find(|(known, _)| *known == content) {
                Some((_, known)) => *known = (*known).max(max_bytes as usize),
                None => longest.push((content, max_bytes as usize)),
            }
        }
        let make = |(content, longest): (Content, usize)| {
            (content, filled(content, &mut Draw::new(seed, 0, u64::MAX - 1), POOL_BYTES + longest))
        };
        let buffers = longest.into_iter().map(make).collect();
        Pool { buffers, taken: AtomicU64::new(0), partitions: u64::MAX, revisits: Mutex::default() }
    }

    /// Limits the partitions that requests get to this number.
    pub fn of_partitions(mut self, partitions: Option<u64>) -> Pool {
        self.partitions = partitions.unwrap_or(u64::MAX);
        self
    }

    /// The next partitions for a request: the wanted number, or as many as are left, but at least one.
    pub fn take(&self, count: u64) -> PartitionRange {
        let first = self.taken.fetch_add(count, Ordering::Relaxed);
        let count = count.min(self.partitions.saturating_sub(first)).max(1);
        PartitionRange { first, count, visit: Visit::default() }
    }

    pub fn revisits(&self) -> MutexGuard<'_, Revisits> {
        self.revisits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A value of `length` bytes, which must not exceed the largest size of the parameters.
    pub fn slice(&self, content: Content, length: usize, draw: &mut Draw) -> &[u8] {
        let Some((_, bytes)) = self.buffers.iter().find(|(known, _)| *known == content) else { return &[] };
        let start = draw.below((bytes.len() - length) as u64 + 1) as usize;
        &bytes[start..start + length]
    }
}

impl Revisits {
    /// The next visit of partitions that are open, or the first one of new partitions. `begin` returns new partitions and
    /// the number of their visits.
    pub fn take(
        &mut self,
        insert: &Insert,
        draw: &mut Draw,
        begin: impl FnOnce(&mut Draw) -> (PartitionRange, u64),
    ) -> PartitionRange {
        let chosen = insert.revisited(draw);
        // The collection is full when it has as many as there are numbers; then each number is one of it.
        let Some(place) = usize::try_from(chosen).ok().filter(|place| *place < self.open.len()) else {
            let (new, of) = begin(draw);
            let first = PartitionRange { visit: Visit { index: 0, of: of.max(1) }, ..new };
            if of > 1 {
                self.open.push(PartitionRange { visit: Visit { index: 1, of }, ..new });
            }
            return first;
        };
        let next = self.open[place];
        match next.visit.index + 1 < next.visit.of {
            true => self.open[place].visit.index += 1,
            false => drop(self.open.swap_remove(place)),
        }
        next
    }
}

fn filled(content: Content, draw: &mut Draw, length: usize) -> Vec<u8> {
    match content {
        Content::Random => random(draw, length),
        Content::Compressible { ratio } => compressible(draw, length, ratio),
        Content::Text => words(draw, length),
        Content::Json => json(draw, length),
    }
}

fn random(draw: &mut Draw, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let Ok(()) = draw.try_fill_bytes(&mut bytes);
    bytes
}

/// Random bytes alternating with runs of one byte, short enough that a value of 100 bytes has both. In an LZ4 block a run
/// costs a token, two bytes of offset and one of length, and the bytes before it one more length.
fn compressible(draw: &mut Draw, length: usize, ratio: f64) -> Vec<u8> {
    const TURN: usize = 100;
    const COST: f64 = 4.5;
    // Shorter runs do not compress.
    const SHORTEST_RUN: usize = 8;
    let kept = (ratio * TURN as f64 - COST).max(0.0);
    let mut bytes = random(draw, length);
    for turn in bytes.chunks_mut(TURN) {
        // Rounded up or down at random, so that the mean is exact.
        let kept = kept as usize + usize::from(draw.unit() < kept.fract());
        if turn.len() > kept + SHORTEST_RUN {
            turn[kept..].fill(0);
        }
    }
    bytes
}

/// Lower-case words of a small vocabulary, the first ones most frequent. They compress about as well as prose.
fn words(draw: &mut Draw, length: usize) -> Vec<u8> {
    let vocabulary: Vec<Vec<u8>> = (0..2048)
        .map(|_| (0..2 + draw.below(9)).map(|_| b'a' + (draw.below(26).min(draw.below(26))) as u8).collect())
        .collect();
    let mut text = Vec::with_capacity(length + 16);
    while text.len() < length {
        // The square of a uniform number makes the first words more frequent.
        let chosen = (draw.unit().powi(2) * vocabulary.len() as f64) as usize;
        text.extend_from_slice(&vocabulary[chosen]);
        text.push(b' ');
    }
    text.truncate(length);
    text
}

/// JSON records with numbers, names and flags, as services store them.
fn json(draw: &mut Draw, length: usize) -> Vec<u8> {
    let names: Vec<String> = (0..512).map(|_| (0..4 + draw.below(6)).map(|_| letter(draw)).collect()).collect();
    let name = |draw: &mut Draw| names[(draw.unit().powi(2) * names.len() as f64) as usize].as_str();
    let mut text = String::with_capacity(length + 512);
    while text.len() < length {
        let (id, account, cents) = (draw.next() >> 20, draw.below(100_000), draw.below(1_000_000));
        let (day, second) = (1 + draw.below(28), draw.below(86_400));
        let (user, city, first, second_tag) = (name(draw), name(draw), name(draw), name(draw));
        text.push_str(&format!(
            "{{\"id\":\"{id:011x}\",\"user\":\"{user}\",\"account\":{account},\"city\":\"{city}\",\"active\":{},\
             \"at\":\"2026-03-{day:02}T{:02}:{:02}:{:02}Z\",\"amount\":{}.{:02},\"tags\":[\"{first}\",\"{second_tag}\"]}}\n",
            draw.below(4) > 0,
            second / 3600,
            second / 60 % 60,
            second % 60,
            cents / 100,
            cents % 100,
        ));
    }
    text.truncate(length);
    text.into_bytes()
}

fn letter(draw: &mut Draw) -> char {
    char::from(b'a' + draw.below(26).min(draw.below(26)) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Distribution;

    fn value(content: Content, bytes: u32) -> Parameter {
        let sizes = Distribution::Uniform;
        let generator = Generator::Value { min_bytes: bytes, max_bytes: bytes, sizes, content };
        Parameter { name: "value".into(), generator }
    }

    #[test]
    fn slices_have_their_length_whatever_it_is() {
        let pool = Pool::new(1, &[value(Content::Random, 1 << 20), value(Content::Text, 0)]);
        let mut draw = Draw::new(1, 1, 1);
        for length in [0, 1, 1 << 20] {
            assert_eq!(pool.slice(Content::Random, length, &mut draw).len(), length);
        }
        assert_eq!(pool.slice(Content::Text, 0, &mut draw), b"");
    }

    #[test]
    fn text_and_json_are_ascii() {
        for content in [Content::Text, Content::Json] {
            let pool = Pool::new(1, &[value(content, 10)]);
            assert!(pool.buffers[0].1.iter().all(|byte| byte.is_ascii_graphic() || b" \n".contains(byte)));
        }
    }

    #[test]
    fn partitions_are_visited_as_often_as_they_should_be() {
        let insert =
            Insert { visits: distribution("fixed(3)"), revisit: distribution("uniform(1..4)"), ..Insert::default() };
        let pool = Pool::new(1, &[]);
        let mut visits: Vec<PartitionRange> = Vec::new();
        for number in 0..300 {
            let mut draw = Draw::new(1, number, 1);
            visits.push(pool.revisits().take(&insert, &mut draw, |draw| (pool.take(1), insert.visits(draw))));
            assert!(pool.revisits().open.len() <= 4);
        }
        let begun = visits.iter().map(|taken| taken.first).max().unwrap() + 1;
        for first in 0..begun {
            let of_one: Vec<u64> =
                visits.iter().filter(|taken| taken.first == first).map(|taken| taken.visit.index).collect();
            assert_eq!(of_one, (0..of_one.len() as u64).collect::<Vec<_>>());
            assert!(of_one.len() == 3 || pool.revisits().open.iter().any(|open| open.first == first));
        }
        assert!(begun >= 100, "{begun}");
    }

    fn distribution(text: &str) -> crate::rows::Distribution {
        crate::rows::Distribution::parse(text).unwrap()
    }

    /// The compressed share of values of 120 bytes in chunks of 16 KiB, as in a table.
    fn ratio(content: Content) -> f64 {
        let pool = Pool::new(1, &[value(content, 120)]);
        let mut draw = Draw::new(1, 1, 1);
        let (mut plain, mut compressed) = (0, 0);
        for _ in 0..64 {
            let chunk: Vec<u8> =
                (0..137).flat_map(|_| pool.slice(content, 120, &mut draw).to_vec()).take(16_384).collect();
            plain += chunk.len();
            compressed += lz4_flex::block::compress(&chunk).len();
        }
        f64::from(compressed as u32) / f64::from(plain as u32)
    }

    #[test]
    fn contents_compress_as_they_say() {
        for wanted in [0.1, 0.25, 0.4, 0.55, 0.7, 0.85] {
            let found = ratio(Content::Compressible { ratio: wanted });
            assert!((found - wanted).abs() < 0.05, "{found} for {wanted}");
        }
        let (random, text, json) = (ratio(Content::Random), ratio(Content::Text), ratio(Content::Json));
        assert!(random > 0.99, "{random}");
        assert!((0.7..0.8).contains(&text), "{text}");
        assert!((0.45..0.55).contains(&json), "{json}");
    }
}
