//! Bytes received on a connection that are not parsed yet.

use super::frame::{Framing, HEADER_BYTES, Header};
use helenus_cassandra::cql::Segment;
use helenus_cassandra::cql::frame::Malformed;
use std::io::{self, Read};
use std::ops::Range;

/// Space for the answers of many requests in one system call.
const ROOM_BYTES: usize = 256 << 10;

#[derive(Debug)]
pub(super) struct Inbox {
    framing: Framing,
    segmented: bool,
    arrived: Buffer,
    /// The frames unpacked from segments.
    opened: Buffer,
    /// The body that was decompressed last.
    body: Vec<u8>,
}

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Received {
    /// Bytes were read; `all` means that there are no more at the moment.
    Bytes {
        all: bool,
    },
    Nothing,
    /// The other side has closed the connection.
    End,
}

impl Inbox {
    pub fn new(framing: Framing) -> Inbox {
        Inbox { framing, segmented: false, arrived: Buffer::default(), opened: Buffer::default(), body: Vec::new() }
    }

    /// From here on, frames come in segments.
    pub fn begin_segments(&mut self) {
        self.segmented = true;
    }

    /// Reads once from the socket.
    pub fn receive(&mut self, from: &mut impl Read) -> io::Result<Received> {
        let room = self.arrived.room();
        loop {
            match from.read(room) {
                Ok(0) => return Ok(Received::End),
                Ok(bytes) => {
                    let all = bytes < room.len();
                    self.arrived.end += bytes;
                    return Ok(Received::Bytes { all });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Received::Nothing),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next complete frame, as header and message. It is consumed by this call.
    pub fn next(&mut self) -> Result<Option<(Header, &[u8])>, Malformed> {
        let Some((header, body)) = self.next_frame()? else { return Ok(None) };
        let frames = if self.segmented { &self.opened } else { &self.arrived };
        let mut body = &frames.bytes[body];
        if header.is_compressed() {
            let agreed = self.framing.of_bodies().ok_or(Malformed("a compressed frame, which was not agreed on"))?;
            self.body = agreed.decompress_body(body)?;
            body = &self.body;
        }
        Ok(Some((header, header.message(body)?)))
    }

    /// The range of the next frame's body.
    fn next_frame(&mut self) -> Result<Option<(Header, Range<usize>)>, Malformed> {
        loop {
            let frames = if self.segmented { &mut self.opened } else { &mut self.arrived };
            if let Some(header) = Header::read(frames.unread(), self.framing.protocol)? {
                let size = HEADER_BYTES + header.body_bytes;
                if frames.unread().len() >= size {
                    let body = frames.start + HEADER_BYTES..frames.start + size;
                    frames.start += size;
                    return Ok(Some((header, body)));
                }
            }
            if !self.segmented || !self.open_segment()? {
                return Ok(None);
            }
        }
    }

    /// Opens the next segment; returns false if it is incomplete.
    fn open_segment(&mut self) -> Result<bool, Malformed> {
        let packing = self.framing.of_segments().unwrap_or_default();
        let Some(Segment { payload, size, .. }) = packing.open(self.arrived.unread())? else { return Ok(false) };
        self.opened.append(&payload);
        self.arrived.start += size;
        Ok(true)
    }

    #[cfg(test)]
    pub const ROOM_BYTES: usize = ROOM_BYTES;

    /// A buffer of received bytes that are not parsed yet.
    #[cfg(test)]
    pub fn room_bytes(&self) -> usize {
        self.arrived.bytes.len()
    }

    pub fn clear(&mut self) {
        *self = Inbox::new(self.framing);
    }
}

/// Consumes bytes at the front, and adds bytes at the back.
#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// The range of the buffered bytes: from the first unread byte to the last received one.
    start: usize,
    end: usize,
}

impl Buffer {
    fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Makes space at the back: moves an incomplete frame to the front, and doubles the buffer if the frame is larger.
    /// So a frame header never makes more memory be allocated than its bytes fill.
    fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() != ROOM_BYTES {
                self.bytes = vec![0; ROOM_BYTES];
            }
        } else if self.end == self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end * 2 > self.bytes.len() {
                self.bytes.resize(self.bytes.len() * 2, 0);
            }
        }
        &mut self.bytes[self.end..]
    }

    fn append(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room();
            let (now, later) = bytes.split_at(bytes.len().min(room.len()));
            room[..now.len()].copy_from_slice(now);
            self.end += now.len();
            bytes = later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::outbox::Outbox;
    use super::*;
    use crate::access::Protocol;
    use helenus_cassandra::cql::Compression;
    use helenus_cassandra::cql::frame::opcode;
    use proptest::prelude::*;

    const FRAMINGS: [Framing; 5] = [
        Framing { protocol: Protocol::V4, compression: None },
        Framing { protocol: Protocol::V4, compression: Some(Compression::Lz4) },
        Framing { protocol: Protocol::V4, compression: Some(Compression::Snappy) },
        Framing { protocol: Protocol::V5, compression: None },
        Framing { protocol: Protocol::V5, compression: Some(Compression::Lz4) },
    ];

    /// A reader whose reads return the given sizes.
    struct Trickle<'a>(&'a [u8], std::iter::Cycle<std::vec::IntoIter<usize>>);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let size = self.1.next().unwrap_or(1).min(into.len()).min(self.0.len());
            into[..size].copy_from_slice(&self.0[..size]);
            self.0 = &self.0[size..];
            Ok(size)
        }
    }

    /// Answers as a node would send them: frames that the outbox writes, with the bit that marks an answer.
    fn answers(bodies: &[usize], framing: Framing) -> Vec<u8> {
        let mut frames = Vec::new();
        let whole = Framing { compression: framing.of_bodies(), protocol: framing.protocol };
        for (number, length) in bodies.iter().enumerate() {
            let at = frames.len();
            let mut outbox = Outbox::new(whole);
            outbox.frame(opcode::RESULT, number as i16, &vec![number as u8; *length]);
            outbox.write(&mut frames).unwrap();
            frames[at] |= 0x80;
        }
        match framing.of_segments() {
            None => frames,
            Some(packing) => {
                let mut segments = Vec::new();
                packing.seal(&frames, &mut segments);
                segments
            }
        }
    }

    fn read_all(bytes: &[u8], framing: Framing, reads: Vec<usize>) -> Vec<(i16, usize)> {
        let mut from = Trickle(bytes, reads.into_iter().cycle());
        let mut inbox = Inbox::new(framing);
        if framing.protocol == Protocol::V5 {
            inbox.begin_segments();
        }
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
            for framing in FRAMINGS {
                prop_assert_eq!(&read_all(&answers(&bodies, framing), framing, reads.clone()), &expected);
            }
        }
    }

    #[test]
    fn a_frame_larger_than_the_room_is_read_too_and_the_room_shrinks_again() {
        let mut inbox = Inbox::new(Framing::default());
        let bytes = answers(&[3 << 20, 5], Framing::default());
        let mut from = &bytes[..];
        let mut sizes = Vec::new();
        while inbox.receive(&mut from).unwrap() != Received::End {
            while let Some((_, message)) = inbox.next().unwrap() {
                sizes.push(message.len());
            }
        }
        assert_eq!(sizes, [3 << 20, 5]);
        assert_eq!(inbox.arrived.bytes.len(), ROOM_BYTES);
    }
}
