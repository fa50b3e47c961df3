//! The requests in flight on one connection, by the stream that carries each.

use crate::driver::job::Job;

/// The most streams of a connection. More do not help, although the protocol allows 32,768.
pub(super) const MOST_STREAMS: usize = 32_768;

/// A request that waits for its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    pub job: Job,
    pub operation: usize,
    pub request_bytes: u32,
    /// When it was written to the connection; `i64::MAX` until then.
    pub start_ns: i64,
    pub purpose: Purpose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Request,
    /// The statement is being prepared again, for the request that waits on this stream.
    Prepare(i16),
    /// The request was abandoned, but its stream stays in use until the response comes.
    Orphan,
}

/// All streams of a connection. The stream that became free last is reused first, while its memory is in the CPU's
/// cache.
#[derive(Debug, Default)]
pub(super) struct Streams {
    flights: Vec<Option<Flight>>,
    free: Vec<i16>,
    orphans: usize,
}

impl Streams {
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && self.flights.len() >= MOST_STREAMS
    }

    /// Number of requests in flight and of orphaned streams.
    pub fn taken(&self) -> usize {
        self.flights.len() - self.free.len()
    }

    pub fn orphans(&self) -> usize {
        self.orphans
    }

    /// Assigns a free stream to a request; None if there is none.
    pub fn begin(&mut self, flight: Flight) -> Option<i16> {
        if let Some(stream) = self.free.pop() {
            self.flights[stream as usize] = Some(flight);
            return Some(stream);
        }
        let stream = i16::try_from(self.flights.len()).ok()?;
        self.flights.push(Some(flight));
        Some(stream)
    }

    pub fn get_mut(&mut self, stream: i16) -> Option<&mut Flight> {
        self.flights.get_mut(usize::try_from(stream).ok()?)?.as_mut()
    }

    /// Removes a request, and frees its stream.
    pub fn end(&mut self, stream: i16) -> Option<Flight> {
        let flight = self.flights.get_mut(usize::try_from(stream).ok()?)?.take()?;
        self.free.push(stream);
        self.orphans -= usize::from(flight.purpose == Purpose::Orphan);
        Some(flight)
    }

    /// Abandons the requests that started before a time, and returns them.
    pub fn abandon(&mut self, before_ns: i64, mut tell: impl FnMut(i16, Flight)) {
        for (stream, flight) in self.flights.iter_mut().enumerate() {
            let Some(flight) = flight else { continue };
            if flight.purpose == Purpose::Request && flight.start_ns < before_ns {
                tell(stream as i16, *flight);
                flight.purpose = Purpose::Orphan;
                self.orphans += 1;
            }
        }
    }

    /// Removes all requests, for a connection that was lost.
    pub fn clear(&mut self) -> Vec<(i16, Flight)> {
        self.free.clear();
        self.orphans = 0;
        let flights = std::mem::take(&mut self.flights);
        flights.into_iter().enumerate().filter_map(|(stream, flight)| Some((stream as i16, flight?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{PartitionRange, Sequence};

    fn flight(number: u64, start_ns: i64) -> Flight {
        let sequence = Sequence::Distributed;
        let job = Job {
            phase: 0,
            number,
            sequence,
            populates: false,
            intended_ns: None,
            ready_ns: 0,
            taken: PartitionRange::default(),
        };
        Flight { job, operation: 0, request_bytes: 0, start_ns, purpose: Purpose::Request }
    }

    #[test]
    fn a_stream_carries_one_request_at_a_time() {
        let mut streams = Streams::default();
        let (a, b) = (streams.begin(flight(1, 10)).unwrap(), streams.begin(flight(2, 20)).unwrap());
        assert_ne!(a, b);
        assert_eq!(streams.end(a).map(|flight| flight.job.number), Some(1));
        assert!(streams.end(a).is_none());
        assert!(streams.end(-1).is_none());
        assert!(streams.end(99).is_none());
        assert_eq!(streams.begin(flight(3, 30)), Some(a));
        assert_eq!(streams.taken(), 2);
    }

    #[test]
    fn who_is_not_waited_for_keeps_the_stream_until_the_answer_comes() {
        let mut streams = Streams::default();
        let (a, b) = (streams.begin(flight(1, 10)).unwrap(), streams.begin(flight(2, i64::MAX)).unwrap());
        let mut abandoned = Vec::new();
        streams.abandon(15, |stream, flight| abandoned.push((stream, flight.job.number)));
        streams.abandon(15, |_, _| panic!("told twice"));
        assert_eq!(abandoned, [(a, 1)]);
        assert_eq!((streams.orphans(), streams.taken()), (1, 2));
        assert_eq!(streams.end(a).map(|flight| flight.purpose), Some(Purpose::Orphan));
        assert_eq!((streams.orphans(), streams.taken()), (0, 1));
        assert_eq!(streams.clear().iter().map(|(stream, _)| *stream).collect::<Vec<_>>(), [b]);
    }

    #[test]
    fn there_are_only_so_many() {
        let mut streams = Streams::default();
        for number in 0..MOST_STREAMS as u64 {
            assert!(streams.begin(flight(number, 0)).is_some());
        }
        assert!(streams.is_full());
        assert!(streams.begin(flight(0, 0)).is_none());
    }
}
