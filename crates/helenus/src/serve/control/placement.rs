//! Placement of a node's threads on CPUs, as `helenus pin` does it: threads that start later are placed, too.

use super::{Undo, Wanted, lease, process};
use crate::serve::asked::Asked;
use anyhow::{Context, Result, ensure};
use helenus_cassandra::Places;
use helenus_control::placement::{InterruptCounts, Journals, PinFollower, Plan, Settings, Strategy};
use helenus_recording::NodeFacts;
use std::time::Duration;

/// Strategies that need no groups.
pub(super) const STRATEGIES: [Strategy; 4] =
    [Strategy::FirstAssignment, Strategy::EqualSpread, Strategy::InterruptAware, Strategy::CacheAware];
/// How long interrupts are counted.
const COUNTED: Duration = Duration::from_secs(5);

/// A placement as the page asks for it.
#[derive(Debug)]
pub(crate) struct WantedPlacement {
    strategy: String,
    minutes: Option<u64>,
}

/// None once the threads have their former CPUs.
#[derive(Debug)]
struct Placed(Option<PinFollower>);

impl WantedPlacement {
    pub(crate) fn of(asked: &Asked) -> Result<WantedPlacement> {
        let minutes = asked.whole("minutes")?.map(u64::from);
        Ok(WantedPlacement { strategy: asked.needed("strategy")?.to_string(), minutes })
    }
}

impl Wanted for WantedPlacement {
    fn make(&self, node: &NodeFacts) -> Result<(String, Box<dyn Undo>)> {
        let strategy = STRATEGIES.into_iter().find(|strategy| strategy.name() == self.strategy);
        let strategy = strategy.with_context(|| format!("there is no placement `{}`", self.strategy))?;
        let minutes = lease(self.minutes)?;
        let lease = Some(Duration::from_secs(60 * minutes));
        let settings = Settings { seed: rand::random_range(0..1_000_000), lease, ..Settings::new(strategy) };
        let served = if strategy.needs_interrupts() {
            let before = InterruptCounts::now()?;
            std::thread::sleep(COUNTED);
            Some(before.until(&InterruptCounts::now()?))
        } else {
            None
        };
        let target = process(node)?;
        let plan = Plan::new(target.pid, target.start_ticks, &settings, served)?;
        ensure!(!plan.is_empty(), "{} would change nothing. {}", strategy.name(), plan.remarks.join(". "));
        let pin = plan.apply(&Journals::within(&Places::of_user()?.state))?;
        let (threads, strategy) = (pin.threads(), strategy.name());
        let said = format!("placed {threads} threads by {strategy}; put back by itself after {minutes} min");
        Ok((said, Box::new(Placed(Some(pin.follow()?)))))
    }
}

impl Undo for Placed {
    fn undo(&mut self, _node: &NodeFacts) -> Result<&'static str> {
        let Some(follower) = self.0.take() else { return Ok("undone") };
        let restored = follower.unpin()?;
        Ok(if restored.process_ended { "gone with the node's process; noticed" } else { "undone" })
    }

    fn by_hand(&self, node: &NodeFacts) -> Option<String> {
        Some(format!("helenus unpin --node {}", node.address))
    }
}
