//! Code shared by all eBPF sources: whether eBPF is available, loading of programs, and the processes that are followed.

mod bytes;
mod following;
mod libelf;
mod process;
mod programs;
mod reader;
mod sums;
mod threads;
mod tracepoint;
mod unavailable;

pub(crate) use bytes::{Bytes, text};
pub(crate) use following::{PROVIDER, follow, follow_watched, followable};
use process::{FollowedProcess, pids};
pub(crate) use programs::Programs;
pub(crate) use reader::{Output, RECORDS_AT_ONCE, Rows};
pub(crate) use sums::bounds_ns;
use sums::{Losses, Sums};
pub(crate) use threads::{Named, NamedThreads};
pub(crate) use tracepoint::tracepoint;
pub use unavailable::Unavailable;
pub(crate) use unavailable::require;

use libbpf_rs::{MapCore, MapHandle, Object, ObjectBuilder, OpenMapMut, PrintLevel, RingBuffer, RingBufferBuilder};
use std::sync::{Mutex, PoisonError};

/// The most processes that one source follows; the same number as in `bpf/process.h`.
pub(crate) const PROCESSES: usize = 64;

/// The bytes of an object file, aligned as its parser requires.
#[repr(C, align(8))]
pub(crate) struct Aligned<T: ?Sized>(pub(crate) T);

/// A compiled file of `bpf/`, by its name.
macro_rules! object {
    ($name:literal) => {{
        static OBJECT: &$crate::ebpf::Aligned<[u8]> =
            &$crate::ebpf::Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o")));
        &OBJECT.0
    }};
}
pub(crate) use object;

/// The last messages of libbpf, which contain the kernel's reason for a failure.
static LIBBPF_LOG: Mutex<String> = Mutex::new(String::new());

/// Opens and loads an object. Its programs are not attached yet, and its maps can be set.
pub(crate) fn load(
    object: &'static [u8],
    mut set: impl FnMut(&str, &mut OpenMapMut<'_>) -> libbpf_rs::Result<()>,
) -> Result<Object, Unavailable> {
    LIBBPF_LOG.lock().unwrap_or_else(PoisonError::into_inner).clear();
    libbpf_rs::set_print(Some((PrintLevel::Warn, |_, text| {
        let mut log = LIBBPF_LOG.lock().unwrap_or_else(PoisonError::into_inner);
        // Keep the end of the log, which has the reason.
        if log.len() > 1 << 16 {
            log.clear();
        }
        log.push_str(&text);
    })));
    let loaded = ObjectBuilder::default().open_memory(object).and_then(|mut open| {
        for mut map in open.maps_mut() {
            let name = map.name().to_string_lossy().into_owned();
            set(&name, &mut map)?;
        }
        open.load()
    });
    loaded.map_err(refused)
}

/// The error for an operation that the kernel refused, with the kernel's reason.
pub(crate) fn refused(error: libbpf_rs::Error) -> Unavailable {
    Unavailable::load(&error, &LIBBPF_LOG.lock().unwrap_or_else(PoisonError::into_inner))
}

pub(crate) fn map(object: &Object, name: &str) -> libbpf_rs::Result<MapHandle> {
    let found = object.maps().find(|map| map.name() == name);
    let found = found.ok_or_else(|| libbpf_rs::Error::from(std::io::Error::other(format!("no map {name}"))));
    MapHandle::try_from(&found?)
}

/// The ring buffer of the programs; `take` is called with each complete record.
fn ring(records: &MapHandle, mut take: impl FnMut(&[u8]) + 'static) -> Result<RingBuffer<'static>, Unavailable> {
    let ring = MapHandle::try_from(records).and_then(|records| {
        let mut builder = RingBufferBuilder::new();
        builder.add(&records, move |bytes: &[u8]| {
            take(bytes);
            0
        })?;
        builder.build()
    });
    ring.map_err(refused)
}

/// The size of a ring buffer, rounded up as the kernel requires: a power of two, in whole pages.
pub(crate) fn ring_bytes(wanted: u32) -> u32 {
    // SAFETY: sysconf takes no pointers.
    let page = u32::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    wanted.clamp(page, 1 << 30).next_power_of_two()
}
