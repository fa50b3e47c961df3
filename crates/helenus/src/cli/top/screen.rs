//! The terminal while it shows pages. It is set up at the start, and restored however the program ends.

use super::app::App;
use super::draw;
use anyhow::{Context, Result};
use ratatui::backend::{Backend as _, TermionBackend};
use ratatui::layout::{Rect, Size};
use ratatui::termion::event::{Event, Key, parse_event};
use ratatui::termion::raw::{IntoRawMode, RawTerminal};
use ratatui::termion::screen::{AlternateScreen, IntoAlternateScreen};
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::io::{BufWriter, Stdout, Write};
use std::sync::OnceLock;
use std::time::Duration;

type Backend = TermionBackend<BufWriter<AlternateScreen<RawTerminal<Stdout>>>>;

/// The largest part of a terminal that is drawn on: each cell takes memory, and a terminal may say any size.
const WIDEST: u16 = 1000;
const HIGHEST: u16 = 300;

/// The terminal's settings at the start.
static BEFORE: OnceLock<libc::termios> = OnceLock::new();

pub(super) struct Screen {
    terminal: Terminal<Backend>,
    size: Size,
}

impl Screen {
    /// Switches to the alternate screen. A panic switches back before it is printed.
    pub(super) fn open() -> Result<Screen> {
        let failed = "cannot show pages on this terminal";
        // SAFETY: all zero is a value of it, and the kernel fills it.
        let (known, before) = unsafe {
            let mut before: libc::termios = std::mem::zeroed();
            (libc::tcgetattr(libc::STDIN_FILENO, &raw mut before), before)
        };
        if known == 0 {
            let _ = BEFORE.set(before);
        }
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            print(panic);
        }));
        let raw = std::io::stdout().into_raw_mode().context(failed)?;
        let alternate = raw.into_alternate_screen().context(failed)?;
        let mut out = BufWriter::new(alternate);
        // Clearing by ratatui asks the terminal for the cursor's place, for which a slow connection needs too long.
        out.write_all(b"\x1b[2J").context(failed)?;
        let backend = TermionBackend::new(out);
        let size = backend.size().context(failed)?;
        let options = TerminalOptions { viewport: Viewport::Fixed(drawn(size)) };
        let terminal = Terminal::with_options(backend, options).context(failed)?;
        Ok(Screen { terminal, size })
    }

    pub(super) fn draw(&mut self, app: &mut App) -> Result<()> {
        self.terminal.draw(|frame| draw::frame(frame, app)).context("cannot draw on the terminal")?;
        Ok(())
    }

    /// Waits for keys, and passes them to the pages. Returns whether anything has to be redrawn.
    pub(super) fn keys(&mut self, app: &mut App, longest: Duration) -> Result<bool> {
        let mut wait = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
        let ms = i32::try_from(longest.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: one pollfd on the stack. A signal ends the wait early, which does no harm.
        let is_ready = unsafe { libc::poll(&raw mut wait, 1, ms) } > 0;
        let size = self.terminal.size().context("cannot read the terminal's size")?;
        let is_resized = std::mem::replace(&mut self.size, size) != size;
        if is_resized {
            self.terminal.resize(drawn(size)).context("cannot draw on the terminal")?;
        }
        if !is_ready {
            return Ok(is_resized);
        }
        let mut bytes = [0u8; 1024];
        // SAFETY: `bytes` is a live buffer of the given length.
        let read = unsafe { libc::read(libc::STDIN_FILENO, bytes.as_mut_ptr().cast(), bytes.len()) };
        match usize::try_from(read) {
            // The terminal was closed.
            Ok(0) | Err(_) => app.is_over = true,
            Ok(read) => keys_of(&bytes[..read]).into_iter().for_each(|key| app.key(key)),
        }
        Ok(true)
    }
}

/// The part of a terminal that is drawn on.
fn drawn(size: Size) -> Rect {
    Rect::new(0, 0, size.width.min(WIDEST), size.height.min(HIGHEST))
}

