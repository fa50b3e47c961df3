//! Segments, in which version 5 of the native protocol carries its frames after the handshake: whole frames together in
//! one that is self-contained, or one large frame in several. Each has a checksum of its header and one of its payload.
//!
//! Source: Apache Cassandra, doc/native_protocol_v5.spec, section 2.

use super::compression::{compress_lz4, decompress_lz4};
use super::frame::{HEADER, Malformed};
use std::borrow::Cow;

/// The most that the payload of a segment may have: 17 bits.
pub const LARGEST_PAYLOAD: usize = (1 << 17) - 1;
/// Bytes of the checksums of header and payload.
const HEADER_CHECKSUM: usize = 3;
const CHECKSUM: usize = 4;

/// How segments are packed: as they are, or in LZ4, which is the only compression that version 5 knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Packing {
    #[default]
    Plain,
    Lz4,
}

/// A segment's payload, and its size on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment<'a> {
    pub payload: Cow<'a, [u8]>,
    pub size: usize,
    /// Whether it holds whole frames instead of a part of one frame.
    pub is_self_contained: bool,
}

impl Packing {
    /// Bytes of the header without its checksum.
    fn header(self) -> usize {
        match self {
            Packing::Plain => 3,
            Packing::Lz4 => 5,
        }
    }

    /// The bit of the header that says whether a segment is self-contained.
    fn flag(self) -> u32 {
        match self {
            Packing::Plain => 17,
            Packing::Lz4 => 34,
        }
    }

    /// Whether the bytes begin with a segment, as far as its header says.
    #[must_use]
    pub fn begins(self, bytes: &[u8]) -> bool {
        let header = bytes.get(..self.header() + HEADER_CHECKSUM);
        header.is_some_and(|header| {
            let (header, checksum) = header.split_at(self.header());
            crc24(header).to_le_bytes()[..HEADER_CHECKSUM] == *checksum
        })
    }

    /// Packs complete frames into segments, as many in each as fit.
    pub fn seal(self, mut frames: &[u8], out: &mut Vec<u8>) {
        while !frames.is_empty() {
            let together = fitting(frames);
            if together > 0 {
                self.seal_one(&frames[..together], true, out);
                frames = &frames[together..];
            } else {
                let size = frame_size(frames).map_or(frames.len(), |size| size.min(frames.len()));
                let (large, rest) = frames.split_at(size);
                large.chunks(LARGEST_PAYLOAD).for_each(|chunk| self.seal_one(chunk, false, out));
                frames = rest;
            }
        }
    }

    fn seal_one(self, payload: &[u8], is_self_contained: bool, out: &mut Vec<u8>) {
        let flag = u64::from(is_self_contained) << self.flag();
        let (header, packed) = match self {
            Packing::Plain => (payload.len() as u64 | flag, Cow::Borrowed(payload)),
            Packing::Lz4 => {
                let packed = compress_lz4(payload);
                let is_smaller = matches!(packed, Cow::Owned(_));
                let length = if is_smaller { payload.len() as u64 } else { 0 };
                (packed.len() as u64 | length << 17 | flag, packed)
            }
        };
        let header = &header.to_le_bytes()[..self.header()];
        out.extend_from_slice(header);
        out.extend_from_slice(&crc24(header).to_le_bytes()[..HEADER_CHECKSUM]);
        out.extend_from_slice(&packed);
        out.extend_from_slice(&crc32(&packed).to_le_bytes());
    }

    /// Opens the segment at the start of the bytes; None if it is incomplete.
    ///
    /// # Errors [`Malformed`] if a checksum is wrong, or if the payload can't be decompressed.
    pub fn open(self, bytes: &[u8]) -> Result<Option<Segment<'_>>, Malformed> {
        let start = self.header() + HEADER_CHECKSUM;
        let Some((header, rest)) = bytes.split_at_checked(start) else { return Ok(None) };
        let header = &header[..self.header()];
        if !self.begins(bytes) {
            return Err(Malformed("the checksum of a segment's header is wrong"));
        }
        let bits = header.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        let is_self_contained = bits >> self.flag() & 1 == 1;
        let packed_length = (bits & LARGEST_PAYLOAD as u64) as usize;
        let size = start + packed_length + CHECKSUM;
        let Some((packed, checksum)) = rest.get(..packed_length + CHECKSUM).map(|rest| rest.split_at(packed_length))
        else {
            return Ok(None);
        };
        if crc32(packed).to_le_bytes() != *checksum {
            return Err(Malformed("the checksum of a segment's payload is wrong"));
        }
        let payload = match (self, (bits >> 17 & LARGEST_PAYLOAD as u64) as usize) {
            (Packing::Plain, _) | (Packing::Lz4, 0) => Cow::Borrowed(packed),
            (Packing::Lz4, length) => Cow::Owned(decompress_lz4(packed, length)?),
        };
        Ok(Some(Segment { payload, size, is_self_contained }))
    }
}

