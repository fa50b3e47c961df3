//! Tables that fit the terminal.
//!
//! If a table is wider than the terminal, its headings and long texts are wrapped. If that is not enough, it is split
//! into bands of columns, one below the other, each with the names of the rows. If not even these fit, each row becomes
//! a block of lines. No column is left out.

use super::style::{columns, cut, one_line, wrap};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width};
use std::fmt;

/// Texts up to this width are not wrapped.
const WHOLE: usize = 16;
/// Words up to this width are not broken; longer ones, such as paths, are.
const WORD: usize = 24;
/// Space around a cell.
const PADDING: usize = 2;

/// A table without borders.
#[derive(Debug, Clone)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    right: Vec<bool>,
    /// How many of the first columns identify a row.
    keys: usize,
    width: Option<usize>,
    /// Widths of the columns of the table that these rows continue; that table has the header.
    continues: Option<Vec<usize>>,
}

impl Table {
    /// Columns from `numbers_from` on are right-aligned, and those before them name a row.
    pub fn new(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>, numbers_from: usize) -> Table {
        let cells = |row: Vec<String>| -> Vec<String> {
            let mut cells: Vec<String> = row.iter().map(|cell| one_line(cell)).collect();
            cells.resize(header.len(), String::new());
            cells
        };
        Table {
            header: header.iter().map(|head| one_line(head)).collect(),
            rows: rows.into_iter().map(cells).collect(),
            right: (0..header.len()).map(|column| column >= numbers_from).collect(),
            keys: if numbers_from >= header.len() { 1 } else { numbers_from.max(1) },
            width: super::width(),
            continues: None,
        }
    }

    /// Aligns columns to the right, from the first one on, where the value is true; the other columns stay as they are.
    pub fn aligned_right(mut self, columns: impl IntoIterator<Item = bool>) -> Table {
        self.right.iter_mut().zip(columns).for_each(|(right, given)| *right = given);
        self
    }

    /// The next rows of a table with the given widths; without a header if all columns fit.
    pub fn continuing(mut self, widths: Vec<usize>) -> Table {
        self.continues = Some(widths);
        self
    }

    /// The natural widths of its columns.
    pub fn widths(&self) -> Vec<usize> {
        (0..self.header.len()).map(|column| self.natural(column)).collect()
    }

    /// Fits the table to a terminal with this many columns; None for the table's natural width.
    #[cfg(test)]
    fn within(mut self, width: Option<usize>) -> Table {
        self.width = width;
        self
    }

    /// Whether the terminal is wide enough for the table without wrapping.
    pub fn fits(&self) -> bool {
        let natural: usize = self.widths().into_iter().map(|width| width + PADDING).sum();
        self.width.is_none_or(|width| natural <= width)
    }

    /// Leaves out columns from the last one on until the table fits the terminal, but none of the first `least` columns.
    /// Returns the headings that were left out.
    pub fn narrowed(mut self, least: usize) -> (Table, Vec<String>) {
        let mut left_out = Vec::new();
        while !self.fits() && self.header.len() > least {
            left_out.extend(self.header.pop());
            self.right.pop();
            self.rows.iter_mut().for_each(|row| drop(row.pop()));
        }
        left_out.reverse();
        (self, left_out)
    }

    /// The table with lines below each row, which are cut to the terminal.
    pub fn noted(&self, notes: &[Vec<String>]) -> String {
        const INDENT: usize = 4;
        let width = self.width.unwrap_or(usize::MAX).saturating_sub(INDENT + 1);
        let drawn = self.draw(&(0..self.header.len()).collect::<Vec<_>>(), None);
        let mut lines = drawn.lines();
        let mut out: Vec<String> = lines.next().map(str::to_string).into_iter().collect();
        for (row, notes) in lines.zip(notes) {
            out.push(row.to_string());
            out.extend(notes.iter().map(|note| format!("{}{}", " ".repeat(INDENT), cut(&one_line(note), width))));
        }
        out.join("\n")
    }

