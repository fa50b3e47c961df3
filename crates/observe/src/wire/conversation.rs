//! The conversations of clients with one node: packets are put in order and parsed, and requests are paired with their
//! answers.

mod followed;
mod waiting;

use super::answers::{Answer, SYNTAX_ERROR};
use super::bodies::{Driver, proper, startup};
use super::messages::{Message, Messages};
use super::ordered::{Ordered, Part};
use super::packet::{Packet, Side};
use super::partition_key::PartitionKey;
use super::sample::Sample;
use super::statements::{Asked, Prepared, Statements};
use crate::bounded::Room;
use foldhash::fast::RandomState;
use helenus_cassandra::cql::frame::opcode;
use helenus_cassandra::cql::{Compression, Packing};
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::rc::Rc;
use waiting::{CONNECTIONS, WAITING};

/// Why requests were not paired.
pub(super) const LOST_REASONS: [&str; 5] = [
    "an answer whose request was not captured",
    "a request whose answer was not captured",
    "a place from where on the next message had to be looked for",
    "connections that were idle for longest, because there were more than are followed",
    "requests and parts of messages that waited for longest, because more than 64 MiB of them waited",
];
/// The largest buffer that an idle connection keeps, in bytes.
const SMALL: usize = 1 << 10;
const NO_REQUEST: usize = 0;
const NO_ANSWER: usize = 1;
const BREAK: usize = 2;
const TOO_MANY: usize = 3;
const GIVEN_UP: usize = 4;

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) client: Rc<str>,
    pub(super) client_port: u16,
    pub(super) stream: i16,
    pub(super) request: Request,
    pub(super) first_answer_ns: i64,
    pub(super) last_answer_ns: i64,
    pub(super) kind: &'static str,
    pub(super) error: Option<Cow<'static, str>>,
    pub(super) rows: Option<i64>,
    pub(super) has_more_pages: bool,
    pub(super) is_warned: bool,
    pub(super) answer_bytes: u64,
}

/// A request that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) opcode: u8,
    pub(super) asked: Asked,
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
    pub(super) bytes: u64,
    pub(super) is_compressed: bool,
    pub(super) is_traced: bool,
    /// The driver, from a STARTUP message.
    pub(super) driver: Option<Box<Driver>>,
}

/// A connection whose driver is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Client {
    pub(super) address: Rc<str>,
    pub(super) port: u16,
}

/// All client connections of one node.
#[derive(Debug)]
pub(super) struct Conversations {
    port: u16,
    all: HashMap<SocketAddr, Conversation, RandomState>,
    pub(super) statements: Statements,
    lost: [u64; LOST_REASONS.len()],
    /// Bytes on encrypted connections.
    pub(super) tls_bytes: u64,
    sample: Sample,
    /// When the node has sent something last.
    heard_ns: i64,
    /// The bytes that wait on all connections.
    room: Room,
}

impl Conversations {
    pub(super) fn new(node: SocketAddr) -> Conversations {
        Conversations {
            port: node.port(),
            all: HashMap::default(),
            statements: Statements::default(),
            lost: [0; LOST_REASONS.len()],
            tls_bytes: 0,
            sample: Sample::default(),
            heard_ns: 0,
            room: Room::new(WAITING),
        }
    }

    /// Sets the keyspace of a connection that was open before the recording began.
    pub(super) fn learn_keyspace(&mut self, client: SocketAddr, keyspace: &str) {
        let keyspace = self.statements.keyspace(keyspace);
        if self.all.len() < CONNECTIONS {
            let conversation = self.all.entry(client).or_insert_with(|| Conversation::new(client));
            conversation.protocol.keyspace = keyspace;
        }
    }

    /// Processes a packet, from its IP header on.
    pub(super) fn take(&mut self, time_ns: i64, packet: &[u8], mut each: impl FnMut(Exchange)) {
        if let Some(packet) = Packet::read(packet, self.port) {
            self.take_packet(time_ns, &packet, &mut each);
        }
    }

