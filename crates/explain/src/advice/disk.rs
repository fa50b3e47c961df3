//! Advice on how Cassandra reads its files from the disk.

use super::facts::{Node, need};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

pub(super) const READ_AHEAD: Rule = Rule {
    name: "read-ahead",
    looks_at: "what the kernel reads ahead on solid-state disks with data directories",
    thresholds: &[&thresholds::READ_AHEAD],
    source: "Linux: Documentation/ABI/stable/sysfs-block (read_ahead_kb)",
    query: query::SETTINGS,
    check: Check::OfNode(read_ahead),
};

fn read_ahead(node: &Node) -> Checked {
    let disks: Vec<(&str, f64)> = node
        .settings
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix("disk.read_ahead_kb:")?, value.parse().ok()?)))
        .collect();
    if disks.is_empty() {
        need::<()>(None, "the read-ahead of its disks is not recorded")?;
    }
    let far = disks.iter().filter(|(folder, kib)| is_solid(node, folder) && *kib > thresholds::READ_AHEAD.value);
    let Some((folder, kib)) = far.max_by(|a, b| a.1.total_cmp(&b.1)) else { return Ok(None) };
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("{folder} is on a solid-state disk that reads {kib:.0} KiB ahead"),
        figures: json!({ "folder": folder, "read_ahead_kib": kib }),
        advice:
            "Random reads of small chunks pull in what nobody asked for, most of all where data files are mapped. Set \
                 read_ahead_kb of the device to 4 to 16 (blockdev --setra, and a rule that keeps it after a boot), and \
                 measure: compaction and range reads like some read-ahead."
                .into(),
        verify: "Bytes read from disk for each read: before and after, `helenus record --node ADDRESS --syscalls summary -o files.helenus`, then `helenus io files.helenus`."
            .into(),
    }))
}

/// Schedulers that order requests and share out a disk; a solid-state disk needs neither (Documentation/block).
const ORDERING: [&str; 2] = ["cfq", "bfq"];

pub(super) const IO_SCHEDULER: Rule = Rule {
    name: "io-scheduler",
    looks_at: "the I/O scheduler of solid-state disks with data directories",
    thresholds: &[],
    source: "DataStax's and AxonOps' recommended production settings; Linux: block/switching-sched",
    query: query::SETTINGS,
    check: Check::OfNode(io_scheduler),
};

fn io_scheduler(node: &Node) -> Checked {
    let choice = |text: &str| Some(text.split_once('[')?.1.split_once(']')?.0.to_string());
    let disks: Vec<(&str, String)> = node
        .settings
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix("disk.scheduler:")?, choice(value)?)))
        .collect();
    if disks.is_empty() {
        need::<()>(None, "the I/O scheduler of its disks is not recorded")?;
    }
    let is_slow =
        |(folder, scheduler): &&(&str, String)| is_solid(node, folder) && ORDERING.contains(&scheduler.as_str());
    let Some((folder, scheduler)) = disks.iter().find(is_slow) else { return Ok(None) };
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("{folder} is on a solid-state disk with the I/O scheduler {scheduler}"),
        figures: json!({ "folder": folder, "scheduler": scheduler }),
        advice: "It makes requests wait to bring them into an order that such a disk does not need. Set none (NVMe), or mq-deadline, in \
                 queue/scheduler of the device, with a udev rule that keeps it after a boot."
            .into(),
        verify: "The mean time of a request in the table disks, under the same load.".into(),
    }))
}

fn is_solid(node: &Node, folder: &str) -> bool {
    node.settings.get(&format!("disk.rotational:{folder}")).is_some_and(|value| value == "0")
}

/// `DatabaseDescriptor` evaluates `auto` as mmap in 4.0 and 4.1 (on 64 bits) and as mmap_index_only in 5.0, where mmap
/// must be set explicitly, as mmap or legacy.
pub(super) const DISK_ACCESS: Rule = Rule {
    name: "disk-access",
    looks_at: "data files that are mapped into memory, where they do not fit",
    thresholds: &[],
    source: "cassandra.yaml (disk_access_mode); from 5.0 on mmap_index_only is the default (DatabaseDescriptor in its source)",
    query: query::SETTINGS,
    check: Check::OfNode(disk_access),
};

fn disk_access(node: &Node) -> Checked {
    let mode = node.need_setting(&["disk_access_mode"])?;
    let mapped = match need(node.version, "the node's release is not recorded")? >= (5, 0) {
        true => ["mmap", "legacy"],
        false => ["mmap", "auto"],
    };
    if !mapped.contains(&mode) {
        return Ok(None);
    }
    let memory = node.number("machine.memory_bytes")?;
    let heap = node.number("jvm.heap_max_bytes")?;
    let live: i64 = node.tables.iter().filter_map(|table| table.health.live_disk_bytes).sum();
    if live as f64 <= memory - heap {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!(
            "disk_access_mode is {mode}, and {} on disk are more than the {} of memory beside the heap",
            text::bytes(live),
            text::bytes((memory - heap) as i64)
        ),
        figures: json!({ "disk_access_mode": mode, "live_disk_bytes": live, "memory_bytes": memory, "heap_bytes": heap }),
        advice: "A thread that touches a page of a mapped file that is not in memory stops without the JVM's knowledge, and \
                 a safepoint waits for it. mmap_index_only maps the indexes and reads the data by calls; it needs a restart, \
                 so do one node and compare it with its peers."
            .into(),
        verify: "Time to safepoint (`helenus explain RECORDING`) and major page faults against a peer.".into(),
    }))
}

