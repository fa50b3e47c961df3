//! A request that was slow.

/// A slow request within its stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlowRequest {
    /// When the request was due.
    pub(crate) start: i64,
    /// When the driver sent the request.
    pub(crate) sent: i64,
    /// When the response came, or the end of the stretch if that was earlier.
    pub(crate) end: i64,
    /// How much longer it took than the median, or than what is usual for its kind of work where that is known to be slow.
    pub(crate) excess_ns: i64,
    pub(crate) length: Length,
    /// From due to answer.
    pub(crate) response_ns: i64,
    /// The node that it was sent to, an index into [`Judged::node`].
    pub(crate) node: u16,
    /// Its index among all requests.
    pub(crate) row: usize,
    /// The place where at least half of its excess over the median was spent; None if unknown.
    pub(crate) place: Option<Place>,
}

/// How long a request took, against what is usual for its kind of work, such as its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// Its kind of work is not slow by itself.
    Unusual,
    /// Its kind of work is slow by itself, and it took more than twice as long as is usual for it.
    BeyondUsual,
    /// At least half of its time is usual for its kind of work.
    Usual,
}

/// Where a request spent its time, by the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// From the node's network to the node's network.
    Node,
    /// Between the driver, once it had sent it, and the node.
    Between,
}
