//! The socket of a connection, encrypted or not. It never blocks.

use mio::net::TcpStream;
use rustls::{ClientConnection, StreamOwned};
use std::io::{self, Read, Write};

pub(super) enum Socket {
    Plain(TcpStream),
    Encrypted(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Socket {
    pub fn new(socket: TcpStream, encrypted: Option<ClientConnection>) -> Socket {
        match encrypted {
            None => Socket::Plain(socket),
            Some(connection) => Socket::Encrypted(Box::new(StreamOwned::new(connection, socket))),
        }
    }

    pub fn tcp(&mut self) -> &mut TcpStream {
        match self {
            Socket::Plain(socket) => socket,
            Socket::Encrypted(encrypted) => &mut encrypted.sock,
        }
    }

    pub fn is_encrypted(&self) -> bool {
        matches!(self, Socket::Encrypted(_))
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Plain(socket) => socket.read(into),
            Socket::Encrypted(encrypted) => match encrypted.read(into) {
                // The node closed the connection without a TLS message, as a node does that shuts down.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                read => read,
            },
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Plain(socket) => socket.write(bytes),
            Socket::Encrypted(encrypted) => encrypted.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Socket::Plain(_) => Ok(()),
            Socket::Encrypted(encrypted) => encrypted.flush(),
        }
    }
}
