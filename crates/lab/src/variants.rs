//! The variants of an experiment, and how they are run in blocks.

use crate::tables::TableSettings;
use crate::{ExperimentError as Error, placement, wanted};
use helenus_cassandra::Line;
use helenus_control::Setting;
use helenus_control::placement::Settings;
use helenus_notation::{Bytes, Count, Section};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

/// The name of the default baseline, if a variant has it.
const NONE: &str = "none";
const BLOCKS: usize = 8;
const WARM_UP_RUNS: usize = 1;
const REST: Duration = Duration::from_secs(2);
/// How long the warm-up before measured phases is repeated at most while the JVMs compile.
pub(crate) const WARM_UP: Duration = Duration::from_secs(60);

/// Variants, and the blocks in which they are run.
#[derive(Debug, Clone, PartialEq)]
pub struct Variants {
    /// Each block runs every variant once.
    pub blocks: usize,
    /// Unjudged runs of the baseline before the first block, which warm up nodes that all runs share.
    pub warm_up_runs: usize,
    /// How long the warm-up of a run is repeated at most while the nodes' JVMs compile.
    pub warm_up: Duration,
    /// Name of the variant that the others are compared with.
    pub baseline: String,
    /// Seed of the order of variants within each block.
    pub seed: u64,
    /// Pause between two runs, so that work left over from one run does not affect the next.
    pub rest: Duration,
    pub restore: Restore,
    /// How many of the nodes variants change, counted from the first; the others are their peers. None for all.
    pub changed_nodes: Option<usize>,
    pub list: Vec<Variant>,
}

/// How the tables of the workload are restored before each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Restore {
    /// The tables stay as the last run left them.
    #[serde(rename = "none")]
    Nothing,
    /// Truncate the tables.
    Truncate,
    /// Truncate the tables, and populate them as the workload's `[populate]` says.
    Populate,
    /// Populate the tables before the first run on the nodes, and leave them unchanged afterwards.
    Once,
    /// Drop and recreate the tables, so that the nodes' metrics of them start from zero.
    Drop,
}

/// A configuration of the nodes to compare. A new kind of change is added here; a [`crate::Change`] applies and undoes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Variant {
    pub name: String,
    /// For each valve, the members of the agent's command `valve.add`, without `do`.
    pub valves: Vec<Value>,
    /// For each executor, the members of the agent's command `executor.set`, without `do`.
    pub executors: Vec<Value>,
    /// `key=value` for cassandra.yaml, which override those of the experiment's node.
    pub settings: Vec<String>,
    /// JVM options, which follow those of the experiment's node.
    pub jvm_options: Vec<String>,
    /// Settings of tables.
    pub tables: Vec<TableSettings>,
    /// Settings of each node, with their values.
    pub tunings: Vec<(Setting, Value)>,
    /// Placement of the nodes' threads.
    pub placement: Option<Settings>,
}

impl Variants {
    /// Reads `[lab]` and the `[[variant]]`s for nodes of this release line, and checks what can be checked without a
    /// node. None if the file has no variants.
    pub(crate) fn read(root: &mut Section<'_>, line: Line) -> Result<Option<Variants>, Error> {
        let lab = root.section("lab")?;
        let sections = root.list("variant")?;
        if sections.is_empty() {
            let lonely = "[lab] says how variants are compared, and there is no [[variant]]";
            return lab.map_or(Ok(None), |lab| Err(lab.error(lonely).into()));
        }
        let mut list: Vec<Variant> = Vec::new();
        for mut section in sections {
            let variant = Variant::read(&mut section, line)?;
            if list.iter().any(|known| known.name == variant.name) {
                return Err(section.error_at("name", format!("two variants are named `{}`", variant.name)).into());
            }
            list.push(variant);
        }
        if list.len() < 2 {
            let alone =
                "a comparison takes two variants at least; add one that changes nothing: [[variant]] name = \"none\"";
            return Err(root.error_at("variant", alone).into());
        }
        let first = list.iter().find(|variant| variant.name == NONE).unwrap_or(&list[0]).name.clone();
        let variants = Variants {
            blocks: BLOCKS,
            warm_up_runs: WARM_UP_RUNS,
            warm_up: WARM_UP,
            baseline: first,
            seed: 1,
            rest: REST,
            restore: Restore::Nothing,
            changed_nodes: None,
            list,
        };
        lab.map_or(Ok(variants.clone()), |lab| variants.in_lab(lab)).map(Some)
    }

