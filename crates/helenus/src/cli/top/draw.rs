//! Draws the current page.

use super::app::{App, Below, Lines};
use super::chart::{bars, largest};
use super::listing::{fitted, put, put_wrapped};
use super::pages::{PAGES, Page, client_of, clock, per_s};
use super::{overview, spectrogram};
use crate::terminal::{self, millis};
use helenus_explain::{LiveBy, LiveSlow, LiveWindow, ReportFinding};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

pub(super) const NARROWEST: u16 = 80;
pub(super) const LOWEST: u16 = 24;
/// Lines of the answer above the findings.
const LONGEST_ANSWER: u16 = 8;
/// The filter takes so many columns of the line with the keys.
const LONGEST_FILTER: usize = 30;
/// From this width on, the names of pages are written in full.
const WIDE: u16 = 120;

const KEYS: [(&str, &str); 14] = [
    ("1 … 9, 0, s, Tab", "pages"),
    ("↑ ↓, PgUp PgDn, j k", "lines"),
    ("Enter", "open a line; most hold the window until they are closed"),
    ("Esc", "back; follows again what an open line held"),
    ("< >", "sort by the column to the left or right"),
    ("r", "reverse the order"),
    ("/", "only lines with a text; Enter keeps it, Esc removes it"),
    ("Space", "pause, and follow again"),
    ("← →", "a tenth of the window back and forth"),
    ("[ ]", "a window back and forth"),
    ("Home End", "to the oldest that is kept, to the newest"),
    ("+ -", "a longer or shorter window: 5 s to 15 min, or all"),
    ("?", "this help; any key ends it"),
    ("q, Ctrl-C", "quit"),
];
const NOTES: [&str; 3] = [
    "A statement or client opens to its slowest requests, a request to what overlapped it.",
    "Percentiles come from histograms, whose bins are an eighth wide.",
    "What overlapped a request need not be its cause: page 9 compares with others.",
];

pub(super) fn frame(frame: &mut Frame<'_>, app: &mut App) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    app.resize(area.width);
    if area.width < NARROWEST || area.height < LOWEST {
        let text = format!(
            "helenus top needs a terminal of {NARROWEST}×{LOWEST}; this one has {}×{}. Make it larger, or press q.",
            area.width, area.height
        );
        put_wrapped(buffer, area, &text, Style::new());
        return;
    }
    let window = app.window();
    header(app, window, Rect { height: 1, ..area }, buffer);
    tabs(app, Rect { y: area.y + 1, height: 1, ..area }, buffer);
    strip(app, window, Rect { y: area.y + 2, height: 1, ..area }, buffer);
    let body = Rect { y: area.y + 3, height: area.height - 4, ..area };
    app.lines = Lines::None;
    match window {
        _ if app.is_helping => help(app, body, buffer),
        None => {
            put_wrapped(
                buffer,
                Rect { y: body.y + 1, ..body },
                "Waiting for the first rows of the recording …",
                app.paint.dim(),
            );
        }
        Some(window) => self::body(app, window, body, buffer),
    }
    footer(app, Rect { y: area.bottom() - 1, height: 1, ..area }, buffer);
}

fn header(app: &App, window: Option<LiveWindow>, area: Rect, buffer: &mut Buffer) {
    let state = match (app.grows, app.is_paused()) {
        (false, _) => "ended",
        (true, true) => "paused",
        (true, false) => "live",
    };
    let span = window.map_or(String::new(), |window| {
        let (from, to) = (clock(window.from_s(), "%H:%M:%S"), clock(window.to_s(), "%H:%M:%S"));
        format!("{from}–{to}")
    });
    let left = format!("helenus top  {}  {state}", terminal::one_line(&app.name));
    let right = format!("window {}  {span}", app.window_name());
    let room = area.width.saturating_sub(u16::try_from(right.chars().count()).unwrap_or(0) + 1);
    put(buffer, area.x, area.y, &fitted(&left, room, false), app.paint.title());
    put(buffer, area.x + room + 1, area.y, &right, if app.is_paused() { app.paint.warning() } else { Style::new() });
}

fn tabs(app: &App, area: Rect, buffer: &mut Buffer) {
    let is_wide = area.width >= WIDE;
    let mut x = area.x;
    for (page, key, long, short) in PAGES {
        let name = if is_wide { format!("{key} {long}") } else { format!("{key}{short}") };
        let style = if page == app.page { app.paint.chosen() } else { Style::new() };
        put(buffer, x, area.y, &name, style);
        x += u16::try_from(name.chars().count()).unwrap_or(0) + 1;
    }
}

