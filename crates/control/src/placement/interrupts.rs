//! Interrupts of devices: the CPUs that serve them, and the CPUs that are allowed to.

use super::topology::list;
use super::{CpuSet, Error};
use helenus_cassandra::interrupts::{parse, since};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::time::Instant;

const COUNTS: &str = "/proc/interrupts";

/// The interrupts that each CPU has served since boot.
#[derive(Debug, Clone)]
pub struct InterruptCounts {
    at: Instant,
    /// Counts by number and CPU.
    counts: HashMap<(u32, u32), i64>,
    devices: BTreeMap<u32, String>,
}

/// The interrupts served in a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Served {
    /// Length of the window.
    pub seconds: f64,
    pub interrupts: Vec<Interrupt>,
}

/// An interrupt that occurred in a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interrupt {
    pub irq: u32,
    pub device: String,
    pub served: Vec<Rate>,
}

/// How often a CPU served an interrupt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rate {
    pub cpu: u32,
    pub per_s: f64,
}

impl InterruptCounts {
    pub fn now() -> Result<InterruptCounts, Error> {
        let text = std::fs::read_to_string(COUNTS).map_err(Error::read(COUNTS))?;
        Ok(InterruptCounts::read(&text, Instant::now()))
    }

    fn read(text: &str, at: Instant) -> InterruptCounts {
        let mut read = InterruptCounts { at, counts: HashMap::new(), devices: BTreeMap::new() };
        for line in parse(text) {
            // Interrupts without a number belong to single CPUs, and so do timers with a number: each CPU serves its
            // own.
            let Ok(irq) = line.interrupt.parse() else { continue };
            if line.device.ends_with("timer") {
                continue;
            }
            read.devices.insert(irq, line.device.to_string());
            read.counts.extend(line.counts.iter().map(|(cpu, count)| ((irq, *cpu as u32), *count)));
        }
        read
    }

    /// The interrupts served between these counts and `later` ones.
    pub fn until(&self, later: &InterruptCounts) -> Served {
        let seconds = later.at.duration_since(self.at).as_secs_f64().max(1e-3);
        let rates = |irq: u32| {
            let mut served: Vec<Rate> = later
                .counts
                .iter()
                .filter(|((of, _), _)| *of == irq)
                .map(|((_, cpu), count)| {
                    let before = self.counts.get(&(irq, *cpu)).copied().unwrap_or(0);
                    Rate { cpu: *cpu, per_s: since(before, *count) as f64 / seconds }
                })
                .filter(|rate| rate.per_s > 0.0)
                .collect();
            served.sort_by_key(|rate| rate.cpu);
            served
        };
        let interrupts = later.devices.iter().map(|(irq, device)| Interrupt {
            irq: *irq,
            device: device.clone(),
            served: rates(*irq),
        });
        Served { seconds, interrupts: interrupts.filter(|interrupt| !interrupt.served.is_empty()).collect() }
    }
}

impl Interrupt {
    pub fn per_s(&self) -> f64 {
        self.served.iter().map(|rate| rate.per_s).sum()
    }
}

impl Served {
    /// Interrupts by CPU and second.
    pub fn by_cpu(&self) -> BTreeMap<u32, f64> {
        let mut by_cpu = BTreeMap::new();
        for rate in self.interrupts.iter().flat_map(|interrupt| &interrupt.served) {
            *by_cpu.entry(rate.cpu).or_default() += rate.per_s;
        }
        by_cpu
    }

    /// The smallest set of CPUs that serves this share of all interrupts.
    pub(super) fn busy_cpus(&self, share: f64) -> CpuSet {
        most(self.by_cpu(), self.per_s() * share).into_iter().collect()
    }

    /// The smallest set of interrupts that makes up this share of all.
    pub(super) fn busy_interrupts(&self, share: f64) -> Vec<&Interrupt> {
        let by_position = self.interrupts.iter().map(Interrupt::per_s).enumerate().collect();
        most(by_position, self.per_s() * share).into_iter().map(|position| &self.interrupts[position]).collect()
    }

    /// All interrupts by second.
    pub(super) fn per_s(&self) -> f64 {
        self.interrupts.iter().map(Interrupt::per_s).sum()
    }
}

/// The number of largest rates whose sum is at least `enough`.
fn most<K: Copy + Ord>(rates: BTreeMap<K, f64>, enough: f64) -> Vec<K> {
    let mut rates: Vec<(K, f64)> = rates.into_iter().collect();
    rates.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    let mut sum = 0.0;
    let mut chosen = Vec::new();
    for (key, rate) in rates {
        if sum >= enough {
            break;
        }
        sum += rate;
        chosen.push(key);
    }
    chosen
}

