//! The messages between the agent and the recorder, over a TCP connection that the agent opens. agent/PROTOCOL.md has the
//! meaning of the commands.
//!
//! Little endian. The agent says hello once: `HLNS`, `u32` protocol, `u16` length and token, `u32` length and JSON.
//! Then both send frames: `u32` length of the rest, `u8` kind, payload. Bytes from the agent's side are untrusted until
//! its token was right, and bounded after that.

use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

pub const PROTOCOL: u32 = 1;
const MAGIC: &[u8; 4] = b"HLNS";
const LONGEST_HELLO: u32 = 64 << 10;
/// The longest frame. The agent queues at most 4 MB of frames, and a second of rows of a node with some thousand tables
/// is below 2 MB.
pub const LONGEST_FRAME: u32 = 8 << 20;
pub const LONGEST_COMMAND: usize = 64 << 10;
/// Longer log lines of the agent are cut.
const LINE_SHOWN_BYTES: usize = 4 << 10;
/// Longer thread names are cut: Java has no limit, and names are kept for the whole recording.
const NAME_KEPT_BYTES: usize = 256;

/// The agent's description of itself and its JVM.
#[derive(Debug, Clone, Deserialize)]
pub struct Hello {
    pub pid: u32,
    /// Fingerprint of the schema of its rows.
    pub schema: String,
    pub agent: String,
    pub java: String,
    #[serde(default)]
    pub vm: String,
    /// The provider of each source.
    #[serde(default)]
    pub providers: std::collections::BTreeMap<String, String>,
    /// Release of Cassandra, when the JVM is one.
    #[serde(default)]
    pub cassandra: Option<String>,
}

/// The recorder's request to the agent.
#[derive(Debug, Clone, Serialize)]
pub struct Start<'a> {
    /// Added to `System.nanoTime()`, it gives the time of the recording.
    pub epoch_offset_ns: i64,
    /// Name of the node in the rows.
    pub node: &'a str,
    pub interval_ms: u64,
    pub stall_bound_ms: u64,
    pub sources: &'a [&'a str],
    /// The names of the files in /tmp that this recorder lets a profiler write begin with this. When the connection ends
    /// without a DETACH, the agent stops a profiler that writes one.
    pub profiler_files: &'a str,
}

/// A frame from the agent.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    Rows {
        table: u8,
        count: u32,
        bytes: Vec<u8>,
    },
    Log(String),
    ThreadNames(Vec<(i64, String)>),
    /// Everything is undone. This is the last frame.
    Bye(String),
    /// The answer to a command, JSON.
    Reply(Vec<u8>),
    /// Frames after this one belong to the last START. The first START has no such frame.
    Begun,
    /// Bytes of client connections, as records.
    Packets(Vec<u8>),
}

/// Reads the hello and compares its token.
pub fn read_hello(from: &mut impl Read, token: &str) -> io::Result<Hello> {
    if &array::<4>(from)? != MAGIC {
        return Err(bad("it does not begin as an agent does"));
    }
    let protocol = u32::from_le_bytes(array(from)?);
    if protocol != PROTOCOL {
        return Err(bad(&format!("it speaks protocol {protocol}, and this helenus {PROTOCOL}")));
    }
    let length = u16::from_le_bytes(array(from)?);
    // The length is compared first, so that bytes of an unknown program are not kept.
    if usize::from(length) != token.len() || !same(&bytes(from, u32::from(length))?, token.as_bytes()) {
        return Err(bad("its token is wrong"));
    }
    let length = u32::from_le_bytes(array(from)?);
    if length > LONGEST_HELLO {
        return Err(bad("its hello is too long"));
    }
    serde_json::from_slice(&bytes(from, length)?).map_err(|error| bad(&format!("its hello is not understood: {error}")))
}

