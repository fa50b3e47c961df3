//! The attach socket of one JVM: opening it, and commands over it.

use std::ffi::CString;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::{Error, Reply, reply};
use crate::foreign::{Until, read_proc};
use crate::process::{self, Process};
use crate::target::Target;

/// Limits of `AttachOperation` in HotSpot.
const ARGUMENTS: usize = 3;
const LONGEST_COMMAND: usize = 16;
const LONGEST_ARGUMENT: usize = 1024;

/// Most bytes of an answer; a thread dump of ten thousand threads has a tenth of that.
const LONGEST_ANSWER_BYTES: u64 = 64 << 20;
/// Timeout of a connect that only checks whether a process listens.
const PROBED_WITHIN: Duration = Duration::from_secs(1);

/// Folders of the target, held open; they are those of its mount namespace.
#[derive(Debug)]
pub(super) struct Folders {
    pub(super) tmp: OwnedFd,
    /// Its working directory may be gone, or not ours to see.
    cwd: Option<OwnedFd>,
}

impl Folders {
    pub(super) fn open(target: &Target) -> Result<Self, Error> {
        // HotSpot always uses /tmp for this, and ignores java.io.tmpdir.
        let tmp = tmp_of(target.pid).map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => Error::NoPermission { pid: target.pid, user: target.user.clone() },
            _ if !target.is_alive() => Error::Ended { pid: target.pid },
            _ => Error::System { action: format!("open /tmp as process {} sees it", target.pid), source },
        })?;
        Ok(Self { tmp, cwd: open_folder(&format!("/proc/{}/cwd", target.pid)).ok() })
    }
}

/// A process's /tmp. Links in it are resolved within the process's root, and never out of it.
fn tmp_of(pid: i32) -> io::Result<OwnedFd> {
    let root = open_folder(&format!("/proc/{pid}/root"))?;
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::openat2(&root, "tmp", folder, Mode::empty(), ResolveFlags::IN_ROOT) {
        Ok(tmp) => Ok(tmp),
        // openat2 came with Linux 5.6, and a filter of system calls may not know it.
        Err(Errno::NOSYS | Errno::PERM) => {
            Ok(rustix::fs::openat(&root, "tmp", folder | OFlags::NOFOLLOW, Mode::empty())?)
        }
        Err(error) => Err(error.into()),
    }
}

/// Connects within the given time; connecting blocks while the listener accepts no connections.
fn connect_within(path: &str, within: Duration) -> io::Result<UnixStream> {
    // SAFETY: socket takes no pointers, and the descriptor that it returns is ours alone.
    let socket = unsafe {
        match libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) {
            -1 => return Err(io::Error::last_os_error()),
            socket => UnixStream::from(OwnedFd::from_raw_fd(socket)),
        }
    };
    // The write timeout also bounds connect (socket(7), SO_SNDTIMEO).
    socket.set_write_timeout(Some(within))?;
    // SAFETY: all zeroes is an address without a path.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // sun_path needs a final zero byte.
    if path.len() >= address.sun_path.len() {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    for (to, from) in address.sun_path.iter_mut().zip(path.bytes()) {
        *to = from as libc::c_char;
    }
    // SAFETY: the pointer is to an address of ours, with its size.
    let connected = unsafe {
        libc::connect(socket.as_raw_fd(), (&raw const address).cast(), size_of_val(&address) as libc::socklen_t)
    };
    if connected == 0 { Ok(socket) } else { Err(io::Error::last_os_error()) }
}

fn open_folder(path: &str) -> io::Result<OwnedFd> {
    open_at(libc::AT_FDCWD, path, libc::O_PATH | libc::O_DIRECTORY, 0)
}

