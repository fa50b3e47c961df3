//! Disk reads of a real program, compared with the kernel's /proc/PID/io and /proc/PID/stat.
//!
//! The tests need root, a kernel with BTF, python3, and a temporary folder on a disk. They are skipped if one is
//! missing.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code, reason = "only the page cache is looked at here")]
mod following;

use following::{Program, Row, Watch, without_capabilities};
use helenus_needs::{need, program};
use helenus_observe::{Options, PageCacheOptions, Switch, page_cache_available};

const MIB: i64 = 1 << 20;

/// Files of 8 MiB each, none of them in the page cache: one is mapped and accessed at random, one is read by calls, one
/// is written. Three times as much is already in the cache, and read again.
const AHEAD: &str = "
import mmap
def make(name, mib):
    with open(folder + '/' + name, 'wb') as file:
        file.write(os.urandom(mib << 20))
        file.flush()
        os.fsync(file.fileno())
    return os.open(folder + '/' + name, os.O_RDWR)
mapped, called, cached = make('mapped', 8), make('called', 8), make('cached', 24)
for fd in (mapped, called): os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
memory = mmap.mmap(mapped, 8 << 20, prot=mmap.PROT_READ)
memory.madvise(mmap.MADV_RANDOM)
written = os.open(folder + '/written', os.O_RDWR | os.O_CREAT)
data = bytes(4 << 20)
";

const WORK: &str = "
touched = sum(memory[page << 12] for page in range(0, 2048, 16))
while os.read(called, 1 << 16): pass
while os.read(cached, 1 << 16): pass
os.write(written, data)
os.fsync(written)
";

fn all_that_is_needed() -> Result<(), String> {
    program("python3")?;
    page_cache_available().map_err(|missing| format!("the page cache cannot be followed: {missing}"))
}

/// Bytes that the kernel has fetched from a disk for a process, and its major faults.
fn truth(pid: u32) -> (i64, i64) {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    let bytes = io.lines().find_map(|line| line.strip_prefix("read_bytes: ")).unwrap().parse().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name = &stat[stat.rfind(')').unwrap() + 2..];
    (bytes, after_name.split(' ').nth(9).unwrap().parse().unwrap())
}

fn sum(rows: &[Row], file: &str, how: &str, column: &str) -> i64 {
    let of = rows.iter().filter(|row| row.text("file").ends_with(file) && row.text("how") == how);
    of.map(|row| row.number(column)).sum()
}

fn options() -> Options {
    Options { page_cache: PageCacheOptions { page_cache: Some(Switch::On) }, ..Options::default() }
}

#[test]
fn what_is_read_from_disks_is_told_by_file_and_way() {
    need!(all_that_is_needed(), helenus_needs::disk(&std::env::temp_dir()));
    let mut program = Program::start_with(AHEAD, WORK);
    let pid = program.child.id();
    let watch = Watch::start(&[("n", pid)], &options(), "page_cache");
    let before = truth(pid);
    program.work();
    let after = truth(pid);
    let ended = watch.end();
    let rows = ended.rows("page_cache");
    let (captured, lost, reasons) = ended.source("page_cache");
    assert_eq!((captured, lost, reasons), (i64::try_from(rows.len()).unwrap(), 0, vec![]));

    assert_eq!(sum(&rows, "/called", "call", "bytes"), 8 * MIB, "{rows:#?}");
    assert_eq!(sum(&rows, "/cached", "call", "bytes"), 0, "it was there");
    assert_eq!(sum(&rows, "/written", "call", "bytes"), 0, "what is written is not read");
    // Each access to a missing page is one fault, and random accesses cause no readahead.
    assert_eq!(sum(&rows, "/mapped", "mapping", "faults"), 128, "{rows:#?}");
    let mapped_bytes = sum(&rows, "/mapped", "mapping", "bytes");
    assert!((128 * 4096..=8 * MIB).contains(&mapped_bytes), "{mapped_bytes}");

    // The program's own libraries may be read as well.
    let all = |column: &str| rows.iter().map(|row| row.number(column)).sum::<i64>();
    assert_eq!(all("faults"), after.1 - before.1, "{rows:#?}");
    // A page of file system metadata, which belongs to no file, may be created without being read.
    let of_files: i64 = rows.iter().filter(|row| !row.text("file").is_empty()).map(|row| row.number("bytes")).sum();
    let read = after.0 - before.0;
    assert!((of_files..=all("bytes")).contains(&read), "{read}: {rows:#?}");
    assert!(rows.iter().all(|row| row.text("thread_group").starts_with("python") && row.text("node") == "n"));
    assert!(rows.iter().all(|row| row.number("inode") > 0 && row.text("device").contains(':')));
}

#[test]
fn without_the_right_to_load_programs_the_recording_says_so_and_goes_on() {
    need!(all_that_is_needed());
    let program = Program::start("pass");
    let options = options();
    let (reason, tables) = without_capabilities(program.child.id(), options, "page_cache");
    assert!(reason.is_some_and(|reason| reason.contains("needs root")));
    assert!(!tables.contains(&"page_cache".to_string()), "{tables:?}");
}