/// A strip with the requests of the whole kept time, in which the window is marked.
fn strip(app: &App, window: Option<LiveWindow>, area: Rect, buffer: &mut Buffer) {
    let (Some(kept), Some(window)) = (app.live.kept(), window) else { return };
    let series = app.live.series(kept, usize::from(area.width), None);
    let values: Vec<Option<f64>> = series.requests_per_s.iter().map(|value| Some(*value)).collect();
    let columns = u16::try_from(values.len()).unwrap_or(area.width).min(area.width);
    bars(buffer, area, &values, largest(&values), app.paint.dim());
    let first = area.right() - columns;
    for column in 0..columns {
        let start = series.from_s + f64::from(column) * series.bin_s;
        if start + series.bin_s > window.from_s() + 1e-6 && start < window.to_s() - 1e-6 {
            buffer[(first + column, area.y)].set_style(app.paint.chosen());
        }
    }
}

fn footer(app: &App, area: Rect, buffer: &mut Buffer) {
    let filter = app.filter().to_string();
    if app.is_filtering {
        put(
            buffer,
            area.x,
            area.y,
            &format!("/{}▏  Enter keeps it, Esc removes it", end_of(&terminal::one_line(&filter), LONGEST_FILTER)),
            app.paint.bold(),
        );
        return;
    }
    if let Some(notice) = &app.notice {
        put(buffer, area.x, area.y, &fitted(&terminal::one_line(notice), area.width, false), app.paint.warning());
        return;
    }
    let filter = terminal::cut(&terminal::one_line(&filter), LONGEST_FILTER);
    let mut text = if filter.is_empty() { String::new() } else { format!("filter: {filter}  Esc removes it") };
    // Only whole entries, the most useful first: a narrow terminal has no place for all.
    for entry in keys_now(app) {
        let longer = if text.is_empty() { entry.to_string() } else { format!("{text}  {entry}") };
        if longer.width() <= usize::from(area.width) {
            text = longer;
        }
    }
    put(buffer, area.x, area.y, &fitted(&text, area.width, false), app.paint.dim());
}

/// The end of a text, cut to a number of columns at the left.
fn end_of(text: &str, columns: usize) -> String {
    let mut end = text;
    while end.width() > columns {
        end = end.char_indices().nth(1).map_or("", |(next, _)| &end[next..]);
    }
    end.to_string()
}

/// The keys that do something now, the most useful first.
fn keys_now(app: &App) -> Vec<&'static str> {
    let is_open = !app.below.is_empty();
    let has_lines = app.lines != Lines::None;
    let entries = [
        (true, "q quit"),
        (true, "? keys"),
        (is_open, "Esc back"),
        (app.grows && app.is_paused(), "Space follow"),
        (app.grows && !app.is_paused(), "Space pause"),
        (app.lines == Lines::Open, "Enter open"),
        (has_lines, "/ filter"),
        (has_lines, "< > sort"),
        (true, "←→ time"),
        (true, "+- window"),
        (has_lines, "r reverse"),
        (!is_open, "Tab page"),
    ];
    entries.into_iter().filter(|(is_shown, _)| *is_shown).map(|(_, entry)| entry).collect()
}

fn help(app: &App, area: Rect, buffer: &mut Buffer) {
    const LEFT: u16 = 24;
    let mut y = area.y + 1;
    for (keys, what) in KEYS {
        put(buffer, area.x + 2, y, keys, app.paint.bold());
        put(buffer, area.x + LEFT, y, what, Style::new());
        y += 1;
    }
    for note in NOTES {
        y += put_wrapped(
            buffer,
            Rect { x: area.x + 2, y: y + 1, width: area.width - 2, height: area.bottom().saturating_sub(y + 1) },
            note,
            app.paint.dim(),
        );
    }
}

fn body(app: &mut App, window: LiveWindow, area: Rect, buffer: &mut Buffer) {
    match (app.below.last().cloned(), app.page) {
        (None, Page::Overview) => overview::draw(app, window, area, buffer),
        (None, Page::Spectrogram) => spectrogram::draw(app, window, area, buffer),
        (Some(Below::Finding(opened)), _) => finding(app, &opened, area, buffer),
        (below, page) => {
            let head = match &below {
                None if page == Page::Findings => of_findings(app, area, buffer),
                None => 0,
                Some(below) => of_below(app, window, below, area, buffer),
            };
            let rest = Rect { y: area.y + head, height: area.height.saturating_sub(head), ..area };
            list(app, rest, buffer);
        }
    }
}

fn list(app: &mut App, area: Rect, buffer: &mut Buffer) {
    let paint = app.paint;
    if let Some(listing) = app.listing() {
        listing.draw(area, buffer, app.list_state(), paint);
        app.lines = if listing.below(app.list_state()).is_some() { Lines::Open } else { Lines::Closed };
    }
}

