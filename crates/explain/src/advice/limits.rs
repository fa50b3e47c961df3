//! Advice about the limits of a node's process.

use super::facts::Node;
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds::{self, Threshold};
use crate::query;
use crate::severity::Severity;
use serde_json::json;

/// A limit: its setting, what it counts, how much is in use, and the least that is recommended.
struct Limit {
    setting: &'static str,
    what: &'static str,
    used: &'static str,
    least: &'static Threshold,
    change: &'static str,
}

const COUNTED: [Limit; 3] = [
    Limit {
        setting: "process.max_open_files",
        what: "open files",
        used: "process.open_files",
        least: &thresholds::OPEN_FILES,
        change: "nofile",
    },
    Limit {
        setting: "process.max_processes",
        what: "threads of the user",
        used: "process.threads",
        least: &thresholds::PROCESSES,
        change: "nproc",
    },
    Limit {
        setting: "machine.max_map_count",
        what: "memory maps",
        used: "process.maps",
        least: &thresholds::MAPS,
        change: "vm.max_map_count (sysctl)",
    },
];
/// Limits that should be none.
const UNLIMITED: [(&str, &str, &str); 2] = [
    ("process.max_locked_bytes", "locked memory", "memlock"),
    ("process.max_address_space_bytes", "address space", "as"),
];

/// `StartupChecks.checkMaxMapCount` and `SystemInfo` (5.0) log a warning of maps, files, processes and address space at the start.
pub(super) const LIMITS: Rule = Rule {
    name: "limits",
    looks_at: "limits of the process on files, threads, memory maps, locked memory and address space, and how much of them is in use",
    thresholds: &[&thresholds::OPEN_FILES, &thresholds::PROCESSES, &thresholds::MAPS, &thresholds::LIMIT_USED],
    source: "Cassandra's start-up checks; DataStax's and AxonOps' recommended production settings",
    query: query::SETTINGS,
    check: Check::OfNode(limits),
};

fn limits(node: &Node) -> Checked {
    let (mut seen, mut low, mut full, mut change) = (0, Vec::new(), false, Vec::new());
    for limit in COUNTED {
        let Some(text) = node.setting(&[limit.setting]) else { continue };
        seen += 1;
        let Ok(most) = text.parse::<f64>() else { continue };
        let used = node.number(limit.used).ok();
        let is_used_up = used.is_some_and(|used| thresholds::LIMIT_USED.is_met(used / most.max(1.0)));
        if is_used_up || most < limit.least.value {
            full |= is_used_up;
            let used = used.map_or(String::new(), |used| format!(", of which {used:.0} are in use"));
            low.push(format!("{most:.0} {}{used}", limit.what));
            change.push(format!("{} to {:.0}", limit.change, limit.least.value.max(most * 2.0)));
        }
    }
    for (setting, what, name) in UNLIMITED {
        let Some(text) = node.setting(&[setting]) else { continue };
        seen += 1;
        let Ok(most) = text.parse::<i64>() else { continue };
        // A process of root may lock more memory than its limit.
        let locked = node.number("process.locked_bytes").unwrap_or(0.0);
        if setting == "process.max_locked_bytes" && locked > most as f64 {
            continue;
        }
        low.push(format!("{} of {what}", crate::text::bytes(most)));
        change.push(format!("{name} to unlimited"));
    }
    if seen == 0 {
        node.need_setting(&["process.max_open_files"])?;
    }
    if low.is_empty() {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: if full { Severity::Warning } else { Severity::Information },
        evidence: format!("the node's process is limited to {}", low.join(", ")),
        figures: json!({ "limits": low }),
        advice: format!(
            "At a limit, a node can't open SSTables, make threads or map files, and fails requests or ends. Set {} \
             (/etc/security/limits.d, or LimitNOFILE and the like of its systemd unit), and restart the node.",
            change.join(", ")
        ),
        verify: "`helenus sql RECORDING \"select setting, value from settings where setting like 'process.%'\"`."
            .into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{after, missing_after, quiet_after, setting};

    #[test]
    fn a_limit_is_a_warning_where_it_is_nearly_reached() {
        let rule = &LIMITS;
        let few = after(rule, |node| setting(node, "process.max_open_files", "4096"));
        assert!(few.severity == Severity::Information && few.evidence.contains("4096 open files"), "{few:?}");
        assert!(few.advice.contains("nofile to 100000"), "{few:?}");
        let full = after(rule, |node| {
            setting(node, "machine.max_map_count", "65530");
            setting(node, "process.maps", "60000");
        });
        assert!(full.severity == Severity::Warning && full.evidence.contains("60000 are in use"), "{full:?}");
        let locked = after(rule, |node| setting(node, "process.max_locked_bytes", "65536"));
        assert!(locked.evidence.contains("64.0 KiB of locked memory"), "{locked:?}");
        quiet_after(rule, |node| setting(node, "process.max_open_files", "unlimited"));
        quiet_after(rule, |node| {
            setting(node, "process.max_locked_bytes", "65536");
            setting(node, "process.locked_bytes", "2147483648");
        });
        missing_after(rule, |node| node.settings.retain(|name, _| !name.contains("max_")));
    }
}
