//! The strategies by which threads are placed, with their parameters.

use super::groups::Cpus;
use super::{CpuSet, Error, Group};
use serde::Serialize;
use std::time::Duration;

/// How threads get their CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Leave threads unchanged
    None,
    /// Keep each thread on the CPU where the kernel put it
    FirstAssignment,
    /// The threads of each group go over the CPUs in turn, beginning anywhere
    EqualSpread,
    /// Give each group CPUs of its own
    Groups,
    /// Threads keep off the CPUs that serve most interrupts of devices
    InterruptAware,
    /// Each group stays within one last-level cache or NUMA node
    CacheAware,
}

/// Settings of the placement of a process's threads.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub strategy: Strategy,
    /// For [`Strategy::Groups`]: the groups with their CPUs. For others: the only groups to place, or empty for all.
    pub groups: Vec<Group>,
    /// Seed of the first CPU of equal spread.
    pub seed: u64,
    /// Avoid the CPUs that serve this share of all interrupts.
    pub busy_share: f64,
    /// The fewest interrupts per second on all CPUs together; with fewer, there is nothing to avoid, which is an error.
    pub idle_below_per_s: f64,
    /// The CPUs to which the busy interrupts are moved, and which threads avoid.
    pub move_interrupts: Option<CpuSet>,
    /// Everything is restored after this time, even if this process is gone; None until it is restored.
    pub lease: Option<Duration>,
}

impl Strategy {
    pub const ALL: [Strategy; 6] = [
        Strategy::None,
        Strategy::FirstAssignment,
        Strategy::EqualSpread,
        Strategy::Groups,
        Strategy::InterruptAware,
        Strategy::CacheAware,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Strategy::None => "none",
            Strategy::FirstAssignment => "first-assignment",
            Strategy::EqualSpread => "equal-spread",
            Strategy::Groups => "groups",
            Strategy::InterruptAware => "interrupt-aware",
            Strategy::CacheAware => "cache-aware",
        }
    }

    /// Whether the strategy needs a measurement of the CPUs that serve interrupts.
    pub fn needs_interrupts(self) -> bool {
        self == Strategy::InterruptAware
    }
}

impl Settings {
    /// The default share of all interrupts whose CPUs are avoided.
    pub const BUSY_SHARE: f64 = 0.8;
    /// Fewer interrupts than this take negligible time, whichever CPU serves them.
    const IDLE_BELOW_PER_S: f64 = 20.0;

    pub fn new(strategy: Strategy) -> Settings {
        Settings {
            strategy,
            groups: Vec::new(),
            seed: 1,
            busy_share: Settings::BUSY_SHARE,
            idle_below_per_s: Settings::IDLE_BELOW_PER_S,
            move_interrupts: None,
            lease: None,
        }
    }

    /// Checks that the settings fit together, without the process or the machine.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |takes| Err(Error::Settings { strategy: self.strategy.name(), takes });
        let with_cpus = self.groups.iter().filter(|group| group.cpus.is_some()).count();
        let rests = self.groups.iter().filter(|group| group.cpus == Some(Cpus::Rest)).count();
        match self.strategy {
            Strategy::Groups if with_cpus == 0 || with_cpus < self.groups.len() => {
                wrong("groups with their CPUs, such as CompactionExecutor=0-1")
            }
            Strategy::Groups if rests > 1 => wrong("`rest` for one of the groups only; write NAME,NAME=rest"),
            Strategy::None if !self.groups.is_empty() => wrong("no groups: it leaves all threads as they are"),
            Strategy::Groups | Strategy::None => self.check_moves(),
            _ if with_cpus > 0 => wrong("groups without CPUs, the only ones that it then places; `groups` takes CPUs"),
            _ => self.check_moves(),
        }
    }

    fn check_moves(&self) -> Result<(), Error> {
        let wrong = |takes| Err(Error::Settings { strategy: self.strategy.name(), takes });
        match &self.move_interrupts {
            Some(_) if self.strategy != Strategy::InterruptAware => {
                wrong("no interrupts to move: interrupt-aware looks for busy ones")
            }
            Some(cpus) if cpus.is_empty() => wrong("a CPU at least to move interrupts to"),
            _ if !(self.busy_share > 0.0 && self.busy_share <= 1.0) => wrong("a busy share above 0 and up to 1"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_strategy_has_a_name_of_its_own() {
        for strategy in Strategy::ALL {
            assert_eq!(Strategy::from_str(strategy.name(), false), Ok(strategy));
            assert_eq!(serde_json::to_value(strategy).unwrap(), strategy.name());
        }
        assert_eq!(Strategy::value_variants(), Strategy::ALL);
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let settings = |strategy, groups: &[&str]| Settings {
            groups: groups.iter().map(|group| group.parse().unwrap()).collect(),
            ..Settings::new(strategy)
        };
        settings(Strategy::Groups, &["a=0", "b=rest"]).check().unwrap();
        settings(Strategy::EqualSpread, &["a"]).check().unwrap();
        settings(Strategy::None, &[]).check().unwrap();
        for (strategy, groups) in [
            (Strategy::Groups, &[][..]),
            (Strategy::Groups, &["a=0", "b"][..]),
            (Strategy::Groups, &["a=rest", "b=rest"][..]),
            (Strategy::EqualSpread, &["a=0"][..]),
            (Strategy::None, &["a"][..]),
        ] {
            assert!(settings(strategy, groups).check().is_err(), "{strategy:?} {groups:?}");
        }
        let moves = |strategy| Settings { move_interrupts: Some("0".parse().unwrap()), ..Settings::new(strategy) };
        moves(Strategy::InterruptAware).check().unwrap();
        assert!(moves(Strategy::EqualSpread).check().is_err());
        assert!(Settings { busy_share: 1.5, ..Settings::new(Strategy::InterruptAware) }.check().is_err());
    }
}
