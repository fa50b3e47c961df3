//! The steps that keep a recorder within its budget, in order: first those that weights make up for, last those after which rows are missing.

use crate::option_values::Switch;
use crate::sources::Options;
use crate::syscalls::SyscallsMode;
use crate::wire::{Halvings, RequestsFrom};

/// Halvings of the connections on the wire: with one in eight, most of their cost is gone.
const MOST_HALVINGS: u32 = 3;
/// Multiples of the interval between two stacks.
const SLOWER: [u32; 2] = [2, 4];

/// A measure that lowers the cost of recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Connections on the wire that are followed are halved so many times in all.
    Connections(u32),
    /// Stacks are sampled at this multiple of the interval.
    Stacks(u32),
    /// System calls have no row each.
    SumCalls,
    NoScheduling,
}

/// The steps that lower the cost of these options, in the order in which they are taken.
#[derive(Debug)]
pub(super) struct Steps {
    steps: Vec<Step>,
    asked: Options,
    halvings: Halvings,
}

impl Steps {
    pub(super) fn of(options: &Options) -> Steps {
        let mut steps = Vec::new();
        // With `wire` all connections are followed whatever that costs.
        if options.wire.requests == RequestsFrom::Auto {
            steps.extend((1..=MOST_HALVINGS).map(Step::Connections));
        }
        let stacks = options.stacks.stacks;
        if stacks.cpu || stacks.wall || stacks.ebpf {
            steps.extend(SLOWER.map(Step::Stacks));
        }
        if options.syscalls.syscalls == SyscallsMode::Full {
            steps.push(Step::SumCalls);
        }
        if options.sched.sched == Switch::On {
            steps.push(Step::NoScheduling);
        }
        let halvings = Halvings::default();
        let mut asked = options.clone();
        asked.wire.halvings = Some(halvings.clone());
        Steps { steps, asked, halvings }
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The options after so many steps. The connections are halved from this call on, without starting anything again.
    pub(super) fn options(&self, level: usize) -> Options {
        let mut options = self.asked.clone();
        let mut halvings = 0;
        for step in &self.steps[..level] {
            match *step {
                Step::Connections(wanted) => halvings = wanted,
                Step::Stacks(times) => options.stacks.stack_interval = self.asked.stacks.stack_interval * times,
                Step::SumCalls => options.syscalls.syscalls = SyscallsMode::Summary,
                Step::NoScheduling => options.sched.sched = Switch::Off,
            }
        }
        self.halvings.set(halvings);
        options
    }

    /// The first steps, as text; empty for none.
    pub(super) fn text(&self, level: usize) -> String {
        let taken = &self.steps[..level];
        // The last step of a kind includes those before.
        let is_last = |place: usize| {
            let kind = std::mem::discriminant(&taken[place]);
            taken[place + 1..].iter().all(|later| std::mem::discriminant(later) != kind)
        };
        let texts = taken.iter().enumerate().filter(|(place, _)| is_last(*place)).map(|(_, step)| match *step {
            Step::Connections(halvings) => {
                format!("one in {} connections is followed (at least 8 of a node)", 1 << halvings)
            }
            Step::Stacks(times) => format!("stacks are sampled every {:?}", self.asked.stacks.stack_interval * times),
            Step::SumCalls => "system calls are only added up".to_string(),
            Step::NoScheduling => "scheduling is not recorded".to_string(),
        });
        texts.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(given: &[(&str, &str)]) -> Options {
        let given: Vec<(&str, String)> = given.iter().map(|(name, value)| (*name, (*value).to_string())).collect();
        Options::from_named(&given).unwrap()
    }

    #[test]
    fn what_weights_make_up_for_is_left_out_first() {
        let asked = options(&[("syscalls", "full"), ("sched", "on"), ("stack-interval", "10ms")]);
        let steps = Steps::of(&asked);
        assert_eq!(steps.len(), 7);
        assert_eq!(steps.text(0), "");
        assert_eq!(steps.text(2), "one in 4 connections is followed (at least 8 of a node)");
        assert_eq!(
            steps.text(5),
            "one in 8 connections is followed (at least 8 of a node), stacks are sampled every 40ms"
        );
        let all = steps.text(7);
        assert!(all.ends_with("system calls are only added up, scheduling is not recorded"), "{all}");

        let last = steps.options(7);
        assert_eq!((steps.halvings.wanted(), last.stacks.stack_interval.as_millis()), (3, 40));
        assert_eq!((last.syscalls.syscalls, last.sched.sched), (SyscallsMode::Summary, Switch::Off));
        let first = steps.options(1);
        assert_eq!((steps.halvings.wanted(), first.stacks.stack_interval.as_millis()), (1, 10));
        let mut none = steps.options(0);
        assert_eq!(steps.halvings.wanted(), 0);
        none.wire.halvings = None;
        assert_eq!(none, asked);
    }

    #[test]
    fn what_is_not_recorded_is_no_step() {
        assert_eq!(Steps::of(&options(&[("stacks", "off"), ("requests", "wire"), ("syscalls", "summary")])).len(), 0);
        assert_eq!(Steps::of(&options(&[("stacks", "alloc"), ("requests", "off"), ("sched", "on")])).len(), 1);
    }
}
