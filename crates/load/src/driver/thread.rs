//! A driver thread: it connects, runs the segments that it is sent, and ends.

use super::alarm::Alarm;
use super::engine::{Engine, Parts};
use super::feed::Feed;
use super::ledger::Ledger;
use super::session;
use super::slots::Cancellation;
use super::tally::Mailbox;
use super::thin;
use crate::cut::Cut;
use crate::schedule::{Phase, Segment, Until};
use crate::stalls::StallRegister;
use crate::workload::Pool;
use crate::{Cancel, Error, Intervals, Load, Plan};
use helenus_recording::{Clock, Recorder};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::LocalRuntime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;
use tokio::time::MissedTickBehavior;

/// How often events and rows are passed on: often enough that little is lost if the process is killed.
pub(super) const PUBLISH_EVERY: Duration = Duration::from_millis(100);
/// Longest wait for requests in flight after the run is stopped.
pub(super) const STOP_DRAIN_NS: i64 = 1_000_000_000;
/// How long aborted requests may take to be recorded in the ledger.
const CUT_NS: i64 = 200_000_000;

/// The data of the run that a thread needs.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub plan: Arc<Plan>,
    pub phases: Arc<Vec<Phase>>,
    pub segments: Arc<Vec<Segment>>,
    pub points: Arc<Vec<SocketAddr>>,
    pub pool: Arc<Pool>,
    pub recorder: Recorder,
    pub cancel: Cancel,
    pub cut: Cut,
    pub stall_register: StallRegister,
    /// Data for the thin driver; None if the driver crate sends the requests.
    pub preparation: Option<thin::Preparation>,
}

/// A handle to a driver thread.
#[derive(Debug)]
pub(crate) struct Driver {
    commands: UnboundedSender<Begin>,
    reports: Receiver<Report>,
    pub mailbox: Mailbox,
    thread: Option<JoinHandle<()>>,
}

/// A segment to be run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begin {
    pub segment: usize,
    pub start_ns: i64,
    pub first_number: u64,
}

#[derive(Debug)]
pub(super) enum Report {
    Ready(Result<(), Error>),
    SegmentEnd(SegmentEnd),
}

/// A segment that was run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SegmentEnd {
    /// The time at which its last request ended.
    pub end_ns: i64,
    /// The number of the first request of the next segment.
    pub next_number: u64,
}

impl Driver {
    /// Starts thread `number` and returns when it is connected and its statements are prepared. The first one creates
    /// the schema, if the plan says so.
    pub fn start(run: &Run, number: usize) -> Result<Driver, Error> {
        let (commands, commands_in) = unbounded_channel();
        let (tell, reports) = channel();
        let mailbox = Mailbox::default();
        let thread = Thread { run: run.clone(), number, mailbox: mailbox.clone(), tell };
        let thread = std::thread::Builder::new()
            .name(format!("load-{number}"))
            .spawn(move || thread.main(commands_in))
            .map_err(|source| Error::Start { what: "a driver thread", source })?;
        let driver = Driver { commands, reports, mailbox, thread: Some(thread) };
        match driver.reports.recv() {
            Ok(Report::Ready(ready)) => ready.map(|()| driver),
            _ => Err(Error::ThreadLost),
        }
    }

    /// Tells the thread to run a segment.
    pub fn begin(&self, segment: usize, start_ns: i64, first_number: u64) -> Result<(), Error> {
        self.commands.send(Begin { segment, start_ns, first_number }).map_err(|_| Error::ThreadLost)
    }

