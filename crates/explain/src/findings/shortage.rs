//! The finding about a node that was slowed down from outside: by its CPU quota, a disk, page faults or the network.

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::materiality::{MATERIAL_NS, severity_throughout, weight};
use super::wording::share;
use crate::evidence::{Cause, CauseKind, Evidence, SlowDisk};
use crate::query::{self, Query};
use crate::severity::Severity;
use crate::text;
use crate::timeline::{Interval, merge, within};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A quota that is exhausted for this share of the time slows down all requests.
const ALWAYS_SHARE: f64 = 0.25;

const SEE_FILES: &str = "see which files: `helenus record --node ADDRESS --syscalls summary -o files.helenus`, then `helenus io files.helenus`.";

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
        let mut findings: Vec<Finding> =
            causes.filter(|cause| cause.attributed > 0).filter_map(|cause| finding(cause, evidence)).collect();
        if evidence.account.slow_disk.share > 0.0 {
            tell_slow_throughout(evidence, &mut findings);
        }
        findings
    }
}

/// Reports a disk that was slow for most of the time. No request is much slower than the others then.
fn tell_slow_throughout(evidence: &Evidence, findings: &mut Vec<Finding>) {
    let counted = &evidence.account.slow_disk;
    let claim = Claim::Explains { cause: "slow-disk", share: counted.share };
    let name = CauseKind::DiskWait.name();
    if let Some(known) = findings.iter_mut().find(|finding| finding.finding == name) {
        known.severity = known.severity.max(severity_throughout(counted.median_ns, evidence));
        known.claims.push(claim);
        return;
    }
    let windows: Vec<Interval> = evidence.judged.stretches.iter().map(|stretch| stretch.window).collect();
    let (of, detail, disk) = of_disk(evidence, &windows);
    let title =
        format!("Disk waits{of} delayed all requests: half took {} or more", text::time_ns(evidence.judged.median_ns));
    let detail = format!("{detail} It was so for most of the time, so that this is not tested against chance.");
    let severity = severity_throughout(counted.median_ns, evidence);
    let mut finding = Finding::new(name, severity, title, detail, evidence.judged_hull());
    finding.next = SEE_FILES.into();
    finding.query = evidence.ask(&query::DISKS_BY_TIME);
    finding.weight = weight(counted.share, counted.median_ns, evidence);
    finding.claims = vec![claim];
    finding.evidence = json!({ "disk": disk, "counted_for_it_share": counted.share });
    findings.push(finding);
}

/// The disk that was slowest in the windows: for a title, as a sentence, and its figures.
fn of_disk(evidence: &Evidence, windows: &[Interval]) -> (String, String, Option<SlowDisk>) {
    let Some(disk) = evidence.shortage.slowest_disk(windows) else {
        return (String::new(), "Tasks waited for a disk.".into(), None);
    };
    let sentence = format!(
        "A request of {} took {} at the mean, and it was busy {} of that time.",
        disk.device,
        text::time_ms(disk.mean_ms),
        text::percent(disk.busy_share)
    );
    (format!(" ({})", disk.device), sentence, Some(disk))
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
            let (of, detail, disk) = of_disk(evidence, windows);
            Words {
                title: format!("Disk waits{of} delayed {}", share(cause)),
                detail,
                next: SEE_FILES,
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
