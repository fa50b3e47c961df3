//! The JVM's own account of itself: pauses, pools, tables and stalls, from the agent inside it.
//!
//! The agent connects out to a socket of ours on loopback and shows a token; nothing in the server listens. When the
//! connection ends, however it ends, the agent undoes all that it did.

use crate::names::ThreadNames;
use crate::{Event, Events};
use helenus_cassandra::agent::protocol::{self, Frame, Hello, Start};
use helenus_cassandra::agent::{Door, Visitor};
use helenus_recording::{FINGERPRINT, Recorder, SourceFacts};
use std::io::{self, BufReader, Read};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The sources inside the JVM.
pub const SOURCES: &[&str] =
    &["pauses", "pools", "tables", "stalls", "client_requests", "node_metrics", "definitions", "probes", "valves"];

/// What the agent is asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub node: String,
    pub interval: Duration,
    /// A thread that wakes later than this after its time is a stall.
    pub stall_bound: Duration,
}

/// Our end of the connection to the agent of one node.
#[derive(Debug)]
pub struct AgentLink {
    address: SocketAddr,
    agent_options: String,
    connection: Arc<Mutex<Option<TcpStream>>>,
    connected: Receiver<Result<Hello, String>>,
    reader: JoinHandle<()>,
    ended: Receiver<String>,
}

impl AgentLink {
    /// Listens on loopback for the agent of one node and takes its rows into the recording.
    pub fn listen(recorder: Recorder, wanted: Wanted, names: ThreadNames, events: Events) -> io::Result<AgentLink> {
        let door = Door::open()?;
        let (address, agent_options) = (door.address(), door.agent_options());
        let connection = Arc::new(Mutex::new(None));
        let (said_connected, connected) = channel();
        let (said_ended, ended) = channel();
        let reader =
            Reader { recorder, wanted, names, events, connection: Arc::clone(&connection), connected: said_connected };
        let reader = std::thread::Builder::new().name("agent-link".into()).spawn(move || {
            // Nobody may ask any more when the other side is gone.
            let _ = said_ended.send(reader.run(&door));
        })?;
        Ok(AgentLink { address, agent_options, connection, connected, reader, ended })
    }

    /// The options that make an agent connect here.
    pub fn agent_options(&self) -> &str {
        &self.agent_options
    }

    /// Waits until the agent has connected and says what it is.
    pub fn wait(&self, within: Duration) -> Result<Hello, String> {
        self.connected.recv_timeout(within).unwrap_or_else(|_| {
            Err(format!("the agent was loaded and did not connect to {} within {within:?}", self.address))
        })
    }

    /// Asks the agent to undo everything, and waits for its word. The error says what is not sure to be undone.
    pub fn detach(self, within: Duration) -> Result<(), String> {
        let stream = self.connection.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut stream) = stream else {
            // It never connected: wake the thread that waits for it.
            let _ = TcpStream::connect(self.address).map(|stream| stream.shutdown(Shutdown::Both));
            let _ = self.reader.join();
            return Ok(());
        };
        // The connection may have ended by itself, which is a detach as well.
        let _ = protocol::write_detach(&mut stream);
        let until = Instant::now() + within;
        match self.ended.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(_) => {
                let _ = self.reader.join();
                Ok(())
            }
            Err(_) => {
                let _ = stream.shutdown(Shutdown::Both);
                Err(format!(
                    "the agent did not say within {within:?} that it has undone everything; it does when it sees that the connection has ended"
                ))
            }
        }
    }
}

struct Reader {
    recorder: Recorder,
    wanted: Wanted,
    names: ThreadNames,
    events: Events,
    connection: Arc<Mutex<Option<TcpStream>>>,
    connected: Sender<Result<Hello, String>>,
}

impl Reader {
    /// Takes one agent from its hello to its end, and returns why it ended.
    fn run(self, door: &Door) -> String {
        let (mut from, hello) = match self.accept(door) {
            Ok(agent) => agent,
            Err(reason) => {
                let _ = self.connected.send(Err(reason.clone()));
                return reason;
            }
        };
        let _ = self.connected.send(Ok(hello));
        let ended = loop {
            match protocol::read_frame(&mut from) {
                Ok(Frame::Rows { table, count, bytes }) => {
                    if let Err(error) = self.recorder.append_encoded(table, count, &bytes) {
                        break format!("the agent sent {error}");
                    }
                }
                Ok(Frame::Log(line)) => self.say(Event::AgentLog { node: self.wanted.node.clone(), line }),
                Ok(Frame::ThreadNames(names)) => {
                    for (tid, name) in names {
                        self.names.set(tid, &name);
                    }
                }
                // Nothing was asked.
                Ok(Frame::Reply(_)) => {}
                Ok(Frame::Bye(reason)) => break reason,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break "its JVM has ended".to_string(),
                Err(error) => break error.to_string(),
            }
        };
        self.say(Event::AgentGone { node: self.wanted.node.clone(), reason: ended.clone() });
        ended
    }

    /// Waits for the one that knows the token; others are turned away.
    fn accept(&self, door: &Door) -> Result<(impl Read + use<>, Hello), String> {
        let turned_away = |line| self.say(Event::AgentLog { node: self.wanted.node.clone(), line });
        let Visitor { stream, hello } = door.wait(turned_away)?;
        if hello.schema != FINGERPRINT {
            return Err(format!(
                "the agent in the JVM is version {} and has another schema than this helenus {}; restart the node, or use the helenus that brought it",
                hello.agent,
                env!("CARGO_PKG_VERSION")
            ));
        }
        self.begin(&stream, &hello).map_err(|error| format!("the agent did not take its orders: {error}"))?;
        Ok((BufReader::with_capacity(64 << 10, stream), hello))
    }

    fn begin(&self, stream: &TcpStream, hello: &Hello) -> io::Result<()> {
        let mut to = stream.try_clone()?;
        let start = Start {
            epoch_offset_ns: self.recorder.clock().epoch_offset_ns(),
            node: &self.wanted.node,
            interval_ms: millis(self.wanted.interval),
            stall_bound_ms: millis(self.wanted.stall_bound),
            sources: SOURCES,
        };
        protocol::write_start(&mut to, &start)?;
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = Some(to);
        let facts = SOURCES.iter().map(|source| SourceFacts {
            name: (*source).to_string(),
            node: self.wanted.node.clone(),
            provider: hello.providers.get(*source).cloned().unwrap_or_else(|| "agent".into()),
            note: String::new(),
        });
        self.recorder
            .update_manifest(|manifest| {
                manifest.sources.extend(facts);
                if let Some(node) = manifest.nodes.iter_mut().find(|node| node.address == self.wanted.node) {
                    node.java = Some(hello.java.clone());
                    if hello.cassandra.is_some() {
                        node.cassandra.clone_from(&hello.cassandra);
                    }
                }
            })
            .map_err(io::Error::other)
    }

    fn say(&self, event: Event) {
        // The one who listened may have had enough; the recording has the facts.
        let _ = self.events.send(event);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
