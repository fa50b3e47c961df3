//! Executors that replace Cassandra's own for the tasks of a stage.

use crate::valves::one_of;
use crate::{Declared, Error, Link};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The executor of a stage's tasks. Settings that are None have the agent's default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Executor {
    pub stage: String,
    /// `queue-per-thread` or `batched-drain`.
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<u32>,
    /// For `queue-per-thread`: whether idle workers take tasks from other queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stealing: Option<bool>,
    /// With `batched-drain`: how many tasks a worker takes at once, at the most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// If the lease is not renewed for this time, the stage gets its own executor back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// Whether to proceed even if this deoptimizes the whole JVM.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
}

impl Executor {
    /// Checks everything that is declared, to find mistakes before an agent is loaded.
    ///
    /// # Errors
    /// Fails with a sentence that names the error and the allowed values.
    pub fn check(&self) -> Result<(), String> {
        let declared = Declared::get();
        one_of("stage", &self.stage, &declared.executor_stages)?;
        one_of("executor", &self.kind, &declared.executors)?;
        for (key, number) in [
            ("workers", self.workers.map(u64::from)),
            ("batch", self.batch.map(u64::from)),
            ("lease_ms", self.lease_ms),
        ] {
            if let Some((number, range)) = number.zip(declared.executor.get(key)) {
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                range.check(number).map_err(|reason| format!("`{key}`: {reason}"))?;
            }
        }
        Ok(())
    }
}

/// The current state of an executor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    pub stage: String,
    pub kind: String,
    pub workers: i64,
    pub stealing: Option<bool>,
    pub batch: Option<i64>,
    pub lease_ms: i64,
    /// Number of workers that are running a task.
    pub inside: i64,
    /// Number of queued tasks.
    pub waiting: i64,
    /// Number of tasks that it has run.
    pub ran: i64,
}

impl Link {
    /// Replaces the executor of a stage. The replacement stays when this link is closed.
    pub fn set_executor(&mut self, executor: &Executor) -> Result<Running, Error> {
        self.ask("executor.set", json!(executor))
    }

    pub fn executors(&mut self) -> Result<Vec<Running>, Error> {
        self.ask("executor.list", json!({}))
    }

    /// Removes the executor of a stage, or all, once queued tasks have run. Returns the remaining ones.
    pub fn remove_executor(&mut self, stage: Option<&str>) -> Result<Vec<Running>, Error> {
        let which: Value = stage.map_or_else(|| json!({"all": true}), |stage| json!({"stage": stage}));
        self.ask("executor.remove", which)
    }
}