    pub(super) fn take_packet(&mut self, time_ns: i64, packet: &Packet<'_>, each: &mut impl FnMut(Exchange)) {
        // The kernel captured this packet while more connections were followed.
        if !self.sample.follows(packet.client.port()) {
            return;
        }
        if packet.begins() && packet.from == Side::Client {
            // A new connection that reuses the port of an earlier one.
            if let Some(before) = self.all.remove(&packet.client) {
                self.end(before, each);
            }
        }
        if self.all.len() >= CONNECTIONS && !self.all.contains_key(&packet.client) {
            self.forget_idle();
        }
        let conversation = match self.all.entry(packet.client) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if packet.payload.is_empty() && !packet.begins() => return,
            Entry::Vacant(new) => new.insert(Conversation::new(packet.client)),
        };
        if packet.from == Side::Node && !packet.payload.is_empty() {
            self.heard_ns = self.heard_ns.max(time_ns);
        }
        conversation.take(packet, time_ns, &mut self.statements, each);
        conversation.account(&mut self.room);
        let has_ended = packet.breaks_off() || (packet.ends() && conversation.has_ended(packet.from));
        if has_ended && let Some(ended) = self.all.remove(&packet.client) {
            self.end(ended, each);
        }
        if self.room.is_over() {
            self.give_up_oldest();
        }
    }

    fn end(&mut self, mut conversation: Conversation, each: &mut impl FnMut(Exchange)) {
        self.room.change(conversation.accounted, 0);
        conversation.finish(&mut self.statements, each);
        let counts = conversation.counts();
        self.add(counts);
    }

    /// Exchanges that could not be paired since the last call, by reason.
    pub(super) fn lost(&mut self) -> [u64; LOST_REASONS.len()] {
        let counts: Vec<Counts> = self.all.values_mut().map(Conversation::counts).collect();
        counts.into_iter().for_each(|counts| self.add(counts));
        std::mem::take(&mut self.lost)
    }

    /// Since when the node has sent nothing although requests wait for an answer; None if none waits.
    pub(super) fn silence(&self) -> Option<Silence> {
        let pending = || self.all.values().flat_map(|one| one.protocol.pending.values());
        let oldest_ns = pending().map(|pending| pending.request.last_ns).min()?;
        let newest_ns = pending().map(|pending| pending.request.last_ns).max()?;
        Some(Silence { since_ns: oldest_ns.max(self.heard_ns), newest_ns, requests: pending().count() })
    }

    fn add(&mut self, counts: Counts) {
        for (lost, more) in self.lost.iter_mut().zip(counts.lost) {
            *lost += more;
        }
        self.tls_bytes += counts.tls_bytes;
    }
}

/// A node that answers nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Silence {
    pub(super) since_ns: i64,
    /// When the newest of the requests came that wait for an answer.
    pub(super) newest_ns: i64,
    pub(super) requests: usize,
}

#[derive(Debug, Default)]
struct Counts {
    lost: [u64; LOST_REASONS.len()],
    tls_bytes: u64,
}

/// One connection of a client.
#[derive(Debug)]
struct Conversation {
    client: (Rc<str>, u16),
    order: [Ordered; 2],
    messages: [Messages; 2],
    protocol: ProtocolState,
    ended: [bool; 2],
    /// When its last packet came.
    heard_ns: i64,
    /// The bytes that are accounted for it among those of all connections.
    accounted: usize,
}

/// The state that both sides of a connection have agreed upon, and the pending requests.
#[derive(Debug, Default)]
struct ProtocolState {
    compression: Option<Compression>,
    keyspace: Option<Rc<str>>,
    pending: HashMap<i16, Box<Pending>, RandomState>,
    /// Streams on which a request was seen. An answer on another stream belongs to a request from before the recording.
    known: HashSet<i16, RandomState>,
    /// Whether requests have been missed since `known` was started.
    has_missed: bool,
    /// Number of recently answered requests.
    requests: u64,
    lost: [u64; LOST_REASONS.len()],
}

/// A request without its answer so far.
#[derive(Debug)]
struct Pending {
    request: Request,
    /// For each side, whether bytes were missed since the request.
    has_missed: [bool; 2],
}

impl Conversation {
    fn new(client: SocketAddr) -> Conversation {
        Conversation {
            client: (client.ip().to_string().into(), client.port()),
            order: [Ordered::default(), Ordered::default()],
            messages: [Messages::under_way(Side::Client), Messages::under_way(Side::Node)],
            protocol: ProtocolState::default(),
            ended: [false; 2],
            heard_ns: i64::MIN,
            accounted: 0,
        }
    }

