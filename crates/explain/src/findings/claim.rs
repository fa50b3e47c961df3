//! Claims of findings about slow requests as data, so that tests can find claims that exclude each other.

/// A statement of a finding about the slow requests, in a form in which statements can be compared with each other. A cause
/// has the name of its finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// Nothing is wrong: no finding is above information.
    Healthy,
    /// This share of the slow requests is attributed to this cause and no other.
    Explains { cause: &'static str, share: f64 },
    /// This share of the slow requests has no known cause.
    Unexplained { share: f64 },
    /// A cause is a suspect, or needs further examination.
    Suspects { cause: &'static str },
    /// A cause is excluded.
    Clears { cause: &'static str },
}