/// The keys that a terminal sent together.
fn keys_of(bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    let known = known_keys(bytes);
    let mut rest = known.iter().map(|byte| Ok(*byte));
    while let Some(Ok(first)) = rest.next() {
        match parse_event(first, &mut rest) {
            Ok(Event::Key(Key::Null)) => {}
            Ok(Event::Key(key)) => keys.push(key),
            // No further byte follows, so the key is Escape.
            Err(_) if first == 0x1b => keys.push(Key::Esc),
            Ok(_) | Err(_) => {}
        }
    }
    keys
}

/// Replaces what is none of our keys and makes the parser panic by a null byte: control sequences of the mouse, those that are
/// cut off, and those with numbers above 255, as for keys with several modifiers.
fn known_keys(bytes: &[u8]) -> Vec<u8> {
    let mut known = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        let Some(sequence) = rest.strip_prefix(b"\x1b[") else {
            known.push(*first);
            rest = &rest[1..];
            continue;
        };
        let parameters = sequence.iter().take_while(|byte| (0x30..=0x3f).contains(*byte)).count();
        let (numbers, end) = sequence.split_at(parameters);
        let is_small = |number: &[u8]| std::str::from_utf8(number).is_ok_and(|number| number.parse::<u8>().is_ok());
        let last = end.first().filter(|last| (0x40..=0x7e).contains(*last));
        let is_known = match last {
            None | Some(b'M') => false,
            Some(_) if numbers.is_empty() => true,
            Some(last) => b"~ABCDFH".contains(last) && numbers.split(|byte| *byte == b';').all(is_small),
        };
        let length = 2 + parameters + usize::from(last.is_some());
        // A byte in its place keeps those before and after it apart.
        known.extend_from_slice(if is_known { &rest[..length] } else { b"\0" });
        rest = &rest[length..];
    }
    known
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The terminal may be closed. Dropping the parts restores the rest.
        let _ = self.terminal.show_cursor();
    }
}

/// Restores the terminal, so that a panic message is readable.
fn give_back() {
    let mut out = std::io::stdout();
    let _ = out.write_all(b"\x1b[?1049l\x1b[?25h");
    let _ = out.flush();
    if let Some(before) = BEFORE.get() {
        // SAFETY: the settings are those that the kernel gave.
        unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, before) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_of_any_size_is_drawn_on_within_bounds() {
        assert_eq!(drawn(Size::new(80, 24)), Rect::new(0, 0, 80, 24));
        assert_eq!(drawn(Size::new(0, 0)).area(), 0);
        assert!(drawn(Size::new(u16::MAX, u16::MAX)).area() <= u32::from(WIDEST) * u32::from(HIGHEST));
    }

    #[test]
    fn keys_are_told_apart() {
        assert_eq!(keys_of(b"q"), [Key::Char('q')]);
        assert_eq!(keys_of(b"\x1b"), [Key::Esc]);
        assert_eq!(keys_of(b"\x1b[A\x1b[Dx\r"), [Key::Up, Key::Left, Key::Char('x'), Key::Char('\n')]);
        assert_eq!(keys_of(b"\x03"), [Key::Ctrl('c')]);
        assert_eq!(keys_of(b"\x1b[27;5;300~q\x1b[999~\x1b[A"), [Key::Char('q'), Key::Up]);
        assert_eq!(keys_of(b"\x1b[<999999999999;1;1M\x1b[5~"), [Key::PageUp]);
        assert_eq!(keys_of(b"\x1b[1;2A\x1b[15~"), [Key::ShiftUp, Key::F(5)]);
        assert_eq!(keys_of(b"q\x1b[12"), [Key::Char('q')]);
    }

    #[test]
    fn no_bytes_of_a_terminal_end_the_pages() {
        let alphabet = b"\x1b\x1b\x1b[[[O0129;;<~MmAHqR\x00\x7f\xc3\xa9\xff";
        let mut seed = 1_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        for _ in 0..100_000 {
            let bytes: Vec<u8> = (0..next(12)).map(|_| alphabet[next(alphabet.len())]).collect();
            assert!(keys_of(&bytes).len() <= bytes.len(), "{bytes:?}");
        }
    }
}
