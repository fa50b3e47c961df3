//! One bound for everything that waits, on all connections together: requests without their answer, parts of messages, and
//! packets that came too early. Anybody who can connect to the node can make them wait.

use super::{Conversation, Conversations, GIVEN_UP, Pending, ProtocolState, TOO_MANY};
use crate::bounded::{Room, oldest};
use crate::wire::messages::Messages;
use crate::wire::ordered::Ordered;
use std::collections::HashSet;

/// The most connections that are followed at the same time. By default a node accepts fewer.
pub(super) const CONNECTIONS: usize = 1 << 16;
/// The most bytes that wait; [`super::LOST_REASONS`] says it, too.
pub(super) const WAITING: usize = 64 << 20;

/// Bytes in memory of a request without its answer, of its place in the map, and of a stream that is known.
const PENDING: usize = size_of::<Pending>() + 16;
const PLACE: usize = size_of::<(i16, Box<Pending>)>() + 1;
const STREAM: usize = size_of::<i16>() + 1;

impl Conversations {
    /// Makes room: returns buffers that are not used, and gives up what has waited for longest, on whichever connection.
    pub(super) fn give_up_oldest(&mut self) {
        for conversation in self.all.values_mut() {
            conversation.messages.iter_mut().for_each(|messages| messages.tidy(0));
            conversation.account(&mut self.room);
        }
        let bytes = self.room.to_give_up();
        if bytes == 0 {
            return;
        }
        let until_ns = oldest(self.all.values().flat_map(Conversation::waiting).collect(), bytes);
        for conversation in self.all.values_mut() {
            self.lost[GIVEN_UP] += conversation.give_up(until_ns);
            conversation.account(&mut self.room);
        }
    }

    /// Forgets the eighth of all connections that has sent nothing for longest. The end of some may not have been captured.
    pub(super) fn forget_idle(&mut self) {
        let idle = self.all.values().map(|conversation| (conversation.heard_ns, 1)).collect();
        let until_ns = oldest(idle, CONNECTIONS / 8);
        let (room, mut forgotten) = (&mut self.room, Vec::new());
        self.all.retain(|_, conversation| {
            let is_kept = conversation.heard_ns > until_ns;
            if !is_kept {
                room.change(conversation.accounted, 0);
                forgotten.push(conversation.counts());
            }
            is_kept
        });
        self.lost[TOO_MANY] += forgotten.len() as u64;
        forgotten.into_iter().for_each(|counts| self.add(counts));
    }
}

impl Conversation {
    /// Accounts for the bytes that it takes now.
    pub(super) fn account(&mut self, room: &mut Room) {
        let held = self.held();
        room.change(std::mem::replace(&mut self.accounted, held), held);
    }

    /// The bytes in memory that depend on what its client and node send.
    fn held(&self) -> usize {
        let order: usize = self.order.iter().map(Ordered::held).sum();
        let messages: usize = self.messages.iter().map(Messages::held).sum();
        let ProtocolState { pending, known, .. } = &self.protocol;
        order + messages + pending.len() * PENDING + pending.capacity() * PLACE + known.capacity() * STREAM
    }

