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
    pub sources: &'static [&'static str],
    /// How all of them are captured; None to ask the agent.
    pub provider: Option<&'static str>,
}

/// Our end of the connection to the agent of one node.
#[derive(Debug)]
pub struct AgentLink {
    address: SocketAddr,
    agent_options: String,
    wanted: Wanted,
    connection: Arc<Mutex<Option<TcpStream>>>,
    connected: Receiver<Result<Hello, String>>,
    /// Where rows go once the agent has begun anew.
    next: Arc<Mutex<Option<Recorder>>>,
    turned: Receiver<()>,
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
        let (said_turned, turned) = channel();
        let (said_ended, ended) = channel();
        let next = Arc::new(Mutex::new(None));
        let reader = Reader {
            recorder,
            wanted: wanted.clone(),
            names,
            events,
            connection: Arc::clone(&connection),
            connected: said_connected,
            next: Arc::clone(&next),
            turned: said_turned,
        };
        let reader = std::thread::Builder::new().name("agent-link".into()).spawn(move || {
            // Nobody may ask any more when the other side is gone.
            let _ = said_ended.send(reader.run(&door));
        })?;
        Ok(AgentLink { address, agent_options, wanted, connection, connected, next, turned, reader, ended })
    }

    /// The options that make an agent connect here.
    pub fn agent_options(&self) -> &str {
        &self.agent_options
    }

    /// Waits until the agent has connected and says what it is.
    pub fn wait(&self, within: Duration) -> Result<Hello, String> {
        self.connected.recv_timeout(within).unwrap_or_else(|_| {
            Err(format!(
                "the agent was loaded and did not connect to {} within {within:?}; the server's standard error may say why",
                self.address
            ))
        })
    }

    /// Has the agent begin anew, for another recording, and waits until it has: nothing goes into the one before from then on.
    pub fn turn_to(&self, recorder: &Recorder, within: Duration) -> Result<(), String> {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(recorder.clone());
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = connection.as_mut().ok_or("it is not connected")?;
        write_start(stream, &self.wanted, recorder).map_err(|error| format!("its connection has ended: {error}"))?;
        self.turned.recv_timeout(within).map_err(|_| format!("it did not begin anew within {within:?}"))
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
    next: Arc<Mutex<Option<Recorder>>>,
    turned: Sender<()>,
}

impl Reader {
    /// Takes one agent from its hello to its end, and returns why it ended.
    fn run(mut self, door: &Door) -> String {
        let (mut from, hello) = match self.accept(door) {
            Ok(agent) => agent,
            Err(reason) => {
                let _ = self.connected.send(Err(reason.clone()));
                return reason;
            }
        };
        let _ = self.connected.send(Ok(hello.clone()));
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
                Ok(Frame::Begun) => {
                    if let Err(error) = self.turn(&hello) {
                        break error.to_string();
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
        write_start(&mut to, &self.wanted, &self.recorder)?;
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = Some(to);
        self.note(hello)
    }

    /// From here on rows are of the next recording.
    fn turn(&mut self, hello: &Hello) -> io::Result<()> {
        if let Some(next) = self.next.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.recorder = next;
        }
        self.note(hello)?;
        // The one who waits may have given up.
        let _ = self.turned.send(());
        Ok(())
    }

    /// What the recording says of its sources and the node.
    fn note(&self, hello: &Hello) -> io::Result<()> {
        let facts = self.wanted.sources.iter().map(|source| SourceFacts {
            name: (*source).to_string(),
            node: self.wanted.node.clone(),
            provider: match self.wanted.provider {
                Some(provider) => provider.to_string(),
                None => hello.providers.get(*source).cloned().unwrap_or_else(|| "agent".into()),
            },
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

fn write_start(to: &mut TcpStream, wanted: &Wanted, recorder: &Recorder) -> io::Result<()> {
    let start = Start {
        epoch_offset_ns: recorder.clock().epoch_offset_ns(),
        node: &wanted.node,
        interval_ms: millis(wanted.interval),
        stall_bound_ms: millis(wanted.stall_bound),
        sources: wanted.sources,
    };
    protocol::write_start(to, &start)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