    fn take(
        &mut self,
        packet: &Packet<'_>,
        time_ns: i64,
        statements: &mut Statements,
        each: &mut impl FnMut(Exchange),
    ) {
        let side = packet.from as usize;
        self.heard_ns = self.heard_ns.max(time_ns);
        if packet.begins() {
            self.order[side] = Ordered::begun(packet.sequence.wrapping_add(1));
            self.messages[side] = Messages::begun(packet.from);
            return;
        }
        let Conversation { client, order, messages, protocol, ended, .. } = self;
        let other = packet.from.other();
        if let Some(up_to) = packet.acknowledged().filter(|_| !ended[other as usize]) {
            order[other as usize].acknowledged(up_to, |part| {
                read(part, other, messages, |message| protocol.hear(other, message, client, statements, each));
            });
        }
        order[side].take(packet.sequence, time_ns, packet.payload, |part| {
            read(part, packet.from, messages, |message| protocol.hear(packet.from, message, client, statements, each));
        });
        self.messages.iter_mut().for_each(|messages| messages.tidy(SMALL));
    }

    /// Whether both sides have ended.
    fn has_ended(&mut self, side: Side) -> bool {
        self.ended[side as usize] = true;
        self.ended == [true; 2]
    }

    fn finish(&mut self, statements: &mut Statements, each: &mut impl FnMut(Exchange)) {
        let Conversation { client, order, messages, protocol, .. } = self;
        for side in [Side::Client, Side::Node] {
            order[side as usize].finish(|part| {
                read(part, side, messages, |message| protocol.hear(side, message, client, statements, each));
            });
        }
        // A client that closed its connection did not wait for its answers.
        protocol.pending.clear();
    }

    fn counts(&mut self) -> Counts {
        let mut counts = Counts { lost: std::mem::take(&mut self.protocol.lost), tls_bytes: 0 };
        for messages in &mut self.messages {
            counts.lost[BREAK] += std::mem::take(&mut messages.breaks);
            counts.tls_bytes += std::mem::take(&mut messages.tls_bytes);
        }
        counts
    }
}

/// The effect of a message on the state of the protocol.
enum Agreed {
    Nothing,
    /// From now on both sides send segments.
    Segments(Packing),
}

