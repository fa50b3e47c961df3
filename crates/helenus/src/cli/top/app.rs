//! State of the screen: the page, the window of time, and the opened lines. Keys change it.

use super::findings::Findings;
use super::listing::{ListState, Listing};
use super::pages::{self, Page};
use super::paint::Paint;
use helenus_explain::{Live, LiveSlow, LiveWindow, ReportFinding};
use ratatui::termion::event::Key;
use std::collections::BTreeMap;

/// What is shown for an opened line of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Below {
    /// The slowest requests of a statement.
    Statement(String),
    Client(String),
    /// Everything that overlapped a request.
    Slow(LiveSlow),
    /// The slowest requests of a stretch of time: its description, and its start and end in seconds.
    Stretch(String, f64, f64),
    Finding(Box<ReportFinding>),
}

/// The lines on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    None,
    /// The chosen line does not open.
    Closed,
    /// The chosen line opens.
    Open,
}

/// The lengths of the window in seconds that `+` and `-` select; the last one stands for the whole time.
const WINDOWS_S: [u32; 7] = [5, 10, 30, 60, 300, 900, ALL_S];
pub(super) const ALL_S: u32 = u32::MAX;

pub(super) struct App {
    pub(super) live: Live,
    /// The name of the node or of the recording.
    pub(super) name: String,
    pub(super) paint: Paint,
    /// Whether more rows may come.
    pub(super) grows: bool,
    pub(super) page: Page,
    /// The lines that were opened; the last one is shown.
    pub(super) below: Vec<Below>,
    list_states: BTreeMap<(Page, usize), ListState>,
    window_s: u32,
    /// The end of the window; None while the window follows the newest data.
    end_ns: Option<i64>,
    /// Whether the window stands still only because a line is open.
    is_held: bool,
    pub(super) findings: Findings,
    /// Whether the user is typing the filter.
    pub(super) is_filtering: bool,
    pub(super) is_helping: bool,
    /// The lines that were drawn last.
    pub(super) lines: Lines,
    /// The latest message.
    pub(super) notice: Option<String>,
    pub(super) is_over: bool,
    width: u16,
}

impl App {
    pub(super) fn new(live: Live, name: String, paint: Paint, grows: bool, findings: Findings) -> App {
        App {
            live,
            name,
            paint,
            grows,
            page: Page::Overview,
            below: Vec::new(),
            list_states: BTreeMap::new(),
            window_s: if grows { 10 } else { ALL_S },
            end_ns: None,
            is_held: false,
            findings,
            is_filtering: false,
            is_helping: false,
            lines: Lines::None,
            notice: None,
            is_over: false,
            width: 80,
        }
    }

    /// The window of the figures; None before the first row.
    pub(super) fn window(&self) -> Option<LiveWindow> {
        let kept = self.live.kept()?;
        let to_ns = self.end_ns.unwrap_or(kept.to_ns).clamp(kept.from_ns, kept.to_ns);
        let from_ns = if self.window_s == ALL_S { kept.from_ns } else { to_ns.saturating_sub(self.window_ns()) };
        let to_ns = to_ns.max(kept.from_ns.saturating_add(self.bin_ns()));
        Some(LiveWindow::of_all(from_ns.max(kept.from_ns), to_ns))
    }

    pub(super) fn window_name(&self) -> String {
        match self.window_s {
            ALL_S => "all".to_string(),
            seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
            seconds => format!("{seconds} s"),
        }
    }

    fn bin_ns(&self) -> i64 {
        (self.live.bin_s() * 1e9) as i64
    }

    fn window_ns(&self) -> i64 {
        (i64::from(self.window_s) * 1_000_000_000).max(self.bin_ns())
    }

    pub(super) fn is_paused(&self) -> bool {
        self.end_ns.is_some()
    }

    /// The state of the shown list.
    pub(super) fn list_state(&mut self) -> &mut ListState {
        let key = (self.page, self.below.len());
        self.list_states
            .entry(key)
            .or_insert_with(|| if key.1 == 0 { key.0.default_state() } else { ListState::default() })
    }

    pub(super) fn filter(&self) -> &str {
        self.list_states.get(&(self.page, self.below.len())).map_or("", |state| &state.filter)
    }

    /// The shown list, sorted and filtered; None on a page without a list.
    pub(super) fn listing(&mut self) -> Option<Listing> {
        let listing = pages::listing(self)?;
        Some(listing.arranged(self.list_state()))
    }

    pub(super) fn resize(&mut self, width: u16) {
        self.width = width;
    }

    pub(super) fn key(&mut self, key: Key) {
        if key == Key::Ctrl('c') {
            self.is_over = true;
        } else if self.is_filtering {
            self.key_of_filter(key);
        } else if !std::mem::take(&mut self.is_helping) {
            self.key_of_page(key);
        }
    }

    fn key_of_filter(&mut self, key: Key) {
        match key {
            Key::Char('\n') => self.is_filtering = false,
            Key::Esc => {
                self.is_filtering = false;
                self.list_state().filter.clear();
            }
            Key::Backspace => {
                self.list_state().filter.pop();
            }
            Key::Char(character) => self.list_state().filter.push(character),
            _ => {}
        }
        self.list_state().cursor = 0;
    }

