//! The figures of one bin, which covers a fixed stretch of time. A bin keeps sums, which add up over bins, and the last
//! reading of gauges and counters.

use super::histogram::Histogram;
use std::collections::VecDeque;

/// The most slow requests kept per bin, besides the slowest of each statement, client and node.
const SLOWEST: usize = 8;
/// The most pauses, stalls and events kept per bin: the longest pauses and stalls, and the first events.
const MOST_OF_A_KIND: usize = 32;

/// Values by the number of a name, in the order in which they were added.
#[derive(Debug, Clone)]
pub(super) struct Keyed<T> {
    /// By a name's number: the index of its entry plus 1, or 0 for none.
    places: Vec<u16>,
    entries: Vec<(u16, T)>,
}

impl<T> Default for Keyed<T> {
    fn default() -> Keyed<T> {
        Keyed { places: Vec::new(), entries: Vec::new() }
    }
}

impl<T: Default> Keyed<T> {
    pub(super) fn entry(&mut self, number: u16) -> &mut T {
        let at = usize::from(number);
        if at >= self.places.len() {
            self.places.resize(at + 1, 0);
        }
        if self.places[at] == 0 {
            self.entries.push((number, T::default()));
            // The index exists, because there are fewer numbers than `places` has entries.
            self.places[at] = u16::try_from(self.entries.len()).unwrap_or(u16::MAX);
        }
        &mut self.entries[usize::from(self.places[at]) - 1].1
    }
}

impl<T> Keyed<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn get(&self, number: u16) -> Option<&T> {
        let place = usize::from(*self.places.get(usize::from(number))?).checked_sub(1)?;
        self.entries.get(place).map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(u16, T)> {
        self.entries.iter()
    }
}

/// A request, with its names as numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slow {
    pub(super) start_ns: i64,
    pub(super) duration_ns: i64,
    pub(super) statement: u16,
    pub(super) client: u16,
    pub(super) node: u16,
    pub(super) outcome: u16,
    pub(super) client_port: u16,
    pub(super) rows_returned: Option<i64>,
    pub(super) response_bytes: Option<i64>,
}

/// Counts and total times of several requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub(super) requests: f64,
    pub(super) errors: f64,
    pub(super) total_ns: f64,
    pub(super) max_ns: i64,
    pub(super) request_bytes: f64,
    pub(super) response_bytes: f64,
    pub(super) rows_returned: f64,
    /// Times of requests that were answered or timed out.
    pub(super) times: Histogram,
    pub(super) slowest: Option<Slow>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct RequestBin {
    pub(super) sum: Cell,
    /// Number of recorded rows behind the weighted counts.
    pub(super) rows: u64,
    pub(super) outcomes: Keyed<f64>,
    pub(super) statements: Keyed<Cell>,
    pub(super) clients: Keyed<Cell>,
    pub(super) slowest: Vec<Slow>,
}

/// The requests to all nodes, and to each node if there are several.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) all: RequestBin,
    /// The node of all requests, while there is only one.
    only: Option<u16>,
    nodes: Keyed<RequestBin>,
}

impl Requests {
    /// Counts a request to a node by `count`, in each place where it belongs.
    pub(super) fn add(&mut self, node: u16, count: impl Fn(&mut RequestBin)) {
        let only = *self.only.get_or_insert(node);
        if only != node && self.nodes.is_empty() {
            *self.nodes.entry(only) = self.all.clone();
        }
        count(&mut self.all);
        if !self.nodes.is_empty() {
            count(self.nodes.entry(node));
        }
    }

    /// The requests to a node, or to all.
    pub(super) fn of(&self, node: Option<u16>) -> Option<&RequestBin> {
        match node {
            None => Some(&self.all),
            Some(node) if self.nodes.is_empty() => (self.only == Some(node)).then_some(&self.all),
            Some(node) => self.nodes.get(node),
        }
    }

    pub(super) fn by_node(&self) -> impl Iterator<Item = (u16, &RequestBin)> {
        let only = self.only.filter(|_| self.nodes.is_empty()).map(|node| (node, &self.all));
        only.into_iter().chain(self.nodes.iter().map(|(node, requests)| (*node, requests)))
    }
}

impl RequestBin {
    /// Keeps a request if it is among the slowest.
    pub(super) fn keep_slow(&mut self, slow: Slow) {
        if self.slowest.len() < SLOWEST {
            self.slowest.push(slow);
        } else if let Some(least) = self.slowest.iter_mut().min_by_key(|kept| kept.duration_ns)
            && least.duration_ns < slow.duration_ns
        {
            *least = slow;
        }
    }
}

/// Times of the machine's CPUs by state, summed up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CpuTime {
    pub(super) user_ns: i64,
    pub(super) system_ns: i64,
    pub(super) iowait_ns: i64,
    pub(super) irq_ns: i64,
    pub(super) steal_ns: i64,
    pub(super) idle_ns: i64,
}

