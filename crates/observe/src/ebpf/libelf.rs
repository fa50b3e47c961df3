//! The functions of libelf that libbpf calls, passed on to the machine's own libelf, which is opened when the first is
//! called.
//!
//! elfutils' libelf is LGPL, so it is not linked statically. If it were linked dynamically, the binary would not start
//! on a machine without it, although only eBPF needs it.

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

const LIBRARY: &CStr = c"libelf.so.1";

/// A function of five words, the most that any of these functions takes. By the calling conventions of Linux on x86-64
/// and AArch64 further arguments are in registers that a callee ignores.
type Function = unsafe extern "C" fn(usize, usize, usize, usize, usize) -> usize;

/// Whether this machine has a libelf.
pub(super) fn is_here() -> bool {
    library().is_some()
}

/// The handle of the opened library, which is never closed.
fn library() -> Option<*mut c_void> {
    static HANDLE: OnceLock<Option<usize>> = OnceLock::new();
    // SAFETY: the name ends with a nul, and libelf does nothing when it is loaded.
    let open = || unsafe { libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    HANDLE.get_or_init(|| Some(open() as usize).filter(|handle| *handle != 0)).map(|handle| handle as *mut c_void)
}

fn function(name: &CStr) -> Option<Function> {
    // SAFETY: the handle is of a library that stays open.
    let address = unsafe { libc::dlsym(library()?, name.as_ptr()) };
    // SAFETY: it is the address of a function of libelf, all of which take up to five words and return at most one.
    (!address.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Function>(address) })
}

/// Defines functions that call libelf's. Without libelf they return 0, which libelf returns for an error.
macro_rules! passed_on {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(a: usize, b: usize, c: usize, d: usize, e: usize) -> usize {
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            };
            // SAFETY: the caller passes the arguments of the function with this name.
            function(NAME).map_or(0, |function| unsafe { function(a, b, c, d, e) })
        }
    )*};
}

passed_on! {
    elf64_getehdr elf64_getshdr elf_begin elf_end elf_errmsg elf_getdata elf_getphdrnum elf_getscn elf_getshdrnum
    elf_getshdrstrndx elf_kind elf_memory elf_ndxscn elf_nextscn elf_rawdata elf_strptr elf_version gelf_getclass
    gelf_getehdr gelf_getnote gelf_getphdr gelf_getshdr gelf_getsym gelf_getverdaux gelf_getverdef gelf_getversym
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 is the only version that exists; unknown versions are refused with 0.
    #[test]
    fn calls_reach_the_machines_libelf() {
        assert!(is_here());
        // SAFETY: the function takes one number.
        let versions = unsafe { [elf_version(1, 0, 0, 0, 0), elf_version(99, 0, 0, 0, 0)] };
        assert_eq!(versions, [1, 0]);
        assert!(function(c"elf_no_such_function").is_none());
    }

    /// The name of its symbols' version is in each program that is linked with it.
    #[test]
    fn the_linker_takes_these_and_not_the_library() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let version = ["ELFUTILS", "1.0"].join("_").into_bytes();
        assert!(!program.windows(version.len()).any(|window| window == version));
    }
}
