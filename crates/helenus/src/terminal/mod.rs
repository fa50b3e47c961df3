//! Output to the terminal: data to stdout, messages to stderr, colours if they are wanted.
//!
//! All output goes through this module, which escapes foreign text (see [`style`]).

mod figures;
mod steps;
mod style;
mod table;

pub use figures::{count, millis, nanos};
pub use helenus_notation::show_bytes as bytes;
pub use steps::Steps;
pub use style::{cut, one_line, wrap};
pub use table::Table;

use serde::Serialize;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use style::{Ink, inked};

/// The largest width of prose, even on a wider terminal.
const PROSE: usize = 110;
/// Width of prose without a terminal.
const WITHOUT_TERMINAL: usize = 100;

/// Width of the terminal at stdout, or COLUMNS.
pub fn width() -> Option<usize> {
    columns_of(&io::stdout())
}

fn columns_of(stream: &impl std::os::fd::AsFd) -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    columns.or_else(|| terminal_size::terminal_size_of(stream).map(|(width, _)| usize::from(width.0)))
}

/// Height of the terminal at stdout.
pub fn height() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| usize::from(height.0))
}

/// Columns for prose on stdout.
pub fn prose_width() -> usize {
    width().map_or(WITHOUT_TERMINAL, |width| width.min(PROSE))
}

/// Prints an error with what led to it, each cause once.
pub fn error(error: &anyhow::Error) {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Some of our errors already contain the text of their cause.
        if !text.contains(&cause) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&cause);
        }
    }
    talk(format_args!("{} {}", inked(Ink::Red, "error:"), continued(text)));
}

/// Prints a warning.
pub fn warn(text: impl Display) {
    talk(format_args!("{} {}", inked(Ink::Yellow, "warning:"), continued(text)));
}

/// Prints a step that has been done.
pub fn done(text: impl Display) {
    talk(format_args!("{} {}", inked(Ink::Green, "✓"), continued(text)));
}

/// Indents every line but the first, so that a name with a line feed can't fake a line of output.
fn continued(text: impl Display) -> String {
    text.to_string().replace('\n', "\n  ")
}

/// Prints a message on stderr, beside the data.
pub fn talk(text: impl Display) {
    let text = shown(&text.to_string(), columns_of(&io::stderr()));
    // A closed stderr is no reason to stop.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Prints a line of text on stdout, wrapped at the width of the terminal.
pub fn print(text: impl Display) {
    anstream::println!("{}", shown(&text.to_string(), width()));
}

/// Prints a text on stdout behind a mark that takes some columns; further lines begin below the text.
pub fn hanging(mark: &str, columns: usize, text: impl Display) {
    let text = style::escaped(&text.to_string());
    let room = prose_width().saturating_sub(columns).max(10);
    for (number, line) in wrap(&text, room).into_iter().enumerate() {
        let before = if number == 0 { mark.to_string() } else { " ".repeat(columns) };
        anstream::println!("{}{}", style::marks(&before), style::marks(&line));
    }
}

/// Prints a line of data to stdout verbatim, such as a statement.
pub fn data(text: impl Display) {
    anstream::println!("{}", style::render(&text.to_string()));
}

/// Prints one JSON document to stdout.
pub fn json(value: &(impl Serialize + ?Sized)) -> serde_json::Result<()> {
    anstream::println!("{}", style::json_text(&serde_json::to_string_pretty(value)?));
    Ok(())
}

/// Prints one JSON document as a single line.
pub fn json_line(value: &(impl Serialize + ?Sized)) -> serde_json::Result<()> {
    anstream::println!("{}", style::json_text(&serde_json::to_string(value)?));
    Ok(())
}

/// Prints a picture with its own colours, without foreign text.
pub fn picture(text: &str) {
    anstream::print!("{}", style::marks(text));
}

pub fn has_colours() -> bool {
    anstream::stdout().current_choice() != anstream::ColorChoice::Never
}

/// The text as shown, without colours.
#[cfg(test)]
pub fn plain(text: &str) -> String {
    anstream::adapter::strip_str(&style::render(text)).to_string()
}

/// The current time, to be printed above a repeated display.
pub fn now() -> String {
    chrono::Local::now().format("%Y-%m-%d %H:%M:%S").to_string()
}

/// Moves the cursor to the top of the terminal, for the next display.
pub fn clear() {
    anstream::print!("\x1b[H\x1b[2J");
}

fn shown(text: &str, width: Option<usize>) -> String {
    style::marks(&folded(&style::escaped(text), width))
}

/// A text whose lines are broken between words where they are wider than the terminal.
fn folded(text: &str, width: Option<usize>) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        match width {
            Some(width) if style::columns(line) > width => {
                let indent = line.len() - line.trim_start_matches(' ').len();
                for (number, part) in wrap(line, width.saturating_sub(indent + 2).max(10)).into_iter().enumerate() {
                    if number > 0 {
                        out.push('\n');
                    }
                    out.push_str(&" ".repeat(if number > 0 { indent + 2 } else { indent }));
                    out.push_str(&part);
                }
            }
            _ => out.push_str(line),
        }
    }
    out
}

