//! Unpacks what was compressed with gzip, and converts UTF-16 to UTF-8.

use flate2::read::MultiGzDecoder;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

/// The first bytes of a file of gzip.
pub(super) const GZIP: &[u8] = &[0x1f, 0x8b];
/// The marks of the byte order at the beginning of UTF-16.
const LITTLE_ENDIAN: &[u8] = &[0xff, 0xfe];
const BIG_ENDIAN: &[u8] = &[0xfe, 0xff];
/// The number of bytes that are converted at a time.
const STEP: usize = 8 << 10;

/// An unpacked file.
pub(super) struct Unpacked<'a> {
    pub(super) from: Box<dyn BufRead + 'a>,
    is_broken: Rc<Cell<bool>>,
}

impl<'a> Unpacked<'a> {
    pub(super) fn of(from: impl BufRead + 'a) -> io::Result<Unpacked<'a>> {
        let is_broken = Rc::new(Cell::new(false));
        let (head, from) = begin(from)?;
        let (head, from): (Vec<u8>, Box<dyn BufRead + 'a>) = if head.starts_with(GZIP) {
            let packed = MultiGzDecoder::new(Cursor::new(head).chain(from));
            let plain = BufReader::new(UntilBroken { from: packed, is_broken: Rc::clone(&is_broken) });
            begin(Box::new(plain) as Box<dyn BufRead + 'a>)?
        } else {
            (head, Box::new(from))
        };
        let is_utf16 = head.starts_with(LITTLE_ENDIAN) || head.starts_with(BIG_ENDIAN);
        let unit = if head.starts_with(BIG_ENDIAN) { u16::from_be_bytes } else { u16::from_le_bytes };
        let whole = Cursor::new(head).chain(from);
        let from: Box<dyn BufRead + 'a> = match is_utf16 {
            true => Box::new(BufReader::new(Utf16 { from: whole, unit, left: Vec::new(), text: Cursor::default() })),
            false => Box::new(whole),
        };
        Ok(Unpacked { from, is_broken })
    }

    /// Whether the compressed file ended early, or could not be unpacked any further.
    pub(super) fn broken(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.is_broken)
    }
}

/// The first two bytes of a file, and the rest.
fn begin<R: Read>(mut from: R) -> io::Result<(Vec<u8>, R)> {
    let mut head = Vec::new();
    from.by_ref().take(2).read_to_end(&mut head)?;
    Ok((head, from))
}

/// Ends where the data can't be unpacked any further, so that what is before it is read.
struct UntilBroken<R> {
    from: R,
    is_broken: Rc<Cell<bool>>,
}

impl<R: Read> Read for UntilBroken<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_broken.get() {
            return Ok(0);
        }
        match self.from.read(into) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.is_broken.set(true);
                Ok(0)
            }
            other => other,
        }
    }
}

struct Utf16<R> {
    from: R,
    unit: fn([u8; 2]) -> u16,
    /// Bytes of an incomplete character.
    left: Vec<u8>,
    text: Cursor<Vec<u8>>,
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.text.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            let before = self.left.len();
            self.from.by_ref().take(STEP as u64).read_to_end(&mut self.left)?;
            let is_end = self.left.len() - before < STEP;
            let pairs = self.left.chunks_exact(2).filter_map(|pair| pair.first_chunk());
            let mut units: Vec<u16> = pairs.map(|pair| (self.unit)(*pair)).collect();
            // The second half of a character may be in the bytes that follow.
            units.pop_if(|last| !is_end && (0xd800..0xdc00).contains(last));
            if units.is_empty() {
                return Ok(0);
            }
            let characters = char::decode_utf16(units.iter().copied());
            let text: String = characters.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            self.left.drain(..2 * units.len());
            self.text = Cursor::new(text.into_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn unpacked(bytes: &[u8]) -> (Vec<u8>, bool) {
        let mut unpacked = Unpacked::of(bytes).unwrap();
        let mut text = Vec::new();
        unpacked.from.read_to_end(&mut text).unwrap();
        (text, unpacked.broken().get())
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn parts_of_gzip_that_follow_each_other_are_one_file() {
        assert_eq!(unpacked(&[gzip(b"one "), gzip(b"two")].concat()), (b"one two".to_vec(), false));
        let packed = gzip(&b"a line of text\n".repeat(1000));
        let (text, is_broken) = unpacked(&packed[..packed.len() - 12]);
        assert!(is_broken && text.len() <= 15_000 && b"a line of text\n".repeat(1000).starts_with(&text));
        assert_eq!(unpacked(b""), (Vec::new(), false));
        assert_eq!(unpacked(b"x"), (b"x".to_vec(), false));
    }

    proptest! {
        #[test]
        fn text_is_the_same_in_utf16(text in "\\PC{0,200}", repeat in 1usize..200, big: bool, packed: bool) {
            let text = text.repeat(repeat);
            let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
            let bytes: Vec<u8> =
                units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect();
            let bytes = if packed { gzip(&bytes) } else { bytes };
            let expected = format!("\u{feff}{text}").into_bytes();
            prop_assert_eq!(unpacked(&bytes), (expected, false));
        }

        #[test]
        fn no_bytes_can_make_it_panic(bytes: Vec<u8>, head in 0usize..4) {
            let heads: [&[u8]; 4] = [GZIP, LITTLE_ENDIAN, BIG_ENDIAN, &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]];
            unpacked(&[heads[head], &bytes].concat());
        }
    }
}
