//! What came in on a connection and is not read yet.

use super::frame::{HEADER_BYTES, Header};
use helenus_cassandra::cql::frame::Malformed;
use std::io::{self, Read};

/// Room for the answers of many requests in one system call.
const ROOM_BYTES: usize = 256 << 10;

#[derive(Debug, Default)]
pub(super) struct Inbox {
    buffer: Vec<u8>,
    /// What is in it: from the first byte that is not read to the last that came.
    start: usize,
    end: usize,
}

/// What became of an attempt to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Received {
    /// Bytes came; `all` when there can't be more at the moment.
    Bytes {
        all: bool,
    },
    Nothing,
    /// The other side has closed.
    End,
}

impl Inbox {
    /// Reads once.
    pub fn receive(&mut self, from: &mut impl Read) -> io::Result<Received> {
        self.make_room();
        let room = &mut self.buffer[self.end..];
        loop {
            match from.read(room) {
                Ok(0) => return Ok(Received::End),
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(Received::Bytes { all: bytes < room.len() });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Received::Nothing),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next whole frame: its header and its message. It is read when this returns it.
    pub fn next(&mut self) -> Result<Option<(Header, &[u8])>, Malformed> {
        let unread = &self.buffer[self.start..self.end];
        let Some(header) = Header::read(unread)? else { return Ok(None) };
        let size = HEADER_BYTES + header.body_bytes;
        if unread.len() < size {
            return Ok(None);
        }
        let body = self.start + HEADER_BYTES..self.start + size;
        self.start += size;
        Ok(Some((header, header.message(&self.buffer[body])?)))
    }

    pub fn clear(&mut self) {
        *self = Inbox::default();
    }

    /// The part of a frame that is there moves to the front when the back is full, and the buffer grows for a frame that
    /// is larger than it, by twice: so that a frame is never announced into memory that its bytes don't fill.
    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() != ROOM_BYTES {
                self.buffer = vec![0; ROOM_BYTES];
            }
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end * 2 > self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame;
    use super::*;
    use helenus_cassandra::cql::frame::opcode;
    use proptest::prelude::*;

    /// Gives its bytes in reads of the given sizes.
    struct Trickle<'a>(&'a [u8], std::iter::Cycle<std::vec::IntoIter<usize>>);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let size = self.1.next().unwrap_or(1).min(into.len()).min(self.0.len());
            into[..size].copy_from_slice(&self.0[..size]);
            self.0 = &self.0[size..];
            Ok(size)
        }
    }

    fn frames(bodies: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (number, length) in bodies.iter().enumerate() {
            let at = bytes.len();
            frame::write(&mut bytes, opcode::RESULT, number as i16, &vec![number as u8; *length]);
            bytes[at] |= 0x80;
        }
        bytes
    }

    fn read_all(bytes: &[u8], reads: Vec<usize>) -> Vec<(i16, usize)> {
        let mut from = Trickle(bytes, reads.into_iter().cycle());
        let mut inbox = Inbox::default();
        let mut seen = Vec::new();
        while inbox.receive(&mut from).unwrap() != Received::End {
            while let Some((header, message)) = inbox.next().unwrap() {
                assert!(message.iter().all(|byte| *byte == header.stream as u8));
                seen.push((header.stream, message.len()));
            }
        }
        seen
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn frames_are_whole_however_the_bytes_come(
            bodies in prop::collection::vec(0usize..3000, 1..40),
            reads in prop::collection::vec(1usize..5000, 1..8),
        ) {
            let expected: Vec<(i16, usize)> =
                bodies.iter().enumerate().map(|(number, length)| (number as i16, *length)).collect();
            prop_assert_eq!(read_all(&frames(&bodies), reads), expected);
        }
    }

    #[test]
    fn a_frame_larger_than_the_room_is_read_too_and_the_room_shrinks_again() {
        let mut inbox = Inbox::default();
        let bytes = frames(&[3 << 20, 5]);
        let mut from = &bytes[..];
        let mut sizes = Vec::new();
        while inbox.receive(&mut from).unwrap() != Received::End {
            while let Some((_, message)) = inbox.next().unwrap() {
                sizes.push(message.len());
            }
        }
        assert_eq!(sizes, [3 << 20, 5]);
        assert_eq!(inbox.buffer.len(), ROOM_BYTES);
    }
}
