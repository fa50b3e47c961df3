//! Advice about debugging modes that were left on and slow down every request.

use super::facts::{Node, need};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// HotSpot's options: -Xint interprets all code, -XX:-UseCompiler and TieredStopAtLevel=0 do the same, and levels 1 to 3 are code of the
/// first compiler alone (compilationPolicy.hpp, JDK 11 to 25).
pub(super) const JIT: Rule = Rule {
    name: "jit",
    looks_at: "options that keep the JVM from compiling, or from compiling well",
    thresholds: &[],
    source: "HotSpot's options -Xint, -XX:-UseCompiler and -XX:TieredStopAtLevel; the JVM's default is 4",
    query: query::SETTINGS,
    check: Check::OfNode(jit),
};

fn jit(node: &Node) -> Checked {
    let options = node.jvm_options()?;
    let level =
        |option: &str| option.strip_prefix("-XX:TieredStopAtLevel=").and_then(|level| level.parse::<u32>().ok());
    let interprets =
        |option: &&str| ["-Xint", "-XX:-UseCompiler"].contains(option) || level(option).is_some_and(|level| level == 0);
    let given = |is_it: &dyn Fn(&&str) -> bool| options.split(' ').find(is_it).map(str::to_string);
    let (severity, option, evidence) =
        match (given(&interprets), given(&|option| level(option).is_some_and(|level| level < 4))) {
            (Some(option), _) => (Severity::Critical, option, "the JVM interprets all of its code, as it was given"),
            (None, Some(option)) => {
                (Severity::Warning, option, "the JVM compiles with its first compiler alone, as it was given")
            }
            (None, None) => return Ok(None),
        };
    Ok(Some(Found {
        severity,
        evidence: format!("{evidence} {option}"),
        figures: json!({ "option": option }),
        advice: format!(
            "Remove {option} from the options of the JVM (jvm-server.options, JVM_EXTRA_OPTS) and restart the node: interpreted code \
             takes some ten times as long, code of the first compiler two to three times."
        ),
        verify: "jvm.options in the table settings; the CPU time of a request.".into(),
    }))
}

/// `Stage.TRACING` (4.0 to 5.0) writes each event of a trace: a traced read has some ten to twenty of them.
pub(super) const TRACING: Rule = Rule {
    name: "tracing",
    looks_at: "events of query tracing that the node writes for a request",
    thresholds: &[&thresholds::TRACE_EVENTS],
    source: "nodetool settraceprobability in Cassandra's documentation; the pool TracingStage",
    query: query::FULL_POOLS,
    check: Check::OfNode(tracing),
};

fn tracing(node: &Node) -> Checked {
    if node.pools.is_empty() {
        need::<()>(None, "thread pools are not recorded")?;
    }
    let pool = |name: &str| node.pools.iter().find(|pool| pool.name == name);
    // The node counts the writes of tracing like those of clients; this pool has the clients' requests alone.
    let of_clients = pool("Native-Transport-Requests").map_or(0, |pool| pool.completed);
    let Some(pool) = pool("TracingStage") else { return Ok(None) };
    let latency =
        |scope: &str| node.metric("ClientRequest", scope, "Latency", "Count").map_or(0, |figure| figure.grown);
    let all: i64 = ["Read", "RangeSlice", "Write", "CASRead", "CASWrite"].into_iter().map(latency).sum();
    let requests = if of_clients > 0 { of_clients } else { all };
    let per_request = pool.completed as f64 / requests.max(1) as f64;
    if !thresholds::TRACE_EVENTS.is_met(per_request) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "the node wrote {} of query tracing for {}",
            text::counted(usize::try_from(pool.completed).unwrap_or(0), "event", "events"),
            text::counted(usize::try_from(requests).unwrap_or(0), "request", "requests")
        ),
        figures: json!({ "events": pool.completed, "requests": requests }),
        advice: "Trace fewer requests: nodetool settraceprobability 0 (nodetool gettraceprobability shows it), and switch tracing off in \
                 the clients (cqlsh TRACING OFF, setTracing in drivers). Each traced request writes some ten rows to system_traces."
            .into(),
        verify: "completed of TracingStage in the table pools stops growing.".into(),
    }))
}

