//! The engine of one driver thread: a dispatcher that keeps the schedule, and slots that carry the requests.
//!
//! ```text
//! feed ──▶ dispatcher ──▶ free slot ──▶ session ──▶ ledger
//!   └──────── a slot that has just ended takes what is overdue itself ◀──┘
//! ```

use super::alarm::Alarm;
use super::feed::Feed;
use super::job::{Job, Next};
use super::ledger::{Ended, Ledger};
use super::request::Statement;
use super::request::{self, Answer};
use super::route;
use super::slots::{Cancellation, Slot, Slots};
use crate::outcome::{Outcome, message};
use crate::workload::{Pool, Workload};
use helenus_recording::Clock;
use scylla::client::session::Session;
use scylla::errors::ExecutionError;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

/// How long a slot of a closed loop waits before it retries a node that can't be connected to: the first wait, and the
/// longest. Without the wait, a closed loop would only produce refused connections.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

pub(super) struct Engine {
    session: Session,
    statements: Vec<Statement>,
    workload: Arc<Workload>,
    pool: Arc<Pool>,
    clock: Clock,
    alarm: Alarm,
    /// The most slots of an open loop.
    room: usize,
    feed: RefCell<Feed>,
    slots: Slots,
    ledger: RefCell<Ledger>,
    /// Wakes the dispatcher; `called` tells it that this was the reason.
    dispatcher: RefCell<Option<Waker>>,
    called: Cell<bool>,
    /// Whether the dispatcher waits for a slot to become free.
    wants_slot: Cell<bool>,
    next_number: Cell<u64>,
}

/// The parts that an engine is built from.
pub(super) struct Parts {
    pub session: Session,
    pub statements: Vec<Statement>,
    pub workload: Arc<Workload>,
    pub pool: Arc<Pool>,
    pub clock: Clock,
    pub alarm: Alarm,
    pub room: usize,
    pub ledger: Ledger,
}

impl Engine {
    pub fn new(parts: Parts) -> Rc<Engine> {
        Rc::new(Engine {
            session: parts.session,
            statements: parts.statements,
            workload: parts.workload,
            pool: parts.pool,
            clock: parts.clock,
            alarm: parts.alarm,
            room: parts.room,
            feed: RefCell::new(Feed::Over),
            slots: Slots::default(),
            ledger: RefCell::new(parts.ledger),
            dispatcher: RefCell::new(None),
            called: Cell::new(false),
            wants_slot: Cell::new(false),
            next_number: Cell::new(0),
        })
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn ledger(&self) -> std::cell::RefMut<'_, Ledger> {
        self.ledger.borrow_mut()
    }

    pub fn in_flight(&self) -> u64 {
        self.slots.busy() as u64
    }

    /// Begins a segment.
    pub fn begin(&self, feed: Feed, windows: Vec<(usize, i64, i64)>) {
        self.ledger().begin(windows);
        *self.feed.borrow_mut() = feed;
    }

    /// Sends the requests of an open loop's feed, each when it is due. Returns when all are sent, or when the feed was
    /// ended.
    pub async fn dispatch_open(self: &Rc<Self>) {
        while !matches!(*self.feed.borrow(), Feed::Over) {
            let now_ns = self.clock.now_ns();
            let has_room = self.slots.has_free() || self.slots.count() < self.room;
            if !has_room {
                // A slot that becomes free takes overdue requests by itself, and waits if there are none.
                self.feed.borrow_mut().full(now_ns);
                self.wait(None).await;
                continue;
            }
            let next = self.feed.borrow_mut().next(now_ns, true);
            match next {
                Next::Job(job) => self.give(job),
                Next::At(at_ns) => self.wait(Some(at_ns)).await,
                Next::Over => return,
            }
        }
    }

    /// Starts the requests of a closed loop, and returns when no further requests are to be started.
    pub async fn dispatch_closed(self: &Rc<Self>, in_flight: usize) {
        for _ in 0..in_flight {
            let next = self.feed.borrow_mut().next(self.clock.now_ns(), true);
            let Next::Job(job) = next else { break };
            self.give(job);
        }
        // A slot parks only when the feed has ended.
        while self.slots.busy() > 0 && !matches!(*self.feed.borrow(), Feed::Over) {
            self.wait(None).await;
        }
    }

    /// Starts the requests of each group of a surge when the group joins, and returns when no further requests are to
    /// be started.
    pub async fn dispatch_surge(self: &Rc<Self>) {
        loop {
            let next = self.feed.borrow_mut().next(self.clock.now_ns(), true);
            match next {
                Next::Job(job) => self.give(job),
                Next::At(at_ns) => self.wait(Some(at_ns)).await,
                Next::Over => break,
            }
        }
        while self.slots.busy() > 0 && !matches!(*self.feed.borrow(), Feed::Over) {
            self.wait(None).await;
        }
    }

    /// Waits until no request is in flight. Returns false once `until_ns` has passed, which may change from call to
    /// call.
    pub async fn drained(&self, until_ns: impl Fn() -> i64) -> bool {
        while self.slots.busy() > 0 {
            let until_ns = until_ns();
            if self.clock.now_ns() >= until_ns {
                return false;
            }
            self.wait(Some(until_ns)).await;
        }
        true
    }

    /// One more than the highest request number of the mix so far.
    pub fn next_number(&self) -> u64 {
        self.next_number.get()
    }

