//! Keeps threads on the CPUs of a plan, until they are restored.

use super::journal::{Journals, Mask, Saved, SavedInterrupt, SavedThread};
use super::policy::Policy;
use super::restore::{Restored, restore};
use super::tasks::Tasks;
use super::threads::is_gone;
use super::{CpuSet, Error, Plan, Thread, affinity, interrupts, threads};
use helenus_cassandra::process::Process;
use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, Instant};

/// The most rounds; threads that a process keeps starting are placed by the follower.
const PASSES: usize = 20;

/// The placed threads of a process. Dropping it restores them, unless they are to be kept.
#[derive(Debug)]
pub struct Pin {
    journals: Journals,
    saved: Saved,
    process: Process,
    policy: Policy,
    tasks: Tasks,
    placed: HashMap<i32, PlacedThread>,
    /// All CPU sets that were assigned. A thread with one of these masks inherited it, or was placed here.
    given: HashSet<CpuSet>,
    /// How long it took to give all threads their CPUs.
    pub took: Duration,
    is_over: bool,
}

/// The known state of a thread.
#[derive(Debug)]
struct PlacedThread {
    name: String,
    cpus: Option<CpuSet>,
}

impl Plan {
    /// Applies the plan. The state before is on the disk before anything is changed; after an error nothing is changed.
    pub fn apply(self, journals: &Journals) -> Result<Pin, Error> {
        let pid = self.pid;
        for known in journals.list()? {
            if known.pid == pid && known.start_ticks == self.start_ticks && known.is_of_this_boot() {
                return Err(Error::Pinned { pid, strategy: known.strategy });
            }
            if !self.moves.is_empty() && !known.interrupts.is_empty() && known.is_of_this_boot() {
                return Err(Error::InterruptsMoved { pid: known.pid });
            }
        }
        let every = self.room.every();
        let mut saved = Saved::new(pid, self.start_ticks, self.strategy.name(), Mask::of(&self.room.mask, &every))?;
        let thread = |thread: &Thread| SavedThread {
            tid: thread.tid,
            start_ticks: thread.start_ticks,
            mask: Mask::of(&thread.mask, &every),
        };
        saved.threads = self.threads.iter().map(|planned| thread(&planned.thread)).collect();
        let interrupt = |to_move: &super::Move| SavedInterrupt {
            irq: to_move.irq,
            device: to_move.device.clone(),
            affinity: to_move.from.clone(),
        };
        saved.interrupts = self.moves.iter().map(interrupt).collect();
        self.lease.into_iter().for_each(|lease| saved.set_lease(lease));
        let process = Process::find(pid, self.start_ticks).ok_or(Error::Ended { pid })?;
        let tasks = Tasks::open(pid).map_err(Error::of_process(pid, "the threads"))?;
        journals.create(&saved)?;
        let mut pin = Pin {
            journals: journals.clone(),
            saved,
            process,
            policy: self.policy.clone(),
            tasks,
            placed: HashMap::new(),
            given: HashSet::new(),
            took: Duration::ZERO,
            is_over: false,
        };
        match pin.start_guard().and_then(|()| pin.change(self)) {
            Ok(()) => Ok(pin),
            Err(error) => match pin.put_back() {
                Ok(_) => Err(error),
                Err(Error::NotRestored(left)) => Err(Error::NotRestored(format!("{error}; {left}"))),
                Err(left) => Err(left),
            },
        }
    }
}

impl Pin {
    pub fn pid(&self) -> i32 {
        self.saved.pid
    }

    /// Number of placed threads.
    pub fn threads(&self) -> usize {
        self.placed.values().filter(|placed| placed.cpus.is_some()).count()
    }

    /// Restores all masks.
    pub fn unpin(mut self) -> Result<Restored, Error> {
        self.put_back()
    }

    /// Leaves the threads placed, until their lease ends or `helenus unpin` restores them.
    pub fn keep(mut self) -> Result<(), Error> {
        self.saved.is_kept = true;
        // After an error, dropping this restores the threads.
        self.journals.write(&self.saved)?;
        self.is_over = true;
        Ok(())
    }

    pub(super) fn saved(&self) -> &Saved {
        &self.saved
    }

    pub(super) fn put_back(&mut self) -> Result<Restored, Error> {
        self.is_over = true;
        restore(&self.journals, &self.saved)
    }

    fn change(&mut self, plan: Plan) -> Result<(), Error> {
        for to_move in &plan.moves {
            interrupts::set_affinity(to_move.irq, &to_move.to)
                .map_err(|error| interrupts::refused(to_move.irq, &to_move.device, &to_move.to, error))?;
        }
        let started = Instant::now();
        for planned in plan.threads {
            let placed = PlacedThread { name: planned.thread.name.clone(), cpus: planned.cpus };
            if let Some(cpus) = &placed.cpus {
                self.set(planned.thread.tid, cpus)?;
                self.given.insert(cpus.clone());
            }
            self.placed.insert(planned.thread.tid, placed);
        }
        self.took = started.elapsed();
        // Places threads that were started while the plan was made, or by threads that were not placed yet.
        for _ in 0..PASSES {
            if self.place_all()?.is_empty() {
                break;
            }
        }
        if self.has_process() { Ok(()) } else { Err(Error::Ended { pid: self.pid() }) }
    }

