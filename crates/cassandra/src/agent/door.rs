//! Waits on loopback for the one agent that knows the token.

use super::protocol::{self, Hello};
use crate::network::{self, NetworkError};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Time that a connection has to show the token, in however small pieces.
const HELLO_WITHIN: Duration = Duration::from_secs(5);
/// Time that the agent has to take what is written to it.
const TAKES_WITHIN: Duration = Duration::from_secs(10);
/// Connections without a token that wait at once. The oldest is closed when more come.
const STRANGERS_AT_MOST: usize = 64;
/// Strangers of one wait that are reported.
const STRANGERS_TOLD: usize = 8;
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A socket that one agent is to connect to.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
}

/// The agent that came.
#[derive(Debug)]
pub struct Visitor {
    pub stream: TcpStream,
    pub hello: Hello,
}

impl Door {
    /// Listens on the loopback interface that process `pid` has: its network namespace may be another than ours.
    ///
    /// # Errors
    /// When its network can't be entered, or has no loopback.
    pub fn open_for(pid: i32) -> Result<Door, NetworkError> {
        let apart = network::is_apart(pid)?;
        let listener = network::within(pid, || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            // A new namespace has its loopback interface down: a socket is bound all the same, and nobody gets to it.
            if apart {
                let _reached = TcpStream::connect(listener.local_addr()?)?;
                listener.accept()?;
            }
            Ok(listener)
        })?;
        let opened = listener.and_then(Door::behind);
        opened.map_err(|source| match apart {
            true => NetworkError::NoLoopback { pid, source },
            false => NetworkError::System { action: "listen on loopback", source },
        })
    }

    fn behind(listener: TcpListener) -> io::Result<Door> {
        listener.set_nonblocking(true)?;
        Ok(Door { address: listener.local_addr()?, listener, token: token()? })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The options that make an agent connect here.
    pub fn agent_options(&self) -> String {
        format!("connect={},token={}", self.address, self.token)
    }

    /// Waits for the one that knows the token, until `given_up` returns true. Others are turned away, and neither end the
    /// wait nor hold it up. `turned_away` gets the reason for the first of them.
    ///
    /// # Errors
    /// That it was given up.
    pub fn wait(
        &self,
        given_up: impl Fn() -> bool,
        mut turned_away: impl FnMut(&io::Error),
    ) -> Result<Visitor, String> {
        let mut strangers: VecDeque<Stranger> = VecDeque::new();
        let mut told = 0;
        let mut turn_away = |error: &io::Error| {
            told += 1;
            if told <= STRANGERS_TOLD {
                turned_away(error);
            }
        };
        while !given_up() {
            loop {
                match self.listener.accept().and_then(|(stream, _)| Stranger::new(stream)) {
                    Ok(stranger) => strangers.push_back(stranger),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // Of a connection that has ended already, or of a want of descriptors that may pass.
                    Err(error) => {
                        turn_away(&error);
                        break;
                    }
                }
                if strangers.len() > STRANGERS_AT_MOST {
                    strangers.pop_front();
                }
            }
            for mut stranger in std::mem::take(&mut strangers) {
                match stranger.greet(&self.token) {
                    Ok(hello) => return stranger.let_in(hello),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        if stranger.since.elapsed() < HELLO_WITHIN {
                            strangers.push_back(stranger);
                        } else {
                            turn_away(&io::Error::new(io::ErrorKind::TimedOut, "it did not show its token in time"));
                        }
                    }
                    Err(error) => turn_away(&error),
                }
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Err("it was no longer waited for".into())
    }

    /// Waits so long and no longer.
    ///
    /// # Errors
    /// Why none came.
    pub fn wait_for(&self, within: Duration) -> Result<Visitor, String> {
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

/// Somebody who has connected and has not shown the token yet.
#[derive(Debug)]
struct Stranger {
    stream: TcpStream,
    since: Instant,
    /// The bytes that it has sent so far.
    said: Vec<u8>,
}

impl Stranger {
    fn new(stream: TcpStream) -> io::Result<Stranger> {
        stream.set_nonblocking(true)?;
        Ok(Stranger { stream, since: Instant::now(), said: Vec::new() })
    }

    /// Its hello, if it has said all of it. [`io::ErrorKind::WouldBlock`] while there is more to come.
    fn greet(&mut self, token: &str) -> io::Result<Hello> {
        let hello = protocol::read_hello(&mut FromTheBeginning { stranger: self, at: 0 }, token);
        hello.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "it hung up without a word"),
            _ => error,
        })
    }

    fn let_in(self, hello: Hello) -> Result<Visitor, String> {
        let ready = self.stream.set_nonblocking(false).and_then(|()| self.stream.set_write_timeout(Some(TAKES_WITHIN)));
        ready.map(|()| Visitor { stream: self.stream, hello }).map_err(|error| error.to_string())
    }
}