/// Bytes of the whole frames at the start that fit into one segment.
fn fitting(frames: &[u8]) -> usize {
    let mut together = 0;
    while let Some(size) = frame_size(&frames[together..]) {
        if together + size > LARGEST_PAYLOAD.min(frames.len()) {
            break;
        }
        together += size;
    }
    together
}

/// The size of the frame at the start; None if there is none.
fn frame_size(frames: &[u8]) -> Option<usize> {
    let (_, length) = frames.get(..HEADER)?.split_last_chunk()?;
    Some(HEADER + u32::from_be_bytes(*length) as usize)
}

const fn crc24_table() -> [u32; 256] {
    const POLYNOMIAL: u32 = 0x0197_4F0B;
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u32) << 16;
        let mut bit = 0;
        while bit < 8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= POLYNOMIAL;
            }
            bit += 1;
        }
        table[byte] = crc & 0x00FF_FFFF;
        byte += 1;
    }
    table
}

fn crc24(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = crc24_table();
    const START: u32 = 0x0087_5060;
    let step = |crc: u32, byte: &u8| (crc << 8 & 0x00FF_FFFF) ^ TABLE[((crc >> 16) as u8 ^ byte) as usize];
    bytes.iter().fold(START, step)
}

fn crc32(bytes: &[u8]) -> u32 {
    const BEFORE: [u8; 4] = [0xFA, 0x2D, 0x55, 0xCA];
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&BEFORE);
    hasher.update(bytes);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PACKINGS: [Packing; 2] = [Packing::Plain, Packing::Lz4];

    fn frames(bodies: &[usize]) -> Vec<u8> {
        let mut frames = Vec::new();
        for (number, length) in bodies.iter().enumerate() {
            frames.extend([5, 0, 0, number as u8, 8]);
            frames.extend((*length as u32).to_be_bytes());
            frames.extend((0..*length).map(|place| (place / 7 % 256) as u8));
        }
        frames
    }

    fn open_all(packing: Packing, mut bytes: &[u8]) -> Result<(Vec<u8>, usize), Malformed> {
        let (mut payloads, mut segments) = (Vec::new(), 0);
        while let Some(Segment { payload, size, .. }) = packing.open(bytes)? {
            payloads.extend_from_slice(&payload);
            bytes = &bytes[size..];
            segments += 1;
        }
        Ok((payloads, segments))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_sealed_is_opened(bodies in prop::collection::vec(0usize..50_000, 0..12)) {
            for packing in PACKINGS {
                let (frames, mut out) = (frames(&bodies), Vec::new());
                packing.seal(&frames, &mut out);
                prop_assert_eq!(open_all(packing, &out).unwrap().0, frames);
            }
        }

        #[test]
        fn a_bit_that_flips_is_seen(at in 0usize..2_000, bit in 0u8..8) {
            for packing in PACKINGS {
                let (frames, mut out) = (frames(&[900, 900]), Vec::new());
                packing.seal(&frames, &mut out);
                let at = at % out.len();
                out[at] ^= 1 << bit;
                prop_assert!(packing.open(&out).is_err(), "byte {at} of {}", out.len());
            }
        }

        #[test]
        fn any_bytes_are_refused_or_wanted_more_of(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for packing in PACKINGS {
                let _ = packing.open(&bytes);
            }
        }
    }

    #[test]
    fn small_frames_go_together_and_a_large_one_goes_in_several() {
        for packing in PACKINGS {
            let sealed = |bodies: &[usize]| {
                let mut out = Vec::new();
                packing.seal(&frames(bodies), &mut out);
                open_all(packing, &out).unwrap().1
            };
            assert_eq!(sealed(&[100; 50]), 1);
            assert_eq!(sealed(&[LARGEST_PAYLOAD - HEADER]), 1);
            assert_eq!(sealed(&[LARGEST_PAYLOAD - HEADER + 1]), 2);
            assert_eq!(sealed(&[10, 300_000, 10]), 5);
        }
    }

    /// Header and checksum of an empty, self-contained segment, as the specification's text computes them.
    #[test]
    fn the_checksum_of_a_header_is_that_of_the_specification() {
        let bitwise = |bytes: &[u8]| {
            bytes.iter().fold(0x0087_5060u32, |mut crc, byte| {
                crc ^= u32::from(*byte) << 16;
                for _ in 0..8 {
                    crc <<= 1;
                    if crc & 0x0100_0000 != 0 {
                        crc ^= 0x0197_4F0B;
                    }
                }
                crc
            })
        };
        for bytes in [&[0u8, 0, 2][..], &[0x34, 0x12, 1], &[1, 2, 3, 4, 5]] {
            assert_eq!(crc24(bytes), bitwise(bytes));
        }
    }
}
