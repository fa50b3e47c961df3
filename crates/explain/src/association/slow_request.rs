//! A request that was slow.

/// A slow request within its stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlowRequest {
    /// When it was due.
    pub(crate) start: i64,
    /// When the driver sent it.
    pub(crate) sent: i64,
    /// Its answer, or the stretch's end if that came first.
    pub(crate) end: i64,
    /// How much longer than the median it took.
    pub(crate) excess_ns: i64,
    /// From due to answer.
    pub(crate) response_ns: i64,
    /// The node that it was sent to, as [`Judged::node`] has its name.
    pub(crate) node: u16,
    /// Its place among all requests.
    pub(crate) row: usize,
    /// Where it spent at least half of what it took longer than the median; None where that was not seen.
    pub(crate) place: Option<Place>,
}

/// Where a request spent its time, as the wire shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// From the node's network to the node's network.
    Node,
    /// Between the driver, once it had sent it, and the node.
    Between,
}