    /// Waits at most a given time for the end of the segment.
    pub fn done(&self, wait: Duration) -> Result<Option<SegmentEnd>, Error> {
        match self.reports.recv_timeout(wait) {
            Ok(Report::SegmentEnd(done)) => Ok(Some(done)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Ok(Report::Ready(_)) | Err(RecvTimeoutError::Disconnected) => Err(Error::ThreadLost),
        }
    }

    /// Ends the thread and waits for it.
    pub fn finish(mut self) -> Result<(), Error> {
        self.end().map_err(|_| Error::ThreadLost)
    }

    fn end(&mut self) -> std::thread::Result<()> {
        // Dropping the sender tells the thread that there are no more commands.
        (self.commands, _) = unbounded_channel();
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

pub(super) struct Thread {
    pub run: Run,
    pub number: usize,
    mailbox: Mailbox,
    pub tell: Sender<Report>,
}

/// A thread's part of a segment.
pub(super) struct Planned {
    pub feed: Feed,
    /// Position, start and end of each phase.
    pub windows: Vec<(usize, i64, i64)>,
    /// When the last request should start.
    pub end_ns: i64,
    /// The number of requests in flight of a closed loop in this thread; `usize::MAX` for a surge, whose groups have
    /// limits of their own.
    pub in_flight: Option<usize>,
}

/// State shared by the segment and the periodic work.
struct Watch {
    /// The time at which an open loop drops requests that are still unsent.
    give_up_ns: Cell<i64>,
    segment: Cell<usize>,
    ended: Cell<bool>,
}

impl Thread {
    fn main(self, commands_in: UnboundedReceiver<Begin>) {
        if let Some(preparation) = self.run.preparation.clone() {
            return thin::live(&self, &preparation, commands_in);
        }
        let runtime = match LocalRuntime::new() {
            Ok(runtime) => runtime,
            Err(source) => {
                let error = Error::Start { what: "the runtime of a driver thread", source };
                let _ = self.tell.send(Report::Ready(Err(error)));
                return;
            }
        };
        runtime.block_on(self.live(commands_in));
    }

    async fn live(self, mut commands_in: UnboundedReceiver<Begin>) {
        // The receiver is dropped only if the run has failed.
        let engine = match self.connect().await {
            Ok(engine) => {
                let _ = self.tell.send(Report::Ready(Ok(())));
                engine
            }
            Err(error) => {
                let _ = self.tell.send(Report::Ready(Err(error)));
                return;
            }
        };
        let watch = Rc::new(Watch { give_up_ns: Cell::new(i64::MAX), segment: Cell::new(0), ended: Cell::new(false) });
        let housekeeping = spawn_local(Housekeeping::new(&self, &engine, &watch).run());
        while let Some(begin) = commands_in.recv().await {
            let done = self.segment(&engine, &watch, begin).await;
            let _ = self.tell.send(Report::SegmentEnd(done));
        }
        housekeeping.abort();
        engine.close();
    }

    async fn connect(&self) -> Result<Rc<Engine>, Error> {
        let plan = &self.run.plan;
        let session = session::open(plan, &self.run.points).await?;
        if self.number == 0 && plan.create_schema {
            session::create_schema(&session, plan).await?;
        }
        session::enter(&session, plan).await?;
        let statements = session::prepare(&session, plan).await?;
        let clock = self.run.recorder.clock();
        let alarm = Alarm::new(clock).map_err(|source| Error::Start { what: "the timer of the schedule", source })?;
        Ok(Engine::new(Parts {
            session,
            statements,
            workload: Arc::new(plan.workload.clone()),
            pool: Arc::clone(&self.run.pool),
            clock,
            alarm,
            room: self.share(plan.max_in_flight).max(1),
            ledger: self.ledger(),
        }))
    }

    pub fn ledger(&self) -> Ledger {
        let plan = &self.run.plan;
        let names = plan.workload.operations.iter().map(|operation| operation.name.clone()).collect();
        let bound_ns = nanoseconds(plan.late_bound);
        let stall_view = self.run.stall_register.view();
        Ledger::new(&self.run.recorder, &self.mailbox, names, self.run.phases.len(), bound_ns, stall_view).collect(
            plan.intervals.as_ref().map(Intervals::collector),
            self.run.phases.iter().map(|phase| phase.measured).collect(),
        )
    }

    /// This thread's share of a number of requests.
    pub fn share(&self, whole: u32) -> usize {
        let (whole, (place, places)) = (whole as usize, self.run.plan.place(self.number));
        whole / places + usize::from(place < whole % places)
    }

    /// This thread's part of a segment.
    pub fn planned(&self, begin: Begin) -> Planned {
        let phases = &self.run.phases;
        let (place, places) = self.run.plan.place(self.number);
        let share = (place as u64, places as u64);
        let start_ns = begin.start_ns;
        match &self.run.segments[begin.segment] {
            Segment::Open(open) => Planned {
                feed: Feed::open(open, phases, start_ns, begin.first_number, share),
                windows: open.phases().map(|(phase, from, to)| (phase, start_ns + from, start_ns + to)).collect(),
                end_ns: start_ns + open.lasts_ns(),
                in_flight: None,
            },
            Segment::Closed(phase) => {
                let end_ns = match phases[*phase].until {
                    Until::Elapsed(lasts) => start_ns + nanoseconds(lasts),
                    Until::Count(_) => i64::MAX - nanoseconds(self.run.plan.drain),
                };
                let in_flight = match phases[*phase].load {
                    Load::InFlight(in_flight) => self.share(in_flight),
                    // The groups have limits of their own.
                    _ => usize::MAX,
                };
                Planned {
                    feed: Feed::closed(*phase, phases, start_ns, begin.first_number, share),
                    windows: vec![(*phase, start_ns, end_ns)],
                    end_ns,
                    in_flight: Some(in_flight),
                }
            }
        }
    }

    async fn segment(&self, engine: &Rc<Engine>, watch: &Watch, begin: Begin) -> SegmentEnd {
        let clock = self.run.recorder.clock();
        let drain_ns = nanoseconds(self.run.plan.drain);
        let Planned { feed, windows, end_ns, in_flight } = self.planned(begin);
        if in_flight.is_some() {
            sleep_until(clock, begin.start_ns).await;
        }
        engine.begin(feed, windows);
        watch.ended.set(false);
        watch.segment.set(begin.segment);
        watch.give_up_ns.set(end_ns + drain_ns);
        match in_flight {
            None => engine.dispatch_open().await,
            Some(usize::MAX) => engine.dispatch_surge().await,
            Some(in_flight) => engine.dispatch_closed(in_flight).await,
        }
        self.drain(engine, clock, drain_ns).await;
        engine.ledger().end();
        engine.ledger().publish(clock.now_ns(), engine.in_flight(), Vec::new(), Vec::new());
        SegmentEnd { end_ns: clock.now_ns(), next_number: engine.next_number().max(begin.first_number) }
    }

    /// Waits for requests in flight, and aborts them after a timeout.
    async fn drain(&self, engine: &Engine, clock: Clock, drain_ns: i64) {
        let (began_ns, stopped_ns) = (clock.now_ns(), Cell::new(None));
        let until_ns = || match (self.run.cancel.is_asked_again(), self.run.cancel.is_asked()) {
            (true, _) => 0,
            (false, true) => {
                let stopped_ns = stopped_ns.get().unwrap_or_else(|| {
                    let now_ns = clock.now_ns();
                    stopped_ns.set(Some(now_ns));
                    now_ns
                });
                stopped_ns + STOP_DRAIN_NS
            }
            _ => began_ns + drain_ns,
        };
        if !engine.drained(until_ns).await {
            engine.cancel(i64::MAX, Cancellation::Abandoned);
            let until_ns = clock.now_ns() + CUT_NS;
            engine.drained(|| until_ns).await;
        }
    }
}

/// Periodic work, a few times a second: timeouts, progress, nodes.
struct Housekeeping {
    engine: Rc<Engine>,
    watch: Rc<Watch>,
    cancel: Cancel,
    cut: Cut,
    clock: Clock,
    timeout_ns: i64,
    tick: Duration,
    nodes: Nodes,
}

impl Housekeeping {
    fn new(thread: &Thread, engine: &Rc<Engine>, watch: &Rc<Watch>) -> Housekeeping {
        let timeout = thread.run.plan.request_timeout;
        Housekeeping {
            engine: Rc::clone(engine),
            watch: Rc::clone(watch),
            cancel: thread.run.cancel.clone(),
            cut: thread.run.cut.clone(),
            clock: thread.run.recorder.clock(),
            timeout_ns: nanoseconds(timeout),
            tick: tick(timeout),
            nodes: Nodes::of(thread.number),
        }
    }

    async fn run(mut self) {
        let mut ticks = tokio::time::interval(self.tick);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut publish_ns = self.clock.now_ns();
        loop {
            ticks.tick().await;
            let now_ns = self.clock.now_ns();
            self.engine.cancel(now_ns - self.timeout_ns, Cancellation::Timeout);
            let is_cut = self.cut.is_of(self.watch.segment.get());
            let over = self.cancel.is_asked() || is_cut || now_ns >= self.watch.give_up_ns.get();
            if over && !self.watch.ended.replace(true) {
                self.engine.end_feed();
            }
            if self.cancel.is_asked() {
                self.engine.call();
            }
            if now_ns >= publish_ns {
                publish_ns = now_ns + nanoseconds(PUBLISH_EVERY);
                let state = self.engine.session().get_cluster_state();
                let nodes =
                    || state.get_nodes_info().iter().map(|node| (node.address.ip().to_string(), node.is_connected()));
                let (lost, back) = self.nodes.changes(nodes);
                self.engine.ledger().publish(now_ns, self.engine.in_flight(), lost, back);
            }
        }
    }
}

/// For each node, whether it was connected at the last check; only the first thread checks.
pub(super) struct Nodes(Option<BTreeMap<String, bool>>);

impl Nodes {
    pub fn of(thread: usize) -> Nodes {
        Nodes((thread == 0).then(BTreeMap::new))
    }

    /// The nodes that were lost and those that are connected again since the last call, from address and state of each.
    pub fn changes<I: Iterator<Item = (String, bool)>>(
        &mut self,
        now: impl FnOnce() -> I,
    ) -> (Vec<String>, Vec<String>) {
        let (mut lost, mut back) = (Vec::new(), Vec::new());
        let Some(known) = &mut self.0 else { return (lost, back) };
        for (address, connected) in now() {
            match (known.insert(address.clone(), connected).unwrap_or(true), connected) {
                (true, false) => lost.push(address),
                (false, true) => back.push(address),
                _ => {}
            }
        }
        (lost, back)
    }
}

/// Interval of checks for timeouts: a timeout is late by at most a twentieth.
pub(super) fn tick(timeout: Duration) -> Duration {
    (timeout / 20).clamp(Duration::from_millis(2), Duration::from_millis(50))
}

/// Sleeps with a precision of 1 ms. For the start of a closed loop, which has no schedule.
async fn sleep_until(clock: Clock, at_ns: i64) {
    let wait_ns = (at_ns - clock.now_ns()).max(0);
    tokio::time::sleep(Duration::from_nanos(wait_ns as u64)).await;
}

pub(super) fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}
