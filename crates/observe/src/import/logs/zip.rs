//! Files in a zip file, as logback rolls logs into and as bundles are packed: plain or deflated, without encryption or Zip64.
//!
//! Source: PKWARE, APPNOTE.TXT, 4.3 (local headers, central directory, end of the central directory).

use flate2::bufread::DeflateDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// The length of the end of the central directory without its comment, and the longest comment.
const END: usize = 22;
const LONGEST_COMMENT: u64 = 0xffff;
/// The most bytes of a central directory that are read; each entry has some 60.
const LARGEST: u64 = 16 << 20;
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const CENTRAL_END: u32 = 0x0605_4b50;

/// A file in a zip file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    method: u16,
    packed_bytes: u32,
    /// The offset of its local header.
    at: u32,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|two| u16::from_le_bytes(*two))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}

/// The files in a zip file, at most `most`; None for other files.
pub(super) fn entries(file: &mut File, most: usize) -> io::Result<Option<Vec<Entry>>> {
    let size = file.seek(SeekFrom::End(0))?;
    let mut start = [0; 4];
    file.rewind()?;
    if size < END as u64 || file.read_exact(&mut start).is_err() || u32::from_le_bytes(start) != LOCAL {
        return Ok(None);
    }
    let tail = read_at(file, size.saturating_sub(LONGEST_COMMENT + END as u64), LONGEST_COMMENT + END as u64)?;
    let is_end = |at: &usize| u32_at(&tail, *at) == Some(CENTRAL_END);
    let Some(end) = (0..=tail.len().saturating_sub(END)).rev().find(is_end) else { return Ok(None) };
    let (length, at) = (u32_at(&tail, end + 12).unwrap_or_default(), u32_at(&tail, end + 16).unwrap_or_default());
    let directory = read_at(file, at.into(), u64::from(length).min(LARGEST))?;
    Ok(Some(listed(&directory, most)))
}

fn listed(mut directory: &[u8], most: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    while entries.len() < most && u32_at(directory, 0) == Some(CENTRAL) {
        let number = |at: usize| u16_at(directory, at).map(usize::from);
        let (Some(name), Some(extra), Some(comment)) = (number(28), number(30), number(32)) else { break };
        let (Some(method), Some(packed_bytes), Some(at)) =
            (u16_at(directory, 10), u32_at(directory, 20), u32_at(directory, 42))
        else {
            break;
        };
        let Some(text) = directory.get(46..46 + name) else { break };
        let name_text = String::from_utf8_lossy(text).into_owned();
        if !name_text.ends_with('/') {
            entries.push(Entry { name: name_text, method, packed_bytes, at });
        }
        directory = directory.get(46 + name + extra + comment..).unwrap_or_default();
    }
    entries
}

/// The unpacked bytes of an entry.
pub(super) fn open(mut file: File, entry: &Entry) -> io::Result<Box<dyn BufRead>> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the zip file is damaged");
    let header = read_at(&mut file, entry.at.into(), 30)?;
    if u32_at(&header, 0) != Some(LOCAL) {
        return Err(damaged());
    }
    let (name, extra) = (u16_at(&header, 26).ok_or_else(damaged)?, u16_at(&header, 28).ok_or_else(damaged)?);
    file.seek(SeekFrom::Start(u64::from(entry.at) + 30 + u64::from(name) + u64::from(extra)))?;
    let packed = BufReader::new(file.take(entry.packed_bytes.into()));
    match entry.method {
        0 => Ok(Box::new(packed)),
        8 => Ok(Box::new(BufReader::new(DeflateDecoder::new(packed)))),
        _ => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "it is compressed in another way than deflate; unpack it first",
        )),
    }
}

fn read_at(file: &mut File, at: u64, most: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    /// Written by Python's zipfile: `a.log` (deflated) and `d/b.log` (plain).
    const MADE: &[u8] = include_bytes!("made.zip");

    fn files(bytes: &[u8]) -> io::Result<Vec<(String, String)>> {
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        let entries = entries(&mut file, 100)?.unwrap_or_default();
        let read = |entry: Entry| {
            let mut text = Vec::new();
            open(file.try_clone()?, &entry)?.take(1 << 20).read_to_end(&mut text)?;
            Ok((entry.name, String::from_utf8_lossy(&text).into_owned()))
        };
        entries.into_iter().map(read).collect()
    }

    #[test]
    fn files_are_unpacked() {
        let read = files(MADE).unwrap();
        assert_eq!(
            read,
            [("a.log".to_string(), "a line\n".repeat(100)), ("d/b.log".to_string(), "another\n".to_string())]
        );
        assert_eq!(files(b"PK").unwrap(), []);
        assert_eq!(files(&MADE[..MADE.len() - 30]).unwrap(), []);
    }

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
            let mut bytes = MADE.to_vec();
            for (at, value) in flips {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            let _ = files(&bytes);
        }
    }
}
