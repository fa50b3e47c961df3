//! A list with columns that can be sorted, filtered, and gone into.

use super::app::Below;
use super::paint::Paint;
use crate::terminal;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::cmp::Ordering;
use unicode_width::UnicodeWidthStr;

/// A column. The column without a width gets the remaining space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) head: &'static str,
    pub(super) width: Option<u16>,
    pub(super) keep: Keep,
}

/// Which columns a narrow terminal leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Always,
    /// Left out from the last on, once no extra column is left.
    Usually,
    /// Left out first.
    Extra,
}

pub(super) const fn column(head: &'static str, width: u16) -> Column {
    Column { head, width: Some(width), keep: Keep::Usually }
}

/// The column with the node, which tells the lines of a ring apart.
pub(super) fn node_column(is_ring: bool) -> Column {
    Column { head: "node", width: Some(15), keep: if is_ring { Keep::Always } else { Keep::Extra } }
}

/// A column for wide terminals.
pub(super) const fn extra(head: &'static str, width: u16) -> Column {
    Column { head, width: Some(width), keep: Keep::Extra }
}

pub(super) const fn rest(head: &'static str) -> Column {
    Column { head, width: None, keep: Keep::Always }
}

/// The smallest width of the column without a width, and the smallest beside columns for wide terminals.
const LEAST_OF_REST: u16 = 24;
const LEAST_BESIDE_EXTRA: u16 = 40;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cell {
    text: String,
    /// The value to sort by; None to sort by the text.
    number: Option<f64>,
    is_number: bool,
}

pub(super) fn text(text: impl Into<String>) -> Cell {
    Cell { text: terminal::one_line(&text.into()), number: None, is_number: false }
}

pub(super) fn number(value: f64, text: String) -> Cell {
    Cell { text, number: Some(value), is_number: true }
}

/// A number that may not be known.
pub(super) fn maybe(value: Option<f64>, show: impl FnOnce(f64) -> String) -> Cell {
    match value {
        Some(value) => number(value, show(value)),
        None => Cell { text: "–".to_string(), number: None, is_number: true },
    }
}

#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) cells: Vec<Cell>,
    pub(super) below: Option<Below>,
    pub(super) style: Option<Style>,
}

pub(super) fn line(cells: Vec<Cell>, below: Option<Below>) -> Line {
    Line { cells, below, style: None }
}

#[derive(Debug, Clone)]
pub(super) struct Listing {
    pub(super) columns: Vec<Column>,
    pub(super) lines: Vec<Line>,
    /// The text to show when the list is empty.
    pub(super) nothing: &'static str,
}

/// Sort order, filter and cursor of a list, kept from one drawing to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct ListState {
    /// The sort column; None for the list's own order.
    pub(super) sort: Option<usize>,
    pub(super) reverse: bool,
    pub(super) filter: String,
    pub(super) cursor: usize,
    pub(super) top: usize,
}

impl Listing {
    /// The lines in the requested order, without those that the filter hides.
    pub(super) fn arranged(mut self, state: &ListState) -> Listing {
        let wanted = state.filter.to_lowercase();
        if !wanted.is_empty() {
            self.lines.retain(|line| line.cells.iter().any(|cell| cell.text.to_lowercase().contains(&wanted)));
        }
        if let Some(by) = state.sort {
            self.lines.sort_by(|a, b| match (a.cells.get(by), b.cells.get(by)) {
                (Some(a), Some(b)) => a.compare(b),
                _ => Ordering::Equal,
            });
        }
        if state.reverse {
            self.lines.reverse();
        }
        self
    }

