//! Requests from inside the JVM: the agent copies the bytes of client connections after decryption, and they are read here
//! as those of packets are.
//!
//! Time is that of the server's event loop: a request that waits in the socket while the node is paused has not begun yet.

use super::SOURCE;
use super::conversation::Conversations;
use super::packet::{Packet, Side};
use super::partition_key::PartitionKey;
use super::replicas::RingTable;
use super::rows::{Account, Rows};
use helenus_recording::{Recorder, SourceFacts, cpu_time_of_this_thread_ns};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Range;
use std::time::{Duration, Instant};

const PROVIDER: &str = "jvm";

/// The agent sends what an event loop has copied every 20 ms, one event loop after the other. So a request can arrive before
/// an answer that its client had got through another event loop: an EXECUTE before the answer to its PREPARE. After this time
/// whatever came before it is there.
const ARRIVES_WITHIN: Duration = Duration::from_millis(50);

/// The most bytes that wait for those of other event loops; with more, what is there is read at once.
const WAITING: usize = 16 << 20;

// The flags of the agent's records, as in `io.helenus.agent.requests.Packets`.
const FROM_NODE: u8 = 1;
const BEGIN: u8 = 2;
const END: u8 = 4;
const IPV6: u8 = 8;
const STATEMENT: u8 = 0x80;

/// The source as a manifest has it.
pub(crate) fn facts(node: &str) -> SourceFacts {
    SourceFacts { name: SOURCE.into(), node: node.into(), provider: PROVIDER.into(), note: String::new() }
}

/// Makes rows of one node's requests from bytes that the agent copied. Used by one thread.
pub(crate) struct Tapped {
    rows: Rows,
    conversations: Conversations,
    /// In the order of their arrival.
    frames: Vec<Frame>,
    cpu_ns: i64,
}

/// Records of one event loop.
struct Frame {
    arrived: Instant,
    bytes: Vec<u8>,
    /// Of each record that was not read yet, when it happened, which never goes back, and where it is in the bytes.
    records: Vec<(i64, Range<usize>)>,
}

impl Frame {
    /// # Errors
    /// If the bytes are not valid records.
    fn new(bytes: Vec<u8>, arrived: Instant) -> Result<Frame, &'static str> {
        let mut records = Vec::new();
        let mut left = bytes.as_slice();
        let mut latest_ns = i64::MIN;
        while !left.is_empty() {
            let from = bytes.len() - left.len();
            if let Record::Packet { time_ns, .. } =
                record(&mut left).ok_or("bytes of requests that are not understood")?
            {
                latest_ns = latest_ns.max(time_ns);
            }
            records.push((latest_ns, from..bytes.len() - left.len()));
        }
        Ok(Frame { arrived, bytes, records })
    }

    /// The bytes in memory.
    fn held(&self) -> usize {
        self.bytes.capacity() + self.records.capacity() * size_of::<(i64, Range<usize>)>()
    }
}

