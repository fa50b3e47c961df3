//! Probes in the nodes of an experiment, for as long as its sources run.

use crate::link::link;
use helenus_control::ProbeOptions;
use std::net::SocketAddr;

pub(crate) struct Probes {
    agent: &'static [u8],
    /// The nodes on which probes were started.
    nodes: Vec<SocketAddr>,
}

impl Probes {
    /// Starts the probes in all nodes, or returns the reason why not; then no probe runs.
    pub fn start(nodes: &[SocketAddr], agent: &'static [u8], at: &[String]) -> Result<Probes, String> {
        let mut probes = Probes { agent, nodes: Vec::new() };
        for node in nodes.iter().filter(|_| !at.is_empty()) {
            let options = ProbeOptions { at: at.to_vec(), ..ProbeOptions::default() };
            let started =
                link(*node, agent).and_then(|mut link| link.start_probes(&options).map_err(|error| error.to_string()));
            if let Err(reason) = started {
                let left: String = probes.stop().into_iter().map(|left| format!("; {left}")).collect();
                return Err(format!("{node}: {reason}{left}"));
            }
            probes.nodes.push(*node);
        }
        Ok(probes)
    }

    /// Removes them from the nodes. Returns messages about those that may remain.
    pub fn stop(self) -> Vec<String> {
        let stop = |node: &SocketAddr| {
            link(*node, self.agent)
                .and_then(|mut link| link.stop_probes().map_err(|error| error.to_string()))
                .err()
                .map(|reason| format!("the probes in {node} may be left: {reason}"))
        };
        self.nodes.iter().filter_map(stop).collect()
    }
}
