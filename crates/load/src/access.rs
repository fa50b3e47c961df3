//! How the driver gets to the nodes: as whom, over what, and to which of them.

pub use scylla::frame::Compression;
use std::fmt;

/// Access to the nodes, apart from their addresses. By default nobody's, without compression, and the whole ring.
#[derive(Debug, Clone, Default)]
pub struct Access {
    pub login: Option<Login>,
    /// Of the frames of the native protocol.
    pub compression: Option<Compression>,
    /// Drive the given nodes alone and not the rest of the ring.
    pub only_given_nodes: bool,
}

/// A user and a password, for PasswordAuthenticator.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub user: String,
    pub password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}
