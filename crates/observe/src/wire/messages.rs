//! The protocol's messages in one direction of a connection: parses ordered bytes into messages with times.
//!
//! ```text
//! bytes ─▶ frames                                (versions 3 and 4, and the handshake)
//!       ─▶ segments ─▶ frames                    (version 5, once both sides have shaken hands)
//!       ─▶ TLS: nothing can be read
//! ```
//!
//! If the start of a connection was not seen, or packets were lost, the reader searches for the next place that can
//! only be the start of a message.

use super::packet::Side;
use super::statements::READ;
use helenus_cassandra::cql::Packing;
use helenus_cassandra::cql::frame::{HEADER, opcode};

/// The longest message that a node takes by default is 16 MiB; answers may be longer.
const LARGEST: u32 = 512 << 20;
/// The most bytes kept of a message: enough for the readable part of a statement, and for the fields after a shorter
/// one.
const TEXT: usize = READ + (4 << 10);
/// The most bytes kept of a batch, whose consistency level comes after all statements.
const BATCH: usize = 64 << 10;
/// The most bytes kept of a compressed message; a part of such a message can't be decompressed.
const COMPRESSED: usize = 4 << 20;

const FLAG_COMPRESSED: u8 = 0x01;
const FLAG_TRACING: u8 = 0x02;
const FLAG_WARNINGS: u8 = 0x08;
/// Flags for a custom payload and warnings, which come before the body.
const FLAGS_BEFORE: u8 = 0x0C;

/// A message with the kept part of its body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message<'a> {
    pub(super) version: u8,
    pub(super) flags: u8,
    pub(super) stream: i16,
    pub(super) opcode: u8,
    /// Header and body as on the wire, without the framing of segments.
    pub(super) size: u64,
    /// The times at which the first and the last byte passed.
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
    /// Whether something between this message and the one before could not be read.
    pub(super) is_after_break: bool,
    /// Whether the message came in LZ4 segments.
    is_in_lz4: bool,
    pub(super) body: &'a [u8],
}

impl Message<'_> {
    /// Whether its body has to be decompressed before it is read.
    pub(super) fn is_packed(&self) -> bool {
        self.version < 5 && self.flags & FLAG_COMPRESSED != 0
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.is_in_lz4 || self.is_packed()
    }

    pub(super) fn is_traced(&self) -> bool {
        self.flags & FLAG_TRACING != 0
    }

    pub(super) fn is_warned(&self) -> bool {
        self.flags & FLAG_WARNINGS != 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// The next byte is the first byte of the connection.
    Begin,
    /// The position within a message is unknown.
    Lost,
    Frames,
    Segments(Packing),
    Tls,
}

/// The state of the reader of one direction.
#[derive(Debug)]
pub(super) struct Messages {
    side: Side,
    framing: Framing,
    frame: Frame,
    /// The bytes of an incomplete segment, and the time of its first byte.
    segment: Vec<u8>,
    segment_first_ns: i64,
    /// Frames unpacked from segments, and the offset up to which they have been parsed.
    opened: Vec<u8>,
    opened_read: usize,
    /// Whether something could not be read since the last message.
    pub(super) is_broken: bool,
    /// How many times the reader lost the message boundaries.
    pub(super) breaks: u64,
    pub(super) tls_bytes: u64,
}

/// The frame that is being read.
#[derive(Debug, Default)]
struct Frame {
    header: Vec<u8>,
    /// Bytes of the body that have not been read yet.
    left: u64,
    keep: usize,
    body: Vec<u8>,
    first_ns: i64,
}

impl Messages {
    /// A direction whose first byte comes next.
    pub(super) fn begun(side: Side) -> Messages {
        Messages {
            side,
            framing: Framing::Begin,
            frame: Frame::default(),
            segment: Vec::new(),
            segment_first_ns: 0,
            opened: Vec::new(),
            opened_read: 0,
            is_broken: false,
            breaks: 0,
            tls_bytes: 0,
        }
    }

    /// A reader for one direction of a connection that was open before the recording.
    pub(super) fn under_way(side: Side) -> Messages {
        Messages { framing: Framing::Lost, ..Messages::begun(side) }
    }

    /// From the next byte on there are segments.
    pub(super) fn upgrade(&mut self, packing: Packing) {
        if matches!(self.framing, Framing::Frames | Framing::Begin) {
            self.framing = Framing::Segments(packing);
        }
    }

    /// Notes that bytes before the next ones were not captured.
    pub(super) fn gap(&mut self) {
        if self.framing != Framing::Tls {
            self.lose();
        }
    }

    fn lose(&mut self) {
        self.breaks += 1;
        self.forget();
    }

