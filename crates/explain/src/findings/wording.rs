//! What the findings about causes say alike.

use crate::evidence::{Blamed, Cause, EXCESS_BOUND};
use crate::text;

/// "83 % of the slow requests (chance would give 6.1 %)": both of the requests that are counted for it.
pub(super) fn shares(cause: &Cause) -> String {
    format!(
        "{} of the slow requests (chance would give {})",
        text::percent(cause.attributed_share),
        text::percent(cause.attributed_chance_share())
    )
}

/// How a detail ends where a cause is there beyond chance and explains too little.
pub(super) fn too_little() -> String {
    format!("Below {} of the slow requests beyond chance none is counted for it.", text::percent(EXCESS_BOUND))
}

/// What more of it would tell, for what may be a cause.
pub(super) const UNDECIDED: &str = "None of the slow requests is counted for it, because what was met so seldom may have been met by coincidence. Record for longer, under the same load: then it shows.";

/// "it can account for 7 % of the slow requests, chance alone gives 6.4 % (p = 0.310)", for what is not known to be one.
pub(super) fn against_chance(cause: &Cause) -> String {
    match &cause.association {
        Some(association) => format!(
            "it can account for {} of the slow requests, chance alone gives {} ({})",
            text::percent(association.share),
            text::percent(association.chance_share),
            text::probability(association.p_value)
        ),
        None => "there was none in the judged time".into(),
    }
}

/// " of 127.0.0.1", or " of 3 nodes, most of 127.0.0.1": whose stops held up the requests that are counted for it.
pub(super) fn of_nodes(blamed: &Blamed) -> String {
    match blamed.nodes.as_slice() {
        [] => String::new(),
        [node, ..] if node.is_empty() => String::new(),
        [node] => format!(" of {node}"),
        [node, ..] => format!(" of {} nodes, most of {node},", blamed.nodes.len()),
    }
}
