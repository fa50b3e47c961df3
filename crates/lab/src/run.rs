//! Runs an experiment: node, sources and load together, into one recording.

use crate::site::Site;
use crate::stage::Stage;
use crate::{Experiment, ExperimentError, blocks, check};
use helenus_cassandra::Cancel;
use helenus_load::Workload;
use helenus_observe::Event;
use helenus_recording::{Manifest, Recorder, Summary};
use std::net::SocketAddr;
use std::path::PathBuf;

/// An error that ended an experiment early. The recording keeps the data until then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error(transparent)]
    Cassandra(#[from] helenus_cassandra::Error),
    #[error(transparent)]
    Observe(#[from] helenus_observe::Error),
    #[error(transparent)]
    Load(#[from] helenus_load::Error),
    #[error(transparent)]
    Recording(#[from] helenus_recording::Error),
    #[error("cannot empty the tables: {0}")]
    Restore(#[from] helenus_cassandra::cql::Error),
    #[error("cannot drop the page cache: {0}. Run as root, or leave `before` out: reads come from memory then")]
    PageCache(std::io::Error),
    #[error("the closed loop before the phases completed no request: {0}")]
    NoPeak(String),
    #[error(
        "the variant `{variant}` changes what nodes are started with, and nodes given with --node are not restarted: leave --node out, or the variant"
    )]
    GivenNodes { variant: String },
    #[error(
        "the variant `{variant}` alters the schema, and that of nodes given with --node is left as it is: leave --node out, or gc_grace_seconds"
    )]
    GivenSchema { variant: String },
    #[error(
        "{changed} of {nodes} nodes cannot be changed beside unchanged peers: `changed_nodes` is at least 1, and `nodes` more than that"
    )]
    NoPeers { changed: usize, nodes: usize },
    #[error("there can be no probes: {0}")]
    Probes(String),
    #[error("the variant `{variant}` cannot be set: {reason}")]
    Change { variant: String, reason: String },
    #[error("the compactions of {node} cannot be waited for: {reason}")]
    Compactions { node: SocketAddr, reason: String },
    #[error("the node {node} ended while `{variant}` was run in block {block}; its log says why (`helenus ps`)")]
    NodeEnded { node: String, variant: String, block: usize },
}

/// Progress of a run.
#[derive(Debug)]
pub enum Progress<'a> {
    Cluster(helenus_cassandra::Progress),
    Observe(Event),
    /// The run that begins, such as `block 2 of 6, none`; empty when there are no more.
    Run(String),
    /// A sentence about the step that begins.
    Step(String),
    /// A remark that stays valid after the run.
    Remark(&'a str),
    Load(&'a helenus_load::Progress),
}

/// An experiment, and where and how to run it.
#[derive(Debug)]
pub struct Run<'a> {
    pub experiment: &'a Experiment,
    /// Running nodes to measure; if empty, a local cluster is started as the experiment says, and stopped at the end.
    pub nodes: Vec<SocketAddr>,
    pub agent: &'static [u8],
    /// The profiler's library.
    pub profiler: &'static [u8],
    /// The new recording's folder.
    pub folder: PathBuf,
    /// The command, for the manifest.
    pub command: String,
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    pub recording: Summary,
    /// The load's summaries: one for each part of the experiment that was begun. Empty for an experiment with variants,
    /// which is judged by its recording.
    pub loads: Vec<helenus_load::Summary>,
    /// The peak of the closed loop; None if it was not measured.
    pub peak_per_s: Option<f64>,
    /// Whether the run was ended early.
    pub cancelled: bool,
    /// Why the blocks ended before the last one, if that was not intended.
    pub broken_off: Option<Error>,
    /// Changes that may not have been undone.
    pub left: Vec<String>,
}

/// The result of driving the load.
#[derive(Debug, Default)]
pub(crate) struct Driven {
    pub loads: Vec<helenus_load::Summary>,
    pub peak_per_s: Option<f64>,
    /// Completed runs of variants.
    pub runs: usize,
    pub broken_off: Option<Error>,
}

impl Run<'_> {
    /// Runs the experiment. A local cluster is stopped and its data removed, however the run ends.
    pub fn run(&self, cancel: &Cancel, tell: &mut dyn FnMut(Progress<'_>)) -> Result<Outcome, Error> {
        let workload = self.experiment.open_workload(None)?;
        check::check(self, &workload, cancel, tell)?;
        let manifest = Manifest {
            question: Some(self.experiment.question.clone()),
            ..Manifest::new(&self.experiment.title, &self.command)
        };
        let recorder = Recorder::create(&self.folder, manifest)?;
        let mut stage = Stage::new(self, &recorder, cancel, tell);
        let driven = match &self.experiment.variants {
            Some(variants) => blocks::run(&mut stage, variants, &workload),
            None => once(&mut stage, &workload),
        };
        (stage.tell)(Progress::Run(String::new()));
        stage.say("closing the recording");
        let left = std::mem::take(&mut stage.left);
        let sent = recorder.health().rows.contains_key("requests");
        let recording = recorder.close();
        let driven = driven.inspect_err(|_| {
            if !sent {
                // Best effort, because a recording without requests is useless.
                let _ = std::fs::remove_dir_all(&self.folder);
            }
        })?;
        let Driven { loads, peak_per_s, broken_off, .. } = driven;
        Ok(Outcome { recording: recording?, loads, peak_per_s, cancelled: cancel.is_cancelled(), broken_off, left })
    }
}

/// An experiment without variants: runs each part once.
fn once(stage: &mut Stage<'_>, workload: &Workload) -> Result<Driven, Error> {
    let site = Site::open(stage, None)?;
    let driven = parts(stage, &site, workload);
    site.close(stage);
    driven
}

fn parts(stage: &mut Stage<'_>, site: &Site, workload: &Workload) -> Result<Driven, Error> {
    let peak_per_s = stage.calibrate(&site.nodes, workload)?;
    if stage.cancel.is_cancelled() {
        return Err(helenus_cassandra::Error::Cancelled.into());
    }
    let parts = stage.run.experiment.parts(peak_per_s.unwrap_or(1.0))?;
    let loads = stage.parts(&site.nodes, workload, &parts)?;
    Ok(Driven { loads, peak_per_s, ..Driven::default() })
}