    fn forget(&mut self) {
        self.is_broken = true;
        self.framing = Framing::Lost;
        self.frame = Frame::default();
        self.segment.clear();
        self.opened.clear();
        self.opened_read = 0;
    }

    /// The bytes in memory.
    pub(super) fn held(&self) -> usize {
        self.segment.capacity() + self.opened.capacity() + self.frame.body.capacity() + self.frame.header.capacity()
    }

    /// The message that has not come completely so far: the time of its first byte. None between messages.
    pub(super) fn begun_ns(&self) -> Option<i64> {
        match (self.frame.is_between(), self.segment.is_empty()) {
            (false, _) => Some(self.frame.first_ns),
            (true, false) => Some(self.segment_first_ns),
            (true, true) => None,
        }
    }

    /// Returns buffers of more than so many bytes that hold nothing now: there may be very many connections, and few of
    /// them are busy.
    pub(super) fn tidy(&mut self, small: usize) {
        let is_opened = self.opened_read >= self.opened.len();
        let (is_between_segments, is_between_frames) = (self.segment.is_empty(), self.frame.is_between());
        for (buffer, is_unused) in [
            (&mut self.opened, is_opened),
            (&mut self.segment, is_between_segments),
            (&mut self.frame.body, is_between_frames),
        ] {
            if is_unused && buffer.capacity() > small {
                *buffer = Vec::new();
            }
        }
        if is_opened {
            self.opened.clear();
            self.opened_read = 0;
        }
    }

    /// Gives up the message that has not come completely. The next one is searched in the bytes that follow.
    pub(super) fn give_up(&mut self) {
        if self.framing != Framing::Tls {
            self.forget();
            self.tidy(0);
        }
    }

    /// The next complete message; removes what it has parsed from the bytes.
    pub(super) fn next(&mut self, bytes: &mut &[u8], time_ns: i64) -> Option<Message<'_>> {
        loop {
            if self.opened_read < self.opened.len() {
                let mut inner = &self.opened[self.opened_read..];
                let before = inner.len();
                let read = self.frame.read(self.side, &mut inner, self.segment_first_ns);
                self.opened_read += before - inner.len();
                match read {
                    Ok(true) => {
                        let is_in_lz4 = self.framing == Framing::Segments(Packing::Lz4);
                        let message = self.frame.finish(time_ns, std::mem::take(&mut self.is_broken));
                        return Some(Message { is_in_lz4, ..message });
                    }
                    Ok(false) => continue,
                    Err(Broken) => {
                        self.lose();
                        continue;
                    }
                }
            }
            if bytes.is_empty() {
                return None;
            }
            match self.framing {
                Framing::Begin => {
                    self.framing = match begin(self.side, bytes[0]) {
                        Some(framing) => framing,
                        None => {
                            self.breaks += 1;
                            Framing::Lost
                        }
                    }
                }
                Framing::Tls => {
                    self.tls_bytes += bytes.len() as u64;
                    *bytes = &[];
                }
                Framing::Lost => {
                    let (skipped, framing) = find(self.side, bytes);
                    self.is_broken |= skipped > 0;
                    *bytes = &bytes[skipped..];
                    self.framing = framing;
                    if framing == Framing::Lost {
                        return None;
                    }
                }
                Framing::Frames => match self.frame.read(self.side, bytes, time_ns) {
                    Ok(true) => return Some(self.frame.finish(time_ns, std::mem::take(&mut self.is_broken))),
                    Ok(false) => {}
                    Err(Broken) => self.lose(),
                },
                Framing::Segments(packing) => self.read_segment(packing, bytes, time_ns),
            }
        }
    }

    fn read_segment(&mut self, packing: Packing, bytes: &mut &[u8], time_ns: i64) {
        // A segment that is complete in the bytes is parsed in place.
        let is_apart = !self.segment.is_empty();
        if is_apart {
            self.segment.extend_from_slice(bytes);
        } else {
            self.segment_first_ns = time_ns;
        }
        let all = if is_apart { self.segment.as_slice() } else { *bytes };
        match packing.open(all) {
            Ok(Some(segment)) => {
                let rest = &bytes[bytes.len() - (all.len() - segment.size)..];
                // After a gap, the rest of a frame that began before it can't be used.
                if !segment.is_self_contained
                    && self.frame.is_between()
                    && !plausible(self.side, &segment.payload, true)
                {
                    self.is_broken = true;
                } else {
                    self.opened.clear();
                    self.opened.extend_from_slice(&segment.payload);
                    self.opened_read = 0;
                }
                *bytes = rest;
                self.segment.clear();
            }
            Ok(None) => {
                if !is_apart {
                    self.segment.extend_from_slice(bytes);
                }
                *bytes = &[];
            }
            // The bytes of a frame that began in an earlier segment are lost, too.
            Err(_) => self.lose(),
        }
    }
}

