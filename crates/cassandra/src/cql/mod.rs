//! A small CQL client: one connection, one query at a time. It checks that a node answers and identifies it; the load
//! driver has its own client.

mod compression;
pub mod frame;
mod prepared;
mod segment;
mod value;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

pub use compression::Compression;
use frame::{BodyReader, Frame, FrameError, Malformed, opcode};
pub use prepared::{ExecuteTerms, Prepared, RawRows, read_columns};
pub use segment::{Packing, Segment};
pub use value::{Type, Value, read_type, read_value};

/// Why a node could not be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot connect to {address}: {source}; is a node running there? `helenus ps` lists the local ones")]
    Connect { address: SocketAddr, source: io::Error },
    #[error("{address} did not answer within {} ms", waited.as_millis())]
    Timeout { address: SocketAddr, waited: Duration },
    #[error("{address} closed the connection; it may want TLS")]
    Closed { address: SocketAddr },
    #[error("the connection to {address} broke: {source}")]
    Broken { address: SocketAddr, source: io::Error },
    #[error(
        "what listens on {address} does not speak CQL ({why}); give the native transport's address, usually port 9042"
    )]
    NotCql { address: SocketAddr, why: &'static str },
    #[error("{address} asks for a user and a password ({authenticator}); give them")]
    NeedsPassword { address: SocketAddr, authenticator: String },
    #[error("{address} refused: {message} (code 0x{code:04x})")]
    Refused { address: SocketAddr, code: i32, message: String },
}

/// User and password for `PasswordAuthenticator` and its kin (SASL PLAIN).
#[derive(Clone)]
pub struct Credentials {
    pub user: String,
    pub password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// The result of a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    pub columns: Vec<(String, Type)>,
    /// One value per column in each row.
    pub rows: Vec<Vec<Value>>,
}

impl Rows {
    /// The value of `column` in row `row`; null where there is no such row or column.
    #[must_use]
    pub fn get(&self, row: usize, column: &str) -> &Value {
        let at = self.columns.iter().position(|(name, _)| name == column);
        at.and_then(|at| self.rows.get(row)?.get(at)).unwrap_or(&Value::Null)
    }
}

/// A node's description of itself in `system.local`, and of the others in `system.peers_v2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub version: String,
    pub cluster: String,
    pub host_id: String,
    pub data_center: String,
    pub rack: String,
    pub partitioner: String,
    pub peers: Vec<Peer>,
}

/// Another node of the ring, as the queried node knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// CQL address of the node.
    pub address: Option<SocketAddr>,
    pub host_id: String,
    pub version: String,
    pub data_center: String,
    pub rack: String,
}

/// Connects to `address`, reads the node's identity, and disconnects. `timeout` bounds each step: the connection, and each
/// answer from its first byte to its last, up to one read more.
///
/// # Errors
/// [`Error`], each case with its way out.
pub fn identify(address: SocketAddr, timeout: Duration) -> Result<Identity, Error> {
    Connection::open(address, timeout, None)?.identify()
}

/// Whether a node accepts connections there, with or without TLS and a password.
#[must_use]
pub fn answers(address: SocketAddr, timeout: Duration) -> bool {
    matches!(identify(address, timeout), Ok(_) | Err(Error::NeedsPassword { .. } | Error::Closed { .. }))
}

/// One open connection, past the handshake.
pub struct Connection {
    address: SocketAddr,
    stream: Box<dyn Channel>,
    /// The socket below the stream.
    socket: TcpStream,
    timeout: Duration,
    /// The largest answer that is read, in bytes.
    largest: usize,
}

/// The transport of a connection: a socket, or TLS over one.
pub trait Channel: io::Read + io::Write + Send {}

impl<T: io::Read + io::Write + Send> Channel for T {}

/// A function that wraps a socket, for example in TLS.
pub type Wrap<'a> = &'a dyn Fn(TcpStream) -> io::Result<Box<dyn Channel>>;

