//! One node: its files, its process, and waiting until it answers.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::addresses::Ports;
use crate::apart::apart;
use crate::failure::StartRefusal;
use crate::jars::Release;
use crate::java::Java;
use crate::jvm_options::{self, Jvm};
use crate::places::make_private;
use crate::settings::Settings;
use crate::{Cancel, ClusterOptions, Error, cql, failure};

const LOGBACK: &str = include_str!("../conf/logback.xml");

/// Where a node's files are.
#[derive(Debug)]
pub(crate) struct Folders {
    /// conf/, data/ and tmp/ of the node.
    pub(crate) home: PathBuf,
    pub(crate) logs: PathBuf,
}

impl Folders {
    /// Cassandra's own log.
    pub(crate) fn log(&self) -> PathBuf {
        self.logs.join("system.log")
    }

    /// The file with the JVM's stdout and stderr.
    pub(crate) fn output(&self) -> PathBuf {
        self.logs.join("output.log")
    }

    fn reason(&self) -> String {
        failure::reason(&read(&self.log()), &read(&self.output()))
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

/// A tool that reads the configuration, and then finds no such table (`Util.initDatabaseDescriptor`, 4.0 to 5.0).
const TOOL: [&str; 3] = ["org.apache.cassandra.tools.StandaloneSSTableUtil", "no_such_keyspace", "no_such_table"];
const TOOL_TAKES: Duration = Duration::from_secs(60);

/// Waits until a tool has ended. One that takes too long is killed: None.
///
/// # Errors
/// When cancelled, after the tool was killed.
pub(crate) fn ended(tool: &mut Child, cancel: &Cancel) -> Result<Option<ExitStatus>, Error> {
    let begun = Instant::now();
    loop {
        match tool.try_wait() {
            Ok(Some(status)) => return Ok(Some(status)),
            _ if cancel.is_cancelled() || begun.elapsed() > TOOL_TAKES => break,
            _ => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    // The child may have ended meanwhile.
    let _ = tool.kill().and_then(|()| tool.wait());
    if cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(None) }
}

/// The facts that a node is started with.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) options: &'a ClusterOptions,
    pub(crate) release: &'a Release,
    pub(crate) java: &'a Java,
    pub(crate) ip: Ipv4Addr,
    pub(crate) seed: Ipv4Addr,
    pub(crate) folders: &'a Folders,
}

impl Plan<'_> {
    /// Writes the node's files and gives the command that runs it.
    pub(crate) fn prepare(&self) -> Result<Command, Error> {
        self.command(&["org.apache.cassandra.service.CassandraDaemon"])
    }

    /// Runs one of Cassandra's tools with the node's files, JVM options and settings, which reads them as a node does.
    pub(crate) fn rehearse(&self, cancel: &Cancel) -> Result<(), Error> {
        let mut command = self.command(&TOOL)?;
        let program = self.java.program();
        let mut child = command.spawn().map_err(|source| Error::Spawn { program, source })?;
        // A JVM with debugger options would wait for a debugger, and not check the other options.
        let Some(status) = ended(&mut child, cancel)? else { return Ok(()) };
        let output = read(&self.folders.output());
        match failure::of_rehearsal(status.code(), &output) {
            Some(StartRefusal::Options(why)) => {
                Err(Error::JvmRefuses { given: self.options.jvm_options.join(" "), why })
            }
            Some(StartRefusal::Settings(why)) => Err(Error::SettingsRefused { version: self.options.version, why }),
            None => Ok(()),
        }
    }

    fn command(&self, main: &[&str]) -> Result<Command, Error> {
        let Folders { home, logs } = self.folders;
        let (conf, data, scratch) = (home.join("conf"), home.join("data"), home.join("tmp"));
        for folder in [&conf.join("triggers"), &data, &scratch, logs] {
            make_private(folder)?;
        }
        let options = self.options;
        let ports = Ports { native: options.native_port, storage: options.storage_port };
        let mut settings = Settings::of_node(options.version.line(), &options.name, self.ip, self.seed, ports);
        for given in &options.settings {
            settings.set(given)?;
        }
        write(&conf.join("cassandra.yaml"), settings.to_yaml())?;
        write(&conf.join("logback.xml"), LOGBACK)?;
        // Read by the snitches that know racks, if one is set.
        write(&conf.join("cassandra-rackdc.properties"), "dc=dc1\nrack=rack1\n")?;
        let hints = std::fs::read_to_string(self.release.compiler_hints()).unwrap_or_default();
        write(&conf.join("hotspot_compiler"), &hints)?;

        let ready = options.ready.map(|_| home.join("helenus-agent.jar"));
        if let Some((jar, bytes)) = ready.as_deref().zip(options.ready) {
            write(jar, bytes)?;
        }
        let jamm = self.release.jamm()?;
        let jvm = Jvm {
            feature: self.java.feature,
            heap: &options.heap,
            jamm: jamm.as_deref(),
            ready: ready.as_deref(),
            user: &options.jvm_options,
            conf: &conf,
            data: &data,
            logs,
            scratch: &scratch,
            ring: options.nodes > 1,
        };
        let mut class_path = conf.clone().into_os_string();
        for jar in self.release.jars()? {
            class_path.push(":");
            class_path.push(jar);
        }
        let output = self.folders.output();
        let open = || {
            OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(&output)
                .map_err(Error::file("write", &output))
        };
        let mut command = Command::new(self.java.program());
        command.args(jvm_options::options(&jvm)).args(main);
        // The class path is passed in the environment, so that the command line in ps stays readable.
        command.env("CLASSPATH", class_path);
        // The same value as in cassandra-env.sh.
        command.env("MALLOC_ARENA_MAX", "4");
        for variable in jvm_options::FOREIGN {
            command.env_remove(variable);
        }
        command.current_dir(home).stdin(Stdio::null()).stdout(open()?).stderr(open()?);
        Ok(command)
    }

    /// Waits until the node answers CQL.
    ///
    /// # Errors
    /// At once when its process ends, with the reason; after the start's bound when it hangs;
    /// when cancelled. The process is left to the caller.
    pub(crate) fn wait_ready(&self, child: &mut Child, cancel: &Cancel) -> Result<Duration, Error> {
        let begun = Instant::now();
        let bound = self.options.start_timeout;
        let address = SocketAddr::from((self.ip, self.options.native_port));
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(Error::NodeDied {
                    address,
                    how: self.how(status),
                    reason: self.folders.reason(),
                    log: self.folders.log(),
                });
            }
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if cql::answers(address, Duration::from_secs(2)) {
                return Ok(begun.elapsed());
            }
            if begun.elapsed() > bound {
                let last =
                    failure::last_lines(&format!("{}\n{}", read(&self.folders.output()), read(&self.folders.log())), 6);
                return Err(Error::NodeHangs { address, waited: bound, last, log: self.folders.log() });
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn how(&self, status: ExitStatus) -> String {
        match status.signal() {
            Some(libc::SIGKILL) => format!(
                "killed by signal 9; if nobody did that, the kernel was out of memory: try a heap below {}",
                self.options.heap
            ),
            Some(signal) => format!("killed by signal {signal}"),
            None => format!("exit code {}", status.code().unwrap_or_default()),
        }
    }
}

/// Writes a file that only the node's user can change, whatever the umask, because the node executes its content.
fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    opened.and_then(|mut file| file.write_all(bytes.as_ref())).map_err(Error::file("write", path))
}

/// Starts processes that outlive this one ([`apart`]).
#[derive(Debug)]
pub(crate) enum Launcher {
    /// The processes outlive this one.
    Detached,
    /// They are killed when the launcher is dropped or this process ends for any reason.
    ///
    /// The kernel ties a child's death to the *thread* that forked it (PR_SET_PDEATHSIG,
    /// prctl(2)), so one thread does all the forking and lives as long as the launcher.
    Tied { commands: Option<mpsc::Sender<Order>>, thread: Option<JoinHandle<()>> },
}

type Order = (Command, mpsc::Sender<io::Result<Child>>);

impl Launcher {
    pub(crate) fn tied() -> Self {
        let (commands, received) = mpsc::channel::<Order>();
        let thread = std::thread::spawn(move || {
            for (mut command, reply) in received {
                // If no thread waits for the reply, the launcher's owner is gone too.
                let _ = reply.send(spawn(&mut command, true));
            }
        });
        Self::Tied { commands: Some(commands), thread: Some(thread) }
    }

