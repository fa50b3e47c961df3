//! Bytes to be sent on a connection.

use super::frame::{self, COMPRESSED, Execute, Framing, HEADER_BYTES};
use helenus_cassandra::cql::frame::opcode;
use std::io::{self, Write};

#[derive(Debug)]
pub(super) struct Outbox {
    framing: Framing,
    segmented: bool,
    /// Frames that are not in a segment yet, if frames travel in segments.
    frames: Vec<u8>,
    bytes: Vec<u8>,
    /// The number of `bytes` that are already written.
    written: usize,
}

impl Outbox {
    pub fn new(framing: Framing) -> Outbox {
        Outbox { framing, segmented: false, frames: Vec::new(), bytes: Vec::new(), written: 0 }
    }

    /// From here on, frames travel in segments.
    pub fn begin_segments(&mut self) {
        self.segmented = true;
    }

    pub fn pending_bytes(&self) -> usize {
        self.frames.len() + self.bytes.len() - self.written
    }

    pub fn clear(&mut self) {
        self.frames.clear();
        self.bytes.clear();
        (self.written, self.segmented) = (0, false);
    }

    /// Adds a frame, and returns its size.
    pub fn frame(&mut self, opcode: u8, stream: i16, body: &[u8]) -> usize {
        self.put(opcode, stream, [body])
    }

    pub fn execute(&mut self, stream: i16, execute: &Execute, values: &[u8]) -> usize {
        self.put(opcode::EXECUTE, stream, [&execute.head, values, &execute.tail])
    }

    fn put<const N: usize>(&mut self, opcode: u8, stream: i16, body: [&[u8]; N]) -> usize {
        let to = if self.segmented { &mut self.frames } else { &mut self.bytes };
        let at = to.len();
        to.extend_from_slice(&frame::header(self.framing.protocol, opcode, stream));
        body.iter().for_each(|part| to.extend_from_slice(part));
        // Compression is negotiated in STARTUP, and applies after it.
        if let Some(compression) = self.framing.of_bodies()
            && opcode != opcode::STARTUP
        {
            let body = compression.compress_body(&to[at + HEADER_BYTES..]);
            to.truncate(at + HEADER_BYTES);
            to.extend_from_slice(&body);
            to[at + 1] |= COMPRESSED;
        }
        let size = to.len() - at;
        // The frame fits: its values are at most 128 MiB each.
        let body_bytes = (size - HEADER_BYTES) as u32;
        to[at + 5..at + HEADER_BYTES].copy_from_slice(&body_bytes.to_be_bytes());
        size
    }

    /// Writes as much as `to` accepts. The rest is written when `to` is writable again.
    pub fn write(&mut self, to: &mut impl Write) -> io::Result<()> {
        if let Some(packing) = self.framing.of_segments() {
            packing.seal(&self.frames, &mut self.bytes);
            self.frames.clear();
        }
        let written = loop {
            if self.written == self.bytes.len() {
                self.bytes.clear();
                self.written = 0;
                break to.flush();
            }
            match to.write(&self.bytes[self.written..]) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            written => written,
        }
    }
}
