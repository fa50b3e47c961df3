//! Colours that the terminal supports: 256, 16, or none. A sign or a word always repeats the meaning of a colour.

use crate::terminal;
use ratatui::style::{Color, Modifier, Style};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Many,
    Few,
    /// No colours: NO_COLOR is set, or the terminal has none.
    Mono,
}

/// Colours from few to many, dark to bright, of 256.
const HEAT: [u8; 10] = [54, 56, 62, 32, 38, 42, 113, 185, 221, 229];
const HEAT_OF_FEW: [Color; 4] = [Color::Blue, Color::Cyan, Color::Yellow, Color::White];
const SHADES: [&str; 5] = ["·", "░", "▒", "▓", "█"];

impl Paint {
    pub(super) fn of_terminal() -> Paint {
        let has = |name: &str, text: &str| std::env::var(name).is_ok_and(|value| value.contains(text));
        match terminal::has_colours() {
            false => Paint::Mono,
            true if has("TERM", "256") || has("COLORTERM", "") => Paint::Many,
            true => Paint::Few,
        }
    }

    fn coloured(self, colour: Color) -> Style {
        if self == Paint::Mono { Style::new() } else { Style::new().fg(colour) }
    }

    pub(super) fn title(self) -> Style {
        self.coloured(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// The selected page, line or column.
    pub(super) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn bad(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(super) fn warning(self) -> Style {
        self.coloured(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    pub(super) fn chart(self) -> Style {
        self.coloured(if self == Paint::Many { Color::Indexed(38) } else { Color::Cyan })
    }

    pub(super) fn severity(self, name: &str) -> (&'static str, Style) {
        match name {
            "critical" => ("●", self.bad()),
            "warning" => ("▲", self.warning()),
            _ => ("ℹ", self.coloured(Color::Blue)),
        }
    }

    /// The colour of a count, given as a share of the largest from 0 to 1.
    pub(super) fn heat(self, share: f64) -> (&'static str, Style) {
        let of = |count: usize| ((share * count as f64) as usize).min(count - 1);
        match self {
            Paint::Many => ("█", Style::new().fg(Color::Indexed(HEAT[of(HEAT.len())]))),
            Paint::Few => (SHADES[of(SHADES.len())], Style::new().fg(HEAT_OF_FEW[of(HEAT_OF_FEW.len())])),
            Paint::Mono => (SHADES[of(SHADES.len())], Style::new()),
        }
    }
}
