//! Files in the target's /tmp, removed however this process ends.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::channel::{open_at, unlink_at};
use super::lock::AttachLock;
use crate::foreign;

/// A shell script whose standard input ends when this process ends, by whatever signal; then it removes the files.
const REMOVE_AFTERWARDS: &str = "trap '' HUP INT TERM; read -r _; exec rm -f -- \"$@\"";

/// Files in a folder that are removed on drop, or by a helper process if this process is killed. The helper has the
/// folder as its working directory, so that it never touches another folder, even if this one is moved.
#[derive(Debug)]
pub(super) struct Leftovers {
    folder: OwnedFd,
    names: Vec<String>,
    /// None if there is no shell for the helper.
    beside: Option<Child>,
}

impl Leftovers {
    /// Call before the files are created. The lock stays held until they are removed.
    pub(super) fn watch(folder: OwnedFd, names: Vec<String>, lock: Option<&AttachLock>) -> Leftovers {
        let beside = Command::new("/bin/sh")
            .args(["-c", REMOVE_AFTERWARDS, "helenus-leftovers"])
            .args(&names)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))
            // Signals that a terminal sends to its foreground group do not reach it.
            .process_group(0)
            .stdin(Stdio::piped())
            // The shell writes nothing.
            .stdout(lock.and_then(AttachLock::share).map_or_else(Stdio::null, Stdio::from))
            .stderr(Stdio::null())
            .spawn();
        Leftovers { folder, names, beside: beside.ok() }
    }

    /// Opens one of the files, which must be a regular file of that user.
    pub(super) fn open(&self, name: &str, owner: u32) -> io::Result<File> {
        use std::os::unix::fs::MetadataExt;
        let found = File::from(open_at(self.folder.as_raw_fd(), name, libc::O_PATH | libc::O_NOFOLLOW, 0)?);
        match found.metadata()?.uid() {
            uid if uid == owner => foreign::reopen(&found),
            uid => Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("it belongs to user {uid}"))),
        }
    }

    /// Removes the files now; a missing file is no error.
    pub(super) fn remove(&self) {
        for name in &self.names {
            // Another process may have removed it already.
            let _ = unlink_at(&self.folder, name);
        }
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        self.remove();
        if let Some(beside) = &mut self.beside {
            // A child of ours that has not been waited for: it has nothing left to do.
            let _ = beside.kill();
            let _ = beside.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::path::Path;
    use std::time::{Duration, Instant};

    const FOLDER: &str = "HELENUS_TEST_LEFTOVERS";

    fn folder_at(path: &Path) -> OwnedFd {
        open_at(libc::AT_FDCWD, path.to_str().unwrap(), libc::O_PATH | libc::O_DIRECTORY, 0).unwrap()
    }

    #[test]
    fn they_go_with_what_watches_them() {
        let path = tempfile::tempdir().unwrap();
        let folder = folder_at(path.path());
        let leftovers = Leftovers::watch(folder, vec!["one".into(), "never made".into()], None);
        for name in ["one", "other"] {
            std::fs::write(path.path().join(name), "").unwrap();
        }
        drop(leftovers);
        assert!(!path.path().join("one").exists() && path.path().join("other").exists());
    }

    #[test]
    fn only_the_users_own_regular_file_is_opened() {
        let path = tempfile::tempdir().unwrap();
        let folder = folder_at(path.path());
        let leftovers = Leftovers::watch(folder, vec!["file".into(), "zero".into()], None);
        std::fs::write(path.path().join("file"), "text").unwrap();
        std::os::unix::fs::symlink("/dev/zero", path.path().join("zero")).unwrap();
        let own = crate::process::own_uid();
        assert_eq!(std::io::read_to_string(leftovers.open("file", own).unwrap()).unwrap(), "text");
        assert!(leftovers.open("file", own + 1).is_err());
        assert!(leftovers.open("zero", own).is_err());
    }

    /// Not a test: the next test runs this as a child process, and kills it.
    #[test]
    #[ignore = "a part of another test"]
    fn watches_until_it_is_killed() {
        let Some(path) = std::env::var_os(FOLDER) else { return };
        let folder = folder_at(Path::new(&path));
        let _leftovers = Leftovers::watch(folder, vec!["agent.jar".into()], None);
        std::fs::write(Path::new(&path).join("agent.jar"), "").unwrap();
        println!("\nwritten");
        std::thread::sleep(Duration::from_secs(60));
    }

    #[test]
    fn they_go_when_the_process_is_killed() {
        let path = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "attach::leftovers::tests::watches_until_it_is_killed", "--ignored", "--nocapture"])
            .env(FOLDER, path.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "written"));
        let file = path.path().join("agent.jar");
        assert!(file.exists());
        child.kill().unwrap();
        child.wait().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while file.exists() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!file.exists());
    }
}
