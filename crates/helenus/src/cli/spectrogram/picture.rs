//! A spectrogram in characters: a line for each row, a character for each column.

use crate::terminal;
use anstyle::{Ansi256Color, Style};
use helenus_explain::{Of, Spectrogram};
use std::fmt::Write;

/// Size of the picture without a terminal.
const WIDTH: usize = 100;
const ROWS: usize = 40;
/// Number of lines that are not rows: title, axis above and below, legend, hint, and the prompt after it.
const OTHER_LINES: usize = 9;
const FEWEST_ROWS: usize = 10;
/// Width for the times on the left, including the line beside them.
const GUTTER: usize = 11;
const DECADES: usize = 10;
/// Colours from few to many, dark to bright, of the 256 that terminals have.
const COLOURS: [u8; 14] = [54, 56, 62, 68, 32, 38, 43, 42, 77, 113, 149, 185, 221, 229];
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// How a count is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Colours,
    /// Characters of different density, for terminals without colour.
    Shades,
}

/// Sentences are wrapped at this width at least.
const MESSAGE: usize = 40;
/// The most rows on a terminal, which may say any size.
const MOST_ROWS: usize = 300;

/// Characters of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub rows: usize,
    pub width: usize,
}

impl Size {
    /// The requested size, or the size of the terminal.
    pub fn of(rows: Option<u16>, width: Option<u16>) -> Size {
        let high =
            terminal::height().map_or(ROWS, |height| height.saturating_sub(OTHER_LINES).clamp(FEWEST_ROWS, MOST_ROWS));
        let wide = terminal::width().map_or(WIDTH, |width| width.clamp(40, 1000));
        Size { rows: rows.map_or(high, usize::from), width: width.map_or(wide, usize::from) }
    }

    /// Columns of the axis.
    pub fn columns(self) -> usize {
        self.width.saturating_sub(GUTTER + 1).max(DECADES)
    }
}

