//! Threads of any process that took a thread's CPU or woke it. The kernel gives only their ids and a short name.

use super::records::OtherThread;
use crate::ebpf::{NamedThreads, text};
use helenus_cassandra::foreign::read_proc;
use std::collections::HashMap;
use std::rc::Rc;

/// The other thread of a switch, as it is stored in rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ThreadIdentity {
    pub(super) tid: Option<i64>,
    pub(super) thread: Rc<str>,
    pub(super) process: Rc<str>,
}

#[derive(Debug, Default)]
pub(super) struct OtherThreads {
    threads: HashMap<[u8; OtherThread::NAME_BYTES], Rc<str>>,
    /// Names of processes by pid. A pid may be reused soon.
    processes: HashMap<u32, Rc<str>>,
}

impl OtherThreads {
    /// The name of another thread. If it is a followed thread, it has the same name as in all other rows.
    pub(super) fn identity(&mut self, other: &OtherThread, followed: &NamedThreads) -> ThreadIdentity {
        let short = self
            .threads
            .entry(other.name)
            .or_insert_with(|| String::from_utf8_lossy(text(&other.name)).into_owned().into());
        let full = (other.tid != 0).then(|| followed.named(other.tid).name).filter(|full| full.starts_with(&**short));
        let process = match other.tgid {
            0 => "".into(),
            tgid => Rc::clone(
                self.processes
                    .entry(tgid)
                    .or_insert_with(|| read_proc(format!("/proc/{tgid}/comm")).unwrap_or_default().trim_end().into()),
            ),
        };
        let tid = (other.tid != 0).then_some(i64::from(other.tid));
        ThreadIdentity { tid, thread: full.unwrap_or_else(|| Rc::clone(short)), process }
    }

    /// Forgets ended processes; called from time to time.
    pub(super) fn forget(&mut self) {
        self.threads.clear();
        self.processes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::ThreadNames;

    #[test]
    fn a_thread_that_is_followed_has_its_full_name_and_an_interrupt_has_no_process() {
        let names = ThreadNames::default();
        names.set(7, "Native-Transport-Requests-12");
        let own = std::process::id();
        let mut followed = NamedThreads::new(vec![own], vec![names]);
        followed.renamed(0, 7, b"Native-Transpor");
        let mut others = OtherThreads::default();
        let mut identity = |tid, tgid, name: &[u8]| {
            let mut bytes = [0; OtherThread::NAME_BYTES];
            bytes[..name.len()].copy_from_slice(name);
            others.identity(&OtherThread { tid, tgid, name: bytes }, &followed)
        };
        let own_name = std::fs::read_to_string("/proc/self/comm").unwrap();
        let full = identity(7, own, b"Native-Transpor");
        assert_eq!((full.tid, &*full.thread), (Some(7), "Native-Transport-Requests-12"));
        assert_eq!(&*full.process, own_name.trim_end());
        assert_eq!(&*identity(8, own, b"kworker/1:0").thread, "kworker/1:0");
        let interrupt = identity(0, 0, b"interrupt");
        assert_eq!((interrupt.tid, &*interrupt.thread, &*interrupt.process), (None, "interrupt", ""));
    }
}
