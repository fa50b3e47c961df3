//! Advice that was right for older releases and is not given any more.

/// Outdated advice that guides and blogs still give, each with the reason why no rule gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outdated {
    pub advice: &'static str,
    pub because: &'static str,
}

pub(super) const OUTDATED: &[Outdated] = &[
    Outdated {
        advice: "size the young generation (-Xmn, HEAP_NEWSIZE) by CPUs or as a quarter of the heap",
        because: "this was for ParNew with CMS. G1, ZGC and Shenandoah size it themselves; a fixed size disables G1's pause goal",
    },
    Outdated {
        advice: "multithreaded_compaction: true, in_memory_compaction_limit_in_mb",
        because: "both are gone since 2.1 and 3.0; a large compaction is split by the strategy, and parallel by concurrent_compactors",
    },
    Outdated {
        advice: "keep the heap at 8 GB at most",
        because: "that was the pause of a full CMS collection; the bound today is the page cache's share of the memory",
    },
    Outdated {
        advice: "CMSInitiatingOccupancyFraction, SurvivorRatio and MaxTenuringThreshold of CMS",
        because: "CMS is gone from JDK 14 on",
    },
    Outdated {
        advice: "gc_grace_seconds: 0 on every table with many tombstones",
        because: "with more than one replica it lets deleted data come back; the floor is the hint window and the time between repairs",
    },
    Outdated {
        advice: "DateTieredCompactionStrategy for time series",
        because: "TimeWindowCompactionStrategy replaced it in 3.0.8 and 3.8",
    },
    Outdated {
        advice: "a large row cache in place of memory for the page cache",
        because: "it is thrown out by every write to the partition; the page cache and the chunk cache are not",
    },
    Outdated {
        advice: "num_tokens: 256",
        because: "with allocate_tokens_for_local_replication_factor 16 or fewer balance as well, with fewer ranges to repair (4.0)",
    },
];
