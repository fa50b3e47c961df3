//! The result of a variant, in one sentence.

use super::bootstrap::FEWEST;
use super::side::{Ratio, Side};
use super::verdict::Verdict;

/// "lwt: 12 % (8 to 16) more requests/s than none, p99 0.71 of none's (0.60 to 0.85); 8 blocks".
pub(super) fn of(side: &Side, baseline: &str, unit: &str) -> String {
    let ratio = |name: &str| side.metrics.iter().find(|ratio| ratio.metric.name == name);
    let throughput = ratio("throughput").map(|ratio| throughput(ratio, baseline, unit));
    let p99 = ratio("response_p99").map(|ratio| time("p99", ratio, baseline, unit));
    let reads = ratio("read_p50").map(|ratio| time("median of a read", ratio, baseline, unit));
    let clauses: Vec<String> = [throughput, p99, reads].into_iter().flatten().collect();
    let runs = side.runs;
    let runs = format!("{runs} {unit}{}", if runs == 1 { "" } else { "s" });
    if clauses.is_empty() {
        return format!("{}: nothing that {baseline} has as well; {runs}", side.name);
    }
    let few =
        if runs_are_few(side) { format!(", too few for an interval, which takes {FEWEST}") } else { String::new() };
    format!("{}: {}; {runs}{few}", side.name, clauses.join(", "))
}

fn runs_are_few(side: &Side) -> bool {
    side.runs < FEWEST && side.metrics.iter().any(|ratio| ratio.verdict == Verdict::NotEnough)
}

fn throughput(ratio: &Ratio, baseline: &str, unit: &str) -> String {
    let Some(value) = ratio.ratio else { return format!("{baseline} answered no request") };
    let Some((low, high)) = ratio.low.zip(ratio.high) else {
        return format!("{value:.2} of {baseline}'s requests/s");
    };
    match ratio.verdict {
        Verdict::Better => {
            let (by, from, to) = (percent(value - 1.0), percent(low - 1.0), percent(high - 1.0));
            format!("{by} % ({from} to {to}) more requests/s than {baseline}")
        }
        Verdict::Worse => {
            let (by, from, to) = (percent(1.0 - value), percent(1.0 - high), percent(1.0 - low));
            format!("{by} % ({from} to {to}) fewer requests/s than {baseline}")
        }
        Verdict::StillCompiling => {
            format!("{value:.2} of {baseline}'s requests/s ({low:.2} to {high:.2}: {})", Verdict::StillCompiling.name())
        }
        Verdict::NoDifference => format!("as many requests/s as {baseline} ({low:.2} to {high:.2} of them)"),
        Verdict::NotEnough => {
            format!("{value:.2} of {baseline}'s requests/s ({low:.2} to {high:.2}: {})", undecided(ratio, unit))
        }
    }
}

fn time(what: &str, ratio: &Ratio, baseline: &str, unit: &str) -> String {
    let Some(value) = ratio.ratio else { return format!("no {what} of {baseline}") };
    let Some((low, high)) = ratio.low.zip(ratio.high) else { return format!("{what} {value:.2} of {baseline}'s") };
    match ratio.verdict {
        Verdict::Better | Verdict::Worse | Verdict::StillCompiling => {
            format!("{what} {value:.2} of {baseline}'s ({low:.2} to {high:.2})")
        }
        Verdict::NoDifference => format!("the same {what} ({low:.2} to {high:.2} of {baseline}'s)"),
        Verdict::NotEnough => {
            format!("{what} {value:.2} of {baseline}'s ({low:.2} to {high:.2}: {})", undecided(ratio, unit))
        }
    }
}

fn undecided(ratio: &Ratio, unit: &str) -> String {
    match ratio.runs_needed {
        Some(needed) => format!("undecided, about {needed} {unit}s would tell"),
        None => format!("undecided, and over 1000 {unit}s would be needed to tell"),
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}
