//! The threads of a node on the CPUs that a variant gives them.

use crate::change::Change;
use helenus_cassandra::Places;
use helenus_cassandra::target::{self, TargetName};
use helenus_control::placement::{InterruptCounts, Journals, PinFollower, Plan, Settings, Strategy, UsableCpus};
use helenus_notation::{Error, Section};
use std::net::SocketAddr;

pub(crate) struct Placement {
    node: SocketAddr,
    settings: Settings,
    /// The interrupt counts from which on interrupts are counted: those of earlier runs on these nodes predict the busy
    /// CPUs of later runs.
    counted_from: Option<InterruptCounts>,
    following: Option<PinFollower>,
}

/// Reads `[variant.placement]`.
pub(crate) fn read(mut section: Section<'_>) -> Result<Settings, Error> {
    let Some(position) = section.choice("strategy", &Strategy::ALL.map(Strategy::name))? else {
        return Err(section.error("a placement has a `strategy`, such as \"equal-spread\""));
    };
    let groups: Vec<String> = section.optional("groups")?.unwrap_or_default();
    let groups = groups.iter().map(|group| group.parse()).collect::<Result<_, String>>();
    let groups = groups.map_err(|reason| section.error_at("groups", reason))?;
    let cpus: Option<String> = section.optional("move_interrupts")?;
    let cpus = cpus.map(|cpus| cpus.parse()).transpose();
    let move_interrupts = cpus.map_err(|reason| section.error_at("move_interrupts", format!("{reason}")))?;
    let default = Settings::new(Strategy::ALL[position]);
    let settings = Settings {
        groups,
        seed: section.optional::<i64>("seed")?.map_or(default.seed, i64::cast_unsigned),
        busy_share: section.optional("busy_share")?.unwrap_or(default.busy_share),
        move_interrupts,
        // A run applies its setting even if there were few interrupts, because that is not known in advance.
        idle_below_per_s: 0.0,
        ..default
    };
    settings.check().map_err(|error| section.error(error.to_string()))?;
    section.finish()?;
    Ok(settings)
}

/// Checks that the CPUs of a placement exist, for the given nodes or else for nodes that this process starts, which
/// inherit its CPUs.
pub(crate) fn check(settings: &Settings, nodes: &[SocketAddr]) -> Result<(), String> {
    let of_node = |node: &SocketAddr| target::find(TargetName::Address(*node)).ok().map(|target| target.pid);
    let pids = match nodes.is_empty() {
        true => vec![std::process::id().cast_signed()],
        // A node that is not found here is reported when its placement begins, with what to do about it.
        false => nodes.iter().filter_map(of_node).collect(),
    };
    let check = |pid: i32| settings.check_room(pid, &UsableCpus::of(pid)?);
    pids.into_iter().try_for_each(check).map_err(|error| error.to_string())
}

/// Remarks about the CPUs of these nodes, for the user.
pub(crate) fn remarks(nodes: &[SocketAddr]) -> Vec<String> {
    let room = |node: &SocketAddr| UsableCpus::of(target::find(TargetName::Address(*node)).ok()?.pid).ok();
    let mut lines = Vec::new();
    for node in nodes {
        let remarks = room(node).map(|room| room.remarks()).unwrap_or_default();
        lines.extend(remarks.iter().map(|remark| format!("{node}: {remark}")));
    }
    lines
}

impl Placement {
    pub fn new(node: SocketAddr, settings: &Settings, counted_from: Option<&InterruptCounts>) -> Placement {
        Placement { node, settings: settings.clone(), counted_from: counted_from.cloned(), following: None }
    }

    fn follow(&self) -> Result<Option<PinFollower>, Box<dyn std::error::Error>> {
        let target = target::find(TargetName::Address(self.node))?;
        let served = match &self.counted_from {
            Some(from) if self.settings.strategy.needs_interrupts() => Some(from.until(&InterruptCounts::now()?)),
            _ => None,
        };
        let plan = Plan::new(target.pid, target.start_ticks, &self.settings, served)?;
        if plan.is_empty() {
            return Ok(None);
        }
        let pin = plan.apply(&Journals::within(&Places::of_user()?.state))?;
        Ok(Some(pin.follow()?))
    }
}

impl Change for Placement {
    fn apply(&mut self) -> Result<(), String> {
        self.following = self.follow().map_err(|error| format!("{}: {error}", self.node))?;
        Ok(())
    }

    fn undo(&mut self) -> Result<(), String> {
        let Some(following) = self.following.take() else { return Ok(()) };
        following.unpin().map(drop).map_err(|error| format!("the threads of {} may be left pinned: {error}", self.node))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Experiment, Variants};
    use helenus_control::placement::Strategy;

    const HEAD: &str = "title = \"t\"\nquestion = \"q\"\nworkload = \"keyvalue\"\n[[phase]]\nrate = 5\nfor = \"5s\"\n\
                        [[variant]]\nname = \"none\"\n[[variant]]\nname = \"other\"\n[variant.placement]\n";

    fn read(placement: &str) -> Result<Variants, String> {
        let experiment = Experiment::parse("x.toml", &format!("{HEAD}{placement}"));
        experiment.map(|experiment| experiment.variants.unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_placement_is_read_as_the_command_has_it() {
        let variants = read("strategy = \"groups\"\ngroups = [\"CompactionExecutor=0\", \"*=rest\"]\n").unwrap();
        assert_eq!(variants.list[0].placement, None);
        let settings = variants.list[1].placement.as_ref().unwrap();
        assert_eq!((settings.strategy, settings.groups.len()), (Strategy::Groups, 2));
        assert!(!variants.need_fresh_nodes(), "a running node is placed");
        let variants = read("strategy = \"interrupt-aware\"\nbusy_share = 0.5\nmove_interrupts = \"0\"\n").unwrap();
        let settings = variants.list[1].placement.as_ref().unwrap();
        assert_eq!((settings.busy_share, settings.move_interrupts.as_ref().map(|cpus| cpus.len())), (0.5, Some(1)));
    }

    #[test]
    fn a_placement_that_cannot_be_says_why() {
        let error = |placement: &str| read(placement).unwrap_err();
        assert!(error("").contains("a placement has a `strategy`"));
        assert!(error("strategy = \"equal-spred\"\n").contains("did you mean `equal-spread`"));
        assert!(error("strategy = \"groups\"\n").contains("groups with their CPUs"));
        assert!(error("strategy = \"groups\"\ngroups = [\"a=x\"]\n").starts_with("x.toml:13:"));
        assert!(error("strategy = \"none\"\ngroup = [\"a\"]\n").contains("did you mean `groups`"));
    }
}
