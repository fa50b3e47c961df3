//! Files that a user names.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The most bytes of a file that a person writes.
pub const WRITTEN_AT_MOST: u64 = 64 << 20;

/// Opens a file that a user named: a regular one, or an end of a pipe that is open already, as a shell gives it for `<(COMMAND)`.
/// Opening any other FIFO could wait for ever, and devices have no end.
///
/// # Errors
/// As for `open(2)`; [`ErrorKind::InvalidInput`] with the way out.
pub fn open(path: &Path) -> Result<File> {
    let facts = std::fs::metadata(path)?;
    if facts.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a folder; name a file in it"));
    }
    let is_open = ["/dev/stdin", "/dev/fd", "/proc/self/fd"].iter().any(|place| path.starts_with(place));
    if facts.is_file() || is_open {
        return File::open(path);
    }
    let reason = "it is no regular file; read from a pipe by /dev/stdin, as in `COMMAND | helenus ...`";
    Err(Error::new(ErrorKind::InvalidInput, reason))
}

/// Reads the text of a file that a user named, of at most `most` bytes.
///
/// # Errors
/// As [`open`]; [`ErrorKind::FileTooLarge`] if the file is longer; an error if the text is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    let mut text = String::new();
    let read = open(path)?.take(most.saturating_add(1)).read_to_string(&mut text);
    // A character may be cut in two at the limit.
    if text.len() as u64 > most || read.as_ref().is_ok_and(|bytes| *bytes as u64 > most) {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it has more than {} MiB", most >> 20)));
    }
    read.map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused_at_once() {
        let error = |path: &str| read_text(Path::new(path), 1 << 20).unwrap_err().to_string();
        assert!(error("/dev/zero").contains("/dev/stdin"), "{}", error("/dev/zero"));
        assert!(error("/proc").contains("folder"));
        let folder = std::env::temp_dir().join(format!("helenus-given-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let fifo = folder.join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        assert!(error(fifo.to_str().unwrap()).contains("no regular file"));
        let sparse = folder.join("sparse");
        File::create(&sparse).unwrap().set_len(200 << 30).unwrap();
        assert!(error(sparse.to_str().unwrap()).contains("more than 1 MiB"));
        let text = folder.join("text");
        std::fs::write(&text, "é\n").unwrap();
        assert_eq!(read_text(&text, 3).unwrap(), "é\n");
        assert_eq!(read_text(&text, 2).unwrap_err().kind(), ErrorKind::FileTooLarge);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
