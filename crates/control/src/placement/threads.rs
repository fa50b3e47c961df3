//! Threads of a process: names, last CPU, and allowed CPUs.

use super::{CpuSet, affinity};
use helenus_cassandra::process::parse_stat;
use helenus_cassandra::threads::{KERNEL_KEEPS, thread_group};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read};

/// A thread at the time of the last read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Thread {
    pub tid: i32,
    /// Start time of the thread, which identifies it together with its id.
    #[serde(skip)]
    pub start_ticks: u64,
    /// The kernel's name of the thread, cut off after 15 bytes.
    #[serde(rename = "thread")]
    pub name: String,
    /// The CPU on which the thread last ran.
    pub last_cpu: u32,
    /// CPU time since it began.
    #[serde(skip)]
    pub cpu_ticks: u64,
    /// The CPUs on which it may run.
    #[serde(rename = "allowed")]
    pub mask: CpuSet,
}

impl Thread {
    /// Returns None if the thread has ended.
    pub fn read(pid: i32, tid: i32) -> io::Result<Option<Thread>> {
        let thread = || -> io::Result<Thread> {
            let stat = parse_stat(&text(&format!("/proc/{pid}/task/{tid}/stat"))?);
            let stat = stat.ok_or_else(|| io::Error::other("/proc has no `stat` as it is known"))?;
            let (start_ticks, last_cpu, cpu_ticks) = (stat.start_ticks, stat.last_cpu, stat.cpu_ticks);
            Ok(Thread { tid, start_ticks, name: name(pid, tid)?, last_cpu, cpu_ticks, mask: affinity::of(tid)? })
        };
        match thread() {
            Err(error) if is_gone(&error) => Ok(None),
            thread => thread.map(Some),
        }
    }

    pub fn group(&self) -> &str {
        thread_group(&self.name)
    }

    /// Whether the thread belongs to a group, judged by the part of its name that the kernel has; `*` matches any.
    pub(super) fn is_in(&self, group: &str) -> bool {
        let own = self.group();
        let is_cut = own.len() == KERNEL_KEEPS;
        group == "*" || group == own || (is_cut && group.starts_with(own))
    }
}

/// The threads of a process in order of creation. Fails if the process has ended.
pub(super) fn all(pid: i32) -> io::Result<Vec<Thread>> {
    let mut threads = Vec::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let Some(tid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        threads.extend(Thread::read(pid, tid)?);
    }
    Ok(threads)
}

pub(super) fn name(pid: i32, tid: i32) -> io::Result<String> {
    text(&format!("/proc/{pid}/task/{tid}/comm")).map(|name| name.trim_end_matches('\n').to_string())
}

pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH))
}

/// Reads a file of /proc that is shorter than a page, so that one read returns all of it.
fn text(path: &str) -> io::Result<String> {
    let mut buffer = [0; 4096];
    let length = File::open(path)?.read(&mut buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_of_ours_is_found_and_one_that_ended_is_not() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let waiting =
            std::thread::Builder::new().name("Waiting-Stage-12".into()).spawn(move || stopped.recv()).unwrap();
        let pid = std::process::id() as i32;
        let find = || all(pid).unwrap().into_iter().find(|thread| thread.name == "Waiting-Stage-1");
        while find().is_none() {
            std::thread::yield_now();
        }
        let thread = find().unwrap();
        assert_eq!(thread.group(), "Waiting-Stage");
        assert!(thread.start_ticks > 0 && !thread.mask.is_empty());
        drop(stop);
        let _ = waiting.join().unwrap();
        while find().is_some() {
            std::thread::yield_now();
        }
        assert_eq!(Thread::read(pid, thread.tid).unwrap(), None);
    }

    #[test]
    fn a_name_that_was_cut_off_is_in_every_group_that_begins_so() {
        let named = |name: &str| Thread {
            tid: 1,
            start_ticks: 1,
            name: name.into(),
            last_cpu: 0,
            cpu_ticks: 0,
            mask: CpuSet::default(),
        };
        assert!(named("Native-Transpor").is_in("Native-Transport-Requests"));
        assert!(named("MutationStage-1").is_in("MutationStage"));
        assert!(!named("MutationStage-1").is_in("MutationStages"));
        assert!(!named("ReadStage-1").is_in("Read") && named("7").is_in("*"));
    }
}
