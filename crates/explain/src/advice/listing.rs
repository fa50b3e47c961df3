//! The rules as tables for people: what `docs/tuning.md` has is made here.

use super::{BYGONE, RULES};

/// The rules, their thresholds, and the advice that is not given.
pub fn rules_as_markdown() -> String {
    let mut lines = vec!["| rule | looks at | source |".to_string(), "|---|---|---|".to_string()];
    lines.extend(RULES.iter().map(|rule| format!("| `{}` | {} | {} |", rule.name, rule.looks_at, rule.source)));
    lines.extend(["", "| threshold | from | used by | source |", "|---|---|---|---|"].map(String::from));
    for rule in RULES {
        lines.extend(rule.thresholds.iter().map(|threshold| {
            let value = figure(threshold.value, threshold.unit);
            format!("| {} | {value} | `{}` | {} |", threshold.name, rule.name, threshold.source)
        }));
    }
    lines.extend(["", "| known and not given | why |", "|---|---|"].map(String::from));
    lines.extend(BYGONE.iter().map(|bygone| format!("| {} | {} |", bygone.advice, bygone.because)));
    lines.join("\n") + "\n"
}

fn figure(value: f64, unit: &str) -> String {
    match unit {
        "bytes" if value >= 1_073_741_824.0 => format!("{:.0} GiB", value / 1_073_741_824.0),
        "bytes" if value >= 1_048_576.0 => format!("{:.0} MiB", value / 1_048_576.0),
        "bytes" => format!("{:.0} KiB", value / 1024.0),
        unit => format!("{value} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_documentation_has_the_rules_as_they_are() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tuning.md");
        let documented = std::fs::read_to_string(path).unwrap();
        assert!(
            documented.contains(&super::rules_as_markdown()),
            "put what `helenus advise --rules` prints into docs/tuning.md"
        );
    }
}
