//! HotSpot's dynamic attach: how jcmd, jstack and agents get into a running JVM.
//!
//! A client creates `.attach_pidN` in the JVM's working directory or /tmp and sends SIGQUIT; the
//! JVM, seeing the file, opens the socket /tmp/.java_pidN instead of printing a thread dump. One
//! connection carries one command: `1\0COMMAND\0ARG\0ARG\0ARG\0`, answered by a decimal result
//! code, a newline, and text, until the JVM closes it
//! (`attachListener_posix.cpp`, `attachListener.cpp` and `VirtualMachineImpl.java` in OpenJDK).
//! The protocol's version 1 is understood by all JVMs from 8 on.

mod channel;
mod file;
mod leftovers;
mod lock;
mod reply;
mod tmp;

use std::collections::BTreeMap;
use std::time::Duration;

pub use reply::Reply;
pub use tmp::WrittenFiles;

use crate::cgroup::Headroom;
use crate::foreign::read_memory_of;
use crate::process;
use crate::target::{Target, Vm, as_whom};
use channel::Channel;

/// Time that the JVM has to open its socket. A long safepoint or a swapped-out process takes
/// seconds.
const OPEN_BOUND: Duration = Duration::from_secs(15);
/// Time that a command has to answer; loading an agent runs its `agentmain`.
const ANSWER_BOUND: Duration = Duration::from_secs(60);

/// Memory that a JVM must have left for an agent and a profiler: classes, compiled code, queues and stacks.
const NEEDED_BYTES: u64 = 64 << 20;

/// Why the JVM could not be reached, or what it refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("process {pid} ({command}) is no Java virtual machine; give the --pid of a Cassandra node")]
    NotJvm { pid: i32, command: String },
    #[error(
        "process {pid} runs on OpenJ9, whose attach protocol is not spoken here; run the node on a HotSpot JVM (OpenJDK, Temurin, Corretto, …)"
    )]
    OpenJ9 { pid: i32 },
    #[error("process {pid} has ended")]
    Ended { pid: i32 },
    #[error("JVM {pid} belongs to user {user}; run as {} to attach to it", as_whom(user))]
    NoPermission { pid: i32, user: String },
    #[error(
        "JVM {pid} refuses attachment: it was started with {option}; start it without, or give it the agent at start with -javaagent"
    )]
    Disabled { pid: i32, option: String },
    #[error("process {pid} is stopped (SIGSTOP); continue it with `kill -CONT {pid}`")]
    Suspended { pid: i32 },
    #[error("JVM {pid} does not catch SIGQUIT yet; it is just starting, try again in a second")]
    NotReady { pid: i32 },
    #[error("JVM {pid} did not open its attach socket within {} s; {hint}", waited.as_secs())]
    NoSocket { pid: i32, waited: Duration, hint: &'static str },
    #[error("{path} is not the socket of process {pid} but of {owner}; it was not used")]
    ForeignSocket { pid: i32, path: String, owner: String },
    #[error("cannot {action}: {source}")]
    System { action: String, source: std::io::Error },
    #[error("JVM {pid} closed the attach connection without an answer; its log may say why")]
    NoAnswer { pid: i32 },
    #[error("JVM {pid} answers the command {command} with more than {} MiB; no JVM says so much, and it was not read further", most >> 20)]
    Endless { pid: i32, command: String, most: u64 },
    #[error("JVM {pid} did not answer the command {command} within {} s", waited.as_secs())]
    Slow { pid: i32, command: String, waited: Duration },
    #[error("the argument {argument:?} is {length} bytes long; the JVM takes at most {most}")]
    TooLong { argument: String, length: usize, most: usize },
    #[error("JVM {pid} refused the command {command}: {message}")]
    Refused { pid: i32, command: String, message: String },
    #[error(
        "JVM {pid} has {} MiB left below the limit of its control group {group} ({limit} {} MiB), and an agent takes up to {} MiB: the kernel could {} it; raise the limit, lower the node's heap, or record with --no-agent",
        left_bytes >> 20, limit_bytes >> 20, NEEDED_BYTES >> 20, if *kills { "kill" } else { "stall" }
    )]
    NoRoom { pid: i32, group: String, limit: &'static str, limit_bytes: u64, left_bytes: u64, kills: bool },
    #[error("JVM {pid} did not load the agent: {message}")]
    AgentFailed { pid: i32, message: String },
}

/// Sends one command with at most three arguments, such as `threaddump` or `jcmd` with
/// `VM.version`, and gives the JVM's answer.
///
/// # Errors
/// [`Error`]; a result code other than 0 is [`Error::Refused`].
pub fn execute(target: &Target, command: &str, arguments: &[&str]) -> Result<Reply, Error> {
    check(target)?;
    on_behalf_of(target, |channel| channel.execute(command, arguments))
}

/// The JVM's system properties.
///
/// # Errors
/// As [`execute`].
pub fn properties(target: &Target) -> Result<BTreeMap<String, String>, Error> {
    Ok(reply::read_properties(&execute(target, "properties", &[])?.text))
}

/// The output of `jcmd PID COMMAND`, for example of `VM.version` or `VM.flags`.
///
/// # Errors
/// As [`execute`].
pub fn jcmd(target: &Target, command: &str) -> Result<String, Error> {
    Ok(execute(target, "jcmd", &[command])?.text)
}