/// Reads the bytes again that a stranger has sent, and then further ones. It never reads more than it is asked for: the bytes
/// after the hello belong to the next reader.
struct FromTheBeginning<'a> {
    stranger: &'a mut Stranger,
    at: usize,
}

impl Read for FromTheBeginning<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Stranger { stream, said, .. } = &mut *self.stranger;
        if self.at == said.len() {
            let length = stream.read(into)?;
            said.extend_from_slice(&into[..length]);
            self.at += length;
            return Ok(length);
        }
        let length = (&said[self.at..]).read(into)?;
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

    fn door() -> Door {
        Door::open_for(std::process::id() as i32).unwrap()
    }

    fn connect(door: &Door) -> TcpStream {
        TcpStream::connect(door.address()).unwrap()
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

    fn knock(door: &Door, token: &str) -> TcpStream {
        let mut stream = connect(door);
        stream.write_all(&hello(token)).unwrap();
        stream
    }

    #[test]
    fn only_who_knows_the_token_comes_in() {
        let door = door();
        let _strangers = (knock(&door, "0123"), knock(&door, ""));
        let agent = knock(&door, &door.token);
        let mut turned_away = 0;
        let visitor = door.wait(|| false, |_| turned_away += 1).unwrap();
        assert_eq!(visitor.stream.peer_addr().unwrap(), agent.local_addr().unwrap());
        assert_eq!((visitor.hello.pid, turned_away), (7, 2));
        let _again = knock(&door, &door.token);
        assert!(door.wait_for(LONG).is_ok());
        let nobody = door.wait_for(Duration::from_millis(1)).unwrap_err();
        assert!(nobody.contains("did not connect") && nobody.contains("standard error"), "{nobody}");
        let _stranger = knock(&door, "0123");
        let turned_away = door.wait_for(Duration::from_millis(50)).unwrap_err();
        assert!(turned_away.ends_with("its token is wrong"), "{turned_away}");
    }

    #[test]
    fn strangers_neither_end_the_wait_nor_hold_it_up() {
        let door = door();
        drop(connect(&door));
        // More than are waited for, each silent, and one that has begun as an agent does and goes no further.
        let silent: Vec<TcpStream> = (0..STRANGERS_AT_MOST + 9).map(|_| connect(&door)).collect();
        let mut begun = connect(&door);
        begun.write_all(&hello(&door.token)[..20]).unwrap();
        let agent = knock(&door, &door.token);
        let waited = Instant::now();
        let visitor = door.wait_for(LONG).unwrap();
        assert_eq!(visitor.stream.peer_addr().unwrap(), agent.local_addr().unwrap());
        assert!(waited.elapsed() < LONG / 2, "none of them was waited for");
        drop((silent, begun));
    }

    #[test]
    fn a_hello_in_pieces_is_read_and_what_follows_it_is_left() {
        let door = door();
        let mut agent = connect(&door);
        let mut bytes = hello(&door.token);
        bytes.extend(b"frames");
        let sending = std::thread::spawn(move || {
            for piece in bytes.chunks(7) {
                agent.write_all(piece).unwrap();
                std::thread::sleep(2 * LOOK_EVERY);
            }
        });
        let mut visitor = door.wait_for(LONG).unwrap();
        sending.join().unwrap();
        let mut rest = String::new();
        visitor.stream.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "frames");
    }

    #[test]
    fn the_wait_can_be_given_up() {
        let looked = std::cell::Cell::new(0);
        let given_up = || {
            looked.set(looked.get() + 1);
            looked.get() > 3
        };
        assert!(door().wait(given_up, |_| {}).is_err());
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
        let door = Door::open_for(pid).unwrap();
        let refused = TcpStream::connect(door.address()).unwrap_err();
        let agent = network::within(pid, || knock(&door, &door.token)).unwrap();
        let visitor = door.wait_for(LONG).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused, "it is not in our network");
        assert_eq!(visitor.stream.peer_addr().unwrap(), agent.local_addr().unwrap());
    }

    #[test]
    fn a_network_without_loopback_is_named_at_once() {
        need!(root(), program("unshare"));
        let mut child = apart("true");
        let error = Door::open_for(child.id() as i32).unwrap_err().to_string();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(error.contains("ip link set lo up"), "{error}");
    }
}
