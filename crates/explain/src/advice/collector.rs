//! Advice about the garbage collector and its cost.

use super::facts::{Node, need};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// conf/jvm17-server.options (5.0) has G1 with -XX:MaxGCPauseMillis=300; conf/jvm11-server.options of 4.0 has CMS, which JDK 14 is
/// without (JEP 363).
pub(super) const COLLECTOR: Rule = Rule {
    name: "collector",
    looks_at: "which collector the JVM has",
    thresholds: &[],
    source: "Cassandra's jvm11-server.options and jvm17-server.options; JEP 363 (CMS is gone from JDK 14 on)",
    query: query::SETTINGS,
    check: Check::OfNode(collector),
};

fn collector(node: &Node) -> Checked {
    let names = node.need_setting(&["jvm.collectors"])?;
    let (severity, advice) = if names.contains("ConcurrentMarkSweep") {
        (
            Severity::Information,
            "CMS is no longer kept up and ends with JDK 13. Move to G1 (-XX:+UseG1GC -XX:MaxGCPauseMillis=300) without \
             carrying over sizes of the young generation; those were for ParNew and hinder G1.",
        )
    } else if names.contains("MarkSweepCompact") || names.contains("PS MarkSweep") {
        (
            Severity::Warning,
            "This collector stops all threads for a whole collection of the old generation. Take G1 (-XX:+UseG1GC), which is \
             what Cassandra's options for JDK 17 have; a JVM with one CPU or below 2 GB takes Serial unless it is told.",
        )
    } else {
        return Ok(None);
    };
    Ok(Some(Found {
        severity,
        evidence: format!("the collectors are {names}"),
        figures: json!({ "collectors": names, "jvm": node.setting(&["jvm.version"]) }),
        advice: advice.into(),
        verify: "`helenus gc RECORDING`: the longest pause and the share of the time.".into(),
    }))
}

/// conf/cassandra-env.sh refuses -Xmn under G1 (4.0 to 5.0); HotSpot's tuning guide of G1 says the same of -XX:NewRatio and others.
pub(super) const YOUNG_GENERATION: Rule = Rule {
    name: "young-generation",
    looks_at: "a fixed size of the young generation under G1",
    thresholds: &[],
    source: "HotSpot's documentation of G1: a fixed young generation disables the pause goal; cassandra-env.sh (-Xmn)",
    query: query::SETTINGS,
    check: Check::OfNode(young_generation),
};

fn young_generation(node: &Node) -> Checked {
    let options = node.jvm_options()?;
    let fixed = |option: &&str| {
        ["-Xmn", "-XX:NewSize=", "-XX:MaxNewSize=", "-XX:NewRatio="].iter().any(|name| option.starts_with(name))
    };
    let fixed: Vec<&str> = options.split(' ').filter(fixed).collect();
    if !node.need_setting(&["jvm.collectors"])?.contains("G1") || fixed.is_empty() {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("the JVM was given {} under G1", fixed.join(" ")),
        figures: json!({ "options": fixed }),
        advice: "That was advice for ParNew. Under G1 take it away: it keeps the collector from sizing the young generation \
                 for its pause goal."
            .into(),
        verify: "`helenus gc RECORDING`: pauses and young collections a second.".into(),
    }))
}

/// `Config` (4.0 to 5.0) logs a pause from gc_log_threshold (200 ms) on, and warns of one from gc_warn_threshold (1 s) on.
pub(super) const GC_TIME: Rule = Rule {
    name: "gc-time",
    looks_at: "how long the JVM stands for collections, how often, and whether it collects the whole heap in one pause",
    thresholds: &[&thresholds::GC_SHARE, &thresholds::GC_PAUSE, &thresholds::LONG_GC_PAUSE, &thresholds::YOUNG_PER_S],
    source: "field reports of 2014 and 2017; cassandra.yaml (gc_log_threshold, gc_warn_threshold)",
    query: query::COLLECTIONS,
    check: Check::OfNode(gc_time),
};

fn gc_time(node: &Node) -> Checked {
    let gc = node.gc()?;
    let longest = gc.pause_max_ms.unwrap_or(0.0);
    let young_per_s = gc.young as f64 / gc.length_s.max(1e-9);
    let often = thresholds::YOUNG_PER_S.is_met(young_per_s);
    let much = thresholds::GC_SHARE.is_met(gc.paused_share);
    let full = gc.full > 0;
    if !(often || much || full || thresholds::GC_PAUSE.is_met(longest)) {
        return Ok(None);
    }
    let allocated =
        gc.allocated_bytes_per_s.map_or("an unknown rate".into(), |rate| format!("{}/s", text::bytes(rate as i64)));
    let whole = if full { format!(" and {} of the whole heap", gc.full) } else { String::new() };
    let advice = if full {
        "A collector takes the whole heap in one pause when it has no room left, to copy into or for a large object (half of \
         a G1 region and more): give the heap more memory, or put less into it, as with a valve where scans are (`helenus points --node ADDRESS`). A single one may have been asked for (System.gc(), a histogram of the heap)."
    } else if often {
        "Young collections come as fast as the young generation fills: a larger heap makes them fewer, and less allocation \
         makes them fewer for good. `helenus record --node ADDRESS --stacks alloc -o alloc.helenus`, then `helenus flame alloc.helenus`, show who allocates; reads over \
         tombstones and wide rows are the usual ones."
    } else {
        "Look at what the pauses copy: `helenus gc RECORDING` shows how much stayed after each collection. Long-lived memtables and caches \
         on the heap, large partitions and humongous objects (half of a G1 region and more) make them long; a lower \
         -XX:MaxGCPauseMillis makes them shorter and more."
    };
    Ok(Some(Found {
        severity: if much || full || thresholds::LONG_GC_PAUSE.is_met(longest) {
            Severity::Warning
        } else {
            Severity::Information
        },
        evidence: format!(
            "{young_per_s:.1} young collections a second{whole} took {} of the time, the longest pause {}, at {allocated} \
             allocated",
            text::percent(gc.paused_share),
            text::time_ms(longest)
        ),
        figures: json!({ "gc": gc }),
        advice: advice.into(),
        verify: "`helenus gc RECORDING` over the same load; `helenus explain RECORDING` says whether slow requests met the pauses.".into(),
    }))
}

