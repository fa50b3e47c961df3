//! A CQL session, the schema, and the prepared statements.

use super::request::{Execution, Statement};
use super::route::NotingPolicy;
use crate::workload::BoundOperation;
use crate::{Access, Compression, Error, Plan, Tls};
use futures::future::join_all;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::cluster::metadata::Peer;
use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use scylla::policies::host_filter::HostFilter;
use scylla::policies::retry::FallthroughRetryPolicy;
use std::collections::BTreeSet;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A statement that changes the schema waits this long for schema agreement in the ring.
const SCHEMA_TIMEOUT: Duration = Duration::from_secs(30);
const NATIVE_PORT: u16 = 9042;

/// The contact points that accept connections, and why the others don't.
#[derive(Debug)]
pub(crate) struct ContactPoints {
    pub open: Vec<SocketAddr>,
    pub closed: Vec<String>,
}

/// Finds out which of the given nodes can be reached, because the driver crate's error does not say it clearly.
pub(crate) fn reach(nodes: &[String], tls: Option<&Tls>) -> Result<ContactPoints, Error> {
    let mut points = ContactPoints { open: Vec::new(), closed: Vec::new() };
    for node in nodes {
        let addresses = match resolve(node) {
            Ok(addresses) => addresses,
            Err(reason) => {
                points.closed.push(format!("{node}: {reason}"));
                continue;
            }
        };
        for address in addresses {
            let connected = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT);
            match connected.and_then(|socket| tls.map_or(Ok(()), |tls| encrypt(socket, tls))) {
                Ok(()) => points.open.push(address),
                Err(error) => points.closed.push(format!("{address}: {}", plainly(&error))),
            }
        }
    }
    if points.open.is_empty() {
        return Err(Error::Unreachable { reasons: points.closed.join("; ") });
    }
    Ok(points)
}

/// Completes the TLS handshake.
fn encrypt(mut socket: TcpStream, tls: &Tls) -> io::Result<()> {
    socket.set_read_timeout(Some(CONNECT_TIMEOUT))?;
    let mut connection = tls.connect(socket.peer_addr()?.ip()).map_err(io::Error::other)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    Ok(())
}

fn resolve(node: &str) -> Result<Vec<SocketAddr>, String> {
    if let Ok(address) = node.parse::<SocketAddr>() {
        return Ok(vec![address]);
    }
    if let Ok(address) = node.parse::<std::net::IpAddr>() {
        return Ok(vec![SocketAddr::new(address, NATIVE_PORT)]);
    }
    let (host, port) = match node.rsplit_once(':') {
        None => (node, NATIVE_PORT),
        Some((host, port)) => (host, port.parse().map_err(|_| format!("`{port}` is not a port"))?),
    };
    let found: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(|error| error.to_string())?.collect();
    if found.is_empty() { Err("the name has no address".to_string()) } else { Ok(found) }
}

fn plainly(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_string(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            format!("no answer within {} s", CONNECT_TIMEOUT.as_secs())
        }
        io::ErrorKind::UnexpectedEof => "it closed the connection while TLS was agreed on".to_string(),
        _ => error.to_string(),
    }
}

/// Opens a session on the runtime of the caller.
pub(crate) async fn open(plan: &Plan, points: &[SocketAddr]) -> Result<Session, Error> {
    let connections = NonZeroUsize::new(plan.connections_per_node).unwrap_or(NonZeroUsize::MIN);
    let profile = ExecutionProfile::builder()
        .consistency(plan.consistency.unwrap_or(plan.workload.consistency))
        // A benchmark must see failures, so nothing is retried.
        .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
        .speculative_execution_policy(None)
        // Timeouts are handled by the engine, because a timer for each request would cost too much.
        .request_timeout(None)
        .load_balancing_policy(NotingPolicy::default_policy())
        .build();
    let mut builder = SessionBuilder::new()
        .known_nodes_addr(points)
        .pool_size(PoolSize::PerHost(connections))
        .connection_timeout(CONNECT_TIMEOUT)
        .default_execution_profile_handle(profile.into_handle())
        .disallow_shard_aware_port(true)
        .fetch_full_schema_metadata(false)
        .compression(plan.access.compression.map(compression))
        .tls_context(plan.access.tls.as_ref().map(Tls::config));
    if let Some(login) = &plan.access.login {
        builder = builder.user(&login.user, &login.password);
    }
    let given = plan.access.only_given_nodes.then(|| points.to_vec());
    let datacenter = plan.access.datacenter.clone();
    let driven = Arc::new(Driven { given, datacenter, seen: Mutex::default() });
    builder = builder.host_filter(Arc::clone(&driven) as Arc<dyn HostFilter>);
    let node = || points.first().map_or_else(String::new, SocketAddr::to_string);
    let built = tokio::time::timeout(CONNECT_TIMEOUT * 2, builder.build()).await;
    driven.check()?;
    match built {
        Ok(Ok(session)) => Ok(session),
        Ok(Err(error)) => Err(Error::Session { node: node(), reason: with_way_out(error.to_string(), &plan.access) }),
        Err(_) => {
            let reason = format!("no answer to its first requests within {} s", CONNECT_TIMEOUT.as_secs() * 2);
            Err(Error::Session { node: node(), reason })
        }
    }
}

