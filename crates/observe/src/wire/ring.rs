//! Captures one node's packets through a ring buffer that is shared with the kernel.

use super::sample::Sample;
use crate::ebpf::Unavailable;
use libc::{c_int, c_void, socklen_t};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Bytes of a block, which holds the largest packet, or some thousand small ones.
const BLOCK_BYTES: u32 = 1 << 20;
/// Together the blocks hold a fifth of a second at 300 MB/s, a rate that reads of wide partitions reach, in case the
/// reader is delayed.
const BLOCKS: u32 = 64;
/// A block that is not full is passed on after this time.
pub(super) const HANDED_OVER_AFTER: Duration = Duration::from_millis(40);

pub(super) struct Ring {
    node: SocketAddr,
    socket: OwnedFd,
    memory: NonNull<u8>,
    next: u32,
}

/// A captured packet.
pub(super) struct Passed<'a> {
    /// The time on CLOCK_MONOTONIC.
    pub(super) time_ns: i64,
    /// The packet from its IP header on.
    pub(super) bytes: &'a [u8],
}

impl Ring {
    /// Captures packets from and to a node, in the network namespace of the calling thread.
    pub(super) fn open(node: SocketAddr) -> Result<Ring, Unavailable> {
        Ring::listen(node).map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Unavailable::new(
                "listening to packets needs root, or CAP_NET_RAW",
                "run it with sudo, or once: sudo setcap cap_net_raw,cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search+ep $(which helenus)",
            ),
            Some(libc::EAFNOSUPPORT) => {
                Unavailable::new("this kernel has no packet sockets", "run a kernel with CONFIG_PACKET=y")
            }
            _ => Unavailable::new(
                format!("the kernel gave no packet socket: {error}"),
                "look for a limit on memory or capabilities of this container",
            ),
        })
    }

    fn listen(node: SocketAddr) -> io::Result<Ring> {
        // Protocol 0 first, so that no packet arrives before the filter is set. SAFETY: socket takes no pointers and
        // returns a new descriptor.
        let socket = unsafe {
            let socket = checked(libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
            OwnedFd::from_raw_fd(socket)
        };
        attach_filter(&socket, node, Sample::default())?;
        if super::filter::stays(node) {
            // Before Linux 4.20 outgoing packets are dropped only by the filter, which costs more.
            let _ = set(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &c_int::from(true));
        }
        set(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V3 as c_int))?;
        let wanted = libc::tpacket_req3 {
            tp_block_size: BLOCK_BYTES,
            tp_block_nr: BLOCKS,
            // The kernel ignores these two, since packets are not in frames of fixed size, but requires that they agree
            // with the others.
            tp_frame_size: 1 << 11,
            tp_frame_nr: (BLOCK_BYTES >> 11) * BLOCKS,
            tp_retire_blk_tov: HANDED_OVER_AFTER.as_millis() as u32,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &wanted)?;
        // SAFETY: a new mapping, of the size that was set up.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                (BLOCK_BYTES * BLOCKS) as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        let memory = match NonNull::new(memory.cast::<u8>()) {
            Some(memory) if memory.as_ptr().cast() != libc::MAP_FAILED => memory,
            _ => return Err(io::Error::last_os_error()),
        };
        let ring = Ring { node, socket, memory, next: 0 };
        // SAFETY: all zeros are a valid address.
        let mut everything: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        everything.sll_family = libc::AF_PACKET as u16;
        everything.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        // SAFETY: the pointer is to an address of ours, with its size.
        checked(unsafe {
            libc::bind(ring.socket.as_raw_fd(), (&raw const everything).cast(), size_of_val(&everything) as socklen_t)
        })?;
        Ok(ring)
    }

    /// From now on, captures only packets of these connections.
    pub(super) fn follow(&self, sample: Sample) -> io::Result<()> {
        attach_filter(&self.socket, self.node, sample)
    }

    /// Passes on the packets of blocks that are full or old enough. Returns whether the buffer was nearly full.
    pub(super) fn read(&mut self, mut each: impl FnMut(Passed<'_>)) -> bool {
        // Packets have wall-clock times. They are converted with the present offset of the clocks, which is accurate
        // enough for recent packets.
        let ahead_ns = wall_ahead_ns();
        for blocks in 0..BLOCKS {
            // SAFETY: the block lies within the mapping, and its head is where the kernel has put it.
            let (block, head) = unsafe {
                let block = self.memory.as_ptr().add((self.next * BLOCK_BYTES) as usize);
                let head = &raw const (*block.cast::<libc::tpacket_block_desc>()).hdr.bh1;
                (block, head)
            };
            // SAFETY: the kernel writes the status atomically, and writes nothing else of the block once it is ours.
            let status = unsafe { AtomicU32::from_ptr((&raw const (*head).block_status).cast_mut()) };
            if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                return blocks >= BLOCKS / 16;
            }
            // SAFETY: the block belongs to us until its status is reset.
            let (packets, mut at) = unsafe { ((*head).num_pkts, (*head).offset_to_first_pkt as usize) };
            for _ in 0..packets {
                if at + size_of::<libc::tpacket3_hdr>() > BLOCK_BYTES as usize {
                    break;
                }
                // SAFETY: a packet's head lies within the block, and its bytes are checked to.
                let passed = unsafe {
                    let packet = &*block.add(at).cast::<libc::tpacket3_hdr>();
                    let start = at + usize::from(packet.tp_net);
                    let length = packet.tp_snaplen as usize;
                    at += packet.tp_next_offset as usize;
                    let inside = start + length <= BLOCK_BYTES as usize;
                    inside.then(|| Passed {
                        time_ns: i64::from(packet.tp_sec) * 1_000_000_000 + i64::from(packet.tp_nsec) - ahead_ns,
                        bytes: std::slice::from_raw_parts(block.add(start), length),
                    })
                };
                if let Some(passed) = passed {
                    each(passed);
                }
            }
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % BLOCKS;
        }
        true
    }

    /// Number of packets since the last call that were dropped because the buffer was full.
    pub(super) fn dropped(&self) -> u64 {
        let mut counts = libc::tpacket_stats_v3 { tp_packets: 0, tp_drops: 0, tp_freeze_q_cnt: 0 };
        let mut size = size_of_val(&counts) as socklen_t;
        // SAFETY: the pointers are to counts of ours, and their size.
        unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counts).cast::<c_void>(),
                &raw mut size,
            );
        }
        counts.tp_drops.into()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping has this size, and no slice of it is borrowed any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), (BLOCK_BYTES * BLOCKS) as usize) };
    }
}

fn attach_filter(socket: &OwnedFd, node: SocketAddr, sample: Sample) -> io::Result<()> {
    let mut filter = super::filter::for_node(node, sample);
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

fn set<T>(socket: &OwnedFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    // SAFETY: the pointer is to a value that is there during the call, with its size.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast::<c_void>(),
            size_of::<T>() as socklen_t,
        )
    })
    .map(drop)
}

fn checked(returned: c_int) -> io::Result<c_int> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

/// By how much the wall clock is ahead of CLOCK_MONOTONIC.
fn wall_ahead_ns() -> i64 {
    let clock = helenus_recording::Clock::measure();
    clock.epoch_offset_ns()
}
