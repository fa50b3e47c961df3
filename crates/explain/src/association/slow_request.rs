//! A slow request, with its times.

/// A slow request within its judged stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlowRequest {
    /// When the request was due.
    pub(crate) start: i64,
    /// When the driver sent the request.
    pub(crate) sent: i64,
    /// When the response came, or the end of the stretch if that was earlier.
    pub(crate) end: i64,
    /// Its excess: how much longer it took than the median, or than is usual for its kind of work where that kind is
    /// known to be slow.
    pub(crate) excess_ns: i64,
    pub(crate) length: Length,
    /// The time from when it was due until its answer.
    pub(crate) response_ns: i64,
    /// The node that it was sent to, an index into [`Judged::node`].
    pub(crate) node: u16,
    /// Its index among all requests.
    pub(crate) row: usize,
    /// The place where at least half of its excess over the median was spent; None if unknown.
    pub(crate) place: Option<Place>,
}

/// How long a request took, compared with the usual time of its kind of work, such as its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// The request's kind of work is not slow by itself.
    Unusual,
    /// The request's kind of work is slow by itself, and the request took more than twice its usual time.
    BeyondUsual,
    /// At least half of the request's time is usual for its kind of work.
    Usual,
}

/// Where a request spent its time, as measured on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the node: from when it arrived at the node until the answer left.
    Node,
    /// Between driver and node: the time after the driver sent it that it was not in the node.
    Between,
}
