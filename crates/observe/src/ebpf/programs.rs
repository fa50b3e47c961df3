//! A source's eBPF programs: attaching them, telling them which processes to follow, and detaching them.

use super::{FollowedProcess, Losses, PROVIDER, Sums, Unavailable, map, pids, process, refused, ring};
use helenus_recording::Recorder;
use helenus_recording::rows::SourceReport;
use libbpf_rs::{Link, MapCore, MapHandle, Object, RingBuffer};
use perf_event::Counter;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::time::Duration;

/// eBPF programs that follow processes, write records to a ring buffer, and count. Dropping this value detaches them.
pub(crate) struct Programs {
    links: Vec<Link>,
    object: Object,
    /// The ring buffer of single events; None if the programs only keep sums.
    records: Option<MapHandle>,
    processes: MapHandle,
    losses: Losses,
    /// The reasons for lost events, in the order of the programs' counters.
    lost_reasons: &'static [&'static str],
    /// The map of sums; None if the programs keep no sums.
    sums: Option<Sums>,
}

impl Programs {
    /// Takes over a loaded object whose programs are not attached yet.
    pub(crate) fn new(object: Object, lost_reasons: &'static [&'static str]) -> Result<Programs, Unavailable> {
        Programs::try_new(object, lost_reasons).map_err(refused)
    }

    fn try_new(object: Object, lost_reasons: &'static [&'static str]) -> libbpf_rs::Result<Programs> {
        let has = |name: &str| object.maps().any(|map| map.name() == name);
        Ok(Programs {
            links: Vec::new(),
            records: has("records").then(|| map(&object, "records")).transpose()?,
            processes: map(&object, "processes")?,
            losses: Losses::new(&object, lost_reasons.len())?,
            lost_reasons,
            sums: has("sums").then(|| Sums::new(&object)).transpose()?,
            object,
        })
    }

    /// Begins to follow processes; their index is that in `followed`.
    pub(crate) fn attach(&mut self, followed: &[u32]) -> Result<(), Unavailable> {
        self.try_attach(followed).map_err(refused)
    }

    fn try_attach(&mut self, followed: &[u32]) -> libbpf_rs::Result<()> {
        for program in self.object.progs_mut() {
            self.links.push(program.attach()?);
        }
        pids(&self.processes, followed)
    }

    /// Attaches the single program to perf events, such as the ticks of a clock, and begins to follow processes.
    pub(crate) fn attach_to(&mut self, events: Vec<Counter>, followed: &[u32]) -> Result<(), Unavailable> {
        self.try_attach_to(events, followed).map_err(refused)
    }

    fn try_attach_to(&mut self, events: Vec<Counter>, followed: &[u32]) -> libbpf_rs::Result<()> {
        if let Some(program) = self.object.progs_mut().next() {
            for event in events {
                self.links.push(program.attach_perf_event(event.as_raw_fd())?);
                // The link closes the descriptor.
                let _ = event.into_raw_fd();
            }
        }
        pids(&self.processes, followed)
    }

    /// Whether the programs write single records, and not only sums.
    pub(crate) fn has_records(&self) -> bool {
        self.records.is_some()
    }

    /// Opens the ring buffer; `take` is called with each complete record.
    pub(crate) fn ring(&self, take: impl FnMut(&[u8]) + 'static) -> Result<RingBuffer<'static>, Unavailable> {
        match &self.records {
            Some(records) => ring(records, take),
            None => Err(Unavailable::new(
                "the programs have no ring buffer",
                "this is a mistake in helenus; tell its authors",
            )),
        }
    }

    /// Stops following ended processes, whose pids may be reused.
    pub(crate) fn forget_ended(&self, followed: &mut [FollowedProcess]) {
        for (index, followed) in followed.iter_mut().enumerate() {
            if followed.has_just_ended() {
                // If this fails, a new process with the same pid is taken for the ended one.
                let _ = process::ended(&self.processes, index);
            }
        }
    }

    /// Detaches the programs; records that they have written can still be read.
    pub(crate) fn detach(&mut self) {
        self.links.clear();
    }

    /// Rows about what a source captured, lost and cost since the last report. Its CPU time is divided among the
    /// processes by the number of their events.
    pub(crate) fn report(
        &mut self,
        recorder: &Recorder,
        source: &'static str,
        interval: Duration,
        followed: &mut [FollowedProcess],
        cpu_ns: i64,
    ) {
        let all: u64 = followed.iter().map(|followed| followed.captured).sum();
        let time_ns = recorder.clock().now_ns();
        for (index, followed) in followed.iter_mut().enumerate() {
            let lost = self.losses.since_last_time(index);
            let captured = std::mem::take(&mut followed.captured);
            let share = match (all, index) {
                (0, 0) => 1.0,
                (0, _) => 0.0,
                (all, _) => captured as f64 / all as f64,
            };
            let reasons = self.lost_reasons.iter().zip(&lost).filter(|(_, lost)| **lost > 0);
            let reasons: Vec<String> = reasons.map(|(reason, lost)| format!("{reason} ({lost})")).collect();
            recorder.append(SourceReport {
                time_ns,
                interval_ns: i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX),
                source,
                node: &followed.watched.node,
                provider: PROVIDER,
                captured: i64::try_from(captured).unwrap_or(i64::MAX),
                lost: i64::try_from(lost.iter().sum::<u64>()).unwrap_or(i64::MAX),
                lost_reason: &reasons.join(", "),
                cpu_ns: Some((cpu_ns as f64 * share) as i64),
            });
        }
    }

    /// Number of lost events since the last call, of the process at an index, in the order of the programs' counters.
    pub(crate) fn lost(&mut self, index: usize) -> Vec<u64> {
        self.losses.since_last_time(index)
    }

    /// Removes and returns the sums since the last call, each with its key.
    pub(crate) fn take_sums(&mut self, each: impl FnMut(&[u8], &[u8])) -> libbpf_rs::Result<()> {
        self.sums.as_mut().map_or(Ok(()), |sums| sums.take(each))
    }
}