/// `DiskBoundaryManager` (4.0 to 5.0) splits the token ranges among the data directories by number and not by size, and each SSTable
/// stays in the directory of its tokens.
pub(super) const UNEVEN_DIRECTORIES: Rule = Rule {
    name: "uneven-directories",
    looks_at: "data directories on several file systems, of which one is much fuller than another",
    thresholds: &[&thresholds::FULL_DIRECTORY, &thresholds::UNEVEN_DIRECTORIES],
    source: "cassandra.yaml (data_file_directories); DiskBoundaryManager in Cassandra's source",
    query: query::SETTINGS,
    check: Check::OfNode(uneven_directories),
};

fn uneven_directories(node: &Node) -> Checked {
    let bytes = |kind: &str, folder: &str| -> Option<f64> {
        node.settings.get(&format!("disk.{kind}_bytes:{folder}"))?.parse().ok().filter(|bytes| *bytes > 0.0)
    };
    let folders = node.settings.keys().filter_map(|name| name.strip_prefix("disk.usable_bytes:"));
    let mut used: Vec<(&str, f64)> = folders
        .filter_map(|folder| Some((folder, 1.0 - bytes("usable", folder).unwrap_or(0.0) / bytes("total", folder)?)))
        .collect();
    used.sort_by(|one, other| one.1.total_cmp(&other.1));
    let (Some((emptiest, least)), Some((fullest, most))) = (used.first(), used.last()) else {
        return need(None, "the sizes of its data directories are not recorded");
    };
    if !thresholds::FULL_DIRECTORY.is_met(*most) || !thresholds::UNEVEN_DIRECTORIES.is_met(most - least) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!("{fullest} is {} full and {emptiest} {}", text::percent(*most), text::percent(*least)),
        figures: json!({ "fullest": fullest, "fullest_share": most, "emptiest": emptiest, "emptiest_share": least }),
        advice: "Cassandra gives each data directory the same part of the tokens, so that large partitions or file systems of \
                 different sizes fill one before the others, and writes fail when it is full. Give all directories file systems of \
                 one size, or join the disks under one directory (LVM, RAID 0); see what else is on the full one (snapshots: \
                 nodetool listsnapshots)."
            .into(),
        verify: "df on the data directories.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{GIB, after, health, missing_after, quiet_after, setting};

    #[test]
    fn disks() {
        let rule = &READ_AHEAD;
        after(rule, |node| setting(node, "disk.read_ahead_kb:/d", "128"));
        quiet_after(rule, |node| {
            setting(node, "disk.read_ahead_kb:/d", "128");
            setting(node, "disk.rotational:/d", "1");
        });
        missing_after(rule, |node| drop(node.settings.remove("disk.read_ahead_kb:/d")));
        let rule = &IO_SCHEDULER;
        let bfq = |node: &mut Node| setting(node, "disk.scheduler:/d", "none mq-deadline [bfq]");
        assert!(after(rule, bfq).evidence.ends_with("scheduler bfq"));
        quiet_after(rule, |node| {
            bfq(node);
            setting(node, "disk.rotational:/d", "1");
        });
        missing_after(rule, |node| drop(node.settings.remove("disk.scheduler:/d")));
        let rule = &DISK_ACCESS;
        let larger = |node: &mut Node| {
            setting(node, "disk_access_mode", "mmap");
            health(node).live_disk_bytes = Some(100 * GIB);
        };
        after(rule, larger);
        quiet_after(rule, |node| setting(node, "disk_access_mode", "mmap"));
        let automatic = |version| {
            move |node: &mut Node| {
                larger(node);
                setting(node, "disk_access_mode", "auto");
                node.version = Some(version);
            }
        };
        // With `auto`, 5.0 maps only the index files.
        quiet_after(rule, automatic((5, 0)));
        after(rule, automatic((4, 1)));
        missing_after(rule, |node| {
            larger(node);
            node.settings.remove("machine.memory_bytes");
        });
    }

    #[test]
    fn data_directories_that_fill_unevenly() {
        use crate::advice::healthy::{after, missing_after, quiet_after, setting};
        let directories = |sizes: [(&'static str, &'static str, &'static str); 2]| {
            move |node: &mut Node| {
                for (folder, total, usable) in sizes {
                    setting(node, &format!("disk.total_bytes:{folder}"), total);
                    setting(node, &format!("disk.usable_bytes:{folder}"), usable);
                }
            }
        };
        let found = after(&UNEVEN_DIRECTORIES, directories([("/d", "1000", "50"), ("/e", "1000", "600")]));
        assert_eq!(found.evidence, "/d is 95 % full and /e 40 %");
        quiet_after(&UNEVEN_DIRECTORIES, directories([("/d", "1000", "50"), ("/e", "1000", "100")]));
        quiet_after(&UNEVEN_DIRECTORIES, directories([("/d", "1000", "400"), ("/e", "1000", "900")]));
        missing_after(&UNEVEN_DIRECTORIES, |node| node.settings.clear());
    }
}
