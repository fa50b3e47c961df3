//! Recognizes the format of a file by its beginning.

use super::{Error, ImportFormat, folded, lines, perf, pprof, printed};
use std::io::{self, BufRead, Read};

/// The number of bytes that are read to recognize the format of a file.
const SNIFFED_BYTES: u64 = 1 << 16;
/// The number of lines that are looked at.
const LOOKED_AT: usize = 20;

/// The beginning of a file, up to and including its first line other than comments. perf's comments about a large
/// machine can be long, and so can a deep stack.
pub(super) fn head(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    loop {
        let before = head.len();
        from.by_ref().take(SNIFFED_BYTES).read_to_end(&mut head)?;
        let is_text = !head.contains(&0);
        let mut lines = head.split_inclusive(|byte| *byte == b'\n');
        let has_line = lines.any(|line| {
            let text = line.trim_ascii();
            line.ends_with(b"\n") && !text.is_empty() && !text.starts_with(b"#") && !text.starts_with(b"//")
        });
        if head.len() == before || !is_text || has_line || head.len() as u64 >= lines::LONGEST {
            return Ok(head);
        }
    }
}

/// Whether a line is one of those that people and tools write above folded stacks and the output of perf.
pub(super) fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('#') || line.starts_with("//")
}

pub(super) fn format(head: &[u8]) -> Result<ImportFormat, Error> {
    let other = |text: &str| Err(Error::Other(text.to_string()));
    if head.is_empty() {
        return other("it is empty");
    }
    if head.starts_with(b"FLR\0") {
        return Ok(ImportFormat::Jfr);
    }
    for (begins, unpack) in [
        (super::unpack::GZIP, "gunzip"),
        (&[0x28, 0xb5, 0x2f, 0xfd], "zstd -d"),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], "unxz"),
        (b"BZh", "bunzip2"),
        (&[0x04, 0x22, 0x4d, 0x18], "lz4 -d"),
        (b"PK\x03\x04", "unzip"),
    ] {
        if head.starts_with(begins) {
            return Err(Error::Other(format!("it is compressed; unpack it with {unpack} first")));
        }
    }
    if head.starts_with(b"PERFILE2") {
        return other(
            "it is perf's own file, which only perf reads: run `perf script -i FILE > FILE.txt` and import that",
        );
    }
    // The last one is the header of a CPU profile in words of 8 bytes: 0, and 3 further words.
    if ["heap profile:", "--- heapz", "--- contention", "goroutine profile:", "\0\0\0\0\0\0\0\0\x03"]
        .iter()
        .any(|begin| head.starts_with(begin.as_bytes()))
    {
        return other("it is a profile in an older format of pprof: convert it with `pprof -proto FILE > FILE.pb.gz`");
    }
    if pprof::looks_like(head) {
        return Ok(ImportFormat::Pprof);
    }
    let text = String::from_utf8_lossy(head);
    // Skip the byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !is_comment(line));
    let lines: Vec<&str> = lines.take(LOOKED_AT).collect();
    let Some(first) = lines.first() else {
        return other("it has comments alone, and no sample");
    };
    if perf::looks_like(first, lines.get(1).copied().unwrap_or_default()) {
        return Ok(ImportFormat::Perf);
    }
    if let Some(format) = printed::looks_like(text) {
        return Ok(format);
    }
    // A title may come first. Lines of prose may end with a number, but few do.
    let stacks = lines.iter().filter(|line| line.contains(';') && folded::is_line(line)).count();
    if folded::is_line(first) || stacks * 2 > lines.len() {
        return Ok(ImportFormat::Folded);
    }
    other(
        "it is neither a JFR file, nor a profile of pprof, nor what `perf script`, bpftrace or a tool of bcc prints, nor folded \
         stacks (frames with ; between them, and a weight); where it is one of them after all, say which with --format",
    )
}
