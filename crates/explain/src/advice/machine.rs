//! Advice about settings of the machine that make Cassandra slow. Each is a warning only where the recording shows what it cost.

use super::costs::Costs;
use super::facts::Node;
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// A warning if tasks waited for memory for long enough, and the evidence of it.
fn by_memory_waits(costs: &Costs) -> (Severity, String) {
    match costs.memory_share {
        Some(share) if thresholds::MEMORY_WAITS.is_met(share) => (
            Severity::Warning,
            format!(", and tasks of the node waited for memory in {} of the time", text::percent(share)),
        ),
        _ => (Severity::Information, String::new()),
    }
}

/// The governors of Documentation/admin-guide/pm/cpufreq.rst. In its active mode intel_pstate has two of them, and
/// `powersave` is the one that changes the frequency with the load.
pub(super) const CPU_GOVERNOR: Rule = Rule {
    name: "cpu-governor",
    looks_at: "governors that lower the frequency of the CPUs",
    thresholds: &[&thresholds::LOW_FREQUENCY],
    source: "DataStax's documentation (disable CPU frequency scaling); Linux: admin-guide/pm/cpufreq",
    query: query::SETTINGS,
    check: Check::OfNode(cpu_governor),
};

fn cpu_governor(node: &Node) -> Checked {
    let governors = node.need_setting(&["machine.cpu_governor"])?;
    if governors == "performance" {
        return Ok(None);
    }
    let highest = node.number("machine.cpu_max_khz").ok().filter(|khz| *khz > 0.0);
    let ran = node.costs.cpu_khz.zip(highest);
    let is_low = ran.is_some_and(|(khz, highest)| khz < thresholds::LOW_FREQUENCY.value * highest);
    let at = ran.map_or(String::new(), |(khz, highest)| {
        format!(", and the node's threads ran at {:.1} of {:.1} GHz", khz / 1e6, highest / 1e6)
    });
    Ok(Some(Found {
        severity: if is_low { Severity::Warning } else { Severity::Information },
        evidence: format!("the governor of the CPUs is {governors}{at}"),
        figures: json!({ "governor": governors, "driver": node.setting(&["machine.cpu_driver"]), "khz": ran }),
        advice: "A governor that follows the load is late for short requests. Set performance (cpupower frequency-set -g \
                 performance, or tuned-adm profile throughput-performance), and compare."
            .into(),
        verify: "Cycles of the CPUs for each ns: `helenus sql RECORDING \"select sum(cycles) / sum(cpu_ns) from counters\"`, on \
                 a recording made with `helenus record --node ADDRESS --counters on`."
            .into(),
    }))
}

/// With defrag=always a page fault waits until memory is compacted (Documentation/admin-guide/mm/transhuge.rst).
pub(super) const HUGE_PAGES: Rule = Rule {
    name: "huge-pages",
    looks_at: "transparent huge pages for which page faults wait until memory is defragmented",
    thresholds: &[&thresholds::MEMORY_WAITS],
    source: "DataStax's documentation (check Java Hugepages settings); Linux: admin-guide/mm/transhuge",
    query: query::SETTINGS,
    check: Check::OfNode(huge_pages),
};

fn huge_pages(node: &Node) -> Checked {
    let pages = node.need_setting(&["machine.huge_pages"])?;
    let defrag = node.need_setting(&["machine.huge_pages_defrag"])?;
    if pages != "always" || defrag != "always" {
        return Ok(None);
    }
    let (severity, cost) = by_memory_waits(&node.costs);
    Ok(Some(Found {
        severity,
        evidence: format!("transparent huge pages and their defragmentation are set to always{cost}"),
        figures: json!({ "huge_pages": pages, "defrag": defrag, "memory_waited_share": node.costs.memory_share }),
        advice: "A thread that touches new memory may wait until the kernel has moved pages together. Set \
                 /sys/kernel/mm/transparent_hugepage/defrag to madvise or defer."
            .into(),
        verify: "Waits for memory: `helenus sql RECORDING \"select sum(memory_some_ns) from node_pressure\"`, and compact_stall in \
                 /proc/vmstat."
            .into(),
    }))
}

