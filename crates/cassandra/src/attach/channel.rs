//! The socket of one JVM: getting it opened, and commands over it.

use std::ffi::CString;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::{Error, Reply, reply};
use crate::process::{self, Process};
use crate::target::Target;

/// Limits of `AttachOperation` in HotSpot.
const ARGUMENTS: usize = 3;
const LONGEST_COMMAND: usize = 16;
const LONGEST_ARGUMENT: usize = 1024;

/// Folders of the target, held open: in its mount namespace, whatever ours is.
#[derive(Debug)]
pub(super) struct Folders {
    pub(super) tmp: OwnedFd,
    /// Its working directory may be gone, or not ours to see.
    cwd: Option<OwnedFd>,
}

impl Folders {
    pub(super) fn open(target: &Target) -> Result<Self, Error> {
        // HotSpot uses /tmp itself for this, whatever java.io.tmpdir says.
        let tmp = open_folder(&format!("/proc/{}/root/tmp", target.pid)).map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => Error::NoPermission { pid: target.pid, user: target.user.clone() },
            _ if !target.is_alive() => Error::Ended { pid: target.pid },
            _ => Error::System { action: format!("open /tmp as process {} sees it", target.pid), source },
        })?;
        Ok(Self { tmp, cwd: open_folder(&format!("/proc/{}/cwd", target.pid)).ok() })
    }
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

/// renameat(2) within a folder; what has the new name is replaced.
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

/// Gives this thread the target's effective user and group, if they are others. For good: the
/// thread must end with the job.
pub(super) fn become_user(target: &Target) -> Result<(), Error> {
    // SAFETY: plain system calls. The bare ones, unlike libc's functions of these names, change
    // the calling thread only (setresuid(2), "C library/kernel differences").
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

    /// Whether the socket is there. One that nobody listens on is a remnant of an earlier JVM with
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
        match UnixStream::connect(self.socket_path()) {
            Ok(_) => Ok(true),
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

    /// Leaves the trigger file, signals, and waits for the socket.
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
            // Once, and once again half-way: the first may come while the JVM is busy with another.
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
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.target.pid)).unwrap_or_default();
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
                // Left by a client that was killed: as good as a new one, if the owner is right.
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

    /// One command over one connection.
    pub(super) fn execute(&self, command: &str, arguments: &[&str]) -> Result<Reply, Error> {
        let request = request(command, arguments)?;
        let pid = self.target.pid;
        let mut stream = UnixStream::connect(self.socket_path()).map_err(self.system("connect to the socket of"))?;
        self.check_peer(&stream)?;
        stream.set_read_timeout(Some(self.answer_bound)).map_err(self.system("set up the connection to"))?;
        stream.write_all(&request).map_err(self.system("write to"))?;
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Ok(_) => {}
            // The JVM resets the connection when it closes it unread.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                self.refuse_stopped()?;
                return Err(Error::Slow { pid, command: command.to_owned(), waited: self.answer_bound });
            }
            Err(error) => return Err(self.system("read from")(error)),
        }
        match reply::split(&answer) {
            Some((0, text)) => Ok(Reply { text }),
            Some((code, text)) => {
                let message = if text.trim().is_empty() { format!("code {code}") } else { text.trim().to_owned() };
                Err(Error::Refused { pid, command: command.to_owned(), message })
            }
            None => Err(Error::NoAnswer { pid }),
        }
    }

    /// The socket must be the target's: anybody can make a file in /tmp.
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

/// The file that makes SIGQUIT mean "open the socket"; removed at the end, or a later SIGQUIT
/// would not print a thread dump.
#[derive(Debug)]
struct Trigger<'a> {
    folder: &'a OwnedFd,
    name: String,
}

impl Drop for Trigger<'_> {
    fn drop(&mut self) {
        // Whoever removed it already did our work.
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
        // What follows a NUL would be taken for the next argument.
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
