//! Runs every variant once in each block, and marks where each run begins and ends.

use crate::change::Applied;
use crate::changes::changes;
use crate::run::Driven;
use crate::site::Site;
use crate::stage::{Stage, plan};
use crate::{Error, Progress, Restore, Variant, Variants, placement, restore};
use helenus_load::Workload;
use helenus_recording::rows::Mark;

/// The runs of an experiment's variants.
struct Blocks<'b> {
    variants: &'b Variants,
    workload: &'b Workload,
    peak_per_s: Option<f64>,
    /// The nodes that all runs share; None if each run has its own.
    shared: Option<Site>,
}

/// Runs the blocks. A block that fails ends them all; the runs before it are kept.
pub(crate) fn run(stage: &mut Stage<'_>, variants: &Variants, workload: &Workload) -> Result<Driven, Error> {
    for variant in &variants.list {
        if variant.starts_nodes() && !stage.run.nodes.is_empty() {
            return Err(Error::GivenNodes { variant: variant.name.clone() });
        }
        if variant.alters_schema() && !stage.run.nodes.is_empty() {
            return Err(Error::GivenSchema { variant: variant.name.clone() });
        }
    }
    let experiment = stage.run.experiment;
    let nodes = if stage.run.nodes.is_empty() { experiment.node.nodes } else { stage.run.nodes.len() };
    if let Some(changed) = variants.changed_nodes.filter(|changed| !(1..nodes).contains(changed)) {
        return Err(Error::NoPeers { changed, nodes });
    }
    let fresh = variants.need_fresh_nodes();
    let mut shared = None;
    let mut peak_per_s = None;
    if experiment.calibrate.is_some() || !fresh {
        // Rates in percent are relative to the peak of the baseline.
        let site = Site::open(stage, fresh.then(|| variants.baseline()))?;
        let filled = fill_once(stage, &site, variants, workload);
        let found = filled.and_then(|()| stage.calibrate(&site.nodes, workload));
        if fresh || found.is_err() {
            site.close(stage);
        } else {
            shared = Some(site);
        }
        peak_per_s = found?;
    }
    let blocks = Blocks { variants, workload, peak_per_s, shared };
    let now_ns = stage.recorder.clock().now_ns();
    let baseline =
        Mark { start_ns: now_ns, end_ns: now_ns, kind: "baseline", name: &variants.baseline, ..Mark::default() };
    stage.recorder.append(baseline);
    let broken_off = blocks.warm_up(stage).err().filter(|_| !stage.cancel.is_cancelled());
    let mut driven = Driven { peak_per_s, broken_off, ..Driven::default() };
    'blocks: for block in 1..=variants.blocks {
        for variant in variants.order(block) {
            if stage.cancel.is_cancelled() || driven.broken_off.is_some() {
                break 'blocks;
            }
            (stage.tell)(Progress::Run(format!("block {block} of {}, {}", variants.blocks, variant.name)));
            match blocks.one(stage, block, variant) {
                Ok(true) => driven.runs += 1,
                Ok(false) => break 'blocks,
                Err(_) if stage.cancel.is_cancelled() => break 'blocks,
                Err(error) => {
                    driven.broken_off = Some(error);
                    break 'blocks;
                }
            }
        }
    }
    if let Some(site) = blocks.shared {
        site.close(stage);
    }
    match driven.broken_off.take() {
        Some(error) if driven.runs == 0 => Err(error),
        None if !stage.recorder.health().rows.contains_key("requests") => {
            Err(helenus_cassandra::Error::Cancelled.into())
        }
        broken_off => Ok(Driven { broken_off, ..driven }),
    }
}

