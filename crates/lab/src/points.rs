//! Checks that the points of an experiment's probes and valves exist: by the jars of the release before the first node starts, and
//! by that node before anything is run on it.

use crate::link::link;
use crate::site::cluster_options;
use crate::{Error, Experiment, Progress, Run, Variant, wanted};
use helenus_cassandra::Cancel;
use helenus_cassandra::release_check::{WantedPoint, refusals};
use helenus_control::{Declared, Error as ControlError};
use serde_json::Value;
use std::net::SocketAddr;

/// A point, and the variant or option that names it.
struct Wanted<'e> {
    /// The variant; None for the probes of all runs.
    variant: Option<&'e Variant>,
    at: String,
    used_as: &'static str,
    at_most: i64,
}

impl Wanted<'_> {
    fn refused(&self, reason: &str) -> Error {
        let reason = if reason.contains(&self.at) { reason.to_string() } else { format!("\"{}\": {reason}", self.at) };
        match self.variant {
            Some(variant) => Error::Change { variant: variant.name.clone(), reason },
            None => Error::Probes(reason),
        }
    }
}

fn all(experiment: &Experiment) -> Vec<Wanted<'_>> {
    let bound = Declared::get().valve.get("at_most").and_then(|range| range.default).unwrap_or(1);
    let probes = experiment.observe.probes.iter();
    let mut all: Vec<Wanted<'_>> =
        probes.map(|at| Wanted { variant: None, at: at.clone(), used_as: "probe", at_most: bound }).collect();
    for variant in experiment.variants.iter().flat_map(|variants| &variants.list) {
        for valve in &variant.valves {
            let used_as = if valve["refuse"] == Value::Bool(true) { "refusal" } else { "gate" };
            let at_most = valve["at_most"].as_i64().unwrap_or(bound);
            let points = wanted::texts(&valve["at"]).unwrap_or_default();
            all.extend(points.into_iter().map(|at| Wanted { variant: Some(variant), at, used_as, at_most }));
        }
    }
    all
}

/// Checks the points in the jars of the release.
///
/// # Errors
/// [`Error`] for the first point that is not available.
pub(crate) fn check_release(run: &Run<'_>, cancel: &Cancel, tell: &mut dyn FnMut(Progress<'_>)) -> Result<(), Error> {
    let all = all(run.experiment);
    if all.is_empty() {
        return Ok(());
    }
    tell(Progress::Step("looking for the points of probes and valves in the release".to_string()));
    let points: Vec<WantedPoint<'_>> =
        all.iter().map(|Wanted { at, used_as, at_most, .. }| WantedPoint { at, used_as, at_most: *at_most }).collect();
    let options = cluster_options(run, None)?;
    let reasons = refusals(&options, run.agent, &points, &mut |progress| tell(Progress::Cluster(progress)), cancel)?;
    match all.iter().zip(reasons).find_map(|(wanted, reason)| Some((wanted, reason?))) {
        Some((wanted, reason)) => Err(wanted.refused(&reason)),
        None => Ok(()),
    }
}

/// Checks the points of valves in a node, which knows the classes that it has loaded. A class that
/// it has not loaded yet may be loaded before the variant runs.
///
/// # Errors
/// [`Error`] for the first point that is not available.
pub(crate) fn check_node(run: &Run<'_>, node: SocketAddr) -> Result<(), Error> {
    let of_valves: Vec<Wanted<'_>> =
        all(run.experiment).into_iter().filter(|wanted| wanted.variant.is_some()).collect();
    let Some(first) = of_valves.first() else { return Ok(()) };
    let mut link = link(node, run.agent).map_err(|reason| first.refused(&reason))?;
    for wanted in &of_valves {
        match link.find_points(Some(&wanted.at), u32::try_from(wanted.at_most).ok()) {
            Ok(found) => {
                let refusing = found.points.iter().find_map(|point| point.why_no_gate.as_deref());
                if let Some(reason) = refusing {
                    return Err(wanted.refused(&format!("no valve may stand there: {reason}")));
                }
            }
            Err(ControlError::Refused { error, .. }) if error.starts_with("there is no class") => {}
            Err(error) => return Err(wanted.refused(&error.to_string())),
        }
    }
    Ok(())
}
