//! The size of the heap.

use super::facts::Node;
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// conf/cassandra-env.sh (`calculate_heap_sizes`): half of the memory up to 1 GB, or a quarter up to 8 GB, whichever is more.
pub(super) const HEAP_SIZE: Rule = Rule {
    name: "heap-size",
    looks_at: "the heap against the machine's memory, and against the size from which on pointers take twice the room",
    thresholds: &[&thresholds::HEAP_SHARE, &thresholds::COMPRESSED_POINTERS, &thresholds::HEAP_WITHOUT_GAIN],
    source: "cassandra-env.sh; HotSpot's documentation of compressed ordinary object pointers",
    query: query::SETTINGS,
    check: Check::OfNode(heap_size),
};

fn heap_size(node: &Node) -> Checked {
    let (heap, memory) = (node.number("jvm.heap_max_bytes")?, node.number("machine.memory_bytes")?);
    let figures = json!({ "heap_bytes": heap, "memory_bytes": memory });
    let share = heap / memory.max(1.0);
    if share > thresholds::HEAP_SHARE.value {
        return Ok(Some(Found {
            severity: Severity::Warning,
            evidence: format!("the heap has {} of {}", text::bytes(heap as i64), text::bytes(memory as i64)),
            figures,
            advice: "What is left is too little for the page cache, from which SSTables are read, and for memory outside \
                     of the heap (bloom filters, compression offsets, buffers). Lower -Xmx, or move the node to a larger \
                     machine."
                .into(),
            verify: "Bytes read from disk (`helenus io RECORDING`), and the heap after collections in `helenus gc RECORDING`.".into(),
        }));
    }
    let wide = thresholds::COMPRESSED_POINTERS.is_met(heap) && !thresholds::HEAP_WITHOUT_GAIN.is_met(heap);
    // ZGC has no compressed pointers at any heap size.
    if !wide || node.setting(&["jvm.collectors"]).is_some_and(|names| names.contains("ZGC")) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("the heap has {}, where pointers take 8 bytes", text::bytes(heap as i64)),
        figures,
        advice: "A heap of 31 GiB holds about as much, with pointers of 4 bytes: set -Xmx31g.".into(),
        verify: "The heap after collections in `helenus gc RECORDING`, as a share of the heap.".into(),
    }))
}

/// cassandra.yaml (memtable_allocation_type: offheap_objects takes cells off the heap, 4.0 to 5.0).
pub(super) const HEAP_FULL: Rule = Rule {
    name: "heap-full",
    looks_at: "how full the heap is after a collection",
    thresholds: &[&thresholds::HEAP_AFTER],
    source: "HotSpot's documentation of G1",
    query: query::COLLECTIONS,
    check: Check::OfNode(heap_full),
};

fn heap_full(node: &Node) -> Checked {
    let heap = node.number("jvm.heap_max_bytes")?;
    let after = super::facts::need(node.gc()?.heap_after_bytes, "no collection said how full the heap was after it")?;
    let share = after as f64 / heap.max(1.0);
    if !thresholds::HEAP_AFTER.is_met(share) {
        return Ok(None);
    }
    let compacted = &node.compacting_when_fullest;
    let meanwhile = match compacted.first() {
        Some((table, bytes)) => {
            format!("; when it was fullest, {table} was compacted ({} to read)", text::bytes(*bytes))
        }
        None => String::new(),
    };
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "{} of the heap ({}) are in use after a collection{meanwhile}",
            text::percent(share),
            text::bytes(heap as i64)
        ),
        figures: json!({ "heap_after_bytes": after, "heap_bytes": heap, "compacted_meanwhile": compacted }),
        advice: "The collector has no room to work in. Give the heap more memory, or put less into it: \
                 memtable_allocation_type offheap_objects, smaller memtables, a smaller key or row cache, smaller pages and \
                 partitions."
            .into(),
        verify: "The heap after collections in `helenus gc RECORDING`.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{GIB, after, missing_after, quiet_after, setting};

    #[test]
    fn heaps() {
        let rule = &HEAP_SIZE;
        assert_eq!(
            after(rule, |node| setting(node, "machine.memory_bytes", "12884901888")).severity,
            Severity::Warning
        );
        let wide = |node: &mut Node| {
            setting(node, "jvm.heap_max_bytes", "36507222016");
            setting(node, "machine.memory_bytes", "137438953472");
        };
        assert!(after(rule, wide).advice.contains("31"));
        quiet_after(rule, |node| {
            wide(node);
            setting(node, "jvm.collectors", "ZGC Cycles, ZGC Pauses");
        });
        missing_after(rule, |node| node.settings.clear());
        let rule = &HEAP_FULL;
        let alone = after(rule, |node| node.gc.as_mut().unwrap().heap_after_bytes = Some(7 * GIB));
        assert!(alone.evidence.ends_with("after a collection"), "{}", alone.evidence);
        let meanwhile = after(rule, |node| {
            node.gc.as_mut().unwrap().heap_after_bytes = Some(7 * GIB);
            node.compacting_when_fullest = vec![("shop.events".into(), 85 * GIB), ("shop.orders".into(), GIB)];
        });
        let expected = "after a collection; when it was fullest, shop.events was compacted (85.0 GiB to read)";
        assert!(meanwhile.evidence.ends_with(expected), "{}", meanwhile.evidence);
        quiet_after(rule, |_| ());
        missing_after(rule, |node| node.gc = None);
    }
}