/// Loads a Java agent: runs `agentmain(options)` of `jar` in the target and returns when that has
/// returned.
///
/// The jar is written into the target's /tmp, readable by the target's user alone, and removed
/// before this function returns. The JVM keeps the jar open, so classes still load from it, but a
/// `getResource` that opens the jar by name again finds nothing; an agent must read its resources
/// in `agentmain`. The same bytes get the same name each time, so that attaching again does not
/// lengthen the target's class path. Therefore *other* bytes do not replace classes that an earlier
/// agent loaded; the further option `jar=PATH` names the current jar to an agent whose loader
/// outlives it. Another helenus that loads something into the JVM at the same time waits.
///
/// # Errors
/// [`Error::AgentFailed`] with the JVM's message; and as [`execute`].
pub fn load_agent(target: &Target, jar: &[u8], options: &str) -> Result<(), Error> {
    check(target)?;
    on_behalf_of(target, |channel| {
        let file = file::write(channel, "agent.jar", jar)?;
        let path = file.path_in_target();
        let argument = format!("{path}={options},jar={path}");
        let reply = channel.execute("load", &["instrument", "false", &argument]);
        // The file is removed whether loading went well or not.
        drop(file);
        reply::agent_result(&reply?.text).map_err(|message| Error::AgentFailed { pid: target.pid, message })
    })
}

/// Loads a native agent (JVMTI), or sends further options to a loaded one: runs its `Agent_OnAttach(options)` and
/// returns after it.
///
/// The library is written into the target's /tmp and removed before this returns. The same bytes
/// get the same name each time, by which the dynamic loader finds the library that is loaded
/// already, and does not load it twice.
///
/// # Errors
/// [`Error::AgentFailed`] with the JVM's answer; other errors as for [`execute`].
pub fn load_native(target: &Target, library: &[u8], options: &str) -> Result<(), Error> {
    check(target)?;
    on_behalf_of(target, |channel| {
        let file = file::write(channel, "profiler.so", library)?;
        let reply = channel.execute("load", &[&file.path_in_target(), "true", options]);
        // The file is removed whether loading went well or not.
        drop(file);
        reply::native_result(&reply?.text).map_err(|message| Error::AgentFailed { pid: target.pid, message })
    })
}

/// Refuses a target that cannot work before a signal is sent: SIGQUIT ends a process that does not
/// expect it.
///
/// # Errors
/// Why no agent can get in, as far as it shows from outside.
pub fn check(target: &Target) -> Result<(), Error> {
    let pid = target.pid;
    if !target.is_alive() {
        return Err(Error::Ended { pid });
    }
    match target.vm {
        Vm::None => return Err(Error::NotJvm { pid, command: target.command.clone() }),
        Vm::OpenJ9 => return Err(Error::OpenJ9 { pid }),
        Vm::HotSpot => {}
    }
    if process::own_uid() != 0 && process::own_uid() != target.uid {
        return Err(Error::NoPermission { pid, user: target.user.clone() });
    }
    match forbids(target) {
        Some(option) => Err(Error::Disabled { pid, option }),
        None => Ok(()),
    }
}

/// Refuses a target whose control group has too little memory left: the kernel would kill the JVM.
///
/// # Errors
/// [`Error::NoRoom`]; not if the limits can't be read.
pub fn check_memory(target: &Target) -> Result<(), Error> {
    match Headroom::of(target.pid) {
        Some(Headroom { group, limit, limit_bytes, left_bytes, kills }) if left_bytes < NEEDED_BYTES => {
            Err(Error::NoRoom { pid: target.pid, group, limit, limit_bytes, left_bytes, kills })
        }
        _ => Ok(()),
    }
}

/// The option that disables attachment, from the command line or the variables that the JVM reads
/// options from. Option files are not read: there the socket's absence tells.
fn forbids(target: &Target) -> Option<String> {
    let environment = read_memory_of(format!("/proc/{}/environ", target.pid)).unwrap_or_default();
    let variables = ["JAVA_TOOL_OPTIONS=", "JDK_JAVA_OPTIONS=", "_JAVA_OPTIONS="];
    let from_environment =
        environment.split('\0').filter_map(|entry| variables.iter().find_map(|name| entry.strip_prefix(name)));
    let mut options =
        from_environment.flat_map(str::split_ascii_whitespace).chain(target.arguments.iter().map(String::as_str));
    // If the option is given several times, the last one counts.
    let last =
        options.rfind(|option| matches!(*option, "-XX:+DisableAttachMechanism" | "-XX:-DisableAttachMechanism"))?;
    last.contains('+').then(|| last.to_owned())
}

/// Opens the channel and runs `work` with the target's user and group where they are not ours.
///
/// The JVM accepts only clients with its own effective user and group (from JDK 9 on also root). Linux keeps
/// credentials per thread, so a new thread takes the target's by direct system calls, does the work, and ends; nothing
/// has to be restored, and no other thread is affected.
fn on_behalf_of<T: Send>(
    target: &Target,
    work: impl FnOnce(&Channel<'_>) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let result = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // Opened with our own rights: root may look where the target's user may not.
            let folders = channel::Folders::open(target)?;
            channel::become_user(target)?;
            let channel = Channel::open(target, folders, OPEN_BOUND, ANSWER_BOUND)?;
            work(&channel)
        });
        worker.join()
    });
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