/// conf/jvm17-server.options (5.0) has -XX:InitiatingHeapOccupancyPercent=70; HotSpot's default is 45, and adaptive from JDK 9 on.
pub(super) const MARKING: Rule = Rule {
    name: "marking",
    looks_at: "the CPU time in which G1 marks beside the requests",
    thresholds: &[&thresholds::MARKING_SHARE],
    source: "HotSpot's documentation of G1: where it begins to mark is adapted, and InitiatingHeapOccupancyPercent is only the \
             first value, unless -XX:-G1UseAdaptiveIHOP",
    query: query::MARKING,
    check: Check::OfNode(marking),
};

fn marking(node: &Node) -> Checked {
    let share = need(node.marking_share, "the CPU time of its threads is not recorded")?;
    if !thresholds::MARKING_SHARE.is_met(share) {
        return Ok(None);
    }
    let options = node.jvm_options()?;
    let is_held = options.split(' ').any(|option| option == "-XX:-G1UseAdaptiveIHOP");
    let advice = if is_held {
        "The old generation is above the share at which marking begins for most of the time: give the heap more memory, or \
         put less into it."
    } else {
        "Marking is in no pause: it takes CPUs from requests. G1 begins earlier after a surge has filled the heap, whatever \
         InitiatingHeapOccupancyPercent says, and may mark all the time from then on. Try -XX:-G1UseAdaptiveIHOP, which \
         holds it at that share (70 in Cassandra's options of 5.0, 45 by default), or a larger heap."
    };
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("G1 marked beside the requests with {} of the node's CPU time", text::percent(share)),
        figures: json!({ "marking_share": share }),
        advice: advice.into(),
        verify: "The same share over the same load, requests/s, and no more full collections (`helenus gc RECORDING`)."
            .into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GcFigures;
    use crate::advice::healthy::{after, missing_after, quiet_after, setting};

    #[test]
    fn collectors() {
        let rule = &COLLECTOR;
        let old = after(rule, |node| setting(node, "jvm.collectors", "ParNew, ConcurrentMarkSweep"));
        assert!(old.advice.contains("without carrying over sizes"), "{}", old.advice);
        assert_eq!(
            after(rule, |node| setting(node, "jvm.collectors", "Copy, MarkSweepCompact")).severity,
            Severity::Warning
        );
        quiet_after(rule, |node| setting(node, "jvm.collectors", "Shenandoah Pauses, Shenandoah Cycles"));
        missing_after(rule, |node| node.settings.clear());
        let rule = &YOUNG_GENERATION;
        after(rule, |node| setting(node, "jvm.options", "-Xmx8G -Xmn800M"));
        quiet_after(rule, |_| ());
        missing_after(rule, |node| drop(node.settings.remove("jvm.options")));
    }

    #[test]
    fn gc_time() {
        let rule = &GC_TIME;
        let gc = |change: fn(&mut GcFigures)| move |node: &mut Node| change(node.gc.as_mut().unwrap());
        let study = after(rule, gc(|gc| gc.young = 1200));
        assert!(study.evidence.starts_with("20.0 young") && study.advice.contains("--stacks alloc"), "{study:?}");
        assert_eq!(after(rule, gc(|gc| gc.paused_share = 0.2)).severity, Severity::Warning);
        assert_eq!(after(rule, gc(|gc| gc.pause_max_ms = Some(300.0))).severity, Severity::Information);
        let full = after(rule, gc(|gc| gc.full = 2));
        assert!(full.severity == Severity::Warning && full.advice.contains("no room left"), "{full:?}");
        quiet_after(rule, |_| ());
        missing_after(rule, |node| node.gc = None);
    }

    #[test]
    fn marking() {
        let rule = &MARKING;
        let found = after(rule, |node| node.marking_share = Some(0.16));
        assert!(found.evidence.contains("16 %") && found.advice.contains("-XX:-G1UseAdaptiveIHOP"), "{found:?}");
        let held = after(rule, |node| {
            node.marking_share = Some(0.16);
            setting(node, "jvm.options", "-XX:+UseG1GC -XX:-G1UseAdaptiveIHOP");
        });
        assert!(held.advice.contains("more memory"), "{held:?}");
        quiet_after(rule, |_| ());
        missing_after(rule, |node| node.marking_share = None);
    }
}
