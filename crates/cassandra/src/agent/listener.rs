//! Waits on loopback for the one agent that knows the token.

use super::protocol::{self, Hello};
use crate::network::{self, NetworkError};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Time in which a connection has to show the token, whatever the size of the pieces it sends.
const HELLO_WITHIN: Duration = Duration::from_secs(5);
/// Timeout for the agent to read what is written to it.
const TAKES_WITHIN: Duration = Duration::from_secs(10);
/// The most connections without a token that wait at the same time. If more come, the oldest is closed.
const PENDING_AT_MOST: usize = 64;
/// The most refused connections that are reported while waiting.
const REFUSALS_REPORTED: usize = 8;
const POLL_EVERY: Duration = Duration::from_millis(5);

/// A socket that one agent is to connect to.
#[derive(Debug)]
pub struct AgentListener {
    socket: TcpListener,
    address: SocketAddr,
    token: String,
}

/// An agent that has connected and has shown the token.
#[derive(Debug)]
pub struct ConnectedAgent {
    pub stream: TcpStream,
    pub hello: Hello,
}

impl AgentListener {
    /// Listens on the loopback interface that process `pid` has: its network namespace may differ from ours.
    ///
    /// # Errors When its network can't be entered, or has no loopback.
    pub fn listen_for(pid: i32) -> Result<AgentListener, NetworkError> {
        let apart = network::is_apart(pid)?;
        let socket = network::within(pid, || {
            let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            // A new namespace has its loopback interface down: a socket can be bound there, but not reached.
            if apart {
                let _reached = TcpStream::connect(socket.local_addr()?)?;
                socket.accept()?;
            }
            Ok(socket)
        })?;
        let opened = socket.and_then(AgentListener::new);
        opened.map_err(|source| match apart {
            true => NetworkError::NoLoopback { pid, source },
            false => NetworkError::System { action: "listen on loopback", source },
        })
    }

    fn new(socket: TcpListener) -> io::Result<AgentListener> {
        socket.set_nonblocking(true)?;
        Ok(AgentListener { address: socket.local_addr()?, socket, token: token()? })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The options with which an agent connects to this listener.
    pub fn agent_options(&self) -> String {
        format!("connect={},token={}", self.address, self.token)
    }

    /// Waits for the agent that knows the token, until `is_cancelled` returns true. Other connections are closed; they neither
    /// end the wait nor delay it. `on_refused` gets the reasons for the first of them.
    ///
    /// # Errors
    /// When the wait was cancelled.
    pub fn wait(
        &self,
        is_cancelled: impl Fn() -> bool,
        mut on_refused: impl FnMut(&io::Error),
    ) -> Result<ConnectedAgent, String> {
        let mut pending: VecDeque<Unauthenticated> = VecDeque::new();
        let mut reported = 0;
        let mut refuse = |error: &io::Error| {
            reported += 1;
            if reported <= REFUSALS_REPORTED {
                on_refused(error);
            }
        };
        while !is_cancelled() {
            loop {
                match self.socket.accept().and_then(|(stream, _)| Unauthenticated::new(stream)) {
                    Ok(connection) => pending.push_back(connection),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // The connection has ended, or the process is temporarily out of descriptors.
                    Err(error) => {
                        refuse(&error);
                        break;
                    }
                }
                if pending.len() > PENDING_AT_MOST {
                    pending.pop_front();
                }
            }
            for mut connection in std::mem::take(&mut pending) {
                match connection.read_hello(&self.token) {
                    Ok(hello) => return connection.authenticate(hello),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        if connection.since.elapsed() < HELLO_WITHIN {
                            pending.push_back(connection);
                        } else {
                            refuse(&io::Error::new(io::ErrorKind::TimedOut, "it did not show its token in time"));
                        }
                    }
                    Err(error) => refuse(&error),
                }
            }
            std::thread::sleep(POLL_EVERY);
        }
        Err("it was no longer waited for".into())
    }

    /// Waits for `within` at most.
    ///
    /// # Errors
    /// When no agent has connected by then, with the likely reason.
    pub fn wait_for(&self, within: Duration) -> Result<ConnectedAgent, String> {
        let mut last = None;
        let until = Instant::now() + within;
        self.wait(|| Instant::now() >= until, |error| last = Some(error.to_string())).map_err(|_| {
            let why = match last {
                Some(error) => format!("a connection there was turned away: {error}"),
                None => "the server's standard error may say why".into(),
            };
            format!("the agent was loaded and did not connect to {} within {within:?}; {why}", self.address)
        })
    }
}

/// A connection that has not shown the token yet.
#[derive(Debug)]
struct Unauthenticated {
    stream: TcpStream,
    since: Instant,
    /// The bytes received so far.
    received: Vec<u8>,
}

impl Unauthenticated {
    fn new(stream: TcpStream) -> io::Result<Unauthenticated> {
        stream.set_nonblocking(true)?;
        Ok(Unauthenticated { stream, since: Instant::now(), received: Vec::new() })
    }

    /// The complete hello; [`io::ErrorKind::WouldBlock`] until then.
    fn read_hello(&mut self, token: &str) -> io::Result<Hello> {
        let hello = protocol::read_hello(&mut Replay { connection: self, at: 0 }, token);
        hello.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "it hung up without a word"),
            _ => error,
        })
    }

    fn authenticate(self, hello: Hello) -> Result<ConnectedAgent, String> {
        let ready = self.stream.set_nonblocking(false).and_then(|()| self.stream.set_write_timeout(Some(TAKES_WITHIN)));
        ready.map(|()| ConnectedAgent { stream: self.stream, hello }).map_err(|error| error.to_string())
    }
}

