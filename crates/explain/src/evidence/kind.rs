//! The kinds of causes.

use crate::association::Nature;
use serde::Serialize;

/// In the order of precedence: a request that overlapped several kinds is attributed to only one of them (see
/// `attribution`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CauseKind {
    ClientStall,
    GcPause,
    Safepoint,
    ServerStall,
    /// Stops of the kinds above that were waits for a CPU.
    CpuWait,
    /// Throttling by the CPU quota of a node's cgroup.
    Throttling,
    CompactionOrFlush,
    DiskWait,
    PageFaults,
    Retransmission,
    CpuSaturation,
    PoolQueue,
}

impl CauseKind {
    /// The name of the finding that reports this cause.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CauseKind::ClientStall => "client-stall",
            CauseKind::GcPause => "gc-pause",
            CauseKind::Safepoint => "safepoint",
            CauseKind::ServerStall => "server-stall",
            CauseKind::CompactionOrFlush => "compaction-or-flush",
            CauseKind::Throttling => "cpu-quota",
            CauseKind::DiskWait => "disk-wait",
            CauseKind::PageFaults => "page-faults",
            CauseKind::Retransmission => "retransmission",
            CauseKind::CpuWait | CauseKind::CpuSaturation => "cpu-saturation",
            CauseKind::PoolQueue => "pool-queue",
        }
    }

    /// The cause in the plural, as the subject of a sentence.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            CauseKind::ClientStall => "Stalls of the driver",
            CauseKind::GcPause => "GC pauses",
            CauseKind::Safepoint => "Safepoints",
            CauseKind::ServerStall => "Stalls of the server",
            CauseKind::CompactionOrFlush => "Compactions and flushes",
            CauseKind::CpuWait => "Waits for a CPU",
            CauseKind::Throttling => "Times beyond the CPU quota",
            CauseKind::DiskWait => "Times of slow disks",
            CauseKind::PageFaults => "Times of many page faults",
            CauseKind::Retransmission => "Retransmissions",
            CauseKind::CpuSaturation => "Busy CPUs",
            CauseKind::PoolQueue => "Queues",
        }
    }

    pub(crate) fn nature(self) -> Nature {
        match self {
            CauseKind::ClientStall
            | CauseKind::GcPause
            | CauseKind::Safepoint
            | CauseKind::ServerStall
            | CauseKind::CpuWait
            | CauseKind::Throttling => Nature::Stop,
            CauseKind::CompactionOrFlush
            | CauseKind::DiskWait
            | CauseKind::PageFaults
            | CauseKind::Retransmission
            | CauseKind::CpuSaturation
            | CauseKind::PoolQueue => Nature::Condition,
        }
    }
}