/// Draws title and figures of an opened line, above its list. Returns their height.
fn of_below(app: &App, window: LiveWindow, below: &Below, area: Rect, buffer: &mut Buffer) -> u16 {
    let title =
        |text: &str, buffer: &mut Buffer| put_wrapped(buffer, Rect { height: 3, ..area }, text, app.paint.title());
    match below {
        Below::Statement(name) => {
            let used = title(name, buffer);
            used + of_traffic(app, window, LiveBy::Statement, name, Rect { y: area.y + used, ..area }, buffer)
        }
        Below::Client(name) => {
            let used = title(if name.is_empty() { "load driver" } else { name }, buffer);
            used + of_traffic(app, window, LiveBy::Client, name, Rect { y: area.y + used, ..area }, buffer)
        }
        Below::Stretch(what, ..) => {
            title(&format!("Slowest requests that were answered during or after: {what}"), buffer) + 1
        }
        Below::Slow(slow) => {
            let used = title(&slow.statement, buffer);
            used + of_slow(app, slow, Rect { y: area.y + used, ..area }, buffer)
        }
        Below::Finding(_) => 0,
    }
}

/// Rate and p99 over time of one statement or client, and its share. Returns the height.
fn of_traffic(app: &App, window: LiveWindow, by: LiveBy, name: &str, area: Rect, buffer: &mut Buffer) -> u16 {
    const LABEL: u16 = 22;
    let traffic = app.live.traffic(window, by);
    let row = traffic.rows.iter().find(|row| row.name == name);
    let room = area.width.saturating_sub(LABEL);
    let bins = (app.live.bin_s() * 1e9) as i64 * i64::from(room.saturating_sub(1).max(1));
    let shown = LiveWindow { from_ns: window.from_ns.min(window.to_ns.saturating_sub(bins)), ..window };
    let series = app.live.series(shown, usize::from(room), Some((by, name)));
    let rate: Vec<Option<f64>> = series.requests_per_s.iter().map(|value| Some(*value)).collect();
    let figures = [
        ("calls/s", row.map_or("–".to_string(), |row| per_s(row.requests_per_s)), rate),
        ("p99 ms", row.map_or("–".to_string(), |row| millis(row.latency_ms.p99)), series.p99_ms),
        ("max ms", row.map_or("–".to_string(), |row| millis(row.latency_ms.max)), series.max_ms),
    ];
    for ((label, figure, values), y) in figures.iter().zip(area.y..) {
        put(buffer, area.x, y, &fitted(label, 9, false), app.paint.bold());
        put(buffer, area.x + 9, y, &fitted(figure, 10, true), Style::new());
        let chart = Rect { x: area.x + LABEL, y, width: room, height: 1 };
        bars(buffer, chart, values, largest(values), app.paint.chart());
    }
    put(buffer, area.x, area.y + 4, "Its slowest requests, Enter shows what overlapped one:", app.paint.dim());
    5
}

fn of_slow(app: &App, slow: &LiveSlow, area: Rect, buffer: &mut Buffer) -> u16 {
    let facts = [
        format!("{} ms from {}", millis(Some(slow.duration_ms)), clock(slow.start_s, "%H:%M:%S%.6f")),
        format!("client {}   node {}   outcome {}", client_of(slow), slow.node, slow.outcome),
        match (slow.rows_returned, slow.response_bytes) {
            (Some(rows), Some(bytes)) => {
                format!("rows {rows}   answer {}", terminal::bytes(u64::try_from(bytes).unwrap_or(0)))
            }
            (None, Some(bytes)) => format!("answer {}", terminal::bytes(u64::try_from(bytes).unwrap_or(0))),
            _ => String::new(),
        },
    ];
    for (fact, y) in facts.iter().zip(area.y..) {
        put(buffer, area.x, y, &terminal::one_line(fact), app.paint.bold());
    }
    put(
        buffer,
        area.x,
        area.y + 4,
        "What went on while it was under way, which need not be its cause:",
        app.paint.dim(),
    );
    5
}

fn of_findings(app: &App, area: Rect, buffer: &mut Buffer) -> u16 {
    let mut used = 0;
    if let Some(found) = app.findings.found() {
        let (from, to) = (clock(found.from_s, "%H:%M:%S"), clock(found.to_s, "%H:%M:%S"));
        let text = format!("{from}–{to}: {}", found.answer);
        used += put_wrapped(buffer, Rect { height: LONGEST_ANSWER, ..area }, &text, Style::new());
    }
    put(buffer, area.x, area.y + used, &fitted(&app.findings.status(), area.width, false), app.paint.dim());
    used + 2
}

fn finding(app: &App, finding: &ReportFinding, area: Rect, buffer: &mut Buffer) {
    let (mark, style) = app.paint.severity(finding.severity.name());
    let mut y = area.y;
    let mut write = |text: &str, style: Style| {
        let left = Rect { y, height: area.bottom().saturating_sub(y), ..area };
        y += put_wrapped(buffer, left, text, style) + 1;
    };
    write(&format!("{mark} {}: {}", finding.severity.name(), finding.title), style);
    write(&finding.detail, Style::new());
    if !finding.next.is_empty() {
        write(&format!("Next: {}", finding.next), app.paint.bold());
    }
}
