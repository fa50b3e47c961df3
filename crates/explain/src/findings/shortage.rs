//! The finding about a node that was slowed down from outside: by its CPU quota, a disk, page faults or the network.

use super::finding::{Check, Finding};
use super::materiality::MATERIAL_NS;
use super::wording::share;
use crate::evidence::{Cause, CauseKind, Evidence};
use crate::query::{self, Query};
use crate::severity::Severity;
use crate::text;
use crate::timeline::{Interval, merge, within};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A quota that is exhausted for this share of the time slows down all requests.
const ALWAYS_SHARE: f64 = 0.25;

pub(super) struct Shortages;

/// The text of a finding about a cause.
struct Words {
    title: String,
    detail: String,
    next: &'static str,
    query: Query,
    figures: Value,
}

impl Check for Shortages {
    fn name(&self) -> &'static str {
        "shortage"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let kinds = [CauseKind::Throttling, CauseKind::DiskWait, CauseKind::PageFaults, CauseKind::Retransmission];
        let causes = kinds.into_iter().filter_map(|kind| evidence.cause(kind));
        causes.filter(|cause| cause.attributed > 0).filter_map(|cause| finding(cause, evidence)).collect()
    }
}

fn finding(cause: &Cause, evidence: &Evidence) -> Option<Finding> {
    let stretches = evidence.judged.stretches.iter();
    let windows = merge(stretches.flat_map(|stretch| within(&cause.times, stretch.window)).collect());
    let Words { title, detail, next, query, figures } = words(cause, &windows, evidence)?;
    let there = text::percent(cause.judged_time_share(&evidence.judged));
    let detail = format!("{detail} It was so in {there} of the judged time.");
    let mut finding =
        Finding::about(cause.kind.name(), cause, evidence, (title, detail), evidence.ask(&query), figures);
    // If a cause delays all requests, none of them is much slower than the others.
    let is_always = cause.judged_time_share(&evidence.judged) >= ALWAYS_SHARE;
    if cause.kind == CauseKind::Throttling && is_always && cause.attributed_median_ns >= Some(MATERIAL_NS) {
        finding.severity = finding.severity.max(Severity::Warning);
    }
    finding.next = next.into();
    finding.node = cause.blamed.nodes.first().cloned().unwrap_or_default();
    Some(finding)
}

fn words(cause: &Cause, windows: &[Interval], evidence: &Evidence) -> Option<Words> {
    let (faults, retransmitted) = evidence.shortage.faults_and_retransmissions(windows);
    let count = |number: i64| text::count(usize::try_from(number).unwrap_or_default());
    Some(match cause.kind {
        CauseKind::Throttling => {
            let what: BTreeSet<&str> = cause.blamed.stops.iter().map(|stop| stop.label.as_str()).collect();
            let what: Vec<&str> = what.into_iter().collect();
            Words {
                title: format!("The CPU quota of the node's cgroup delayed {}", share(cause)),
                detail: format!(
                    "The kernel kept the node off the CPUs until its quota was renewed ({}).",
                    what.join(", ")
                ),
                next: "raise the quota: cpu.max of its cgroup (docker --cpus, limits.cpu of Kubernetes, CPUQuota of systemd).",
                query: query::HELD_UP_BY_TIME,
                figures: json!({}),
            }
        }
        CauseKind::DiskWait => {
            let disk = evidence.shortage.slowest_disk(windows);
            let of = disk.as_ref().map_or(String::new(), |disk| format!(" ({})", disk.device));
            Words {
                title: format!("Disk waits{of} delayed {}", share(cause)),
                detail: disk.as_ref().map_or("Tasks waited for a disk.".to_string(), |disk| {
                    format!(
                        "A request of {} took {} at the mean, and it was busy {} of that time.",
                        disk.device,
                        text::time_ms(disk.mean_ms),
                        text::percent(disk.busy_share)
                    )
                }),
                next: "see which files: record with --syscalls summary, then `helenus io RECORDING`.",
                query: query::DISKS_BY_TIME,
                figures: json!({ "disk": disk }),
            }
        }
        CauseKind::PageFaults => Words {
            title: format!("Page faults that read from a disk delayed {}", share(cause)),
            detail: format!(
                "The node's process had {} major faults: memory was swapped out, or mapped files were not cached.",
                count(faults)
            ),
            next: "switch swap off (swapoff -a), or leave more memory for the page cache (smaller heap, disk_access_mode).",
            query: query::HELD_UP_BY_TIME,
            figures: json!({ "major_faults": faults }),
        },
        CauseKind::Retransmission => Words {
            title: format!("Retransmissions in the network delayed {}", share(cause)),
            detail: format!(
                "{} TCP segments were sent again from the node's network; each costs 200 ms or more.",
                count(retransmitted)
            ),
            next: "look for lost packets: nstat -az TcpRetransSegs, ip -s link, ethtool -S.",
            query: query::HELD_UP_BY_TIME,
            figures: json!({ "retransmitted_segments": retransmitted }),
        },
        _ => return None,
    })
}