    fn in_lab(mut self, mut lab: Section<'_>) -> Result<Variants, Error> {
        if let Some(Count(blocks)) = lab.optional("blocks")? {
            self.blocks = usize::try_from(blocks).unwrap_or(usize::MAX);
        }
        if let Some(runs) = lab.optional::<i64>("warm_up_runs")? {
            self.warm_up_runs =
                usize::try_from(runs).map_err(|_| lab.error_at("warm_up_runs", "`warm_up_runs` is 0 or more"))?;
        }
        let names: Vec<&str> = self.list.iter().map(|variant| variant.name.as_str()).collect();
        if let Some(position) = lab.choice("baseline", &names)? {
            self.baseline = self.list[position].name.clone();
        }
        if let Some(seed) = lab.optional::<i64>("seed")? {
            self.seed = seed.cast_unsigned();
        }
        self.warm_up = lab.duration("warm_up")?.unwrap_or(self.warm_up);
        self.rest = lab.duration("rest")?.unwrap_or(self.rest);
        self.restore = lab.optional("restore")?.unwrap_or(self.restore);
        if let Some(Count(nodes)) = lab.optional("changed_nodes")? {
            if let Some(variant) = self.list.iter().find(|variant| variant.starts_nodes() || variant.alters_schema()) {
                let message = format!(
                    "the variant `{}` changes all nodes, with what they start with or in the schema",
                    variant.name
                );
                return Err(lab.error_at("changed_nodes", message).into());
            }
            self.changed_nodes = Some(usize::try_from(nodes).unwrap_or(usize::MAX));
        }
        lab.finish()?;
        Ok(self)
    }

    /// The nodes that variants change.
    pub(crate) fn changed<'n>(&self, nodes: &'n [SocketAddr]) -> &'n [SocketAddr] {
        &nodes[..self.changed_nodes.map_or(nodes.len(), |changed| changed.min(nodes.len()))]
    }

    pub fn baseline(&self) -> &Variant {
        self.list.iter().find(|variant| variant.name == self.baseline).unwrap_or(&self.list[0])
    }

    /// Whether every run starts its own nodes. If one variant requires it, all runs do, because a JVM that has just
    /// started is slower than a warm one.
    pub fn need_fresh_nodes(&self) -> bool {
        self.list.iter().any(Variant::starts_nodes)
    }

    /// The order in which a block runs the variants. It is random for each block, so that changes of the machine over
    /// time affect all alike, and the same for the same seed.
    pub fn order(&self, block: usize) -> Vec<&Variant> {
        let mut drawn: Vec<(u64, &Variant)> = self
            .list
            .iter()
            .zip(0_u64..)
            .map(|(variant, position)| (mixed(mixed(self.seed ^ mixed(block as u64)) ^ position), variant))
            .collect();
        drawn.sort_unstable_by_key(|(key, _)| *key);
        drawn.into_iter().map(|(_, variant)| variant).collect()
    }
}

/// The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Variant {
    fn read(section: &mut Section<'_>, line: Line) -> Result<Variant, Error> {
        let name: String = section.required("name")?;
        let valves = wanted::valves(&name, section.list("valve")?, line)?;
        let executors = wanted::executors(section.list("executor")?)?;
        let mut tables = Vec::new();
        for mut table in section.list("table")? {
            let compaction = table.section("compaction")?.map(|parameters| parameters.whole()).transpose()?;
            tables.push(TableSettings::read(&mut table, compaction)?);
            table.finish()?;
        }
        let mut tunings = Vec::new();
        for (key, name) in
            [("compaction_throughput", "compaction-throughput"), ("concurrent_compactors", "concurrent-compactors")]
        {
            let number = section.optional::<Count>(key)?;
            tunings.extend(number.map(|Count(number)| (Setting::of_node(name), json!(number))));
        }
        for (key, name) in [
            ("concurrent_request_bytes", "concurrent-request-bytes"),
            ("concurrent_request_bytes_per_ip", "concurrent-request-bytes-per-ip"),
        ] {
            let bytes = section.optional::<Bytes>(key)?;
            only_from_4_1(section, key, bytes.is_some(), line)?;
            tunings.extend(bytes.map(|Bytes(bytes)| (Setting::of_node(name), json!(bytes))));
        }
        let rate = section.optional::<Count>("requests_per_second")?;
        only_from_4_1(section, "requests_per_second", rate.is_some(), line)?;
        tunings.extend(rate.map(|Count(limit)| Setting::requests_per_second(limit)));
        let variant = Variant {
            name,
            valves,
            executors,
            tables,
            tunings,
            settings: section.optional("settings")?.unwrap_or_default(),
            jvm_options: section.optional("jvm_options")?.unwrap_or_default(),
            placement: section.section("placement")?.map(placement::read).transpose()?,
        };
        section.finish()?;
        Ok(variant)
    }

    /// Whether the variant changes the schema, which applies to all nodes.
    pub fn alters_schema(&self) -> bool {
        self.tables.iter().any(|table| table.gc_grace_seconds.is_some())
    }

    /// Whether the variant changes the options with which nodes are started.
    pub fn starts_nodes(&self) -> bool {
        !self.settings.is_empty() || !self.jvm_options.is_empty()
    }
}