fn path(irq: u32) -> PathBuf {
    PathBuf::from(format!("/proc/irq/{irq}/smp_affinity_list"))
}

/// The CPUs that are allowed to serve an interrupt.
pub(super) fn affinity(irq: u32) -> Result<CpuSet, Error> {
    let path = path(irq);
    list(&path).map_err(Error::read(path.display().to_string()))
}

/// Restricts an interrupt to these CPUs.
pub(super) fn set_affinity(irq: u32, cpus: &CpuSet) -> io::Result<()> {
    std::fs::write(path(irq), cpus.to_string())
}

/// Why an interrupt could not be moved, and what to do.
pub(super) fn refused(irq: u32, device: &str, cpus: &CpuSet, source: io::Error) -> Error {
    let why = match source.raw_os_error() {
        Some(libc::EACCES | libc::EROFS) => "; run as root, outside of a container",
        // The error number depends on the kernel's version.
        Some(libc::EPERM | libc::EIO) => {
            "; its driver holds it where it is: keep off its CPUs, without --move-interrupts"
        }
        _ => "",
    };
    Error::Interrupt { irq, device: device.to_string(), cpus: cpus.clone(), why, source }
}

/// The pid of irqbalance, if it runs.
pub(super) fn balancer() -> Option<i32> {
    let pids = std::fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_balancer = |pid: &i32| super::threads::name(*pid, *pid).is_ok_and(|name| name == "irqbalance");
    pids.into_iter().find(is_balancer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn served(rates: &[(u32, u32, f64)]) -> Served {
        let mut interrupts: BTreeMap<u32, Interrupt> = BTreeMap::new();
        for (irq, cpu, per_s) in rates {
            let new = || Interrupt { irq: *irq, device: format!("device{irq}"), served: Vec::new() };
            interrupts.entry(*irq).or_insert_with(new).served.push(Rate { cpu: *cpu, per_s: *per_s });
        }
        Served { seconds: 1.0, interrupts: interrupts.into_values().collect() }
    }

    #[test]
    fn counts_of_devices_become_rates() {
        let at = Instant::now();
        let before =
            " CPU0 CPU1\n 24: 5 10 IO-APIC 5-edge  eth0\n 27: 1 1 GICv3 27 Level  arch_timer\nLOC: 1 1 Local\n";
        let after =
            " CPU0 CPU1\n 24: 5 30 IO-APIC 5-edge  eth0\n 27: 900 9 GICv3 27 Level  arch_timer\nLOC: 9 9 Local\n";
        let before = InterruptCounts::read(before, at);
        let found = before.until(&InterruptCounts::read(after, at + Duration::from_secs(2)));
        let eth0 = Interrupt { irq: 24, device: "eth0".into(), served: vec![Rate { cpu: 1, per_s: 10.0 }] };
        assert_eq!(found, Served { seconds: 2.0, interrupts: vec![eth0] });
        assert_eq!((found.per_s(), found.busy_cpus(0.8).to_string().as_str()), (10.0, "1"));
    }

    #[test]
    fn the_busy_ones_serve_most() {
        let some = served(&[(1, 0, 50.0), (2, 1, 900.0), (3, 2, 30.0), (3, 3, 20.0)]);
        assert_eq!(some.busy_cpus(0.8).to_string(), "1");
        assert_eq!(some.busy_cpus(0.95).to_string(), "0-1");
        assert_eq!(some.busy_cpus(1.0).to_string(), "0-3");
        let busy: Vec<u32> = some.busy_interrupts(0.93).iter().map(|interrupt| interrupt.irq).collect();
        assert_eq!(busy, [2, 1]);
    }

    proptest! {
        #[test]
        fn the_busy_cpus_serve_the_share_and_one_fewer_would_not(
            rates in proptest::collection::vec((0_u32..4, 0_u32..16, 10.0..1e5_f64), 3..40),
            share in 0.05..1.0_f64,
        ) {
            let some = served(&rates);
            let by_cpu = some.by_cpu();
            let total: f64 = by_cpu.values().sum();
            let busy = some.busy_cpus(share);
            let sum: f64 = busy.iter().map(|cpu| by_cpu[&cpu]).sum();
            let least = busy.iter().map(|cpu| by_cpu[&cpu]).fold(f64::INFINITY, f64::min);
            prop_assert!(sum >= total * share * (1.0 - 1e-9) && sum - least < total * share);
        }
    }
}
