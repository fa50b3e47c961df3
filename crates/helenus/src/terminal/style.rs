//! Colours, and the escaping of foreign text: titles, statements, names of frames, files and nodes.
//!
//! A style is written as characters that no other text holds. [`render`] shows every control character escaped, so that nothing
//! from a recording or a node reaches the terminal as a command, and turns our own marks into ANSI sequences.

use anstyle::{AnsiColor, Style};
use std::fmt::{Display, Write};
use std::sync::LazyLock;
use unicode_width::UnicodeWidthChar;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const BLUE: Style = AnsiColor::Blue.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default().bold();

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Bold,
    Dim,
    Red,
    Yellow,
    Blue,
    Green,
}

const INKS: [(Ink, Style); 6] = [
    (Ink::Bold, BOLD),
    (Ink::Dim, DIM),
    (Ink::Red, RED),
    (Ink::Yellow, YELLOW),
    (Ink::Blue, BLUE),
    (Ink::Green, GREEN),
];

/// The mark that ends a style. The marks that begin a style follow it in the order of [`INKS`].
///
/// The marks are unassigned characters without width (Default_Ignorable_Code_Point). They are different in each
/// process, so that no recorded text can contain them on purpose.
static END: LazyLock<u32> = LazyLock::new(|| 0xE_0200 + rand::random::<u32>() % 0xC00);

fn mark(number: u32) -> char {
    char::from_u32(*END + number).unwrap_or_default()
}

/// A text in a colour, word by word, so that a line can be broken between them.
pub fn inked(ink: Ink, text: impl Display) -> String {
    let number = INKS.iter().zip(1..).find(|((one, _), _)| *one == ink).map_or(1, |(_, number)| number);
    let text = one_line(&text.to_string());
    let words = text.split(' ').map(|word| match word {
        "" => String::new(),
        word => format!("{}{word}{}", mark(number), mark(0)),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Makes a text safe for a terminal: control characters are escaped, except for line feeds and tabs, and styles become
/// ANSI sequences.
pub fn render(text: &str) -> String {
    marks(&escaped(text))
}

/// Escapes control characters, except for line feeds and tabs; our own style marks are kept.
pub fn escaped(text: &str) -> String {
    escape_where(text, |character| is_unsafe(character) && !matches!(character, '\n' | '\t'))
}

/// Like [`escaped`], but also escapes line feeds and tabs, as for a name in a table.
pub fn one_line(text: &str) -> String {
    escape_where(text, is_unsafe)
}

fn escape_where(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_escaped(character) && mark_number(character).is_none() {
            escape(&mut out, character);
        } else {
            out.push(character);
        }
    }
    out
}

/// Replaces marks by ANSI codes.
pub fn marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match mark_number(character) {
            None => out.push(character),
            Some(0) => out.push_str("\x1b[0m"),
            Some(number) => {
                let _ = write!(out, "{}", INKS[number - 1].1);
            }
        }
    }
    out
}

fn mark_number(character: char) -> Option<usize> {
    let number = u32::from(character).checked_sub(*END)?;
    usize::try_from(number).ok().filter(|number| *number <= INKS.len())
}

/// Escapes control characters in JSON text in the way of JSON, which does not change the document.
pub fn json_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unsafe(character) && character != '\n' {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// Whether a terminal interprets the character as a command, reorders the text around it, or shows nothing.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
                | '\u{e0080}'..='\u{e00ff}'
                | '\u{e01f0}'..='\u{e0fff}'
        )
}

fn escape(out: &mut String, character: char) {
    let _ = match character {
        '\n' => write!(out, "\\n"),
        '\r' => write!(out, "\\r"),
        '\t' => write!(out, "\\t"),
        '\0'..='\u{ff}' => write!(out, "\\x{:02x}", u32::from(character)),
        _ => write!(out, "\\u{{{:x}}}", u32::from(character)),
    };
}

/// A text without styles, cut to a number of columns; … marks a cut.
pub fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_string();
    }
    let mut out = String::new();
    let mut room = width.saturating_sub(1);
    for character in text.chars() {
        let Some(left) = room.checked_sub(character.width().unwrap_or(0)) else { break };
        room = left;
        out.push(character);
    }
    out.push('…');
    out
}

/// The width of a text in columns, without styles.
pub fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// Breaks a text at its spaces and line feeds into lines of at most `width` columns; longer words are broken, too.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = escaped(text);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split([' ', '\n', '\t']).flat_map(|word| pieces(word, width.max(NARROWEST))) {
        let wide = columns(&word);
        if used > 0 && used + 1 + wide > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
            }
            line.push_str(&word);
            used += wide + usize::from(used > 0);
        }
    }
    lines
}

/// Words are not broken into pieces shorter than this.
const NARROWEST: usize = 8;

/// Splits a word into pieces of at most `width` columns; an empty word has no pieces.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut used = width;
    for character in word.chars() {
        let wide = unicode_width::UnicodeWidthChar::width(character).unwrap_or(0);
        if pieces.is_empty() || used + wide > width {
            pieces.push(String::new());
            used = 0;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
        used += wide;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\x1b]0;owned\x07\x1b[2J\r\u{9b}31m\u{7f}b\u{202e}c";
    const SHOWN: &str = "a\\x1b]0;owned\\x07\\x1b[2J\\r\\x9b31m\\x7fb\\u{202e}c";

    #[test]
    fn others_control_characters_are_shown_and_our_styles_are_not() {
        assert_eq!(render(HOSTILE), SHOWN);
        let styled = format!("{} {HOSTILE}", inked(Ink::Bold, HOSTILE));
        assert_eq!(render(&styled), format!("\x1b[1m{SHOWN}\x1b[0m {SHOWN}"));
        assert_eq!(render("α → ✓ 漢字 👩‍🔬 é\n\tb"), "α → ✓ 漢字 👩‍🔬 é\n\tb");
        assert_eq!(one_line("a\nb\tc\x1b"), "a\\nb\\tc\\x1b");
        // All marks that other processes could use.
        let marks: String = (0xE_01F0..=0xE_0FFF).filter_map(char::from_u32).collect();
        let shown = render(&marks).matches("\\u{e0").count();
        assert_eq!(shown, marks.chars().count() - 7);
    }

    #[test]
    fn json_stays_the_same_document() {
        let text = serde_json::to_string(HOSTILE).unwrap();
        let safe = json_text(&text);
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), HOSTILE);
        assert!(safe.chars().all(|character| !is_unsafe(character)), "{safe}");
    }

    #[test]
    fn styles_take_no_columns_and_lines_break_between_words() {
        let styled = inked(Ink::Red, "three plain words");
        assert_eq!(columns(&styled), 17);
        let lines = wrap(&format!("some {styled} more"), 12);
        assert_eq!(lines.iter().map(|line| columns(line)).collect::<Vec<_>>(), [10, 11, 4]);
        assert!(lines.iter().all(|line| line.matches(mark(0)).count() == line.matches(mark(3)).count()), "{lines:?}");
        assert_eq!(wrap("a", 0), ["a"]);
        assert_eq!(wrap("longer than that", 4), ["longer", "than", "that"]);
        assert_eq!(wrap("/a/path/that/is/long", 9), ["/a/path/t", "hat/is/lo", "ng"]);
        assert_eq!(wrap("a\rb\u{85}c\nd", 40), ["a\\rb\\x85c d"]);
    }
}
