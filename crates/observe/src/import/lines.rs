//! Reads lines of an untrusted file.

use std::io::{self, BufRead};

/// The longest stack line in bytes; the deepest stacks that profilers write take some hundred kilobytes.
pub(super) const LONGEST: u64 = 4 << 20;

/// The longest other line, and the most text before the first sample; no profiler writes more.
const MOST_SKIPPED: u64 = 64 << 20;

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A complete line, without its newline.
    Whole(String),
    /// The last line of the file, which has no newline or is cut off.
    Last(String),
    /// A line longer than any stack.
    TooLong,
    /// Reading stops here, with the reason: the file may be endless.
    GivenUp(&'static str),
}

/// Reads the file line by line, whatever bytes it holds.
pub(super) struct Lines<R> {
    from: R,
    pub(super) number: u64,
    bytes: u64,
    /// Whether any of the lines was a sample.
    pub(super) has_sample: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(from: R) -> Lines<R> {
        Lines { from, number: 0, bytes: 0, has_sample: false }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        if !self.has_sample && self.bytes > MOST_SKIPPED {
            return Ok(Some(Line::GivenUp("the first 64 MiB have no sample")));
        }
        let read = io::Read::take(&mut self.from, LONGEST).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(None);
        }
        self.bytes += read as u64;
        self.number += 1;
        if self.number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        if bytes.last() != Some(&b'\n') {
            let too_long = bytes.len() as u64 == LONGEST;
            if too_long {
                let skipped = io::Read::take(&mut self.from, MOST_SKIPPED).skip_until(b'\n')?;
                self.bytes += skipped as u64;
                let is_endless = skipped as u64 == MOST_SKIPPED;
                return Ok(Some(if is_endless { Line::GivenUp("it is longer than 64 MiB") } else { Line::TooLong }));
            }
            return Ok(Some(Line::Last(text(&bytes))));
        }
        Ok(Some(Line::Whole(text(&bytes))))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches(['\n', '\r']).to_string()
}