/// Time in which the JVM of a node was stopped.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stopped {
    pub(super) gc_ns: i64,
    pub(super) safepoint_ns: i64,
    pub(super) collections: u32,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GroupTime {
    pub(super) cpu_ns: i64,
    pub(super) run_queue_ns: i64,
    pub(super) migrations: i64,
    pub(super) voluntary_switches: i64,
    pub(super) involuntary_switches: i64,
}

impl GroupTime {
    pub(super) fn add(&mut self, other: &GroupTime) {
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.run_queue_ns = self.run_queue_ns.saturating_add(other.run_queue_ns);
        self.migrations = self.migrations.saturating_add(other.migrations);
        self.voluntary_switches = self.voluntary_switches.saturating_add(other.voluntary_switches);
        self.involuntary_switches = self.involuntary_switches.saturating_add(other.involuntary_switches);
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Disk {
    pub(super) reads: i64,
    pub(super) read_bytes: i64,
    pub(super) read_ns: i64,
    pub(super) writes: i64,
    pub(super) written_bytes: i64,
    pub(super) write_ns: i64,
    pub(super) busy_ns: i64,
}

/// Time in which tasks of the machine waited for a resource.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pressure {
    pub(super) some_ns: i64,
    pub(super) full_ns: i64,
}

/// Time in which a node was held up by its limits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NodePressure {
    pub(super) throttled_ns: i64,
    pub(super) major_faults: i64,
    pub(super) retransmitted_segments: i64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PoolReading {
    pub(super) time_ns: i64,
    pub(super) active: i64,
    pub(super) pending: i64,
    pub(super) blocked: i64,
    pub(super) completed: i64,
    pub(super) total_blocked: i64,
    pub(super) max_size: Option<i64>,
    pub(super) most_active: i64,
    pub(super) most_pending: i64,
}

/// Figures of a table. Counters count since the node started.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TableReading {
    pub(super) time_ns: i64,
    pub(super) reads: Option<i64>,
    pub(super) writes: Option<i64>,
    pub(super) read_total_ns: Option<i64>,
    pub(super) write_total_ns: Option<i64>,
    pub(super) sstables: Option<i64>,
    pub(super) live_disk_bytes: Option<i64>,
    pub(super) memtable_bytes: Option<i64>,
    pub(super) pending_compactions: Option<i64>,
    pub(super) running_compactions: Option<i64>,
    pub(super) compacting_bytes: Option<i64>,
    pub(super) compacted_bytes: Option<i64>,
    pub(super) sstables_per_read_p95: Option<f64>,
    pub(super) tombstones_per_slice_p95: Option<f64>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ValveReading {
    pub(super) time_ns: i64,
    pub(super) interval_ns: i64,
    pub(super) next_limit: Option<i64>,
    pub(super) in_flight: f64,
    pub(super) waiting: f64,
    pub(super) throughput_per_s: f64,
    pub(super) mean_ns: Option<i64>,
    pub(super) p99_ns: Option<i64>,
    pub(super) refused: i64,
    pub(super) law: String,
    pub(super) state: String,
    pub(super) reason: String,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FileTraffic {
    pub(super) reads: i64,
    pub(super) read_bytes: i64,
    pub(super) writes: i64,
    pub(super) written_bytes: i64,
    /// Calls other than reads and writes, such as fsync.
    pub(super) others: i64,
    pub(super) total_ns: i64,
    pub(super) from_disk_bytes: i64,
    pub(super) faults: i64,
}

/// A stop of a JVM, or a stall.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stop {
    pub(super) start_ns: i64,
    pub(super) duration_ns: i64,
    pub(super) node: u16,
    pub(super) kind: StopKind,
    /// The collector, the safepoint operation, or the kind of stall.
    pub(super) what: String,
    pub(super) cause: String,
    pub(super) heap_before_bytes: Option<i64>,
    pub(super) heap_after_bytes: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StopKind {
    Gc,
    Safepoint,
    ServerStall,
    LoadStall,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Happened {
    pub(super) time_ns: i64,
    pub(super) node: u16,
    pub(super) kind: String,
    pub(super) what: String,
}

#[derive(Debug, Clone, Default)]
pub(super) struct SourceTotals {
    pub(super) captured: i64,
    pub(super) lost: i64,
    pub(super) cpu_ns: i64,
    pub(super) lost_reason: String,
}

#[derive(Debug, Default)]
pub(super) struct Bin {
    pub(super) requests: Requests,
    pub(super) cpu: CpuTime,
    pub(super) groups: Keyed<GroupTime>,
    pub(super) disks: Keyed<Disk>,
    pub(super) pressure: Keyed<Pressure>,
    pub(super) node_pressure: Keyed<NodePressure>,
    pub(super) stopped: Keyed<Stopped>,
    pub(super) stops: Vec<Stop>,
    /// Number of stops and events that exceeded the limits and were dropped.
    pub(super) left_out: u64,
    pub(super) pools: Keyed<PoolReading>,
    /// Messages that the node dropped since it started.
    pub(super) dropped: Keyed<i64>,
    pub(super) tables: Keyed<TableReading>,
    pub(super) valves: Keyed<ValveReading>,
    pub(super) files: Keyed<FileTraffic>,
    pub(super) events: Vec<Happened>,
    pub(super) sources: Keyed<SourceTotals>,
}

impl Bin {
    /// How long the JVM of a node was stopped, or all JVMs together.
    pub(super) fn stopped(&self, node: Option<u16>) -> Stopped {
        let of = self.stopped.iter().filter(|(number, _)| node.is_none_or(|node| node == *number));
        of.fold(Stopped::default(), |sum, (_, stopped)| Stopped {
            gc_ns: sum.gc_ns.saturating_add(stopped.gc_ns),
            safepoint_ns: sum.safepoint_ns.saturating_add(stopped.safepoint_ns),
            collections: sum.collections.saturating_add(stopped.collections),
        })
    }

    /// Keeps a stop if it is among the longest.
    pub(super) fn keep_stop(&mut self, stop: Stop) {
        if self.stops.len() < MOST_OF_A_KIND {
            self.stops.push(stop);
            return;
        }
        self.left_out += 1;
        if let Some(least) = self.stops.iter_mut().min_by_key(|kept| kept.duration_ns)
            && least.duration_ns < stop.duration_ns
        {
            *least = stop;
        }
    }

    pub(super) fn keep_event(&mut self, event: Happened) {
        if self.events.len() < MOST_OF_A_KIND {
            self.events.push(event);
        } else {
            self.left_out += 1;
        }
    }
}

/// The newest bins, without gaps.
#[derive(Debug)]
pub(super) struct Bins {
    pub(super) length_ns: i64,
    most: usize,
    /// Number of the oldest bin since the Unix epoch.
    first: i64,
    bins: VecDeque<Bin>,
    /// Number of rows that came after their bin was dropped.
    pub(super) too_late: u64,
}

impl Bins {
    pub(super) fn new(length_ns: i64, most: usize) -> Bins {
        Bins { length_ns: length_ns.max(1), most: most.max(1), first: 0, bins: VecDeque::new(), too_late: 0 }
    }

    pub(super) fn number_of(&self, time_ns: i64) -> i64 {
        time_ns.div_euclid(self.length_ns)
    }

    /// The oldest bin number that is still kept when this bin exists.
    pub(super) fn oldest_with(&self, number: i64) -> i64 {
        let newest = if self.bins.is_empty() { number } else { number.max(self.last()) };
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let oldest = newest.saturating_sub(most - 1);
        if self.bins.is_empty() { oldest } else { oldest.max(self.first) }
    }

    fn last(&self) -> i64 {
        self.first + i64::try_from(self.bins.len()).unwrap_or(0) - 1
    }

    /// The bin of a number, which is created if it is newer than all others. None if it is too old.
    pub(super) fn at(&mut self, number: i64) -> Option<&mut Bin> {
        if self.bins.is_empty() {
            self.first = number;
        }
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        if number < self.first {
            // Rows do not arrive in order, so rows from just before the first bin are accepted.
            let missing = self.first - number;
            let room = most - i64::try_from(self.bins.len()).unwrap_or(most);
            if missing > room {
                self.too_late += 1;
                return None;
            }
            (0..missing).for_each(|_| self.bins.push_front(Bin::default()));
            self.first = number;
        }
        if number.saturating_sub(self.first) >= 2 * most {
            self.bins.clear();
            self.first = number;
        }
        while self.bins.is_empty() || self.last() < number {
            self.bins.push_back(Bin::default());
            if self.bins.len() > self.most {
                self.bins.pop_front();
                self.first += 1;
            }
        }
        self.bins.get_mut(usize::try_from(number - self.first).ok()?)
    }

    /// From the oldest bin's start to the newest one's end.
    pub(super) fn span_ns(&self) -> Option<(i64, i64)> {
        let last = (!self.bins.is_empty()).then(|| self.last())?;
        Some((self.first.saturating_mul(self.length_ns), (last + 1).saturating_mul(self.length_ns)))
    }

    /// The bins that begin within a window, oldest first, each with its start.
    pub(super) fn within(&self, from_ns: i64, to_ns: i64) -> impl DoubleEndedIterator<Item = (i64, &Bin)> {
        let place = |ns: i64| {
            let number = ns.div_euclid(self.length_ns) + i64::from(ns.rem_euclid(self.length_ns) > 0);
            usize::try_from(number.saturating_sub(self.first).max(0)).unwrap_or(usize::MAX).min(self.bins.len())
        };
        let (from, to) = (place(from_ns), place(to_ns));
        let starts = (self.first..).map(|number| number.saturating_mul(self.length_ns)).zip(&self.bins);
        let all: Vec<(i64, &Bin)> = starts.skip(from).take(to.saturating_sub(from)).collect();
        all.into_iter()
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Bin> {
        self.bins.iter_mut()
    }
}
