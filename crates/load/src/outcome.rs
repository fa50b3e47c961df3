//! Outcomes of requests.

use schemars::JsonSchema;
use scylla::errors::{ConnectionPoolError, DbError, ExecutionError, RequestAttemptError};
use serde::Serialize;

/// How a request ended. The names are those of the column `outcome` of the table `requests`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    /// No answer within the client's timeout.
    Timeout,
    /// The request was in flight when the run ended.
    Abandoned,
    WriteTimeout,
    ReadTimeout,
    WriteFailure,
    ReadFailure,
    Unavailable,
    Overloaded,
    /// The connection broke, or there was none.
    Connection,
    /// The node or the driver rejects the statement: syntax, types, permissions, names.
    Invalid,
    Other,
}

impl Outcome {
    pub const ALL: [Outcome; 12] = [
        Outcome::Ok,
        Outcome::Timeout,
        Outcome::Abandoned,
        Outcome::WriteTimeout,
        Outcome::ReadTimeout,
        Outcome::WriteFailure,
        Outcome::ReadFailure,
        Outcome::Unavailable,
        Outcome::Overloaded,
        Outcome::Connection,
        Outcome::Invalid,
        Outcome::Other,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Timeout => "timeout",
            Outcome::Abandoned => "abandoned",
            Outcome::WriteTimeout => "write_timeout",
            Outcome::ReadTimeout => "read_timeout",
            Outcome::WriteFailure => "write_failure",
            Outcome::ReadFailure => "read_failure",
            Outcome::Unavailable => "unavailable",
            Outcome::Overloaded => "overloaded",
            Outcome::Connection => "connection",
            Outcome::Invalid => "invalid",
            Outcome::Other => "other",
        }
    }

    /// Whether the request's time counts as a response time. Immediate rejections would lower the percentiles, and the
    /// time of an aborted request depends on the end of the run.
    pub fn is_timed(self) -> bool {
        matches!(self, Outcome::Ok | Outcome::Timeout | Outcome::WriteTimeout | Outcome::ReadTimeout)
    }

    pub(crate) fn of(error: &ExecutionError) -> Outcome {
        match error {
            ExecutionError::RequestTimeout(_) => Outcome::Timeout,
            ExecutionError::ConnectionPoolError(_) | ExecutionError::EmptyPlan => Outcome::Connection,
            ExecutionError::BadQuery(_) => Outcome::Invalid,
            ExecutionError::LastAttemptError(attempt) => match attempt {
                RequestAttemptError::BrokenConnectionError(_) | RequestAttemptError::UnableToAllocStreamId => {
                    Outcome::Connection
                }
                RequestAttemptError::SerializationError(_) | RequestAttemptError::CqlRequestSerialization(_) => {
                    Outcome::Invalid
                }
                RequestAttemptError::DbError(error, _) => Outcome::of_node(error),
                _ => Outcome::Other,
            },
            _ => Outcome::Other,
        }
    }

    fn of_node(error: &DbError) -> Outcome {
        match error {
            DbError::WriteTimeout { .. } => Outcome::WriteTimeout,
            DbError::ReadTimeout { .. } => Outcome::ReadTimeout,
            DbError::WriteFailure { .. } => Outcome::WriteFailure,
            DbError::ReadFailure { .. } => Outcome::ReadFailure,
            DbError::Unavailable { .. } => Outcome::Unavailable,
            DbError::Overloaded | DbError::RateLimitReached { .. } => Outcome::Overloaded,
            DbError::IsBootstrapping => Outcome::Unavailable,
            DbError::SyntaxError
            | DbError::Invalid
            | DbError::Unauthorized
            | DbError::ConfigError
            | DbError::AuthenticationError
            | DbError::AlreadyExists { .. }
            | DbError::Unprepared { .. } => Outcome::Invalid,
            _ => Outcome::Other,
        }
    }
}

/// The error as one sentence, without the nested contexts of the driver's error.
pub(crate) fn message(error: &ExecutionError) -> String {
    match error {
        ExecutionError::LastAttemptError(RequestAttemptError::DbError(error, reason)) if !reason.is_empty() => {
            format!("{reason} ({error})")
        }
        ExecutionError::ConnectionPoolError(ConnectionPoolError::Broken { last_connection_error }) => {
            format!("no connection to the node: {last_connection_error}")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scylla::frame::types::Consistency;

    #[test]
    fn errors_of_nodes_have_their_kind_and_their_words() {
        let error = |error, reason: &str| {
            ExecutionError::LastAttemptError(RequestAttemptError::DbError(error, reason.to_string()))
        };
        let unavailable =
            error(DbError::Unavailable { consistency: Consistency::Quorum, required: 2, alive: 1 }, "Cannot achieve");
        assert_eq!(Outcome::of(&unavailable), Outcome::Unavailable);
        assert!(message(&unavailable).starts_with("Cannot achieve ("));
        assert_eq!(Outcome::of(&error(DbError::Overloaded, "")), Outcome::Overloaded);
        assert_eq!(Outcome::of(&error(DbError::Invalid, "")), Outcome::Invalid);
        assert_eq!(Outcome::of(&error(DbError::ServerError, "")), Outcome::Other);
        assert_eq!(Outcome::of(&ExecutionError::EmptyPlan), Outcome::Connection);
    }

    #[test]
    fn names_are_what_serde_writes_and_all_are_listed_in_order() {
        for (position, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, position);
            assert_eq!(format!("{:?}", outcome).to_lowercase(), outcome.name().replace('_', ""));
        }
    }
}
