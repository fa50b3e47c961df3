//! All sources of one recording, started together and ended together.

use crate::jvm::{self, AgentLink, Wanted};
use crate::names::ThreadNames;
use crate::page_cache::PageCache;
use crate::sampler::Sampler;
use crate::sched::{Sched, SchedOptions};
use crate::stacks::{StackOptions, Stacks};
use crate::syscalls::{Syscalls, SyscallsOptions};
use crate::wire::Wire;
use crate::{Event, Events, ProcessKind, Watched};
use helenus_cassandra::attach;
use helenus_cassandra::network::NetworkError;
use helenus_cassandra::target::{self, Which};
use helenus_recording::{NodeFacts, Recorder};
use std::io;
use std::time::Duration;

/// How long an agent may take from being loaded to its hello, and from being asked to go to having gone.
const AGENT_WITHIN: Duration = Duration::from_secs(20);

/// What to record, and how often.
#[derive(Debug, Clone)]
pub struct Options {
    /// Between two samples of the CPUs and threads.
    pub interval: Duration,
    /// Between two readings of pools and tables inside the JVM.
    pub jvm_interval: Duration,
    /// A thread that wakes this much too late is a stall.
    pub stall_bound: Duration,
    /// The agent's jar; none to leave the JVMs alone.
    pub agent: Option<&'static [u8]>,
    /// What stacks are sampled of; none to sample no stacks.
    pub stacks: Option<StackOptions>,
    /// The system calls of the processes, by eBPF. Off by default.
    pub syscalls: SyscallsOptions,
    /// What they have the kernel read from disks, by file, by eBPF. Off by default.
    pub page_cache: bool,
    /// The requests of the nodes, from their packets. Off by default.
    pub wire: bool,
    /// How their threads are scheduled, by eBPF. Off by default.
    pub sched: SchedOptions,
    /// What the CPUs and the kernel count of the nodes' threads: cycles, cache misses and the like. Off by default.
    pub counters: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            interval: Duration::from_millis(100),
            jvm_interval: Duration::from_secs(1),
            stall_bound: Duration::from_millis(10),
            agent: None,
            stacks: None,
            syscalls: SyscallsOptions::default(),
            page_cache: false,
            wire: false,
            sched: SchedOptions::default(),
            counters: false,
        }
    }
}

/// Why the sources could not be started. Those that had been are ended again.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Target(#[from] target::Error),

    #[error("{0}. Record without the agent by --no-agent: GC, safepoints, pools and tables will be missing")]
    Attach(#[from] attach::Error),

    #[error(
        "the agent in {node} (pid {pid}) did not come up: {reason}. Record without it by --no-agent: GC, safepoints, pools and tables will be missing"
    )]
    Agent { node: String, pid: u32, reason: String },

    #[error("cannot read /proc of pid {pid}: {source}. {}", way_out(source))]
    Proc { pid: u32, source: io::Error },

    #[error("{0}. Record without the agent by --no-agent: GC, safepoints, pools and tables will be missing")]
    Network(#[from] NetworkError),

    #[error(transparent)]
    Recording(#[from] helenus_recording::Error),
}

/// Why /proc of a process could not be read.
fn way_out(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE) => {
            "Each thread of a node takes two files, and this process may have no more: raise the limit with `ulimit -Hn 65536`, \
             or LimitNOFILE= of its service"
        }
        Some(libc::ENFILE) => "The machine has no more open files to give: see /proc/sys/fs/file-max",
        Some(libc::ENOENT | libc::ESRCH) => {
            "The process has ended, or /proc is mounted with hidepid and the process belongs to another user (run as root)"
        }
        _ => "Run as the user of that process, or as root",
    }
}

/// The running sources.
#[derive(Debug, Default)]
pub struct Observation {
    agents: Vec<(String, AgentLink)>,
    names: Vec<ThreadNames>,
    stacks: Stacks,
    sampler: Option<Sampler>,
    syscalls: Option<Syscalls>,
    page_cache: Option<PageCache>,
    wire: Vec<Wire>,
    sched: Option<Sched>,
}

impl Observation {
    /// Attaches the sources to processes that run. On an error nothing stays attached.
    pub fn start(
        recorder: &Recorder,
        watched: &[Watched],
        options: &Options,
        events: &Events,
    ) -> Result<Observation, Error> {
        name_nodes(recorder, watched)?;
        let names = watched.iter().map(|_| ThreadNames::default()).collect();
        let mut observation = Observation { names, ..Observation::default() };
        match observation.attach(recorder, watched, options, events) {
            Ok(()) => Ok(observation),
            Err(error) => {
                observation.stop();
                Err(error)
            }
        }
    }

