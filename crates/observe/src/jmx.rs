//! Runs the agent outside of the node's JVM: a second JVM on this machine reads the node's MBeans over JMX, and reports
//! them as an agent does. It is used for nodes on other machines, and for nodes whose JVM must not be changed.
//!
//! Each figure is a call over the network, so a node with many tables is read less often than once a second. Data that
//! is only available inside the JVM is missing: safepoints, single SSTables, table definitions.

use crate::jvm::{AgentLink, StartRequest};
use crate::source::STALL_BOUND;
use crate::{Events, ThreadNames};
use helenus_cassandra::apart;
use helenus_recording::{NodeFacts, Recorder};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The sources that MBeans provide.
const SOURCES: &[&str] = &["pauses", "pools", "tables", "client_requests", "node_metrics"];
/// How long it may take from its start to its hello, and from the request to end until its end.
const WITHIN: Duration = Duration::from_secs(20);
const POLL_EVERY: Duration = Duration::from_millis(50);

/// Address and login of a node's JMX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JmxEndpoint {
    /// `HOST:PORT`, parsed as nodetool does.
    pub address: String,
    /// User and password, if JMX requires them.
    pub login: Option<(String, String)>,
}

/// Why a node is not read over JMX.
#[derive(Debug, thiserror::Error)]
pub enum JmxError {
    #[error("cannot start {program}: {source}; JMX is read by a JVM: install Java 11 or later")]
    Spawn { program: String, source: std::io::Error },
    #[error("cannot prepare the JVM that reads JMX: {0}")]
    Prepare(std::io::Error),
    #[error(
        "JMX at {address} cannot be read: {reason}. Its port is JMX_PORT in cassandra-env.sh (7199), where LOCAL_JMX=no opens \
         it to other machines"
    )]
    Refused { address: String, reason: String },
    #[error(transparent)]
    Recording(#[from] helenus_recording::Error),
}

/// A JVM that reads a node over JMX.
#[derive(Debug)]
pub struct Jmx {
    link: AgentLink,
    child: Child,
    endpoint: JmxEndpoint,
    node: String,
    _jar: tempfile::NamedTempFile,
}

impl Jmx {
    /// Starts the JVM, and waits until it reads the node.
    ///
    /// # Errors
    /// If there is no Java, and when the node can't be reached or refuses.
    pub fn open(
        recorder: &Recorder,
        node: &str,
        endpoint: JmxEndpoint,
        java: &Path,
        agent: &[u8],
        events: &Events,
    ) -> Result<Jmx, JmxError> {
        let mut jar =
            tempfile::Builder::new().prefix("helenus-agent-").suffix(".jar").tempfile().map_err(JmxError::Prepare)?;
        jar.write_all(agent).map_err(JmxError::Prepare)?;
        let wanted = StartRequest {
            node: node.to_string(),
            interval: Duration::from_secs(1),
            stall_bound: STALL_BOUND,
            sources: SOURCES,
            provider: Some("jmx"),
            requests_at: None,
        };
        // The JVM is a child of ours, and in our network.
        let own = std::process::id();
        let link = AgentLink::listen(own, recorder.clone(), wanted, ThreadNames::default(), events.clone())
            .map_err(|error| JmxError::Prepare(std::io::Error::other(error)))?;
        let mut command = Command::new(java);
        command
            .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"])
            .arg(jar.path())
            .arg("io.helenus.agent.remote.RemoteNode")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let program = java.display().to_string();
        let mut child = match apart(&mut command).spawn() {
            Ok(child) => child,
            Err(source) => {
                // No agent has connected, so there is nothing to undo.
                let _ = link.detach(WITHIN);
                return Err(JmxError::Spawn { program, source });
            }
        };
        let (user, password) = endpoint.login.clone().unwrap_or_default();
        let options = format!("{}\n{}\n{user}\n{password}\n", endpoint.address, link.agent_options());
        if let Some(mut stdin) = child.stdin.take() {
            // If the JVM ends at once, its standard error says why.
            let _ = stdin.write_all(options.as_bytes());
        }
        let mut jmx = Jmx { link, child, endpoint, node: node.to_string(), _jar: jar };
        match jmx.wait() {
            Ok(()) => {
                jmx.name_node(recorder)?;
                Ok(jmx)
            }
            Err(reason) => {
                let address = jmx.endpoint.address.clone();
                jmx.stop();
                Err(JmxError::Refused { address, reason })
            }
        }
    }

    /// Waits until it has connected, or has ended.
    fn wait(&mut self) -> Result<(), String> {
        let until = Instant::now() + WITHIN;
        loop {
            match self.link.wait(POLL_EVERY) {
                Ok(_) => return Ok(()),
                Err(why) if Instant::now() >= until => return Err(why),
                Err(_) => {}
            }
            if let Ok(Some(_)) = self.child.try_wait() {
                let mut output = String::new();
                if let Some(stderr) = &mut self.child.stderr {
                    // If reading fails, the part read so far is used.
                    let _ = stderr.read_to_string(&mut output);
                }
                let last = output.lines().rfind(|line| !line.trim().is_empty());
                return Err(last.unwrap_or("its JVM ended without a word").to_string());
            }
        }
    }

    fn name_node(&self, recorder: &Recorder) -> Result<(), helenus_recording::Error> {
        recorder.update_manifest(|manifest| {
            if !manifest.nodes.iter().any(|known| known.address == self.node) {
                manifest.nodes.push(NodeFacts { address: self.node.clone(), ..NodeFacts::default() });
            }
        })
    }

    /// Continues in another recording; after that no rows go into the previous one.
    ///
    /// # Errors
    /// Fails if the connection has ended, for example because the node has ended.
    pub fn continue_in(&self, recorder: &Recorder) -> Result<(), JmxError> {
        self.name_node(recorder)?;
        let refused = |reason| JmxError::Refused { address: self.endpoint.address.clone(), reason };
        self.link.continue_in(recorder, WITHIN).map_err(refused)
    }

    /// Ends the second JVM.
    pub fn stop(mut self) {
        // The child ends by itself after the detach, or when its connection ends.
        let _ = self.link.detach(WITHIN);
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(POLL_EVERY);
        }
        // It is our own child, and has not been waited for yet.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