/// Reads with one deadline. A socket's timeout is per read, so a peer that sends byte by byte could extend it without end.
struct Until<'s> {
    stream: &'s mut Box<dyn Channel>,
    end: Instant,
}

impl io::Read for Until<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.end {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.read(into)
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Connection {
    /// Connects and shakes hands; `timeout` bounds the connection and each later answer as a whole.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::NotCql`], [`Error::NeedsPassword`] and so on.
    pub fn open(address: SocketAddr, timeout: Duration, credentials: Option<&Credentials>) -> Result<Self, Error> {
        Self::open_over(address, timeout, credentials, &|stream| Ok(Box::new(stream)))
    }

    /// Like [`Connection::open`], over a wrapped socket.
    ///
    /// # Errors
    /// As [`Connection::open`].
    pub fn open_over(
        address: SocketAddr,
        timeout: Duration,
        credentials: Option<&Credentials>,
        wrap: Wrap<'_>,
    ) -> Result<Self, Error> {
        let connect = |source| Error::Connect { address, source };
        let stream = TcpStream::connect_timeout(&address, timeout).map_err(connect)?;
        stream.set_read_timeout(Some(timeout)).map_err(connect)?;
        stream.set_write_timeout(Some(timeout)).map_err(connect)?;
        stream.set_nodelay(true).map_err(connect)?;
        let socket = stream.try_clone().map_err(connect)?;
        let mut connection =
            Self { address, stream: wrap(stream).map_err(connect)?, socket, timeout, largest: frame::LARGEST };
        let supported = connection.ask(opcode::OPTIONS, &[])?;
        if supported.opcode != opcode::SUPPORTED {
            return Err(connection.not_cql("no SUPPORTED in answer to OPTIONS"));
        }
        let mut startup = 1u16.to_be_bytes().to_vec();
        frame::put_string(&mut startup, "CQL_VERSION");
        frame::put_string(&mut startup, "3.0.0");
        let answer = connection.ask(opcode::STARTUP, &startup)?;
        match answer.opcode {
            opcode::READY => Ok(connection),
            opcode::AUTHENTICATE => {
                connection.authenticate(&answer, credentials)?;
                Ok(connection)
            }
            _ => Err(connection.not_cql("no READY in answer to STARTUP")),
        }
    }

    /// Sets how long each further answer may take, and the most bytes that it may have.
    ///
    /// # Errors
    /// [`Error::Broken`] if the socket does not take the time.
    pub fn limit(&mut self, timeout: Duration, largest: usize) -> Result<(), Error> {
        let broken = |source| Error::Broken { address: self.address, source };
        self.socket.set_read_timeout(Some(timeout)).map_err(broken)?;
        self.socket.set_write_timeout(Some(timeout)).map_err(broken)?;
        (self.timeout, self.largest) = (timeout, largest);
        Ok(())
    }

    fn authenticate(&mut self, asked: &Frame, credentials: Option<&Credentials>) -> Result<(), Error> {
        let class = asked.reader().string().map_err(|Malformed(why)| self.not_cql(why))?;
        let authenticator = class.rsplit('.').next().unwrap_or_default().to_owned();
        let address = self.address;
        let needs = || Error::NeedsPassword { address, authenticator: authenticator.clone() };
        let credentials = credentials.ok_or_else(needs)?;
        // SASL PLAIN (RFC 4616): authorization id (empty), user and password, each after a NUL.
        let token = format!("\0{}\0{}", credentials.user, credentials.password);
        let mut body = Vec::new();
        frame::put_long_string(&mut body, &token);
        match self.ask(opcode::AUTH_RESPONSE, &body)?.opcode {
            opcode::AUTH_SUCCESS => Ok(()),
            opcode::AUTH_CHALLENGE => Err(needs()),
            _ => Err(self.not_cql("no AUTH_SUCCESS in answer to AUTH_RESPONSE")),
        }
    }

    /// Runs one statement at consistency ONE; an answer without rows gives empty [`Rows`]. Rows
    /// are not paged: ask for few.
    ///
    /// # Errors
    /// [`Error::Refused`] with the server's words, or the connection's failure.
    pub fn query(&mut self, statement: &str) -> Result<Rows, Error> {
        self.query_raw(statement)?.decode().map_err(|Malformed(why)| self.not_cql(why))
    }

    /// The node's description of itself and its peers.
    ///
    /// # Errors
    /// As [`Connection::query`].
    pub fn identify(&mut self) -> Result<Identity, Error> {
        let local = self
            .query("SELECT release_version, cluster_name, host_id, data_center, rack, partitioner FROM system.local")?;
        let text = |rows: &Rows, row: usize, column: &str| match rows.get(row, column) {
            Value::Null => String::new(),
            value => value.to_string(),
        };
        let peers = self.query(
            "SELECT native_address, native_port, host_id, release_version, data_center, rack FROM system.peers_v2",
        )?;
        let peer = |row| Peer {
            address: match (peers.get(row, "native_address"), peers.get(row, "native_port")) {
                (Value::Inet(ip), Value::Integer(port)) => {
                    u16::try_from(*port).ok().map(|port| SocketAddr::new(*ip, port))
                }
                _ => None,
            },
            host_id: text(&peers, row, "host_id"),
            version: text(&peers, row, "release_version"),
            data_center: text(&peers, row, "data_center"),
            rack: text(&peers, row, "rack"),
        };
        Ok(Identity {
            version: text(&local, 0, "release_version"),
            cluster: text(&local, 0, "cluster_name"),
            host_id: text(&local, 0, "host_id"),
            data_center: text(&local, 0, "data_center"),
            rack: text(&local, 0, "rack"),
            partitioner: text(&local, 0, "partitioner"),
            // A peer without a host id is a remnant of one that was removed.
            peers: (0..peers.rows.len()).map(peer).filter(|peer| !peer.host_id.is_empty()).collect(),
        })
    }

    /// Sends one request and reads its answer; the server's ERROR becomes ours.
    fn ask(&mut self, opcode: u8, body: &[u8]) -> Result<Frame, Error> {
        frame::write(&mut self.stream, opcode, body).map_err(|source| self.broken(source))?;
        let mut answer = Until { stream: &mut self.stream, end: Instant::now() + self.timeout };
        let answer = match frame::read(&mut answer, self.largest) {
            Ok(answer) => answer,
            Err(FrameError::Io(source)) => return Err(self.broken(source)),
            Err(FrameError::Malformed(Malformed(why))) => return Err(self.not_cql(why)),
        };
        if answer.opcode == opcode::ERROR {
            let mut reader = answer.reader();
            let (code, message) = reader
                .int()
                .and_then(|code| Ok((code, reader.string()?)))
                .map_err(|Malformed(why)| self.not_cql(why))?;
            return Err(Error::Refused { address: self.address, code, message });
        }
        Ok(answer)
    }

    fn not_cql(&self, why: &'static str) -> Error {
        Error::NotCql { address: self.address, why }
    }

    fn broken(&self, source: io::Error) -> Error {
        let address = self.address;
        match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Error::Timeout { address, waited: self.timeout },
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
                Error::Closed { address }
            }
            _ => Error::Broken { address, source },
        }
    }
}

/// Skips keyspace and table.
fn skip_table_name(reader: &mut BodyReader<'_>) -> Result<(), Malformed> {
    reader.text()?;
    reader.text().map(drop)
}

/// Reads "ADDRESS", "ADDRESS:PORT", "[IPV6]:PORT" or "localhost[:PORT]"; the port defaults to 9042.
#[must_use]
pub fn parse_address(text: &str) -> Option<SocketAddr> {
    const PORT: u16 = 9042;
    let text = match text.strip_prefix("localhost") {
        Some(rest) if rest.is_empty() || rest.starts_with(':') => format!("127.0.0.1{rest}"),
        _ => text.to_owned(),
    };
    text.parse().ok().or_else(|| Some(SocketAddr::new(text.parse::<IpAddr>().ok()?, PORT)))
}

#[cfg(test)]
mod tests;
