//! A flame graph as a tree: who called whom, with the weight of each.

use super::{Flame, FlameScope};
use serde::Serialize;
use std::collections::HashMap;

/// A frame, its weight and that of what it called.
#[derive(Debug, Clone, PartialEq)]
pub struct FlameNode {
    /// 0 for all, 1 for thread groups, from 2 on frames.
    pub depth: usize,
    /// Position among the names.
    pub name: usize,
    /// The letter of the column `kinds` of the table stacks; g for a thread group, a for all.
    pub kind: char,
    pub weight: i64,
    pub other: i64,
}

/// Nodes in the order of a walk: each before what it called, siblings by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlameTree {
    pub event: String,
    pub title: String,
    pub against: String,
    pub samples: u64,
    /// As [`Flame::counted_ns`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_ns: Option<i64>,
    pub names: Vec<String>,
    #[serde(serialize_with = "as_columns")]
    pub nodes: Vec<FlameNode>,
    /// When the samples were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<FlameScope>,
}

/// A list for each member: half of what a list of objects takes.
fn as_columns<S: serde::Serializer>(nodes: &[FlameNode], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Columns {
        depth: Vec<usize>,
        name: Vec<usize>,
        kind: String,
        weight: Vec<i64>,
        other: Vec<i64>,
    }
    let compared = nodes.first().is_some_and(|root| root.other != 0);
    Columns {
        depth: nodes.iter().map(|node| node.depth).collect(),
        name: nodes.iter().map(|node| node.name).collect(),
        kind: nodes.iter().map(|node| node.kind).collect(),
        weight: nodes.iter().map(|node| node.weight).collect(),
        // Left out where there is no comparison.
        other: nodes.iter().filter(|_| compared).map(|node| node.other).collect(),
    }
    .serialize(serializer)
}

#[derive(Default)]
struct Building<'a> {
    kind: char,
    weight: i64,
    other: i64,
    /// Positions of the stacks that end here.
    ends: Vec<usize>,
    children: HashMap<&'a str, Building<'a>>,
}

impl FlameTree {
    pub(super) fn of(flame: &Flame) -> FlameTree {
        let mut root = Building { kind: 'a', ..Building::default() };
        for (place, stack) in flame.stacks.iter().enumerate() {
            let mut node = root.enter(stack.weight, stack.other);
            node = node.child(&stack.group, 'g').enter(stack.weight, stack.other);
            let mut frames: Vec<(&str, char)> = stack.frames.split(';').zip(stack.kinds.chars()).collect();
            if flame.reversed {
                frames.reverse();
            }
            for (name, kind) in frames {
                node = node.child(name, kind).enter(stack.weight, stack.other);
            }
            node.ends.push(place);
        }
        let mut tree = FlameTree {
            event: flame.event.clone(),
            title: flame.title.clone(),
            against: flame.against.clone(),
            samples: flame.samples,
            counted_ns: flame.counted_ns,
            names: Vec::new(),
            nodes: Vec::new(),
            scope: None,
        };
        let mut ends = vec![0; flame.stacks.len()];
        let mut numbers = HashMap::new();
        root.walk("all", 0, &mut |name, depth, node| {
            let number = *numbers.entry(name.to_string()).or_insert_with(|| {
                tree.names.push(name.to_string());
                tree.names.len() - 1
            });
            node.ends.iter().for_each(|place| ends[*place] = tree.nodes.len());
            let Building { kind, weight, other, .. } = *node;
            tree.nodes.push(FlameNode { depth, name: number, kind, weight, other });
        });
        tree.scope = FlameScope::of(flame, &ends);
        tree
    }
}

impl<'a> Building<'a> {
    fn enter(&mut self, weight: i64, other: i64) -> &mut Building<'a> {
        self.weight += weight;
        self.other += other;
        self
    }

    fn child(&mut self, name: &'a str, kind: char) -> &mut Building<'a> {
        self.children.entry(name).or_insert_with(|| Building { kind, ..Building::default() })
    }

    fn walk(&self, name: &str, depth: usize, take: &mut impl FnMut(&str, usize, &Building<'_>)) {
        take(name, depth, self);
        let mut children: Vec<_> = self.children.iter().collect();
        children.sort_unstable_by_key(|(name, _)| **name);
        children.into_iter().for_each(|(name, child)| child.walk(name, depth + 1, take));
    }
}
