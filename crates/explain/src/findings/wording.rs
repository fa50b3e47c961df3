//! Phrases that the findings about causes share.

use crate::association::Association;
use crate::evidence::{Blamed, Cause, CauseKind, EXCESS_BOUND};
use crate::text;

/// "83 % of the slow requests": the requests attributed to the cause.
pub(super) fn share(cause: &Cause) -> String {
    format!("{} of the slow requests", text::percent(cause.attributed_share))
}

/// "GC pauses cover 92 % of the slow requests' extra time, 6.1 % expected by chance (p < 0.001)": three figures of one
/// statistic.
pub(super) fn tested(kind: CauseKind, association: &Association) -> String {
    format!(
        "{} cover {} of the slow requests' extra time, {} expected by chance ({})",
        kind.plural(),
        text::percent(association.time_share),
        text::percent(association.chance_time_share),
        text::probability(association.p_value)
    )
}

/// The end of a detail about a cause that occurs more often than by chance, but explains too little.
pub(super) fn too_little() -> String {
    format!("Helenus counts no request for a cause below {} beyond chance.", text::percent(EXCESS_BOUND))
}

/// The next step for a suspect.
pub(super) const UNDECIDED: &str = "record for longer under the same load, so that chance can be excluded.";

/// A sentence with the result of the test of a suspect.
pub(super) fn against_chance(cause: &Cause) -> String {
    match &cause.association {
        Some(association) => format!("{}.", tested(cause.kind, association)),
        None => "There were none in the judged time.".into(),
    }
}

/// Names the nodes whose stops delayed the attributed requests: " of 127.0.0.1", or " of 3 nodes".
pub(super) fn of_nodes(blamed: &Blamed) -> String {
    match blamed.nodes.as_slice() {
        [] => String::new(),
        [node, ..] if node.is_empty() => String::new(),
        [node] => format!(" of {node}"),
        nodes => format!(" of {} nodes", nodes.len()),
    }
}

/// Names the node that delayed most requests, if several did: " Most requests were held up by 127.0.0.1.".
pub(super) fn most_of(blamed: &Blamed) -> String {
    match blamed.nodes.as_slice() {
        [node, _, ..] => format!(" {node} held up the most requests."),
        _ => String::new(),
    }
}