/// The error that the bytes are not a valid message.
struct Broken;

impl Frame {
    fn is_between(&self) -> bool {
        self.header.is_empty()
    }

    /// Reads more of the frame; returns whether it is complete.
    fn read(&mut self, side: Side, bytes: &mut &[u8], time_ns: i64) -> Result<bool, Broken> {
        if self.header.len() < HEADER {
            if self.header.is_empty() {
                self.first_ns = time_ns;
                self.body.clear();
            }
            let (header, rest) = bytes.split_at(bytes.len().min(HEADER - self.header.len()));
            self.header.extend_from_slice(header);
            *bytes = rest;
            if self.header.len() < HEADER {
                return Ok(false);
            }
            let Some(length) = length(side, &self.header) else {
                self.header.clear();
                return Err(Broken);
            };
            self.left = length.into();
            self.keep = wanted(side, self.header[1], self.header[4]);
        }
        let (body, rest) = bytes.split_at(usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len()));
        let kept = body.len().min(self.keep.saturating_sub(self.body.len()));
        self.body.extend_from_slice(&body[..kept]);
        self.left -= body.len() as u64;
        *bytes = rest;
        Ok(self.left == 0)
    }

    fn finish(&mut self, last_ns: i64, is_after_break: bool) -> Message<'_> {
        let header: [u8; HEADER] = self.header.as_slice().try_into().unwrap_or_default();
        self.header.clear();
        let [version, flags, high, low, opcode, length @ ..] = header;
        Message {
            version: version & 0x7F,
            flags,
            stream: i16::from_be_bytes([high, low]),
            opcode,
            size: HEADER as u64 + u64::from(u32::from_be_bytes(length)),
            first_ns: self.first_ns,
            last_ns,
            is_after_break,
            is_in_lz4: false,
            body: &self.body,
        }
    }
}

/// The framing of a connection, by its first byte.
fn begin(side: Side, first: u8) -> Option<Framing> {
    const TLS_HANDSHAKE: u8 = 0x16;
    const TLS_ALERT: u8 = 0x15;
    match first {
        TLS_HANDSHAKE | TLS_ALERT => Some(Framing::Tls),
        first if is_version(side, first) => Some(Framing::Frames),
        _ => None,
    }
}

fn is_version(side: Side, byte: u8) -> bool {
    let direction = if side == Side::Node { 0x80 } else { 0 };
    byte & 0x80 == direction && matches!(byte & 0x7F, 3..=6)
}

/// The length of the body by the frame's header; None if the header is invalid.
fn length(side: Side, header: &[u8]) -> Option<u32> {
    let &[version, flags, high, _, code, ref length @ ..] = header.first_chunk::<HEADER>()?;
    let is_code = match side {
        Side::Client => matches!(
            code,
            opcode::STARTUP
                | opcode::OPTIONS
                | opcode::QUERY
                | opcode::PREPARE
                | opcode::EXECUTE
                | opcode::REGISTER
                | opcode::BATCH
                | opcode::AUTH_RESPONSE
        ),
        Side::Node => matches!(
            code,
            opcode::ERROR
                | opcode::READY
                | opcode::AUTHENTICATE
                | opcode::SUPPORTED
                | opcode::RESULT
                | opcode::EVENT
                | opcode::AUTH_CHALLENGE
                | opcode::AUTH_SUCCESS
        ),
    };
    // A client numbers its streams from 0; events have stream -1.
    let is_stream = high & 0x80 == 0 || (side == Side::Node && code == opcode::EVENT);
    let length = u32::from_be_bytes(*length);
    (is_version(side, version) && flags & 0xE0 == 0 && is_code && is_stream && length <= LARGEST).then_some(length)
}

/// Whether frames begin here, which is checked by following their headers. At the start of a packet one frame is
/// enough.
fn plausible(side: Side, mut bytes: &[u8], is_packet: bool) -> bool {
    const NO_LARGER: u32 = 16 << 20;
    const PROOF: usize = 3;
    for seen in 0..PROOF {
        if bytes.len() < HEADER {
            return seen > 0 && (bytes.is_empty() || is_version(side, bytes[0]));
        }
        let Some(length) = length(side, bytes) else { return false };
        match bytes.get(HEADER + length as usize..) {
            Some(rest) => bytes = rest,
            // The frame continues in the next packet.
            None => return (is_packet || seen > 0) && length <= NO_LARGER,
        }
    }
    true
}

