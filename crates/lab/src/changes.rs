//! Makes a variant's changes of running nodes from the file's settings.

use crate::Variant;
use crate::change::Change;
use crate::controls::{EXECUTOR, NodeControls, VALVE};
use crate::placement::Placement;
use crate::site::Site;
use crate::tables::{Grace, Tunings};
use helenus_control::Setting;
use serde_json::Value;
use std::net::SocketAddr;

/// Creates the changes of a variant to running nodes, from its sections in the file. This is the only place where
/// changes are created. Applies none of them. `nodes` are those of the site that change; `agent` is the jar that
/// executes the commands.
pub(crate) fn changes(
    variant: &Variant,
    site: &Site,
    nodes: &[SocketAddr],
    agent: &'static [u8],
) -> Vec<Box<dyn Change>> {
    let mut changes: Vec<Box<dyn Change>> = Vec::new();
    for table in &variant.tables {
        if let Some((seconds, node)) = table.gc_grace_seconds.zip(site.nodes.first()) {
            changes.push(Box::new(Grace::new(*node, &table.name, seconds)));
        }
    }
    let of_tables = variant.tables.iter();
    let of_tables = of_tables.filter_map(|table| Some((Setting::compaction(&table.name), table.compaction.clone()?)));
    let settings: Vec<(Setting, Value)> = of_tables.chain(variant.tunings.iter().cloned()).collect();
    for node in nodes {
        if !settings.is_empty() {
            changes.push(Box::new(Tunings::new(*node, agent, settings.clone())));
        }
        for (kind, wanted) in [(EXECUTOR, &variant.executors), (VALVE, &variant.valves)] {
            if !wanted.is_empty() {
                changes.push(Box::new(NodeControls::new(kind, *node, agent, wanted)));
            }
        }
        if let Some(settings) = &variant.placement {
            changes.push(Box::new(Placement::new(*node, settings, site.interrupts.as_ref())));
        }
    }
    changes
}