/// `SystemInfo.isDegraded` (4.0 to 5.0) logs "Swap should be disabled".
pub(super) const SWAP: Rule = Rule {
    name: "swap",
    looks_at: "swap, and how much of the node is swapped out",
    thresholds: &[&thresholds::DISK_FAULTS, &thresholds::SWAPPINESS],
    source: "Cassandra's start-up checks (SystemInfo); DataStax's and AxonOps' recommended production settings",
    query: query::SETTINGS,
    check: Check::OfNode(swap),
};

fn swap(node: &Node) -> Checked {
    let all = node.number("machine.swap_bytes")?;
    let swapped = node.number("process.swapped_bytes").unwrap_or(0.0);
    let swappiness = node.number("machine.swappiness").ok();
    let is_seldom = swappiness.is_some_and(|value| !thresholds::SWAPPINESS.is_met(value));
    if swapped == 0.0 && (all == 0.0 || is_seldom) {
        return Ok(None);
    }
    let faults = node.costs.faults_per_s.filter(|_| swapped > 0.0);
    let is_slow = faults.is_some_and(|per_s| thresholds::DISK_FAULTS.is_met(per_s));
    let cost = match faults {
        Some(per_s) if is_slow => format!(", and {per_s:.0} page faults a second waited for a disk"),
        _ => String::new(),
    };
    let set = swappiness.map_or(String::new(), |value| format!(", vm.swappiness is {value:.0}"));
    Ok(Some(Found {
        severity: if is_slow { Severity::Warning } else { Severity::Information },
        evidence: format!(
            "the machine has {} of swap{set}, {} of the node are swapped out{cost}",
            text::bytes(all as i64),
            text::bytes(swapped as i64)
        ),
        figures: json!({
            "swap_bytes": all,
            "swapped_bytes": swapped,
            "swappiness": swappiness,
            "faults_per_s": node.costs.faults_per_s,
        }),
        advice: "A collection touches the whole heap and waits for each page that was swapped out. Switch swap off (swapoff -a, and \
                 the line in /etc/fstab), or set vm.swappiness to 1 where it has to stay."
            .into(),
        verify: "Page faults from a disk: `helenus sql RECORDING \"select sum(major_faults) from node_pressure\"`, and VmSwap of the \
                 process in /proc."
            .into(),
    }))
}

/// With zone_reclaim_mode a node of the memory frees its own pages before it takes those of another (admin-guide/sysctl/vm.rst).
pub(super) const ZONE_RECLAIM: Rule = Rule {
    name: "zone-reclaim",
    looks_at: "zone_reclaim_mode on machines with several nodes of memory (NUMA)",
    thresholds: &[&thresholds::MEMORY_WAITS],
    source: "DataStax's and AxonOps' recommended production settings; Linux: admin-guide/sysctl/vm",
    query: query::SETTINGS,
    check: Check::OfNode(zone_reclaim),
};

fn zone_reclaim(node: &Node) -> Checked {
    let (mode, nodes) = (node.number("machine.zone_reclaim_mode")?, node.number("machine.numa_nodes")?);
    if mode == 0.0 || nodes < 2.0 {
        return Ok(None);
    }
    let (severity, cost) = by_memory_waits(&node.costs);
    Ok(Some(Found {
        severity,
        evidence: format!("vm.zone_reclaim_mode is {mode:.0} on a machine with {nodes:.0} NUMA nodes{cost}"),
        figures: json!({ "zone_reclaim_mode": mode, "numa_nodes": nodes, "memory_waited_share": node.costs.memory_share }),
        advice: "The kernel drops cached pages of SSTables while another NUMA node has free memory. Set vm.zone_reclaim_mode to 0."
            .into(),
        verify: "Waits for memory: `helenus sql RECORDING \"select sum(memory_some_ns) from node_pressure\"`, and zone_reclaim_failed in \
                 /proc/vmstat."
            .into(),
    }))
}

