//! The thread with a session of the driver crate. It creates the schema, prepares the statements, and follows changes
//! of the ring for the thin driver while the load runs.

use super::frame::ExecuteParameters;
use super::ring::{PartitionKey, Ring, Shared, TableName};
use crate::driver::request;
use crate::driver::session;
use crate::workload::BoundOperation;
use crate::{Error, Plan};
use scylla::client::session::Session;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Interval of checks for nodes that have joined, left or moved.
const REFRESH_EVERY: Duration = Duration::from_secs(1);

/// A statement, ready to be sent.
#[derive(Debug)]
pub(super) struct Statement {
    pub cql: String,
    pub terms: ExecuteParameters,
    pub bound: BoundOperation,
    pub partition_key: PartitionKey,
    /// The statement's table; None if unknown.
    pub table: Option<TableName>,
}

/// Data shared by all threads of the thin driver.
#[derive(Debug, Clone)]
pub(crate) struct Preparation {
    pub(super) statements: Arc<Vec<Statement>>,
    pub(super) ring: Shared,
}

/// The session thread, which ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct SessionThread {
    pub preparation: Preparation,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SessionThread {
    /// Connects, creates the schema if the plan says so, and prepares the statements.
    pub fn start(plan: &Arc<Plan>, points: &Arc<Vec<SocketAddr>>) -> Result<SessionThread, Error> {
        let (say_prepared, prepared) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let (plan, points) = (Arc::clone(plan), Arc::clone(points));
        let failed = |what| move |source| Error::Start { what, source };
        let thread = std::thread::Builder::new()
            .name("load-session".into())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = match runtime.map_err(failed("the runtime of the session thread")) {
                    Ok(runtime) => runtime,
                    Err(error) => return drop(say_prepared.send(Err(error))),
                };
                runtime.block_on(async {
                    let watcher = match prepare(&plan, &points).await {
                        Ok((preparation, watcher)) => {
                            let _ = say_prepared.send(Ok(preparation));
                            watcher
                        }
                        Err(error) => return drop(say_prepared.send(Err(error))),
                    };
                    tokio::select! {
                        () = watcher.run() => {}
                        _ = stopped => {}
                    }
                });
            })
            .map_err(failed("the session thread"))?;
        let preparation = prepared.recv().map_err(|_| Error::ThreadLost)??;
        Ok(SessionThread { preparation, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for SessionThread {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of that thread has been printed, and the load continued without it.
            let _ = thread.join();
        }
    }
}

struct RingWatcher {
    session: Session,
    tables: Vec<TableName>,
    ring: Shared,
}

async fn prepare(plan: &Plan, points: &[SocketAddr]) -> Result<(Preparation, RingWatcher), Error> {
    let session = session::open(plan, points).await?;
    if plan.create_schema {
        session::create_schema(&session, plan).await?;
        // Refreshes the metadata, so that the ring includes the keyspace.
        session::refresh(&session).await;
    }
    let prepared = session::prepare(&session, plan).await?;
    let default = plan.consistency.unwrap_or(plan.workload.consistency);
    let each = prepared.into_iter().zip(&plan.workload.operations).map(|(statement, operation)| {
        let request::Statement { prepared, bound, .. } = statement;
        let consistency = operation.consistency.unwrap_or(default) as u16;
        let values = prepared.get_variable_col_specs().iter().count() as u16;
        Statement {
            cql: operation.cql.clone(),
            terms: ExecuteParameters { consistency, serial_consistency: None, values },
            bound,
            partition_key: PartitionKey::of(&prepared),
            table: prepared
                .get_keyspace_name()
                .zip(prepared.get_table_name())
                .map(|(keyspace, table)| (keyspace.to_string(), table.to_string())),
        }
    });
    let statements: Vec<Statement> = each.collect();
    let mut tables: Vec<TableName> = statements.iter().filter_map(|statement| statement.table.clone()).collect();
    tables.sort_unstable();
    tables.dedup();
    let ring = Shared::default();
    ring.set(Ring::of(&session.get_cluster_state(), &tables, &Ring::default()));
    let preparation = Preparation { statements: Arc::new(statements), ring: ring.clone() };
    Ok((preparation, RingWatcher { session, tables, ring }))
}

impl RingWatcher {
    async fn run(self) {
        loop {
            tokio::time::sleep(REFRESH_EVERY).await;
            let before = self.ring.get();
            let now = Ring::of(&self.session.get_cluster_state(), &self.tables, &before);
            if now != *before {
                self.ring.set(now);
            }
        }
    }
}
