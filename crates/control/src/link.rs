//! The connection to the agent in one JVM: loads the agent, sends commands, reads replies.

use crate::Error;
use helenus_cassandra::agent::protocol::{self, Frame};
use helenus_cassandra::agent::{AgentListener, ConnectedAgent};
use helenus_cassandra::attach;
use helenus_cassandra::foreign::Until;
use helenus_cassandra::target::Target;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::{self, BufReader};
use std::net::TcpStream;
use std::time::Duration;

/// Timeout from loading the agent to its hello.
const HELLO_WITHIN: Duration = Duration::from_secs(30);
/// Timeout of a command: weaving the classes of a large server takes a second or two, and a collection may come in
/// between.
const REPLY_WITHIN: Duration = Duration::from_secs(60);

/// Timeout from DETACH to the agent's last frame.
const GONE_WITHIN: Duration = Duration::from_secs(20);
/// Lines of the agent's log that are kept.
const LINES_KEPT: usize = 1000;

/// A connection to the agent in one JVM. Changes made through the connection stay when it is closed.
#[derive(Debug)]
pub struct Link {
    pid: i32,
    to: TcpStream,
    from: BufReader<Until<TcpStream>>,
    reply_within: Duration,
    /// Log messages that the agent sent before its reply.
    log: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Reply {
    Refused {
        error: String,
        #[serde(default)]
        hint: String,
    },
    Ok {
        ok: Value,
    },
}

impl Link {
    /// Loads the agent into the JVM and waits for it.
    ///
    /// # Errors
    /// When the JVM refuses the agent, or it doesn't connect.
    pub fn open(target: &Target, agent: &[u8]) -> Result<Link, Error> {
        let pid = target.pid;
        let listener = AgentListener::listen_for(pid)?;
        attach::load_agent(target, agent, &listener.agent_options())?;
        let ConnectedAgent { stream, .. } =
            listener.wait_for(HELLO_WITHIN).map_err(|reason| Error::NoAgent { pid, reason })?;
        let broken = |source| Error::Broken { pid, source };
        let from = Until::new(stream.try_clone().map_err(broken)?, REPLY_WITHIN);
        Ok(Link { pid, to: stream, from: BufReader::new(from), reply_within: REPLY_WITHIN, log: Vec::new() })
    }

    /// Sends a command with the members of `with`, and returns the agent's answer.
    ///
    /// # Errors
    /// [`Error::Refused`] with a hint if the agent refuses; nothing has changed then.
    pub fn command(&mut self, name: &str, with: Value) -> Result<Value, Error> {
        let mut command = with;
        command["do"] = json!(name);
        let broken = |source| Error::Broken { pid: self.pid, source };
        // One deadline for the whole reply, whatever other frames the agent sends before it.
        self.from.get_mut().extend(self.reply_within);
        protocol::write_command(&mut self.to, command.to_string().as_bytes()).map_err(broken)?;
        let reply = loop {
            match protocol::read_frame(&mut self.from).map_err(broken)? {
                Frame::Reply(reply) => break reply,
                Frame::Log(line) if self.log.len() < LINES_KEPT => self.log.push(line),
                Frame::Log(_) => {}
                Frame::Bye(reason) => return Err(broken(io::Error::other(reason))),
                Frame::Rows { .. } | Frame::ThreadNames(_) | Frame::Begun | Frame::Packets(_) => {}
            }
        };
        match serde_json::from_slice(&reply) {
            Ok(Reply::Ok { ok }) => Ok(ok),
            Ok(Reply::Refused { error, hint }) => Err(Error::Refused { error, hint }),
            Err(error) => Err(self.not_understood(name, &error)),
        }
    }

    /// Like [`Link::command`], with the answer parsed into a type.
    pub(crate) fn ask<T: DeserializeOwned>(&mut self, name: &str, with: Value) -> Result<T, Error> {
        let answer = self.command(name, with)?;
        serde_json::from_value(answer).map_err(|error| self.not_understood(name, &error))
    }

    /// Like [`Link::command`], with a longer timeout.
    pub(crate) fn patiently<T>(
        &mut self,
        within: Duration,
        ask: impl FnOnce(&mut Link) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.reply_within = within;
        let asked = ask(self);
        self.reply_within = REPLY_WITHIN;
        asked
    }

    /// Returns and clears the agent's log lines.
    pub fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    fn not_understood(&self, command: &str, error: &serde_json::Error) -> Error {
        Error::Reply { pid: self.pid, command: command.to_string(), reason: error.to_string() }
    }
}

impl Drop for Link {
    /// Detaches the agent. Changes that should remain keep their agent loaded.
    fn drop(&mut self) {
        self.from.get_mut().extend(GONE_WITHIN);
        let _ = protocol::write_detach(&mut self.to);
        // Wait for its last frame, so that the next attach does not meet this agent.
        while !matches!(protocol::read_frame(&mut self.from), Ok(Frame::Bye(_)) | Err(_)) {}
    }
}
