//! The connections of a node that are followed: fewer where all of them would cost too much.

use super::{Conversation, Conversations};
use crate::wire::sample::{MOST_HALVINGS, Sample};

/// The fewest connections with requests that are followed. A weight is not reliable for fewer.
const FEWEST_FOLLOWED: usize = 8;

/// The connections that are not followed any more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::wire) struct LeftOut {
    /// Number of recent requests that each request of a followed connection stands for.
    pub(in crate::wire) weight: f64,
}

impl Conversations {
    pub(in crate::wire) fn sample(&self) -> Sample {
        self.sample
    }

    /// Halves the followed connections this many times, or as often as leaves enough requests. A weight is not reliable
    /// for a few connections, which may send most of the requests or none. None if no connection is left out.
    pub(in crate::wire) fn narrow(&mut self, halvings: u32) -> Option<LeftOut> {
        /// Number of candidate selections of connections; the one that best preserves the share of requests is used.
        const TRIED: u16 = 64;
        let now = self.sample;
        let requests = |sample: Sample| -> (u64, usize) {
            let followed = self.all.iter().filter(|(client, _)| sample.follows(client.port()));
            let requests = followed.map(|(_, one)| one.protocol.requests).filter(|requests| *requests > 0);
            requests.fold((0, 0), |(sum, connections), requests| (sum + requests, connections + 1))
        };
        let (all, _) = requests(now);
        let most = (now.level + halvings).min(MOST_HALVINGS);
        let (sample, followed) = (now.level + 1..=most).rev().find_map(|level| {
            let wanted = all >> (level - now.level);
            let salts = if now.level == 0 { 0..TRIED } else { now.salt..now.salt + 1 };
            let tried = salts.map(|salt| Sample { level, salt }).map(|sample| (sample, requests(sample)));
            tried
                .filter(|(_, (followed, connections))| *connections >= FEWEST_FOLLOWED && *followed < all)
                .map(|(sample, (followed, _))| (sample, followed))
                .min_by_key(|(_, followed)| followed.abs_diff(wanted))
        })?;
        self.sample = sample;
        let room = &mut self.room;
        self.all.retain(|client, conversation| {
            let is_followed = sample.follows(client.port());
            if !is_followed {
                room.change(conversation.accounted, 0);
            }
            is_followed
        });
        Some(LeftOut { weight: all as f64 / followed as f64 })
    }

    /// Follows the connections of an earlier sample again, which contains the present one. The connections that were left out are
    /// parsed from the middle of their traffic.
    pub(in crate::wire) fn widen(&mut self, sample: Sample) {
        self.sample = sample;
    }

    /// Whether too few of the followed connections send requests to stand for the others: those that did may have ended, and
    /// new ones are not followed.
    pub(in crate::wire) fn follows_too_few(&self) -> bool {
        let sends = |one: &&Conversation| one.protocol.requests > 0 || !one.protocol.pending.is_empty();
        self.sample.level > 0 && self.all.values().filter(sends).count() < FEWEST_FOLLOWED / 2
    }

    /// Starts to count the requests of each connection from 0.
    pub(in crate::wire) fn forget_requests(&mut self) {
        self.all.values_mut().for_each(|one| one.protocol.requests = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::conversation::tests::{captured, node, of_clients};
    use crate::wire::conversation::{Exchange, LOST_REASONS};
    use crate::wire::packet::Packet;

    /// A connection is followed completely or not at all, and the weight accounts for the connections that are left
    /// out.
    #[test]
    fn of_fewer_connections_every_request_is_paired() {
        let captured = captured("v5");
        let all = of_clients(&captured, 32);
        let mut whole = Vec::new();
        let mut conversations = Conversations::new(node());
        all.iter()
            .for_each(|(time_ns, packet)| conversations.take_packet(*time_ns, packet, &mut |one| whole.push(one)));
        let mut conversations = Conversations::new(node());
        let half = all.len() / 2;
        all[..half].iter().for_each(|(time_ns, packet)| conversations.take_packet(*time_ns, packet, &mut |_| ()));
        let counted = |conversations: &Conversations| -> u64 {
            conversations.all.values().map(|one| one.protocol.requests).sum()
        };
        let requests = counted(&conversations);
        let left_out = conversations.narrow(1).unwrap();
        assert!((left_out.weight - requests as f64 / counted(&conversations) as f64).abs() < 1e-9);
        let sample = conversations.sample();
        let mut later = Vec::new();
        all[half..]
            .iter()
            .for_each(|(time_ns, packet)| conversations.take_packet(*time_ns, packet, &mut |one| later.push(one)));
        assert!(!later.is_empty() && later.iter().all(|one| sample.follows(one.client_port)));
        let of_sample = |one: &&Exchange| sample.follows(one.client_port) && one.last_answer_ns > all[half - 1].0;
        assert_eq!(later.len(), whole.iter().filter(of_sample).count());
        assert_eq!(conversations.lost(), [0; LOST_REASONS.len()]);
    }

    #[test]
    fn connections_that_end_do_not_stand_for_others() {
        let captured = captured("v5");
        let all = of_clients(&captured, 32);
        let mut conversations = Conversations::new(node());
        let half = all.len() / 2;
        all[..half].iter().for_each(|(time_ns, packet)| conversations.take_packet(*time_ns, packet, &mut |_| ()));
        assert!(!conversations.follows_too_few(), "all are followed");
        conversations.narrow(1).unwrap();
        assert!(!conversations.follows_too_few());
        conversations.forget_requests();
        all[half..].iter().for_each(|(time_ns, packet)| conversations.take_packet(*time_ns, packet, &mut |_| ()));
        assert!(conversations.follows_too_few(), "at the end of the capture the connections are closed");
    }

    #[test]
    fn connections_that_were_left_out_are_followed_again() {
        let captured = captured("v5");
        let all = of_clients(&captured, 32);
        let mut conversations = Conversations::new(node());
        let (first, second) = (all.len() / 3, all.len() * 2 / 3);
        let take = |conversations: &mut Conversations, part: &[(i64, Packet<'_>)]| {
            let mut got = Vec::new();
            part.iter()
                .for_each(|(time_ns, packet)| conversations.take_packet(*time_ns, packet, &mut |one| got.push(one)));
            got
        };
        take(&mut conversations, &all[..first]);
        conversations.narrow(1).unwrap();
        let fewer = conversations.sample();
        assert!(take(&mut conversations, &all[first..second]).iter().all(|one| fewer.follows(one.client_port)));
        conversations.widen(Sample::default());
        let again = take(&mut conversations, &all[second..]);
        assert!(again.iter().any(|one| fewer.follows(one.client_port)));
        assert!(again.iter().any(|one| !fewer.follows(one.client_port)));
    }
}