/// Cassandra's logback.xml (4.0 to 5.0) has the root at INFO and org.apache.cassandra at DEBUG, for debug.log.
pub(super) const LOGGING: Rule = Rule {
    name: "logging",
    looks_at: "loggers that write more than those of Cassandra's logback.xml",
    thresholds: &[],
    source: "Cassandra's logback.xml; nodetool getlogginglevels",
    query: query::SETTINGS,
    check: Check::OfNode(logging),
};

/// The log level of Cassandra's own loggers in the logback.xml that Cassandra ships.
const AS_SHIPPED: (&str, &str) = ("org.apache.cassandra", "DEBUG");

fn logging(node: &Node) -> Checked {
    let levels = node.need_setting(&["logging.levels"])?;
    let low: Vec<&str> = levels
        .split(", ")
        .filter_map(|level| level.split_once('='))
        .filter(|(logger, level)| ["ALL", "TRACE", "DEBUG"].contains(level) && (*logger, *level) != AS_SHIPPED)
        .map(|(logger, _)| logger)
        .collect();
    let [first, ..] = low.as_slice() else { return Ok(None) };
    let is_of_all = low.iter().any(|logger| ["ROOT", AS_SHIPPED.0].contains(logger));
    Ok(Some(Found {
        severity: if is_of_all { Severity::Warning } else { Severity::Information },
        evidence: format!("the node logs {} at DEBUG or below", low.join(", ")),
        figures: json!({ "levels": levels }),
        advice: format!(
            "Set the level back: nodetool setlogginglevel {first} INFO, or the level in logback.xml. Lines that each request \
             writes cost CPU time and disk, and a full queue of the log makes requests wait."
        ),
        verify: "nodetool getlogginglevels; logging.levels in the table settings.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::facts::Pool;
    use crate::advice::healthy::{after, missing_after, quiet_after};

    fn set(node: &mut Node, name: &str, value: &str) {
        node.settings.insert(name.into(), value.into());
    }

    #[test]
    fn a_jvm_that_does_not_compile() {
        let under = |options: &'static str| after(&JIT, |node| set(node, "jvm.options", options));
        assert_eq!(under("-Xmx8G -Xint").severity, Severity::Critical);
        assert_eq!(under("-XX:TieredStopAtLevel=0").severity, Severity::Critical);
        let first = under("-XX:TieredStopAtLevel=1 -Xmx8G");
        assert_eq!(first.severity, Severity::Warning);
        assert!(first.advice.contains("-XX:TieredStopAtLevel=1"), "{}", first.advice);
        quiet_after(&JIT, |node| set(node, "jvm.options", "-Xmx8G -XX:TieredStopAtLevel=4"));
        missing_after(&JIT, |node| drop(node.settings.remove("jvm.options")));
    }

    #[test]
    fn tracing_that_was_left_on() {
        let traced = |completed: i64| {
            move |node: &mut Node| {
                node.pools.push(Pool { name: "TracingStage".into(), completed, ..Pool::default() });
            }
        };
        let found = after(&TRACING, traced(40_000));
        assert!(found.advice.contains("settraceprobability 0"), "{}", found.advice);
        // Most of the node's writes are those of tracing.
        let clients = |node: &mut Node| {
            traced(3_000)(node);
            node.pools.retain(|pool| pool.name != "Native-Transport-Requests");
            node.pools.push(Pool { name: "Native-Transport-Requests".into(), completed: 1_000, ..Pool::default() });
        };
        assert!(after(&TRACING, clients).evidence.contains("3,000 events of query tracing for 1,000 requests"));
        quiet_after(&TRACING, traced(30));
        missing_after(&TRACING, |node| node.pools.clear());
    }

    #[test]
    fn loggers_that_were_left_on() {
        let of_all = after(&LOGGING, |node| set(node, "logging.levels", "ROOT=TRACE, org.apache.cassandra=DEBUG"));
        assert!(of_all.severity == Severity::Warning && of_all.advice.contains("setlogginglevel ROOT"), "{of_all:?}");
        let one = after(&LOGGING, |node| set(node, "logging.levels", "ROOT=INFO, org.apache.cassandra.gms=TRACE"));
        assert_eq!(one.severity, Severity::Information);
        quiet_after(&LOGGING, |node| set(node, "logging.levels", "ROOT=INFO, org.apache.cassandra=DEBUG"));
        missing_after(&LOGGING, |node| drop(node.settings.remove("logging.levels")));
    }
}
