//! The pages on a terminal of 80×24, with a recording that is made up.

use super::app::App;
use super::draw;
use super::findings::Findings;
use super::paint::Paint;
use helenus_explain::{Live, LiveOptions};
use helenus_recording::BatchBuilder;
use helenus_recording::rows::{self, Row};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Modifier;
use ratatui::termion::event::Key;

const SECOND: i64 = 1_000_000_000;
const T0: i64 = 1_750_000_000 * SECOND;
const NODE: &str = "127.0.0.1";

fn take<R: Row>(live: &mut Live, table: &str, all: impl IntoIterator<Item = R>) {
    let mut builder = BatchBuilder::new(R::TABLE);
    all.into_iter().for_each(|row| row.append_to(&mut builder));
    live.take(table, &builder.take().unwrap());
}

/// Twenty seconds of two statements; in the eleventh second a collection delays one request.
fn example() -> Live {
    let mut live = Live::new(LiveOptions::default());
    for second in 0..20 {
        let start_ns = T0 + second * SECOND;
        let request = |number: i64, statement, client, duration_ms: i64| rows::WireRequest {
            start_ns: start_ns + number * 1_000_000,
            duration_ns: duration_ms * 1_000_000,
            node: NODE,
            client,
            client_port: 40_000 + number,
            opcode: "EXECUTE",
            statement,
            answer: "rows",
            rows_returned: Some(1),
            response_bytes: 500,
            ..rows::WireRequest::default()
        };
        let reads =
            (0..40).map(|number| request(number, "SELECT * FROM shop.orders WHERE id = ?", "10.0.0.7", 1 + number % 3));
        let writes = (0..10).map(|number| rows::WireRequest {
            error: (number == 0).then_some("write_timeout"),
            ..request(number, "INSERT INTO shop.orders (id, note) VALUES (?, ?)", "10.0.0.8", 4)
        });
        take(&mut live, "wire", reads.chain(writes));
        if second == 10 {
            take(&mut live, "wire", [request(0, "SELECT * FROM shop.orders WHERE id = ?", "10.0.0.7", 310)]);
            let pause = rows::Pause {
                start_ns: start_ns + 50_000_000,
                duration_ns: 250_000_000,
                node: NODE,
                kind: "gc",
                collector: Some("G1New"),
                cause: Some("G1 Evacuation Pause"),
                heap_before_bytes: Some(900 << 20),
                heap_after_bytes: Some(300 << 20),
                ..rows::Pause::default()
            };
            take(&mut live, "pauses", [pause]);
        }
        let end = start_ns + SECOND;
        let cpu = rows::CpuSample {
            time_ns: end,
            interval_ns: SECOND,
            node: NODE,
            user_ns: SECOND * 6 / 10,
            system_ns: SECOND / 10,
            idle_ns: SECOND * 3 / 10,
            ..rows::CpuSample::default()
        };
        take(&mut live, "cpus", [cpu]);
        let thread = |thread_group, cpu_ns| rows::ThreadSample {
            time_ns: end,
            interval_ns: SECOND,
            node: NODE,
            process: "server",
            thread_group,
            cpu_ns,
            run_queue_ns: Some(cpu_ns / 10),
            ..rows::ThreadSample::default()
        };
        take(&mut live, "threads", [thread("ReadStage", SECOND / 2), thread("CompactionExecutor", SECOND / 20)]);
        let pool = rows::PoolSample {
            time_ns: start_ns,
            node: NODE,
            pool: "ReadStage",
            kind: "request",
            active: 2,
            pending: if second == 19 { 3 } else { 0 },
            completed: 40 * second,
            max_size: Some(32),
            ..rows::PoolSample::default()
        };
        take(&mut live, "pools", [pool]);
        let table = rows::TableSample {
            time_ns: start_ns,
            node: NODE,
            keyspace: "shop",
            table_name: "orders",
            reads: Some(40 * second),
            writes: Some(10 * second),
            read_total_ns: Some(40 * second * 200_000),
            write_total_ns: Some(10 * second * 50_000),
            sstables: Some(4),
            pending_compactions: Some(1),
            ..rows::TableSample::default()
        };
        take(&mut live, "table_stats", [table]);
        let call = rows::SyscallSummary {
            time_ns: end,
            interval_ns: SECOND,
            node: NODE,
            call: "pread64",
            file: "/var/lib/cassandra/data/shop/orders-1/nb-1-big-Data.db",
            file_kind: "file",
            count: 30,
            total_ns: 3_000_000,
            bytes: 30 * 4096,
            ..rows::SyscallSummary::default()
        };
        take(&mut live, "syscall_summary", [call]);
    }
    live.end();
    live
}

