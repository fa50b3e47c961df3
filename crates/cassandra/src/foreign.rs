//! Reads of other users' files and sockets, bounded in size and in time; only regular files are opened.
//!
//! A FIFO without a writer, a link to /dev/zero, a sparse file of 200 GiB or an endless, slow answer must not hang or exhaust
//! a `helenus` that runs as root.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Most bytes read of a /proc file whose length the process itself decides: its arguments, its environment, its mappings.
const PROC_BYTES_AT_MOST: u64 = 64 << 20;

/// How long the memory of a process may take to be read.
const MEMORY_WITHIN: Duration = Duration::from_secs(2);

/// Opens a regular file for reading. Anything else (a FIFO, a device, a socket, a folder) is refused without being opened:
/// opening alone makes some devices act, and waits for a FIFO's other end.
///
/// # Errors
/// As for `open(2)`; [`io::ErrorKind::InvalidInput`] when it is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_path(path, 0).and_then(|found| reopen(&found))
}

/// Like [`open_regular`], but also refuses a symbolic link.
///
/// # Errors
/// As [`open_regular`].
pub fn open_regular_no_link(path: &Path) -> io::Result<File> {
    open_path(path, libc::O_NOFOLLOW).and_then(|found| reopen(&found))
}

fn open_path(path: &Path, flags: libc::c_int) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_PATH | flags).open(path)
}

/// Reopens for reading a descriptor that was opened with O_PATH, if its file is a regular one.
pub(crate) fn reopen(found: &File) -> io::Result<File> {
    if !found.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let path = format!("/proc/self/fd/{}", found.as_raw_fd());
    // So that opening does not wait for a process that holds a lease on the file.
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

/// Reads to the end, but not more than `most` bytes.
pub fn read_at_most(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {most} bytes")));
    }
    Ok(bytes)
}

/// Reads a file of /proc about a process; bytes that are not UTF-8 are replaced.
///
/// # Errors
/// As [`read_at_most`].
pub fn read_proc(path: impl AsRef<Path>) -> io::Result<String> {
    let bytes = read_at_most(File::open(path)?, PROC_BYTES_AT_MOST)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Like [`read_proc`], for files that the kernel reads from the process's own memory: arguments and environment. If
/// that memory maps a file, its server may never answer (FUSE, NFS).
///
/// # Errors
/// As [`read_proc`]; [`io::ErrorKind::TimedOut`] without an answer.
pub fn read_memory_of(path: impl AsRef<Path>) -> io::Result<String> {
    read_within(path.as_ref().to_path_buf(), MEMORY_WITHIN)
}

fn read_within(path: PathBuf, time: Duration) -> io::Result<String> {
    let (say, read) = channel();
    // If the read never returns, the thread stays until this process ends.
    std::thread::Builder::new().name("read-memory".into()).spawn(move || {
        // The caller stopped waiting after its timeout.
        let _ = say.send(read_proc(path));
    })?;
    let no_answer = || io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {time:?}"));
    read.recv_timeout(time).unwrap_or_else(|_| Err(no_answer()))
}

/// A stream that can be told how long to wait.
pub trait Waits {
    /// # Errors
    /// Errors as for `setsockopt(2)`.
    fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()>;
}

impl Waits for TcpStream {
    fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(time)?;
        self.set_write_timeout(time)
    }
}

impl Waits for UnixStream {
    fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(time)?;
        self.set_write_timeout(time)
    }
}

/// A stream with one deadline for all its reads and writes together, however small the pieces are. After the deadline they
/// give [`io::ErrorKind::TimedOut`].
#[derive(Debug)]
pub struct Until<S> {
    stream: S,
    until: Instant,
}

impl<S: Waits> Until<S> {
    pub fn new(stream: S, within: Duration) -> Until<S> {
        Until { stream, until: Instant::now() + within }
    }

    /// Moves the deadline to this long from now.
    pub fn extend(&mut self, within: Duration) {
        self.until = Instant::now() + within;
    }

    fn wait(&self) -> io::Result<()> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.wait_at_most(Some(left))
    }
}

/// The error of a socket whose time is over, as [`io::ErrorKind::TimedOut`].
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { error }
}

impl<S: Read + Waits> Read for Until<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.wait()?;
        self.stream.read(into).map_err(timed_out)
    }
}

impl<S: Write + Waits> Write for Until<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait()?;
        self.stream.write(bytes).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        let fifo = CString::new(at("fifo").to_str().unwrap()).unwrap();
        // SAFETY: NUL-terminated, and alive over the call.
        assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);

        let text = |file: io::Result<File>| String::from_utf8(read_at_most(file.unwrap(), 100).unwrap()).unwrap();
        assert_eq!(text(open_regular(&at("file"))), "text");
        assert_eq!(text(open_regular(&at("link"))), "text");
        assert_eq!(text(open_regular_no_link(&at("file"))), "text");
        assert!(open_regular_no_link(&at("link")).is_err());
        // Each of these files could be read forever.
        for name in ["zero", "fifo"] {
            assert_eq!(open_regular(&at(name)).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        assert!(open_regular(folder.path()).is_err());
    }

    #[test]
    fn what_has_no_end_is_not_read_for_ever() {
        assert_eq!(read_at_most(io::repeat(7), 1000).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_at_most(&[7; 1000][..], 1000).unwrap().len(), 1000);
        assert_eq!(read_proc("/dev/zero").unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn memory_that_does_not_answer_is_not_waited_for_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        let fifo = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: NUL-terminated, and alive over the call.
        assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
        assert_eq!(read_within(path.clone(), Duration::from_millis(20)).unwrap_err().kind(), io::ErrorKind::TimedOut);
        // The thread ends when the other side closes the connection.
        drop(File::options().read(true).write(true).open(&path).unwrap());
        assert!(read_memory_of("/proc/self/cmdline").unwrap().contains('\0'));
    }

    #[test]
    fn a_stream_that_drips_ends_in_time() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        // Each byte comes in time for itself, but all together take too long.
        let dripping = std::thread::spawn(move || {
            while theirs.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let mut ours = Until::new(ours, Duration::from_millis(100));
        assert_eq!(ours.read_to_end(&mut Vec::new()).unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(ours);
        dripping.join().unwrap();
    }

    #[test]
    fn a_stream_that_nobody_reads_ends_in_time() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut ours = Until::new(ours, Duration::from_millis(50));
        assert_eq!(ours.write_all(&vec![0; 16 << 20]).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