    /// Whether the process still lives.
    pub(super) fn has_process(&self) -> bool {
        self.process.is_alive()
    }

    /// Whether another helenus process asks this one to restore the threads, or their lease is over.
    pub(super) fn has_to_end(&self) -> bool {
        self.journals.is_asked(&self.saved) || self.is_lease_over()
    }

    fn is_lease_over(&self) -> bool {
        // It may have been renewed.
        let is_over = |saved: Saved| saved.is_lease_over();
        self.saved.is_lease_over()
            && self.journals.find(self.saved.pid, self.saved.start_ticks).is_ok_and(|now| now.is_none_or(is_over))
    }

    /// Places the threads that were started since the last pass. Returns their ids.
    pub(super) fn place_new(&mut self) -> Result<Vec<i32>, Error> {
        let placed = &self.placed;
        let new = self.tasks.unknown(|tid| placed.contains_key(&tid));
        self.place_these(new.map_err(Error::of_process(self.pid(), "the threads"))?)
    }

    /// Places these threads. Returns the ids of those that still exist.
    fn place_these(&mut self, mut new: Vec<i32>) -> Result<Vec<i32>, Error> {
        let pid = self.pid();
        let mut failed = Ok(());
        new.retain(|tid| match Thread::read(pid, *tid) {
            Ok(Some(thread)) => {
                let cpus = self.policy.place(&thread);
                failed = std::mem::replace(&mut failed, Ok(())).and(self.give(&thread, cpus));
                true
            }
            // The thread has ended.
            _ => false,
        });
        failed.map(|()| new)
    }

    /// Reads the names of threads, and places renamed threads again.
    pub(super) fn place_renamed(&mut self, tids: &[i32]) -> Result<(), Error> {
        let pid = self.pid();
        for tid in tids {
            let Some(known) = self.placed.get(tid) else { continue };
            if threads::name(pid, *tid).is_ok_and(|name| name == known.name) {
                continue;
            }
            let Ok(Some(thread)) = Thread::read(pid, *tid) else { continue };
            let cpus = self.policy.place_renamed(&thread, known.cpus.as_ref());
            if cpus == known.cpus {
                self.placed.insert(*tid, PlacedThread { name: thread.name, cpus });
            } else {
                self.give(&thread, cpus)?;
            }
        }
        Ok(())
    }

    /// Whether the process must be searched for threads with other names.
    pub(super) fn depends_on_names(&self) -> bool {
        self.policy.place_depends_on_name()
    }

    /// Reads all threads: forgets ended ones, places missed ones, and returns the ids of the latter.
    pub(super) fn place_all(&mut self) -> Result<Vec<i32>, Error> {
        let mut tids = self.tasks.all().map_err(Error::of_process(self.pid(), "the threads"))?;
        let there: HashSet<i32> = tids.iter().copied().collect();
        self.placed.retain(|tid, _| there.contains(tid));
        tids.retain(|tid| !self.placed.contains_key(tid));
        self.place_these(tids)
    }

    /// The ids of all threads that this pin knows.
    pub(super) fn tids(&self) -> Vec<i32> {
        self.placed.keys().copied().collect()
    }

    /// A thread that the plan does not place gets the mask of the process instead of its parent's.
    fn give(&mut self, thread: &Thread, cpus: Option<CpuSet>) -> Result<(), Error> {
        let outcome = match &cpus {
            Some(cpus) => self.set(thread.tid, cpus),
            None if self.given.contains(&thread.mask) => {
                self.given_to(thread.tid, self.saved.mask.give_to(thread.tid), || self.saved.mask.to_string())
            }
            None => Ok(()),
        };
        self.given.extend(cpus.clone());
        self.placed.insert(thread.tid, PlacedThread { name: thread.name.clone(), cpus });
        outcome
    }

    fn set(&self, tid: i32, cpus: &CpuSet) -> Result<(), Error> {
        self.given_to(tid, affinity::set(tid, cpus), || cpus.to_string())
    }

    /// The result of placing a thread. A thread that has ended counts as success.
    fn given_to(&self, tid: i32, outcome: io::Result<()>, cpus: impl FnOnce() -> String) -> Result<(), Error> {
        outcome.or_else(|source| match source.raw_os_error() {
            Some(libc::EPERM) => Err(Error::NoPermission { pid: self.pid() }),
            _ if is_gone(&source) => Ok(()),
            _ => Err(Error::Thread { tid, cpus: cpus(), source }),
        })
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        if !self.is_over {
            // After an error the remaining threads stay in the journal, for a later helenus to restore.
            let _ = self.put_back();
        }
    }
}
