//! The progress line.

use super::{style, talk};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Display;
use std::io::IsTerminal;
use std::time::Duration;

/// A progress line that is replaced in place on a terminal. Elsewhere each step is a line.
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

    /// Shows a new step in place, or as a line without a terminal.
    pub fn step(&mut self, text: impl Display) {
        let text = text.to_string();
        if self.plain && text != self.last {
            talk(&text);
        }
        self.bar.set_message(shown(&text));
        self.last = text;
    }

    /// Shows progress within a step, only on a terminal.
    pub fn live(&self, text: impl Display) {
        self.bar.set_message(shown(&text.to_string()));
    }

    /// Whether progress within a step is not shown.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Prints a line that stays.
    pub fn keep(&self, line: impl FnOnce()) {
        self.bar.suspend(line);
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn shown(text: &str) -> String {
    style::render(&style::one_line(text))
}
