//! Finds the node of each request, also of failed ones.
//!
//! The driver crate's errors don't name the node. But the crate asks its load balancing policy for a node in the same
//! poll that sends the request. So the policy is wrapped, and stores its choice in a thread-local for the caller of
//! that poll. A driver thread has one runtime, so a thread-local suffices.

use scylla::cluster::{ClusterState, Node, NodeRef};
use scylla::errors::RequestAttemptError;
use scylla::policies::load_balancing::{DefaultPolicy, FallbackPlan, LoadBalancingPolicy, RoutingInfo};
use scylla::routing::Shard;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

/// Number of a node within this thread.
pub(super) type NodeNumber = u16;

pub(super) const NO_NODE: NodeNumber = NodeNumber::MAX;

thread_local! {
    static CHOSEN: Cell<NodeNumber> = const { Cell::new(NO_NODE) };
    /// The nodes are kept alive, so that a pointer identifies a node.
    static NODES: RefCell<Vec<Arc<Node>>> = const { RefCell::new(Vec::new()) };
}

/// The driver's default policy (token-aware, then round robin), which records its choice.
#[derive(Debug)]
pub(super) struct NotingPolicy {
    inner: Arc<dyn LoadBalancingPolicy>,
}

impl NotingPolicy {
    pub fn default_policy() -> Arc<NotingPolicy> {
        Arc::new(NotingPolicy { inner: DefaultPolicy::builder().build() })
    }
}

/// Resets the last choice.
pub(super) fn reset() {
    CHOSEN.set(NO_NODE);
}

/// The node that was chosen last since the reset.
pub(super) fn chosen() -> NodeNumber {
    CHOSEN.get()
}

/// The address of a node, without its port; empty when none was chosen.
pub(super) fn address(number: NodeNumber) -> String {
    NODES.with_borrow(|nodes| {
        nodes.get(usize::from(number)).map_or_else(String::new, |node| node.address.ip().to_string())
    })
}

fn note(node: NodeRef<'_>) {
    NODES.with_borrow_mut(|nodes| {
        let known = nodes.iter().position(|known| Arc::ptr_eq(known, node));
        let position = known.unwrap_or_else(|| {
            nodes.push(Arc::clone(node));
            nodes.len() - 1
        });
        CHOSEN.set(NodeNumber::try_from(position).unwrap_or(NO_NODE));
    });
}

impl LoadBalancingPolicy for NotingPolicy {
    fn pick<'a>(&'a self, request: &'a RoutingInfo, cluster: &'a ClusterState) -> Option<(NodeRef<'a>, Option<Shard>)> {
        let picked = self.inner.pick(request, cluster);
        if let Some((node, _)) = picked {
            note(node);
        }
        picked
    }

    fn fallback<'a>(&'a self, request: &'a RoutingInfo, cluster: &'a ClusterState) -> FallbackPlan<'a> {
        Box::new(self.inner.fallback(request, cluster).inspect(|(node, _)| note(node)))
    }

    fn on_request_success(&self, request: &RoutingInfo, latency: Duration, node: NodeRef<'_>) {
        self.inner.on_request_success(request, latency, node);
    }

    fn on_request_failure(
        &self,
        request: &RoutingInfo,
        latency: Duration,
        node: NodeRef<'_>,
        error: &RequestAttemptError,
    ) {
        self.inner.on_request_failure(request, latency, node, error);
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}
