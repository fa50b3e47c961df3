//! How Helenus speaks to a person: data to stdout, talk to stderr, colour where it is wanted.

use anstyle::{AnsiColor, Style};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::Duration;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const BLUE: Style = AnsiColor::Blue.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default().bold();

/// Prints an error with what led to it, each cause once.
pub fn error(error: &anyhow::Error) {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Some of our errors already hold the text of their cause.
        if !said.contains(&cause) {
            if !said.is_empty() {
                said.push_str(": ");
            }
            said.push_str(&cause);
        }
    }
    talk(format_args!("{RED}error:{RED:#} {said}"));
}

/// Something to heed that is no error.
pub fn warn(text: impl Display) {
    talk(format_args!("{YELLOW}warning:{YELLOW:#} {text}"));
}

/// A step of the work that has been done.
pub fn done(text: impl Display) {
    talk(format_args!("{GREEN}✓{GREEN:#} {text}"));
}

/// A line for the person, beside the data.
pub fn talk(text: impl Display) {
    // A closed stderr is no reason to stop.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// A severity in its colour.
pub fn severity(name: &str) -> String {
    let mark = match name {
        "critical" => "●",
        "warning" => "▲",
        _ => "ℹ",
    };
    severity_text(name, format_args!("{mark} {name}"))
}

/// A text in the colour of a severity.
pub fn severity_text(name: &str, text: impl Display) -> String {
    let style = match name {
        "critical" => RED,
        "warning" => YELLOW,
        _ => BLUE,
    };
    format!("{style}{text}{style:#}")
}

/// A text in the colour of what is well.
pub fn good(text: impl Display) -> String {
    format!("{GREEN}{text}{GREEN:#}")
}

pub fn bold(text: impl Display) -> String {
    format!("{BOLD}{text}{BOLD:#}")
}

pub fn dim(text: impl Display) -> String {
    format!("{DIM}{text}{DIM:#}")
}

/// A table without lines; columns from `numbers_from` on are right-aligned.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>, numbers_from: usize) -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_header(header.iter());
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(numbers_from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A line that says what is being done now, and changes in place on a terminal. Elsewhere each new step is a line.
#[derive(Debug)]
pub struct Steps {
    bar: ProgressBar,
    plain: bool,
    last: String,
}

impl Steps {
    pub fn new() -> Steps {
        let plain = !std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(
            None,
            if plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() },
        );
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Steps { bar, plain, last: String::new() }
    }

    /// A new step: shown in place, and as a line of its own where there is no terminal.
    pub fn step(&mut self, text: impl Display) {
        let text = text.to_string();
        if self.plain && text != self.last {
            talk(&text);
        }
        self.bar.set_message(text.clone());
        self.last = text;
    }

    /// News within a step: only shown in place.
    pub fn live(&self, text: impl Display) {
        self.bar.set_message(text.to_string());
    }

    /// Whether news within a step is seen by nobody.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// A line that stays.
    pub fn keep(&self, line: impl FnOnce()) {
        self.bar.suspend(line);
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Bytes for a person.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// A number with its thousands set apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Milliseconds with as many digits as are of use.
pub fn millis(ms: Option<f64>) -> String {
    match ms {
        None => "–".into(),
        Some(ms) if ms < 10.0 => format!("{ms:.2}"),
        Some(ms) if ms < 100.0 => format!("{ms:.1}"),
        Some(ms) => format!("{ms:.0}"),
    }
}

/// Nanoseconds in the unit that reads best, to three digits.
pub fn nanos(ns: i64) -> String {
    let value = ns as f64;
    let (value, unit) = match value.abs() {
        size if size < 999.5 => return format!("{ns} ns"),
        size if size < 999.5e3 => (value / 1e3, "µs"),
        size if size < 999.5e6 => (value / 1e6, "ms"),
        _ => (value / 1e9, "s"),
    };
    match value.abs() {
        size if size < 9.995 => format!("{value:.2} {unit}"),
        size if size < 99.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!([count(0), count(999), count(1_000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [nanos(7), nanos(1234), nanos(99_960), nanos(999_499_999), nanos(999_500_000), nanos(61_000_000_000)],
            ["7 ns", "1.23 µs", "100 µs", "999 ms", "1.00 s", "61.0 s"]
        );
        assert_eq!([bytes(7), bytes(2048), bytes(3 << 30)], ["7 B", "2.0 KiB", "3.0 GiB"]);
        assert_eq!(
            [millis(None), millis(Some(0.123)), millis(Some(43.21)), millis(Some(1234.5))],
            ["–", "0.12", "43.2", "1234"]
        );
    }
}
