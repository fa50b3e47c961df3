//! Draws time series with characters.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Draws columns from the bottom up, the newest at the right. None leaves a gap; a value above 0 has at least one mark.
pub(super) fn bars(buffer: &mut Buffer, area: Rect, values: &[Option<f64>], most: f64, style: Style) {
    let width = usize::from(area.width);
    let shown = &values[values.len().saturating_sub(width)..];
    let first = area.right() - u16::try_from(shown.len()).unwrap_or(area.width);
    for (value, x) in shown.iter().zip(first..area.right()) {
        let Some(value) = value.filter(|value| *value > 0.0 && most > 0.0) else { continue };
        let eighths = ((value / most).min(1.0) * f64::from(area.height) * 8.0).round().max(1.0) as usize;
        for row in 0..usize::from(area.height) {
            let filled = eighths.saturating_sub(row * 8).min(8);
            if filled > 0 {
                let y = area.bottom() - 1 - u16::try_from(row).unwrap_or(0);
                buffer.set_string(x, y, EIGHTHS[filled], style);
            }
        }
    }
}

pub(super) fn largest(values: &[Option<f64>]) -> f64 {
    values.iter().flatten().copied().fold(0.0, f64::max)
}