impl Blocks<'_> {
    /// Runs the baseline as in a block, without judging it.
    fn warm_up(&self, stage: &mut Stage<'_>) -> Result<(), Error> {
        let Some(site) = &self.shared else { return Ok(()) };
        for run in 1..=self.variants.warm_up_runs {
            if stage.cancel.is_cancelled() {
                break;
            }
            let (of, baseline) = (self.variants.warm_up_runs, &self.variants.baseline);
            (stage.tell)(Progress::Run(format!("warm-up {run} of {of}, {baseline}")));
            self.restore(stage, site)?;
            let mut parts = stage.run.experiment.parts(self.peak_per_s.unwrap_or(1.0))?;
            for phase in parts.iter_mut().flat_map(|part| &mut part.phases) {
                phase.measured = false;
            }
            stage.parts(&site.nodes, self.workload, &parts)?;
        }
        Ok(())
    }

    /// One run of a variant, on the shared nodes or its own. Returns whether it completed.
    fn one(&self, stage: &mut Stage<'_>, block: usize, variant: &Variant) -> Result<bool, Error> {
        let Some(site) = &self.shared else {
            let site = Site::open(stage, Some(variant))?;
            let filled = fill_once(stage, &site, self.variants, self.workload);
            let ran = filled.and_then(|()| self.on(stage, &site, block, variant));
            site.close(stage);
            return ran;
        };
        self.on(stage, site, block, variant)
    }

    fn on(&self, stage: &mut Stage<'_>, site: &Site, number: usize, variant: &Variant) -> Result<bool, Error> {
        let parts = stage.run.experiment.parts(self.peak_per_s.unwrap_or(1.0))?;
        stage.rest(self.variants.rest);
        self.restore(stage, site)?;
        if !variant.tables.is_empty() && site.is_own() {
            // Settings of a table require that the table exists.
            restore::create(site.nodes[0], self.workload)?;
        }
        if number == 1 && variant.placement.is_some() {
            for remark in placement::remarks(&site.nodes) {
                stage.remark(remark);
            }
        }
        let failed = |reason| Error::Change { variant: variant.name.clone(), reason };
        let changed = self.variants.changed(&site.nodes);
        let applied = Applied::new(changes(variant, site, changed, stage.run.agent)).map_err(failed)?;
        let block = Some(i64::try_from(number).unwrap_or(i64::MAX));
        let start_ns = stage.recorder.clock().now_ns();
        let loads = stage.parts(&site.nodes, self.workload, &parts);
        let end_ns = stage.recorder.clock().now_ns();
        stage.left.extend(applied.undo());
        let ended = stage.ended.clone();
        let is_whole = ended.is_none() && !stage.cancel.is_cancelled() && loads.is_ok();
        let run = Mark { start_ns, end_ns, kind: "variant", measured: is_whole, block, ..Mark::default() };
        stage.recorder.append(Mark { name: &variant.name, ..run });
        if self.variants.changed_nodes.is_some() {
            for node in changed {
                stage.recorder.append(Mark { kind: "changed", name: &node.ip().to_string(), ..run });
            }
        }
        match ended {
            Some(node) => Err(Error::NodeEnded { node, variant: variant.name.clone(), block: number }),
            None => loads.map(|_| is_whole),
        }
    }

    /// Restores the data to its state before the last run. The data of given nodes is not touched.
    fn restore(&self, stage: &mut Stage<'_>, site: &Site) -> Result<(), Error> {
        if matches!(self.variants.restore, Restore::Nothing | Restore::Once) {
            return Ok(());
        }
        if site.is_own() && self.variants.restore == Restore::Drop {
            stage.say("making the tables anew");
            restore::drop_tables(site.nodes[0], &self.workload.schema)?;
        } else if site.is_own() {
            stage.say("emptying the tables");
            restore::truncate(site.nodes[0], &self.workload.schema)?;
        } else {
            stage.say("the tables are not emptied: the nodes are not the experiment's own");
        }
        if self.variants.restore == Restore::Populate {
            fill(stage, site, self.workload)?;
        }
        Ok(())
    }
}

/// Fills the tables of nodes that no run has used yet, if the experiment fills them only once.
fn fill_once(stage: &mut Stage<'_>, site: &Site, variants: &Variants, workload: &Workload) -> Result<(), Error> {
    match variants.restore {
        Restore::Once => fill(stage, site, workload),
        _ => Ok(()),
    }
}

fn fill(stage: &mut Stage<'_>, site: &Site, workload: &Workload) -> Result<(), Error> {
    stage.say("filling the tables");
    let mut populate = plan(workload, Vec::new(), &site.nodes);
    populate.populate = true;
    stage.load(populate).map(drop)
}