/// Replays the bytes that a connection has sent so far, then reads from its socket. Never reads more than requested:
/// bytes after the hello belong to the next reader.
struct Replay<'a> {
    connection: &'a mut Unauthenticated,
    at: usize,
}

impl Read for Replay<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Unauthenticated { stream, received, .. } = &mut *self.connection;
        if self.at == received.len() {
            let length = stream.read(into)?;
            received.extend_from_slice(&into[..length]);
            self.at += length;
            return Ok(length);
        }
        let length = (&received[self.at..]).read(into)?;
        self.at += length;
        Ok(length)
    }
}

/// 128 random bits in hexadecimal.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_needs::{need, program, root};
    use std::io::Write;
    use std::process::{Child, Command, Stdio};

    const LONG: Duration = Duration::from_secs(60);

    fn listener() -> AgentListener {
        AgentListener::listen_for(std::process::id() as i32).unwrap()
    }

    fn connect(listener: &AgentListener) -> TcpStream {
        TcpStream::connect(listener.address()).unwrap()
    }

    fn hello(token: &str) -> Vec<u8> {
        let json = br#"{"pid":7,"schema":"ab","agent":"0.1.0","java":"17"}"#;
        let mut bytes = b"HLNS\x01\0\0\0".to_vec();
        bytes.extend((token.len() as u16).to_le_bytes());
        bytes.extend(token.as_bytes());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(json);
        bytes
    }

    fn connect_with(listener: &AgentListener, token: &str) -> TcpStream {
        let mut stream = connect(listener);
        stream.write_all(&hello(token)).unwrap();
        stream
    }

    #[test]
    fn only_a_connection_with_the_token_is_accepted() {
        let listener = listener();
        let _others = (connect_with(&listener, "0123"), connect_with(&listener, ""));
        let client = connect_with(&listener, &listener.token);
        let mut refused = 0;
        let agent = listener.wait(|| false, |_| refused += 1).unwrap();
        assert_eq!(agent.stream.peer_addr().unwrap(), client.local_addr().unwrap());
        assert_eq!((agent.hello.pid, refused), (7, 2));
        let _again = connect_with(&listener, &listener.token);
        assert!(listener.wait_for(LONG).is_ok());
        let timed_out = listener.wait_for(Duration::from_millis(1)).unwrap_err();
        assert!(timed_out.contains("did not connect") && timed_out.contains("standard error"), "{timed_out}");
        let _other = connect_with(&listener, "0123");
        let refused = listener.wait_for(Duration::from_millis(50)).unwrap_err();
        assert!(refused.ends_with("its token is wrong"), "{refused}");
    }

    #[test]
    fn connections_without_a_token_neither_end_the_wait_nor_hold_it_up() {
        let listener = listener();
        drop(connect(&listener));
        // More silent connections than are kept waiting, and one that begins like an agent and then stops.
        let silent: Vec<TcpStream> = (0..PENDING_AT_MOST + 9).map(|_| connect(&listener)).collect();
        let mut begun = connect(&listener);
        begun.write_all(&hello(&listener.token)[..20]).unwrap();
        let client = connect_with(&listener, &listener.token);
        let waited = Instant::now();
        let agent = listener.wait_for(LONG).unwrap();
        assert_eq!(agent.stream.peer_addr().unwrap(), client.local_addr().unwrap());
        assert!(waited.elapsed() < LONG / 2, "none of them was waited for");
        drop((silent, begun));
    }

    #[test]
    fn a_hello_in_pieces_is_read_and_what_follows_it_is_left() {
        let listener = listener();
        let mut agent = connect(&listener);
        let mut bytes = hello(&listener.token);
        bytes.extend(b"frames");
        let sending = std::thread::spawn(move || {
            for piece in bytes.chunks(7) {
                agent.write_all(piece).unwrap();
                std::thread::sleep(2 * POLL_EVERY);
            }
        });
        let mut agent = listener.wait_for(LONG).unwrap();
        sending.join().unwrap();
        let mut rest = String::new();
        agent.stream.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "frames");
    }

    #[test]
    fn the_wait_can_be_given_up() {
        let polled = std::cell::Cell::new(0);
        let is_cancelled = || {
            polled.set(polled.get() + 1);
            polled.get() > 3
        };
        assert!(listener().wait(is_cancelled, |_| {}).is_err());
    }

    /// A process in a network namespace of its own.
    fn apart(script: &str) -> Child {
        let mut child = Command::new("unshare")
            .args(["--net", "sh", "-c", &format!("{script} && echo ready && exec sleep 60")])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
        child
    }

    #[test]
    fn an_agent_in_another_network_namespace_is_met_there() {
        need!(root(), program("unshare"), program("ip"));
        let mut child = apart("ip link set lo up");
        let pid = child.id() as i32;
        let listener = AgentListener::listen_for(pid).unwrap();
        let refused = TcpStream::connect(listener.address()).unwrap_err();
        let client = network::within(pid, || connect_with(&listener, &listener.token)).unwrap();
        let agent = listener.wait_for(LONG).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused, "it is not in our network");
        assert_eq!(agent.stream.peer_addr().unwrap(), client.local_addr().unwrap());
    }

    #[test]
    fn a_network_without_loopback_is_named_at_once() {
        need!(root(), program("unshare"));
        let mut child = apart("true");
        let error = AgentListener::listen_for(child.id() as i32).unwrap_err().to_string();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(error.contains("ip link set lo up"), "{error}");
    }
}
