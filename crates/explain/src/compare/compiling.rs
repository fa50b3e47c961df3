//! Whether the JVMs were still compiling during the runs. A JVM that has just started runs its code interpreted or barely
//! optimized, and its compilers take CPU time from the requests: what it does then is not what it will do.

use super::run::{COMPILER_CPUS, MeasuredRun};
use serde::Serialize;

/// The JVMs count as warm below this many CPUs of their compilers, on average over the runs.
const WARM_CPUS: f64 = 0.1;

/// The CPUs that the nodes' JIT compilers used on average over the runs, where one side was not warm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Compiling {
    pub baseline_cpus: f64,
    pub variant_cpus: f64,
}

impl Compiling {
    /// None if both sides were warm, or if the threads of one of them were not recorded.
    pub(super) fn find(runs: &[&MeasuredRun], base: &[&MeasuredRun]) -> Option<Compiling> {
        let (variant_cpus, baseline_cpus) = (mean(runs)?, mean(base)?);
        (variant_cpus.max(baseline_cpus) >= WARM_CPUS).then_some(Compiling { baseline_cpus, variant_cpus })
    }

    pub(super) fn remark(self, variant: &str, baseline: &str) -> String {
        format!(
            "JVMs were still compiling in the measured phases: those of {baseline} used {:.2} CPUs for it, those of {variant} \
             {:.2}. They are slower than they will be, so that there is no verdict. In an experiment, put a phase with `for` \
             and `measured = false` before the measured ones: it is repeated until the JVMs have stopped compiling, for \
             `warm_up` of [lab] at most.",
            self.baseline_cpus, self.variant_cpus
        )
    }
}

fn mean(runs: &[&MeasuredRun]) -> Option<f64> {
    let known: Vec<f64> = runs.iter().filter_map(|run| run.figures.get(COMPILER_CPUS).copied()).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}
