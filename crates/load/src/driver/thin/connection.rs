//! One connection: its bytes in both directions, and the way from a refused connect to a prepared statement.

use super::frame;
use super::inbox::{Inbox, Received};
use super::streams::Streams;
use crate::Login;
use helenus_cassandra::cql::frame::{Malformed, opcode};
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io::{self, Write};
use std::net::SocketAddr;

/// How long a node is given to take a connection and to prepare the statements.
const OPEN_NS: i64 = 5_000_000_000;
/// How long it waits before it tries again: at first, and at most.
const BACK_OFF_NS: (i64, i64) = (10_000_000, 1_000_000_000);
/// Bytes that wait to be written before no more requests are given to it: what a node that reads nothing can cost.
const MOST_PENDING_BYTES: usize = 8 << 20;

/// Why a connection was lost.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the node closed the connection")]
    Closed,
    #[error("the node answered with bytes that are no answer: {}", .0.0)]
    Malformed(Malformed),
    #[error("the node did not take the connection within {} s", OPEN_NS / 1_000_000_000)]
    Silent,
    #[error("the node wants a user and a password ({0}): give --user and --password-file")]
    NeedsPassword(String),
    #[error("the node refuses: {0}")]
    Refused(String),
    #[error("more answers are outstanding than the node will ever give: {0} streams wait in vain")]
    Orphans(usize),
}

impl From<Malformed> for Broken {
    fn from(malformed: Malformed) -> Broken {
        Broken::Malformed(malformed)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Down {
        retry_ns: i64,
    },
    Connecting {
        until_ns: i64,
    },
    Greeting {
        until_ns: i64,
    },
    /// So many statements are not prepared yet.
    Preparing {
        until_ns: i64,
        left: usize,
    },
    Ready,
}

pub(super) struct Connection {
    pub node: u16,
    /// Its number within the load, as in the table requests.
    pub number: i64,
    pub streams: Streams,
    pub inbox: Inbox,
    /// Requests that were given to it since the last flush.
    pub unsent: Vec<i16>,
    pub out: Vec<u8>,
    written: usize,
    address: SocketAddr,
    token: Token,
    socket: Option<TcpStream>,
    state: State,
    back_off_ns: i64,
}

impl Connection {
    pub fn new(node: u16, number: i64, address: SocketAddr, token: Token) -> Connection {
        Connection {
            node,
            number,
            streams: Streams::default(),
            inbox: Inbox::default(),
            unsent: Vec::new(),
            out: Vec::new(),
            written: 0,
            address,
            token,
            socket: None,
            state: State::Down { retry_ns: i64::MIN },
            back_off_ns: BACK_OFF_NS.0,
        }
    }

    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    pub fn can_take(&self) -> bool {
        self.is_ready() && !self.streams.is_full() && self.out.len() - self.written < MOST_PENDING_BYTES
    }

    /// Connects when it is time to, and gives up what takes too long.
    pub fn tick(&mut self, registry: &Registry, now_ns: i64) -> Result<(), Broken> {
        match self.state {
            State::Down { retry_ns } if now_ns >= retry_ns => {
                let mut socket = TcpStream::connect(self.address)?;
                socket.set_nodelay(true)?;
                registry.register(&mut socket, self.token, Interest::READABLE | Interest::WRITABLE)?;
                self.socket = Some(socket);
                self.state = State::Connecting { until_ns: now_ns + OPEN_NS };
                Ok(())
            }
            State::Connecting { until_ns } | State::Greeting { until_ns } | State::Preparing { until_ns, .. }
                if now_ns >= until_ns =>
            {
                Err(Broken::Silent)
            }
            _ => Ok(()),
        }
    }

    /// The socket can be written to: a connect has ended, or what is pending can go on.
    pub fn writable(&mut self) -> Result<(), Broken> {
        let (State::Connecting { until_ns }, Some(socket)) = (self.state, &self.socket) else {
            return self.flush();
        };
        if let Some(error) = socket.take_error()? {
            return Err(error.into());
        }
        match socket.peer_addr() {
            Ok(_) => {
                self.state = State::Greeting { until_ns };
                frame::write(&mut self.out, opcode::STARTUP, 0, &frame::startup());
                self.flush()
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub fn receive(&mut self) -> Result<Received, Broken> {
        match &mut self.socket {
            Some(socket) => Ok(self.inbox.receive(socket)?),
            None => Ok(Received::Nothing),
        }
    }

    /// Takes an answer that comes before the connection is ready. True when it is ready with it.
    pub fn shake_hands(
        &mut self,
        answer: (u8, &[u8]),
        statements: &[String],
        login: Option<&Login>,
    ) -> Result<bool, Broken> {
        let (code, message) = answer;
        let refused = || match frame::error(message) {
            Ok((_, text)) => Broken::Refused(text.to_string()),
            Err(malformed) => malformed.into(),
        };
        match (self.state, code) {
            (_, opcode::ERROR) => Err(refused()),
            (State::Greeting { until_ns }, opcode::READY | opcode::AUTH_SUCCESS) => {
                for (number, cql) in statements.iter().enumerate() {
                    frame::write(&mut self.out, opcode::PREPARE, number as i16, &frame::prepare(cql));
                }
                self.state = State::Preparing { until_ns, left: statements.len() };
                self.flush().map(|()| false)
            }
            (State::Greeting { .. }, opcode::AUTHENTICATE) => {
                let Some(Login { user, password }) = login else {
                    return Err(Broken::NeedsPassword(frame::authenticator(message)?.to_string()));
                };
                let body = frame::plain_credentials(user, password);
                frame::write(&mut self.out, opcode::AUTH_RESPONSE, 0, &body);
                self.flush().map(|()| false)
            }
            (State::Preparing { until_ns, left }, opcode::RESULT) => {
                frame::prepared_id(message)?;
                self.state = match left {
                    0 | 1 => State::Ready,
                    _ => State::Preparing { until_ns, left: left - 1 },
                };
                self.back_off_ns = BACK_OFF_NS.0;
                Ok(self.is_ready())
            }
            _ => Err(Malformed("an answer to something that was not asked").into()),
        }
    }

    /// Writes what the socket takes; the rest goes when it can be written to again.
    pub fn flush(&mut self) -> Result<(), Broken> {
        let Some(socket) = &mut self.socket else { return Ok(()) };
        while self.written < self.out.len() {
            match socket.write(&self.out[self.written..]) {
                Ok(0) => return Err(Broken::Closed),
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.out.clear();
        self.written = 0;
        Ok(())
    }

    /// Closes it; it is tried again after a while.
    pub fn close(&mut self, registry: &Registry, now_ns: i64) {
        if let Some(mut socket) = self.socket.take() {
            // It may never have been registered; the kernel forgets it with the descriptor anyway.
            let _ = registry.deregister(&mut socket);
        }
        self.inbox.clear();
        self.out.clear();
        self.unsent.clear();
        self.written = 0;
        self.state = State::Down { retry_ns: now_ns + self.back_off_ns };
        self.back_off_ns = (self.back_off_ns * 2).min(BACK_OFF_NS.1);
    }
}