    /// Draws the heading and as many lines as fit, around the cursor.
    pub(super) fn draw(&self, area: Rect, buffer: &mut Buffer, state: &mut ListState, paint: Paint) {
        if area.height < 2 {
            return;
        }
        let shown = self.shown(area.width);
        let mut x = area.x;
        for (number, width) in &shown {
            let column = &self.columns[*number];
            let is_sorted = state.sort == Some(*number);
            let cell = self.lines.first().and_then(|line| line.cells.get(*number));
            let is_right = cell.is_some_and(|cell| cell.is_number);
            let style = if is_sorted { paint.title() } else { paint.bold() };
            put(buffer, x, area.y, &fitted(column.head, *width, is_right), style);
            if is_sorted {
                // The mark of the sort column is in the gap after the column's name.
                let after = if is_right { *width } else { u16::try_from(column.head.width()).unwrap_or(0).min(*width) };
                put(buffer, x + after, area.y, if state.reverse { "▲" } else { "▼" }, style);
            }
            x += width + 1;
        }
        if self.lines.is_empty() {
            let text = if state.filter.is_empty() {
                self.nothing
            } else {
                "No line has the text of the filter. Esc removes it."
            };
            put_wrapped(
                buffer,
                Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area },
                text,
                paint.dim(),
            );
            return;
        }
        let room = usize::from(area.height - 1);
        state.cursor = state.cursor.min(self.lines.len() - 1);
        state.top = state.top.min(state.cursor).max((state.cursor + 1).saturating_sub(room));
        state.top = state.top.min(self.lines.len().saturating_sub(room));
        let rows = self.lines.iter().enumerate().skip(state.top).take(room);
        for ((place, line), y) in rows.zip(area.y + 1..) {
            let mut x = area.x;
            let is_chosen = place == state.cursor;
            let style = if is_chosen { paint.chosen() } else { line.style.unwrap_or_default() };
            if is_chosen {
                put(buffer, area.x, y, &" ".repeat(usize::from(area.width)), style);
            }
            for (number, width) in &shown {
                let Some(cell) = line.cells.get(*number) else { continue };
                put(buffer, x, y, &fitted(&cell.text, *width, cell.is_number), style);
                x += width + 1;
            }
        }
    }

    /// The columns that fit, with their widths. Each has a gap after it, which has the mark of the sort column.
    fn shown(&self, room: u16) -> Vec<(usize, u16)> {
        let width_with = |columns: &[usize], least: u16| -> u16 {
            columns.iter().map(|number| self.columns[*number].width.unwrap_or(least) + 1).sum()
        };
        let width_of = |columns: &[usize]| width_with(columns, LEAST_OF_REST);
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        // The extra columns are dropped first, beginning with the last one; then the others, except the first two.
        while let Some(extra) = kept.iter().rposition(|number| self.columns[*number].keep == Keep::Extra)
            && width_with(&kept, LEAST_BESIDE_EXTRA) > room
        {
            kept.remove(extra);
        }
        while width_of(&kept) > room && kept.len() > 1 {
            let Some(last) = kept.iter().rposition(|number| self.columns[*number].keep != Keep::Always) else { break };
            kept.remove(last);
        }
        let left = room.saturating_sub(width_of(&kept));
        let width = |number: &usize| match self.columns[*number].width {
            Some(width) => (*number, width),
            None => (*number, LEAST_OF_REST + left),
        };
        kept.iter().map(width).collect()
    }

    /// The content that the chosen line opens.
    pub(super) fn below(&self, state: &ListState) -> Option<&Below> {
        let last = self.lines.len().checked_sub(1)?;
        self.lines[state.cursor.min(last)].below.as_ref()
    }

    /// Columns that can be sorted by, on a terminal of this width.
    pub(super) fn sortable(&self, room: u16) -> Vec<usize> {
        self.shown(room).into_iter().map(|(number, _)| number).collect()
    }
}

impl Cell {
    /// Numbers in descending order, texts alphabetically.
    fn compare(&self, other: &Cell) -> Ordering {
        match (self.number, other.number) {
            (Some(a), Some(b)) => b.total_cmp(&a),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.text.cmp(&other.text),
        }
    }
}

/// A text cut to a number of columns; … marks a cut.
pub(super) fn fitted(text: &str, width: u16, is_right: bool) -> String {
    let width = usize::from(width);
    let text = terminal::cut(text, width);
    let gap = " ".repeat(width.saturating_sub(text.width()));
    if is_right { format!("{gap}{text}") } else { format!("{text}{gap}") }
}

/// Writes a text in one line, cut to the available width.
pub(super) fn put(buffer: &mut Buffer, x: u16, y: u16, text: &str, style: Style) {
    let area = buffer.area;
    if y < area.bottom() && x < area.right() {
        buffer.set_stringn(x, y, text, usize::from(area.right() - x), style);
    }
}

/// Writes a text in as many lines as it needs. Returns how many those were.
pub(super) fn put_wrapped(buffer: &mut Buffer, area: Rect, text: &str, style: Style) -> u16 {
    let lines = terminal::wrap(&terminal::one_line(text), usize::from(area.width.max(1)));
    let mut written = 0;
    for (line, y) in lines.iter().zip(area.y..area.bottom()) {
        put(buffer, area.x, y, line, style);
        written += 1;
    }
    written
}
