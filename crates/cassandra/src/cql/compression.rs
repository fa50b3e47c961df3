//! Compression of what the native protocol carries: bodies of frames in version 4, payloads of segments in version 5.

use super::frame::Malformed;
use std::borrow::Cow;

/// The algorithms of the STARTUP option COMPRESSION.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Compression {
    Lz4,
    Snappy,
}

/// The largest body, which is the protocol's limit for a frame.
const LARGEST: usize = 256 << 20;
/// An LZ4 block expands to at most this many times its size; a Snappy block to less.
const MOST_TIMES: usize = 256;

impl Compression {
    /// Its name in STARTUP.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Compression::Lz4 => "lz4",
            Compression::Snappy => "snappy",
        }
    }

    /// Compresses the body of a frame. LZ4 has the length before the block, Snappy has it inside.
    #[must_use]
    pub fn compress_body(self, body: &[u8]) -> Vec<u8> {
        match self {
            Compression::Lz4 => {
                let mut compressed = vec![0; 4 + lz4_flex::block::get_maximum_output_size(body.len())];
                compressed[..4].copy_from_slice(&(body.len() as u32).to_be_bytes());
                // The buffer has room for the worst case.
                let size = lz4_flex::block::compress_into(body, &mut compressed[4..]).unwrap_or(0);
                compressed.truncate(4 + size);
                compressed
            }
            // Fails only with bodies of 4 GiB, which no frame holds.
            Compression::Snappy => snap::raw::Encoder::new().compress_vec(body).unwrap_or_default(),
        }
    }

    /// Decompresses a body.
    ///
    /// # Errors [`Malformed`] if it is not valid, or announces more than its bytes can expand to.
    pub fn decompress_body(self, compressed: &[u8]) -> Result<Vec<u8>, Malformed> {
        self.decompress_at_most(LARGEST, compressed)
    }

    /// Like [`Compression::decompress_body`], for bodies of at most so many bytes.
    ///
    /// # Errors As [`Compression::decompress_body`].
    pub fn decompress_at_most(self, most: usize, compressed: &[u8]) -> Result<Vec<u8>, Malformed> {
        let within = |length| match length > most {
            true => Err(Malformed("a compressed body that is too large")),
            false => Ok(length),
        };
        match self {
            Compression::Lz4 => {
                let (length, block) =
                    compressed.split_first_chunk().ok_or(Malformed("a compressed body ends early"))?;
                decompress_lz4(block, within(u32::from_be_bytes(*length) as usize)?)
            }
            Compression::Snappy => {
                let broken = |_| Malformed("a body that is not Snappy");
                plausible(within(snap::raw::decompress_len(compressed).map_err(broken)?)?, compressed)?;
                snap::raw::Decoder::new().decompress_vec(compressed).map_err(broken)
            }
        }
    }
}

/// Compresses to an LZ4 block without length; returns the input if that is not smaller.
pub(super) fn compress_lz4(payload: &[u8]) -> Cow<'_, [u8]> {
    let compressed = lz4_flex::block::compress(payload);
    if compressed.len() < payload.len() { Cow::Owned(compressed) } else { Cow::Borrowed(payload) }
}

pub(super) fn decompress_lz4(block: &[u8], length: usize) -> Result<Vec<u8>, Malformed> {
    plausible(length, block)?;
    let decompressed = lz4_flex::block::decompress(block, length).map_err(|_| Malformed("a body that is not LZ4"))?;
    if decompressed.len() == length { Ok(decompressed) } else { Err(Malformed("a body shorter than announced")) }
}

/// A length is not trusted if the few bytes can't expand to it.
fn plausible(length: usize, compressed: &[u8]) -> Result<(), Malformed> {
    if length > LARGEST || length > compressed.len().saturating_mul(MOST_TIMES) {
        return Err(Malformed("a compressed body announces more than it can hold"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_body_comes_back(body in prop::collection::vec(0u8..4, 0..5000)) {
            for compression in [Compression::Lz4, Compression::Snappy] {
                prop_assert_eq!(compression.decompress_body(&compression.compress_body(&body)), Ok(body.clone()));
            }
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for compression in [Compression::Lz4, Compression::Snappy] {
                let _ = compression.decompress_body(&bytes);
            }
        }
    }

    #[test]
    fn a_great_length_before_few_bytes_is_refused() {
        assert!(Compression::Lz4.decompress_body(&[0x0f, 0xff, 0xff, 0xff, 0]).is_err());
        assert!(Compression::Snappy.decompress_body(&[0xff, 0xff, 0xff, 0x7f, 0]).is_err());
    }
}
