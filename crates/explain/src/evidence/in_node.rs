//! How long requests waited for a thread in the node, computed from when they came and when they were answered.
//!
//! Cassandra (4.0 to 5.0, `Dispatcher`) gives a request a thread of the pool Native-Transport-Requests, in the order of
//! arrival, and the thread is at work for it until the answer is decided. So a request waits while all threads are at
//! work for earlier ones. Samples miss queues that are shorter than the time between two.

use crate::requests::Requests;
use crate::timeline::Interval;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The pool that executes the requests of clients.
pub(super) const POOL: &str = "Native-Transport-Requests";
/// A shorter wait makes no request slow.
const SHORTEST_NS: i64 = 1_000_000;

/// A time in which requests waited for a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waited {
    pub(super) window: Interval,
    /// Index in the nodes of the requests.
    pub(super) node: u16,
    /// The most that waited at a time.
    pub(super) most: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    /// When requests waited, by node in the order of time.
    pub(super) queues: Vec<Waited>,
    /// The index of each request that waited, in ascending order, and for how long.
    pub(super) of_requests: Vec<(usize, i64)>,
}

/// The threads of one node.
#[derive(Default)]
struct Threads {
    /// When each of them has answered its last request.
    free_at: BinaryHeap<Reverse<i64>>,
    /// When the requests that wait now begin, in the order in which they came.
    begins: VecDeque<i64>,
    queue: Option<Waited>,
}

/// `threads` has the number of threads by node; None if it is not known.
pub(super) fn waits(requests: &Requests, threads: &[Option<usize>]) -> Waits {
    let mut nodes: Vec<Threads> = threads.iter().map(|_| Threads::default()).collect();
    let mut waits = Waits::default();
    for (row, request) in requests.rows.iter().enumerate() {
        let node = usize::from(request.node);
        let Some(size) = threads.get(node).copied().flatten() else { continue };
        let begin_ns = nodes[node].begin(request.start_ns, request.end_ns, size);
        let waited_ns = begin_ns.saturating_sub(request.start_ns);
        if waited_ns >= SHORTEST_NS {
            waits.of_requests.push((row, waited_ns));
            let window = Interval { start: request.start_ns, end: begin_ns };
            waits.queues.extend(nodes[node].wait(window, request.node));
        }
    }
    waits.queues.extend(nodes.into_iter().filter_map(|node| node.queue));
    waits
}

impl Threads {
    /// When a request got a thread, if there are `size` of them.
    fn begin(&mut self, start_ns: i64, end_ns: i64, size: usize) -> i64 {
        let free_ns = if self.free_at.len() < size { None } else { self.free_at.pop() };
        let begin_ns = free_ns.map_or(start_ns, |Reverse(free_ns)| free_ns.max(start_ns));
        self.free_at.push(Reverse(end_ns.max(begin_ns)));
        begin_ns
    }

    /// Adds a wait to the queue. Returns the queue before it, if it had ended.
    fn wait(&mut self, window: Interval, node: u16) -> Option<Waited> {
        while self.begins.front().is_some_and(|begin_ns| *begin_ns <= window.start) {
            self.begins.pop_front();
        }
        self.begins.push_back(window.end);
        let most = self.begins.len();
        match &mut self.queue {
            Some(queue) if window.start <= queue.window.end => {
                queue.window.end = window.end.max(queue.window.end);
                queue.most = most.max(queue.most);
                None
            }
            _ => self.queue.replace(Waited { window, node, most }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::Request;

    const MS: i64 = 1_000_000;

    #[test]
    fn requests_wait_while_all_threads_are_at_work_for_earlier_ones() {
        let request = |node, start, end| Request { node, start_ns: start * MS, end_ns: end * MS, ..Request::default() };
        let rows = vec![
            request(0, 0, 10),
            request(1, 2, 50),
            request(0, 4, 12),
            request(1, 5, 60),
            request(0, 6, 20),
            request(0, 30, 40),
            request(0, 31, 42),
        ];
        let requests = Requests { rows, ..Requests::default() };
        let found = |threads: &[Option<usize>]| {
            let waits = waits(&requests, threads);
            let queues: Vec<_> = waits
                .queues
                .iter()
                .map(|one| (one.node, one.window.start / MS, one.window.end / MS, one.most))
                .collect();
            let each: Vec<_> = waits.of_requests.iter().map(|(row, ns)| (*row, ns / MS)).collect();
            (queues, each)
        };
        let (queues, each) = found(&[Some(1), None]);
        assert_eq!(queues, [(0, 4, 12, 2), (0, 31, 40, 1)]);
        assert_eq!(each, [(2, 6), (4, 6), (6, 9)]);
        let (queues, each) = found(&[Some(2), Some(1)]);
        assert_eq!(queues, [(0, 6, 10, 1), (1, 5, 50, 1)]);
        assert_eq!(each, [(3, 45), (4, 4)]);
        assert_eq!(found(&[Some(3), Some(2)]), (Vec::new(), Vec::new()));
    }
}
