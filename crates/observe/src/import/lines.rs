//! Lines of a file that nobody vouches for.

use std::io::{self, BufRead};

/// A longer line is no stack: the deepest that profilers write are some hundred kilobytes.
pub(super) const LONGEST: u64 = 4 << 20;

/// What came of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its end.
    Whole(String),
    /// The file ends within it, or just before its end.
    Last(String),
    /// Longer than any stack.
    TooLong,
}

/// Reads line by line, whatever the bytes.
pub(super) struct Lines<R> {
    from: R,
    pub(super) number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(from: R) -> Lines<R> {
        Lines { from, number: 0 }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        if io::Read::take(&mut self.from, LONGEST).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        if bytes.last() != Some(&b'\n') {
            let too_long = bytes.len() as u64 == LONGEST;
            if too_long {
                self.from.skip_until(b'\n')?;
                return Ok(Some(Line::TooLong));
            }
            return Ok(Some(Line::Last(text(&bytes))));
        }
        Ok(Some(Line::Whole(text(&bytes))))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches(['\n', '\r']).to_string()
}