/// A record that the agent sent.
#[derive(Debug, PartialEq, Eq)]
enum Record<'a> {
    Packet { time_ns: i64, packet: Packet<'a> },
    Statement { id: &'a [u8], keyspace: &'a [u8], text: &'a [u8], key: Vec<u16> },
}

impl Tapped {
    pub(crate) fn new(recorder: Recorder, node: String, address: SocketAddr) -> Tapped {
        let (rows, conversations) = (Rows::new(recorder, node, PROVIDER), Conversations::new(address));
        Tapped { rows, conversations, frames: Vec::new(), cpu_ns: 0 }
    }

    /// Takes in records, which are read when those from before them are there.
    ///
    /// # Errors
    /// If the bytes are not valid records.
    pub(crate) fn take(&mut self, bytes: Vec<u8>) -> Result<(), &'static str> {
        let begun_ns = cpu_time_of_this_thread_ns();
        let frame = Frame::new(bytes, Instant::now());
        self.frames.push(frame?);
        if self.frames.iter().map(Frame::held).sum::<usize>() > WAITING {
            self.read(Instant::now());
        }
        self.cpu_ns += cpu_time_of_this_thread_ns() - begun_ns;
        Ok(())
    }

    /// Reads the records of all event loops up to the last that arrived by this time.
    fn read(&mut self, arrived_by: Instant) {
        for mut bytes in in_order(&mut self.frames, arrived_by) {
            match record(&mut bytes) {
                Some(Record::Packet { time_ns, packet }) => {
                    self.conversations.take_packet(time_ns, &packet, &mut |exchange| self.rows.add(exchange));
                }
                Some(Record::Statement { id: [], keyspace: table, text, .. }) => {
                    if let Some(table) = RingTable::by_name(table) {
                        self.conversations.statements.replicas.learn(table, &String::from_utf8_lossy(text));
                    }
                }
                Some(Record::Statement { id, keyspace, text, key }) => {
                    let [keyspace, text] = [keyspace, text].map(String::from_utf8_lossy);
                    let keyspace = Some(&*keyspace).filter(|name| !name.is_empty());
                    let key = PartitionKey::at(keyspace, &key, &text);
                    self.conversations.statements.learn(id, &text, keyspace, key);
                }
                None => debug_assert!(false, "all records of a frame were read when it arrived"),
            }
        }
        self.frames.retain(|frame| !frame.records.is_empty());
    }

    /// Writes what is due; to be called often.
    pub(crate) fn write(&mut self, is_last: bool) {
        let begun_ns = cpu_time_of_this_thread_ns();
        let now = Instant::now();
        self.read(if is_last { now } else { now.checked_sub(ARRIVES_WITHIN).unwrap_or(now) });
        self.cpu_ns += cpu_time_of_this_thread_ns() - begun_ns;
        self.rows.write(is_last);
        if is_last || self.rows.is_report_due() {
            let account = Account { cpu_ns: std::mem::take(&mut self.cpu_ns), dropped: 0, remark: None };
            self.rows.report(&mut self.conversations, account);
        }
    }

    /// Continues in another recording.
    pub(crate) fn continue_in(&mut self, recorder: &Recorder) {
        self.write(true);
        self.rows.continue_in(recorder);
    }
}

/// Takes the records that happened before the last that arrived by this time out of all frames, in the order in which they
/// happened.
fn in_order(frames: &mut [Frame], arrived_by: Instant) -> Vec<&[u8]> {
    let arrived = frames.iter().filter(|frame| frame.arrived <= arrived_by);
    let Some(until_ns) = arrived.filter_map(|frame| Some(frame.records.last()?.0)).max() else { return Vec::new() };
    let mut due = Vec::new();
    for Frame { bytes, records, .. } in frames {
        let count = records.partition_point(|(time_ns, _)| *time_ns <= until_ns);
        due.extend(records.drain(..count).map(|(time_ns, range)| (time_ns, &bytes[range])));
    }
    // Stable: records of one event loop stay in their order.
    due.sort_by_key(|(time_ns, _)| *time_ns);
    due.into_iter().map(|(_, bytes)| bytes).collect()
}

/// Reads the next record.
fn record<'a>(from: &mut &'a [u8]) -> Option<Record<'a>> {
    let mut take = |length: usize| {
        let (taken, rest) = from.split_at_checked(length)?;
        *from = rest;
        Some(taken)
    };
    let flags = *take(1)?.first()?;
    if flags == STATEMENT {
        let length = u16::from_le_bytes(number(take(2)?)?);
        let id = take(usize::from(length))?;
        let length = u16::from_le_bytes(number(take(2)?)?);
        let keyspace = take(usize::from(length))?;
        let length = u32::from_le_bytes(number(take(4)?)?);
        let text = take(usize::try_from(length).ok()?)?;
        let places = u16::from_le_bytes(number(take(2)?)?);
        let places = take(2 * usize::from(places))?.as_chunks::<2>().0;
        let key = places.iter().map(|place| u16::from_le_bytes(*place)).collect();
        return Some(Record::Statement { id, keyspace, text, key });
    }
    let port = u16::from_le_bytes(number(take(2)?)?);
    let client = match flags & IPV6 {
        0 => IpAddr::from(Ipv4Addr::from(number::<4>(take(4)?)?)),
        _ => Ipv6Addr::from(number::<16>(take(16)?)?).to_canonical(),
    };
    let time_ns = i64::from_le_bytes(number(take(8)?)?);
    let sequence = u32::from_le_bytes(number(take(4)?)?);
    let acknowledged = u32::from_le_bytes(number(take(4)?)?);
    let length = u32::from_le_bytes(number(take(4)?)?);
    let payload = take(usize::try_from(length).ok()?)?;
    let from = if flags & FROM_NODE == 0 { Side::Client } else { Side::Node };
    let client = SocketAddr::new(client, port);
    let (begins, breaks_off) = (flags & BEGIN != 0, flags & END != 0);
    let packet = Packet::tapped(client, from, sequence, acknowledged, begins, breaks_off, payload);
    Some(Record::Packet { time_ns, packet })
}

