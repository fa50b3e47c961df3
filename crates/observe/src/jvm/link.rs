//! Our end of the connection to an agent.
//!
//! The agent connects out to a socket of ours on loopback and shows a token; nothing in the server listens. When the
//! connection ends, however it ends, the agent undoes all that it did.

use crate::names::ThreadNames;
use crate::source::say;
use crate::wire::{self, Tapped};
use crate::{Event, Events};
use helenus_cassandra::agent::protocol::{self, Frame, Hello, Start};
use helenus_cassandra::agent::{AgentListener, ConnectedAgent};
use helenus_cassandra::network::NetworkError;
use helenus_recording::{FINGERPRINT, Recorder, SourceFacts};
use std::io::{self, BufReader, Read};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Lines of the agent's log that are shown. A healthy agent writes a handful in hours.
const LOG_LINES_SHOWN: usize = 1000;

/// The request to the agent: sources and settings.
#[derive(Debug, Clone)]
pub struct StartRequest {
    pub node: String,
    pub interval: Duration,
    /// A thread that wakes later than this after its time is a stall.
    pub stall_bound: Duration,
    pub sources: &'static [&'static str],
    /// How all of them are captured; None to ask the agent.
    pub provider: Option<&'static str>,
    /// The node's CQL address, if its requests are recorded, too.
    pub requests_at: Option<SocketAddr>,
}

/// How far it is with the connection.
#[derive(Debug, Default)]
enum Connection {
    #[default]
    Awaited,
    Open(TcpStream),
    /// No agent is accepted any more.
    Closed,
}

/// Our end of the connection to the agent of one node.
#[derive(Debug)]
pub struct AgentLink {
    address: SocketAddr,
    agent_options: String,
    wanted: StartRequest,
    connection: Arc<Mutex<Connection>>,
    connected: Receiver<Result<Hello, String>>,
    /// The recorder for rows after the agent has restarted its sources.
    next: Arc<Mutex<Option<Recorder>>>,
    restarted: Receiver<()>,
    reader: JoinHandle<()>,
    ended: Receiver<String>,
}

impl AgentLink {
    /// Listens on loopback for the agent that runs in process `pid`, and takes its rows into the recording.
    ///
    /// # Errors
    /// When no agent in that process could get to us.
    pub fn listen(
        pid: u32,
        recorder: Recorder,
        wanted: StartRequest,
        names: ThreadNames,
        events: Events,
    ) -> Result<AgentLink, NetworkError> {
        let listener = AgentListener::listen_for(pid.cast_signed())?;
        let (address, agent_options) = (listener.address(), listener.agent_options());
        let connection = Arc::default();
        let (say_connected, connected) = channel();
        let (say_restarted, restarted) = channel();
        let (say_ended, ended) = channel();
        let next = Arc::new(Mutex::new(None));
        let reader = AgentReader {
            recorder,
            wanted: wanted.clone(),
            names,
            events,
            connection: Arc::clone(&connection),
            connected: say_connected,
            next: Arc::clone(&next),
            restarted: say_restarted,
        };
        let reader = std::thread::Builder::new().name("agent-link".into()).spawn(move || {
            // The receiver may be gone.
            let _ = say_ended.send(reader.run(&listener));
        });
        let reader = reader
            .map_err(|source| NetworkError::System { action: "start the thread that reads the agent", source })?;
        Ok(AgentLink { address, agent_options, wanted, connection, connected, next, restarted, reader, ended })
    }

    /// The options with which an agent connects to this link.
    pub fn agent_options(&self) -> &str {
        &self.agent_options
    }

    /// Waits for the agent to connect, and returns its hello.
    pub fn wait(&self, within: Duration) -> Result<Hello, String> {
        self.connected.recv_timeout(within).unwrap_or_else(|_| {
            Err(format!(
                "the agent was loaded and did not connect to {} within {within:?}; the server's standard error may say why",
                self.address
            ))
        })
    }

    /// Has the agent start again for another recording, and waits until it has. After that the old recording gets no rows.
    pub fn continue_in(&self, recorder: &Recorder, within: Duration) -> Result<(), String> {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(recorder.clone());
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let Connection::Open(stream) = &mut *connection else { return Err("it is not connected".into()) };
        write_start(stream, &self.wanted, recorder).map_err(|error| format!("its connection has ended: {error}"))?;
        self.restarted.recv_timeout(within).map_err(|_| format!("it did not begin anew within {within:?}"))
    }

