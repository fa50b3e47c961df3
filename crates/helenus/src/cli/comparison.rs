//! Prints a comparison on a terminal.

use crate::terminal;
use anyhow::Result;
use helenus_explain::{Comparison, METRICS, Metric, Ratio, Side, Verdict};
use std::io::Write;
use std::process::ExitCode;

/// Prints the result of each variant: a sentence, and the figures behind it.
pub fn print(out: &mut impl Write, comparison: &Comparison) -> Result<()> {
    if comparison.variants.is_empty() {
        terminal::warn("no variant was run to its end in a block in which the baseline was, too: nothing to compare");
    }
    for side in &comparison.variants {
        writeln!(out)?;
        writeln!(out, "{}", terminal::bold(&side.sentence))?;
        if side.runs == 1 {
            let unit = comparison.run_unit;
            writeln!(out, "One {unit} each: no interval, since how much {unit}s differ is not known; run several.")?;
        }
        writeln!(out, "{}", table(side, comparison))?;
    }
    if comparison.variants.iter().any(|side| side.metrics.len() > 1 && side.runs > 1) {
        writeln!(
            out,
            "{}",
            terminal::dim(format_args!(
                "\"better\" and \"worse\" allow for all figures of a variant together: identical runs get one in at most {:.0} % \
                 of comparisons. Each interval is of its figure alone.",
                comparison.family_error * 100.0
            ))
        )?;
    }
    if !comparison.remarks.is_empty() {
        writeln!(out, "\n{}", terminal::bold("To keep in mind"))?;
    }
    for remark in &comparison.remarks {
        writeln!(out, "- {remark}")?;
    }
    if comparison.cut_short > 0 {
        terminal::warn(format_args!("runs that were cut short and are in nothing here: {}", comparison.cut_short));
    }
    Ok(())
}

fn table(side: &Side, comparison: &Comparison) -> terminal::Table {
    let interval = format!("{:.0} % interval", comparison.confidence * 100.0);
    // The sentence above the table already says that there are no intervals.
    let few = side.metrics.iter().all(|ratio| ratio.low.is_none());
    let header = ["", &comparison.baseline, &side.name, "unit", "ratio", &interval, "verdict"];
    let rows = side.metrics.iter().map(|ratio| {
        let number = |value: Option<f64>| value.map_or("–".to_string(), |value| format!("{value:.2}"));
        let bounds = match (ratio.low, ratio.high) {
            (None, None) => "–".to_string(),
            (low, high) => format!("{} to {}", number(low), number(high)),
        };
        vec![
            ratio.metric.name.to_string(),
            digits(ratio.baseline),
            digits(ratio.variant),
            ratio.metric.unit.to_string(),
            number(ratio.ratio),
            bounds,
            if few && ratio.verdict == Verdict::NotEnough {
                "–".to_string()
            } else {
                verdict(ratio, comparison.run_unit)
            },
        ]
    });
    terminal::table(&header, rows, 1)
}

fn verdict(ratio: &Ratio, unit: &str) -> String {
    let name = ratio.verdict.name();
    match ratio.verdict {
        Verdict::Better => terminal::good(name),
        Verdict::Worse => terminal::severity_text("critical", name),
        Verdict::NoDifference | Verdict::StillCompiling => name.to_string(),
        Verdict::NotEnough => {
            let why = match (ratio.ratio, ratio.runs_needed) {
                (None, _) => "the baseline's is 0".to_string(),
                (_, Some(runs)) => format!("about {runs} needed"),
                (_, None) => "over 1000 needed".to_string(),
            };
            terminal::dim(format_args!("not enough {unit}s ({why})"))
        }
    }
}

/// Formats a number with three significant digits.
fn digits(value: f64) -> String {
    let size = value.abs();
    if size >= 100.0 || size == 0.0 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", terminal::count(size.round() as u64));
    }
    let decimals = (2 - size.log10().floor() as i32).clamp(0, 6);
    format!("{value:.*}", decimals.unsigned_abs() as usize)
}

/// The name of a figure in the form of an argument.
pub fn metric(text: &str) -> Result<&'static str, String> {
    let known = || METRICS.iter().map(|metric| metric.name).collect::<Vec<_>>().join(", ");
    Metric::named(text).map(|metric| metric.name).ok_or_else(|| format!("there are {}", known()))
}

/// Exit code 1 if a variant is worse than the baseline in one of these figures.
pub fn code(comparison: &Comparison, fail_if_worse: &[&str]) -> ExitCode {
    ExitCode::from(u8::from(comparison.is_worse_in(fail_if_worse)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let shown = [0.0, 0.012345, 1.2345, 45.67, 123.4, 45678.9].map(digits);
        assert_eq!(shown, ["0", "0.0123", "1.23", "45.7", "123", "45,679"]);
        assert_eq!(metric("throughput"), Ok("throughput"));
        assert!(metric("speed").unwrap_err().contains("response_p99"));
    }
}
