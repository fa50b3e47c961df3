//! Reassembles one direction of a TCP connection in sequence order.

use std::collections::BTreeMap;

/// The most bytes that are kept while an earlier part is delayed or missing.
const WAITING_BYTES: usize = 4 << 20;
/// Bytes in memory of a part that waits, besides those that it has.
const PART: usize = 96;
/// The longest time, in ns, that bytes are kept while an earlier part is missing.
const WAITING_NS: i64 = 1_000_000_000;

/// A piece of the ordered stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Bytes {
        time_ns: i64,
        bytes: &'a [u8],
    },
    /// Bytes before the next piece were not captured.
    Gap,
}

#[derive(Debug, Default)]
pub(super) struct Ordered {
    /// The sequence number of the next byte; None before the first packet.
    next: Option<u32>,
    /// Parts that came too early, by their distance from the first byte that was seen.
    waiting: BTreeMap<u64, (i64, Vec<u8>)>,
    waiting_bytes: usize,
    /// The distance of `next` from the first byte that was seen.
    position: u64,
}

impl Ordered {
    /// A direction whose first byte was seen.
    pub(super) fn begun(first: u32) -> Ordered {
        Ordered { next: Some(first), ..Ordered::default() }
    }

    /// Adds the bytes of a packet, and passes on the bytes that are now in order.
    pub(super) fn take(&mut self, sequence: u32, time_ns: i64, bytes: &[u8], mut each: impl FnMut(Part<'_>)) {
        if bytes.is_empty() {
            return;
        }
        let next = *self.next.get_or_insert(sequence);
        // Sequence numbers wrap around: less than half of the range is ahead, the rest is behind.
        let ahead = sequence.wrapping_sub(next).cast_signed();
        if ahead <= 0 {
            // The packet is a retransmission, completely or in part.
            let known = usize::try_from(-i64::from(ahead)).unwrap_or(usize::MAX);
            if let Some(new) = bytes.get(known..).filter(|new| !new.is_empty()) {
                self.advance(new.len());
                each(Part::Bytes { time_ns, bytes: new });
                self.hand_on(&mut each);
            }
            return;
        }
        let at = self.position + u64::from(ahead.cast_unsigned());
        let known = self.waiting.get(&at).map_or(0, |(_, known)| known.len());
        if bytes.len() > known {
            let before = if known > 0 { known + PART } else { 0 };
            self.waiting_bytes += bytes.len() + PART - before;
            self.waiting.insert(at, (time_ns, bytes.to_vec()));
        }
        let oldest_ns = self.waiting.values().next().map_or(time_ns, |(time_ns, _)| *time_ns);
        if self.waiting_bytes > WAITING_BYTES || time_ns - oldest_ns > WAITING_NS {
            self.skip(&mut each);
        }
    }

    /// The other side has acknowledged all bytes up to a sequence number, so missing bytes before it will not be sent
    /// again.
    pub(super) fn acknowledged(&mut self, up_to: u32, mut each: impl FnMut(Part<'_>)) {
        let ahead = self.next.map_or(0, |next| up_to.wrapping_sub(next).cast_signed());
        if ahead > 0 {
            let until = self.position + u64::from(ahead.cast_unsigned());
            // Waiting bytes end the gap, so it is skipped only up to the first of them.
            while self.waiting.first_key_value().is_some_and(|(at, _)| *at < until) && self.position < until {
                self.skip(&mut each);
            }
            if self.position < until {
                self.advance(usize::try_from(until - self.position).unwrap_or(usize::MAX));
                each(Part::Gap);
                self.hand_on(&mut each);
            }
        }
    }

    /// The bytes of all parts that wait.
    pub(super) fn held(&self) -> usize {
        self.waiting_bytes
    }

    /// When the oldest part came that waits.
    pub(super) fn oldest_ns(&self) -> Option<i64> {
        self.waiting.values().map(|(time_ns, _)| *time_ns).min()
    }

    /// Gives up all parts that wait, and the bytes that are missing before them.
    pub(super) fn give_up(&mut self) {
        if let Some((at, (_, bytes))) = self.waiting.pop_last() {
            let end = at + bytes.len() as u64;
            self.advance(usize::try_from(end.saturating_sub(self.position)).unwrap_or(usize::MAX));
        }
        self.waiting.clear();
        self.waiting_bytes = 0;
    }

    /// Skips missing bytes at the end of the connection.
    pub(super) fn finish(&mut self, mut each: impl FnMut(Part<'_>)) {
        while !self.waiting.is_empty() {
            self.skip(&mut each);
        }
    }

    fn skip(&mut self, each: &mut impl FnMut(Part<'_>)) {
        let Some(at) = self.waiting.keys().next().copied() else { return };
        self.advance(usize::try_from(at - self.position).unwrap_or(usize::MAX));
        each(Part::Gap);
        self.hand_on(each);
    }

    fn hand_on(&mut self, each: &mut impl FnMut(Part<'_>)) {
        while let Some(first) = self.waiting.first_entry().filter(|first| *first.key() <= self.position) {
            let (at, (time_ns, bytes)) = first.remove_entry();
            self.waiting_bytes -= bytes.len() + PART;
            let known = usize::try_from(self.position - at).unwrap_or(usize::MAX);
            if let Some(new) = bytes.get(known..).filter(|new| !new.is_empty()) {
                self.advance(new.len());
                each(Part::Bytes { time_ns, bytes: new });
            }
        }
    }

    fn advance(&mut self, by: usize) {
        self.position += by as u64;
        self.next = self.next.map(|next| next.wrapping_add(by as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(ordered: &mut Ordered, sequence: u32, bytes: &[u8]) -> (Vec<u8>, usize) {
        let (mut all, mut gaps) = (Vec::new(), 0);
        ordered.take(sequence, 0, bytes, |part| match part {
            Part::Bytes { bytes, .. } => all.extend(bytes),
            Part::Gap => gaps += 1,
        });
        (all, gaps)
    }

    proptest! {
        /// Packets cut anywhere, sent twice and out of order are reassembled into the sent bytes.
        #[test]
        fn order_is_restored(
            start: u32,
            cuts in prop::collection::vec(1usize..40, 1..60),
            keys in prop::collection::vec((any::<u32>(), any::<bool>()), 60),
        ) {
            let total: usize = cuts.iter().sum();
            let sent: Vec<u8> = (0..total).map(|at| (at % 251) as u8).collect();
            let mut at = 0;
            let mut packets = Vec::new();
            for (cut, (key, twice)) in cuts.iter().zip(&keys) {
                // Moves each packet by a few places, as networks do.
                packets.push((packets.len() as u32 * 10 + key % 50, at, *cut));
                if *twice {
                    packets.push((packets.len() as u32 * 10 + key % 70, at, (*cut + 3).min(total - at)));
                }
                at += cut;
            }
            packets.sort_unstable();
            let mut ordered = Ordered::begun(start);
            let mut got = Vec::new();
            for (_, at, length) in packets {
                let (bytes, gaps) = parts(&mut ordered, start.wrapping_add(at as u32), &sent[at..at + length]);
                prop_assert_eq!(gaps, 0);
                got.extend(bytes);
            }
            prop_assert_eq!(got, sent);
        }
    }

    #[test]
    fn what_was_acknowledged_and_never_came_is_a_gap() {
        let mut ordered = Ordered::begun(0);
        assert_eq!(parts(&mut ordered, 2, b"cd"), (vec![], 0));
        let mut seen = Vec::new();
        ordered.acknowledged(8, |part| seen.push(format!("{part:?}").contains("Gap")));
        assert_eq!(seen, [true, false, true], "before what was there, and after it");
        assert_eq!(parts(&mut ordered, 8, b"ij"), (b"ij".to_vec(), 0));
        ordered.acknowledged(4, |part| panic!("{part:?}"));
    }

    #[test]
    fn what_is_missing_for_too_long_is_a_gap() {
        let mut ordered = Ordered::begun(u32::MAX - 1);
        assert_eq!(parts(&mut ordered, u32::MAX - 1, b"ab"), (b"ab".to_vec(), 0));
        assert_eq!(parts(&mut ordered, 10, b"later"), (vec![], 0));
        let mut seen = Vec::new();
        ordered.take(20, WAITING_NS + 1, b"more", |part| {
            seen.push(match part {
                Part::Bytes { bytes, .. } => String::from_utf8(bytes.to_vec()).unwrap(),
                Part::Gap => "gap".to_string(),
            });
        });
        assert_eq!(seen, ["gap", "later"]);
        ordered.finish(|part| seen.push(format!("{part:?}")));
        assert_eq!(seen.len(), 4);
    }
}
