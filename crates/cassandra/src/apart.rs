//! Processes that outlive the command that started them.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// First descriptor after standard input, output and error.
const FIRST_OTHER: u32 = 3;
/// The most descriptors that are marked one by one, if the kernel can't mark them all in one call.
const MARKED_ONE_BY_ONE: libc::rlim_t = 1 << 16;

/// Makes `command` start in a session of its own, so that a terminal's signals do not reach it, and only with the
/// descriptors 0, 1 and 2. Other descriptors that our caller has open, such as the lock of `flock LOCK helenus up` or
/// the end of a pipe, would otherwise stay open for as long as the process lives.
pub fn apart(command: &mut Command) -> &mut Command {
    // SAFETY: only async-signal-safe system calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() < 0 {
                return Err(io::Error::last_os_error());
            }
            keep_standard_streams();
            Ok(())
        })
    }
}

/// Marks all other descriptors to be closed at exec. The standard library reports a failed exec over one of them, so it
/// must stay open until then.
fn keep_standard_streams() {
    // SAFETY: plain system calls; no memory is passed but `limit`, which is ours.
    unsafe {
        // Since Linux 5.11; a container's seccomp may refuse it.
        if libc::syscall(libc::SYS_close_range, FIRST_OTHER, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) == 0 {
            return;
        }
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        for descriptor in FIRST_OTHER as libc::c_int..limit.rlim_cur.min(MARKED_ONE_BY_ONE) as libc::c_int {
            libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    /// A descriptor that children inherit, like those that our caller has left open.
    fn inherited() -> OwnedFd {
        let file = std::fs::File::open("/dev/null").unwrap();
        // SAFETY: plain system call; the new descriptor has no other owner.
        unsafe { OwnedFd::from_raw_fd(libc::dup(file.as_raw_fd())) }
    }

    fn descriptors(pid: u32) -> Vec<i32> {
        let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        let mut open: Vec<i32> =
            entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect();
        open.sort_unstable();
        open
    }

    #[test]
    fn a_process_apart_has_the_standard_streams_and_its_own_session() {
        let held = inherited();
        let mut child = apart(Command::new("sleep").arg("60")).spawn().unwrap();
        let open = descriptors(child.id());
        // SAFETY: plain system call.
        let session = unsafe { libc::getsid(child.id() as i32) };
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(open, [0, 1, 2], "{held:?} is not handed on");
        assert_eq!(session, child.id() as i32);
    }

    #[test]
    fn a_program_that_is_not_there_is_still_an_error() {
        let error = apart(&mut Command::new("/no/such/program")).spawn().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
