//! The claims of findings about slow requests, as data, so that a test can find two that exclude each other.

/// What a finding says of the slow requests, in one of the ways in which findings could contradict each other. Causes go
/// by the names of their findings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// Nothing is wrong.
    Healthy,
    /// This share of the slow requests is counted for a cause and for nothing else.
    Explains { cause: &'static str, share: f64 },
    /// Nothing explains this share of them.
    Unexplained { share: f64 },
    /// A cause may be why, or is to be looked at.
    Suspects { cause: &'static str },
    /// A cause is not why.
    Clears { cause: &'static str },
}