/// Clock sources that can't be read without a system call on x86: the vDSO knows tsc, kvm-clock and hyperv_clocksource_tsc_page
/// (arch/x86/include/asm/vdso/gettimeofday.h).
const SLOW_CLOCKS: [&str; 6] = ["hpet", "acpi_pm", "xen", "jiffies", "refined-jiffies", "pit"];

pub(super) const CLOCK_SOURCE: Rule = Rule {
    name: "clock-source",
    looks_at: "clock sources that take a system call to read",
    thresholds: &[&thresholds::CLOCK_CPUS],
    source: "Linux: timers/timekeeping; AWS: manage the clock source of EC2 instances",
    query: query::SETTINGS,
    check: Check::OfNode(clock_source),
};

fn clock_source(node: &Node) -> Checked {
    let clock = node.need_setting(&["machine.clock_source"])?;
    if !SLOW_CLOCKS.contains(&clock) {
        return Ok(None);
    }
    let others = node.setting(&["machine.clock_sources"]).unwrap_or_default();
    let better = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"];
    let better = better.into_iter().find(|name| others.split(' ').any(|other| other == *name));
    let cpus = node.costs.clock_cpus.filter(|cpus| thresholds::CLOCK_CPUS.is_met(*cpus));
    let cost = cpus.map_or(String::new(), |cpus| format!(", and system calls to read it took {cpus:.2} CPUs"));
    Ok(Some(Found {
        severity: if cpus.is_some() { Severity::Warning } else { Severity::Information },
        evidence: format!("the clock source is {clock}{cost}"),
        figures: json!({ "clock_source": clock, "available": others, "clock_cpus": node.costs.clock_cpus }),
        advice: match better {
            Some(better) => format!(
                "Cassandra reads the clock several times for each request. Set {better} in \
                 /sys/devices/system/clocksource/clocksource0/current_clocksource, and clocksource={better} on the kernel's command line."
            ),
            None => "Cassandra reads the clock several times for each request. The kernel offers no clock source that is read \
                     without a system call: see in its log (dmesg) why tsc is unstable."
                .into(),
        },
        verify: "The calls clock_gettime in `helenus io RECORDING`, on a recording made with `helenus record --node ADDRESS \
                 --syscalls summary`."
            .into(),
    }))
}

/// Documentation/mm/overcommit-accounting: 2 never lets processes reserve more than swap and a share of the memory.
pub(super) const OVERCOMMIT: Rule = Rule {
    name: "overcommit",
    looks_at: "vm.overcommit_memory, under which the JVM may get no memory though some is free",
    thresholds: &[],
    source: "Linux: mm/overcommit-accounting",
    query: query::SETTINGS,
    check: Check::OfNode(overcommit),
};