    fn attach(
        &mut self,
        recorder: &Recorder,
        watched: &[Watched],
        options: &Options,
        events: &Events,
    ) -> Result<(), Error> {
        allow_open_files();
        let names = self.names.clone();
        for (node, names) in watched.iter().zip(&names).filter(|(node, _)| node.process == ProcessKind::Server) {
            let Some(jar) = options.agent else {
                let reason = "no agent was wanted: GC, safepoints, pools and tables are not recorded".to_string();
                // The one who listened may have had enough.
                let _ = events.send(Event::Degraded { node: node.node.clone(), source: "jvm", reason });
                continue;
            };
            let wanted = Wanted {
                node: node.node.clone(),
                interval: options.jvm_interval,
                stall_bound: options.stall_bound,
                sources: jvm::SOURCES,
                provider: None,
            };
            let link = AgentLink::listen(node.pid, recorder.clone(), wanted, names.clone(), events.clone())?;
            let agent_options = link.agent_options().to_string();
            // From here on it is taken off again by `stop`, whatever comes.
            self.agents.push((node.node.clone(), link));
            let target = target::find(Which::Pid(node.pid.cast_signed()))?;
            attach::load_agent(&target, jar, &agent_options)?;
            let hello = self.agents.last().map_or(Err("no link".into()), |(_, link)| link.wait(AGENT_WITHIN));
            let hello = hello.map_err(|reason| Error::Agent { node: node.node.clone(), pid: node.pid, reason })?;
            let connected =
                Event::AgentConnected { node: node.node.clone(), java: hello.java, cassandra: hello.cassandra };
            let _ = events.send(connected);
        }
        if let Some(wanted) = &options.stacks {
            self.stacks = Stacks::start(recorder, watched, &names, wanted, events);
        }
        self.sample(recorder, watched, options, events)?;
        self.syscalls = Syscalls::start(recorder, watched, &names, options.syscalls, events);
        if options.page_cache {
            self.page_cache = PageCache::start(recorder, watched, &names, events);
        }
        if options.wire {
            self.wire = Wire::start(recorder, watched, events);
        }
        self.sched = Sched::start(recorder, watched, &names, options.sched, events);
        Ok(())
    }

    fn sample(
        &mut self,
        recorder: &Recorder,
        watched: &[Watched],
        options: &Options,
        events: &Events,
    ) -> Result<(), Error> {
        let sampler = Sampler::start(recorder, watched, &self.names, options, events);
        let pid = watched.first().map_or(0, |watched| watched.pid);
        self.sampler = Some(sampler.map_err(|source| Error::Proc { pid, source })?);
        Ok(())
    }

    /// Goes on in another recording without taking the agents out of their JVMs; nothing goes into the one before from then on.
    /// For what was started with the same options and with nothing else to sample, and for the same processes.
    ///
    /// # Errors
    /// When an agent or a process has gone: stop it then, and start anew.
    pub fn turn_to(
        &mut self,
        recorder: &Recorder,
        watched: &[Watched],
        options: &Options,
        events: &Events,
    ) -> Result<(), Error> {
        name_nodes(recorder, watched)?;
        if let Some(sampler) = self.sampler.take() {
            sampler.stop();
        }
        for (node, link) in &self.agents {
            let pid = watched.iter().find(|watched| watched.node == *node).map_or(0, |watched| watched.pid);
            let gone = |reason| Error::Agent { node: node.clone(), pid, reason };
            link.turn_to(recorder, AGENT_WITHIN).map_err(gone)?;
        }
        self.sample(recorder, watched, options, events)
    }

    /// Takes all sources off again, and returns what is not sure to be undone.
    pub fn stop(self) -> Vec<String> {
        // First, so that the detaching of the others is not in it.
        if let Some(syscalls) = self.syscalls {
            syscalls.stop();
        }
        if let Some(page_cache) = self.page_cache {
            page_cache.stop();
        }
        self.wire.into_iter().for_each(Wire::stop);
        if let Some(sched) = self.sched {
            sched.stop();
        }
        self.stacks.stop();
        if let Some(sampler) = self.sampler {
            sampler.stop();
        }
        let detach =
            |(node, link): (String, AgentLink)| link.detach(AGENT_WITHIN).err().map(|why| format!("{node}: {why}"));
        self.agents.into_iter().filter_map(detach).collect()
    }
}

/// Each thread of a node takes two files, and eight more where it is counted: as many as this process may ever have.
fn allow_open_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both pointers are to an rlimit of ours. Where it can't be raised, the sources say what they could not open.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Puts the nodes into the manifest.
fn name_nodes(recorder: &Recorder, watched: &[Watched]) -> Result<(), helenus_recording::Error> {
    recorder.update_manifest(|manifest| {
        for node in watched.iter().filter(|watched| watched.process == ProcessKind::Server) {
            match manifest.nodes.iter_mut().find(|known| known.address == node.node) {
                Some(known) => known.pid = Some(node.pid),
                None => manifest.nodes.push(NodeFacts {
                    address: node.node.clone(),
                    pid: Some(node.pid),
                    ..NodeFacts::default()
                }),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_want_of_files_is_not_taken_for_a_hidden_process() {
        let of = |errno| Error::Proc { pid: 7, source: io::Error::from_raw_os_error(errno) }.to_string();
        assert!(of(libc::EMFILE).contains("ulimit -Hn") && !of(libc::EMFILE).contains("hidepid"));
        assert!(of(libc::ENFILE).contains("file-max") && !of(libc::ENFILE).contains("ended"));
        assert!(of(libc::ENOENT).contains("hidepid"));
    }
}