/// Reads the next frame.
pub fn read_frame(from: &mut impl Read) -> io::Result<Frame> {
    let length = u32::from_le_bytes(array(from)?);
    if length == 0 || length > LONGEST_FRAME {
        return Err(bad("a frame of an impossible length"));
    }
    let frame = bytes(from, length)?;
    let (kind, payload) = frame.split_first().ok_or_else(|| bad("an empty frame"))?;
    let text = |payload: &[u8]| beginning(payload, LINE_SHOWN_BYTES);
    match kind {
        1 => {
            let (table, rest) = payload.split_first().ok_or_else(|| bad("rows without a table"))?;
            let (count, rows) = rest.split_first_chunk::<4>().ok_or_else(|| bad("rows without a number"))?;
            Ok(Frame::Rows { table: *table, count: u32::from_le_bytes(*count), bytes: rows.to_vec() })
        }
        2 => Ok(Frame::Log(text(payload))),
        3 => thread_names(payload).ok_or_else(|| bad("thread names that end early")).map(Frame::ThreadNames),
        4 => Ok(Frame::Bye(text(payload))),
        5 => Ok(Frame::Reply(payload.to_vec())),
        6 => Ok(Frame::Begun),
        7 => Ok(Frame::Packets(payload.to_vec())),
        kind => Err(bad(&format!("a frame of the unknown kind {kind}"))),
    }
}

