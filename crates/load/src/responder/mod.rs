//! A fake node: it speaks enough of CQL v4 for clients to connect, accepts any schema, prepares any statement, and
//! answers every request at once. Tests use it to measure the driver without a database, and to check how the driver
//! reacts to a misbehaving node.

mod metadata;
mod node;
mod replies;

use crate::Error;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
use replies::Replies;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::thread::JoinHandle;

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
const FIRST: usize = 2;
const ROOM_BYTES: usize = 256 << 10;

/// How the responder answers requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Behaviour {
    AtOnce,
    /// Refuses each request with OVERLOADED, as a node that sheds load.
    Overloaded,
    /// Answers that the statement is unknown, until it is prepared again.
    Forgetful,
    /// Accepts requests and never answers.
    Silent,
    /// Answers with bytes that are no valid frame.
    Garbage,
    /// Closes the connection.
    Hangup,
    /// Answers requests, but no statement that creates something.
    Stuck,
}

impl Behaviour {
    const ALL: [Behaviour; 7] = [
        Behaviour::AtOnce,
        Behaviour::Overloaded,
        Behaviour::Forgetful,
        Behaviour::Silent,
        Behaviour::Garbage,
        Behaviour::Hangup,
        Behaviour::Stuck,
    ];
}

/// A responder on a thread of its own; ends when dropped.
#[derive(Debug)]
pub struct Responder {
    address: SocketAddr,
    control: Arc<Control>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Control {
    behaviour: AtomicU8,
    over: AtomicBool,
    executed: AtomicU64,
}

impl Responder {
    /// Listens on an address; with port 0, on a free port.
    pub fn start(address: SocketAddr) -> Result<Responder, Error> {
        let failed = |source| Error::Start { what: "the responder", source };
        let begin = || -> io::Result<(Poll, Waker, TcpListener)> {
            let poll = Poll::new()?;
            let mut listener = TcpListener::bind(address)?;
            poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
            let waker = Waker::new(poll.registry(), WAKER)?;
            Ok((poll, waker, listener))
        };
        let (poll, waker, listener) = begin().map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let control = Arc::new(Control {
            behaviour: AtomicU8::new(Behaviour::AtOnce as u8),
            over: AtomicBool::new(false),
            executed: AtomicU64::new(0),
        });
        let mut serving = Serving {
            poll,
            listener,
            control: Arc::clone(&control),
            replies: Replies::new(address),
            clients: HashMap::new(),
            next: FIRST,
            room: vec![0; ROOM_BYTES],
        };
        let thread =
            std::thread::Builder::new().name("responder".into()).spawn(move || serving.run()).map_err(failed)?;
        Ok(Responder { address, control, waker, thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes how requests are answered from now on.
    pub fn behave(&self, behaviour: Behaviour) {
        self.control.behaviour.store(behaviour as u8, Ordering::Relaxed);
    }

    /// Requests received so far.
    pub fn executed(&self) -> u64 {
        self.control.executed.load(Ordering::Relaxed)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.control.over.store(true, Ordering::Relaxed);
        // Without the wake-up the join would never return. It can't fail while the poll exists.
        if self.waker.wake().is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

struct Serving {
    poll: Poll,
    listener: TcpListener,
    control: Arc<Control>,
    replies: Replies,
    clients: HashMap<usize, Client>,
    next: usize,
    room: Vec<u8>,
}

struct Client {
    socket: TcpStream,
    unread: Vec<u8>,
    out: Vec<u8>,
}

impl Serving {
    fn run(&mut self) {
        let mut events = Events::with_capacity(256);
        while !self.control.over.load(Ordering::Relaxed) {
            if self.poll.poll(&mut events, None).is_err() {
                continue;
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    WAKER => {}
                    Token(number) => {
                        let served = match self.clients.get_mut(&number) {
                            Some(client) => client.serve(&mut self.replies, &self.control, &mut self.room),
                            None => continue,
                        };
                        // The client has closed its connection, or was disconnected.
                        if !served.unwrap_or(false) {
                            self.clients.remove(&number);
                        }
                    }
                }
            }
        }
    }

    fn accept(&mut self) {
        while let Ok((mut socket, _)) = self.listener.accept() {
            let _ = socket.set_nodelay(true);
            let both = Interest::READABLE | Interest::WRITABLE;
            if self.poll.registry().register(&mut socket, Token(self.next), both).is_ok() {
                self.clients.insert(self.next, Client { socket, unread: Vec::new(), out: Vec::new() });
                self.next += 1;
            }
        }
    }
}

impl Client {
    /// Answers the requests that have come. Returns false when the connection has ended.
    fn serve(&mut self, replies: &mut Replies, control: &Control, room: &mut [u8]) -> io::Result<bool> {
        loop {
            let bytes = match self.socket.read(room) {
                Ok(0) => return Ok(false),
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            };
            let behaviour = Behaviour::ALL[usize::from(control.behaviour.load(Ordering::Relaxed))];
            let read = if self.unread.is_empty() {
                let read = replies.answer(&room[..bytes], behaviour, &mut self.out);
                self.unread.extend_from_slice(&room[read.bytes..bytes]);
                read
            } else {
                self.unread.extend_from_slice(&room[..bytes]);
                let read = replies.answer(&self.unread, behaviour, &mut self.out);
                self.unread.drain(..read.bytes);
                read
            };
            control.executed.fetch_add(read.executed, Ordering::Relaxed);
            if read.hang_up {
                return Ok(false);
            }
            self.flush()?;
            if bytes < room.len() {
                break;
            }
        }
        self.flush()?;
        Ok(true)
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.out.is_empty() {
            match self.socket.write(&self.out) {
                Ok(bytes) => drop(self.out.drain(..bytes)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