/// A writer of text lines to stdout or stderr.
#[derive(Debug)]
pub struct Out {
    line: Vec<u8>,
    is_stderr: bool,
    is_folded: bool,
}

pub fn out() -> Out {
    Out { line: Vec::new(), is_stderr: false, is_folded: true }
}

/// Like [`out`], without wrapping lines.
pub fn lines() -> Out {
    Out { line: Vec::new(), is_stderr: false, is_folded: false }
}

/// Like [`lines`], on stderr.
pub fn beside() -> Out {
    Out { line: Vec::new(), is_stderr: true, is_folded: false }
}

impl Out {
    fn write_rest(&mut self) -> io::Result<()> {
        let text = shown(&String::from_utf8_lossy(&self.line), width().filter(|_| self.is_folded));
        self.line.clear();
        match self.is_stderr {
            true => anstream::stderr().write_all(text.as_bytes()),
            false => anstream::stdout().write_all(text.as_bytes()),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if bytes.contains(&b'\n') {
            self.write_rest()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_rest()?;
        io::stdout().flush()
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        // A caller that handles errors has flushed before.
        let _ = self.write_rest();
    }
}

/// Stdout for another program's data: verbatim into a file or pipe, and like [`lines`] on a terminal.
pub fn raw() -> Box<dyn Write> {
    let stdout = io::stdout();
    if stdout.is_terminal() { Box::new(lines()) } else { Box::new(io::BufWriter::new(stdout.lock())) }
}

/// Writes one of our files to stdout.
pub fn whole(text: &str) -> io::Result<()> {
    let mut out = raw();
    out.write_all(text.as_bytes())?;
    out.flush()
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
    let ink = match name {
        "critical" => Ink::Red,
        "warning" => Ink::Yellow,
        _ => Ink::Blue,
    };
    inked(ink, text)
}

/// A text in the colour of "ok".
pub fn good(text: impl Display) -> String {
    inked(Ink::Green, text)
}

pub fn bold(text: impl Display) -> String {
    inked(Ink::Bold, text)
}

pub fn dim(text: impl Display) -> String {
    inked(Ink::Dim, text)
}

/// A table without lines; columns from `numbers_from` on are right-aligned.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>, numbers_from: usize) -> Table {
    Table::new(header, rows, numbers_from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_where_the_terminal_ends() {
        let text = "  some words that are wider than the terminal\nand a second line";
        assert_eq!(folded(text, None), text);
        assert_eq!(folded(text, Some(60)), text);
        let broken = folded(&format!("{} {text}", bold("note:")), Some(24));
        assert!(broken.lines().all(|line| style::columns(line) <= 24), "{broken}");
    }
}
