//! Requirements of a test on its machine: root, programs, CPUs, a disk.
//!
//! A test that needs something begins with [`need!`]. Where that is missing the test ends there, prints `skipped: REASON`, and
//! adds a line to the file that `HELENUS_SKIPPED` names, from which `xtask/tests.sh` counts what was skipped.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

/// Ends the test, and says why, as soon as one of these results is an error.
#[macro_export]
macro_rules! need {
    ($($there:expr),+ $(,)?) => {
        $(if let Err(missing) = $there {
            $crate::skipped(&missing);
            return;
        })+
    };
}

/// Says that the test of the calling thread is skipped.
pub fn skipped(reason: &dyn Display) {
    eprintln!("skipped: {reason}");
    let Some(list) = std::env::var_os("HELENUS_SKIPPED") else { return };
    let line = format!("{}: {reason}\n", std::thread::current().name().unwrap_or("a test"));
    let written = std::fs::File::options().append(true).create(true).open(&list);
    if let Err(error) = written.and_then(|mut file| file.write_all(line.as_bytes())) {
        eprintln!("{} is not written: {error}", list.display());
    }
}

/// The rights of root, which loading programs into the kernel and making network namespaces take.
///
/// # Errors
/// A text that says that they are missing.
pub fn root() -> Result<(), String> {
    // SAFETY: geteuid takes no pointers and cannot fail.
    if unsafe { libc::geteuid() } == 0 { Ok(()) } else { Err("it needs root".to_string()) }
}

/// A program in the search path.
///
/// # Errors
/// A text that names it.
pub fn program(name: &str) -> Result<(), String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join(name).is_file()) {
        Ok(())
    } else {
        Err(format!("it needs {name}"))
    }
}

/// Requires this many CPUs that this process may run on.
///
/// # Errors
/// A text with both numbers.
pub fn cpus(wanted: usize) -> Result<(), String> {
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    if here >= wanted { Ok(()) } else { Err(format!("it needs {wanted} CPUs, and has {here}")) }
}

/// A folder that is on a disk and not in memory.
///
/// # Errors
/// A text that names it.
pub fn disk(folder: &Path) -> Result<(), String> {
    const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];
    let path = std::ffi::CString::new(folder.as_os_str().as_encoded_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: all zero is a value of it; the path ends with a zero, and the kernel writes one statfs.
    let (done, facts) = unsafe {
        let mut facts: libc::statfs = std::mem::zeroed();
        (libc::statfs(path.as_ptr(), &raw mut facts), facts)
    };
    if done == 0 && !IN_MEMORY.contains(&facts.f_type) {
        Ok(())
    } else {
        Err(format!("it needs {} on a disk", folder.display()))
    }
}
