//! A flame graph as a tree of callers and callees, with the weight of each.

use super::scope::FlameScope;
use super::stacks::Flame;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// A frame, its own weight, and its weight with callees.
#[derive(Debug, Clone, PartialEq)]
pub struct FlameNode {
    /// Depth: 0 for the root, 1 for thread groups, from 2 on frames.
    pub depth: usize,
    /// Index of the frame's name.
    pub name: usize,
    /// The letter of the column `kinds` of the table stacks; g for a thread group, a for all.
    pub kind: char,
    pub weight: i64,
    pub other: i64,
}

/// A flame graph as its page draws it. The nodes are in depth-first order, each before its callees, siblings by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FlameTree {
    pub event: String,
    pub title: String,
    pub against: String,
    /// Samples of the graph, and of the side that it is compared with.
    pub samples: u64,
    pub other_samples: u64,
    /// CPU time of the sampled threads, by the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub counted_ns: Option<i64>,
    pub names: Vec<String>,
    #[serde(serialize_with = "as_columns")]
    #[cfg_attr(test, ts(as = "Columns"))]
    pub nodes: Vec<FlameNode>,
    /// Times of the samples; None for a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub scope: Option<FlameScope>,
}

/// The nodes in depth-first order, as one list per member, which takes half the space of a list of objects.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "FlameNodes"))]
struct Columns {
    /// Depth of each node: 0 for the root, 1 for thread groups, from 2 on frames.
    depth: Vec<usize>,
    /// Indices of the nodes' names.
    name: Vec<usize>,
    /// A letter for each node: that of the column `kinds` of the table stacks; g for a thread group, a for all.
    kind: String,
    weight: Vec<i64>,
    /// Weights of the compared side; empty without a comparison.
    other: Vec<i64>,
}

fn as_columns<S: serde::Serializer>(nodes: &[FlameNode], serializer: S) -> Result<S::Ok, S::Error> {
    let compared = nodes.first().is_some_and(|root| root.other != 0);
    Columns {
        depth: nodes.iter().map(|node| node.depth).collect(),
        name: nodes.iter().map(|node| node.name).collect(),
        kind: nodes.iter().map(|node| node.kind).collect(),
        weight: nodes.iter().map(|node| node.weight).collect(),
        other: nodes.iter().filter(|_| compared).map(|node| node.other).collect(),
    }
    .serialize(serializer)
}

/// A frame name as its rank among all sorted names, so that names compare as numbers, and the frame's kind.
type Step = (u32, char);

impl Flame {
    /// The graph as a tree for drawing, with the times of its samples if they were kept and nothing is compared.
    pub fn tree(&self) -> FlameTree {
        FlameTree::of(self)
    }
}

impl FlameTree {
    fn of(flame: &Flame) -> FlameTree {
        let names = names_in_order(flame);
        let positions: HashMap<&str, u32> = names.iter().copied().zip(0..).collect();
        let step = |name: &str, kind| (positions[name], kind);
        let frames = flame.frames.iter().map(|frames| {
            let mut steps: Vec<Step> =
                frames.names.split(';').zip(frames.kinds.chars()).map(|(name, kind)| step(name, kind)).collect();
            if flame.reversed {
                steps.reverse();
            }
            steps
        });
        let frames: Vec<Vec<Step>> = frames.collect();
        let path = |place: usize| {
            let stack = &flame.stacks[place];
            let head = [step(ALL, 'a'), step(&stack.group, 'g')];
            head.into_iter().chain(frames[stack.frames].iter().copied())
        };
        let in_order = |a: usize, b: usize| path(a).map(|(name, _)| name).cmp(path(b).map(|(name, _)| name));
        let mut order: Vec<usize> = (0..flame.stacks.len()).collect();
        order.sort_by(|a, b| in_order(*a, *b));

        let mut tree = FlameTree {
            event: flame.event.clone(),
            title: flame.title.clone(),
            against: flame.against.clone(),
            samples: flame.samples,
            other_samples: flame.other_samples,
            counted_ns: flame.counted_ns,
            names: vec![ALL.to_string()],
            nodes: vec![FlameNode { depth: 0, name: 0, kind: 'a', weight: 0, other: 0 }],
            scope: None,
        };
        let mut ends = vec![0; flame.stacks.len()];
        // Number names in order of appearance, so that outer frames have short numbers.
        let mut numbers = vec![None; names.len()];
        numbers[step(ALL, 'a').0 as usize] = Some(0);
        // The nodes on the path from the root to the current node, with their names.
        let mut walk: Vec<(usize, u32)> = vec![(0, step(ALL, 'a').0)];
        for place in order {
            let shared = walk.iter().zip(path(place)).take_while(|((_, here), (name, _))| here == name).count();
            walk.truncate(shared);
            for (name, kind) in path(place).skip(shared) {
                let number = *numbers[name as usize].get_or_insert_with(|| {
                    tree.names.push(names[name as usize].to_string());
                    tree.names.len() - 1
                });
                walk.push((tree.nodes.len(), name));
                tree.nodes.push(FlameNode { depth: walk.len() - 1, name: number, kind, weight: 0, other: 0 });
            }
            let stack = &flame.stacks[place];
            for (node, _) in &walk {
                tree.nodes[*node].weight += stack.weight;
                tree.nodes[*node].other += stack.other;
            }
            ends[place] = walk.last().map_or(0, |(node, _)| *node);
        }
        tree.scope = FlameScope::of(flame, &ends);
        tree
    }
}

/// The name of the root.
const ALL: &str = "all";

fn names_in_order(flame: &Flame) -> Vec<&str> {
    let groups = flame.stacks.iter().map(|stack| &*stack.group);
    let frames = flame.frames.iter().flat_map(|frames| frames.names.split(';'));
    let names: HashSet<&str> = groups.chain(frames).chain([ALL]).collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    names
}