fn app(paint: Paint) -> App {
    App::new(example(), "node.helenus".to_string(), paint, false, Findings::of(None))
}

fn press(app: &mut App, keys: &str) {
    for key in keys.chars() {
        app.key(match key {
            '\x1b' => Key::Esc,
            '←' => Key::Left,
            '→' => Key::Right,
            key => Key::Char(key),
        });
    }
}

fn shown(app: &mut App, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw::frame(frame, app)).unwrap();
    let lines = terminal.backend().to_string();
    lines.lines().map(|line| line.trim_matches('"').trim_end()).collect::<Vec<_>>().join("\n")
}

/// The page without times of day, which depend on the time zone.
fn page(app: &mut App) -> String {
    let text = shown(app, 80, 24);
    let mut out = String::with_capacity(text.len());
    let characters: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < characters.len() {
        let is_time = characters[at..].len() >= 6
            && characters[at].is_ascii_digit()
            && characters[at + 1].is_ascii_digit()
            && characters[at + 2] == ':'
            && characters[at + 5] == ':';
        if is_time {
            out.push_str("hh");
            at += 2;
        }
        out.push(characters[at]);
        at += 1;
    }
    out
}

#[test]
fn pages_fit_a_terminal_of_80_columns() {
    let mut app = app(Paint::Mono);
    for (key, text) in [
        ('1', "requests/s"),
        ('2', "calls/s"),
        ('3', "10.0.0.7"),
        ('4', "ReadStage"),
        ('5', "pending"),
        ('6', "shop.orders"),
        ('7', "nb-1-big"),
        ('8', "G1New"),
        ('9', "searched"),
        ('0', "310"),
        ('s', "a column"),
        ('?', "reverse the order"),
    ] {
        press(&mut app, &key.to_string());
        let shown = page(&mut app);
        assert!(shown.contains(text), "page {key}:\n{shown}");
    }
}

#[test]
fn a_line_leads_to_what_overlapped_its_slowest_request() {
    let mut app = app(Paint::Mono);
    press(&mut app, "2\n");
    assert!(page(&mut app).contains("Its slowest requests"), "{}", page(&mut app));
    press(&mut app, "\n");
    assert!(page(&mut app).contains("collection G1New"), "{}", page(&mut app));
    press(&mut app, "\x1b\x1b");
    assert!(page(&mut app).contains("calls/s"));
    // Opens the requests that overlapped the pause, from the list of pauses.
    press(&mut app, "8\n\n");
    assert!(page(&mut app).contains("310 ms from"), "{}", page(&mut app));
}

#[test]
fn an_open_line_holds_the_window_until_it_is_closed() {
    let mut app = App::new(example(), "node.helenus".to_string(), Paint::Mono, true, Findings::of(None));
    press(&mut app, "2\n");
    assert!(app.is_paused());
    assert!(page(&mut app).contains("Esc back  Space follow"), "{}", page(&mut app));
    press(&mut app, "\n\x1b");
    assert!(app.is_paused(), "a line is still open");
    press(&mut app, "\x1b");
    assert!(!app.is_paused(), "{}", page(&mut app));
    // A pause by a key lasts until the next key.
    press(&mut app, " 2\n\x1b");
    assert!(app.is_paused());
}

#[test]
fn keys_and_help_are_whole_on_80_columns() {
    let mut app = app(Paint::Mono);
    for key in "1234567890s?".chars() {
        press(&mut app, &key.to_string());
        let shown = page(&mut app);
        let last = shown.lines().last().unwrap();
        assert!(last.starts_with("q quit  ? keys"), "page {key}: {last}");
        assert!(!last.contains('…'), "page {key}: {last}");
    }
    // Also the ends of the longest texts.
    let shown = page(&mut app);
    for end in ["Enter keeps it, Esc removes it", "5 s to 15 min, or all", "page 9 compares with others."] {
        assert!(shown.lines().any(|line| line.ends_with(end)), "{end}: {shown}");
    }
    // A long filter leaves the keys in place.
    press(&mut app, "x2/");
    press(&mut app, &"宽".repeat(60));
    press(&mut app, "\n");
    let last = page(&mut app).lines().last().unwrap().to_string();
    assert!(last.contains("q quit") && last.contains("Esc removes it"), "{last}");
}

