//! How long requests waited for a thread in the node, computed from when they came and when they were answered.
//!
//! Cassandra (4.0 to 5.0, `Dispatcher`) gives a request a thread of the pool Native-Transport-Requests, in the order of
//! arrival, and the thread is at work for it until the answer is decided. So a request waits while all threads are at
//! work for earlier ones. Samples miss queues that are shorter than the time between two.

use crate::engine::{Engine, integers, texts};
use crate::requests::Requests;
use crate::timeline::Interval;
use crate::{Error, query};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
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

/// When a request came to a node, and when it was answered.
#[derive(Debug, Clone, Copy)]
struct Stay {
    /// Index in the nodes of the requests.
    node: u16,
    start_ns: i64,
    end_ns: i64,
}

/// Gives each request a thread in the order of their arrival.
struct Replay<'a> {
    /// The number of threads by node; None if it is not known.
    sizes: &'a [Option<usize>],
    nodes: Vec<Threads>,
    waits: Waits,
    rows: usize,
}

impl<'a> Replay<'a> {
    fn new(sizes: &'a [Option<usize>]) -> Replay<'a> {
        let nodes = sizes.iter().map(|_| Threads::default()).collect();
        Replay { sizes, nodes, waits: Waits::default(), rows: 0 }
    }

    /// The next request, which came no earlier than those before.
    fn take(&mut self, stay: Stay) {
        let row = self.rows;
        self.rows += 1;
        let node = usize::from(stay.node);
        let Some(size) = self.sizes.get(node).copied().flatten() else { return };
        let begin_ns = self.nodes[node].begin(stay.start_ns, stay.end_ns, size);
        let waited_ns = begin_ns.saturating_sub(stay.start_ns);
        if waited_ns >= SHORTEST_NS {
            self.waits.of_requests.push((row, waited_ns));
            let window = Interval { start: stay.start_ns, end: begin_ns };
            self.waits.queues.extend(self.nodes[node].wait(window, stay.node));
        }
    }

    fn finish(mut self) -> Waits {
        self.waits.queues.extend(self.nodes.into_iter().filter_map(|node| node.queue));
        self.waits
    }
}

/// The waits of requests whose times are those in the nodes.
pub(super) fn waits_of(requests: &Requests, threads: &[Option<usize>]) -> Waits {
    let mut replay = Replay::new(threads);
    requests.rows.iter().for_each(|row| {
        replay.take(Stay { node: row.node, start_ns: row.start_ns, end_ns: row.end_ns });
    });
    replay.finish()
}

/// The queues that the requests on the wire show, where those of the recording have the times of their driver. Which of the
/// driver's requests waited is not known. `nodes` has the names of the nodes that `threads` is about.
pub(super) fn queues_on_the_wire(
    engine: &Engine,
    nodes: &[String],
    threads: &[Option<usize>],
) -> Result<Vec<Waited>, Error> {
    let mut replay = Replay::new(threads);
    engine.each(&query::STAYS.fill(&[]), |batch| {
        let (start, end) = (integers(&batch, "start_ns")?, integers(&batch, "end_ns")?);
        let (start, end) = (start.as_primitive::<Int64Type>(), end.as_primitive::<Int64Type>());
        let names = texts(&batch, "node")?;
        let names = names.as_string::<i32>();
        for row in 0..batch.num_rows() {
            let node = nodes.iter().position(|node| node == names.value(row)).and_then(|node| u16::try_from(node).ok());
            if let Some(node) = node {
                replay.take(Stay { node, start_ns: start.value(row), end_ns: end.value(row) });
            }
        }
        Ok::<_, Error>(())
    })?;
    Ok(replay.finish().queues)
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

    const MS: i64 = 1_000_000;

    #[test]
    fn requests_wait_while_all_threads_are_at_work_for_earlier_ones() {
        let stay = |node, start, end| Stay { node, start_ns: start * MS, end_ns: end * MS };
        let stays = [
            stay(0, 0, 10),
            stay(1, 2, 50),
            stay(0, 4, 12),
            stay(1, 5, 60),
            stay(0, 6, 20),
            stay(0, 30, 40),
            stay(0, 31, 42),
        ];
        let found = |threads: &[Option<usize>]| {
            let mut replay = Replay::new(threads);
            stays.iter().for_each(|stay| replay.take(*stay));
            let waits = replay.finish();
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