/// openat(2).
pub(super) fn open_at(folder: RawFd, name: &str, flags: libc::c_int, mode: libc::mode_t) -> io::Result<OwnedFd> {
    let name = CString::new(name)?;
    // SAFETY: `name` is NUL-terminated and outlives the call; a descriptor it gives is ours alone.
    unsafe {
        match libc::openat(folder, name.as_ptr(), flags | libc::O_CLOEXEC, libc::c_uint::from(mode)) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// renameat(2) within a folder; a file of the new name is replaced.
pub(super) fn rename_at(folder: &OwnedFd, from: &str, to: &str) -> io::Result<()> {
    let (from, to) = (CString::new(from)?, CString::new(to)?);
    // SAFETY: both are NUL-terminated and outlive the call.
    match unsafe { libc::renameat(folder.as_raw_fd(), from.as_ptr(), folder.as_raw_fd(), to.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// unlinkat(2).
pub(super) fn unlink_at(folder: &OwnedFd, name: &str) -> io::Result<()> {
    let name = CString::new(name)?;
    // SAFETY: `name` is NUL-terminated and outlives the call.
    match unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// fstatat(2), symbolic links not followed.
pub(super) fn stat_at(folder: &OwnedFd, name: &str) -> io::Result<libc::stat> {
    let name = CString::new(name)?;
    let mut stat = MaybeUninit::uninit();
    // SAFETY: `name` is NUL-terminated; on success the kernel has filled `stat`.
    unsafe {
        match libc::fstatat(folder.as_raw_fd(), name.as_ptr(), stat.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW) {
            0 => Ok(stat.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Gives this thread the target's effective user and group, if they differ. This can't be undone, so the thread must
/// end with the job.
pub(super) fn become_user(target: &Target) -> Result<(), Error> {
    // SAFETY: plain system calls. System calls, unlike libc's functions of these names, change only the calling thread
    // (setresuid(2), "C library/kernel differences").
    unsafe {
        if libc::geteuid() == target.uid && libc::getegid() == target.gid {
            return Ok(());
        }
        // Only root can; a user's own JVM with another group is tried as it is.
        if libc::geteuid() != 0 {
            return Ok(());
        }
        let keep = -1 as libc::c_long;
        if libc::syscall(libc::SYS_setresgid, keep, libc::c_long::from(target.gid), keep) != 0
            || libc::syscall(libc::SYS_setresuid, keep, libc::c_long::from(target.uid), keep) != 0
        {
            let source = io::Error::last_os_error();
            return Err(Error::System { action: format!("act as user {}", target.user), source });
        }
    }
    Ok(())
}

/// A JVM that has opened its socket.
#[derive(Debug)]
pub(super) struct Channel<'a> {
    pub(super) target: &'a Target,
    pub(super) folders: Folders,
    answer_bound: Duration,
}

impl<'a> Channel<'a> {
    pub(super) fn open(
        target: &'a Target,
        folders: Folders,
        open_bound: Duration,
        answer_bound: Duration,
    ) -> Result<Self, Error> {
        let channel = Self { target, folders, answer_bound };
        channel.refuse_stopped()?;
        if !channel.has_socket()? {
            channel.have_it_opened(open_bound)?;
        }
        Ok(channel)
    }

    fn socket_name(&self) -> String {
        format!(".java_pid{}", self.target.inner_pid)
    }

    /// Whether the socket exists. A socket without a listener is left over from an earlier JVM with
    /// this pid and is removed, or the JVM could not make its own.
    fn has_socket(&self) -> Result<bool, Error> {
        let name = self.socket_name();
        match stat_at(&self.folders.tmp, &name) {
            Err(_) => return Ok(false),
            Ok(stat)
                if stat.st_mode & libc::S_IFMT != libc::S_IFSOCK
                    || (stat.st_uid != self.target.uid && stat.st_uid != 0) =>
            {
                let owner = format!("user {}", process::user_name(stat.st_uid));
                return Err(Error::ForeignSocket { pid: self.target.pid, path: format!("/tmp/{name}"), owner });
            }
            Ok(_) => {}
        }
        match connect_within(&self.socket_path(), PROBED_WITHIN) {
            Ok(_) => Ok(true),
            // No process accepts connections. The next command waits until its timeout, and its error says so.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                unlink_at(&self.folders.tmp, &name).map_err(self.system("remove the old socket of"))?;
                Ok(false)
            }
            Err(error) => Err(self.system("connect to the socket of")(error)),
        }
    }

    /// Short enough for a socket address however long the true path is.
    fn socket_path(&self) -> String {
        format!("/proc/self/fd/{}/{}", self.folders.tmp.as_raw_fd(), self.socket_name())
    }

    fn system(&self, action: &str) -> impl Fn(io::Error) -> Error + use<> {
        let action = format!("{action} JVM {}", self.target.pid);
        move |source| Error::System { action: action.clone(), source }
    }

    fn refuse_stopped(&self) -> Result<(), Error> {
        let pid = self.target.pid;
        match process::stat(pid) {
            Some(stat) if matches!(stat.state, 'T' | 't') => Err(Error::Suspended { pid }),
            _ if !self.target.is_alive() => Err(Error::Ended { pid }),
            _ => Ok(()),
        }
    }

    /// Creates the trigger file, sends the signal, and waits for the socket.
    fn have_it_opened(&self, bound: Duration) -> Result<(), Error> {
        let pid = self.target.pid;
        let process = Process::find(pid, self.target.start_ticks).ok_or(Error::Ended { pid })?;
        if !self.catches_sigquit() {
            return Err(Error::NotReady { pid });
        }
        let _trigger = self.trigger()?;
        let begun = Instant::now();
        let mut signals = 0;
        while !self.has_socket()? {
            let waited = begun.elapsed();
            if waited > bound {
                let hint = "it may have been started with -XX:+DisableAttachMechanism in an option file, or hang; its thread dump, if any, is in its output";
                return Err(Error::NoSocket { pid, waited: bound, hint });
            }
            self.refuse_stopped()?;
            // The signal is sent once, and again half-way: the first one may come while the JVM is busy with another.
            if signals == 0 || (signals == 1 && waited > bound / 2) {
                process.signal(libc::SIGQUIT).map_err(|error| match error.kind() {
                    io::ErrorKind::PermissionDenied => Error::NoPermission { pid, user: self.target.user.clone() },
                    _ => self.system("signal")(error),
                })?;
                signals += 1;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// A process without a handler would be ended by SIGQUIT: a JVM that is just starting, or one
    /// with -Xrs, which opens its socket by itself.
    fn catches_sigquit(&self) -> bool {
        let status = read_proc(format!("/proc/{}/status", self.target.pid)).unwrap_or_default();
        let caught = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
        caught.is_some_and(|mask| mask >> (libc::SIGQUIT - 1) & 1 == 1)
    }

    fn trigger(&self) -> Result<Trigger<'_>, Error> {
        let name = format!(".attach_pid{}", self.target.inner_pid);
        // The JVM looks in its working directory first, then in /tmp.
        let mut last = None;
        for folder in self.folders.cwd.iter().chain([&self.folders.tmp]) {
            match open_at(
                folder.as_raw_fd(),
                &name,
                libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_NOFOLLOW,
                0o600,
            ) {
                Ok(_) => return Ok(Trigger { folder, name }),
                // A file left by a killed client works as well as a new one, if it has the right owner.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if stat_at(folder, &name).is_ok_and(|stat| stat.st_uid == self.target.uid) {
                        return Ok(Trigger { folder, name });
                    }
                    last = Some(error);
                }
                Err(error) => last = Some(error),
            }
        }
        let source = last.unwrap_or_else(|| io::ErrorKind::NotFound.into());
        Err(self.system("leave a file for")(source))
    }

    /// Sends one command over one connection.
    pub(super) fn execute(&self, command: &str, arguments: &[&str]) -> Result<Reply, Error> {
        let request = request(command, arguments)?;
        let pid = self.target.pid;
        let failed = |action: &str, error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => match self.refuse_stopped() {
                Ok(()) => Error::Slow { pid, command: command.to_owned(), waited: self.answer_bound },
                Err(stopped) => stopped,
            },
            io::ErrorKind::FileTooLarge => {
                Error::Endless { pid, command: command.to_owned(), most: LONGEST_ANSWER_BYTES }
            }
            _ => self.system(action)(error),
        };
        let stream = connect_within(&self.socket_path(), self.answer_bound);
        let stream = stream.map_err(|error| failed("connect to the socket of", error))?;
        self.check_peer(&stream)?;
        let mut stream = Until::new(stream, self.answer_bound);
        stream.write_all(&request).map_err(|error| failed("write to", error))?;
        let answer = read_answer(stream).map_err(|error| failed("read from", error))?;
        match reply::split(&answer) {
            Some((0, text)) => Ok(Reply { text }),
            Some((code, text)) => {
                let message = if text.trim().is_empty() { format!("code {code}") } else { text.trim().to_owned() };
                Err(Error::Refused { pid, command: command.to_owned(), message })
            }
            None => Err(Error::NoAnswer { pid }),
        }
    }

    /// The socket must be the target's: any user can make a file in /tmp.
    fn check_peer(&self, stream: &UnixStream) -> Result<(), Error> {
        let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut length = size_of::<libc::ucred>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes into `peer`, which is that large.
        let result = unsafe {
            libc::getsockopt(
                stream.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut peer).cast(),
                &raw mut length,
            )
        };
        if result != 0 {
            return Err(self.system("ask for the owner of the socket of")(io::Error::last_os_error()));
        }
        // Process 0 is one that our PID namespace does not show.
        if peer.uid == self.target.uid && (peer.pid == self.target.pid || peer.pid == 0) {
            return Ok(());
        }
        let owner = format!("{} of user {}", process::describe(peer.pid), process::user_name(peer.uid));
        Err(Error::ForeignSocket { pid: self.target.pid, path: format!("/tmp/{}", self.socket_name()), owner })
    }
}

/// Reads until the JVM closes the connection.
fn read_answer(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    let mut limited = (&mut from).take(LONGEST_ANSWER_BYTES + 1);
    match limited.read_to_end(&mut answer) {
        // The JVM resets the connection when it closes it unread.
        Err(error) if error.kind() != io::ErrorKind::ConnectionReset => Err(error),
        _ if answer.len() as u64 > LONGEST_ANSWER_BYTES => Err(io::ErrorKind::FileTooLarge.into()),
        _ => Ok(answer),
    }
}

/// The file that makes SIGQUIT mean "open the socket"; removed at the end, or a later SIGQUIT
/// would not print a thread dump.
#[derive(Debug)]
struct Trigger<'a> {
    folder: &'a OwnedFd,
    name: String,
}

impl Drop for Trigger<'_> {
    fn drop(&mut self) {
        // Ignore the error: another process may have removed it.
        let _ = unlink_at(self.folder, &self.name);
    }
}

/// Version, command and always three arguments, each ended by NUL.
fn request(command: &str, arguments: &[&str]) -> Result<Vec<u8>, Error> {
    let mut request = b"1\0".to_vec();
    let most = std::iter::once(LONGEST_COMMAND).chain(std::iter::repeat(LONGEST_ARGUMENT));
    let parts = std::iter::once(&command).chain(arguments);
    let padding = std::iter::repeat_n(&"", ARGUMENTS.saturating_sub(arguments.len()));
    for (part, most) in parts.chain(padding).take(1 + ARGUMENTS).zip(most) {
        // The JVM would take the text after a NUL for the next argument.
        if part.len() > most || part.contains('\0') {
            return Err(Error::TooLong { argument: part.chars().take(60).collect(), length: part.len(), most });
        }
        request.extend(part.bytes());
        request.push(0);
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{self, TargetName};
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use std::os::unix::net::UnixListener;

    const LONG: Duration = Duration::from_secs(60);

    /// Sends a command to this very process, which listens like a JVM.
    fn execute(bound: Duration, jvm: impl FnOnce(UnixListener) + Send) -> Result<Reply, Error> {
        let folder = tempfile::tempdir().unwrap();
        let target = target::find(TargetName::Pid(std::process::id() as i32)).unwrap();
        let tmp = open_folder(folder.path().to_str().unwrap()).unwrap();
        let channel = Channel { target: &target, folders: Folders { tmp, cwd: None }, answer_bound: bound };
        let listener = UnixListener::bind(folder.path().join(channel.socket_name())).unwrap();
        std::thread::scope(|scope| {
            let jvm = scope.spawn(|| jvm(listener));
            let result = channel.execute("properties", &[]);
            jvm.join().unwrap();
            result
        })
    }

    /// Reads the command, and answers until the other side has closed the connection or the answer is complete.
    fn say(listener: &UnixListener, mut next: impl FnMut() -> Option<Vec<u8>>) {
        let mut stream = listener.accept().unwrap().0;
        stream.read_exact(&mut [0; b"1\0properties\0\0\0\0".len()]).unwrap();
        while let Some(bytes) = next() {
            if stream.write_all(&bytes).is_err() {
                break;
            }
        }
    }

    #[test]
    fn an_answer_without_end_is_not_read_for_ever() {
        let endless = execute(LONG, |listener| say(&listener, || Some(vec![b'0'; 1 << 20])));
        assert!(matches!(endless.unwrap_err(), Error::Endless { most: LONGEST_ANSWER_BYTES, .. }));
    }

    #[test]
    fn an_answer_that_drips_is_waited_for_no_longer_than_any_other() {
        let drip = || {
            std::thread::sleep(Duration::from_millis(10));
            Some(b"0".to_vec())
        };
        let dripping = execute(Duration::from_millis(100), |listener| say(&listener, drip));
        assert!(matches!(dripping.unwrap_err(), Error::Slow { .. }));
    }

    #[test]
    fn a_jvm_that_accepts_nobody_is_not_waited_for_for_ever() {
        let deaf = execute(Duration::from_millis(50), |listener| {
            // SAFETY: plain system call.
            assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
            // The backlog of one connection is full, so the next one waits.
            std::thread::sleep(Duration::from_millis(100));
        });
        assert!(matches!(deaf.unwrap_err(), Error::Slow { .. }));
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(29), cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn whatever_a_jvm_answers_is_a_reply_or_an_error(
            code in prop_oneof![Just("0\n".to_string()), "-?[0-9]{0,12}\n?", ".{0,8}"],
            rest in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2000), 0..4),
        ) {
            let answer = [code.as_bytes(), &rest.concat()].concat();
            let mut pieces = std::iter::once(code.into_bytes()).chain(rest);
            let result = execute(LONG, |listener| say(&listener, || pieces.next()));
            match (result, reply::split(&answer)) {
                (Ok(reply), Some((0, text))) => prop_assert_eq!(reply.text, text),
                (Err(Error::Refused { .. }), Some((code, _))) => prop_assert_ne!(code, 0),
                (Err(Error::NoAnswer { .. }), None) => {}
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn a_request_has_always_three_arguments() {
        assert_eq!(request("properties", &[]).unwrap(), b"1\0properties\0\0\0\0");
        assert_eq!(request("load", &["instrument", "false", "a=b"]).unwrap(), b"1\0load\0instrument\0false\0a=b\0");
    }

    #[test]
    fn what_the_jvm_would_cut_or_misread_is_refused() {
        assert!(matches!(request("load", &[&"x".repeat(1025)]), Err(Error::TooLong { length: 1025, most: 1024, .. })));
        assert!(request("load", &["a\0b"]).is_err());
        assert!(request("load", &[&"x".repeat(1024)]).is_ok());
    }
}
