//! Bytes made once, of which values are slices: making a value costs a copy and no random numbers.

use super::draw::Draw;
use super::{Content, Generator, Parameter};
use rand::TryRng;

/// Large enough that values that lie near each other in an SSTable's 16 KiB chunk rarely share bytes.
const POOL_BYTES: usize = 4 << 20;

#[derive(Debug)]
pub(crate) struct Pool {
    random: Vec<u8>,
    text: Vec<u8>,
}

impl Pool {
    /// Makes what the parameters need.
    pub fn new(seed: u64, parameters: &[Parameter]) -> Pool {
        let longest = |wanted: Content| {
            let lengths = parameters.iter().filter_map(|parameter| match parameter.generator {
                Generator::Value { max_bytes, content, .. } if content == wanted => Some(max_bytes as usize),
                _ => None,
            });
            lengths.max()
        };
        let mut draw = Draw::new(seed, 0, u64::MAX - 1);
        let random = longest(Content::Random).map_or_else(Vec::new, |longest| {
            let mut bytes = vec![0; POOL_BYTES + longest];
            let Ok(()) = draw.try_fill_bytes(&mut bytes);
            bytes
        });
        let text = longest(Content::Text).map_or_else(Vec::new, |longest| words(&mut draw, POOL_BYTES + longest));
        Pool { random, text }
    }

    /// A value of `length` bytes, which is at most what a parameter asked for.
    pub fn slice(&self, content: Content, length: usize, draw: &mut Draw) -> &[u8] {
        let bytes = match content {
            Content::Random => &self.random,
            Content::Text => &self.text,
        };
        let start = draw.below((bytes.len() - length) as u64 + 1) as usize;
        &bytes[start..start + length]
    }
}

/// Lower-case words of a small vocabulary, the first of it the most frequent: compresses about as prose does.
fn words(draw: &mut Draw, length: usize) -> Vec<u8> {
    let vocabulary: Vec<Vec<u8>> = (0..2048)
        .map(|_| (0..2 + draw.below(9)).map(|_| b'a' + (draw.below(26).min(draw.below(26))) as u8).collect())
        .collect();
    let mut text = Vec::with_capacity(length + 16);
    while text.len() < length {
        // The square of a uniform number favours the front.
        let chosen = (draw.unit().powi(2) * vocabulary.len() as f64) as usize;
        text.extend_from_slice(&vocabulary[chosen]);
        text.push(b' ');
    }
    text.truncate(length);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(content: Content, bytes: u32) -> Parameter {
        let generator = Generator::Value { min_bytes: bytes, max_bytes: bytes, content };
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
    fn text_is_text_and_repeats_itself_and_random_does_not() {
        let pool = Pool::new(1, &[value(Content::Random, 10), value(Content::Text, 10)]);
        assert!(pool.text.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b' '));
        // Distinct 4-byte strings among 64 Ki: nearly all for noise, few for words.
        let distinct = |bytes: &[u8]| bytes.windows(4).take(1 << 16).collect::<std::collections::HashSet<_>>().len();
        assert!(distinct(&pool.random) > 60_000);
        assert!(distinct(&pool.text) < 30_000, "{}", distinct(&pool.text));
    }
}
