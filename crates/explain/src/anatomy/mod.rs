//! The anatomy of a load: its phases, the knee of its throughput, and the limiting resource.

mod change_points;
mod knee;
mod limit;
mod phase;
mod unjudged;

pub(crate) use change_points::{Change, Figure, changes};
pub use knee::{Knee, Step};
pub(crate) use limit::split;
pub use limit::{Limit, Resource};
pub use phase::Phase;
pub(crate) use unjudged::{Unjudged, rest};
