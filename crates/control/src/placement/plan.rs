//! The planned changes to the threads of a process and to interrupts, made before anything changes.

use super::policy::Policy;
use super::{CpuSet, Error, Served, Settings, Strategy, Thread, UsableCpus, groups, interrupts, threads};
use serde::Serialize;
use std::time::Duration;

/// The planned CPUs of each thread.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    pub pid: i32,
    #[serde(skip)]
    pub(super) start_ticks: u64,
    pub strategy: Strategy,
    /// Seed of the first CPU of equal spread.
    pub seed: u64,
    pub room: UsableCpus,
    /// The measured interrupts, if the strategy needs them.
    pub served: Option<Served>,
    pub threads: Vec<Planned>,
    pub moves: Vec<Move>,
    /// Remarks for the user, in sentences.
    pub remarks: Vec<String>,
    #[serde(skip)]
    pub(super) policy: Policy,
    #[serde(skip)]
    pub(super) lease: Option<Duration>,
}

/// A thread and its planned CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Planned {
    #[serde(flatten)]
    pub thread: Thread,
    #[serde(rename = "thread_group")]
    pub group: String,
    /// The CPUs; None to leave the thread unchanged.
    pub cpus: Option<CpuSet>,
}

/// An interrupt and its planned CPUs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Move {
    pub irq: u32,
    pub device: String,
    pub per_s: f64,
    pub from: CpuSet,
    pub to: CpuSet,
}

impl Plan {
    /// Makes a plan from the state of a process and its machine, without changing anything. `served` is the measurement
    /// that [`Strategy::needs_interrupts`] requires.
    pub fn new(pid: i32, start_ticks: u64, settings: &Settings, served: Option<Served>) -> Result<Plan, Error> {
        let room = UsableCpus::of(pid)?;
        let threads = threads::all(pid).map_err(Error::of_process(pid, "the threads"))?;
        let mut policy = Policy::new(pid, settings, &room, served.as_ref())?;
        groups::check_names(pid, &settings.groups, &threads)?;
        let cpus = policy.place_all(&threads);
        let moves = match (&settings.move_interrupts, &served) {
            (Some(to), Some(served)) => moves(served, settings.busy_share, to, &room)?,
            _ => Vec::new(),
        };
        let mut remarks = room.remarks();
        remarks.extend(served.as_ref().map(|served| served_remark(served, settings.busy_share)));
        if let Some(balancer) = interrupts::balancer().filter(|_| !moves.is_empty()) {
            remarks.push(format!(
                "irqbalance (pid {balancer}) moves interrupts too, every ten seconds: stop it, or it undoes this"
            ));
        }
        let planned = |(thread, cpus): (Thread, Option<CpuSet>)| {
            let group = thread.group().to_string();
            Planned { thread, group, cpus }
        };
        let threads = threads.into_iter().zip(cpus).map(planned).collect();
        let (strategy, seed, lease) = (settings.strategy, settings.seed, settings.lease);
        Ok(Plan { pid, start_ticks, strategy, seed, room, served, threads, moves, remarks, policy, lease })
    }

    /// Whether the plan changes nothing.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty() && self.threads.iter().all(|planned| planned.cpus.is_none())
    }
}

fn moves(served: &Served, share: f64, to: &CpuSet, room: &UsableCpus) -> Result<Vec<Move>, Error> {
    let online = &room.topology.online;
    let offline = to.without(online);
    if !offline.is_empty() {
        return Err(Error::Offline { cpus: offline, online: online.clone() });
    }
    let mut moves = Vec::new();
    for interrupt in served.busy_interrupts(share) {
        let from = interrupts::affinity(interrupt.irq)?;
        if !from.is_subset(to) {
            let (irq, device, per_s) = (interrupt.irq, interrupt.device.clone(), interrupt.per_s());
            moves.push(Move { irq, device, per_s, from, to: to.clone() });
        }
    }
    Ok(moves)
}

fn served_remark(served: &Served, share: f64) -> String {
    let by_cpu = served.by_cpu();
    let per_s = served.per_s();
    let busy = served.busy_cpus(share);
    let of_busy: f64 = busy.iter().filter_map(|cpu| by_cpu.get(&cpu)).sum();
    let first = served.interrupts.iter().max_by(|left, right| left.per_s().total_cmp(&right.per_s()));
    let most = first.map_or_else(String::new, |first| format!(", {:.0} of them {}", first.per_s(), first.device));
    format!(
        "in {:.1} s devices interrupted {per_s:.0} times a second{most}; the CPUs {busy} served {:.0} % of all",
        served.seconds,
        of_busy / per_s * 100.0
    )
}
