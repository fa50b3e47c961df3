//! Names of the threads that the eBPF programs have reported.

use crate::names::ThreadNames;
use helenus_cassandra::threads::thread_group;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

/// If there are more threads than this, ended threads are forgotten.
const THREADS_KEPT: usize = 4096;

/// A thread's name and group. The name is the full one once the agent has sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: Rc<str>,
    pub(crate) group: Rc<str>,
}

struct Thread {
    process: u8,
    /// The kernel's name of the thread.
    short: String,
    named: Named,
}

/// Threads by their id in the kernel.
pub(crate) struct NamedThreads {
    pids: Vec<u32>,
    names: Vec<ThreadNames>,
    threads: HashMap<u32, Thread>,
    nameless: Named,
}

impl NamedThreads {
    /// Starts without threads; processes are given in the order of their indices.
    pub(crate) fn new(pids: Vec<u32>, names: Vec<ThreadNames>) -> NamedThreads {
        NamedThreads { pids, names, threads: HashMap::new(), nameless: Named { name: "".into(), group: "".into() } }
    }

    /// Stores a name that the kernel has reported.
    pub(crate) fn renamed(&mut self, process: u8, tid: u32, name: &[u8]) {
        let short = String::from_utf8_lossy(name).into_owned();
        let names = self.names.get(usize::from(process));
        let named = names.map_or_else(|| self.nameless.clone(), |names| named(names, tid, &short));
        self.threads.insert(tid, Thread { process, short, named });
    }

    /// A thread with the name that the kernel has for it now.
    pub(crate) fn seen(&mut self, process: u8, tid: u32, name: &[u8]) -> Named {
        let known =
            self.threads.get(&tid).is_some_and(|known| known.process == process && known.short.as_bytes() == name);
        if !known {
            self.renamed(process, tid, name);
        }
        self.named(tid)
    }

    pub(crate) fn named(&self, tid: u32) -> Named {
        self.threads.get(&tid).map_or(&self.nameless, |thread| &thread.named).clone()
    }

    pub(crate) fn group(&self, tid: u32) -> Rc<str> {
        Rc::clone(&self.threads.get(&tid).map_or(&self.nameless, |thread| &thread.named).group)
    }

    /// Updates names, because the agent sends full names later than the kernel reports short ones, and removes ended
    /// threads.
    pub(crate) fn tidy(&mut self) {
        if self.threads.len() > THREADS_KEPT {
            let pids = &self.pids;
            self.threads.retain(|tid, thread| {
                let pid = pids.get(usize::from(thread.process)).copied().unwrap_or_default();
                Path::new(&format!("/proc/{pid}/task/{tid}")).exists()
            });
        }
        for (tid, thread) in &mut self.threads {
            let Some(names) = self.names.get(usize::from(thread.process)) else { continue };
            let now = named(names, *tid, &thread.short);
            if now != thread.named {
                thread.named = now;
            }
        }
    }
}

fn named(names: &ThreadNames, tid: u32, short: &str) -> Named {
    match names.full(i64::from(tid), short) {
        Some(full) => Named { group: thread_group(&full).into(), name: full.into() },
        None => Named { name: short.into(), group: names.group(short).into() },
    }
}