/// Adds what to do to the error message of the driver crate.
fn with_way_out(reason: String, access: &Access) -> String {
    let lower = reason.to_lowercase();
    let wants_password = lower.contains("authenti") || lower.contains("credentials");
    // TLS 1.3 reports it with this text; with earlier versions the node only closes the connection.
    let wants_certificate = lower.contains("certificaterequired");
    let closed = lower.contains("broken") || lower.contains("closed") || lower.contains("reset");
    let way_out = match (&access.login, &access.tls) {
        (None, _) if wants_password => "give --user and --password-file",
        (Some(_), _) if wants_password => "is the password right?",
        (_, Some(_)) if wants_certificate => "give --tls-cert and --tls-key",
        (_, None) if closed => "it may want TLS: give --tls-ca FILE",
        _ => return reason,
    };
    format!("{reason}; {way_out}")
}

/// The nodes that are driven, if not all are.
struct Driven {
    given: Option<Vec<SocketAddr>>,
    datacenter: Option<String>,
    /// Datacenters seen so far.
    seen: Mutex<BTreeSet<String>>,
}

impl Driven {
    /// Fails if the requested datacenter does not exist.
    fn check(&self) -> Result<(), Error> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.datacenter {
            Some(own) if !seen.is_empty() && !seen.contains(own) => {
                let known = seen.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let message = format!("the ring has no `{own}`; it has {known}");
                Err(Error::Argument { argument: "datacenter".to_string(), message })
            }
            _ => Ok(()),
        }
    }
}

impl HostFilter for Driven {
    fn accept(&self, peer: &Peer) -> bool {
        if let Some(datacenter) = &peer.datacenter {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(datacenter.clone());
        }
        let address = SocketAddr::new(peer.address.ip(), peer.address.port());
        self.given.as_ref().is_none_or(|given| given.contains(&address))
            && self.datacenter.as_ref().is_none_or(|own| peer.datacenter.as_ref() == Some(own))
    }
}

fn compression(compression: Compression) -> scylla::frame::Compression {
    match compression {
        Compression::Lz4 => scylla::frame::Compression::Lz4,
        Compression::Snappy => scylla::frame::Compression::Snappy,
    }
}

/// Runs the schema statements.
pub(super) async fn create_schema(session: &Session, plan: &Plan) -> Result<(), Error> {
    for statement in plan.workload.schema_statements() {
        match tokio::time::timeout(SCHEMA_TIMEOUT, session.query_unpaged(statement.as_str(), ())).await {
            Ok(Ok(_)) => {}
            // Another run has created the object meanwhile.
            Ok(Err(error)) if exists_already(&error) => {}
            Ok(Err(error)) => {
                let (statement, reason) = (statement.clone(), crate::outcome::message(&error));
                return Err(match is_of_node(&error) {
                    true => Error::Schema { statement, reason },
                    false => Error::SchemaUnanswered { statement, reason },
                });
            }
            Err(_) => return Err(no_answer(statement.clone(), SCHEMA_TIMEOUT)),
        }
    }
    Ok(())
}

fn no_answer(statement: String, within: Duration) -> Error {
    Error::SchemaUnanswered { statement, reason: format!("no answer within {} s", within.as_secs()) }
}

/// Whether the node has answered with this error.
fn is_of_node(error: &ExecutionError) -> bool {
    matches!(error, ExecutionError::LastAttemptError(RequestAttemptError::DbError(..)))
}

fn exists_already(error: &ExecutionError) -> bool {
    let ExecutionError::LastAttemptError(RequestAttemptError::DbError(kind, reason)) = error else { return false };
    match kind {
        DbError::AlreadyExists { .. } => true,
        // Indexes and types have no error code of their own.
        DbError::Invalid => reason.contains("already exists") || reason.contains("is a duplicate of existing index"),
        _ => false,
    }
}