/// The next place at which a message begins, and the framing there.
fn find(side: Side, bytes: &[u8]) -> (usize, Framing) {
    for at in 0..bytes.len() {
        let here = &bytes[at..];
        if is_version(side, here[0]) && plausible(side, here, at == 0) {
            return (at, Framing::Frames);
        }
        // A segment header has a checksum of 24 bits; a checksum of the payload follows the payload.
        for packing in [Packing::Plain, Packing::Lz4] {
            if packing.begins(here) && packing.open(here).is_ok() {
                return (at, Framing::Segments(packing));
            }
        }
        if at == 0 && is_tls(here) {
            return (at, Framing::Tls);
        }
    }
    (bytes.len(), Framing::Lost)
}

/// Whether records of TLS begin here: type, version 3.x, and a length.
fn is_tls(mut bytes: &[u8]) -> bool {
    const LONGEST_RECORD: usize = (1 << 14) + 256;
    loop {
        let Some(&[kind, 3, minor, high, low]) = bytes.first_chunk() else { return false };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if !(20..=23).contains(&kind) || minor > 4 || length == 0 || length > LONGEST_RECORD {
            return false;
        }
        match bytes.get(5 + length..) {
            None | Some([]) => return true,
            Some(rest) => bytes = rest,
        }
    }
}

/// How many bytes of a body are kept.
fn wanted(side: Side, flags: u8, code: u8) -> usize {
    let wanted = match (side, code) {
        (Side::Client, opcode::QUERY | opcode::PREPARE | opcode::EXECUTE | opcode::STARTUP)
        | (Side::Node, opcode::RESULT | opcode::ERROR) => TEXT,
        (Side::Client, opcode::BATCH) => BATCH,
        // The bodies of other messages are not kept, because some contain passwords.
        _ => 0,
    };
    match wanted {
        0 => 0,
        _ if flags & FLAG_COMPRESSED != 0 => COMPRESSED,
        wanted if flags & FLAGS_BEFORE != 0 => wanted + (64 << 10),
        wanted => wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Answers with bodies of these lengths.
    fn answers(lengths: &[usize]) -> Vec<u8> {
        let mut frames = Vec::new();
        for (number, length) in lengths.iter().enumerate() {
            frames.extend([0x85, 0, 0, number as u8, opcode::RESULT]);
            frames.extend((*length as u32).to_be_bytes());
            frames.extend((0..*length).map(|place| (place * 7 % 256) as u8));
        }
        frames
    }

    fn sizes(messages: &mut Messages, bytes: &[u8], cuts: &[usize]) -> Vec<u64> {
        let mut sizes = Vec::new();
        let mut left = bytes;
        let mut cuts = cuts.iter().cycle();
        while !left.is_empty() {
            let (mut piece, rest) = left.split_at((*cuts.next().unwrap()).min(left.len()));
            left = rest;
            while let Some(message) = messages.next(&mut piece, 0) {
                sizes.push(message.size);
            }
            assert!(piece.is_empty());
        }
        sizes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn frames_are_found_in_segments_however_they_are_cut(
            lengths in prop::collection::vec(prop_oneof![0usize..200, 0usize..400_000], 1..6),
            cuts in prop::collection::vec(1usize..70_000, 1..5),
        ) {
            let frames = answers(&lengths);
            let expected: Vec<u64> = lengths.iter().map(|length| (HEADER + length) as u64).collect();
            prop_assert_eq!(&sizes(&mut Messages::begun(Side::Node), &frames, &cuts), &expected);
            for packing in [Packing::Plain, Packing::Lz4] {
                let mut sealed = Vec::new();
                packing.seal(&frames, &mut sealed);
                let mut messages = Messages::begun(Side::Node);
                messages.upgrade(packing);
                prop_assert_eq!(&sizes(&mut messages, &sealed, &cuts), &expected);
                prop_assert_eq!(messages.breaks, 0);
            }
        }

        #[test]
        fn any_bytes_are_taken(
            bytes in prop::collection::vec(any::<u8>(), 0..3000),
            side in prop::sample::select(vec![Side::Client, Side::Node]),
            cut in 1usize..300,
        ) {
            for mut messages in [Messages::begun(side), Messages::under_way(side)] {
                let _ = sizes(&mut messages, &bytes, &[cut]);
            }
            let mut in_segments = Messages::begun(side);
            in_segments.upgrade(Packing::Lz4);
            let _ = sizes(&mut in_segments, &bytes, &[cut]);
        }
    }

    #[test]
    fn what_is_in_tls_is_counted_and_not_guessed() {
        let record = [&[0x17, 3, 3, 0, 5][..], b"abcde"].concat();
        for mut messages in [Messages::begun(Side::Client), Messages::under_way(Side::Client)] {
            let hello = [&[0x16, 3, 1, 0, 3][..], b"abc"].concat();
            assert!(sizes(&mut messages, &hello, &[100]).is_empty());
            assert!(sizes(&mut messages, &record, &[100]).is_empty());
            assert_eq!(messages.tls_bytes, 18);
        }
    }
}