    /// Asks the agent to undo everything, and waits for its confirmation. The error names the changes that may remain.
    pub fn detach(self, within: Duration) -> Result<(), String> {
        let closed =
            std::mem::replace(&mut *self.connection.lock().unwrap_or_else(PoisonError::into_inner), Connection::Closed);
        // An agent that never connected has changed nothing. The waiting thread sees the closed listener.
        let Connection::Open(mut stream) = closed else { return Ok(()) };
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

struct AgentReader {
    recorder: Recorder,
    wanted: StartRequest,
    names: ThreadNames,
    events: Events,
    connection: Arc<Mutex<Connection>>,
    connected: Sender<Result<Hello, String>>,
    next: Arc<Mutex<Option<Recorder>>>,
    restarted: Sender<()>,
}

impl AgentReader {
    /// Serves one agent from its hello to its end. Returns why it ended.
    fn run(mut self, listener: &AgentListener) -> String {
        let (mut from, hello) = match self.accept(listener) {
            Ok(agent) => agent,
            Err(reason) => {
                let _ = self.connected.send(Err(reason.clone()));
                return reason;
            }
        };
        let _ = self.connected.send(Ok(hello.clone()));
        let mut tapped = self
            .wanted
            .requests_at
            .map(|address| Tapped::new(self.recorder.clone(), self.wanted.node.clone(), address));
        let mut lines = 0;
        let ended = loop {
            match protocol::read_frame(&mut from) {
                Ok(Frame::Rows { table, count, bytes }) => {
                    if let Err(error) = self.recorder.append_encoded(table, count, &bytes) {
                        break format!("the agent sent {error}");
                    }
                }
                Ok(Frame::Log(line)) => {
                    lines += 1;
                    if lines <= LOG_LINES_SHOWN {
                        self.say(Event::AgentLog { node: self.wanted.node.clone(), line });
                    }
                }
                Ok(Frame::ThreadNames(names)) => {
                    for (tid, name) in names {
                        self.names.set(tid, &name);
                    }
                }
                Ok(Frame::Begun) => {
                    if let Err(error) = self.use_next_recording(&hello) {
                        break error.to_string();
                    }
                    if let Some(tapped) = &mut tapped {
                        tapped.continue_in(&self.recorder);
                    }
                }
                Ok(Frame::Packets(bytes)) => {
                    // Packets are sent only if there is a reader for them.
                    if let Some(Err(error)) = tapped.as_mut().map(|tapped| tapped.take(bytes)) {
                        break format!("the agent sent {error}");
                    }
                }
                // No command was sent.
                Ok(Frame::Reply(_)) => {}
                Ok(Frame::Bye(reason)) => break reason,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break "its JVM has ended".to_string(),
                Err(error) => break error.to_string(),
            }
            // The agent reports every second, even if nothing else happens.
            if let Some(tapped) = &mut tapped {
                tapped.write(false);
            }
        };
        if let Some(tapped) = &mut tapped {
            tapped.write(true);
        }
        self.say(Event::AgentGone { node: self.wanted.node.clone(), reason: ended.clone() });
        ended
    }

    /// Waits for the one that knows the token; others are turned away.
    fn accept(&self, listener: &AgentListener) -> Result<(impl Read + use<>, Hello), String> {
        let on_refused = |error: &io::Error| {
            let line = format!("turned a connection away: {error}");
            self.say(Event::AgentLog { node: self.wanted.node.clone(), line });
        };
        let closed = || matches!(*self.connection.lock().unwrap_or_else(PoisonError::into_inner), Connection::Closed);
        let ConnectedAgent { stream, hello } = listener.wait(closed, on_refused)?;
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
        {
            let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*connection, Connection::Closed) {
                return Err(io::Error::other("it came too late"));
            }
            *connection = Connection::Open(to);
        }
        self.note(hello)
    }

    /// From here on rows go into the next recording.
    fn use_next_recording(&mut self, hello: &Hello) -> io::Result<()> {
        if let Some(next) = self.next.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.recorder = next;
        }
        self.note(hello)?;
        // The waiting caller may have given up.
        let _ = self.restarted.send(());
        Ok(())
    }