/// The picture; each line ends with a line feed.
pub fn draw(drawn: &Spectrogram, size: Size, ink: Ink) -> String {
    let columns = size.columns();
    let most = drawn.cells.iter().map(|(_, _, count)| *count).max().unwrap_or(1);
    let mut rows: Vec<Vec<u64>> = vec![vec![0; drawn.edges_ns.len() - 1]; drawn.rows];
    for (row, column, count) in &drawn.cells {
        if let Some(cell) = rows.get_mut(*row).and_then(|row| row.get_mut(*column)) {
            *cell = *count;
        }
    }
    // A summary has fewer columns than there are characters: each character shows the column that its middle lies in.
    let shown: Vec<usize> = (0..columns).map(|at| column_at(drawn, at, columns)).collect();
    let row_s = drawn.bin_ns as f64 / 1e9;
    let mut out = String::new();
    // Writing to a String can't fail.
    let heading = format!(
        "{} {}, a row is {}{}",
        terminal::bold(terminal::count(drawn.events)),
        match drawn.of {
            Of::Requests => "requests by when they were due and their response time",
            Of::Syscalls => "system calls by when they began and how long they took",
            Of::Summary => "system calls by the second in which they ended and how long they took",
        },
        terminal::nanos(drawn.bin_ns),
        if drawn.of == Of::Summary { ", and each column twice as long as the one before" } else { "" },
    );
    for line in terminal::wrap(&heading, size.width.max(MESSAGE)) {
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(out, "{}{}", " ".repeat(GUTTER), labels(columns));
    let _ = writeln!(out, "{}{}", " ".repeat(GUTTER - 1), line('┌', '┬', columns));
    for (row, counts) in rows.iter().enumerate() {
        let time = time(drawn.start_s + row as f64 * row_s, row_s);
        let _ = write!(out, "{time:>width$} │", width = GUTTER - 2);
        let counts: Vec<u64> = shown.iter().map(|column| counts[*column]).collect();
        let used = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        for same in counts[..used].chunk_by(|a, b| level(*a, most, ink) == level(*b, most, ink)) {
            out.push_str(&cells(level(same[0], most, ink), same.len(), ink));
        }
        out.push('\n');
    }
    let _ = writeln!(out, "{}{}", " ".repeat(GUTTER - 1), line('└', '┴', columns));
    let room = size.width.saturating_sub(GUTTER);
    // The legend has as many numbers as fit.
    let legends = [1, 2, 4, usize::MAX].map(|every| legend(most, ink, every));
    let fitting = legends.iter().find(|legend| visible(legend) <= room).or(legends.last());
    let _ = writeln!(out, "{}{}", " ".repeat(GUTTER), fitting.map_or("", String::as_str));
    out
}

fn column_at(drawn: &Spectrogram, at: usize, columns: usize) -> usize {
    let last = drawn.edges_ns.len() - 2;
    if drawn.of != Of::Summary {
        return at.min(last);
    }
    let middle = 10f64.powf((at as f64 + 0.5) * DECADES as f64 / columns as f64);
    drawn.edges_ns.partition_point(|edge| (*edge as f64) <= middle).saturating_sub(1).min(last)
}

/// The colour of a cell: None if it is empty. Steps are even in the logarithm of the count.
fn level(count: u64, most: u64, ink: Ink) -> Option<usize> {
    let levels = levels(ink);
    if count == 0 {
        return None;
    }
    let share = if most > 1 { (count as f64).ln() / (most as f64).ln() } else { 0.0 };
    Some(((share * levels as f64) as usize).min(levels - 1))
}

fn levels(ink: Ink) -> usize {
    match ink {
        Ink::Colours => COLOURS.len(),
        Ink::Shades => SHADES.len(),
    }
}

fn cells(level: Option<usize>, width: usize, ink: Ink) -> String {
    match (level, ink) {
        (None, _) => " ".repeat(width),
        (Some(level), Ink::Shades) => SHADES[level].to_string().repeat(width),
        (Some(level), Ink::Colours) => {
            let style = Style::new().bg_color(Some(Ansi256Color(COLOURS[level]).into()));
            format!("{style}{}{style:#}", " ".repeat(width))
        }
    }
}

fn visible(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().chars().count()
}

/// The smallest count for each ink. One of `every` inks is labelled with its count.
fn legend(most: u64, ink: Ink, every: usize) -> String {
    let mut text = String::new();
    let mut before = 0;
    for next in 0..levels(ink) {
        let least = (most as f64).powf(next as f64 / levels(ink) as f64).ceil() as u64;
        // If there are few distinct counts, some colours stay unused.
        let least = (least.saturating_sub(1).max(1)..=least + 1).find(|count| level(*count, most, ink) == Some(next));
        let Some(least) = least.filter(|least| *least > before && *least <= most) else { continue };
        before = least;
        // Every colour is shown, and at most every second one is labelled.
        let named = (ink == Ink::Shades || next % 2 == 0) && next % every == 0;
        let number = if named { format!(" {} ", terminal::count(least)) } else { String::new() };
        text.push_str(&cells(Some(next), 2, ink));
        text.push_str(&number);
    }
    if before < most {
        let _ = write!(text, " at most {}", terminal::count(most));
    }
    format!("at least in a cell: {text}").trim_end().to_string()
}

fn line(corner: char, tick: char, columns: usize) -> String {
    let mut line: Vec<char> = vec!['─'; columns];
    for decade in 0..DECADES {
        line[decade * columns / DECADES] = tick;
    }
    format!("{corner}{}", line.into_iter().collect::<String>())
}

/// Labels of the decades above their ticks, as many as fit.
fn labels(columns: usize) -> String {
    let names = ["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"];
    let mut text: Vec<char> = Vec::new();
    for (decade, name) in names.into_iter().enumerate() {
        let length = name.chars().count();
        let at = decade * columns / DECADES;
        // The last label ends where the axis ends.
        let at = if decade == DECADES { columns.saturating_sub(length) } else { at };
        if text.is_empty() || at > text.len() {
            text.resize(at, ' ');
            text.extend(name.chars());
        }
    }
    text.into_iter().collect()
}

/// Formats seconds with as many decimals as the length of a row needs.
fn time(at_s: f64, row_s: f64) -> String {
    let decimals = (-row_s.log10()).ceil().clamp(0.0, 6.0) as usize;
    format!("{at_s:.decimals$} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(of: Of, edges_ns: Vec<i64>, cells: Vec<(usize, usize, u64)>) -> Spectrogram {
        Spectrogram {
            of,
            start_ns: 0,
            start_s: 12.0,
            bin_ns: 500_000_000,
            rows: 8,
            edges_ns,
            events: cells.iter().map(|(_, _, count)| count).sum(),
            cells,
            lost: Vec::new(),
        }
    }

    /// Many short calls in every row, and a slow disk in the fifth and sixth.
    fn calls(columns: usize) -> Spectrogram {
        let mut cells = Vec::new();
        for row in 0..8 {
            for column in columns * 3 / 10..columns * 6 / 10 {
                cells.push((row, column, ((column * 7 + row * 3) % 11 * 40 + 1) as u64));
            }
            if row == 4 || row == 5 {
                cells.push((row, columns * 8 / 10, 3));
                cells.push((row, columns * 8 / 10 + 2, 1));
            }
        }
        // A row without events.
        cells.retain(|(row, ..)| *row != 6);
        drawn(Of::Syscalls, (0..=columns as i64).collect(), cells)
    }

    #[test]
    fn without_colours_counts_are_shades() {
        let size = Size { rows: 8, width: 72 };
        let text = crate::terminal::plain(&draw(&calls(size.columns()), size, Ink::Shades));
        assert!(text.lines().all(|line| line.chars().count() <= 72 + 12), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn with_colours_every_cell_has_its_own() {
        let size = Size { rows: 8, width: 60 };
        let text = draw(&calls(size.columns()), size, Ink::Colours);
        let rows: Vec<&str> = text.lines().filter(|line| line.contains('│')).collect();
        assert_eq!(rows.len(), 8);
        // The largest cell is bright, a single event is dark.
        assert!(rows[0].contains("\u{1b}[48;5;229m"));
        assert!(rows[4].ends_with(&format!("\u{1b}[48;5;{}m \u{1b}[0m", COLOURS[0])), "{:?}", rows[4]);
        assert_eq!(rows[6].trim_end().chars().last(), Some('│'));
    }

    #[test]
    fn bins_of_a_summary_fill_their_width() {
        let edges: Vec<i64> = (0..35).map(|power| 1 << power).collect();
        let size = Size { rows: 8, width: 112 };
        let text = draw(&drawn(Of::Summary, edges, vec![(0, 10, 5)]), size, Ink::Shades);
        let row = text.lines().find(|line| line.contains('│')).unwrap();
        let cells = row.split('│').nth(1).unwrap();
        // 1024 to 2048 ns: three tenths of a decade, which has ten characters.
        assert_eq!((cells.find('█'), cells.matches('█').count()), (Some(30), 3));
    }

    #[test]
    fn inks_are_even_in_the_logarithm() {
        assert_eq!(level(0, 100_000, Ink::Shades), None);
        let levels: Vec<_> =
            [1, 9, 11, 101, 1001, 10_001, 100_000].map(|count| level(count, 100_000, Ink::Shades)).into();
        assert_eq!(levels, [0, 0, 1, 2, 3, 4, 4].map(Some));
        assert_eq!((level(1, 1, Ink::Colours), level(2, 2, Ink::Shades)), (Some(0), Some(4)));
        assert_eq!(Size::of(Some(3), Some(80)), Size { rows: 3, width: 80 });
    }
}
