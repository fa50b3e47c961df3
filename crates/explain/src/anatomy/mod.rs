//! The anatomy of a load: its phases, where its throughput stops growing, and what limits it there.

mod knee;
mod limit;
mod phase;

pub use knee::{Knee, Step};
pub(crate) use limit::split;
pub use limit::{Limit, Resource};
pub use phase::Phase;
