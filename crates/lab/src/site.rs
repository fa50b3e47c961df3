//! Nodes with the sources on them.

use crate::probes::Probes;
use crate::stage::Stage;
use crate::{Error, Progress, Restore, Run, Variant, points};
use helenus_cassandra::target::{self, TargetName};
use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_control::placement::InterruptCounts;
use helenus_observe::{Observation, ProcessKind, Watched};
use std::net::SocketAddr;

/// The nodes of an experiment while they are observed: a local cluster of its own, or the given ones.
pub(crate) struct Site {
    pub nodes: Vec<SocketAddr>,
    /// The interrupt counts of this machine when the nodes were ready; None if they can't be read.
    pub interrupts: Option<InterruptCounts>,
    cluster: Option<Cluster>,
    observation: Observation,
    probes: Probes,
}

impl Site {
    /// Starts the cluster of the experiment with the variant's settings, then the sources.
    pub fn open(stage: &mut Stage<'_>, variant: Option<&Variant>) -> Result<Site, Error> {
        stage.ended = None;
        let is_own = stage.run.nodes.is_empty();
        let cluster = if is_own { Some(start_cluster(stage, variant)?) } else { None };
        let nodes: Vec<SocketAddr> = match &cluster {
            Some(cluster) => cluster.nodes().iter().map(|node| node.address).collect(),
            None => stage.run.nodes.clone(),
        };
        let (watched, unseen) = watched(&nodes);
        for reason in unseen {
            stage.say(reason);
        }
        let observe = &stage.run.experiment.observe;
        let mut options = observe.options.clone();
        options.agent.jar = Some(stage.run.agent);
        options.stacks.profiler = Some(stage.run.profiler);
        let observation = Observation::start(stage.recorder, &watched, &options, &stage.events)?;
        let probes = match Probes::start(&nodes, stage.run.agent, &observe.probes) {
            Ok(probes) => probes,
            Err(reason) => {
                stage.left.extend(observation.stop());
                return Err(Error::Probes(reason));
            }
        };
        let site = Site { nodes, interrupts: InterruptCounts::now().ok(), cluster, observation, probes };
        if !stage.points_are_checked {
            stage.points_are_checked = true;
            let checked = site.nodes.first().map_or(Ok(()), |node| points::check_node(stage.run, *node));
            if let Err(error) = checked {
                site.close(stage);
                return Err(error);
            }
        }
        Ok(site)
    }

    /// Whether the nodes are the experiment's own, with data that it may remove.
    pub fn is_own(&self) -> bool {
        self.cluster.is_some()
    }

    /// Stops the sources and the cluster, and removes the cluster's data.
    pub fn close(self, stage: &mut Stage<'_>) {
        stage.hear();
        // A node that has ended has no changes left.
        let left = self.probes.stop();
        if stage.ended.is_none() {
            stage.left.extend(left);
        }
        stage.left.extend(self.observation.stop());
        if let Some(cluster) = self.cluster
            && let Err(error) = cluster.stop(false, &mut |progress| (stage.tell)(Progress::Cluster(progress)))
        {
            // The measurement matters more than a clean stop; dropping the cluster kills its nodes.
            stage.say(format!("the cluster did not stop well: {error}"));
        }
        stage.hear();
    }
}

/// The options that the nodes of a variant are started with. If a variant weaves code, the JVMs of all variants are
/// started ready for it; otherwise the comparison would be distorted by the deoptimization after the first weave.
pub(crate) fn cluster_options(run: &Run<'_>, variant: Option<&Variant>) -> Result<ClusterOptions, Error> {
    let experiment = run.experiment;
    let node = &experiment.node;
    let (settings, jvm_options) =
        variant.map_or((&[][..], &[][..]), |variant| (&variant.settings, &variant.jvm_options));
    let mut settings = [&node.settings, settings].concat();
    let leaves = |restore| matches!(restore, Restore::Nothing | Restore::Once);
    let truncates = experiment.variants.as_ref().is_some_and(|variants| !leaves(variants.restore));
    // Truncating a table would keep a snapshot after each run, until the disk is full.
    if truncates && !settings.iter().any(|setting| setting.starts_with("auto_snapshot=")) {
        settings.push("auto_snapshot=false".to_string());
    }
    Ok(ClusterOptions {
        version: node.version.parse()?,
        nodes: node.nodes,
        heap: node.heap.clone(),
        jvm_options: [&node.jvm_options, jvm_options].concat(),
        settings,
        ready: experiment.weaves().then_some(run.agent),
        lifetime: Lifetime::Tied,
        ..ClusterOptions::new(Places::of_user()?, &format!("lab-{}", std::process::id()))
    })
}

fn start_cluster(stage: &mut Stage<'_>, variant: Option<&Variant>) -> Result<Cluster, Error> {
    let options = cluster_options(stage.run, variant)?;
    Ok(Cluster::start(&options, &mut |progress| (stage.tell)(Progress::Cluster(progress)), stage.cancel)?)
}

/// The processes to watch: this one, and the nodes that run on this machine; and the reasons why others can't be
/// watched.
fn watched(nodes: &[SocketAddr]) -> (Vec<Watched>, Vec<String>) {
    let mut watched = Vec::new();
    let mut unseen = Vec::new();
    for address in nodes {
        match target::find(TargetName::Address(*address)) {
            Ok(target) => watched.push(Watched {
                process: ProcessKind::Server,
                node: address.ip().to_string(),
                pid: target.pid.unsigned_abs(),
            }),
            Err(error) => unseen.push(format!(
                "{address} is only seen from outside: {error}. Run `helenus record` on its machine and merge the recordings"
            )),
        }
    }
    watched.push(Watched { process: ProcessKind::Load, node: String::new(), pid: std::process::id() });
    (watched, unseen)
}
