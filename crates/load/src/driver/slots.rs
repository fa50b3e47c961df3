//! Tasks that each carry one request at a time.
//!
//! A task is created once and reused, so that a request needs no allocation and no spawn. Free tasks are in a stack, so
//! that the last one used is reused first, while its memory is in the CPU's cache.

use super::job::Job;
use super::route::{NO_NODE, NodeNumber};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Why a request is abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancellation {
    Timeout,
    Abandoned,
}

/// The state of one task.
#[derive(Debug)]
pub(super) struct Slot {
    number: usize,
    job: Cell<Option<Job>>,
    waiting: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    /// Start of the request in flight; i64::MAX if there is none.
    pub started_ns: Cell<i64>,
    pub cancel: Cell<Option<Cancellation>>,
    pub node: Cell<NodeNumber>,
}

/// The states of all tasks.
#[derive(Debug, Default)]
pub(super) struct Slots {
    all: RefCell<Vec<Rc<Slot>>>,
    free: RefCell<Vec<usize>>,
    closed: Cell<bool>,
}

impl Slots {
    pub fn add(&self) -> Rc<Slot> {
        let mut all = self.all.borrow_mut();
        let slot = Rc::new(Slot {
            number: all.len(),
            job: Cell::new(None),
            waiting: Cell::new(false),
            waker: RefCell::new(None),
            started_ns: Cell::new(i64::MAX),
            cancel: Cell::new(None),
            node: Cell::new(NO_NODE),
        });
        all.push(Rc::clone(&slot));
        slot
    }

    pub fn count(&self) -> usize {
        self.all.borrow().len()
    }

    pub fn has_free(&self) -> bool {
        !self.free.borrow().is_empty()
    }

    /// Slots that carry a request, or pause before the next one.
    pub fn busy(&self) -> usize {
        self.count() - self.free.borrow().len()
    }

    /// Gives a request to the free slot that was used last.
    pub fn give(&self, job: Job) -> Result<(), Job> {
        let Some(number) = self.free.borrow_mut().pop() else { return Err(job) };
        let slot = Rc::clone(&self.all.borrow()[number]);
        slot.waiting.set(false);
        slot.job.set(Some(job));
        slot.wake();
        Ok(())
    }

    /// Aborts the requests that started before a time; all of them for i64::MAX.
    pub fn cancel(&self, before_ns: i64, why: Cancellation) {
        for slot in self.all.borrow().iter().filter(|slot| slot.started_ns.get() < before_ns) {
            slot.cancel.set(Some(why));
            slot.wake();
        }
    }

    /// Tells all tasks to end.
    pub fn close(&self) {
        self.closed.set(true);
        self.all.borrow().iter().for_each(|slot| slot.wake());
    }

    /// The next request for a slot; None when the tasks are to end. `parked` is called when the slot begins to wait.
    pub fn poll_job(&self, slot: &Slot, context: &mut Context<'_>, parked: impl FnOnce()) -> Poll<Option<Job>> {
        if let Some(job) = slot.job.take() {
            return Poll::Ready(Some(job));
        }
        if self.closed.get() {
            return Poll::Ready(None);
        }
        slot.remember(context);
        if !slot.waiting.replace(true) {
            self.free.borrow_mut().push(slot.number);
            parked();
        }
        Poll::Pending
    }
}

impl Slot {
    pub fn remember(&self, context: &Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            *waker = Some(context.waker().clone());
        }
    }

    fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }
}
