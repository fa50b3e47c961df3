//! One connection of the thin driver: its bytes in both directions, and its states from connecting to prepared
//! statements.

use super::frame::{self, Execute, Framing, Header, Prepared};
use super::inbox::{Inbox, Received};
use super::outbox::Outbox;
use super::session_thread::Statement;
use super::socket::Socket;
use super::streams::Streams;
use crate::driver::ledger::ConnectionId;
use crate::{Access, Login};
use helenus_cassandra::cql::frame::{Malformed, opcode};
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io;
use std::net::SocketAddr;

/// Timeout for connecting and for preparing the statements.
const OPEN_NS: i64 = 5_000_000_000;
/// Backoff before the next attempt: the first, and the longest.
const BACK_OFF_NS: (i64, i64) = (10_000_000, 1_000_000_000);
/// A connection with this many unwritten bytes gets no more requests. This bounds the memory for a node that does not
/// read.
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
    /// The statements are being prepared; `left` of them are not yet.
    Preparing {
        until_ns: i64,
        left: usize,
    },
    Ready,
}

pub(super) struct Connection {
    pub node: u16,
    pub line: ConnectionId,
    pub streams: Streams,
    pub inbox: Inbox,
    pub outbox: Outbox,
    /// Requests queued since the last flush.
    pub unsent: Vec<i16>,
    /// Prepared statements by operation.
    pub executes: Vec<Execute>,
    framing: Framing,
    address: SocketAddr,
    token: Token,
    socket: Option<Socket>,
    state: State,
    back_off_ns: i64,
}

impl Connection {
    pub fn new(node: u16, number: i64, address: SocketAddr, token: Token, framing: Framing) -> Connection {
        Connection {
            node,
            line: ConnectionId { number, port: 0 },
            streams: Streams::default(),
            inbox: Inbox::new(framing),
            outbox: Outbox::new(framing),
            unsent: Vec::new(),
            executes: Vec::new(),
            framing,
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
        self.is_ready() && !self.streams.is_full() && self.outbox.pending_bytes() < MOST_PENDING_BYTES
    }

    /// Connects when the backoff has passed, and abandons attempts that take too long.
    pub fn tick(&mut self, registry: &Registry, access: &Access, now_ns: i64) -> Result<(), Broken> {
        match self.state {
            State::Down { retry_ns } if now_ns >= retry_ns => {
                let mut socket = TcpStream::connect(self.address)?;
                socket.set_nodelay(true)?;
                self.line.port = socket.local_addr()?.port();
                registry.register(&mut socket, self.token, Interest::READABLE | Interest::WRITABLE)?;
                let encrypted = access.tls.as_ref().map(|tls| tls.connect(self.address.ip())).transpose();
                self.socket = Some(Socket::new(socket, encrypted.map_err(io::Error::other)?));
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

    /// Called when the socket is writable: a connect has ended, or pending bytes can be written.
    pub fn writable(&mut self) -> Result<(), Broken> {
        let (State::Connecting { until_ns }, Some(socket)) = (self.state, &mut self.socket) else {
            return self.flush();
        };
        let socket = socket.tcp();
        if let Some(error) = socket.take_error()? {
            return Err(error.into());
        }
        match socket.peer_addr() {
            Ok(_) => {
                self.state = State::Greeting { until_ns };
                self.outbox.frame(opcode::STARTUP, 0, &frame::startup(self.framing.compression));
                self.flush()
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub fn receive(&mut self) -> Result<Received, Broken> {
        let Some(socket) = &mut self.socket else { return Ok(Received::Nothing) };
        let received = self.inbox.receive(socket)?;
        if !socket.is_encrypted() {
            return Ok(received);
        }
        // The received bytes may have completed the handshake that outgoing bytes waited for.
        self.flush()?;
        Ok(match received {
            // TLS returns one record per read, so more may be pending.
            Received::Bytes { .. } => Received::Bytes { all: false },
            other => other,
        })
    }

    /// Processes an answer that comes before the connection is ready. Returns true if the connection is ready now.
    pub fn shake_hands(
        &mut self,
        answer: (Header, &[u8]),
        statements: &[Statement],
        login: Option<&Login>,
    ) -> Result<bool, Broken> {
        let (header, message) = answer;
        let refused = || match frame::error(message) {
            Ok((_, text)) => Broken::Refused(text.to_string()),
            Err(malformed) => malformed.into(),
        };
        if matches!(header.opcode, opcode::READY | opcode::AUTHENTICATE) && self.framing.of_segments().is_some() {
            self.inbox.begin_segments();
            self.outbox.begin_segments();
        }
        match (self.state, header.opcode) {
            (_, opcode::ERROR) => Err(refused()),
            (State::Greeting { until_ns }, opcode::READY | opcode::AUTH_SUCCESS) => {
                for (number, statement) in statements.iter().enumerate() {
                    self.prepare(number as i16, statement);
                }
                self.executes = vec![Execute::default(); statements.len()];
                self.state = State::Preparing { until_ns, left: statements.len() };
                self.flush().map(|()| false)
            }
            (State::Greeting { .. }, opcode::AUTHENTICATE) => {
                let Some(Login { user, password }) = login else {
                    return Err(Broken::NeedsPassword(frame::authenticator(message)?.to_string()));
                };
                let body = frame::plain_credentials(user, password);
                self.outbox.frame(opcode::AUTH_RESPONSE, 0, &body);
                self.flush().map(|()| false)
            }
            (State::Preparing { until_ns, left }, opcode::RESULT) => {
                let number = usize::try_from(header.stream).unwrap_or(usize::MAX);
                let statement = statements.get(number).ok_or(Malformed("a statement that was not prepared"))?;
                self.prepared(number, statement, message)?;
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

    pub fn prepare(&mut self, stream: i16, statement: &Statement) {
        self.outbox.frame(opcode::PREPARE, stream, &frame::prepare(&statement.cql, self.framing.protocol));
    }

    /// Processes the answer to PREPARE.
    pub fn prepared(&mut self, operation: usize, statement: &Statement, message: &[u8]) -> Result<(), Malformed> {
        let prepared = Prepared::read(message, self.framing.protocol)?;
        self.executes[operation] = frame::execute(&prepared, statement.terms);
        Ok(())
    }

    /// Adds a request, and returns its size.
    pub fn execute(&mut self, stream: i16, operation: usize, values: &[u8]) -> usize {
        self.outbox.execute(stream, &self.executes[operation], values)
    }

    /// Writes as much as the socket accepts; the rest is written when it is writable again.
    pub fn flush(&mut self) -> Result<(), Broken> {
        match &mut self.socket {
            Some(socket) => Ok(self.outbox.write(socket)?),
            None => Ok(()),
        }
    }

    /// Closes the connection; it is retried after a backoff.
    pub fn close(&mut self, registry: &Registry, now_ns: i64) {
        if let Some(mut socket) = self.socket.take() {
            // The socket may never have been registered; the kernel removes it when the descriptor is closed.
            let _ = registry.deregister(socket.tcp());
        }
        self.inbox.clear();
        self.outbox.clear();
        self.unsent.clear();
        self.state = State::Down { retry_ns: now_ns + self.back_off_ns };
        self.back_off_ns = (self.back_off_ns * 2).min(BACK_OFF_NS.1);
    }
}