fn thread_names(mut payload: &[u8]) -> Option<Vec<(i64, String)>> {
    let mut names = Vec::new();
    while !payload.is_empty() {
        let (tid, rest) = payload.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let (name, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        names.push((i64::from_le_bytes(*tid), beginning(name, NAME_KEPT_BYTES)));
        payload = rest;
    }
    Some(names)
}

/// The beginning of a text, at most `most` bytes.
fn beginning(text: &[u8], most: usize) -> String {
    if text.len() <= most {
        return String::from_utf8_lossy(text).into_owned();
    }
    format!("{}…", String::from_utf8_lossy(&text[..most]))
}

pub fn write_start(to: &mut impl Write, start: &Start<'_>) -> io::Result<()> {
    write_frame(to, 1, &serde_json::to_vec(start)?)
}

pub fn write_detach(to: &mut impl Write) -> io::Result<()> {
    write_frame(to, 2, &[])
}

/// A command has at most [`LONGEST_COMMAND`] bytes.
pub fn write_command(to: &mut impl Write, command: &[u8]) -> io::Result<()> {
    match command.len() {
        0..=LONGEST_COMMAND => write_frame(to, 3, command),
        length => Err(bad(&format!("a command of {length} bytes; an agent takes {LONGEST_COMMAND} at most"))),
    }
}

fn write_frame(to: &mut impl Write, kind: u8, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len() + 1).map_err(|_| bad("a frame that is too long"))?;
    to.write_all(&[&length.to_le_bytes(), &[kind][..], payload].concat())?;
    to.flush()
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads this many bytes without allocating them in advance: memory grows with the bytes that have come.
fn bytes(from: &mut impl Read, length: u32) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// Compares two texts in constant time.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn hello(token: &str) -> Vec<u8> {
        let json = br#"{"pid":7,"schema":"ab","agent":"0.1.0","java":"17","monotonic_ns":5}"#;
        let mut bytes = b"HLNS\x01\0\0\0".to_vec();
        bytes.extend((token.len() as u16).to_le_bytes());
        bytes.extend(token.as_bytes());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(json);
        bytes
    }

    #[test]
    fn the_token_must_be_right() {
        assert_eq!(read_hello(&mut &hello("secret")[..], "secret").unwrap().pid, 7);
        assert!(read_hello(&mut &hello("secreT")[..], "secret").is_err());
        assert!(read_hello(&mut &hello("")[..], "secret").is_err());
        assert!(read_hello(&mut &b"GET / HTTP/1.1\r\n\r\n"[..], "secret").is_err());
    }

    #[test]
    fn frames_are_read_as_they_were_sent() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, 1, &[7, 2, 0, 0, 0, 9, 9]).unwrap();
        write_frame(&mut bytes, 3, &[&5i64.to_le_bytes()[..], &[2, 0], b"ab"].concat()).unwrap();
        write_frame(&mut bytes, 4, b"done").unwrap();
        write_frame(&mut bytes, 6, b"").unwrap();
        write_frame(&mut bytes, 5, b"{}").unwrap();
        assert!(write_command(&mut bytes.clone(), &[b' '; LONGEST_COMMAND + 1]).is_err());
        let mut from = &bytes[..];
        assert_eq!(read_frame(&mut from).unwrap(), Frame::Rows { table: 7, count: 2, bytes: vec![9, 9] });
        assert_eq!(read_frame(&mut from).unwrap(), Frame::ThreadNames(vec![(5, "ab".into())]));
        assert_eq!(read_frame(&mut from).unwrap(), Frame::Bye("done".into()));
        assert_eq!(read_frame(&mut from).unwrap(), Frame::Begun);
        assert_eq!(read_frame(&mut from).unwrap(), Frame::Reply(b"{}".to_vec()));
        assert_eq!(read_frame(&mut from).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_is_kept_of_an_agents_words_is_bounded() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, 2, &vec![b'x'; 1 << 20]).unwrap();
        write_frame(&mut bytes, 3, &[&5i64.to_le_bytes()[..], &u16::MAX.to_le_bytes(), &[b'x'; 65535]].concat())
            .unwrap();
        let mut from = &bytes[..];
        let Frame::Log(line) = read_frame(&mut from).unwrap() else { panic!("it is a line") };
        assert!(line.len() < 2 * LINE_SHOWN_BYTES && line.ends_with('…'));
        let Frame::ThreadNames(names) = read_frame(&mut from).unwrap() else { panic!("it is names") };
        assert!(names[0].1.len() < 2 * NAME_KEPT_BYTES);
        let endless = read_frame(&mut (LONGEST_FRAME + 1).to_le_bytes().chain(io::repeat(2))).unwrap_err();
        assert_eq!(endless.kind(), io::ErrorKind::InvalidData);
    }

    /// A stream as an agent would send it.
    fn frames() -> impl Strategy<Value = Vec<u8>> {
        let names = prop::collection::vec((any::<i64>(), "[ -~]{0,40}"), 0..5).prop_map(|names| {
            let name = |(tid, name): (i64, String)| {
                [&tid.to_le_bytes()[..], &(name.len() as u16).to_le_bytes(), name.as_bytes()].concat()
            };
            (3, names.into_iter().map(name).collect::<Vec<_>>().concat())
        });
        let other = (1u8..8, prop::collection::vec(any::<u8>(), 0..64));
        prop::collection::vec(prop_oneof![names, other], 0..6).prop_map(|frames| {
            let mut bytes = Vec::new();
            for (kind, payload) in frames {
                write_frame(&mut bytes, kind, &payload).unwrap();
            }
            bytes
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(29), cases: 2000, ..ProptestConfig::default() })]

        /// Flips bytes of a valid stream, cuts it off, and passes it on in pieces: it is read to an error or to its
        /// end, and never further.
        #[test]
        fn a_damaged_stream_ends(
            good in frames(),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = hello("secret");
            bytes.extend(good);
            for (at, flip) in flips {
                let at = at.index(bytes.len());
                bytes[at] ^= flip;
            }
            bytes.truncate(cut.index(bytes.len() + 1));
            let mut from = &bytes[..];
            if read_hello(&mut from, "secret").is_ok() {
                let mut frames = 0;
                while read_frame(&mut from).is_ok() {
                    frames += 1;
                }
                prop_assert!(frames <= bytes.len() / 5);
            }
        }

        #[test]
        fn no_bytes_can_make_it_panic(bytes: Vec<u8>) {
            let _ = read_hello(&mut &bytes[..], "t");
            let _ = read_frame(&mut &bytes[..]);
        }

        #[test]
        fn no_payload_can_make_it_panic(kind in 0u8..7, payload: Vec<u8>) {
            let mut framed = Vec::new();
            write_frame(&mut framed, kind, &payload).unwrap();
            let _ = read_frame(&mut &framed[..]);
        }
    }
}