    pub(crate) fn launch(&self, mut command: Command) -> Result<Child, Error> {
        let program = PathBuf::from(command.get_program());
        let result = match self {
            Self::Detached => spawn(&mut command, false),
            Self::Tied { commands, .. } => {
                let (reply, received) = mpsc::channel();
                let sent = commands.as_ref().is_some_and(|commands| commands.send((command, reply)).is_ok());
                let gone = || io::Error::other("the launching thread has ended");
                if sent { received.recv().unwrap_or_else(|_| Err(gone())) } else { Err(gone()) }
            }
        };
        result.map_err(|source| Error::Spawn { program, source })
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        if let Self::Tied { commands, thread } = self {
            drop(commands.take());
            // The thread only forks: a panic in it has nothing to report.
            let _ = thread.take().map(JoinHandle::join);
        }
    }
}

fn spawn(command: &mut Command, tied: bool) -> io::Result<Child> {
    let parent = std::process::id() as i32;
    let command = apart(command);
    if tied {
        // SAFETY: only async-signal-safe system calls between fork and exec.
        unsafe {
            command.pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                    return Err(io::Error::last_os_error());
                }
                // The parent may have died before the line above took effect.
                if libc::getppid() != parent {
                    libc::_exit(1);
                }
                Ok(())
            });
        }
    }
    command.spawn()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Command {
        let mut command = Command::new("sleep");
        command.arg("60");
        command
    }

    #[test]
    fn tied_processes_die_with_their_launcher() {
        let launcher = Launcher::tied();
        let mut child = launcher.launch(sleeper()).unwrap();
        drop(launcher);
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn detached_processes_outlive_it_in_their_own_session() {
        let launcher = Launcher::Detached;
        let mut child = launcher.launch(sleeper()).unwrap();
        drop(launcher);
        // SAFETY: plain system call.
        assert_eq!(unsafe { libc::getsid(child.id() as i32) }, child.id() as i32);
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Launcher::tied().launch(Command::new("/no/such/java")).unwrap_err().to_string();
        assert!(error.contains("/no/such/java"), "{error}");
    }
}
