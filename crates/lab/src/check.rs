//! Finds mistakes of an experiment before its first node starts, beyond those that are visible in its file alone.

use crate::site::cluster_options;
use crate::{Before, Error, Progress, Run, Variant, placement, points, restore};
use helenus_cassandra::{Cancel, Cluster};
use helenus_load::Workload;

/// Compaction strategies of Cassandra, which may be named without their package.
pub const COMPACTION_STRATEGIES: [&str; 5] = [
    "SizeTieredCompactionStrategy",
    "LeveledCompactionStrategy",
    "TimeWindowCompactionStrategy",
    "UnifiedCompactionStrategy",
    "DateTieredCompactionStrategy",
];
const PAGE_CACHE: &str = "/proc/sys/vm/drop_caches";

/// Checks all parts and all variants.
///
/// # Errors
/// [`Error`] of the part or variant that would fail later.
pub(crate) fn check(
    run: &Run<'_>,
    workload: &Workload,
    cancel: &Cancel,
    tell: &mut dyn FnMut(Progress<'_>),
) -> Result<(), Error> {
    let experiment = run.experiment;
    for part in experiment.parts(1.0)? {
        if let Some(mix) = &part.mix {
            experiment.open_workload(Some(mix))?;
        }
        if part.before.contains(&Before::DropPageCache) && run.nodes.is_empty() {
            rustix::fs::access(PAGE_CACHE, rustix::fs::Access::WRITE_OK)
                .map_err(|errno| Error::PageCache(errno.into()))?;
        }
    }
    let variants = experiment.variants.iter().flat_map(|variants| &variants.list);
    for variant in variants.clone() {
        let wrong = |reason| Error::Change { variant: variant.name.clone(), reason };
        tables(variant, &restore::tables(&workload.schema), run.nodes.is_empty()).map_err(wrong)?;
        variant.placement.iter().try_for_each(|settings| placement::check(settings, &run.nodes)).map_err(wrong)?;
    }
    if !run.nodes.is_empty() {
        return Ok(());
    }
    // Check all candidates before trying the first one, because a trial takes seconds.
    let mut all = vec![(None, cluster_options(run, None)?)];
    for variant in variants.filter(|variant| variant.starts_nodes()) {
        all.push((Some(variant), cluster_options(run, Some(variant))?));
    }
    let failed = |variant: Option<&Variant>, error: helenus_cassandra::Error| match variant {
        Some(variant) if !cancel.is_cancelled() => {
            Error::Change { variant: variant.name.clone(), reason: error.to_string() }
        }
        _ => error.into(),
    };
    for (variant, options) in &all {
        options.check().map_err(|error| failed(*variant, error))?;
    }
    let node = &experiment.node;
    let given =
        |variant: Option<&Variant>| variant.is_some() || !node.settings.is_empty() || !node.jvm_options.is_empty();
    for (variant, options) in all.iter().filter(|(variant, _)| given(*variant)) {
        tell(Progress::Step(format!(
            "checking settings and JVM options{}",
            variant.map_or(String::new(), |variant| format!(" of {}", variant.name))
        )));
        Cluster::rehearse(options, &mut |progress| tell(Progress::Cluster(progress)), cancel)
            .map_err(|error| failed(*variant, error))?;
    }
    points::check_release(run, cancel, tell)
}

/// The tables of a variant must be the workload's if the nodes start empty.
fn tables(variant: &Variant, made: &[String], is_own: bool) -> Result<(), String> {
    for table in &variant.tables {
        if is_own && !made.contains(&table.name) {
            return Err(format!("the workload makes no table {}; it makes {}", table.name, made.join(", ")));
        }
        let class = table.compaction.as_ref().and_then(|parameters| parameters["class"].as_str());
        if let Some(class) = class.filter(|class| !class.contains('.') && !COMPACTION_STRATEGIES.contains(class)) {
            return Err(format!(
                "Cassandra has no compaction strategy {class}; it has {}",
                COMPACTION_STRATEGIES.join(", ")
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;

    const VARIANTS: &str = "[[variant]]\nname = \"none\"\n[[variant]]\nname = \"v\"\n";

    /// The error of a run that fails before its recording exists.
    fn message(text: &str) -> String {
        let head = "title = \"t\"\nquestion = \"q\"\nworkload = \"keyvalue\"\n";
        let experiment = Experiment::parse("x.toml", &format!("{head}{text}")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let run = Run {
            experiment: &experiment,
            nodes: Vec::new(),
            agent: b"",
            profiler: b"",
            folder: folder.path().join("recording"),
            command: String::new(),
        };
        let error = run.run(&helenus_cassandra::Cancel::new(), &mut |_| panic!("something was begun")).unwrap_err();
        assert!(!run.folder.exists());
        error.to_string()
    }

    #[test]
    fn what_would_fail_in_its_turn_is_said_before_anything_begins() {
        let phase = "[[phase]]\nrate = 5\nfor = \"5s\"\n";
        let mix = message("[[part]]\nmix = \"red\"\n[[part.phase]]\nrate = 5\nfor = \"5s\"\n");
        assert!(mix.contains("red"), "{mix}");
        let table = message(&format!("{phase}{VARIANTS}[[variant.table]]\nname = \"a.b\"\ngc_grace_seconds = 1\n"));
        assert!(table.contains("`v`") && table.contains("makes no table a.b"), "{table}");
        let of_workload = restore::tables(&helenus_load::Workload::open("keyvalue").unwrap().schema).remove(0);
        let class = message(&format!(
            "{phase}{VARIANTS}[[variant.table]]\nname = \"{of_workload}\"\ncompaction = {{ class = \"LeveledCompaction\" }}\n"
        ));
        assert!(class.contains("no compaction strategy LeveledCompaction;"), "{class}");
        let groups = "[variant.placement]\nstrategy = \"groups\"\ngroups = [\"Reads=1023\", \"*=rest\"]\n";
        let cpus = message(&format!("{phase}{VARIANTS}{groups}"));
        assert!(cpus.contains("`v`") && cpus.contains("1023"), "{cpus}");
        let setting = message(&format!("{phase}{VARIANTS}settings = [\"concurrent_reads\"]\n"));
        assert!(setting.contains("`v`") && setting.contains("no '='"), "{setting}");
        let heap = message(&format!("{phase}[node]\nheap = \"much\"\n"));
        assert!(heap.contains("no heap size"), "{heap}");
    }
}
