//! Restores a process and the interrupts from the journal.

use super::journal::{Journals, Mask, Saved};
use super::threads::is_gone;
use super::{Error, interrupts};
use helenus_cassandra::process::parse_stat;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// Timeout for another helenus process to restore the process that it follows.
const FOLLOWER_WITHIN: Duration = Duration::from_secs(10);
/// The most passes over the threads: a process may keep starting threads from parents that were not restored yet.
const PASSES: usize = 20;

/// The result of restoring a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restored {
    pub pid: i32,
    pub command: String,
    /// Whether the process has ended: then only interrupts were restored.
    pub process_ended: bool,
    /// Threads that have their former masks again.
    pub threads: usize,
    /// Threads that were started since, which get the former mask of the process.
    pub threads_since: usize,
    /// Threads that have ended since.
    pub threads_ended: usize,
    pub interrupts: usize,
}

/// Restores everything, or asks the helenus process that follows the process to do so.
pub fn unpin(journals: &Journals, saved: &Saved) -> Result<Restored, Error> {
    let follower = saved.follower().filter(|pid| *pid != std::process::id().cast_signed());
    let Some(follower) = follower else { return restore(journals, saved) };
    let restored = pass(saved, &mut HashSet::new(), &mut |_, _| Ok(()))?;
    journals.ask(saved)?;
    let until = Instant::now() + FOLLOWER_WITHIN;
    while journals.has(saved) {
        if saved.follower().is_none() {
            // That helenus process was killed before it restored the threads.
            return restore(journals, saved);
        }
        if Instant::now() > until {
            return Err(Error::Follower { pid: saved.pid, follower });
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(Restored { interrupts: saved.interrupts.len(), ..restored })
}

/// Restores everything, and then removes the entry from the journal.
pub(super) fn restore(journals: &Journals, saved: &Saved) -> Result<Restored, Error> {
    let mut left = Vec::new();
    let mut back = 0;
    for interrupt in saved.interrupts.iter().filter(|_| saved.is_of_this_boot()) {
        if interrupts::affinity(interrupt.irq).is_ok_and(|now| now == interrupt.affinity) {
            back += 1;
            continue;
        }
        match interrupts::set_affinity(interrupt.irq, &interrupt.affinity) {
            Ok(()) => back += 1,
            // The device was removed, and its interrupt with it.
            Err(error) if is_gone(&error) => {}
            Err(error) => {
                left.push(interrupts::refused(interrupt.irq, &interrupt.device, &interrupt.affinity, error).to_string())
            }
        }
    }
    let mut seen = HashSet::new();
    let mut set = |tid: i32, mask: &Mask| match mask.give_to(tid) {
        Err(error) if !is_gone(&error) => Err(match error.raw_os_error() {
            Some(libc::EPERM) => Error::NoPermission { pid: saved.pid },
            _ => Error::Thread { tid, cpus: mask.to_string(), source: error },
        }),
        _ => Ok(()),
    };
    let mut restored = Restored { interrupts: back, ..pass(saved, &mut seen, &mut set).map_err(not_restored)? };
    for _ in 0..PASSES {
        // A thread whose parent was not restored yet inherited the parent's mask, so another pass is made.
        let more = pass(saved, &mut seen, &mut set).map_err(not_restored)?;
        if more.threads + more.threads_since == 0 {
            break;
        }
        restored.threads_since += more.threads_since;
    }
    if !left.is_empty() {
        return Err(Error::NotRestored(left.join("; ")));
    }
    journals.remove(saved)?;
    Ok(restored)
}

fn not_restored(error: Error) -> Error {
    Error::NotRestored(error.to_string())
}

/// Gives each thread not yet restored its former mask.
fn pass(
    saved: &Saved,
    seen: &mut HashSet<i32>,
    set: &mut dyn FnMut(i32, &Mask) -> Result<(), Error>,
) -> Result<Restored, Error> {
    let before: HashMap<i32, _> = saved.threads.iter().map(|thread| (thread.tid, thread)).collect();
    let mut restored = Restored {
        pid: saved.pid,
        command: saved.command.clone(),
        process_ended: true,
        threads: 0,
        threads_since: 0,
        threads_ended: 0,
        interrupts: 0,
    };
    if saved.process().is_none() {
        return Ok(restored);
    }
    let Ok(entries) = std::fs::read_dir(format!("/proc/{}/task", saved.pid)) else { return Ok(restored) };
    restored.process_ended = false;
    let tids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    for tid in tids {
        if !seen.insert(tid) {
            continue;
        }
        let stat = std::fs::read_to_string(format!("/proc/{}/task/{tid}/stat", saved.pid));
        let Some(stat) = stat.ok().as_deref().and_then(parse_stat) else { continue };
        match before.get(&tid).filter(|thread| thread.start_ticks == stat.start_ticks) {
            Some(thread) => {
                set(tid, &thread.mask)?;
                restored.threads += 1;
            }
            None => {
                set(tid, &saved.mask)?;
                restored.threads_since += 1;
            }
        }
    }
    restored.threads_ended = saved.threads.len().saturating_sub(restored.threads);
    Ok(restored)
}

#[cfg(test)]
mod tests {
    use super::super::journal::{SavedInterrupt, SavedThread};
    use super::super::{CpuSet, affinity};
    use super::*;
    use helenus_cassandra::process;
    use std::process::{Child, Command};

    fn sleeper() -> (Child, Saved) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id().cast_signed();
        let start_ticks = process::stat(pid).unwrap().start_ticks;
        let saved = Saved::new(pid, start_ticks, "interrupt-aware", Mask::Every).unwrap();
        (child, saved)
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_thread_whose_number_is_anothers_by_now_gets_the_mask_of_the_process() {
        let state = tempfile::tempdir().unwrap();
        let journals = Journals::within(state.path());
        let (child, mut saved) = sleeper();
        let before = affinity::of(saved.pid).unwrap();
        let one: CpuSet = before.iter().take(1).collect();
        let thread = |start_ticks| SavedThread { tid: saved.pid, start_ticks, mask: Mask::These(one.clone()) };
        saved.threads = vec![thread(saved.start_ticks + 1)];
        journals.create(&saved).unwrap();
        let restored = unpin(&journals, &saved).unwrap();
        assert_eq!((restored.threads, restored.threads_since, restored.threads_ended), (0, 1, 1));
        assert_eq!(affinity::of(saved.pid).unwrap(), before);
        end(child);
    }

    #[test]
    fn an_interrupt_is_put_back_even_when_the_process_has_ended() {
        let movable = |irq: &u32| {
            let before = interrupts::affinity(*irq).ok()?;
            (before.len() > 1 && interrupts::set_affinity(*irq, &before).is_ok()).then_some((*irq, before))
        };
        let Some((irq, before)) = (1..512).find_map(|irq| movable(&irq)) else {
            return helenus_needs::skipped(&"no interrupt can be moved here");
        };
        let state = tempfile::tempdir().unwrap();
        let journals = Journals::within(state.path());
        let (child, mut saved) = sleeper();
        saved.interrupts = vec![SavedInterrupt { irq, device: "device".into(), affinity: before.clone() }];
        journals.create(&saved).unwrap();
        let one: CpuSet = before.iter().take(1).collect();
        interrupts::set_affinity(irq, &one).unwrap();
        assert_eq!(interrupts::affinity(irq).unwrap(), one);
        end(child);
        let restored = unpin(&journals, &saved).unwrap();
        assert!(restored.process_ended && restored.interrupts == 1, "{restored:?}");
        assert_eq!(interrupts::affinity(irq).unwrap(), before);
        assert!(!journals.has(&saved));
    }
}