/// Sets the keyspace of the connections to that of the workload.
pub(super) async fn enter(session: &Session, plan: &Plan) -> Result<(), Error> {
    if let Some(keyspace) = &plan.workload.keyspace {
        let statement = format!("USE \"{keyspace}\"");
        match tokio::time::timeout(CONNECT_TIMEOUT, session.use_keyspace(keyspace, true)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(Error::Schema { statement, reason: error.to_string() }),
            Err(_) => return Err(no_answer(statement, CONNECT_TIMEOUT)),
        }
    }
    Ok(())
}

/// Reads the current tables and nodes. If it fails, the driver only can't choose replicas.
pub(super) async fn refresh(session: &Session) {
    let _ = tokio::time::timeout(CONNECT_TIMEOUT, session.refresh_metadata()).await;
}

/// Prepares all operations on all nodes.
pub(crate) async fn prepare(session: &Session, plan: &Plan) -> Result<Vec<Statement>, Error> {
    let workload = &plan.workload;
    let cluster = session.get_cluster_state();
    let ring: Vec<i64> = cluster.replica_locator().ring().iter().map(|(token, _)| token.value()).collect();
    let each = workload.operations.iter().map(async |operation| {
        let failed = |reason: String| {
            let lower = reason.to_lowercase();
            let missing = lower.contains("does not exist") || lower.contains("unconfigured table");
            let way_out = match missing && !plan.create_schema {
                true => "\n  the run was told not to create the schema; let it, or create the table before",
                false => "",
            };
            Error::Prepare { operation: operation.name.clone(), reason, cql: operation.cql.clone(), way_out }
        };
        let prepare = tokio::time::timeout(CONNECT_TIMEOUT, session.prepare(operation.cql.as_str()));
        let mut prepared = match prepare.await {
            Ok(prepared) => prepared.map_err(|error| failed(plain_refusal(&error)))?,
            Err(_) => return Err(failed(format!("no answer within {} s", CONNECT_TIMEOUT.as_secs()))),
        };
        if let Some(consistency) = operation.consistency {
            prepared.set_consistency(consistency);
        }
        prepared.set_serial_consistency(operation.serial_consistency);
        if let Some(rows) = operation.page_size {
            prepared.set_page_size(i32::try_from(rows).unwrap_or(i32::MAX));
        }
        // The columns of a result are known from preparing; repeating them in each response would cost both sides. The
        // columns of a conditional statement depend on its outcome, so they are not omitted.
        prepared.set_use_cached_result_metadata(!operation.is_conditional());
        let bound = BoundOperation::new(workload, &operation.name, prepared.get_variable_col_specs().iter())?;
        let execution = Execution::of(operation, &prepared, &ring);
        Ok(Statement { prepared, bound, execution })
    });
    join_all(each).await.into_iter().collect()
}

fn plain_refusal(error: &scylla::errors::PrepareError) -> String {
    use scylla::errors::PrepareError;
    match error {
        PrepareError::AllAttemptsFailed { first_attempt: RequestAttemptError::DbError(_, reason) } => reason.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_addresses_or_names_with_or_without_port() {
        assert_eq!(resolve("127.0.0.1").unwrap(), ["127.0.0.1:9042".parse().unwrap()]);
        assert_eq!(resolve("127.0.0.1:19042").unwrap(), ["127.0.0.1:19042".parse().unwrap()]);
        assert_eq!(resolve("[::1]:9043").unwrap(), ["[::1]:9043".parse().unwrap()]);
        assert_eq!(resolve("127.0.0.1:port").unwrap_err(), "`port` is not a port");
    }

    #[test]
    fn a_node_that_does_not_answer_does_not_refuse() {
        let refused = RequestAttemptError::DbError(DbError::Unauthorized, "no".to_string());
        assert!(is_of_node(&ExecutionError::LastAttemptError(refused)));
        assert!(!is_of_node(&ExecutionError::RequestTimeout(SCHEMA_TIMEOUT)));
        let text = no_answer("CREATE TABLE t".to_string(), SCHEMA_TIMEOUT).to_string();
        assert!(text.starts_with("the node did not answer") && text.contains("within 30 s"), "{text}");
        assert!(!text.contains("refuse") && text.contains("system.log"), "{text}");
    }

    #[test]
    fn a_node_that_is_not_there_is_named_with_a_way_out() {
        // A port that was free a moment ago.
        let free = std::net::TcpListener::bind("127.0.20.1:0").unwrap().local_addr().unwrap();
        let error = reach(&[free.to_string(), "127.0.20.1:port".to_string()], None).unwrap_err().to_string();
        insta::assert_snapshot!(error.replace(&free.port().to_string(), "PORT"));
    }
}
