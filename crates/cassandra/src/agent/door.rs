//! Waits on loopback for the one agent that knows the token.

use super::protocol::{self, Hello};
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// A stranger that connects gets so long to show the token.
const HELLO_WITHIN: Duration = Duration::from_secs(5);
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
    pub fn open() -> io::Result<Door> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        Ok(Door { address: listener.local_addr()?, listener, token: token()? })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The options that make an agent connect here.
    pub fn agent_options(&self) -> String {
        format!("connect={},token={}", self.address, self.token)
    }

    /// Waits for the one that knows the token; others are turned away, and `turned_away` is told.
    ///
    /// # Errors
    /// Why none came: somebody who connects and hangs up at once ends the wait.
    pub fn wait(&self, mut turned_away: impl FnMut(String)) -> Result<Visitor, String> {
        loop {
            let (stream, _) = self.listener.accept().map_err(|error| error.to_string())?;
            match self.let_in(stream) {
                Ok(visitor) => return Ok(visitor),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err("no agent came".into()),
                Err(error) => turned_away(format!("turned a connection away: {error}")),
            }
        }
    }

    /// Waits so long and no longer.
    ///
    /// # Errors
    /// Why none came.
    pub fn wait_for(&self, within: Duration) -> Result<Visitor, String> {
        let mut turned_away = None;
        let until = Instant::now() + within;
        self.listener.set_nonblocking(true).map_err(|error| error.to_string())?;
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let stream = stream.set_nonblocking(false).map(|()| stream).map_err(|error| error.to_string())?;
                    match self.let_in(stream) {
                        Ok(visitor) => return Ok(visitor),
                        Err(error) => turned_away = Some(error),
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(LOOK_EVERY),
                Err(error) => return Err(error.to_string()),
            }
            if Instant::now() >= until {
                let why = match turned_away {
                    Some(error) => format!("the last connection there was turned away: {error}"),
                    None => "the server's standard error may say why".into(),
                };
                return Err(format!(
                    "the agent was loaded and did not connect to {} within {within:?}; {why}",
                    self.address
                ));
            }
        }
    }

    fn let_in(&self, mut stream: TcpStream) -> io::Result<Visitor> {
        stream.set_read_timeout(Some(HELLO_WITHIN))?;
        let hello = protocol::read_hello(&mut stream, &self.token)?;
        stream.set_read_timeout(None)?;
        Ok(Visitor { stream, hello })
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
    use std::io::Write;

    fn knock(door: &Door, token: &str) -> TcpStream {
        let json = br#"{"pid":7,"schema":"ab","agent":"0.1.0","java":"17"}"#;
        let mut bytes = b"HLNS\x01\0\0\0".to_vec();
        bytes.extend((token.len() as u16).to_le_bytes());
        bytes.extend(token.as_bytes());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(json);
        let mut stream = TcpStream::connect(door.address()).unwrap();
        stream.write_all(&bytes).unwrap();
        stream
    }

    #[test]
    fn only_who_knows_the_token_comes_in() {
        let door = Door::open().unwrap();
        let token = door.agent_options().split_once("token=").unwrap().1.to_string();
        let _strangers = (knock(&door, "0123"), knock(&door, ""));
        let agent = knock(&door, &token);
        let mut turned_away = Vec::new();
        let visitor = door.wait(|why| turned_away.push(why)).unwrap();
        assert_eq!(visitor.stream.peer_addr().unwrap(), agent.local_addr().unwrap());
        assert_eq!((visitor.hello.pid, turned_away.len()), (7, 2));
        let _again = knock(&door, &token);
        assert!(door.wait_for(Duration::from_secs(5)).is_ok());
        let nobody = door.wait_for(Duration::from_millis(1)).unwrap_err();
        assert!(nobody.contains("did not connect") && nobody.contains("standard error"), "{nobody}");
        let _stranger = knock(&door, "0123");
        let turned_away = door.wait_for(Duration::from_millis(1)).unwrap_err();
        assert!(turned_away.ends_with("its token is wrong"), "{turned_away}");
    }
}
