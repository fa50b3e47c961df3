//! How the driver connects to nodes: login, TLS, compression, and the datacenter.

use crate::Tls;
use clap::ValueEnum;
pub use helenus_cassandra::cql::Compression;
use serde::Serialize;
use std::fmt;

/// How to access the nodes, apart from their addresses. The default is no login, version 4 of the protocol, no
/// compression, no encryption, and the whole ring.
#[derive(Debug, Clone, Default)]
pub struct Access {
    pub login: Option<Login>,
    pub protocol: Protocol,
    /// Compression of frames of the native protocol.
    pub compression: Option<Compression>,
    pub tls: Option<Tls>,
    /// Drive only the given nodes, and not the rest of the ring.
    pub only_given_nodes: bool,
    /// Drive only the nodes of this datacenter.
    pub datacenter: Option<String>,
}

/// Versions of the native protocol. In the fifth, frames travel in segments with checksums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    #[default]
    #[value(name = "4", alias = "v4")]
    V4,
    #[value(name = "5", alias = "v5")]
    V5,
}

impl Protocol {
    pub(crate) fn number(self) -> u8 {
        match self {
            Protocol::V4 => 4,
            Protocol::V5 => 5,
        }
    }
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