/// Parses the messages of one side.
fn read(
    part: Part<'_>,
    side: Side,
    messages: &mut [Messages; 2],
    mut hear: impl FnMut(Option<&Message<'_>>) -> Agreed,
) {
    match part {
        Part::Gap => {
            messages[side as usize].gap();
            hear(None);
        }
        Part::Bytes { time_ns, mut bytes } => {
            while let Some(message) = messages[side as usize].next(&mut bytes, time_ns) {
                if message.is_after_break {
                    hear(None);
                }
                if let Agreed::Segments(packing) = hear(Some(&message)) {
                    messages.iter_mut().for_each(|messages| messages.upgrade(packing));
                }
            }
            // Messages of the other side may have an earlier time than the next message of this side.
            if messages[side as usize].is_broken {
                hear(None);
            }
        }
    }
}

impl ProtocolState {
    /// Processes a message, or the fact that messages were missed.
    fn hear(
        &mut self,
        side: Side,
        message: Option<&Message<'_>>,
        client: &(Rc<str>, u16),
        statements: &mut Statements,
        each: &mut impl FnMut(Exchange),
    ) -> Agreed {
        match (side, message) {
            (side, None) => {
                self.miss(side);
                Agreed::Nothing
            }
            (Side::Client, Some(message)) => {
                self.request(message, statements);
                Agreed::Nothing
            }
            (Side::Node, Some(message)) => self.answer(message, client, statements, each),
        }
    }

    /// Notes that bytes of one side were not captured. If that happens on both sides, a request may have been answered
    /// and its stream reused by another request. Then the next answer on the stream can't be paired.
    fn miss(&mut self, side: Side) {
        if side == Side::Client {
            self.known.clear();
            self.has_missed = true;
        }
        let before = self.pending.len();
        self.pending.retain(|_, pending| {
            pending.has_missed[side as usize] = true;
            pending.has_missed != [true; 2]
        });
        self.lost[NO_ANSWER] += (before - self.pending.len()) as u64;
    }

    fn compression_of(&self, message: &Message<'_>) -> Option<Option<Compression>> {
        message.is_packed().then_some(self.compression)
    }

    fn request(&mut self, message: &Message<'_>, statements: &mut Statements) {
        let compressed = self.compression_of(message);
        let body = proper(Side::Client, message.flags, compressed, message.body).unwrap_or_default();
        let mut driver = None;
        if message.opcode == opcode::STARTUP {
            let startup = startup(&body);
            self.compression = startup.compression;
            driver = Some(Box::new(startup.driver));
        }
        let mut asked = statements.of(message.version, message.opcode, &body);
        asked.keyspace = asked.keyspace.or_else(|| self.keyspace.clone());
        let partition = asked.keyspace.as_deref().zip(asked.token);
        asked.to_replica = partition.and_then(|(keyspace, token)| statements.replicas.has(keyspace, token));
        let request = Request {
            opcode: message.opcode,
            asked,
            first_ns: message.first_ns,
            last_ns: message.last_ns,
            bytes: message.size,
            is_compressed: message.is_compressed(),
            is_traced: message.is_traced(),
            driver,
        };
        self.known.insert(message.stream);
        let pending = Pending { request, has_missed: [false; 2] };
        if self.pending.insert(message.stream, Box::new(pending)).is_some() {
            self.lost[NO_ANSWER] += 1;
        }
    }

    fn answer(
        &mut self,
        message: &Message<'_>,
        (client, client_port): &(Rc<str>, u16),
        statements: &mut Statements,
        each: &mut impl FnMut(Exchange),
    ) -> Agreed {
        if message.opcode == opcode::EVENT {
            return Agreed::Nothing;
        }
        let compressed = self.compression_of(message);
        let body = proper(Side::Node, message.flags, compressed, message.body).unwrap_or_default();
        let answer = Answer::read(message.version, message.opcode, &body);
        if let Some(keyspace) = answer.keyspace {
            self.keyspace = statements.keyspace(keyspace);
        }
        match self.pending.remove(&message.stream) {
            Some(pending) => {
                let mut request = pending.request;
                if answer.error.as_deref() == Some(SYNTAX_ERROR) {
                    request.asked.statement = statements.refused(&request.asked.statement);
                }
                if let Some(prepared) = answer.prepared {
                    let keyspace = prepared.keyspace.and_then(|name| statements.keyspace(name));
                    let keyspace = keyspace.or_else(|| request.asked.keyspace.clone());
                    let statement = Rc::clone(&request.asked.statement);
                    let values = prepared.values.as_ref();
                    let key = values.and_then(|values| PartitionKey::of(keyspace.as_deref(), values, &statement));
                    statements.insert(prepared.id, Prepared { statement, keyspace, key: key.map(Rc::new) });
                }
                self.requests += 1;
                each(Exchange {
                    client: Rc::clone(client),
                    client_port: *client_port,
                    stream: message.stream,
                    request,
                    first_answer_ns: message.first_ns,
                    last_answer_ns: message.last_ns,
                    kind: answer.kind,
                    error: answer.error,
                    rows: answer.rows,
                    has_more_pages: answer.has_more_pages,
                    is_warned: message.is_warned(),
                    answer_bytes: message.size,
                });
            }
            None if self.has_missed || self.known.contains(&message.stream) => self.lost[NO_REQUEST] += 1,
            // The request was sent before the recording began.
            None => {}
        }
        // From version 5 on, segments begin after the first answer to STARTUP.
        let shakes_hands = matches!(message.opcode, opcode::READY | opcode::AUTHENTICATE);
        match (message.version, shakes_hands) {
            (5.., true) => Agreed::Segments(match self.compression {
                Some(_) => Packing::Lz4,
                None => Packing::Plain,
            }),
            _ => Agreed::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A packet of a capture, without its addresses.
    #[derive(Debug, Clone)]
    pub(super) struct Captured {
        time_ns: i64,
        bytes: Vec<u8>,
    }

    /// Reads an Ethernet capture in the classic pcap format.
    pub(super) fn captured(file: &str) -> Vec<Captured> {
        const ETHERNET: usize = 14;
        let bytes = std::fs::read(format!("../../fixtures/wire/{file}.pcap")).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(word(0), 0xa1b2_c3d4);
        let mut at = 24;
        let mut packets = Vec::new();
        while at < bytes.len() {
            let time_ns = i64::from(word(at)) * 1_000_000_000 + i64::from(word(at + 4)) * 1000;
            let length = word(at + 8) as usize;
            packets.push(Captured { time_ns, bytes: bytes[at + 16 + ETHERNET..at + 16 + length].to_vec() });
            at += 16 + length;
        }
        packets
    }

    pub(super) fn node() -> SocketAddr {
        "127.0.0.1:9042".parse().unwrap()
    }

    /// The content of an exchange, without its times.
    fn summary(exchange: &Exchange) -> (u16, i16, u8, String, &'static str, u64, u64) {
        let Exchange { client_port, stream, request, kind, answer_bytes, .. } = exchange;
        (
            *client_port,
            *stream,
            request.opcode,
            request.asked.statement.to_string(),
            *kind,
            request.bytes,
            *answer_bytes,
        )
    }

    fn exchanges(packets: &[(i64, Packet<'_>)]) -> (Vec<Exchange>, [u64; LOST_REASONS.len()]) {
        let mut conversations = Conversations::new(node());
        let mut all = Vec::new();
        for (time_ns, packet) in packets {
            conversations.take_packet(*time_ns, packet, &mut |exchange| all.push(exchange));
        }
        (all, conversations.lost())
    }

    fn packets(captured: &[Captured]) -> Vec<(i64, Packet<'_>)> {
        captured.iter().filter_map(|one| Some((one.time_ns, Packet::read(&one.bytes, 9042)?))).collect()
    }

    /// The packets as if several clients sent the same at the same time.
    pub(super) fn of_clients(captured: &[Captured], clients: u16) -> Vec<(i64, Packet<'_>)> {
        let copies = packets(captured).into_iter().flat_map(|(time_ns, packet)| {
            (0..clients).map(move |copy| {
                let mut packet = packet;
                packet.client.set_port(packet.client.port().wrapping_add(copy * 150));
                (time_ns, packet)
            })
        });
        copies.collect()
    }

    #[test]
    fn every_request_of_real_captures_is_paired() {
        for file in ["v4-snappy", "v5", "v5-lz4"] {
            let captured = captured(file);
            let (exchanges, lost) = exchanges(&packets(&captured));
            assert_eq!(lost, [0; LOST_REASONS.len()], "{file}");
            let count = |statement: &str, kind: &str| {
                let right = |one: &&Exchange| {
                    one.request.opcode == opcode::EXECUTE
                        && one.kind == kind
                        && &*one.request.asked.statement == statement
                };
                exchanges.iter().filter(right).count()
            };
            assert_eq!(count("SELECT value FROM helenus.keyvalue WHERE key = :key", "rows"), 43, "{file}");
            assert_eq!(count("INSERT INTO helenus.keyvalue (key, value) VALUES (:key, :value)", "void"), 47, "{file}");
            assert!(exchanges.iter().all(|one| one.first_answer_ns > one.request.last_ns));
            assert!(exchanges.iter().any(|one| one.request.opcode == opcode::STARTUP && one.kind == "ready"));
            for read in exchanges.iter().filter(|one| one.request.opcode == opcode::EXECUTE && one.kind == "rows") {
                let asked = &read.request.asked;
                assert!(asked.keyspace.is_some() && asked.consistency.is_some() && read.rows.is_some(), "{read:?}");
                assert_eq!(read.request.is_compressed, file != "v5", "{read:?}");
            }
        }
    }

    /// Without the beginning of the capture, requests under way are recognized.
    #[test]
    fn connections_that_are_under_way_are_understood() {
        for file in ["v4-snappy", "v5", "v5-lz4"] {
            let captured = captured(file);
            let all = packets(&captured);
            let (whole, _) = exchanges(&all);
            // Begins at the first request of the load.
            let first_ns = whole
                .iter()
                .filter(|one| one.request.asked.statement.starts_with("INSERT") && one.kind == "void")
                .map(|one| one.request.last_ns)
                .min()
                .unwrap();
            let late: Vec<_> = packets(&captured).into_iter().filter(|(time_ns, _)| *time_ns >= first_ns).collect();
            let (later, lost) = exchanges(&late);
            assert_eq!(lost, [0; LOST_REASONS.len()], "{file}");
            let executed = |all: &[Exchange], from_ns| {
                let right = |one: &&Exchange| one.request.opcode == opcode::EXECUTE && one.request.last_ns >= from_ns;
                all.iter().filter(right).count()
            };
            assert_eq!(executed(&later, first_ns), executed(&whole, first_ns), "{file}");
            assert!(
                later
                    .iter()
                    .all(|one| one.request.asked.statement.starts_with("prepared ")
                        || one.request.opcode != opcode::EXECUTE),
                "ids alone are known"
            );
        }
    }

    #[test]
    fn a_node_that_answers_nobody_is_silent() {
        let captured = captured("v5");
        let all = packets(&captured);
        let mut conversations = Conversations::new(node());
        assert_eq!(conversations.silence(), None);
        // Up to a request whose answer has not come yet.
        let asked =
            all.iter().rposition(|(_, packet)| packet.from == Side::Client && packet.payload.len() > 20).unwrap();
        all[..=asked].iter().for_each(|(time_ns, packet)| conversations.take_packet(*time_ns, packet, &mut |_| ()));
        let silence = conversations.silence().unwrap();
        assert_eq!(silence.newest_ns, all[asked].0);
        let heard_ns = all[..asked].iter().filter(|(_, packet)| packet.from == Side::Node).map(|(time_ns, _)| *time_ns);
        assert!((heard_ns.max().unwrap()..=all[asked].0).contains(&silence.since_ns), "{silence:?}");
        assert!(silence.requests >= 1);
        all[asked + 1..].iter().for_each(|(time_ns, packet)| conversations.take_packet(*time_ns, packet, &mut |_| ()));
        assert_eq!(conversations.silence(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Packets that are cut anywhere, sent twice and reordered give the same requests and answers.
        #[test]
        fn cut_and_shuffled_captures_are_the_same(
            file in prop::sample::select(vec!["v4-snappy", "v5", "v5-lz4"]),
            seed in prop::collection::vec((1usize..90, 0usize..6, any::<bool>()), 200),
        ) {
            let captured = captured(file);
            let whole = packets(&captured);
            let mut draw = seed.iter().cycle();
            let mut cut: Vec<(usize, i64, Packet<'_>)> = Vec::new();
            // Only packets of one side are reordered, and never across a packet of the other side: an answer does not
            // come before its request.
            let mut turn = (0, Side::Client);
            for (time_ns, packet) in &whole {
                if packet.begins() || packet.ends() || packet.from != turn.1 {
                    turn = (turn.0 + 1000, packet.from);
                }
                let mut at = 0;
                let mut place = 0;
                loop {
                    let (length, late, twice) = *draw.next().unwrap();
                    let end = (at + length).min(packet.payload.len());
                    let mut piece = *packet;
                    piece.sequence = packet.sequence.wrapping_add(at as u32);
                    piece.payload = &packet.payload[at..end];
                    // One turn of a side may have several packets.
                    let base = turn.0 + place;
                    cut.push((base + late, *time_ns, piece));
                    if twice {
                        cut.push((base, *time_ns, piece));
                    }
                    place = (place + 1).min(900);
                    at = end;
                    if at >= packet.payload.len() {
                        break;
                    }
                }
            }
            cut.sort_by_key(|(place, ..)| *place);
            let cut: Vec<(i64, Packet<'_>)> = cut.into_iter().map(|(_, time_ns, packet)| (time_ns, packet)).collect();
            let (mut expected, mut got): (Vec<_>, Vec<_>) =
                (exchanges(&whole).0.iter().map(summary).collect(), exchanges(&cut).0.iter().map(summary).collect());
            expected.sort();
            got.sort();
            prop_assert_eq!(expected, got);
        }

        /// Whichever packets are missing, the reported exchanges are correct and the rest is counted as lost.
        #[test]
        fn nothing_is_made_up_where_packets_are_missing(
            file in prop::sample::select(vec!["v4-snappy", "v5", "v5-lz4"]),
            missing in prop::collection::vec(0.0f64..1.0, 1..40),
        ) {
            let captured = captured(file);
            let whole = packets(&captured);
            // All packets with the same bytes are removed, because a retransmission has another time.
            let same = |packet: &Packet<'_>| (packet.client, packet.from == Side::Node, packet.sequence);
            let missing: HashSet<_> =
                missing.iter().map(|share| same(&whole[(share * whole.len() as f64) as usize].1)).collect();
            let left: Vec<_> = whole
                .iter()
                .filter(|(_, packet)| !missing.contains(&same(packet)) || packet.begins())
                .copied()
                .collect();
            // A statement whose PREPARE was not seen is named by its id; its table is unknown.
            let about = |one: &Exchange| {
                let (client, stream, opcode, _, kind, request, answer) = summary(one);
                (client, stream, opcode, kind, request, answer, one.request.last_ns, one.first_answer_ns)
            };
            let all: HashSet<_> = exchanges(&whole).0.iter().map(about).collect();
            let (got, _) = exchanges(&left);
            for one in &got {
                prop_assert!(all.contains(&about(one)), "made up: {:?}", one);
            }
        }
    }
}
