//! The spectrogram: requests by when they were answered, to the right, and how long they took, upwards.

use super::app::App;
use super::listing::put;
use super::pages::clock;
use crate::terminal;
use helenus_explain::LiveWindow;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns of the times at the left.
const GUTTER: u16 = 9;

pub(super) fn draw(app: &App, window: LiveWindow, area: Rect, buffer: &mut Buffer) {
    let width = area.width.saturating_sub(GUTTER);
    let bins = (app.live.bin_s() * 1e9) as i64 * i64::from(width.saturating_sub(1).max(1));
    let shown = LiveWindow { from_ns: window.from_ns.min(window.to_ns.saturating_sub(bins)), ..window };
    let heat = app.live.heat(shown, usize::from(width), None);
    if heat.cells.is_empty() || area.height < 4 {
        put(buffer, area.x, area.y + 1, "No request was recorded in this window.", app.paint.dim());
        return;
    }
    let height = usize::from(area.height - 3);
    let rows = heat.low_ms.len();
    // Rows of the picture per line of the terminal.
    let each = rows.div_ceil(height).max(1);
    let lines = rows.div_ceil(each);
    let mut counts = vec![vec![0.0; heat.columns]; lines];
    for (column, row, count) in &heat.cells {
        counts[row / each][*column] += count;
    }
    let most = counts.iter().flatten().copied().fold(1.0, f64::max);
    put(buffer, area.x, area.y, &format!("{:>7} ", "ms"), app.paint.bold());
    let offset = width.saturating_sub(u16::try_from(heat.columns).unwrap_or(width));
    for (line, row) in counts.iter().enumerate() {
        let y = area.y + 1 + u16::try_from(lines - 1 - line).unwrap_or(0);
        let label = terminal::millis(heat.low_ms.get(line * each).copied());
        put(buffer, area.x, y, &format!("{label:>7} │"), app.paint.dim());
        for (column, count) in row.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            let share = if most > 1.0 { (count.ln() / most.ln()).clamp(0.0, 1.0) } else { 1.0 };
            let (sign, style) = app.paint.heat(share);
            put(buffer, area.x + GUTTER + offset + u16::try_from(column).unwrap_or(0), y, sign, style);
        }
    }
    let y = area.y + 1 + u16::try_from(lines).unwrap_or(0);
    put(buffer, area.x, y, &format!("{:>7} └{}", "", "─".repeat(usize::from(width))), app.paint.dim());
    let (from, to) =
        (clock(heat.from_s, "%H:%M:%S"), clock(heat.from_s + heat.bin_s * heat.columns as f64, "%H:%M:%S"));
    let middle = format!("{} s a column, at most {} requests a cell", heat.bin_s, terminal::count(most as u64));
    let gap = usize::from(width).saturating_sub(from.len() + to.len());
    put(buffer, area.x + GUTTER, y + 1, &format!("{from}{middle:^gap$}{to}"), app.paint.dim());
}
