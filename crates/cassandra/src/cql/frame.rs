//! Frames of the CQL native protocol, version 4 (`doc/native_protocol_v4.spec` in Cassandra's
//! repository). All integers are big-endian.

use std::io::{self, Read, Write};

/// Version 4, from a client and from a server.
const REQUEST: u8 = 0x04;
const RESPONSE: u8 = 0x84;
/// Bytes of a frame's header, of versions 3 to 5.
pub const HEADER: usize = 9;
/// The largest response, if not limited further; a larger length means that the server speaks another protocol.
pub(super) const LARGEST: usize = 64 << 20;

pub mod opcode {
    pub const ERROR: u8 = 0x00;
    pub const STARTUP: u8 = 0x01;
    pub const READY: u8 = 0x02;
    pub const AUTHENTICATE: u8 = 0x03;
    pub const OPTIONS: u8 = 0x05;
    pub const SUPPORTED: u8 = 0x06;
    pub const QUERY: u8 = 0x07;
    pub const RESULT: u8 = 0x08;
    pub const PREPARE: u8 = 0x09;
    pub const EXECUTE: u8 = 0x0A;
    pub const REGISTER: u8 = 0x0B;
    pub const EVENT: u8 = 0x0C;
    pub const BATCH: u8 = 0x0D;
    pub const AUTH_CHALLENGE: u8 = 0x0E;
    pub const AUTH_RESPONSE: u8 = 0x0F;
    pub const AUTH_SUCCESS: u8 = 0x10;
}

/// The bytes violate the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

#[derive(Debug)]
pub(super) enum FrameError {
    Io(io::Error),
    Malformed(Malformed),
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

pub(super) fn write(to: &mut impl Write, opcode: u8, body: &[u8]) -> io::Result<()> {
    let mut frame = Vec::with_capacity(HEADER + body.len());
    frame.extend([REQUEST, 0, 0, 0, opcode]);
    frame.extend((body.len() as u32).to_be_bytes());
    frame.extend(body);
    to.write_all(&frame)
}

#[derive(Debug)]
pub(super) struct Frame {
    pub(super) opcode: u8,
    body: Vec<u8>,
    start: usize,
}

impl Frame {
    pub(super) fn reader(&self) -> BodyReader<'_> {
        BodyReader::new(&self.body[self.start..])
    }
}

/// Reads a response of at most so many bytes.
pub(super) fn read(from: &mut impl Read, largest: usize) -> Result<Frame, FrameError> {
    let mut header = [0; HEADER];
    from.read_exact(&mut header)?;
    let [version, flags, _, _, opcode, length @ ..] = header;
    // A server that does not support version 4 answers in its own version with an error.
    if version & 0x80 == 0 || (version != RESPONSE && opcode != opcode::ERROR) || version & 0x7F > 6 {
        return Err(FrameError::Malformed(Malformed("the answer is no CQL frame")));
    }
    let length = u32::from_be_bytes(length) as usize;
    if length > largest {
        return Err(FrameError::Malformed(Malformed(match largest {
            LARGEST => "it announces a frame of more than 64 MiB",
            _ => "it announces a larger frame than is read here",
        })));
    }
    // The buffer grows as bytes come in, because a length alone must not reserve memory.
    let mut body = Vec::new();
    from.take(length as u64).read_to_end(&mut body)?;
    if body.len() < length {
        return Err(FrameError::Io(io::ErrorKind::UnexpectedEof.into()));
    }
    let start = skip_extras(&body, flags).map_err(FrameError::Malformed)?;
    Ok(Frame { opcode, body, start })
}

/// Length of the tracing id, custom payload and warnings before the body, by the flags of the frame.
///
/// # Errors
/// [`Malformed`] when the body ends within them.
pub fn skip_extras(body: &[u8], flags: u8) -> Result<usize, Malformed> {
    let mut reader = BodyReader::new(body);
    if flags & 0x02 != 0 {
        reader.take(16)?;
    }
    if flags & 0x08 != 0 {
        reader.string_list()?;
    }
    if flags & 0x04 != 0 {
        for _ in 0..reader.short()? {
            reader.string()?;
            reader.bytes()?;
        }
    }
    Ok(body.len() - reader.left.len())
}

/// Decodes the protocol's basic types from the front of a body.
#[derive(Debug)]
pub struct BodyReader<'a> {
    left: &'a [u8],
}

#[allow(clippy::missing_errors_doc)] // Each fails with what is malformed, and nothing else.
impl<'a> BodyReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    /// The bytes that are left.
    pub fn rest(&self) -> &'a [u8] {
        self.left
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, left) = self.left.split_at_checked(count).ok_or(Malformed("the frame ends early"))?;
        self.left = left;
        Ok(taken)
    }

    pub fn short(&mut self) -> Result<u16, Malformed> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub fn int(&mut self) -> Result<i32, Malformed> {
        let bytes = self.take(4)?;
        Ok(i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// `[short bytes]`.
    pub fn short_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.short()?.into();
        self.take(length)
    }

    /// A `[string]`, borrowed from the frame.
    pub fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.short_bytes()?).map_err(|_| Malformed("a string is not UTF-8"))
    }

    pub fn string(&mut self) -> Result<String, Malformed> {
        self.text().map(str::to_owned)
    }

    pub fn string_list(&mut self) -> Result<Vec<String>, Malformed> {
        (0..self.short()?).map(|_| self.string()).collect()
    }

    /// `[bytes]`: a negative length is null.
    pub fn bytes(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        match usize::try_from(self.int()?) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Ok(None),
        }
    }
}

pub(super) fn put_string(to: &mut Vec<u8>, text: &str) {
    to.extend((text.len() as u16).to_be_bytes());
    to.extend(text.as_bytes());
}

pub(super) fn put_long_string(to: &mut Vec<u8>, text: &str) {
    to.extend((text.len() as u32).to_be_bytes());
    to.extend(text.as_bytes());
}