    fn natural(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).chain(self.header.get(column));
        let before = self.continues.as_ref().and_then(|widths| widths.get(column)).copied();
        cells.map(|cell| columns(cell)).chain(before).max().unwrap_or(0)
    }

    /// The smallest width of a column that does not break words.
    fn least(&self, column: usize) -> usize {
        let word = |text: &String| text.split(' ').map(columns).max().unwrap_or(0);
        let of_cell = |cell: &String| match columns(cell) {
            whole if whole <= WHOLE => whole,
            _ => word(cell).clamp(WHOLE, WORD),
        };
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(of_cell).max().unwrap_or(0);
        let head = self.header.get(column).map_or(0, |head| word(head).min(WORD));
        cells.max(head).max(1)
    }

    /// Like [`Table::least`], but row names may use `name` columns before they are broken.
    fn least_in_band(&self, column: usize, name: usize) -> usize {
        let name = if column < self.keys { self.natural(column).min(name) } else { 0 };
        self.least(column).max(name)
    }

    /// Widths of the chosen columns, each at least `least`, which share the available width.
    fn band(&self, chosen: &[usize], least: &dyn Fn(usize) -> usize, width: usize) -> String {
        let mut widths: Vec<usize> = chosen.iter().map(|column| least(*column)).collect();
        let mut room = width.saturating_sub(widths.iter().map(|width| width + PADDING).sum());
        let mut order: Vec<usize> = (0..chosen.len()).collect();
        let wants = |place: usize, widths: &[usize]| self.natural(chosen[place]).saturating_sub(widths[place]);
        order.sort_by_key(|place| wants(*place, &widths));
        // Columns with the smallest natural width come first, so that the space they leave goes to the others.
        for (done, place) in order.iter().enumerate() {
            let share = room / (order.len() - done);
            let more = wants(*place, &widths).min(share);
            widths[*place] += more;
            room -= more;
        }
        self.draw(chosen, Some(&widths))
    }

    fn draw(&self, chosen: &[usize], widths: Option<&[usize]>) -> String {
        let mut table = comfy_table::Table::new();
        let pick = |cells: &[String]| -> Vec<String> {
            chosen.iter().map(|column| cells.get(*column).cloned().unwrap_or_default()).collect()
        };
        table.load_preset(NOTHING).set_header(pick(&self.header));
        self.rows.iter().for_each(|row| {
            table.add_row(pick(row));
        });
        if widths.is_some() {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(u16::MAX);
        }
        for (place, column) in table.column_iter_mut().enumerate() {
            if self.right.get(chosen[place]) == Some(&true) {
                column.set_cell_alignment(CellAlignment::Right);
            }
            if let Some(width) = widths.and_then(|widths| widths.get(place)) {
                let width = u16::try_from(width + PADDING).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
            }
        }
        table.to_string()
    }

    /// Each row as lines of heading and value.
    fn blocks(&self, width: usize) -> String {
        let heads = self.header.iter().map(|head| columns(head)).max().unwrap_or(0);
        let beside = heads + PADDING;
        let mut lines = Vec::new();
        for row in &self.rows {
            for (head, cell) in self.header.iter().zip(row) {
                if width > 2 * beside {
                    let gap = " ".repeat(beside - columns(head));
                    for (number, line) in wrap(cell, width - beside - 1).into_iter().enumerate() {
                        lines.push(match number {
                            0 => format!(" {head}{gap}{line}"),
                            _ => format!(" {}{line}", " ".repeat(beside)),
                        });
                    }
                } else {
                    lines.extend(wrap(head, width.saturating_sub(1)).into_iter().map(|line| format!(" {line}")));
                    lines.extend(wrap(cell, width.saturating_sub(3)).into_iter().map(|line| format!("   {line}")));
                }
            }
            lines.push(String::new());
        }
        lines.pop();
        lines.join("\n")
    }

    /// Columns with the same value in every row become a line above the table; returns the remaining columns.
    fn constant_keys(&self) -> (Vec<String>, Vec<usize>) {
        let mut given = Vec::new();
        let mut left = Vec::new();
        for column in 0..self.keys {
            let first = self.rows.first().and_then(|row| row.get(column));
            let constant = self.rows.iter().all(|row| row.get(column) == first);
            let is_last = column + 1 == self.keys;
            match first {
                Some(first) if constant && !is_last => given.push(format!("{}: {first}", self.header[column])),
                _ => left.push(column),
            }
        }
        (given, left)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<usize> = (0..self.header.len()).collect();
        let total = |chosen: &[usize], of: &dyn Fn(usize) -> usize| -> usize {
            chosen.iter().map(|column| of(*column) + PADDING).sum()
        };
        let least = |column: usize| self.least(column);
        let Some(width) = self.width.filter(|width| total(&all, &|column| self.natural(column)) > *width) else {
            if self.continues.is_none() {
                return out.write_str(&self.draw(&all, None));
            }
            let text = self.draw(&all, Some(&self.widths()));
            return out.write_str(text.split_once('\n').map_or("", |(_, rows)| rows));
        };
        if total(&all, &least) <= width {
            return out.write_str(&self.band(&all, &least, width));
        }
        let (given, keys) = self.constant_keys();
        // The columns that identify a row get two fifths of the terminal together.
        let name = width * 2 / 5 / keys.len().max(1);
        let least = |column: usize| self.least_in_band(column, name);
        let room = width.saturating_sub(total(&keys, &least));
        let rest: Vec<usize> = (self.keys..self.header.len()).collect();
        if rest.iter().any(|column| least(*column) + PADDING > room) {
            return out.write_str(&self.blocks(width));
        }
        if !given.is_empty() {
            writeln!(out, " {}", given.join(", "))?;
        }
        let mut bands: Vec<Vec<usize>> = Vec::new();
        for column in rest {
            match bands.last_mut() {
                Some(band) if total(band, &least) + least(column) + PADDING <= room => band.push(column),
                _ => bands.push(vec![column]),
            }
        }
        let bands = bands.into_iter().map(|band| self.band(&[keys.clone(), band].concat(), &least, width));
        out.write_str(&bands.collect::<Vec<_>>().join("\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::bold;

    const HEADER: [&str; 8] =
        ["node", "table", "reads/s", "coord. read µs", "SSTables", "live on disk", "largest partition", "verdict"];

    fn table(rows: usize) -> Table {
        let row = |number: usize| {
            ["127.0.0.1", &format!("shop.orders_by_customer_{number}"), "12345", "1234", "17", "1.2 GB", "130 MB"]
                .map(str::to_string)
                .into_iter()
                .chain([bold("not enough blocks (about 12 needed)")])
                .collect()
        };
        Table::new(&HEADER, (0..rows).map(row), 2)
    }

    fn widest(text: &str) -> usize {
        text.lines().map(columns).max().unwrap()
    }

    #[test]
    fn a_table_fits_whatever_the_width_and_no_cell_is_lost() {
        let whole = table(3).within(None).to_string();
        assert!(widest(&whole) > 130 && whole.lines().count() == 4, "{whole}");
        assert_eq!(table(3).within(Some(200)).to_string(), whole);
        for width in [120, 100, 80, 60, 40, 30, 20] {
            let text = table(3).within(Some(width)).to_string();
            assert!(widest(&text) <= width.max(27), "{width}:\n{text}");
            let words: String = text.split_whitespace().collect();
            for cell in ["12345", "1234", "1.2GB", "130MB", "127.0.0.1", "largest", "µs", "12"] {
                assert!(words.contains(cell), "{cell} at {width}:\n{text}");
            }
        }
    }

    #[test]
    fn eighty_columns_have_bands_with_the_names_of_the_rows() {
        let text = table(2).within(Some(80)).to_string();
        let named = text.lines().filter(|line| line.contains("shop.orders_by_custo")).count();
        assert!(named >= 4, "{text}");
        assert!(text.starts_with(" node: 127.0.0.1\n") && text.contains("shop.orders_by_customer_1"), "{text}");
        assert!(widest(&text) <= 80);
    }

    #[test]
    fn columns_at_the_end_can_be_left_out_and_rows_have_lines_below() {
        let (narrow, left_out) = table(2).within(Some(90)).narrowed(3);
        assert!(narrow.fits() && widest(&narrow.to_string()) <= 90, "{narrow}");
        assert!(!left_out.is_empty() && left_out.last().is_some_and(|head| head == "verdict"), "{left_out:?}");
        assert_eq!(left_out.len() + narrow.header.len(), HEADER.len());
        let notes = ["SELECT a FROM t WHERE b = ? ".repeat(9), "b\ny".to_string()].map(|note| vec![note]);
        let noted = narrow.noted(&notes);
        assert!(widest(&noted) <= 90 && noted.lines().count() == 5, "{noted}");
        assert!(
            noted.lines().nth(2).is_some_and(|note| note.starts_with("    SELECT") && note.ends_with('…')),
            "{noted}"
        );
        assert!(noted.ends_with("    b\\ny"), "{noted}");
        let (few, left_out) = table(1).within(Some(20)).narrowed(3);
        assert!(!few.fits() && left_out.len() == HEADER.len() - 3, "no more than asked for is left out");
    }

    #[test]
    fn very_narrow_ones_have_a_block_for_each_row() {
        let text = table(2).within(Some(30)).to_string();
        assert!(text.contains("\n\n") && text.contains(" reads/s"), "{text}");
    }

    #[test]
    fn a_name_stays_on_its_line_and_styles_take_no_room() {
        let text = Table::new(&["a", "b"], [vec!["x\ny".into(), bold("1")], vec![]], 1).within(None).to_string();
        assert!(text.contains("x\\ny") && text.lines().count() == 3, "{text}");
        assert_eq!(text.lines().map(columns).collect::<std::collections::BTreeSet<_>>().len(), 1, "{text}");
    }
}
