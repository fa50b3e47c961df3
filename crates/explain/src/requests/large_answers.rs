//! Finds small answers that left with a large one on the same connection, or right behind it. One thread encodes and sends the
//! answers of a connection, so that small ones wait for the large one (head-of-line blocking).
//!
//! The time at which a request began is not compared: long requests would meet more large answers by chance than short ones.

use super::{Request, Traits};
use crate::timeline::{Interval, merge};
use std::collections::HashMap;

/// Answers of at least this size are large: they take many packets.
pub(crate) const LARGE_BYTES: i64 = 64 << 10;
/// An answer that begins within this time after the end of a large one is right behind it. Of requests for 2 MiB on two CPUs,
/// four of five small answers that had waited left within 10 ms, and one of three within 2 ms.
pub(crate) const BEHIND_NS: i64 = 10_000_000;

/// Node, client and the client's port.
pub(super) type Connection = (u16, u16, u16);

/// Per connection, the intervals from the first byte of a large answer to [`BEHIND_NS`] after its last.
#[derive(Default)]
pub(super) struct LargeAnswers {
    times: HashMap<Connection, Vec<Interval>, foldhash::fast::RandomState>,
}

impl LargeAnswers {
    pub(super) fn add(&mut self, request: &Request, sending_ns: i64) {
        // Without a port the connection is not known.
        if request.client_port == 0 {
            return;
        }
        let end = request.end_ns.saturating_add(sending_ns).saturating_add(BEHIND_NS);
        self.times.entry(request.connection()).or_default().push(Interval { start: request.end_ns, end });
    }

    /// Marks the requests whose small answer left with a large one or right behind it.
    pub(super) fn mark(mut self, requests: &mut [Request]) {
        if self.times.is_empty() {
            return;
        }
        self.times.values_mut().for_each(|times| *times = merge(std::mem::take(times)));
        for request in requests {
            let Some(times) = self.times.get(&request.connection()) else { continue };
            let begun = times.partition_point(|time| time.start <= request.end_ns);
            if !request.has_large_answer()
                && begun.checked_sub(1).is_some_and(|last| times[last].contains(request.end_ns))
            {
                request.traits.0 |= Traits::BEHIND_LARGE;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Size;
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn answers_with_a_large_one_or_right_behind_it_are_marked() {
        let request = |client_port, end_ms: i64| Request { client_port, end_ns: end_ms * MS, ..Request::default() };
        // The first is large, and its last byte leaves at 30 ms.
        let mut requests =
            [request(1, 20), request(1, 19), request(1, 21), request(1, 39), request(1, 40), request(2, 31)];
        requests[0].response_size = Size::of_number(LARGE_BYTES);
        let mut large = LargeAnswers::default();
        large.add(&requests[0], 10 * MS);
        large.mark(&mut requests);
        assert_eq!(requests.map(|request| request.is_behind_large()), [false, false, true, true, false, false]);
    }
}