    /// Writes facts about the sources and the node into the recording.
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
        let requests = self.wanted.requests_at.map(|_| wire::facts_of_the_jvm(&self.wanted.node));
        let facts = facts.chain(requests);
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
        say(&self.events, event);
    }
}

fn write_start(to: &mut TcpStream, wanted: &StartRequest, recorder: &Recorder) -> io::Result<()> {
    let requests = wanted.requests_at.map(|_| "requests");
    let sources: Vec<&str> = wanted.sources.iter().copied().chain(requests).collect();
    let start = Start {
        epoch_offset_ns: recorder.clock().epoch_offset_ns(),
        node: &wanted.node,
        interval_ms: millis(wanted.interval),
        stall_bound_ms: millis(wanted.stall_bound),
        sources: &sources,
        profiler_files: crate::stacks::profiler_files(),
    };
    protocol::write_start(to, &start)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_recording::Manifest;
    use std::io::Write;

    const LONG: Duration = Duration::from_secs(60);

    fn listen(folder: &tempfile::TempDir) -> (AgentLink, Recorder, Receiver<Event>) {
        let recorder = Recorder::create(&folder.path().join("recording"), Manifest::new("test", "test")).unwrap();
        let wanted = StartRequest {
            node: "127.0.86.3".into(),
            interval: Duration::from_secs(1),
            stall_bound: Duration::from_millis(10),
            sources: crate::jvm::SOURCES,
            provider: None,
            requests_at: None,
        };
        let (events, received) = channel();
        let link = AgentLink::listen(std::process::id(), recorder.clone(), wanted, ThreadNames::default(), events);
        (link.unwrap(), recorder, received)
    }

    /// Connects as the agent does, with the token.
    fn agent(link: &AgentLink) -> TcpStream {
        let token = link.agent_options().split_once("token=").unwrap().1;
        let json = format!(r#"{{"pid":7,"schema":"{FINGERPRINT}","agent":"0.1.0","java":"17"}}"#);
        let mut bytes = b"HLNS\x01\0\0\0".to_vec();
        bytes.extend((token.len() as u16).to_le_bytes());
        bytes.extend(token.as_bytes());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(json.as_bytes());
        let mut stream = TcpStream::connect(link.address).unwrap();
        stream.write_all(&bytes).unwrap();
        stream
    }

    #[test]
    fn strangers_at_the_port_change_nothing_for_the_agent() {
        let folder = tempfile::tempdir().unwrap();
        let (link, recorder, _said) = listen(&folder);
        drop(TcpStream::connect(link.address).unwrap());
        let silent = TcpStream::connect(link.address).unwrap();
        let _agent = agent(&link);
        assert_eq!(link.wait(LONG).unwrap().pid, 7);
        drop(silent);
        // This agent never confirms that it has detached.
        assert!(link.detach(Duration::from_millis(10)).is_err());
        recorder.close().unwrap();
    }

    #[test]
    fn without_an_agent_it_ends_while_somebody_is_stuck_at_the_port() {
        let folder = tempfile::tempdir().unwrap();
        let (link, recorder, _said) = listen(&folder);
        let (address, mut stuck) = (link.address, TcpStream::connect(link.address).unwrap());
        stuck.write_all(b"HL").unwrap();
        assert!(link.wait(Duration::from_millis(20)).is_err());
        let (ended, ends) = channel();
        let ending = std::thread::spawn(move || {
            link.detach(LONG).unwrap();
            ended.send(()).unwrap();
        });
        ends.recv_timeout(LONG).unwrap();
        ending.join().unwrap();
        let until = Instant::now() + LONG;
        while TcpStream::connect(address).is_ok() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
        recorder.close().unwrap();
    }

    #[test]
    fn an_agent_that_talks_without_end_is_not_repeated_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let (link, recorder, received) = listen(&folder);
        let mut talking = agent(&link);
        link.wait(LONG).unwrap();
        for _ in 0..2 * LOG_LINES_SHOWN {
            talking.write_all(&[3, 0, 0, 0, 2, b'h', b'o']).unwrap();
        }
        talking.write_all(&[4, 0, 0, 0, 4, b'b', b'y', b'e']).unwrap();
        assert_eq!(link.detach(LONG), Ok(()));
        let lines = received.try_iter().filter(|event| matches!(event, Event::AgentLog { .. })).count();
        assert_eq!(lines, LOG_LINES_SHOWN);
        recorder.close().unwrap();
    }
}