/// Cassandra's own limits of requests.
fn only_from_4_1(section: &Section<'_>, key: &str, is_given: bool, line: Line) -> Result<(), Error> {
    match is_given && line < Line::V4_1 {
        true => Err(section.error_at(key, format!("Cassandra {line} has no `{key}`, which came with 4.1")).into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;

    const HEAD: &str = "title = \"t\"\nquestion = \"q\"\nworkload = \"keyvalue\"\n[[phase]]\nrate = 5\nfor = \"5s\"\n";

    fn read(text: &str) -> Variants {
        Experiment::parse("x.toml", &format!("{HEAD}{text}")).unwrap().variants.unwrap()
    }

    fn error(text: &str) -> String {
        Experiment::parse("x.toml", &format!("{HEAD}{text}")).unwrap_err().to_string()
    }

    #[test]
    fn variants_have_a_baseline_and_blocks() {
        let two = read("[[variant]]\nname = \"less\"\nsettings = [\"a=1\"]\n[[variant]]\nname = \"none\"\n");
        assert_eq!((two.blocks, two.warm_up_runs, two.restore), (8, 1, Restore::Nothing));
        assert_eq!(two.warm_up, Duration::from_secs(60));
        assert_eq!(two.baseline().name, "none");
        assert!(two.need_fresh_nodes());
        let lab = "[lab]\nblocks = 3\nbaseline = \"a\"\nseed = 7\nrest = \"1s\"\nrestore = \"populate\"\nwarm_up_runs = 0\nwarm_up = \"1s\"\n";
        let two = read(&format!("{lab}[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n"));
        assert_eq!((two.blocks, two.warm_up_runs, two.baseline().name.as_str(), two.seed), (3, 0, "a", 7));
        assert_eq!(two.warm_up, Duration::from_secs(1));
        assert_eq!((two.rest, two.restore), (Duration::from_secs(1), Restore::Populate));
        assert!(!two.need_fresh_nodes());
    }

    #[test]
    fn a_valve_is_handed_on_as_it_is() {
        let valve = "[[variant.valve]]\nat = [\"reads\", \"scans\"]\nlaw = \"response-time\"\nparameters = { percentile = \"80\", floor = 0.5 }\n";
        let two =
            read(&format!("[[variant]]\nname = \"none\"\n[[variant]]\nname = \"v\"\n{valve}refuse = true\n{valve}"));
        let expected = json!({
            "name": "v", "at": ["reads", "scans"], "law": "response-time", "parameters": {"percentile": "80", "floor": 0.5},
            "refuse": true
        });
        assert_eq!(two.list[1].valves[0], expected);
        assert_eq!(two.list[1].valves[1]["name"], "v 2");
    }

    #[test]
    fn an_executor_is_handed_on_as_it_is() {
        let of = |executor: &str| {
            format!("[[variant]]\nname = \"none\"\n[[variant]]\nname = \"e\"\n[[variant.executor]]\n{executor}")
        };
        let two = read(&of("stage = \"read\"\nkind = \"queue-per-thread\"\nstealing = true\n"));
        let expected = json!({"stage": "read", "kind": "queue-per-thread", "stealing": true});
        assert_eq!(two.list[1].executors, [expected]);
        assert!(error(&of("stage = \"read\"\n")).contains("an executor has a `kind`"));
    }

    #[test]
    fn a_table_has_parameters_as_text() {
        let table =
            "[[variant.table]]\nname = \"a.b\"\ngc_grace_seconds = 1\ncompaction = { class = \"L\", size = 4 }\n";
        let two = read(&format!(
            "[lab]\nrestore = \"drop\"\n[[variant]]\nname = \"none\"\n[[variant]]\nname = \"v\"\ncompaction_throughput = 8\nrequests_per_second = 9\n{table}"
        ));
        let expected = TableSettings {
            name: "a.b".into(),
            compaction: Some(json!({"class": "L", "size": "4"})),
            gc_grace_seconds: Some(1),
        };
        assert_eq!((two.list[1].tables.as_slice(), two.restore), (&[expected][..], Restore::Drop));
        let throughput = (Setting::of_node("compaction-throughput"), json!(8));
        assert_eq!(two.list[1].tunings, [throughput, Setting::requests_per_second(9)]);
        assert!(two.list[1].alters_schema() && !two.list[0].alters_schema());
        let of = |table: &str| error(&format!("[[variant]]\nname = \"none\"\n[[variant]]\nname = \"v\"\n{table}"));
        assert!(of("[[variant.table]]\nname = \"a.b\"\n").contains("has a `compaction`"));
        assert!(of("[[variant.table]]\nname = \"b\"\ngc_grace_seconds = 1\n").contains("no keyspace.table"));
        assert!(of("[[variant.table]]\nname = \"a.b\"\ncompaction = { size = 4 }\n").contains("has a `class`"));
    }

    #[test]
    fn variants_may_change_some_nodes_alone() {
        let of = |variant: &str| {
            format!("[lab]\nchanged_nodes = 1\n[[variant]]\nname = \"none\"\n[[variant]]\nname = \"v\"\n{variant}")
        };
        let two = read(&of("concurrent_compactors = 1\n"));
        let nodes = [1, 2, 3].map(|last| SocketAddr::from(([127, 0, 0, last], 9042)));
        assert_eq!(two.changed(&nodes), &nodes[..1]);
        assert_eq!(Variants { changed_nodes: None, ..two }.changed(&nodes), nodes);
        assert!(error(&of("settings = [\"a=1\"]\n")).contains("`v` changes all nodes"));
    }

    #[test]
    fn every_block_has_each_variant_once_in_an_order_of_its_own() {
        let four = read(&"abcd".chars().map(|name| format!("[[variant]]\nname = \"{name}\"\n")).collect::<String>());
        let names = |block| four.order(block).iter().map(|variant| variant.name.clone()).collect::<String>();
        let orders: Vec<String> = (1..=200).map(names).collect();
        for order in &orders {
            let mut sorted: Vec<char> = order.chars().collect();
            sorted.sort_unstable();
            assert_eq!(sorted, ['a', 'b', 'c', 'd']);
        }
        assert_eq!(orders, (1..=200).map(names).collect::<Vec<_>>());
        // Each variant comes first about equally often: 50 of 200 times, within three standard deviations.
        for name in "abcd".chars() {
            let first = orders.iter().filter(|order| order.starts_with(name)).count();
            assert!((32..=68).contains(&first), "{name} is first {first} times");
        }
    }

    #[test]
    fn what_makes_no_comparison_says_what_would() {
        let none = "[[variant]]\nname = \"none\"\n";
        assert!(error("[lab]\nblocks = 3\n").starts_with("x.toml:7:2: [lab] says how variants are compared"));
        assert!(error(none).contains("two variants at least"));
        assert!(error(&format!("{none}{none}")).starts_with("x.toml:10:8: two variants are named `none`"));
        let other = format!("{none}[[variant]]\nname = \"v\"\n");
        assert!(error(&format!("{other}[[variant.valve]]\nat = \"lwt\"\n")).contains("a valve has a `law`"));
        assert!(error(&format!("{other}[[variant.valve]]\nlaw = \"fixed\"\n")).contains("either `at` a point"));
        assert!(error(&format!("{other}[lab]\nbaseline = \"nome\"\n")).contains("did you mean `none`"));
        assert!(error(&format!("{other}setting = [\"a=1\"]\n")).contains("did you mean `settings`"));
        assert!(error(&format!("{other}[lab]\nblocks = 0\n")).starts_with("x.toml:12:"));
        assert!(error(&format!("{other}[lab]\nwarm_up_runs = -1\n")).starts_with("x.toml:12:"));
    }
}
