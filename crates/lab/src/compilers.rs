//! How busy the JIT compilers of the nodes are, by the CPU time of their threads.

use helenus_cassandra::foreign::read_proc;
use helenus_cassandra::target::{self, TargetName};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Names of compiler threads in HotSpot and GraalVM. The kernel keeps 15 characters of a name.
const NAMES: [&str; 3] = ["C1 CompilerThre", "C2 CompilerThre", "JVMCI CompilerT"];

/// The JIT compiler threads of nodes on this machine.
#[derive(Debug)]
pub(crate) struct Compilers {
    /// Folders in /proc of the processes' threads.
    folders: Vec<PathBuf>,
    /// CPU time of each thread at the last reading.
    used_ns: HashMap<PathBuf, u64>,
}

impl Compilers {
    /// Compiler threads of the nodes that run on this machine.
    pub(crate) fn of(nodes: &[SocketAddr]) -> Compilers {
        let targets = nodes.iter().filter_map(|node| target::find(TargetName::Address(*node)).ok());
        Compilers::of_processes(targets.map(|target| target.pid))
    }

    fn of_processes(pids: impl Iterator<Item = i32>) -> Compilers {
        let folders = pids.map(|pid| PathBuf::from(format!("/proc/{pid}/task"))).collect();
        Compilers { folders, used_ns: HashMap::new() }
    }

    /// CPU time that they have used since the last call. None if no compiler thread is known, as for nodes elsewhere.
    ///
    /// The JVM starts and ends compiler threads as needed. A thread that has ended since the last call is not counted.
    pub(crate) fn used(&mut self) -> Option<Duration> {
        let now = self.read();
        if now.is_empty() && self.used_ns.is_empty() {
            return None;
        }
        let before = |thread: &PathBuf| self.used_ns.get(thread).copied().unwrap_or_default();
        let used_ns = now.iter().map(|(thread, used_ns)| used_ns.saturating_sub(before(thread))).sum();
        self.used_ns = now;
        Some(Duration::from_nanos(used_ns))
    }

    /// The CPUs that they have used since the last call, which was at `begun`.
    pub(crate) fn share_since(&mut self, begun: Instant) -> Option<f64> {
        self.used().map(|used| used.as_secs_f64() / begun.elapsed().as_secs_f64())
    }

    /// The CPUs that they have used since the last call, which was `lasted` ago.
    pub(crate) fn share_within(&mut self, lasted: Duration) -> Option<f64> {
        self.used().map(|used| used.as_secs_f64() / lasted.as_secs_f64().max(1e-9))
    }

    fn read(&self) -> HashMap<PathBuf, u64> {
        let folders = self.folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok());
        let threads = folders.flatten().filter_map(Result::ok).map(|entry| entry.path());
        threads.filter_map(|thread| Some((thread.clone(), compiler_ns(thread)?))).collect()
    }
}

/// CPU time of a thread; None unless it is a compiler thread.
fn compiler_ns(thread: PathBuf) -> Option<u64> {
    let name = read_proc(thread.join("comm")).ok()?;
    let is_compiler = NAMES.contains(&name.trim_end());
    is_compiler.then(|| read_proc(thread.join("schedstat")).ok()?.split_whitespace().next()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn only_compiler_threads_are_counted() {
        let own = || Compilers::of_processes([std::process::id().cast_signed()].into_iter());
        let (stop, stopped) = channel::<()>();
        let busy = std::thread::Builder::new().name("C2 CompilerThread0".into());
        let busy =
            busy.spawn(move || while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {}).unwrap();
        let mut compilers = own();
        let until = Instant::now() + Duration::from_secs(30);
        let mut used = Duration::ZERO;
        // On a busy machine the thread may not have run yet.
        while used.is_zero() && Instant::now() < until {
            used += compilers.used().unwrap_or_default();
        }
        drop(stop);
        busy.join().unwrap();
        assert!(!used.is_zero());
        assert_eq!(compilers.used(), Some(Duration::ZERO), "the thread has ended");
        assert_eq!(own().used(), None);
        assert_eq!(Compilers::of_processes(std::iter::empty()).used(), None);
    }
}