    /// Ends the feed, and counts the requests that were due and are not sent.
    pub fn end_feed(&self) {
        let unsent = self.feed.borrow_mut().end(self.clock.now_ns());
        for (phase, count) in unsent {
            self.ledger().unsent(phase, count);
        }
        self.call();
    }

    /// Aborts the requests that started before a given time.
    pub fn cancel(&self, before_ns: i64, why: Cancellation) {
        self.slots.cancel(before_ns, why);
    }

    pub fn close(&self) {
        self.slots.close();
    }

    /// Wakes the dispatcher.
    pub fn call(&self) {
        self.called.set(true);
        if let Some(waker) = &*self.dispatcher.borrow() {
            waker.wake_by_ref();
        }
    }

    fn give(self: &Rc<Self>, job: Job) {
        if let Err(job) = self.slots.give(job) {
            let slot = self.slots.add();
            let engine = Rc::clone(self);
            tokio::task::spawn_local(async move { engine.carry(&slot, job).await });
        }
    }

    /// Waits until a time, until woken, or, without a time, until a slot is free.
    async fn wait(&self, until_ns: Option<i64>) {
        match until_ns {
            Some(at_ns) => self.alarm.set(at_ns),
            None => self.wants_slot.set(true),
        }
        poll_fn(|context| {
            if self.called.take() {
                return Poll::Ready(());
            }
            let mut waker = self.dispatcher.borrow_mut();
            if !waker.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
                *waker = Some(context.waker().clone());
            }
            drop(waker);
            match until_ns {
                Some(_) => self.alarm.poll_ring(context),
                None => Poll::Pending,
            }
        })
        .await;
        self.wants_slot.set(false);
    }

    /// The task of a slot.
    async fn carry(&self, slot: &Slot, first: Job) {
        let mut job = Some(first);
        let mut back_off = BACK_OFF.0;
        loop {
            while let Some(current) = job {
                let (end_ns, outcome) = self.perform(slot, current).await;
                if current.intended_ns.is_none() {
                    if outcome == Outcome::Connection {
                        tokio::time::sleep(back_off).await;
                        back_off = (back_off * 2).min(BACK_OFF.1);
                    } else {
                        back_off = BACK_OFF.0;
                    }
                }
                let free = self.slots.has_free() || self.slots.count() < self.room;
                let mut feed = self.feed.borrow_mut();
                job = match feed.after(&current, end_ns, free) {
                    Next::Job(next) => Some(next),
                    Next::At(_) => None,
                    Next::Over => {
                        *feed = Feed::Over;
                        None
                    }
                };
            }
            match poll_fn(|context| self.slots.poll_job(slot, context, || self.parked())).await {
                Some(next) => job = Some(next),
                None => return,
            }
        }
    }

    fn parked(&self) {
        if self.wants_slot.get() || self.slots.busy() == 0 {
            self.call();
        }
    }

    /// Makes a request, and records its result in the ledger.
    async fn perform(&self, slot: &Slot, job: Job) -> (i64, Outcome) {
        let operation = job.operation(&self.workload);
        let statement = &self.statements[operation];
        let job = job.taking(self.workload.seed, &statement.bound, &self.pool);
        if !job.populates {
            self.next_number.set(self.next_number.get().max(job.number + 1));
        }
        let start_ns = self.clock.now_ns();
        self.ledger().started(&job, start_ns);
        let call = job.call(self.workload.seed, &statement.bound, &self.pool, start_ns);
        slot.started_ns.set(start_ns);
        slot.node.set(route::NO_NODE);
        let mut request = pin!(request::send(&self.session, statement, call));
        let answer: Result<Result<Answer, ExecutionError>, Cancellation> = poll_fn(|context| {
            if let Some(cancel) = slot.cancel.take() {
                return Poll::Ready(Err(cancel));
            }
            slot.remember(context);
            route::reset();
            let polled = request.as_mut().poll(context);
            if route::chosen() != route::NO_NODE {
                slot.node.set(route::chosen());
            }
            polled.map(Ok)
        })
        .await;
        let end_ns = self.clock.now_ns();
        slot.started_ns.set(i64::MAX);
        slot.cancel.set(None);
        self.ledger().meet(slot.node.get(), route::address);
        let mut last_answer = Answer::default();
        let outcome = match answer {
            Ok(Ok(answer)) => {
                last_answer = answer;
                Outcome::Ok
            }
            Ok(Err(error)) => {
                let outcome = Outcome::of(&error);
                let mut ledger = self.ledger();
                if ledger.is_new(outcome) {
                    ledger.first_error(outcome, slot.node.get(), message(&error));
                }
                outcome
            }
            Err(cancel) => {
                let (outcome, message) = match cancel {
                    Cancellation::Timeout => (Outcome::Timeout, "no answer within the client's timeout"),
                    Cancellation::Abandoned => (Outcome::Abandoned, "still in flight when the run was ended"),
                };
                let mut ledger = self.ledger();
                if ledger.is_new(outcome) {
                    ledger.first_error(outcome, slot.node.get(), message.to_string());
                }
                outcome
            }
        };
        let node = slot.node.get();
        self.ledger().ended(&Ended {
            job,
            start_ns,
            end_ns,
            node,
            operation,
            outcome,
            answer: last_answer,
            wire: None,
        });
        (end_ns, outcome)
    }
}