    /// Everything that waits: when it came, and its bytes.
    fn waiting(&self) -> impl Iterator<Item = (i64, usize)> + '_ {
        let order = self.order.iter().filter_map(|order| Some((order.oldest_ns()?, order.held())));
        let messages = self.messages.iter().filter_map(|messages| Some((messages.begun_ns()?, messages.held())));
        let pending = self.protocol.pending.values().map(|pending| (pending.request.last_ns, PENDING + PLACE));
        let streams = (self.heard_ns, self.protocol.known.capacity() * STREAM);
        order.chain(messages).chain(pending).chain(std::iter::once(streams))
    }

    /// Gives up what has waited since that time or longer. Returns the number of requests and parts of messages.
    fn give_up(&mut self, until_ns: i64) -> u64 {
        let mut count = 0;
        for (order, messages) in self.order.iter_mut().zip(&mut self.messages) {
            let is_old = |since_ns: Option<i64>| since_ns.is_some_and(|since_ns| since_ns <= until_ns);
            let is_order_old = is_old(order.oldest_ns());
            if is_order_old {
                order.give_up();
            }
            if is_order_old || is_old(messages.begun_ns()) {
                messages.give_up();
                count += 1;
            }
        }
        let ProtocolState { pending, known, has_missed, .. } = &mut self.protocol;
        let before = pending.len();
        pending.retain(|stream, pending| {
            let is_kept = pending.request.last_ns > until_ns;
            if !is_kept {
                // Its answer is not counted a second time.
                known.remove(stream);
            }
            is_kept
        });
        count += (before - pending.len()) as u64;
        pending.shrink_to_fit();
        known.shrink_to_fit();
        if self.heard_ns <= until_ns && !known.is_empty() {
            *known = HashSet::default();
            *has_missed = true;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::conversation::tests::node;
    use crate::wire::conversation::{Exchange, NO_REQUEST};
    use crate::wire::packet::{Packet, Side};
    use helenus_cassandra::cql::Packing;
    use helenus_cassandra::cql::frame::opcode;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use std::net::SocketAddr;

    /// Clients that send bytes one after another, each with its own sequence numbers.
    struct Clients {
        conversations: Conversations,
        sequences: HashMap<(SocketAddr, bool), u32>,
        now_ns: i64,
        got: Vec<Exchange>,
        most_held: usize,
    }

    impl Clients {
        fn new() -> Clients {
            let (sequences, got) = (HashMap::new(), Vec::new());
            Clients { conversations: Conversations::new(node()), sequences, now_ns: 0, got, most_held: 0 }
        }

        fn send(&mut self, client: u32, from: Side, payload: &[u8], is_early: bool) {
            self.now_ns += 1_000;
            let address = SocketAddr::from(([127, (client >> 16) as u8, (client >> 8) as u8, client as u8], 40_000));
            let known = self.sequences.entry((address, from == Side::Node)).or_insert_with(|| u32::MAX);
            let begins = *known == u32::MAX;
            if begins {
                *known = 1;
                let begin = Packet::tapped(address, from, 0, 0, true, false, &[]);
                self.conversations.take_packet(self.now_ns, &begin, &mut |_| ());
            }
            let sequence = *known + u32::from(is_early) * 1_000;
            *known = sequence.wrapping_add(payload.len() as u32);
            let packet = Packet::tapped(address, from, sequence, 0, false, false, payload);
            let got = &mut self.got;
            self.conversations.take_packet(self.now_ns, &packet, &mut |exchange| got.push(exchange));
            self.most_held = self.most_held.max(self.conversations.room.held());
        }

        fn given_up(&mut self) -> u64 {
            self.conversations.lost()[GIVEN_UP]
        }

        /// The bytes that the connections hold, counted from scratch.
        fn held(&self) -> usize {
            self.conversations.all.values().map(Conversation::held).sum()
        }
    }

    fn frame(version: u8, flags: u8, stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
        let [high, low] = stream.to_be_bytes();
        [&[version, flags, high, low, opcode][..], &(body.len() as u32).to_be_bytes(), body].concat()
    }

    fn options(stream: i16) -> Vec<u8> {
        frame(4, 0, stream, opcode::OPTIONS, &[])
    }

    fn supported(stream: i16) -> Vec<u8> {
        frame(0x84, 0, stream, opcode::SUPPORTED, &[0, 0])
    }

    #[test]
    fn requests_that_are_never_answered_make_room_for_others() {
        let mut clients = Clients::new();
        let others = 4;
        // Each connection of the attacker has thousands of requests in flight; other clients go on.
        let all: Vec<u8> = (0..4_000).flat_map(options).collect();
        for connection in 0..150 {
            clients.send(1_000 + connection, Side::Client, &all, false);
            for other in 0..others {
                clients.send(other, Side::Client, &options(connection as i16), false);
                clients.send(other, Side::Node, &supported(connection as i16), false);
            }
            assert_eq!(clients.conversations.room.held(), clients.held());
        }
        assert!(clients.most_held <= WAITING + (4 << 20), "{}", clients.most_held);
        assert_eq!(clients.got.len(), 150 * others as usize, "others are paired as before");
        let waiting: usize = clients.conversations.all.values().map(|one| one.protocol.pending.len()).sum();
        let given_up = clients.given_up();
        assert!(given_up > 0);
        assert_eq!(given_up as usize + waiting, 150 * 4_000, "each is either here or counted");
        // A late answer is not counted once more.
        clients.send(1_000, Side::Node, &supported(5), false);
        assert_eq!(clients.conversations.lost()[NO_REQUEST], 0);
    }

    #[test]
    fn messages_without_an_end_make_room_for_others() {
        for in_segments in [false, true] {
            let mut clients = Clients::new();
            // Compressed, so that all of it has to be there before it is read.
            let mut begun = frame(4, 1, 1, opcode::QUERY, &vec![7; 3 << 20]);
            begun.truncate(1 << 20);
            for connection in 0..120 {
                if in_segments {
                    let startup = frame(5, 0, 0, opcode::STARTUP, &[0, 0]);
                    clients.send(1_000 + connection, Side::Client, &startup, false);
                    clients.send(1_000 + connection, Side::Node, &frame(0x85, 0, 0, opcode::READY, &[]), false);
                    let mut sealed = Vec::new();
                    Packing::Plain.seal(&frame(5, 0, 1, opcode::BATCH, &vec![7; 60_000]), &mut sealed);
                    sealed.truncate(50_000);
                    clients.send(1_000 + connection, Side::Client, &sealed, false);
                } else {
                    begun.chunks(60_000).for_each(|part| clients.send(1_000 + connection, Side::Client, part, false));
                }
                clients.send(1, Side::Client, &options(3), false);
                clients.send(1, Side::Node, &supported(3), false);
                assert_eq!(clients.conversations.room.held(), clients.held());
            }
            assert!(clients.most_held <= WAITING + (4 << 20), "{}", clients.most_held);
            assert_eq!(clients.got.iter().filter(|one| one.request.opcode == opcode::OPTIONS).count(), 120);
            assert_eq!(clients.given_up() > 0, !in_segments, "segments are small");
        }
    }

    #[test]
    fn packets_that_come_too_early_make_room_for_others() {
        let mut clients = Clients::new();
        for connection in 0..1_000 {
            // One byte in each packet, and a byte is missing before each.
            (0..1_000).for_each(|_| clients.send(1_000 + connection, Side::Client, &[4], true));
            clients.send(1, Side::Client, &options(3), false);
            clients.send(1, Side::Node, &supported(3), false);
        }
        assert_eq!(clients.conversations.room.held(), clients.held());
        assert!(clients.most_held <= WAITING + (4 << 20), "{}", clients.most_held);
        assert_eq!(clients.got.len(), 1_000);
        assert!(clients.given_up() > 0);
    }

    #[test]
    fn of_too_many_connections_the_idle_ones_are_forgotten() {
        let mut clients = Clients::new();
        for connection in 0..CONNECTIONS as u32 + 100 {
            clients.send(1_000 + connection, Side::Client, &options(1), false);
            if connection % 1_000 == 0 {
                clients.send(1, Side::Client, &options(3), false);
                clients.send(1, Side::Node, &supported(3), false);
            }
        }
        assert!(clients.conversations.all.len() <= CONNECTIONS);
        assert_eq!(clients.got.len(), CONNECTIONS / 1_000 + 1);
        assert_eq!(clients.conversations.room.held(), clients.held());
        let lost = clients.conversations.lost();
        assert!(lost[TOO_MANY] as usize >= CONNECTIONS / 8, "{lost:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// The account is right after any packets.
        #[test]
        fn the_account_is_right_after_any_packets(
            sent in prop::collection::vec((0u32..6, any::<bool>(), 0usize..6, any::<bool>()), 0..300),
        ) {
            let mut clients = Clients::new();
            for (number, (client, is_node, what, is_early)) in sent.iter().enumerate() {
                let stream = (number % 50) as i16;
                let payload = match what {
                    0 => options(stream),
                    1 => supported(stream),
                    2 => frame(4, 1, stream, opcode::QUERY, &vec![3; 900])[..500].to_vec(),
                    3 => frame(0x84, 0, stream, opcode::RESULT, &vec![3; 20_000]),
                    4 => vec![number as u8; 700],
                    _ => [options(stream), options(stream + 1)].concat(),
                };
                let from = if *is_node { Side::Node } else { Side::Client };
                clients.send(*client, from, &payload, *is_early && *what == 4);
                prop_assert_eq!(clients.conversations.room.held(), clients.held());
                if number % 40 == 39 {
                    let until_ns = clients.now_ns - 10_000;
                    for conversation in clients.conversations.all.values_mut() {
                        conversation.give_up(until_ns);
                        conversation.account(&mut clients.conversations.room);
                    }
                }
            }
            // Once all is given up, nearly nothing is held.
            let until_ns = clients.now_ns;
            for conversation in clients.conversations.all.values_mut() {
                conversation.give_up(until_ns);
                conversation.messages.iter_mut().for_each(|messages| messages.tidy(0));
                conversation.account(&mut clients.conversations.room);
            }
            prop_assert!(clients.held() <= 6 * 200, "{}", clients.held());
        }
    }
}