fn overcommit(node: &Node) -> Checked {
    if node.number("machine.overcommit_memory")? != 2.0 {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: "vm.overcommit_memory is 2".into(),
        figures: json!({ "overcommit_memory": 2 }),
        advice: "The JVM reserves more memory than it uses, and a thread or a direct buffer can fail with an OutOfMemoryError while \
                 memory is free. Set vm.overcommit_memory to 0 or 1."
            .into(),
        verify: "Committed_AS and CommitLimit in /proc/meminfo.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{after, missing_after, quiet_after, setting};

    #[test]
    fn a_governor_is_a_warning_where_the_cpus_were_slow() {
        let rule = &CPU_GOVERNOR;
        let ondemand = |node: &mut Node| setting(node, "machine.cpu_governor", "ondemand");
        assert_eq!(after(rule, ondemand).severity, Severity::Information);
        let ran_at = |khz: f64| {
            move |node: &mut Node| {
                ondemand(node);
                setting(node, "machine.cpu_max_khz", "3500000");
                node.costs.cpu_khz = Some(khz);
            }
        };
        let slow = after(rule, ran_at(1_200_000.0));
        assert!(slow.severity == Severity::Warning && slow.evidence.contains("1.2 of 3.5 GHz"), "{slow:?}");
        assert_eq!(after(rule, ran_at(3_000_000.0)).severity, Severity::Information);
        quiet_after(rule, |_| ());
        missing_after(rule, |node| drop(node.settings.remove("machine.cpu_governor")));
    }

    #[test]
    fn settings_of_memory_are_a_warning_where_tasks_waited_for_it() {
        let always = |node: &mut Node| {
            setting(node, "machine.huge_pages", "always");
            setting(node, "machine.huge_pages_defrag", "always");
        };
        let reclaims = |node: &mut Node| {
            setting(node, "machine.zone_reclaim_mode", "1");
            setting(node, "machine.numa_nodes", "2");
        };
        for (rule, set) in [(&HUGE_PAGES, always as fn(&mut Node)), (&ZONE_RECLAIM, reclaims)] {
            assert_eq!(after(rule, set).severity, Severity::Information);
            let waited = after(rule, |node| {
                set(node);
                node.costs.memory_share = Some(0.04);
            });
            assert!(
                waited.severity == Severity::Warning && waited.evidence.contains("4.0 % of the time"),
                "{waited:?}"
            );
            quiet_after(rule, |node| node.costs.memory_share = Some(0.04));
        }
        quiet_after(&HUGE_PAGES, |node| setting(node, "machine.huge_pages", "always"));
        quiet_after(&ZONE_RECLAIM, |node| setting(node, "machine.zone_reclaim_mode", "1"));
        missing_after(&HUGE_PAGES, |node| drop(node.settings.remove("machine.huge_pages_defrag")));
        missing_after(&ZONE_RECLAIM, |node| drop(node.settings.remove("machine.numa_nodes")));
    }

    #[test]
    fn swap_is_a_warning_where_the_node_waits_for_what_was_swapped_out() {
        let rule = &SWAP;
        let has_swap = |node: &mut Node| {
            setting(node, "machine.swap_bytes", "2147483648");
            setting(node, "machine.swappiness", "60");
        };
        let unused = after(rule, has_swap);
        assert!(unused.severity == Severity::Information && unused.evidence.contains("2.0 GiB of swap"), "{unused:?}");
        let swapped = |faults: f64| {
            after(rule, |node| {
                has_swap(node);
                setting(node, "process.swapped_bytes", "1073741824");
                node.costs.faults_per_s = Some(faults);
            })
        };
        assert_eq!(swapped(0.1).severity, Severity::Information);
        assert_eq!(swapped(200.0).severity, Severity::Warning);
        assert!(swapped(200.0).evidence.contains("200 page faults a second"), "{:?}", swapped(200.0));
        quiet_after(rule, |node| {
            has_swap(node);
            setting(node, "machine.swappiness", "1");
        });
        // Page faults may be of mapped SSTables.
        quiet_after(rule, |node| node.costs.faults_per_s = Some(200.0));
        missing_after(rule, |node| drop(node.settings.remove("machine.swap_bytes")));
    }

    #[test]
    fn clocks_and_overcommit() {
        let rule = &CLOCK_SOURCE;
        let hpet = |node: &mut Node| {
            setting(node, "machine.clock_source", "hpet");
            setting(node, "machine.clock_sources", "tsc hpet acpi_pm");
        };
        let slow = after(rule, hpet);
        assert!(slow.severity == Severity::Information && slow.advice.contains("clocksource=tsc"), "{slow:?}");
        let costly = after(rule, |node| {
            hpet(node);
            node.costs.clock_cpus = Some(0.3);
        });
        assert!(costly.severity == Severity::Warning && costly.evidence.contains("0.30 CPUs"), "{costly:?}");
        assert!(after(rule, |node| setting(node, "machine.clock_source", "acpi_pm")).advice.contains("dmesg"));
        for fast in ["kvm-clock", "arch_sys_counter"] {
            quiet_after(rule, |node| setting(node, "machine.clock_source", fast));
        }
        missing_after(rule, |node| drop(node.settings.remove("machine.clock_source")));
        let rule = &OVERCOMMIT;
        after(rule, |node| setting(node, "machine.overcommit_memory", "2"));
        quiet_after(rule, |node| setting(node, "machine.overcommit_memory", "1"));
        missing_after(rule, |node| drop(node.settings.remove("machine.overcommit_memory")));
    }
}