#[test]
fn lists_are_filtered_sorted_and_reversed() {
    let mut app = app(Paint::Mono);
    let place = |app: &mut App, text: &str| page(app).lines().position(|line| line.contains(text));
    press(&mut app, "2");
    assert!(place(&mut app, "SELECT") < place(&mut app, "INSERT"), "the one with most time first");
    press(&mut app, "r");
    assert!(place(&mut app, "INSERT") < place(&mut app, "SELECT"));
    press(&mut app, "r>>>>");
    assert!(page(&mut app).contains("errors▼"), "{}", page(&mut app));
    assert!(place(&mut app, "INSERT") < place(&mut app, "SELECT"), "the one with errors first");
    press(&mut app, "/select\n");
    assert_eq!(place(&mut app, "INSERT"), None);
    assert!(place(&mut app, "SELECT").is_some());
    press(&mut app, "\x1b");
    assert!(place(&mut app, "INSERT").is_some());
}

#[test]
fn one_goes_back_in_time() {
    let mut app = app(Paint::Mono);
    let all = app.window().unwrap();
    assert_eq!((all.from_ns, all.to_ns), (T0, T0 + 20 * SECOND));
    press(&mut app, "---");
    let window = app.window().unwrap();
    assert_eq!(window.to_ns - window.from_ns, 20 * SECOND, "no more than there is");
    press(&mut app, "--");
    let short = app.window().unwrap();
    assert_eq!(short.to_ns - short.from_ns, 10 * SECOND);
    press(&mut app, "←←");
    assert_eq!(app.window().unwrap().to_ns, T0 + 18 * SECOND);
    press(&mut app, "→→→→");
    assert_eq!(app.window().unwrap().to_ns, T0 + 20 * SECOND);
    app.key(Key::Home);
    assert_eq!(app.window().unwrap().from_ns, T0);
    app.key(Key::End);
    assert_eq!(app.window().unwrap().to_ns, T0 + 20 * SECOND);
}

#[test]
fn quitting_works_from_everywhere() {
    for keys in ["q", "2\nq", "?xq", "9q"] {
        let mut app = app(Paint::Mono);
        press(&mut app, keys);
        assert!(app.is_over, "{keys:?}");
    }
    let mut app = app(Paint::Mono);
    press(&mut app, "2/");
    app.key(Key::Ctrl('c'));
    assert!(app.is_over);
}

#[test]
fn without_colour_there_is_none() {
    let mut app = app(Paint::Mono);
    for key in "1234567890s".chars() {
        press(&mut app, &key.to_string());
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
        terminal.draw(|frame| draw::frame(frame, &mut app)).unwrap();
        let cells = &terminal.backend().buffer().content;
        assert!(cells.iter().all(|cell| cell.fg == ratatui::style::Color::Reset), "page {key}");
        assert!(
            cells.iter().any(|cell| cell.modifier.contains(Modifier::REVERSED)),
            "page {key}: what is chosen is seen"
        );
    }
}

#[test]
fn a_terminal_that_is_too_small_is_told_so() {
    let mut app = app(Paint::Many);
    assert!(shown(&mut app, 60, 20).contains("80×24"));
    for (width, height) in [(80, 24), (81, 25), (160, 50), (300, 100)] {
        for key in "1234567890s?".chars() {
            press(&mut app, &key.to_string());
            let text = shown(&mut app, width, height);
            assert!(text.contains("node.helenus"), "{width}×{height}, page {key}");
        }
    }
    // Drawing works on a terminal of a single cell, and of none.
    shown(&mut app, 1, 1);
}

#[test]
fn texts_of_others_command_nothing() {
    let mut live = Live::default();
    let request = rows::WireRequest {
        start_ns: T0,
        duration_ns: 1_000_000,
        node: NODE,
        opcode: "QUERY",
        statement: "SELECT '\x1b[2J\u{202e}' \n FROM t",
        ..rows::WireRequest::default()
    };
    take(&mut live, "wire", [request]);
    live.end();
    let mut app = App::new(live, "a\x1b[2Jb".to_string(), Paint::Mono, false, Findings::of(None));
    for keys in ["1", "2", "\n", "\n", "0"] {
        press(&mut app, keys);
        let text = shown(&mut app, 100, 30);
        assert!(!text.chars().any(|one| one != '\n' && (one.is_control() || one == '\u{202e}')), "{text}");
    }
}
