//! The limits of a process that answers a question.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The memory that a process can have at the least, whatever else the machine does.
const LEAST_MEMORY_BYTES: u64 = 384 << 20;
/// A limit of the size of core files that also keeps a program from getting one through a pipe.
const NO_CORE: u64 = 1;
/// I/O when nobody else has any: the class "idle" of ioprio_set.
const IDLE_IO: libc::c_int = 3 << 13;
const OWN_PROCESS: libc::c_int = 1;

/// A question beside a node: memory as a share of what is available and at most, all of its intermediate results, and its times.
const SHARE_BESIDE: f64 = 1.0 / 8.0;
const MOST_BESIDE_BYTES: u64 = 4 << 30;
const SPILL_BESIDE_BYTES: u64 = 1 << 30;
const WITHIN_BESIDE: Duration = Duration::from_secs(120);
const CPU_BESIDE: Duration = Duration::from_secs(240);
/// A command that reads recordings.
const SHARE_OF_COMMAND: f64 = 0.5;
const SPILL_OF_COMMAND_BYTES: u64 = 16 << 30;
/// The kernel ends a question before anything else when memory is short, and then a command.
const OOM_SCORE_BESIDE: u16 = 1000;
const OOM_SCORE_OF_COMMAND: u16 = 500;

/// Limits of a process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Memory that it can write to, without mapped files.
    pub(crate) memory_bytes: u64,
    /// All files of intermediate results together.
    pub(crate) spill_bytes: u64,
    /// Each file that it writes; None if its own output may be a file.
    pub(crate) file_bytes: Option<u64>,
    pub(crate) cpu: Option<Duration>,
    /// The time after which its parent ends it.
    pub(crate) within: Option<Duration>,
    /// Whether the node and everybody else come first. The priority is a nice value.
    pub(crate) nice: Option<i32>,
    /// How early the kernel ends it when the machine has no memory left, from 0 to 1000.
    pub(crate) oom_score: u16,
    /// Process that it ends with.
    pub(crate) parent: u32,
}

/// A share of the memory that this process and its control group may still take.
fn memory_for(share: f64, most_bytes: u64) -> u64 {
    let available = helenus_explain::memory_left_bytes();
    ((available as f64 * share) as u64).clamp(LEAST_MEMORY_BYTES, most_bytes)
}

impl Limits {
    /// Those of a question that is asked where a node may run.
    pub(crate) fn beside_a_node(nice: i32) -> Limits {
        Limits {
            memory_bytes: memory_for(SHARE_BESIDE, MOST_BESIDE_BYTES),
            spill_bytes: SPILL_BESIDE_BYTES,
            file_bytes: Some(SPILL_BESIDE_BYTES),
            cpu: Some(CPU_BESIDE),
            within: Some(WITHIN_BESIDE),
            nice: Some(nice),
            oom_score: OOM_SCORE_BESIDE,
            parent: std::process::id(),
        }
    }

    /// Those of a command that reads recordings and whose output may be a file.
    pub(crate) fn of_command() -> Limits {
        Limits {
            memory_bytes: memory_for(SHARE_OF_COMMAND, u64::MAX),
            spill_bytes: SPILL_OF_COMMAND_BYTES,
            file_bytes: None,
            cpu: None,
            within: None,
            nice: None,
            oom_score: OOM_SCORE_OF_COMMAND,
            parent: std::process::id(),
        }
    }

    /// Limits this process, which has one thread yet.
    pub(super) fn take(&self) -> Result<()> {
        // SAFETY: no pointers.
        let is_bound = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } == 0;
        // The parent may have ended before.
        // SAFETY: no pointers.
        if !is_bound || unsafe { libc::getppid() }.cast_unsigned() != self.parent {
            bail!("the process that asked has ended");
        }
        limited(libc::RLIMIT_CORE, (NO_CORE, NO_CORE))?;
        limited(libc::RLIMIT_DATA, (self.memory_bytes, self.memory_bytes))?;
        if let Some(bytes) = self.file_bytes {
            // Writing fails then, instead of ending the process.
            // SAFETY: the signal is ignored by a constant, no handler is installed.
            unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
            limited(libc::RLIMIT_FSIZE, (bytes, bytes))?;
        }
        if let Some(cpu) = self.cpu {
            // The first ends it with a signal that tells why, the second anyway.
            let seconds = cpu.as_secs().max(1);
            limited(libc::RLIMIT_CPU, (seconds, seconds + 5))?;
        }
        // Where a container forbids these, the limits above still hold.
        let _ = std::fs::write("/proc/self/oom_score_adj", self.oom_score.to_string());
        if let Some(nice) = self.nice {
            let batch = libc::sched_param { sched_priority: 0 };
            // SAFETY: the only pointer is to `batch`, which lives as long as the call.
            unsafe {
                libc::setpriority(libc::PRIO_PROCESS, 0, nice);
                libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const batch);
                libc::syscall(libc::SYS_ioprio_set, OWN_PROCESS, 0, IDLE_IO);
            }
        }
        helenus_explain::limit_spill_files(self.spill_bytes);
        Ok(())
    }
}

/// Lowers a limit, the soft and the hard one; one that is lower already stays.
fn limited(what: libc::__rlimit_resource_t, (soft, hard): (u64, u64)) -> Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both pointers are to `limit`.
    let is_set = unsafe {
        libc::getrlimit(what, &raw mut limit) == 0 && {
            let hard = hard.min(limit.rlim_max);
            limit = libc::rlimit { rlim_cur: soft.min(limit.rlim_cur).min(hard), rlim_max: hard };
            libc::setrlimit(what, &raw const limit) == 0
        }
    };
    if !is_set {
        bail!("cannot limit this process: {}", std::io::Error::last_os_error());
    }
    Ok(())
}
