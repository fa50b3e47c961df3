//! Requests in a node beyond the threads that it has for them, counted from the requests themselves.
//!
//! Cassandra (4.0 to 5.0, `Dispatcher`) gives a request a thread of the pool Native-Transport-Requests, in the order of
//! arrival, and the thread is at work for it until the answer is decided. So when more requests are in the node than the
//! pool has threads, the others wait in its queue. Samples miss queues that are shorter than the time between two.

use crate::requests::Requests;
use crate::timeline::Interval;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The pool that executes the requests of clients.
pub(super) const POOL: &str = "Native-Transport-Requests";

/// A time in which requests waited for a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waited {
    pub(super) window: Interval,
    /// Index in the nodes of the requests.
    pub(super) node: u16,
    /// The most that waited at a time.
    pub(super) most: usize,
}

/// The requests in one node, by when they leave it.
#[derive(Default)]
struct InNode {
    ends: BinaryHeap<Reverse<i64>>,
    since: Option<i64>,
    most: usize,
}

/// When requests waited, in the order in which this ended. `threads` has the number of threads by node; None if it is not known.
pub(super) fn waited(requests: &Requests, threads: &[Option<usize>]) -> Vec<Waited> {
    let mut nodes: Vec<InNode> = threads.iter().map(|_| InNode::default()).collect();
    let mut all = Vec::new();
    let known = |node: u16| threads.get(usize::from(node)).copied().flatten();
    for request in &requests.rows {
        let Some(threads) = known(request.node) else { continue };
        let inside = &mut nodes[usize::from(request.node)];
        all.extend(inside.leave(request.start_ns, threads).map(|waited| waited.of(request.node)));
        inside.enter(request.start_ns, request.end_ns, threads);
    }
    for (node, inside) in nodes.iter_mut().enumerate() {
        let node = u16::try_from(node).unwrap_or(u16::MAX);
        if let Some(threads) = known(node) {
            all.extend(inside.leave(i64::MAX, threads).map(|waited| waited.of(node)));
        }
    }
    all
}

impl Waited {
    fn of(self, node: u16) -> Waited {
        Waited { node, ..self }
    }
}

impl InNode {
    fn enter(&mut self, start_ns: i64, end_ns: i64, threads: usize) {
        self.ends.push(Reverse(end_ns));
        let waiting = self.ends.len().saturating_sub(threads);
        if waiting > 0 {
            self.since.get_or_insert(start_ns);
            self.most = self.most.max(waiting);
        }
    }

    /// Lets those leave that have their answer by `now_ns`; returns the queue if it ended meanwhile.
    fn leave(&mut self, now_ns: i64, threads: usize) -> Option<Waited> {
        let mut ended = None;
        while let Some(Reverse(end_ns)) = self.ends.peek().copied().filter(|Reverse(end_ns)| *end_ns <= now_ns) {
            self.ends.pop();
            if self.ends.len() <= threads
                && let Some(start) = self.since.take()
            {
                let window = Interval { start, end: end_ns.max(start + 1) };
                ended = Some(Waited { window, node: 0, most: std::mem::take(&mut self.most) });
            }
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::Request;

    #[test]
    fn requests_wait_while_there_are_more_than_threads() {
        let request = |node, start_ns, end_ns| Request { node, start_ns, end_ns, ..Request::default() };
        let rows = vec![
            request(0, 0, 10),
            request(1, 2, 50),
            request(0, 4, 12),
            request(1, 5, 60),
            request(0, 6, 20),
            // A thread became free at 12.
            request(0, 30, 40),
            request(0, 31, 42),
        ];
        let requests = Requests { rows, ..Requests::default() };
        let waited = |threads: &[Option<usize>]| -> Vec<(u16, i64, i64, usize)> {
            let found = super::waited(&requests, threads);
            found.iter().map(|one| (one.node, one.window.start, one.window.end, one.most)).collect()
        };
        assert_eq!(waited(&[Some(1), None]), [(0, 4, 12, 2), (0, 31, 40, 1)]);
        assert_eq!(waited(&[Some(2), Some(1)]), [(0, 6, 10, 1), (1, 5, 50, 1)]);
        assert_eq!(waited(&[Some(3), Some(2)]), []);
    }
}