fn number<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet_record(flags: u8, time_ns: i64, sequence: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![flags, 0x34, 0x12, 127, 0, 0, 7];
        bytes.extend(time_ns.to_le_bytes());
        bytes.extend(sequence.to_le_bytes());
        bytes.extend(9u32.to_le_bytes());
        bytes.extend((payload.len() as u32).to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn records_are_read_one_after_the_other() {
        let mut bytes = packet_record(FROM_NODE, 77, 5, b"hello");
        bytes.extend([STATEMENT, 2, 0, 0xAB, 0xCD, 1, 0, b'k', 3, 0, 0, 0]);
        bytes.extend(b"USE");
        bytes.extend([2, 0, 3, 0, 1, 0]);
        let mut left = bytes.as_slice();
        let Some(Record::Packet { time_ns: 77, packet }) = record(&mut left) else { panic!("a packet") };
        assert_eq!((packet.client, packet.from), ("127.0.0.7:4660".parse().unwrap(), Side::Node));
        assert_eq!((packet.sequence, packet.acknowledged(), packet.payload), (5, Some(9), &b"hello"[..]));
        let statement = Record::Statement { id: &[0xAB, 0xCD], keyspace: b"k", text: b"USE", key: vec![3, 1] };
        assert_eq!(record(&mut left), Some(statement));
        assert!(left.is_empty());
        assert!(record(&mut &bytes[..bytes.len() - 1]).is_some(), "the first is whole");
    }

    #[test]
    fn what_another_event_loop_sent_before_is_read_before() {
        let early = Instant::now();
        let late = early + ARRIVES_WITHIN;
        let [prepared, later] = [30, 90].map(|time_ns| packet_record(FROM_NODE, time_ns, 5, b"prepared"));
        let execute = packet_record(0, 40, 5, b"execute");
        let mut frames = vec![
            Frame::new(execute.clone(), early).unwrap(),
            Frame::new([prepared.clone(), later.clone()].concat(), late).unwrap(),
        ];
        assert_eq!(in_order(&mut frames, early), [prepared, execute]);
        assert_eq!(in_order(&mut frames, early), [[0; 0]; 0]);
        assert_eq!(in_order(&mut frames, late), [later]);
    }

    /// A JVM that sends faster than its records are due.
    #[test]
    fn frames_without_end_are_read_before_they_are_due() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = helenus_recording::Manifest::new("test", "test");
        let recorder = Recorder::create(&folder.path().join("recording"), manifest).unwrap();
        let mut tapped = Tapped::new(recorder.clone(), "node".into(), "127.0.0.1:9042".parse().unwrap());
        let bytes = packet_record(0, 70, 5, &vec![7; 1 << 20]);
        let one = Frame::new(bytes.clone(), Instant::now()).unwrap().held();
        for _ in 0..64 {
            tapped.take(bytes.clone()).unwrap();
            let held: usize = tapped.frames.iter().map(Frame::held).sum();
            assert!(held <= WAITING + one, "{held}");
        }
        drop(tapped);
        recorder.close().unwrap();
    }

    #[test]
    fn a_frame_knows_when_its_records_happened() {
        let mut bytes = packet_record(0, 70, 5, b"a");
        let first = bytes.len();
        bytes.extend(packet_record(FROM_NODE, 60, 5, b"bc"));
        let frame = Frame::new(bytes.clone(), Instant::now()).unwrap();
        assert_eq!(frame.records, [(70, 0..first), (70, first..bytes.len())]);
        assert!(Frame::new(bytes[1..].to_vec(), Instant::now()).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(bytes: Vec<u8>, flags: u8) {
            let mut left = bytes.as_slice();
            while !left.is_empty() && record(&mut left).is_some() {}
            let mut cut = packet_record(flags, 1, 2, &bytes);
            cut.truncate(bytes.len());
            let _ = record(&mut cut.as_slice());
        }
    }
}