    fn key_of_page(&mut self, key: Key) {
        match key {
            Key::Char('\n') => self.enter(),
            Key::Char('\t') => self.open(self.page.next(1)),
            Key::Char('q') => self.is_over = true,
            Key::Char('?' | 'h') => self.is_helping = true,
            Key::Char('/') => self.is_filtering = self.has_lines(),
            Key::Char('<') => self.sort(-1),
            Key::Char('>') => self.sort(1),
            Key::Char('r') => self.list_state().reverse ^= true,
            Key::Char(' ') => self.pause(),
            Key::Char('+' | '=') => self.resize_window(1),
            Key::Char('-' | '_') => self.resize_window(-1),
            Key::Char('[') => self.scrub(-self.step_ns() * 10),
            Key::Char(']') => self.scrub(self.step_ns() * 10),
            Key::Char('k') => self.go(-1),
            Key::Char('j') => self.go(1),
            Key::Char(character) => {
                if let Some(page) = Page::of_key(character) {
                    self.open(page);
                }
            }
            Key::Left => self.scrub(-self.step_ns()),
            Key::Right => self.scrub(self.step_ns()),
            Key::Home => self.scrub(i64::MIN / 4),
            Key::End => (self.end_ns, self.is_held) = (None, false),
            Key::Up => self.go(-1),
            Key::Down => self.go(1),
            Key::PageUp => self.go(-10),
            Key::PageDown => self.go(10),
            Key::BackTab => self.open(self.page.next(-1)),
            Key::Esc | Key::Backspace => self.leave(),
            _ => {}
        }
    }

    fn has_lines(&mut self) -> bool {
        self.listing().is_some()
    }

    fn open(&mut self, page: Page) {
        self.page = page;
        self.below.clear();
        self.release();
    }

    fn enter(&mut self) {
        let listing = self.listing();
        let Some(below) = listing.and_then(|listing| listing.below(self.list_state()).cloned()) else { return };
        if self.grows && !self.is_paused() && !matches!(below, Below::Finding(_)) {
            // The opened line would move away with new data.
            self.pause();
            self.is_held = true;
        }
        self.below.push(below);
        *self.list_state() = ListState::default();
    }

    fn leave(&mut self) {
        if !self.filter().is_empty() {
            self.list_state().filter.clear();
            return;
        }
        self.below.pop();
        self.release();
    }

    /// Follows again once the line is closed for which the window stood still.
    fn release(&mut self) {
        if self.below.is_empty() && std::mem::take(&mut self.is_held) {
            self.end_ns = None;
        }
    }

    fn go(&mut self, by: isize) {
        let state = self.list_state();
        // Drawing limits it to the length of the list.
        state.cursor = state.cursor.saturating_add_signed(by);
    }

    fn sort(&mut self, by: isize) {
        let width = self.width;
        let Some(listing) = self.listing() else { return };
        let sortable = listing.sortable(width);
        let state = self.list_state();
        let now = state.sort.and_then(|column| sortable.iter().position(|one| *one == column));
        let next = match now {
            None if by > 0 => 0,
            None => sortable.len() - 1,
            Some(place) => (place + sortable.len()).saturating_add_signed(by) % sortable.len().max(1),
        };
        state.sort = sortable.get(next).copied();
        state.cursor = 0;
    }

    fn pause(&mut self) {
        self.is_held = false;
        if !self.grows {
            return;
        }
        self.end_ns = match self.end_ns {
            Some(_) => None,
            None => self.live.kept().map(|kept| kept.to_ns),
        };
    }

    /// A tenth of the window, as a whole number of bins.
    fn step_ns(&self) -> i64 {
        let length = match self.window_s {
            ALL_S => self.live.kept().map_or(0, |kept| kept.to_ns - kept.from_ns),
            _ => self.window_ns(),
        };
        let bin = self.bin_ns().max(1);
        (length / 10 / bin).max(1) * bin
    }

    fn scrub(&mut self, by_ns: i64) {
        self.is_held = false;
        let Some(kept) = self.live.kept() else { return };
        if self.window_s == ALL_S && kept.to_ns - kept.from_ns > 2 * self.bin_ns() {
            // If the window covers everything, there is no time to move to.
            self.window_s = 60_u32.min(u32::try_from((kept.to_ns - kept.from_ns) / 2_000_000_000).unwrap_or(60)).max(1);
        }
        let earliest = kept.from_ns.saturating_add(self.window_ns()).min(kept.to_ns);
        let end = self.end_ns.unwrap_or(kept.to_ns).saturating_add(by_ns).max(earliest);
        // Moving past the newest data follows it again.
        self.end_ns = (end < kept.to_ns).then_some(end);
    }

    fn resize_window(&mut self, by: isize) {
        let now = WINDOWS_S.iter().position(|seconds| *seconds >= self.window_s).unwrap_or(0);
        let next = now.saturating_add_signed(by).min(WINDOWS_S.len() - 1);
        self.window_s = WINDOWS_S[next];
    }
}
